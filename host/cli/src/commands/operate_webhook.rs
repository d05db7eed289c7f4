//! `wed webhook`: where a tenant's exceptions are announced.

use serde_json::json;
use wedflow_store::Store;

use crate::arguments::WebhookCommand;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    command: &WebhookCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        WebhookCommand::Set { url, flow } => {
            let flow = match flow {
                Some(flow) => Some(store.flow(tenant, flow).await?),
                None => None,
            };
            let secret = store.set_webhook(tenant, flow.as_ref(), url).await?;
            terminal.answer(&json!({ "url": url, "secret": secret }), || {
                terminal.line(&format!("Exceptions are announced to {url}."));
                terminal.line(&format!("Messages are signed with {secret}"));
            });
        }
        WebhookCommand::List => {
            let webhooks = store.webhooks(tenant).await?;
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
        WebhookCommand::Remove { url, flow } => {
            let flow = match flow {
                Some(flow) => Some(store.flow(tenant, flow).await?),
                None => None,
            };
            store.remove_webhook(tenant, flow.as_ref(), url).await?;
            terminal.answer(&json!({ "url": url, "removed": true }), || {
                terminal.line(&format!("Nothing is announced to {url} any more."));
            });
        }
    }
    Ok(())
}
