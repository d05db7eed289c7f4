//! `wed work`: people's work: worklists, claims, reports, messages.

use serde_json::{Map, Value as Json, json};
use wedflow_documents::{Decision, Outcome, PeopleRole, Process, Report};

use crate::answer::shown;
use crate::arguments::{BeginArguments, ReportArguments, WorkArguments, WorkCommand};
use crate::commands::worklists;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(arguments: &WorkArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let Some(command) = &arguments.command else {
        return list("arrival", 1_000, door, terminal).await;
    };
    match command {
        WorkCommand::People { add, role, revoke, remove } => match (add, remove) {
            (Some(name), _) => add_person(name, role, revoke, door, terminal).await,
            (None, Some(name)) => remove_person(name, door, terminal).await,
            (None, None) => people(door, terminal).await,
        },
        WorkCommand::Roles => {
            let roles = door.people_roles().await?;
            terminal.answer(&roles, || {
                let row = |one: &PeopleRole| vec![one.role.clone(), one.people.to_string()];
                terminal.table(&["role", "people"], roles.iter().map(row));
            });
            Ok(())
        }
        WorkCommand::Calendar(calendar) => worklists::calendar(calendar, door, terminal).await,
        WorkCommand::List { order, limit } => list(order, *limit, door, terminal).await,
        WorkCommand::Show { item } => {
            let item = door.work_item(*item).await?;
            terminal.answer(&item, || print_item(&item, terminal));
            Ok(())
        }
        WorkCommand::History { item } => {
            let entries = door.work_history(*item).await?;
            terminal.answer(&entries, || {
                print_rows(&["at", "person", "action", "detail"], &entries, terminal);
            });
            Ok(())
        }
        WorkCommand::Messages { remove } => {
            door.set_active(true).await?;
            let messages = door.messages(1_000).await?;
            if *remove {
                door.delete_messages().await?;
            }
            terminal.answer(&messages, || {
                print_rows(&["at", "item", "kind", "sender", "text"], &messages, terminal);
            });
            Ok(())
        }
        WorkCommand::Report(report) => self::report(report, door, terminal).await,
        WorkCommand::Begin(begin) => self::begin(begin, door, terminal).await,
        WorkCommand::Fetch { item, note, to } => worklists::fetch(*item, *note, to.as_deref(), door, terminal).await,
        other => act(other, door, terminal).await,
    }
}

/// Returns the person in whose name a command acts over the database; a token's user needs no name.
///
/// # Errors
/// When nobody is named and the command is one of a person.
pub(crate) fn person_of(arguments: &WorkArguments) -> Result<&str, Problem> {
    let is_of_nobody =
        matches!(arguments.command, Some(WorkCommand::People { .. } | WorkCommand::Roles | WorkCommand::Calendar(_)));
    match arguments.person.as_deref() {
        Some(person) => Ok(person),
        None if is_of_nobody => Ok("operator"),
        None => Err(Problem::usage("nobody is named who acts").hint("Say --as NAME, or set WEDFLOW_PERSON.")),
    }
}

async fn list(order: &str, limit: i32, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let items = door.worklist(order, limit).await?;
    terminal.answer(&items, || print_items(&items, terminal));
    if items.is_empty() {
        terminal.say("Nothing is offered to you now. Who has just connected is offered what waits within 10 seconds.");
    }
    Ok(())
}

async fn begin(begin: &BeginArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let process = Process {
        flow: begin.flow.clone(),
        in_charge: begin.in_charge.clone(),
        values: values_of(&begin.set)?,
        policy: Some(begin.policy),
        count: Some(begin.count),
        warnings: begin.warn.clone(),
        transfer: begin.transfer,
    };
    let begun = door.begin(&process).await?;
    terminal.answer(&begun, || {
        terminal.line(&format!("Instance {} of {} is started.", shown(&begun["wid"]), begin.flow));
    });
    Ok(())
}

/// Decides what becomes of an instance that is an exception.
async fn settle(command: &WorkCommand, door: &Door) -> Result<Json, Problem> {
    let WorkCommand::Settle { flow, wid, set, cancel, reason, .. } = command else {
        return Ok(Json::Null);
    };
    let decision = match (cancel, set.is_empty()) {
        (true, _) => "cancel",
        (_, true) => "retry",
        _ => "set",
    };
    let outcome = Outcome { decision: decision.to_owned(), values: values_of(set)?, reason: reason.clone() };
    let wid = door.wid(flow, wid).await?;
    Ok(door.decide_exception(flow, wid, &outcome).await?)
}

