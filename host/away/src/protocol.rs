//! The protocols of leaving and returning. Each step may be cut; the same call again continues where it stopped.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::{AwayError, KeptResult, LocalStore, Owner, Wire};

/// The longest time for which a component is better fetched than run at the server, in seconds.
const LOCAL_WAIT_SECONDS: f64 = 10.0;

/// A step of a protocol, as the person sees it.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Step {
    /// Number of the step in the protocol.
    pub step: u8,
    /// Description of the step.
    pub text: String,
    /// Bytes that were moved or are to be moved.
    pub bytes: u64,
    /// Seconds that it took, or will take.
    pub seconds: f64,
}

/// Terms on which a person leaves.
#[derive(Debug, Clone)]
pub struct Leaving<'a> {
    /// The longest time that transfers may take, in seconds.
    pub wait_seconds: f64,
    /// Leave although items are selected, which cannot be done without a connection.
    pub confirmed: bool,
    /// Transfer although it takes longer than the given time.
    pub accepted: bool,
    /// The local store's file, whose disk must have room.
    pub path: &'a Path,
    /// The most bytes that transfers may take on the disk.
    pub quota_bytes: Option<u64>,
}

/// Fate of the kept results.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Returned {
    /// Items whose results were applied.
    pub applied: Vec<i64>,
    /// Refused results, which are kept: the server's answers with both versions.
    pub refused: Vec<Json>,
    /// Results that the server did not take yet, with its answers: they are sent again.
    pub kept: Vec<Json>,
    /// Messages that were delivered.
    pub messages: i64,
}

/// A worklist as the server told it.
#[derive(Debug, Clone)]
pub struct Worklist {
    /// The items in order: all that are held, and what is offered.
    pub items: Vec<Json>,
    /// True if more is offered than is listed.
    pub cut: bool,
}

/// Fetches the worklist in an order, and keeps it. The store's owner is looked at first.
///
/// # Errors
/// [`AwayError::Cut`], [`AwayError::Foreign`]; the store is as it was.
pub fn take_worklist(link: &dyn Wire, store: &mut LocalStore, order: &str) -> Result<(), AwayError> {
    let list = worklist(link, store, order)?;
    store.take_list(&list.items, list.cut)
}

/// Fetches the worklist, then data and components of the items that may be taken away: locked ones first, then in the
/// order of the worklist.
///
/// # Errors
/// [`AwayError::Cut`]; what came so far is kept.
pub fn prefetch(link: &dyn Wire, store: &mut LocalStore) -> Result<u64, AwayError> {
    let order = order_of(store)?;
    match take_worklist(link, store, &order) {
        Err(error @ AwayError::Cut(_)) => {
            // The link was lost without leaving: from now on only what was taken away is enabled.
            store.set("mode", "disconnected")?;
            return Err(error);
        }
        other => other?,
    }
    let mut moved = 0;
    for item in store.missing()? {
        moved += transfer(link, store, item)?;
    }
    Ok(moved)
}

/// The order that the person chose last; by arrival at first.
fn order_of(store: &LocalStore) -> Result<String, AwayError> {
    Ok(store.setting("order")?.unwrap_or_else(|| "arrival".to_owned()))
}

/// Transfers the next item that may be taken away and is not here: locked ones first, then in the order of the
/// worklist. The item, and the bytes that were moved; none when all are here. With `spare` only locked ones are copied.
///
/// # Errors
/// [`AwayError::Cut`]; what came so far is kept.
pub fn prefetch_next(link: &dyn Wire, store: &mut LocalStore, spare: bool) -> Result<Option<(i64, u64)>, AwayError> {
    let missing = if spare { store.missing_locked()? } else { store.missing()? };
    let Some(item) = missing.into_iter().next() else {
        return Ok(None);
    };
    Ok(Some((item, transfer(link, store, item)?)))
}

/// Looks whether the store is the token's, and changes nothing. No connection, and a server that lets nobody in, keep
/// nobody from what is here.
///
/// # Errors
/// [`AwayError::Foreign`] when the token is somebody else's.
pub fn admit(link: &dyn Wire, store: &LocalStore) -> Result<(), AwayError> {
    match worklist(link, store, "arrival") {
        Err(AwayError::Cut(_) | AwayError::Refused(_)) if store.owner()?.is_some() => Ok(()),
        other => other.map(drop),
    }
}

