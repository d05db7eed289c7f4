//! `wed work`: people's work: worklists, claims, reports, messages.

use serde_json::{Map, Value as Json, json};
use wedflow_store::{NewProcess, PersonName, Store, WorkAct, WorkReport};

use crate::answer::shown;
use crate::arguments::{BeginArguments, ReportArguments, WorkArguments, WorkCommand};
use crate::commands::away;
use crate::commands::worklists;
use crate::inbox::server::Direct;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    arguments: &WorkArguments,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let Some(command) = &arguments.command else {
        return inbox(arguments, tenant, store, terminal).await;
    };
    match command {
        WorkCommand::People {
            add,
            role,
            revoke,
            remove,
        } => {
            return people(
                tenant,
                add.as_deref(),
                (role, revoke),
                remove.as_deref(),
                store,
                terminal,
            )
            .await;
        }
        WorkCommand::Roles => return roles(tenant, store, terminal).await,
        WorkCommand::Calendar(calendar) => {
            return worklists::calendar(calendar, tenant, store, terminal).await;
        }
        _ => {}
    }
    let name = name_of(arguments)?;
    let person = PersonName { tenant, name };
    match command {
        WorkCommand::List { order, limit } => {
            let items = store.worklist(person, order, *limit).await?;
            terminal.answer(&items, || print_items(&items, terminal));
        }
        WorkCommand::Show { item } => {
            let item = store.work_item(person, *item).await?;
            terminal.answer(&item, || print_item(&item, terminal));
        }
        WorkCommand::History { item } => {
            let entries = store.work_history(person, *item).await?;
            terminal.answer(&entries, || {
                print_rows(&["at", "person", "action", "detail"], &entries, terminal);
            });
        }
        WorkCommand::Messages { remove } => {
            store.connect_person(person).await?;
            let messages = store.work_messages(person, 1_000).await?;
            if *remove {
                store.remove_messages(person).await?;
            }
            terminal.answer(&messages, || {
                print_rows(&["at", "kind", "sender", "text"], &messages, terminal);
            });
        }
        WorkCommand::Report(report) => return self::report(person, report, store, terminal).await,
        WorkCommand::Begin(begin) => return self::begin(person, begin, store, terminal).await,
        WorkCommand::Fetch { item, note, to } => {
            return worklists::fetch(person, *item, *note, to.as_deref(), store, terminal).await;
        }
        other => return act(person, other, store, terminal).await,
    }
    Ok(())
}

async fn begin(
    person: PersonName<'_>,
    begin: &BeginArguments,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let values = values_of(&begin.set)?;
    let process = NewProcess {
        flow: &begin.flow,
        in_charge: begin.in_charge.as_deref(),
        values: &values,
        policy: begin.policy,
        count: begin.count,
        warnings: &begin.warn,
        transfer: begin.transfer,
    };
    let wid = store.start_process(person, &process).await?;
    terminal.answer(&json!({ "flow": begin.flow, "wid": wid }), || {
        terminal.line(&format!("Instance {wid} of {} is started.", begin.flow));
    });
    Ok(())
}

fn name_of(arguments: &WorkArguments) -> Result<&str, Problem> {
    arguments.person.as_deref().ok_or_else(|| {
        Problem::usage("nobody is named who acts").hint("Say --as NAME, or set WEDFLOW_PERSON.")
    })
}

/// Shows the inbox of a person by way of the database; the list in plain lines where there is no terminal.
async fn inbox(
    arguments: &WorkArguments,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let name = name_of(arguments)?;
    let person = PersonName { tenant, name };
    // Refused at once when there is no such person.
    let items = store.worklist(person, "arrival", 1_000).await?;
    if !terminal.has_screen() {
        terminal.answer(&items, || print_items(&items, terminal));
        return Ok(());
    }
    let server = Box::new(Direct {
        store: store.clone(),
        tenant: tenant.to_owned(),
        person: name.to_owned(),
        runtime: tokio::runtime::Handle::current(),
    });
    away::show(name.to_owned(), server, None).await
}

/// Changes one item or the person, in one call.
async fn act(
    person: PersonName<'_>,
    command: &WorkCommand,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let done = match command {
        WorkCommand::Select { item } => store.work_act(person, *item, WorkAct::Select).await?,
        WorkCommand::Lock { item } => store.work_act(person, *item, WorkAct::Lock).await?,
        WorkCommand::Unlock { item } => store.work_act(person, *item, WorkAct::Unlock).await?,
        WorkCommand::Release { item } => {
            match store.work_act(person, *item, WorkAct::Unselect).await {
                Err(error) if error.code() == Some("WF082") => {
                    store.work_act(person, *item, WorkAct::Unlock).await?
                }
                other => other?,
            }
        }
        WorkCommand::Start { item } => store.work_act(person, *item, WorkAct::Start).await?,
        WorkCommand::TakeOver { item } => store.work_act(person, *item, WorkAct::TakeOver).await?,
        WorkCommand::Delegate { item, to } => store.delegate_work(person, *item, to).await?,
        WorkCommand::Reassign { from, to } => {
            json!({ "reassigned": store.reassign_work(person, from, to).await? })
        }
        WorkCommand::Together { item, task } => {
            store.reserve_work(person, *item, task).await?;
            json!({ "item": item, "reserved": task })
        }
        WorkCommand::Move { item, before } => {
            store.move_work(person, *item, *before).await?;
            json!({ "item": item, "before": before })
        }
        WorkCommand::Decide {
            item,
            proceed,
            extend,
            ..
        } => {
            store
                .decide_late(person, *item, *proceed, extend.as_deref())
                .await?
        }
        WorkCommand::Notify(notify) => worklists::notify(person, notify, store).await?,
        WorkCommand::Comment { item, text, attach } => {
            let file = attach.as_deref().map(attached).transpose()?;
            let file = file
                .as_ref()
                .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
            json!({ "note": store.comment_work(person, *item, text, file).await? })
        }
        WorkCommand::Disconnect => {
            store.disconnect_person(person).await?;
            json!({ "active": false })
        }
        _ => json!({ "active": true, "delivered": store.connect_person(person).await? }),
    };
    terminal.answer(&done, || {
        let said: Vec<String> = done
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| format!("{key} {}", shown(value)))
            .collect();
        terminal.line(&said.join(", "));
    });
    Ok(())
}

