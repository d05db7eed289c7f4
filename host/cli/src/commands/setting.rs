//! `wed flow config` and `wed flow secret`.

use std::io::{IsTerminal, Read};

use serde_json::json;
use wedflow_documents::NewSecret;
use wedflow_worker::MAX_SECRET_BYTES;

use crate::arguments::{ConfigCommand, SecretCommand};
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn config(command: &ConfigCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        ConfigCommand::Set { flow, key, value } => {
            door.set_flow_setting(flow, key, value).await?;
            terminal.answer(&json!({ "flow": flow, "key": key, "value": value }), || {
                terminal.line(&format!("Setting {key} of {flow} is {value}."));
            });
        }
        ConfigCommand::Get { flow, key } => {
            let settings = door.flow_settings(flow).await?;
            let found = settings.iter().find(|setting| setting.key == *key);
            let value = &found.ok_or_else(|| missing(flow, "setting", "config", key))?.value;
            terminal.answer(&json!({ "flow": flow, "key": key, "value": value }), || {
                terminal.verbatim(value);
            });
        }
        ConfigCommand::Delete { flow, key } => {
            door.delete_flow_setting(flow, key).await?;
            terminal.answer(&json!({ "flow": flow, "key": key, "value": null }), || {
                terminal.line(&format!("Setting {key} of {flow} is gone."));
            });
        }
        ConfigCommand::List { flow } => {
            let settings = door.flow_settings(flow).await?;
            terminal.answer(&settings, || {
                terminal.table(
                    &["setting", "value"],
                    (settings.iter()).map(|one| vec![one.key.clone(), one.value.clone()]),
                );
            });
        }
    }
    Ok(())
}

/// Words the problem that a flow has no such setting or secret.
fn missing(flow: &str, noun: &str, command: &str, name: &str) -> Problem {
    Problem::new(format!("flow {flow} has no {noun} \"{name}\""))
        .code("not_found")
        .exit(3)
        .hint(format!("`wed flow {command} list {flow}` shows those there are."))
}

pub(crate) async fn secret(command: &SecretCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        SecretCommand::Set { flow, name, grant } => {
            let secret = NewSecret {
                value: Some(ask(flow, name)?),
                transitions: Some(grant.clone()).filter(|grant| !grant.is_empty()),
                senders: None,
            };
            door.put_secret(flow, name, &secret).await?;
            terminal.answer(&json!({ "flow": flow, "secret": name, "stored": true }), || {
                terminal.line(&format!("Secret {name} of {flow} is stored."));
                if grant.is_empty() {
                    terminal.say(&format!(
                        "Transitions that may ask for it: wed flow secret grant {flow} {name} TRANSITION…"
                    ));
                }
            });
        }
        SecretCommand::Grant { flow, name, transitions, header_only } => {
            let granted = Some(transitions.clone());
            let (key, transitions_too, senders) = match header_only {
                true => ("senders", None, granted),
                false => ("transitions", granted, None),
            };
            let secret = NewSecret { value: None, transitions: transitions_too, senders };
            door.put_secret(flow, name, &secret).await?;
            let document = json!({ "flow": flow, "secret": name, key: transitions });
            terminal.answer(&document, || {
                let to = match transitions.is_empty() {
                    true => "no transition".to_owned(),
                    false => transitions.join(", "),
                };
                terminal.line(&format!("Secret {name} of {flow} is granted to {to}."));
            });
        }
        SecretCommand::List { flow } => list_secrets(flow, door, terminal).await?,
        SecretCommand::Delete { flow, name } => {
            door.delete_secret(flow, name).await?;
            let document = json!({ "flow": flow, "secret": name, "deleted": true });
            terminal.answer(&document, || {
                terminal.line(&format!("Secret {name} of {flow} is gone."));
            });
        }
    }
    Ok(())
}

/// Lists the secrets of a flow by name, with the transitions that may use them.
async fn list_secrets(flow: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let secrets = door.secrets(flow).await?;
    let document: Vec<_> = (secrets.iter())
        .map(|one| json!({ "secret": one.name, "transitions": one.transitions, "senders": one.senders }))
        .collect();
    terminal.answer(&document, || {
        terminal.table(
            &["secret", "granted to", "sent in headers by"],
            secrets.iter().map(|one| {
                let transitions = [&one.transitions, &one.senders].map(|list| list.join(", "));
                [vec![one.name.clone()], transitions.to_vec()].concat()
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
    std::io::stdin().lock().take(MAX_SECRET_BYTES as u64 + 3).read_to_string(&mut value).map_err(failed)?;
    let value = value.strip_suffix('\n').unwrap_or(&value);
    Ok(value.strip_suffix('\r').unwrap_or(value).to_owned())
}