/// Fetches the worklist in an order, for the store's owner.
fn worklist(link: &dyn Wire, store: &LocalStore, order: &str) -> Result<Worklist, AwayError> {
    let path = format!("/v1/work/items?limit=1000&order={order}");
    let mut list = link.call("GET", &path, None, "items")?;
    store.admit(&owner_of(&list)?)?;
    match (list["items"].take(), list["cut"].as_bool()) {
        (Json::Array(items), Some(cut)) => Ok(Worklist { items, cut }),
        _ => Err(AwayError::stranger()),
    }
}

/// The owner that an answer of the server names; one that names none is not Wedflow's.
fn owner_of(answer: &Json) -> Result<Owner, AwayError> {
    let text = |name: &str| answer["for"][name].as_str().map(str::to_owned);
    match (text("person"), text("tenant"), text("server")) {
        (Some(person), Some(tenant), Some(server)) => Ok(Owner { person, tenant, server }),
        _ => Err(AwayError::stranger()),
    }
}

/// Transfers an item's data and the part of its component that is missing, and those of the tasks that are taken away
/// together with it; the bytes that were moved.
///
/// # Errors
/// [`AwayError::Cut`]; what came so far is kept.
pub fn transfer(link: &dyn Wire, store: &mut LocalStore, item: i64) -> Result<u64, AwayError> {
    transfer_until(link, store, item, None)
}

/// The same, but no longer than until a moment.
fn transfer_until(
    link: &dyn Wire,
    store: &mut LocalStore,
    item: i64,
    until: Option<Instant>,
) -> Result<u64, AwayError> {
    let document = link.call("GET", &format!("/v1/work/items/{item}"), None, "state")?;
    if document["item"] != item {
        return Err(AwayError::stranger());
    }
    let mut moved = document.to_string().len() as u64;
    let behind = store.take_behind(item, &document)?;
    for (number, document) in behind.iter().map(|(number, document)| (*number, document)) {
        let task = document["task"].as_str().unwrap_or_default();
        let path = format!("/v1/work/items/{item}/application?task={}", encoded(task));
        moved += component(link, store, number, document, (&path, until))?;
        store.take_data(number, document)?;
    }
    let path = format!("/v1/work/items/{item}/application");
    moved += component(link, store, item, &document, (&path, until))?;
    // Last: an item is transferred when its data are complete and its component is.
    store.take_data(item, &document)?;
    Ok(moved)
}

/// Writes a text as part of a query: letters, digits and `-_.` as they are.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// Transfers the part of an item's component that is missing, and measures the bandwidth.
fn component(
    link: &dyn Wire,
    store: &mut LocalStore,
    item: i64,
    document: &Json,
    (path, until): (&str, Option<Instant>),
) -> Result<u64, AwayError> {
    if document["application"].is_null() {
        return Ok(0);
    }
    let (from, whole) = match document["application_mark"].as_str() {
        Some(mark) => store.want(item, mark)?,
        None => (store.held_bytes(item)?, false),
    };
    if whole {
        return Ok(0);
    }
    let began = Instant::now();
    let mut moved = 0;
    let mut copy = |store: &mut LocalStore, from: u64| {
        link.fetch(path, from, &mut |part| {
            moved += part.bytes.len() as u64;
            let left = part.total.saturating_sub(part.at + part.bytes.len() as u64);
            store.take_part(item, part)?;
            match until {
                Some(until) if left > 0 && Instant::now() >= until => Err(too_slow(left)),
                _ => Ok(()),
            }
        })
    };
    let fetched = match copy(store, from) {
        // Another version than the one that was begun: from its beginning.
        Err(AwayError::Damaged(_)) if from > 0 => {
            let from = store.held_bytes(item)?;
            copy(store, from)
        }
        other => other,
    };
    store.measure(moved, began.elapsed().as_secs_f64())?;
    fetched?;
    Ok(moved)
}

/// The decision when the given time has passed while an item was copied.
fn too_slow(left: u64) -> AwayError {
    AwayError::Decide {
        message: format!("the given time has passed, and {left} bytes of an item are still to come"),
        hint: "Say --accept, give more --wait, or unlock items; what came stays here.".to_owned(),
    }
}

