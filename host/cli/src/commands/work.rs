//! `wed work`: people's work: worklists, claims, reports, messages.

use clap::{Args, Subcommand};
use serde_json::{Map, Value as Json, json};
use wedflow_model::Wid;
use wedflow_store::{NewProcess, PersonName, Store, WorkAct, WorkReport};

use crate::commands::away::{self, AwayCommand, Place};
use crate::commands::worklists;
use crate::inbox::server::Direct;
use crate::problem::Problem;
use crate::terminal::{Terminal, shown};

/// Orders of a worklist.
const ORDERS: [&str; 5] = ["arrival", "priority", "deadline", "size", "own"];

#[derive(Debug, Args)]
#[command(after_help = "Begin with:\n  \
        wed work people --add ana --role Clerk    make a person with a role\n  \
        wed work --as ana begin orders            start a process\n  \
        wed work --as ana                         the inbox, full screen; ? lists its keys\n\n\
        Anywhere, also without a connection, with a token of `wed token create`:\n  \
        wed work --server https://… --token wed_…")]
pub(crate) struct WorkArguments {
    /// The person who acts.
    #[arg(
        long = "as",
        global = true,
        env = "WEDFLOW_PERSON",
        value_name = "NAME"
    )]
    pub(crate) person: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Without one: the inbox, full screen.
    #[command(subcommand)]
    pub(crate) command: Option<WorkCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkCommand {
    /// List the worklist: what is held, and what is offered.
    List {
        /// The order.
        #[arg(long, default_value = "arrival", value_parser = ORDERS)]
        order: String,
        /// Maximum number of items.
        #[arg(long, default_value_t = 100)]
        limit: i32,
    },
    /// Show an item: what to do, its data and the form of its result.
    Show {
        /// The item.
        item: i64,
    },
    /// Take an item to do it now.
    Select {
        /// The item.
        item: i64,
    },
    /// Take an item away: it stays taken without a connection.
    Lock {
        /// The item.
        item: i64,
    },
    /// Give a locked item back.
    Unlock {
        /// The item.
        item: i64,
    },
    /// Give an item back, selected or locked.
    Release {
        /// The item.
        item: i64,
    },
    /// Begin with an item.
    Start {
        /// The item.
        item: i64,
    },
    /// Report an item's result.
    Report(ReportArguments),
    /// Give an item to another person.
    Delegate {
        /// The item.
        item: i64,
        /// The other person.
        to: String,
    },
    /// Take an item from whoever holds it: for who is in charge.
    TakeOver {
        /// The item.
        item: i64,
    },
    /// Give what a person holds to another: for who is in charge.
    Reassign {
        /// Present holder.
        from: String,
        /// New holder.
        to: String,
    },
    /// Say something about an item, or attach a file to it.
    Comment {
        /// The item.
        item: i64,
        /// The text.
        text: String,
        /// A file of at most 1 MiB.
        #[arg(long, value_name = "FILE")]
        attach: Option<std::path::PathBuf>,
    },
    /// Take away the task that follows as well: its next item in the instance is locked for you.
    Together {
        /// The item, which you have locked.
        item: i64,
        /// The task that follows.
        task: String,
    },
    /// Put an item before another one in your own order, or last.
    Move {
        /// The item.
        item: i64,
        /// The item before which it is put.
        before: Option<i64>,
    },
    /// Decide of an item whose deadline has passed: for who is in charge.
    Decide {
        /// The item.
        item: i64,
        /// The work continues.
        #[arg(
            long = "continue",
            conflicts_with = "stop",
            required_unless_present = "stop"
        )]
        proceed: bool,
        /// The work stops, which is a failure.
        #[arg(long)]
        stop: bool,
        /// Time from now to another deadline, such as "12 hours".
        #[arg(long, value_name = "INTERVAL", conflicts_with = "stop")]
        extend: Option<String>,
    },
    /// Change how an instance notifies people while it runs: for who is in charge.
    Notify(NotifyArguments),
    /// Save a file that is attached to an item.
    Fetch {
        /// The item.
        item: i64,
        /// The note's number, as the history has it.
        note: i64,
        /// The file to write; the attachment's own name when absent.
        #[arg(long, value_name = "FILE")]
        to: Option<std::path::PathBuf>,
    },
    /// List the calendars, or make or change one.
    Calendar(CalendarArguments),
    /// Say who did what with an item.
    History {
        /// The item.
        item: i64,
    },
    /// Print the messages, newest first.
    Messages {
        /// Remove them.
        #[arg(long)]
        remove: bool,
    },
    /// Begin to be offered work; stored messages are delivered.
    Connect,
    /// Be offered nothing new; what is held stays held.
    Disconnect,
    /// Start a process in the person's name.
    Begin(BeginArguments),
    /// List the people, add one or give one roles, or remove one.
    People {
        /// Make this person, or give roles.
        #[arg(long, value_name = "NAME")]
        add: Option<String>,
        /// A role of that person (may be given several times); made when it is missing.
        #[arg(long, value_name = "ROLE", requires = "add")]
        role: Vec<String>,
        /// Take this role from the person (may be given several times).
        #[arg(long, value_name = "ROLE", requires = "add")]
        revoke: Vec<String>,
        /// Remove this person; what the person held is offered again.
        #[arg(long, value_name = "NAME", conflicts_with = "add")]
        remove: Option<String>,
    },
    /// List the roles of people.
    Roles,
    #[command(flatten)]
    Away(AwayCommand),
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The item.
    pub(crate) item: i64,
    /// A value, as NAME=VALUE (may be given several times); VALUE is JSON, or text.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The task failed.
    #[arg(long)]
    pub(crate) failed: bool,
    /// Why, or what else is to be said.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Applied once under this key; a random one when absent.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NotifyArguments {
    /// The flow.
    pub(crate) flow: String,
    /// The instance.
    pub(crate) wid: Wid,
    /// The policy, 1 to 4 (see `wed work begin`).
    #[arg(long, value_name = "N")]
    pub(crate) policy: Option<i32>,
    /// Number of people that policies 2 to 4 choose.
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<i32>,
    /// The pause between two rounds of offers.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) renotify: Option<f64>,
    /// Hours before a deadline at which people get a message, such as 24,12,6.
    #[arg(long, value_delimiter = ',', value_name = "HOURS")]
    pub(crate) warn: Option<Vec<i32>>,
    /// The one of them at which an item passes to the person in charge.
    #[arg(long, value_name = "HOURS", requires = "warn")]
    pub(crate) transfer: Option<i32>,
}

