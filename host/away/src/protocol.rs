//! The protocols of leaving and returning. Each step may be cut; the same call again goes on where it stopped.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value as Json, json};

use crate::{AwayError, Link, LocalStore};

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
pub fn prefetch(link: &Link, store: &mut LocalStore) -> Result<u64, AwayError> {
    let list = match link.get("GET", "/v1/work/items?limit=1000") {
        Err(error @ AwayError::Cut(_)) => {
            // The link was lost without leaving: from now on only what was taken away is enabled.
            store.set("mode", "disconnected")?;
            return Err(error);
        }
        list => list?,
    };
    store.take_list(list["items"].as_array().map_or(&[][..], Vec::as_slice))?;
    let mut items: Vec<_> = store
        .items()?
        .into_iter()
        .filter(|item| item.document["disconnected"] == true)
        .collect();
    items.sort_by_key(|item| item.state != "LOCKED");
    let mut moved = 0;
    for item in items.iter().filter(|item| !item.transferred) {
        moved += transfer(link, store, item.item)?;
    }
    Ok(moved)
}

/// Transfers an item's data and the part of its component that is missing; the bytes that were moved.
fn transfer(link: &Link, store: &mut LocalStore, item: i64) -> Result<u64, AwayError> {
    let began = Instant::now();
    let document = link.get("GET", &format!("/v1/work/items/{item}"))?;
    let mut moved = document.to_string().len() as u64;
    if !document["application"].is_null() {
        let from = store.held_bytes(item)?;
        let mut restarted = false;
        let fetched = link.fetch(item, from, |part| {
            moved += part.bytes.len() as u64;
            let taken = store.take_part(item, part);
            restarted |= matches!(taken, Err(AwayError::Damaged(_)));
            taken
        });
        match fetched {
            // Another version than the one that was begun: from its beginning.
            Err(AwayError::Damaged(_)) if from > 0 => {
                link.fetch(item, store.held_bytes(item)?, |part| {
                    moved += part.bytes.len() as u64;
                    store.take_part(item, part)
                })?;
            }
            other => other?,
        }
    }
    // Last: an item is transferred when its data are complete and its component is.
    store.take_data(item, &document)?;
    let seconds = began.elapsed().as_secs_f64().max(1e-6);
    store.set("bandwidth", &format!("{:.0}", moved as f64 / seconds))?;
    Ok(moved)
}