/// Leaves: the disconnection protocol in its eleven steps. `tell` is called with each as it is done.
///
/// # Errors
/// [`AwayError::Decide`] when a step needs a decision; [`AwayError::Cut`].
pub fn disconnect(
    link: &dyn Wire,
    store: &mut LocalStore,
    leaving: &Leaving<'_>,
    mut tell: impl FnMut(Step),
) -> Result<(), AwayError> {
    let mut say = |step: u8, text: &str, bytes: u64, seconds: f64| {
        let text = text.to_owned();
        tell(Step { step, text, bytes, seconds });
    };
    let wait = leaving.wait_seconds;
    say(1, &format!("leaving; transfers may take {wait} s"), 0, wait);
    let order = order_of(store)?;
    take_worklist(link, store, &order)?;
    let left = stay_behind(store, leaving)?;
    say(2, &format!("{left} selected items stay behind"), 0, 0.0);
    link.call("DELETE", "/v1/work/connection", None, "active")?;
    say(3, "the server was told", 0, 0.0);
    say(4, "the server marked you inactive", 0, 0.0);
    let sizes = sizes(store)?;
    for (item, bytes) in &sizes {
        say(5, &format!("item {item} is to be transferred"), *bytes, 0.0);
    }
    let total: u64 = sizes.iter().map(|(_, bytes)| bytes).sum();
    say(6, "in all", total, 0.0);
    let allowed =
        time_for(store, leaving, total).and_then(|needed| room_for(leaving, total).map(|room| (needed, room)));
    let (needed, room) = match allowed {
        Ok(allowed) => allowed,
        Err(error) => return Err(stay(link, error)),
    };
    let text = match needed {
        Some(_) => "the time is enough",
        None => "the bandwidth is not known yet; the copy ends when the time has passed",
    };
    say(7, text, total, needed.unwrap_or(0.0));
    say(8, "the disk has room", room, 0.0);
    let until = Duration::try_from_secs_f64(wait).ok().filter(|_| !leaving.accepted);
    let until = until.and_then(|wait| Instant::now().checked_add(wait));
    for (item, _) in sizes {
        let began = Instant::now();
        let moved = match transfer_until(link, store, item, until) {
            Err(error @ AwayError::Decide { .. }) => return Err(stay(link, error)),
            other => other?,
        };
        let seconds = began.elapsed().as_secs_f64();
        say(9, &format!("item {item} is transferred"), moved, seconds);
    }
    store.set("mode", "disconnected")?;
    say(10, "only locked items are enabled", 0, 0.0);
    say(11, "you may go", 0, 0.0);
    Ok(())
}

/// The person stays, for a decision is needed: says so to the server.
fn stay(link: &dyn Wire, error: AwayError) -> AwayError {
    match link.call("PUT", "/v1/work/connection", None, "active") {
        Ok(_) => error,
        Err(cut) => cut,
    }
}

/// Counts the selected items, which cannot be done without a connection; the person must have confirmed that.
fn stay_behind(store: &LocalStore, leaving: &Leaving<'_>) -> Result<usize, AwayError> {
    let selected: Vec<String> = store
        .items()?
        .iter()
        .filter(|item| ["SELECTED", "RUNNING"].contains(&item.state.as_str()))
        .map(|item| item.item.to_string())
        .collect();
    if selected.is_empty() || leaving.confirmed {
        return Ok(selected.len());
    }
    Err(AwayError::Decide {
        message: format!("items {} are selected and cannot be done without a connection", selected.join(", ")),
        hint: "Lock or release them, or leave with --yes.".to_owned(),
    })
}

/// The seconds that a transfer needs by the bandwidth that was measured; they must be given, or accepted.
fn time_for(store: &LocalStore, leaving: &Leaving<'_>, total: u64) -> Result<Option<f64>, AwayError> {
    let needed = store.bandwidth()?.map(|bandwidth| total as f64 / bandwidth);
    let wait = leaving.wait_seconds;
    let needed = match needed {
        Some(needed) if needed > wait && !leaving.accepted => needed,
        other => return Ok(other),
    };
    Err(AwayError::Decide {
        message: format!("{total} bytes need {needed:.0} s, and {wait} s are given"),
        hint: "Say --accept, give more --wait, or unlock items.".to_owned(),
    })
}

