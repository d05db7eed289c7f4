//! `wed work` on a machine that may be cut off: away, sync, do, return, local.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value as Json, json};
use wedflow_away::{
    AwayError, Leaving, Link, LocalItem, LocalStore, Wire, disconnect, prefetch, reconnect,
    warnings,
};

use crate::answer::{self, counted, shown};
use crate::application::{call, changes};
use crate::arguments::{AwayCommand, AwayConnection};
use crate::calls;
use crate::commands::work::{refused, values_of};
use crate::inbox::server::{Served, Server};
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    connection: &AwayConnection,
    command: &AwayCommand,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let path = connection.store.as_deref().ok_or_else(|| {
        Problem::usage("no local store is named")
            .hint("Say --store FILE, or set WEDFLOW_WORK_STORE.")
    })?;
    let mut store = LocalStore::open(path).map_err(problem)?;
    match command {
        AwayCommand::Sync => sync(&link(connection)?, &mut store, terminal)?,
        AwayCommand::Away {
            wait,
            yes,
            accept,
            quota,
        } => {
            let leaving = Leaving {
                wait_seconds: *wait,
                confirmed: *yes,
                accepted: *accept,
                path,
                quota_bytes: *quota,
            };
            leave(&link(connection)?, &mut store, &leaving, terminal)?;
        }
        AwayCommand::Do {
            item,
            set,
            at_server,
            failed,
            reason,
        } => {
            let doing = Doing {
                item: *item,
                at_server: *at_server,
                values: values_of(set)?,
                failed: *failed,
                reason: reason.as_deref(),
            };
            return perform(connection, &mut store, doing, terminal).await;
        }
        AwayCommand::Return => return return_home(&link(connection)?, &mut store, terminal),
        AwayCommand::Local => local(&store, terminal)?,
    }
    Ok(())
}

/// Copies the worklist, data and components to the local store, and shows it.
fn sync(link: &Link, store: &mut LocalStore, terminal: &Terminal) -> Result<(), Problem> {
    let moved = prefetch(link, store).map_err(problem)?;
    let items = store.items().map_err(problem)?;
    terminal.answer(&json!({ "bytes": moved, "items": items }), || {
        print_items(&items, terminal);
        terminal.say(&format!("{} were transferred", answer::bytes(moved)));
    });
    Ok(())
}

/// Leaves, and shows each step as it ends.
fn leave(
    link: &Link,
    store: &mut LocalStore,
    leaving: &Leaving<'_>,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let mut steps = Vec::new();
    disconnect(link, store, leaving, |step| {
        if !terminal.is_json() {
            terminal.line(&format!(
                "{:>2}  {}  {}  {:.1} s",
                step.step,
                step.text,
                answer::bytes(step.bytes),
                step.seconds
            ));
        }
        steps.push(step);
    })
    .map_err(problem)?;
    if terminal.is_json() {
        terminal.document(&steps);
    }
    Ok(())
}

/// Shows the inbox full screen, over HTTP with the local store; the list in plain lines where there is no terminal.
pub(crate) async fn inbox(connection: &AwayConnection, terminal: &Terminal) -> Result<(), Problem> {
    let path = match &connection.store {
        Some(path) => path.clone(),
        None => default_store()?,
    };
    let link = link(connection)?;
    let mut store = LocalStore::open(&path).map_err(problem)?;
    let person = person(&link, &store)?;
    if !terminal.has_screen() {
        return list(&link, &mut store, terminal);
    }
    drop(store);
    let server = Box::new(Served(link));
    show(person, server, Some(path)).await
}

/// Shows the inbox on a thread that may wait.
pub(crate) async fn show(
    person: String,
    server: Box<dyn crate::inbox::server::Server>,
    path: Option<PathBuf>,
) -> Result<(), Problem> {
    let runtime = tokio::runtime::Handle::current();
    let shown =
        tokio::task::spawn_blocking(move || crate::inbox::show(&person, server, path, runtime));
    match shown.await {
        Ok(shown) => shown.map_err(problem),
        Err(error) => Err(Problem::new("the inbox ended early").because(error)),
    }
}

/// Returns the default local store: `work.db` in the home folder, next to the private database.
fn default_store() -> Result<PathBuf, Problem> {
    let home = wedflow_embedded_postgres::default_home()?;
    std::fs::create_dir_all(&home).map_err(|source| {
        Problem::new(format!("{} cannot be made", home.display()))
            .exit(3)
            .because(source)
            .hint("Say --store FILE, or set WEDFLOW_WORK_STORE.")
    })?;
    Ok(home.join("work.db"))
}

/// Returns the person whose token it is, from the server or else the local store. A store is one person's.
fn person(link: &Link, store: &LocalStore) -> Result<String, Problem> {
    let known = store.setting("person").map_err(problem)?;
    let told = match link.get("GET", "/v1/me") {
        Ok(me) => me["user"].as_str().map(str::to_owned),
        Err(AwayError::Cut(_)) => None,
        Err(error) => return Err(problem(error)),
    };
    match (known, told) {
        (Some(known), Some(told)) if known != told => Err(Problem::usage(format!(
            "the local store is {known}'s, and the token is {told}'s"
        ))
        .hint("Say --store FILE with a file of your own.")),
        (known, Some(told)) => {
            if known.is_none() {
                store.set("person", &told).map_err(problem)?;
            }
            Ok(told)
        }
        (known, None) => Ok(known.unwrap_or_else(|| "you".to_owned())),
    }
}

/// Prints the worklist in plain lines: as the server has it, or, without a connection, the local store.
fn list(link: &Link, store: &mut LocalStore, terminal: &Terminal) -> Result<(), Problem> {
    let away = store.setting("mode").map_err(problem)?.as_deref() == Some("disconnected");
    if !away {
        take_list(link, store)?;
    }
    local(store, terminal)
}

