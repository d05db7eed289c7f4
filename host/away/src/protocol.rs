//! The protocols of leaving and returning. Each step may be cut; the same call again continues where it stopped.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value as Json, json};

use crate::{AwayError, KeptResult, LocalStore, Wire};

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
    /// Results that were not sent for want of a connection.
    pub kept: usize,
    /// Messages that were delivered.
    pub messages: i64,
}

/// Fetches the worklist, then data and components of the items that may be taken away: locked ones first, then in the
/// order of the worklist.
///
/// # Errors
/// [`AwayError::Cut`]; what came so far is kept.
pub fn prefetch(link: &dyn Wire, store: &mut LocalStore) -> Result<u64, AwayError> {
    match worklist(link, "arrival") {
        Err(error @ AwayError::Cut(_)) => {
            // The link was lost without leaving: from now on only what was taken away is enabled.
            store.set("mode", "disconnected")?;
            return Err(error);
        }
        list => store.take_list(&list?)?,
    }
    let mut moved = 0;
    for item in store.missing()? {
        moved += transfer(link, store, item)?;
    }
    Ok(moved)
}

/// Transfers the next item that may be taken away and is not here: locked ones first, then in the order of the
/// worklist. The item, and the bytes that were moved; none when all are here. With `spare` only locked ones are copied.
///
/// # Errors
/// [`AwayError::Cut`]; what came so far is kept.
pub fn prefetch_next(
    link: &dyn Wire,
    store: &mut LocalStore,
    spare: bool,
) -> Result<Option<(i64, u64)>, AwayError> {
    let missing = if spare {
        store.missing_locked()?
    } else {
        store.missing()?
    };
    let Some(item) = missing.into_iter().next() else {
        return Ok(None);
    };
    Ok(Some((item, transfer(link, store, item)?)))
}

/// Fetches the worklist in an order.
fn worklist(link: &dyn Wire, order: &str) -> Result<Vec<Json>, AwayError> {
    let mut list = link.get("GET", &format!("/v1/work/items?limit=1000&order={order}"))?;
    match list["items"].take() {
        Json::Array(items) => Ok(items),
        // A login page of some network, for example.
        _ => Err(AwayError::Cut(
            "it does not answer as Wedflow does".to_owned(),
        )),
    }
}

/// Transfers an item's data and the part of its component that is missing, and those of the tasks that are taken away
/// together with it; the bytes that were moved.
///
/// # Errors
/// [`AwayError::Cut`]; what came so far is kept.
pub fn transfer(link: &dyn Wire, store: &mut LocalStore, item: i64) -> Result<u64, AwayError> {
    let began = Instant::now();
    let document = link.get("GET", &format!("/v1/work/items/{item}"))?;
    if document["item"] != item {
        return Err(AwayError::Cut(
            "it does not answer as Wedflow does".to_owned(),
        ));
    }
    let mut moved = document.to_string().len() as u64;
    let behind = store.take_behind(item, &document)?;
    for (number, document) in behind.iter().map(|(number, document)| (*number, document)) {
        let task = document["task"].as_str().unwrap_or_default();
        let path = format!("/v1/work/items/{item}/application?task={}", encoded(task));
        moved += component(link, store, number, document, &path)?;
        store.take_data(number, document)?;
    }
    let path = format!("/v1/work/items/{item}/application");
    moved += component(link, store, item, &document, &path)?;
    // Last: an item is transferred when its data are complete and its component is.
    store.take_data(item, &document)?;
    let seconds = began.elapsed().as_secs_f64().max(1e-6);
    store.set("bandwidth", &format!("{:.0}", moved as f64 / seconds))?;
    Ok(moved)
}