/// The bytes that may be stored; a transfer must have room.
fn room_for(leaving: &Leaving<'_>, total: u64) -> Result<u64, AwayError> {
    let room = room(leaving)?;
    if room >= total {
        return Ok(room);
    }
    Err(AwayError::Decide {
        message: format!("{total} bytes are to be stored, and there is room for {room}"),
        hint: "Free disk space, raise --quota, or unlock items.".to_owned(),
    })
}

/// The locked items that are not here as they are now, with the bytes that each still needs, as the list says.
fn sizes(store: &LocalStore) -> Result<Vec<(i64, u64)>, AwayError> {
    let (mut sizes, mut counted) = (Vec::new(), BTreeSet::new());
    for item in store.items()? {
        if item.item > 0 && item.state == "LOCKED" && !item.fresh && item.result.is_none() {
            let document = &item.document;
            let mut bytes = document.to_string().len() as u64
                + document["data_bytes"].as_u64().unwrap_or(0)
                + document["behind_bytes"].as_u64().unwrap_or(0);
            let mark = document["application_mark"].as_str().unwrap_or_default();
            // Several items may need one component.
            if counted.insert(mark.to_owned()) {
                let whole = document["application_bytes"].as_u64().unwrap_or(0);
                bytes += whole.saturating_sub(store.holds(mark)?.0);
            }
            sizes.push((item.item, bytes));
        }
    }
    Ok(sizes)
}

/// Bytes that may still be stored: what the quota and the disk leave.
fn room(leaving: &Leaving<'_>) -> Result<u64, AwayError> {
    let folder = leaving.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(folder).map_or(u64::MAX, |disk| disk.f_bavail * disk.f_frsize);
    Ok(leaving.quota_bytes.map_or(disk, |quota| quota.min(disk)))
}

/// Returns: connects, sends each kept result under its key, then fetches the worklist. A result that was sent and not
/// acknowledged is sent again under the same key, so it is applied once.
///
/// # Errors
/// [`AwayError::Cut`]; what was not acknowledged is kept.
pub fn reconnect(link: &dyn Wire, store: &mut LocalStore) -> Result<Returned, AwayError> {
    let connected = link.call("PUT", "/v1/work/connection", None, "active")?;
    store.admit(&owner_of(&connected)?)?;
    if connected["active"] != true {
        return Err(AwayError::stranger());
    }
    store.set("mode", "connected")?;
    let mut returned =
        Returned { messages: connected["delivered"].as_i64().unwrap_or(0), ..send_results(link, store)? };
    for result in store.results()? {
        let answer = &result.answer;
        if result.state == "refused"
            && let Some(answer) = answer
            && !returned.refused.contains(answer)
        {
            returned.refused.push(answer.clone());
        }
    }
    let order = order_of(store)?;
    take_worklist(link, store, &order)?;
    Ok(returned)
}

/// Sends each kept result under its key, oldest first.
///
/// # Errors
/// [`AwayError::Cut`]; what was not acknowledged is kept. [`AwayError::Foreign`] before anything is sent.
pub fn send_results(link: &dyn Wire, store: &mut LocalStore) -> Result<Returned, AwayError> {
    let mut returned = Returned::default();
    let pending: Vec<KeptResult> = store.results()?.into_iter().filter(KeptResult::is_pending).collect();
    if !pending.is_empty() {
        // Whose token it is, before the first of them leaves the machine.
        worklist(link, store, "arrival")?;
    }
    for result in pending {
        send(link, store, &result, &mut returned)?;
    }
    Ok(returned)
}

