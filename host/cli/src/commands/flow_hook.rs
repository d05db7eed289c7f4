//! `wed flow hook`: inbound hooks, by which others' webhooks start instances and set attributes.

use std::collections::BTreeMap;

use wedflow_documents::{Hook, HookActs, HookRotation, HookScheme, HookSet, PutHook};

use crate::arguments::HookCommand;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &HookCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        HookCommand::Set { flow, name, scheme, acts, key, secret, attributes } => {
            let hook = PutHook {
                scheme: match scheme.as_str() {
                    "github" => HookScheme::Github,
                    _ => HookScheme::Standard,
                },
                acts: match acts.as_str() {
                    "set" => HookActs::Set,
                    "both" => HookActs::Both,
                    _ => HookActs::Start,
                },
                key: key.clone(),
                secret: secret.clone(),
                attributes: pointers(attributes)?,
            };
            let set = door.put_hook(flow, name, &hook).await?;
            terminal.answer(&set, || {
                terminal.line(&format!("Hook {name} of {flow} takes POST {}.", set.path));
                print_secret(&set, terminal);
            });
        }
        HookCommand::List { flow } => {
            let hooks = door.hooks(flow).await?;
            terminal.answer(&hooks, || print(&hooks, terminal));
        }
        HookCommand::Rotate { flow, name, secret, overlap } => {
            let rotation = HookRotation { secret: secret.clone(), overlap_hours: Some(*overlap) };
            let set = door.rotate_hook(flow, name, &rotation).await?;
            terminal.answer(&set, || {
                terminal.line(&format!("The secret of hook {name} of {flow} is replaced."));
                print_secret(&set, terminal);
            });
        }
        HookCommand::Delete { flow, name } => {
            door.delete_hook(flow, name).await?;
            terminal.answer(&serde_json::json!({ "deleted": true }), || {
                terminal.line(&format!("Hook {name} of {flow} is deleted."));
            });
        }
    }
    Ok(())
}

/// Reads attributes with the JSON pointers to their values.
fn pointers(words: &[String]) -> Result<BTreeMap<String, String>, Problem> {
    let read = |word: &String| {
        let (name, pointer) = word.split_once('=').ok_or_else(|| {
            Problem::usage(format!("`{word}` is not of the form ATTRIBUTE=POINTER"))
                .hint("Write an attribute, `=` and a JSON pointer: qty=/data/qty")
        })?;
        Ok((name.to_owned(), pointer.to_owned()))
    };
    words.iter().map(read).collect()
}

/// Prints a new secret, which is shown only once.
fn print_secret(set: &HookSet, terminal: &Terminal) {
    if let Some(secret) = &set.secret {
        terminal.line(&format!("secret {secret}"));
        terminal.say("The secret is shown this once: give it to the sender.");
    }
}

/// Lists hooks.
fn print(hooks: &[Hook], terminal: &Terminal) {
    let row = |hook: &Hook| {
        let mapped = hook.attributes.iter();
        let mapped: Vec<String> = mapped.map(|(name, at)| format!("{name}={at}")).collect();
        vec![
            hook.name.clone(),
            hook.path.clone(),
            hook.key.clone().unwrap_or_default(),
            mapped.join(" "),
            hook.actor.clone(),
        ]
    };
    let head = ["hook", "path", "key", "attributes", "set by"];
    terminal.table(&head, hooks.iter().map(row));
}
