//! `wed work` on a machine that may be cut off: away, sync, do, return, local.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value as Json, json};
use wedflow_away::{
    AwayError, KeptResult, Leaving, Link, LocalItem, LocalStore, Returned, admit, disconnect, prefetch, reconnect,
    take_worklist, warnings,
};
use wedflow_client::{Client, Https};

use crate::answer::{self, counted, shown};
use crate::application::{call, changes};
use crate::arguments::{AwayCommand, AwayConnection};
use crate::calls;
use crate::commands::work::values_of;
use crate::inbox::form::complaint_of;
use crate::inbox::server::Server;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    connection: &AwayConnection,
    command: &AwayCommand,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let path = connection.store.as_deref().ok_or_else(|| {
        Problem::usage("no local store is named").hint("Say --store FILE, or set WEDFLOW_WORK_STORE.")
    })?;
    let mut store = LocalStore::open(path).map_err(problem)?;
    match command {
        AwayCommand::Sync => sync(&link(connection)?, &mut store, terminal)?,
        AwayCommand::Away { wait, yes, accept, quota } => {
            let leaving =
                Leaving { wait_seconds: *wait, confirmed: *yes, accepted: *accept, path, quota_bytes: *quota };
            leave(&link(connection)?, &mut store, &leaving, terminal)?;
        }
        AwayCommand::Do { item, set, at_server, failed, reason } => {
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
        AwayCommand::Outbox => outbox(&store, terminal)?,
        AwayCommand::Resend { item, set } => {
            let mut values = match store.result(*item).map_err(problem)?.body["values"].take() {
                Json::Object(values) => values,
                _ => Map::new(),
            };
            values.extend(values_of(set)?);
            store.send_again(*item, Some(&values)).map_err(problem)?;
            return send_if_connected(connection, &mut store, *item, terminal);
        }
        AwayCommand::Forget { item } => {
            let forgotten = store.forget(*item).map_err(problem)?;
            terminal.answer(&json!({ "forgotten": forgotten }), || {
                terminal.line(&format!("The result of item {item} is forgotten."));
            });
        }
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
fn leave(link: &Link, store: &mut LocalStore, leaving: &Leaving<'_>, terminal: &Terminal) -> Result<(), Problem> {
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
    if !terminal.has_screen() {
        return list(&link, &mut store, terminal);
    }
    let person = person(&link, &mut store)?;
    drop(store);
    let server = client(connection)?;
    show(person, server, Some((path, link))).await
}

/// Shows the inbox on a thread that may wait; with a local store and the way by which it is filled, where there are.
pub(crate) async fn show(person: String, client: Client, local: Option<(PathBuf, Link)>) -> Result<(), Problem> {
    let (path, link) = local.unzip();
    let server = Server { client, link, runtime: tokio::runtime::Handle::current() };
    let shown = tokio::task::spawn_blocking(move || crate::inbox::show(&person, server, path));
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

/// Returns whose store it is. A token of somebody else is refused; a server that does not answer, or no longer lets the
/// token in, keeps nobody from what is here.
fn person(link: &Link, store: &mut LocalStore) -> Result<String, Problem> {
    let known = store.owner().map_err(problem)?;
    let is_away = store.setting("mode").map_err(problem)?.as_deref() == Some("disconnected");
    if known.is_none() || !is_away {
        match take_worklist(link, store, "arrival") {
            Err(AwayError::Cut(_) | AwayError::Refused(_)) if known.is_some() => {}
            other => other.map_err(problem)?,
        }
    }
    let owner = store.owner().map_err(problem)?;
    Ok(owner.map_or_else(|| "you".to_owned(), |owner| owner.person))
}

/// Prints the worklist in plain lines: as the server has it, or, of a person who left, the local store, which is shown
/// to nobody else.
fn list(link: &Link, store: &mut LocalStore, terminal: &Terminal) -> Result<(), Problem> {
    let away = store.setting("mode").map_err(problem)?.as_deref() == Some("disconnected");
    if away {
        admit(link, store).map_err(problem)?;
    } else {
        take_worklist(link, store, "arrival").map_err(problem)?;
    }
    local(store, terminal)
}

fn link(connection: &AwayConnection) -> Result<Link, Problem> {
    let (server, token) = server_of(connection)?;
    Ok(Link::new(server, token))
}

/// Returns the API's client of the same server. It says nothing of where it is: the inbox has the whole screen.
fn client(connection: &AwayConnection) -> Result<Client, Problem> {
    let (server, token) = server_of(connection)?;
    Ok(Client::new(Https::new(server, token, None)?))
}

fn server_of(connection: &AwayConnection) -> Result<(&str, &str), Problem> {
    match (&connection.server, &connection.token) {
        (Some(server), Some(token)) => Ok((server, token)),
        _ => Err(Problem::usage("server and token are needed")
            .hint("Say --server URL and --token TOKEN, or set WEDFLOW_SERVER and WEDFLOW_TOKEN.")),
    }
}

fn local(store: &LocalStore, terminal: &Terminal) -> Result<(), Problem> {
    let items = store.items().map_err(problem)?;
    let results = store.results().map_err(problem)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let warned = warnings(store, now).map_err(problem)?;
    let mode = store.setting("mode").map_err(problem)?;
    let drafts = store.drafts().map_err(problem)?;
    let document = json!({ "mode": mode, "items": items, "results": results, "warnings": warned, "drafts": drafts,
        "owner": store.owner().map_err(problem)? });
    terminal.answer(&document, || {
        print_items(&items, terminal);
        for result in &results {
            print_result(result, terminal);
        }
        for draft in &drafts {
            terminal.line(&format!("draft of item {}: {}", draft.item, draft.texts));
        }
        for line in &warned {
            terminal.line(line);
        }
    });
    Ok(())
}

/// Prints a result that the server did not take: why, and both versions.
fn print_result(result: &KeptResult, terminal: &Terminal) {
    terminal.line(&format!("result of item {}: {}", result.item, result.state));
    terminal.line(&format!("  yours:   {}", result.body["values"]));
    if let Some(told) = &result.answer {
        let answer = &told["answer"];
        terminal.line(&format!("  {}", AwayError::Refused(answer.clone())));
        if !answer["present"].is_null() {
            terminal.line(&format!("  present: {}", answer["present"]));
        }
        terminal.line(&format!("  {}", shown(&answer["hint"])));
    }
}

/// Returns when a result was made, to the second.
fn done_at(body: &Json) -> Option<String> {
    let at: jiff::Timestamp = body["done_at"].as_str()?.parse().ok()?;
    Some(at.round(jiff::Unit::Second).unwrap_or(at).to_string())
}

/// Prints all results: saved here, on their way, refused, confirmed.
fn outbox(store: &LocalStore, terminal: &Terminal) -> Result<(), Problem> {
    let (results, sent) = (store.results().map_err(problem)?, store.sent().map_err(problem)?);
    let kept = results.iter().map(|one| {
        json!({ "item": one.item, "task": one.document["task"], "state": one.state, "at": done_at(&one.body),
            "values": one.body["values"], "answer": one.answer })
    });
    let confirmed = sent.iter().map(|one| {
        json!({ "item": one.item, "task": one.task, "state": "confirmed", "at": done_at(&one.body),
            "confirmed_at": one.at, "values": one.body["values"], "answer": one.answer })
    });
    let rows: Vec<Json> = kept.chain(confirmed).collect();
    terminal.answer(&rows, || {
        let columns = ["item", "task", "state", "at", "values"];
        terminal.table(&columns, rows.iter().map(|row| columns.iter().map(|name| shown(&row[*name])).collect()));
    });
    Ok(())
}

fn return_home(link: &Link, store: &mut LocalStore, terminal: &Terminal) -> Result<(), Problem> {
    tell_return(&reconnect(link, store).map_err(problem)?, terminal)
}

fn tell_return(returned: &Returned, terminal: &Terminal) -> Result<(), Problem> {
    terminal.answer(returned, || {
        terminal.line(&format!(
            "{} applied, {} refused and kept, {} to be sent again; {}",
            counted(returned.applied.len(), "result"),
            returned.refused.len(),
            returned.kept.len(),
            counted(returned.messages, "message")
        ));
        for one in &returned.kept {
            let why = AwayError::Refused(one["answer"].clone());
            terminal.line(&format!("item {}: {why}", one["item"]));
        }
    });
    match returned.refused.first() {
        Some(one) => Err(refusal(one)),
        None => Ok(()),
    }
}

/// A result that was refused and kept: why, and both versions.
fn refusal(one: &Json) -> Problem {
    let answer = &one["answer"];
    let mut details = vec![format!("yours:   {}", one["yours"]["values"])];
    if !answer["present"].is_null() {
        details.push(format!("present: {}", answer["present"]));
    }
    let error = AwayError::Refused(answer.clone());
    Problem::new(format!("item {}: {error}", one["item"]))
        .code(answer["code"].as_str().unwrap_or("WF084"))
        .exit(4)
        .details(details)
        .hint(format!(
            "{} `wed work resend` sends it again, with --set corrected; `wed work forget` drops it.",
            shown(&answer["hint"])
        ))
}

/// Sends what is kept, if the person is connected and the server answers; the result is on the disk in any case.
fn send_if_connected(
    connection: &AwayConnection,
    store: &mut LocalStore,
    item: i64,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let away = store.setting("mode").map_err(problem)?.as_deref() == Some("disconnected");
    let mut why = String::new();
    if !away && connection.has_server() {
        match reconnect(&link(connection)?, store) {
            Err(AwayError::Cut(cut)) => why = format!(" The server cannot be reached: {cut}."),
            Err(error) => return Err(problem(error)),
            Ok(returned) => return tell_return(&returned, terminal),
        }
    }
    let kept = store.result(item).map_err(problem)?;
    let document = json!({ "item": item, "kept": true, "key": kept.key, "values": kept.body["values"] });
    terminal.answer(&document, || {
        terminal.line(&format!("The result of item {item} is kept; `wed work return` sends it.{why}"));
    });
    Ok(())
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
    let Doing { item, at_server, mut values, failed, reason } = doing;
    let (found, component) = if at_server {
        take_worklist(&link(connection)?, store, "arrival").map_err(problem)?;
        let found = store.enabled(item).map_err(problem)?;
        let answered = client(connection)?.run_item(item, &values).await?;
        for (name, value) in answered["values"].as_object().into_iter().flatten() {
            values.entry(name).or_insert_with(|| value.clone());
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
    if !failed && let Some((name, why)) = complaint_of(&found.document["form"], &values) {
        return Err(Problem::usage(format!(
            "the form of {} does not take \"{name}\": {why}",
            shown(&found.document["task"])
        ))
        .code("WF088")
        .hint("Nothing was kept. Give it with --set NAME=VALUE, or say --failed."));
    }
    let body = json!({ "success": !failed, "values": values, "reason": reason, "claim": found.claim,
        "base": found.document["base"], "done_at": jiff::Timestamp::now().to_string() });
    store.keep_result(&found, &body).map_err(problem)?;
    send_if_connected(connection, store, item, terminal)
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
        AwayError::Cut(_) => {
            Problem::new(message).exit(5).hint("What was copied is kept; repeat the command when the server answers.")
        }
        AwayError::Decide { hint, .. } => Problem::new(message).exit(4).code("decide").hint(hint),
        AwayError::Refused(document) => {
            let missing = document["status"] == 404;
            let problem = Problem::new(message).exit(if missing { 3 } else { 4 });
            match document["code"].as_str() {
                Some(code) => problem.code(code).hint(shown(&document["hint"])),
                None => problem,
            }
        }
        AwayError::Foreign { .. } => {
            Problem::usage(message).hint("Nothing was changed. Say --store FILE with a file of your own.")
        }
        AwayError::NotEnabled(_) => {
            Problem::new(message).exit(4).code("not_enabled").hint("`wed work local` shows what is enabled.")
        }
        AwayError::Damaged(_) => Problem::new(message).hint("Run the command again: it is copied anew."),
        AwayError::Store(_) => Problem::new(message).hint(
            "When the disk is full, make room. Move a damaged store away, and `wed work sync` makes a new one; results \
             in it are lost, and their items are still held: ask who is in charge to take them over.",
        ),
    }
}
