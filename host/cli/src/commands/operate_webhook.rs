//! `wed webhook`: where a tenant's exceptions are announced.

use serde_json::json;
use wedflow_documents::WebhookPlace;

use crate::arguments::WebhookCommand;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    command: &WebhookCommand,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let place = |url: &String, flow: &Option<String>| WebhookPlace {
        url: url.clone(),
        flow: flow.clone(),
    };
    match command {
        WebhookCommand::Set { url, flow } => {
            let set = door.set_webhook(&place(url, flow)).await?;
            terminal.answer(&set, || {
                terminal.line(&format!("Exceptions are announced to {url}."));
                terminal.line(&format!("Messages are signed with {}", set.secret));
            });
        }
        WebhookCommand::List => {
            let webhooks = door.webhooks().await?;
            terminal.answer(&webhooks, || {
                terminal.table(
                    &["url", "flow", "pending", "last error", "by", "since"],
                    webhooks.iter().map(|webhook| {
                        vec![
                            webhook.url.clone(),
                            webhook.flow.clone().unwrap_or_default(),
                            webhook.pending.to_string(),
                            webhook.last_error.clone().unwrap_or_default(),
                            webhook.actor.clone(),
                            webhook.since.clone(),
                        ]
                    }),
                );
            });
        }
        WebhookCommand::Delete { url, flow } => {
            door.delete_webhook(&place(url, flow)).await?;
            terminal.answer(&json!({ "url": url, "deleted": true }), || {
                terminal.line(&format!("Nothing is announced to {url} any more."));
            });
        }
    }
    Ok(())
}