/// Leaves: the disconnection protocol in its eleven steps. `tell` is called with each as it is done.
///
/// # Errors
/// [`AwayError::Decide`] when a step needs a decision; [`AwayError::Cut`].
pub fn disconnect(
    link: &Link,
    store: &mut LocalStore,
    leaving: &Leaving<'_>,
    mut tell: impl FnMut(Step),
) -> Result<(), AwayError> {
    let mut say = |step: u8, text: String, bytes: u64, seconds: f64| {
        tell(Step {
            step,
            text,
            bytes,
            seconds,
        });
    };
    let wait = leaving.wait_seconds;
    say(1, format!("leaving; transfers may take {wait} s"), 0, wait);
    let list = link.get("GET", "/v1/work/items?limit=1000")?;
    store.take_list(list["items"].as_array().map_or(&[][..], Vec::as_slice))?;
    let selected: Vec<String> = store
        .items()?
        .iter()
        .filter(|item| ["SELECTED", "RUNNING"].contains(&item.state.as_str()))
        .map(|item| item.item.to_string())
        .collect();
    if !selected.is_empty() && !leaving.confirmed {
        return Err(AwayError::Decide {
            message: format!(
                "items {} are selected and cannot be done without a connection",
                selected.join(", ")
            ),
            hint: "Lock or release them, or leave with --yes.".to_owned(),
        });
    }
    say(
        2,
        format!("{} selected items stay behind", selected.len()),
        0,
        0.0,
    );
    link.get("DELETE", "/v1/work/connection")?;
    say(3, "the server was told".to_owned(), 0, 0.0);
    say(4, "the server marked you inactive".to_owned(), 0, 0.0);
    let sizes = sizes(link, store)?;
    for (item, bytes) in &sizes {
        say(5, format!("item {item} is to be transferred"), *bytes, 0.0);
    }
    let total: u64 = sizes.iter().map(|(_, bytes)| bytes).sum();
    say(6, "in all".to_owned(), total, 0.0);
    let bandwidth = store
        .setting("bandwidth")?
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|bandwidth| *bandwidth > 0.0);
    let needed = bandwidth.map_or(0.0, |bandwidth| total as f64 / bandwidth);
    if needed > wait && !leaving.accepted {
        link.get("PUT", "/v1/work/connection")?;
        return Err(AwayError::Decide {
            message: format!("{total} bytes need {needed:.0} s, and {wait} s are given"),
            hint: "Say --accept, give more --wait, or unlock items.".to_owned(),
        });
    }
    say(7, "the time is enough".to_owned(), total, needed);
    let room = room(leaving)?;
    if room < total {
        link.get("PUT", "/v1/work/connection")?;
        return Err(AwayError::Decide {
            message: format!("{total} bytes are to be stored, and there is room for {room}"),
            hint: "Free disk space, raise --quota, or unlock items.".to_owned(),
        });
    }
    say(8, "the disk has room".to_owned(), room, 0.0);
    for (item, _) in sizes {
        let began = Instant::now();
        let moved = transfer(link, store, item)?;
        say(
            9,
            format!("item {item} is transferred"),
            moved,
            began.elapsed().as_secs_f64(),
        );
    }
    store.set("mode", "disconnected")?;
    say(10, "only locked items are enabled".to_owned(), 0, 0.0);
    say(11, "you may go".to_owned(), 0, 0.0);
    Ok(())
}

/// The locked items that are not transferred, with the bytes that each still needs.
fn sizes(link: &Link, store: &LocalStore) -> Result<Vec<(i64, u64)>, AwayError> {
    let mut sizes = Vec::new();
    for item in store.items()? {
        if item.state == "LOCKED" && !item.transferred {
            let document = link.get("GET", &format!("/v1/work/items/{}", item.item))?;
            let component = document["application_bytes"].as_u64().unwrap_or(0);
            let missing = component.saturating_sub(store.held_bytes(item.item)?);
            sizes.push((item.item, document.to_string().len() as u64 + missing));
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
pub fn reconnect(link: &Link, store: &mut LocalStore) -> Result<Returned, AwayError> {
    let connected = link.get("PUT", "/v1/work/connection")?;
    store.set("mode", "connected")?;
    let mut returned = Returned {
        messages: connected["delivered"].as_i64().unwrap_or(0),
        ..Returned::default()
    };
    for result in store.results()? {
        if result.state != "kept" {
            returned.refused.extend(result.answer);
            continue;
        }
        let path = format!("/v1/work/items/{}/report", result.item);
        let answered = link.ask("POST", &path, Some(&result.body), Some(&result.key))?;
        match answered.status {
            200 => {
                store.settle(result.item, None)?;
                returned.applied.push(result.item);
            }
            // Busy, or somebody holds a lock: later.
            408 | 429 => returned.kept += 1,
            409 if answered.document["code"] != "WF084" && answered.document["code"] != "WF082" => {
                returned.kept += 1;
            }
            _ => {
                let answer = json!({ "item": result.item, "answer": answered.document, "yours": result.body });
                store.settle(result.item, Some(&answer))?;
                returned.refused.push(answer);
            }
        }
    }
    let list = link.get("GET", "/v1/work/items?limit=1000")?;
    store.take_list(list["items"].as_array().map_or(&[][..], Vec::as_slice))?;
    Ok(returned)
}

/// The warnings that the local clock brings about deadlines of items here, `now` in seconds since 1970; the server keeps
/// the deadlines themselves.
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