#[derive(Debug, Args)]
pub(crate) struct CalendarArguments {
    /// The calendar to make or change; all are listed without it.
    pub(crate) name: Option<String>,
    /// A zone of the IANA database.
    #[arg(long, default_value = "UTC", value_name = "ZONE")]
    pub(crate) zone: String,
    /// Working days, 1 is Monday.
    #[arg(
        long,
        default_value = "1,2,3,4,5",
        value_delimiter = ',',
        value_name = "DAYS"
    )]
    pub(crate) weekdays: Vec<i32>,
    /// The time at which work begins.
    #[arg(long, default_value = "09:00", value_name = "TIME")]
    pub(crate) opens: String,
    /// The time at which work ends.
    #[arg(long, default_value = "17:00", value_name = "TIME")]
    pub(crate) closes: String,
    /// Days without work, such as 2026-12-25.
    #[arg(long, value_delimiter = ',', value_name = "DATES")]
    pub(crate) holidays: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BeginArguments {
    /// The flow.
    pub(crate) flow: String,
    /// The person in charge; who starts it when absent.
    #[arg(long, value_name = "NAME")]
    pub(crate) in_charge: Option<String>,
    /// A value, as NAME=VALUE (may be given several times); VALUE is JSON, or text.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// 1: offer items to all of the role; 2: to those with the fewest assigned; 3: with the fewest selected; 4: who
    /// connected last.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) policy: i32,
    /// Number of people that policies 2 to 4 choose.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) count: i32,
    /// Hours before a deadline at which people are warned, such as 24,12,6.
    #[arg(long, value_delimiter = ',', value_name = "HOURS")]
    pub(crate) warn: Vec<i32>,
    /// The one of them at which an item passes to the person in charge.
    #[arg(long, value_name = "HOURS")]
    pub(crate) transfer: Option<i32>,
}

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
