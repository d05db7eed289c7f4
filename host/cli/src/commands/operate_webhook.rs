//! `wed webhook`: URLs that receive a tenant's events.

use serde_json::json;
use wedflow_documents::{Webhook, WebhookMessage, WebhookPlace};

use crate::answer::counted;
use crate::arguments::WebhookCommand;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &WebhookCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        WebhookCommand::Set { url, flow, events, attributes, waits_over } => {
            let place = WebhookPlace {
                url: url.clone(),
                flow: flow.clone(),
                events: Some(events.clone()).filter(|events| !events.is_empty()),
                attributes: Some(attributes.clone()).filter(|attributes| !attributes.is_empty()),
                waits_over: waits_over.clone(),
            };
            set(&place, door, terminal).await?;
        }
        WebhookCommand::List => list(&door.webhooks().await?, terminal),
        WebhookCommand::Rotate { name, overlap } => {
            let secret = door.rotate_webhook(name, Some(*overlap)).await?.secret;
            terminal.answer(&json!({ "name": name, "secret": secret }), || {
                terminal.line(&format!("Messages are signed with {secret}"));
                terminal.line(&format!("For {} they are signed with the old one, too.", counted(overlap, "hour")));
            });
        }
        WebhookCommand::Test { name } => {
            let message = door.test_webhook(name).await?.message;
            terminal.answer(&json!({ "name": name, "message": message }), || {
                terminal.line(&format!("Message {message} is on its way."));
            });
        }
        WebhookCommand::Messages { name } => {
            list_messages(&door.webhook_messages(name).await?, terminal);
        }
        WebhookCommand::Redeliver { name, message } => {
            let messages = door.redeliver(name, message.as_deref()).await?.messages;
            terminal.answer(&json!({ "name": name, "messages": messages }), || {
                terminal.line(&format!("{} sent again.", counted(messages, "message")));
            });
        }
        WebhookCommand::Delete { url, flow } => {
            let place = WebhookPlace { url: url.clone(), flow: flow.clone(), ..WebhookPlace::default() };
            door.delete_webhook(&place).await?;
            terminal.answer(&json!({ "url": url, "deleted": true }), || {
                terminal.line(&format!("Removed the webhook of {url}."));
            });
        }
    }
    Ok(())
}

async fn set(place: &WebhookPlace, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let set = door.set_webhook(place).await?;
    if let Some(warning) = &set.warning {
        terminal.say(&format!("warning: nothing would be delivered to {}: {warning}", set.url));
    }
    terminal.answer(&set, || {
        terminal.line(&format!("Webhook {} tells {} of events.", set.name, set.url));
        match &set.secret {
            Some(secret) => terminal.line(&format!("Messages are signed with {secret}")),
            None => terminal.say(&format!("It keeps its secret; `wed webhook rotate {}` makes another.", set.name)),
        }
    });
    Ok(())
}

fn list(webhooks: &[Webhook], terminal: &Terminal) {
    terminal.answer(&webhooks, || {
        let titles = ["name", "url", "flow", "events", "pending", "dead", "last error", "by", "since"];
        terminal.table(
            &titles,
            webhooks.iter().map(|webhook| {
                vec![
                    webhook.name.clone(),
                    webhook.url.clone(),
                    webhook.flow.clone().unwrap_or_default(),
                    webhook.events.join(", "),
                    webhook.pending.to_string(),
                    webhook.dead.to_string(),
                    webhook.last_error.clone().unwrap_or_default(),
                    webhook.actor.clone(),
                    webhook.since.clone(),
                ]
            }),
        );
    });
}

fn list_messages(messages: &[WebhookMessage], terminal: &Terminal) {
    terminal.answer(&messages, || {
        terminal.table(
            &["message", "status", "attempts", "last error", "made"],
            messages.iter().map(|message| {
                vec![
                    message.name.clone(),
                    message.status.clone(),
                    message.attempts.to_string(),
                    message.last_error.clone().unwrap_or_default(),
                    message.made_at.clone(),
                ]
            }),
        );
    });
}