/// Sends a kept result under its key.
fn send(
    link: &dyn Wire,
    store: &mut LocalStore,
    result: &KeptResult,
    returned: &mut Returned,
) -> Result<(), AwayError> {
    let Some((item, body)) = addressed(link, store, result)? else {
        let reason = "the task before it did not make it ready: its result was refused, or the process went another \
            way";
        let answer = json!({ "item": result.item, "yours": result.body, "answer": {
            "code": "WF084", "reason": reason, "yours": result.body["values"], "present": {},
            "hint": "The result is kept. Look at the instance, then send it again, edit it or forget it." } });
        store.refuse(result.item, &answer)?;
        returned.refused.push(answer);
        return Ok(());
    };
    store.mark_sending(result.item)?;
    let path = format!("/v1/work/items/{item}/report");
    let answered = link.ask("POST", &path, Some(&body), Some(&result.key))?;
    let (status, told) = (answered.status, answered.document.clone());
    match answered.understood("applied") {
        Ok(document) if document["applied"] == true => {
            store.confirm(result.item, &document)?;
            returned.applied.push(item);
        }
        Ok(_) => return Err(AwayError::stranger()),
        Err(AwayError::Refused(document)) if is_final(status, &document) => {
            let answer = json!({ "item": result.item, "answer": document, "yours": result.body });
            store.refuse(result.item, &answer)?;
            returned.refused.push(answer);
        }
        Err(AwayError::Refused(_)) => {
            let answer = json!({ "item": result.item, "answer": told, "yours": result.body });
            store.postpone(result.item, &answer)?;
            returned.kept.push(answer);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// True if a refusal is about the result and not about the moment: a busy server, a lock, a pause and a token that no
/// longer lets its bearer in all pass.
fn is_final(status: u16, refusal: &Json) -> bool {
    let code = refusal["code"].as_str().unwrap_or_default();
    match status {
        401 | 403 | 408 | 425 | 429 => false,
        409 => ["WF084", "WF082"].contains(&code),
        _ => true,
    }
}

/// The item that a result is for, and the report. A task that was taken away together with another one became an item
/// when that one's result was applied; its number is kept before the result is sent, so that it is found again.
fn addressed(link: &dyn Wire, store: &LocalStore, result: &KeptResult) -> Result<Option<(i64, Json)>, AwayError> {
    if result.item > 0 {
        return Ok(Some((result.item, result.body.clone())));
    }
    let mut body = result.body.clone();
    if let Some((item, claim)) = store.addressee(result.item)? {
        body["claim"] = claim.into();
        return Ok(Some((item, body)));
    }
    let document = store.kept_document(result.item)?;
    let same = |one: &&Json| ["flow", "wid", "task"].iter().all(|key| one[*key] == document[*key]);
    let list = worklist(link, store, "arrival")?;
    let Some(found) = list.items.iter().filter(|one| !one["holder"].is_null()).find(same) else {
        return Ok(None);
    };
    let (item, claim) = (found["item"].as_i64().unwrap_or(0), found["claim"].as_i64().unwrap_or(0));
    store.address(result.item, item, claim)?;
    body["claim"] = claim.into();
    Ok(Some((item, body)))
}

/// Recommends where to run an item's component, from what must be moved and the bandwidth: here, when it is here
/// already or comes soon; else at the server, where only the data are moved.
pub fn recommend(missing: u64, data: u64, bandwidth: Option<f64>, transferred: bool) -> String {
    if transferred || missing == 0 {
        return "run it here: it is on this machine".to_owned();
    }
    let Some(speed) = bandwidth.filter(|speed| *speed > 0.0) else {
        return "run it here: the bandwidth is not known yet".to_owned();
    };
    let (here, there) = (missing as f64 / speed, 2.0 * data as f64 / speed);
    if here <= LOCAL_WAIT_SECONDS || here <= there {
        format!("run it here: its component comes in {here:.1} s")
    } else {
        format!("run it at the server: its component would need {here:.0} s, its data {there:.1} s")
    }
}

/// The warnings that the local clock brings about deadlines of items here, `now` in seconds since 1970; the server
/// keeps the deadlines themselves.
///
/// # Errors
/// [`AwayError::Store`].
pub fn warnings(store: &LocalStore, now: f64) -> Result<Vec<String>, AwayError> {
    let mut said = Vec::new();
    for item in store.items()? {
        let Some(deadline) = item.document["deadline_epoch"].as_f64() else {
            continue;
        };
        let hours = (deadline - now) / 3600.0;
        let reached = item.document["warnings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_f64)
            .filter(|value| hours <= *value)
            .fold(None, |least: Option<f64>, value| Some(least.map_or(value, |least| least.min(value))));
        if hours <= 0.0 {
            said.push(format!("item {}: its deadline has passed", item.item));
        } else if let Some(value) = reached {
            said.push(format!("item {}: less than {value} hours are left until its deadline", item.item));
        }
    }
    Ok(said)
}
