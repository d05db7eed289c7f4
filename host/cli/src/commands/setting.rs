//! `wed flow config` and `wed flow secret`.

use std::io::{IsTerminal, Read};

use serde_json::json;
use wedflow_store::Store;
use wedflow_worker::MAX_SECRET_BYTES;

use crate::arguments::{ConfigCommand, SecretCommand};
use crate::problem::Problem;
use crate::secret_key;
use crate::terminal::Terminal;

pub(crate) async fn config(
    command: &ConfigCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let missing = |flow: &str, key: &str| {
        Problem::new(format!("flow {flow} has no setting \"{key}\""))
            .exit(3)
            .hint(format!(
                "`wed flow config list {flow}` shows those there are."
            ))
    };
    match command {
        ConfigCommand::Set { flow, key, value } => {
            let id = store.flow(tenant, flow).await?.flow_id;
            store.set_setting(id, key, value).await?;
            terminal.answer(&json!({ "flow": flow, "key": key, "value": value }), || {
                terminal.line(&format!("Setting {key} of {flow} is {value}."));
            });
        }
        ConfigCommand::Get { flow, key } => {
            let id = store.flow(tenant, flow).await?.flow_id;
            let settings = store.settings(id).await?;
            let Some((_, value)) = settings.iter().find(|(known, _)| known == key) else {
                return Err(missing(flow, key));
            };
            terminal.answer(&json!({ "flow": flow, "key": key, "value": value }), || {
                terminal.line(value);
            });
        }
        ConfigCommand::Unset { flow, key } => {
            let id = store.flow(tenant, flow).await?.flow_id;
            if !store.unset_setting(id, key).await? {
                return Err(missing(flow, key));
            }
            terminal.answer(&json!({ "flow": flow, "key": key, "value": null }), || {
                terminal.line(&format!("Setting {key} of {flow} is gone."));
            });
        }
        ConfigCommand::List { flow } => {
            let id = store.flow(tenant, flow).await?.flow_id;
            let settings = store.settings(id).await?;
            let document: Vec<_> = settings
                .iter()
                .map(|(key, value)| json!({ "key": key, "value": value }))
                .collect();
            terminal.answer(&document, || {
                terminal.table(
                    &["setting", "value"],
                    settings
                        .iter()
                        .map(|(key, value)| vec![key.clone(), value.clone()]),
                );
            });
        }
    }
    Ok(())
}

pub(crate) async fn secret(
    command: &SecretCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let missing = |flow: &str, name: &str| {
        Problem::new(format!("flow {flow} has no secret \"{name}\""))
            .exit(3)
            .hint(format!(
                "`wed flow secret list {flow}` shows those there are."
            ))
    };
    match command {
        SecretCommand::Set { flow, name, grant } => {
            set_secret(flow, name, grant, tenant, store, terminal).await?
        }
        SecretCommand::Grant {
            flow,
            name,
            transitions,
            header_only,
        } => {
            let id = store.flow(tenant, flow).await?.flow_id;
            let (known, key) = if *header_only {
                (
                    store.let_send_secret(id, name, transitions).await?,
                    "senders",
                )
            } else {
                (
                    store.grant_secret(id, name, transitions).await?,
                    "transitions",
                )
            };
            if !known {
                return Err(missing(flow, name));
            }
            terminal.answer(
                &json!({ "flow": flow, "secret": name, key: transitions }),
                || {
                    terminal.line(&match transitions.is_empty() {
                        true => format!("Secret {name} of {flow} is granted to no transition."),
                        false => format!(
                            "Secret {name} of {flow} is granted to {}.",
                            transitions.join(", ")
                        ),
                    });
                },
            );
        }
        SecretCommand::List { flow } => list_secrets(flow, tenant, store, terminal).await?,
        SecretCommand::Remove { flow, name } => {
            let id = store.flow(tenant, flow).await?.flow_id;
            if !store.remove_secret(id, name).await? {
                return Err(missing(flow, name));
            }
            terminal.answer(
                &json!({ "flow": flow, "secret": name, "removed": true }),
                || {
                    terminal.line(&format!("Secret {name} of {flow} is gone."));
                },
            );
        }
    }
    Ok(())
}

/// Stores a secret, encrypted, and grants it.
async fn set_secret(
    flow: &str,
    name: &str,
    grant: &[String],
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let id = store.flow(tenant, flow).await?.flow_id;
    let key = secret_key::existing_or_new()?;
    let value = ask(flow, name)?;
    let (ciphertext, nonce) = key.seal(id, name, &value).map_err(|error| {
        Problem::new(format!("the secret {name} is refused: {error}"))
            .exit(4)
            .hint("A shorter one could not be masked in logs.")
    })?;
    store.put_secret(id, name, &ciphertext, &nonce).await?;
    if !grant.is_empty() {
        store.grant_secret(id, name, grant).await?;
    }
    terminal.answer(&json!({ "flow": flow, "secret": name, "stored": true }), || {
                terminal.line(&format!("Secret {name} of {flow} is stored."));
                if grant.is_empty() {
                    terminal.say(&format!(
                        "Transitions that may ask for it: wed flow secret grant {flow} {name} TRANSITION…"
                    ));
                }
            });
    Ok(())
}

/// Lists the secrets of a flow by name, with the transitions that may use them.
async fn list_secrets(
    flow: &str,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let id = store.flow(tenant, flow).await?.flow_id;
    let secrets = store.secrets(id).await?;
    let document: Vec<_> = secrets
        .iter()
        .map(|secret| {
            json!({
                "secret": secret.name,
                "transitions": secret.transitions,
                "senders": secret.senders,
            })
        })
        .collect();
    terminal.answer(&document, || {
        terminal.table(
            &["secret", "granted to", "sent in headers by"],
            secrets.iter().map(|secret| {
                vec![
                    secret.name.clone(),
                    secret.transitions.join(", "),
                    secret.senders.join(", "),
                ]
            }),
        );
    });
    Ok(())
}

/// The value: from a pipe, without its last line end, or asked for without showing it.
fn ask(flow: &str, name: &str) -> Result<String, Problem> {
    let failed = |source| Problem::new("the secret could not be read").because(source);
    if std::io::stdin().is_terminal() {
        return rpassword::prompt_password(format!("{name} of {flow}: ")).map_err(failed);
    }
    let mut value = String::new();
    std::io::stdin()
        .lock()
        .take(MAX_SECRET_BYTES as u64 + 3)
        .read_to_string(&mut value)
        .map_err(failed)?;
    let value = value.strip_suffix('\n').unwrap_or(&value);
    Ok(value.strip_suffix('\r').unwrap_or(value).to_owned())
}