/// Writes a text as part of a query: letters, digits and `-_.` as they are.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// Transfers the part of an item's component that is missing.
fn component(
    link: &dyn Wire,
    store: &mut LocalStore,
    item: i64,
    document: &Json,
    path: &str,
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
    let mut moved = 0;
    let fetched = link.fetch(path, from, &mut |part| {
        moved += part.bytes.len() as u64;
        store.take_part(item, part)
    });
    match fetched {
        // Another version than the one that was begun: from its beginning.
        Err(AwayError::Damaged(_)) if from > 0 => {
            let from = store.held_bytes(item)?;
            link.fetch(path, from, &mut |part| {
                moved += part.bytes.len() as u64;
                store.take_part(item, part)
            })?;
        }
        other => other?,
    }
    Ok(moved)
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
        tell(Step {
            step,
            text,
            bytes,
            seconds,
        });
    };
    let wait = leaving.wait_seconds;
    say(1, &format!("leaving; transfers may take {wait} s"), 0, wait);
    store.take_list(&worklist(link, "arrival")?)?;
    let left = stay_behind(store, leaving)?;
    say(2, &format!("{left} selected items stay behind"), 0, 0.0);
    link.get("DELETE", "/v1/work/connection")?;
    say(3, "the server was told", 0, 0.0);
    say(4, "the server marked you inactive", 0, 0.0);
    let sizes = sizes(link, store)?;
    for (item, bytes) in &sizes {
        say(5, &format!("item {item} is to be transferred"), *bytes, 0.0);
    }
    let total: u64 = sizes.iter().map(|(_, bytes)| bytes).sum();
    say(6, "in all", total, 0.0);
    let allowed = time_for(store, leaving, total)
        .and_then(|needed| room_for(leaving, total).map(|room| (needed, room)));
    let (needed, room) = match allowed {
        Ok(allowed) => allowed,
        Err(error) => {
            // The person stays.
            link.get("PUT", "/v1/work/connection")?;
            return Err(error);
        }
    };
    say(7, "the time is enough", total, needed);
    say(8, "the disk has room", room, 0.0);
    for (item, _) in sizes {
        let began = Instant::now();
        let moved = transfer(link, store, item)?;
        let seconds = began.elapsed().as_secs_f64();
        say(9, &format!("item {item} is transferred"), moved, seconds);
    }
    store.set("mode", "disconnected")?;
    say(10, "only locked items are enabled", 0, 0.0);
    say(11, "you may go", 0, 0.0);
    Ok(())
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
        message: format!(
            "items {} are selected and cannot be done without a connection",
            selected.join(", ")
        ),
        hint: "Lock or release them, or leave with --yes.".to_owned(),
    })
}

/// The seconds that a transfer needs by the bandwidth that was measured; they must be given, or accepted.
fn time_for(store: &LocalStore, leaving: &Leaving<'_>, total: u64) -> Result<f64, AwayError> {
    let bandwidth = store
        .setting("bandwidth")?
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|bandwidth| *bandwidth > 0.0);
    let needed = bandwidth.map_or(0.0, |bandwidth| total as f64 / bandwidth);
    let wait = leaving.wait_seconds;
    if needed <= wait || leaving.accepted {
        return Ok(needed);
    }
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

/// The locked items that are not transferred, with the bytes that each still needs.
fn sizes(link: &dyn Wire, store: &LocalStore) -> Result<Vec<(i64, u64)>, AwayError> {
    let (mut sizes, mut counted) = (Vec::new(), BTreeSet::new());
    for item in store.items()? {
        if item.item > 0 && item.state == "LOCKED" && !item.transferred {
            let document = link.get("GET", &format!("/v1/work/items/{}", item.item))?;
            let mut bytes = document.to_string().len() as u64;
            let behind = document["behind"].as_array().into_iter().flatten();
            for one in std::iter::once(&document).chain(behind) {
                let mark = one["application_mark"].as_str().unwrap_or_default();
                // Several items may need one component.
                if counted.insert(mark.to_owned()) {
                    let whole = one["application_bytes"].as_u64().unwrap_or(0);
                    bytes += whole.saturating_sub(store.holds(mark)?.0);
                }
            }
            sizes.push((item.item, bytes));
        }
    }
    Ok(sizes)
}