/// Changes one item or the person, in one call.
async fn act(command: &WorkCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let done = match command {
        WorkCommand::Select { item } => door.work_act(*item, "select", None).await?,
        WorkCommand::Lock { item } => door.work_act(*item, "lock", None).await?,
        WorkCommand::Unlock { item } => door.work_act(*item, "unlock", None).await?,
        WorkCommand::Release { item } => match door.work_act(*item, "unselect", None).await {
            Err(error) if error.code() == Some("WF082") => door.work_act(*item, "unlock", None).await?,
            other => other?,
        },
        WorkCommand::Start { item } => door.work_act(*item, "start", None).await?,
        WorkCommand::TakeOver { item } => door.work_act(*item, "take-over", None).await?,
        WorkCommand::Delegate { item, to } => door.delegate(*item, to).await?,
        WorkCommand::Reassign { from, to } => door.reassign(from, to).await?,
        WorkCommand::Together { item, task } => door.reserve(*item, task).await?,
        WorkCommand::Move { item, before } => door.move_item(*item, *before).await?,
        WorkCommand::Decide { item, proceed, extend, .. } => {
            let decision = Decision { proceed: *proceed, extend: extend.clone() };
            door.decide(*item, &decision).await?
        }
        WorkCommand::Notify(notify) => worklists::notify(notify, door).await?,
        WorkCommand::Settle { .. } => settle(command, door).await?,
        WorkCommand::Comment { item, text, attach } => match attach {
            None => door.comment(*item, text).await?,
            Some(file) => {
                let (name, bytes) = attached(file)?;
                door.attach(*item, text, (&name, bytes)).await?
            }
        },
        WorkCommand::Disconnect => door.set_active(false).await?,
        _ => door.set_active(true).await?,
    };
    terminal.answer(&done, || {
        if let WorkCommand::Decide { item, proceed, .. } = command {
            terminal.line(&decided(*item, *proceed, &done));
            return;
        }
        let said: Vec<String> =
            done.as_object().into_iter().flatten().map(|(key, value)| format!("{key} {}", shown(value))).collect();
        terminal.line(&said.join(", "));
    });
    Ok(())
}

/// Says what became of an item whose deadline had passed.
fn decided(item: i64, proceed: bool, done: &Json) -> String {
    let task = match done["task"].as_str() {
        Some(task) => format!(" ({task})"),
        None => String::new(),
    };
    match (proceed, done["deadline_at"].as_str()) {
        (true, Some(deadline)) => {
            format!("Item {item}{task} continues; its deadline is {deadline}.")
        }
        (true, None) => format!("Item {item}{task} continues."),
        (false, _) => format!("Item {item}{task} is stopped: it is {}.", shown(&done["state"])),
    }
}

async fn report(arguments: &ReportArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let report = Report {
        success: !arguments.failed,
        values: values_of(&arguments.set)?,
        reason: arguments.reason.clone(),
        ..Report::default()
    };
    let key = match &arguments.key {
        Some(key) => key.clone(),
        None => format!("{:032x}", rand::random::<u128>()),
    };
    let answer = door.report(arguments.item, &report, &key).await?;
    if answer["applied"] != true {
        return Err(refused(&answer));
    }
    terminal.answer(&answer, || {
        terminal.line(&format!("Item {} is {}.", arguments.item, shown(&answer["state"])));
    });
    Ok(())
}

/// A result that was refused and kept: why, and both versions.
pub(crate) fn refused(answer: &Json) -> Problem {
    Problem::new(shown(&answer["reason"]))
        .code(answer["code"].as_str().unwrap_or("WF084"))
        .exit(4)
        .details([format!("yours:   {}", answer["yours"]), format!("present: {}", answer["present"])])
        .hint(shown(&answer["hint"]))
}

/// Makes a person, or gives and takes roles.
async fn add_person(
    name: &str,
    roles: &[String],
    revoked: &[String],
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    door.put_person(name, roles).await?;
    for role in revoked {
        door.delete_person_role(name, role).await?;
    }
    terminal.answer(&json!({ "person": name, "roles": roles }), || {
        let said = |what: &str, roles: &[String]| match roles {
            [] => String::new(),
            roles => format!(", {what} {}", roles.join(", ")),
        };
        let roles = said("given", roles) + &said("taken", revoked);
        terminal.line(&format!("Person {name} of {} is there{roles}.", door.tenant));
    });
    Ok(())
}

async fn remove_person(name: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    door.delete_person(name).await?;
    terminal.answer(&json!({ "removed": name }), || {
        terminal.line(&format!("Person {name} of {} is removed.", door.tenant));
    });
    Ok(())
}

async fn people(door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let people = door.people(1_000).await?;
    terminal.answer(&people, || {
        print_rows(&["person", "active", "roles", "holds", "done"], &people, terminal);
    });
    Ok(())
}

fn attached(file: &std::path::Path) -> Result<(String, Vec<u8>), Problem> {
    let bytes = std::fs::read(file)
        .map_err(|source| Problem::new(format!("{} cannot be read", file.display())).exit(3).because(source))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok((name.into_owned(), bytes))
}

/// Values from NAME=VALUE, where VALUE is JSON or else text.
pub(crate) fn values_of(words: &[String]) -> Result<Map<String, Json>, Problem> {
    words
        .iter()
        .map(|word| {
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| Problem::usage(format!("--set `{word}` is not of the form NAME=VALUE")))?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| Json::from(value));
            Ok((name.to_owned(), value))
        })
        .collect()
}

fn print_items(items: &[Json], terminal: &Terminal) {
    print_rows(
        &["item", "task", "flow", "wid", "state", "priority", "deadline_at", "data_bytes", "disconnected"],
        items,
        terminal,
    );
}

pub(crate) fn print_rows(columns: &[&str], rows: &[Json], terminal: &Terminal) {
    terminal.table(columns, rows.iter().map(|row| columns.iter().map(|column| shown(&row[*column])).collect()));
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
        assert_eq!(Json::Object(values), json!({ "n": 3, "text": "as it stands", "quoted": "3", "none": null }));
        assert!(values_of(&["n".to_owned()]).is_err());
    }
}