async fn report(
    person: PersonName<'_>,
    arguments: &ReportArguments,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let values = values_of(&arguments.set)?;
    let key = match &arguments.key {
        Some(key) => key.clone(),
        None => format!("{:032x}", rand::random::<u128>()),
    };
    let report = WorkReport {
        item: arguments.item,
        success: !arguments.failed,
        values: &values,
        key: &key,
        reason: arguments.reason.as_deref(),
        claim: None,
    };
    let answer = store.report_work(person, &report).await?;
    if answer["applied"] != true {
        return Err(refused(&answer));
    }
    terminal.answer(&answer, || {
        terminal.line(&format!(
            "Item {} is {}.",
            report.item,
            shown(&answer["state"])
        ));
    });
    Ok(())
}

/// A result that was refused and kept: why, and both versions.
pub(crate) fn refused(answer: &Json) -> Problem {
    Problem::new(shown(&answer["reason"]))
        .code("WF084")
        .exit(4)
        .details([
            format!("yours:   {}", answer["yours"]),
            format!("present: {}", answer["present"]),
        ])
        .hint(shown(&answer["hint"]))
}

async fn people(
    tenant: &str,
    add: Option<&str>,
    (roles, revoked): (&[String], &[String]),
    remove: Option<&str>,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    if let Some(name) = add {
        store
            .create_person(PersonName { tenant, name }, roles)
            .await?;
        for role in revoked {
            store.revoke_role(PersonName { tenant, name }, role).await?;
        }
        terminal.answer(&json!({ "person": name, "roles": roles }), || {
            terminal.line(&format!(
                "Person {name} of {tenant} has the roles: {}.",
                roles.join(", ")
            ));
        });
        return Ok(());
    }
    if let Some(name) = remove {
        store.drop_person(PersonName { tenant, name }).await?;
        terminal.answer(&json!({ "removed": name }), || {
            terminal.line(&format!("Person {name} of {tenant} is removed."));
        });
        return Ok(());
    }
    let people = store.people(tenant, None, 1_000).await?;
    terminal.answer(&people, || {
        print_rows(&["person", "active", "roles", "holds"], &people, terminal);
    });
    Ok(())
}

async fn roles(tenant: &str, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let roles = store.people_roles(tenant).await?;
    terminal.answer(&roles, || print_rows(&["role", "people"], &roles, terminal));
    Ok(())
}

fn attached(file: &std::path::Path) -> Result<(String, Vec<u8>), Problem> {
    let bytes = std::fs::read(file).map_err(|source| {
        Problem::new(format!("{} cannot be read", file.display()))
            .exit(3)
            .because(source)
    })?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok((name.into_owned(), bytes))
}

/// Values from NAME=VALUE, where VALUE is JSON or else text.
pub(crate) fn values_of(words: &[String]) -> Result<Map<String, Json>, Problem> {
    words
        .iter()
        .map(|word| {
            let (name, value) = word.split_once('=').ok_or_else(|| {
                Problem::usage(format!("--set `{word}` is not of the form NAME=VALUE"))
            })?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| Json::from(value));
            Ok((name.to_owned(), value))
        })
        .collect()
}

fn print_items(items: &[Json], terminal: &Terminal) {
    print_rows(
        &[
            "item",
            "task",
            "flow",
            "wid",
            "state",
            "priority",
            "deadline_at",
            "data_bytes",
            "disconnected",
        ],
        items,
        terminal,
    );
}

pub(crate) fn print_rows(columns: &[&str], rows: &[Json], terminal: &Terminal) {
    terminal.table(
        columns,
        rows.iter()
            .map(|row| columns.iter().map(|column| shown(&row[*column])).collect()),
    );
}

fn print_item(item: &Json, terminal: &Terminal) {
    for (key, value) in item.as_object().into_iter().flatten() {
        terminal.line(&format!("{key:<16} {}", shown(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json_or_text() {
        let words = ["n=3", "text=as it stands", "quoted=\"3\"", "none=null"].map(str::to_owned);
        let values = values_of(&words).expect("values");
        assert_eq!(
            Json::Object(values),
            json!({ "n": 3, "text": "as it stands", "quoted": "3", "none": null })
        );
        assert!(values_of(&["n".to_owned()]).is_err());
    }
}