/// Bytes that may still be stored: what the quota and the disk leave.
fn room(leaving: &Leaving<'_>) -> Result<u64, AwayError> {
    let folder = leaving
        .path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(folder).map_or(u64::MAX, |disk| disk.f_bavail * disk.f_frsize);
    Ok(leaving.quota_bytes.map_or(disk, |quota| quota.min(disk)))
}

/// Returns: connects, sends each kept result under its key, then fetches the worklist. A result that was sent and not
/// acknowledged is sent again under the same key, so it is applied once.
///
/// # Errors
/// [`AwayError::Cut`]; what was not acknowledged is kept.
pub fn reconnect(link: &dyn Wire, store: &mut LocalStore) -> Result<Returned, AwayError> {
    let connected = link.get("PUT", "/v1/work/connection")?;
    if connected["active"] != true {
        return Err(AwayError::Cut(
            "it does not answer as Wedflow does".to_owned(),
        ));
    }
    store.set("mode", "connected")?;
    let mut returned = Returned {
        messages: connected["delivered"].as_i64().unwrap_or(0),
        ..Returned::default()
    };
    for result in store.results()? {
        if result.state == "kept" {
            send(link, store, &result, &mut returned)?;
        } else {
            returned.refused.extend(result.answer);
        }
    }
    store.take_list(&worklist(link, "arrival")?)?;
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
            "hint": "The result is kept. Look at the instance, then report it by hand or remove it." } });
        store.acknowledge(result.item, Some(&answer))?;
        returned.refused.push(answer);
        return Ok(());
    };
    let path = format!("/v1/work/items/{item}/report");
    let answered = link.ask("POST", &path, Some(&body), Some(&result.key))?;
    let code = answered.document["code"].as_str().unwrap_or_default();
    match answered.status {
        200 if answered.document["applied"] == true => {
            store.acknowledge(result.item, None)?;
            returned.applied.push(item);
        }
        200..=399 => {
            return Err(AwayError::Cut(
                "it does not answer as Wedflow does".to_owned(),
            ));
        }
        // Busy, or somebody holds a lock: later. So with a token that no longer lets its bearer in.
        401 | 403 | 408 | 429 => returned.kept += 1,
        409 if !["WF084", "WF082"].contains(&code) => returned.kept += 1,
        _ => {
            let answer =
                json!({ "item": result.item, "answer": answered.document, "yours": result.body });
            store.acknowledge(result.item, Some(&answer))?;
            returned.refused.push(answer);
        }
    }
    Ok(())
}

/// The item that a result is for, and the report. A task that was taken away together with another one became an item
/// when that one's result was applied; its number is kept before the result is sent, so that it is found again.
fn addressed(
    link: &dyn Wire,
    store: &LocalStore,
    result: &KeptResult,
) -> Result<Option<(i64, Json)>, AwayError> {
    if result.item > 0 {
        return Ok(Some((result.item, result.body.clone())));
    }
    let mut body = result.body.clone();
    if let Some((item, claim)) = store.addressee(result.item)? {
        body["claim"] = claim.into();
        return Ok(Some((item, body)));
    }
    let document = store.kept_document(result.item)?;
    let same = |one: &&Json| {
        ["flow", "wid", "task"]
            .iter()
            .all(|key| one[*key] == document[*key])
    };
    let list = worklist(link, "arrival")?;
    let Some(found) = list
        .iter()
        .filter(|one| !one["holder"].is_null())
        .find(same)
    else {
        return Ok(None);
    };
    let (item, claim) = (
        found["item"].as_i64().unwrap_or(0),
        found["claim"].as_i64().unwrap_or(0),
    );
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
            .fold(None, |least: Option<f64>, value| {
                Some(least.map_or(value, |least| least.min(value)))
            });
        if hours <= 0.0 {
            said.push(format!("item {}: its deadline has passed", item.item));
        } else if let Some(value) = reached {
            said.push(format!(
                "item {}: less than {value} hours are left until its deadline",
                item.item
            ));
        }
    }
    Ok(said)
}