/// Takes the worklist from the server into the local store.
fn take_list(link: &Link, store: &mut LocalStore) -> Result<(), Problem> {
    let list = link
        .get("GET", "/v1/work/items?limit=1000")
        .map_err(problem)?;
    let items = list["items"].as_array().cloned().unwrap_or_default();
    store.take_list(&items).map_err(problem)
}

fn link(connection: &AwayConnection) -> Result<Link, Problem> {
    let (Some(server), Some(token)) = (&connection.server, &connection.token) else {
        return Err(Problem::usage("server and token are needed")
            .hint("Say --server URL and --token TOKEN, or set WEDFLOW_SERVER and WEDFLOW_TOKEN."));
    };
    Ok(Link::new(server, token))
}

fn local(store: &LocalStore, terminal: &Terminal) -> Result<(), Problem> {
    let items = store.items().map_err(problem)?;
    let results = store.results().map_err(problem)?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64());
    let warned = warnings(store, now).map_err(problem)?;
    let mode = store.setting("mode").map_err(problem)?;
    let document = json!({ "mode": mode, "items": items, "results": results, "warnings": warned });
    terminal.answer(&document, || {
        print_items(&items, terminal);
        for result in &results {
            terminal.line(&format!("result of item {}: {}", result.item, result.state));
            if let Some(answer) = &result.answer {
                terminal.line(&format!("  {}", shown(&answer["answer"]["reason"])));
                terminal.line(&format!("  yours:   {}", result.body["values"]));
                terminal.line(&format!("  present: {}", answer["answer"]["present"]));
                terminal.line(&format!("  {}", shown(&answer["answer"]["hint"])));
            }
        }
        for line in &warned {
            terminal.line(line);
        }
    });
    Ok(())
}

fn return_home(link: &Link, store: &mut LocalStore, terminal: &Terminal) -> Result<(), Problem> {
    let returned = reconnect(link, store).map_err(problem)?;
    terminal.answer(&returned, || {
        terminal.line(&format!(
            "{} applied, {} refused and kept, {} to be sent again; {}",
            counted(returned.applied.len(), "result"),
            returned.refused.len(),
            returned.kept,
            counted(returned.messages, "message")
        ));
    });
    match returned.refused.first() {
        Some(answer) => Err(refused(&answer["answer"])),
        None => Ok(()),
    }
}

/// An item to do, with what the person gave.
struct Doing<'a> {
    item: i64,
    at_server: bool,
    values: Map<String, Json>,
    failed: bool,
    reason: Option<&'a str>,
}

/// Does an item and keeps its result; with a connection it is reported at once.
async fn perform(
    connection: &AwayConnection,
    store: &mut LocalStore,
    doing: Doing<'_>,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let Doing {
        item,
        at_server,
        mut values,
        failed,
        reason,
    } = doing;
    let (found, component) = if at_server {
        let link = link(connection)?;
        take_list(&link, store)?;
        let found = store.enabled(item).map_err(problem)?;
        let answered = Served(link).run(item, &values).map_err(problem)?;
        for (name, value) in answered {
            values.entry(name).or_insert(value);
        }
        (found, None)
    } else {
        store.executable(item).map_err(problem)?
    };
    if let Some(bytes) = component.filter(|_| !failed) {
        let called = call(&found.document, &bytes, &values).await?;
        if !terminal.is_json() {
            calls::print_answer(&called, terminal);
            calls::print_logs(&called, "  ", terminal);
        }
        for (name, value) in changes(&called)? {
            values.entry(name).or_insert(value);
        }
    }
    let body =
        json!({ "success": !failed, "values": values, "reason": reason, "claim": found.claim });
    let key = store.keep_result(&found, &body).map_err(problem)?;
    let away = store.setting("mode").map_err(problem)?.as_deref() == Some("disconnected");
    if !away && connection.server.is_some() {
        return return_home(&link(connection)?, store, terminal);
    }
    terminal.answer(
        &json!({ "item": item, "kept": true, "key": key, "values": values }),
        || {
            terminal.line(&format!(
                "The result of item {item} is kept; `wed work return` sends it."
            ));
        },
    );
    Ok(())
}

fn print_items(items: &[LocalItem], terminal: &Terminal) {
    terminal.table(
        &["item", "task", "state", "transferred", "enabled", "result"],
        items.iter().map(|item| {
            vec![
                item.item.to_string(),
                shown(&item.document["task"]),
                item.state.clone(),
                item.transferred.to_string(),
                item.enabled.to_string(),
                item.result.clone().unwrap_or_default(),
            ]
        }),
    );
}

pub(crate) fn problem(error: AwayError) -> Problem {
    let message = error.to_string();
    match error {
        AwayError::Cut(_) => Problem::new(message)
            .exit(5)
            .hint("What came so far is kept; the same command goes on when the server answers."),
        AwayError::Decide { hint, .. } => Problem::new(message).exit(4).code("decide").hint(hint),
        AwayError::Refused(document) => {
            let missing = document["status"] == 404;
            let problem = Problem::new(message).exit(if missing { 3 } else { 4 });
            match document["code"].as_str() {
                Some(code) => problem.code(code).hint(shown(&document["hint"])),
                None => problem,
            }
        }
        AwayError::NotEnabled(_) => Problem::new(message)
            .exit(4)
            .code("not_enabled")
            .hint("`wed work local` shows what is enabled."),
        AwayError::Damaged(_) => Problem::new(message).hint("Run the command again: it is copied anew."),
        AwayError::Store(_) => Problem::new(message).hint(
            "When the disk is full, make room. A store that is damaged is removed and made anew by `wed work sync`; \
             results in it are lost, and their items are still held: ask who is in charge to take them over.",
        ),
    }
}
