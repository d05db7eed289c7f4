//! A person's inbox: the worklist in its orders, searched and filtered; messages, and starting a process.

use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;
use wedflow_client::ClientError;
use wedflow_documents::{Attribute, Process};

use super::instances::read;
use super::news::{NEAR_SECONDS, entry, item_address, seconds_left, text, work_page};
use super::{Query, more};
use crate::ROOT;
use crate::cookies::set_cookie;
use crate::document::{confined, part, shell};
use crate::frame::{Answer, hidden, onward};
use crate::session::{Sent, Session, seen};
use crate::shown::{part as encoded, time};
use crate::words::Language;

/// Most items of a list.
const ITEMS_MAX: i32 = 200;
/// Most messages of a page.
const MESSAGES_MAX: i32 = 100;
/// Most entries that the API lists, for who asks for more.
const ENTRIES_MAX: i32 = 1_000;
/// Orders of a worklist.
const ORDERS: [(&str, &str); 5] = [
    ("arrival", "arrival"),
    ("priority", "priority"),
    ("deadline", "deadline"),
    ("size", "size of the data"),
    ("own", "my own order"),
];
/// Parts of a worklist.
const PARTS: [(&str, &str); 4] =
    [("all", "everything"), ("mine", "what I hold"), ("offered", "what is offered"), ("late", "what is due soon")];

/// Choice of what the inbox lists.
struct Choice {
    order: &'static str,
    part: &'static str,
    search: String,
    limit: i32,
}

/// The most entries that a page lists: the usual number, or all that the API lists.
fn limit(query: &Query, usual: i32) -> i32 {
    if query.given("all").is_some() { ENTRIES_MAX } else { usual }
}

impl Choice {
    fn of(query: &Query) -> Self {
        let known = |names: &[(&'static str, &str)], given: Option<&str>| {
            let found = names.iter().find(|(name, _)| Some(*name) == given);
            found.or(names.first()).map_or("", |(name, _)| *name)
        };
        Choice {
            order: known(&ORDERS, query.given("order")),
            part: known(&PARTS, query.given("show")),
            search: query.given("q").unwrap_or_default().to_owned(),
            limit: limit(query, ITEMS_MAX),
        }
    }

    fn takes(&self, item: &Value) -> bool {
        let is_of_part = match self.part {
            "mine" => item["state"] != "READY",
            "offered" => item["state"] == "READY",
            "late" => seconds_left(item).is_some_and(|left| left < NEAR_SECONDS),
            _ => true,
        };
        let wanted = self.search.to_lowercase();
        let texts = ["task", "instance", "description", "role", "element"];
        is_of_part
            && (wanted.is_empty()
                || texts.iter().any(|key| {
                    let text = item[*key].as_str().unwrap_or_default();
                    text.to_lowercase().contains(&wanted)
                }))
    }

    fn query(&self) -> String {
        let all = if self.limit == ENTRIES_MAX { "&all=yes" } else { "" };
        format!("order={}&show={}&q={}{all}", self.order, self.part, encoded(&self.search))
    }
}

/// The inbox.
pub(crate) async fn inbox(session: Session, query: Query) -> Answer {
    let choice = Choice::of(&query);
    let list = list(&session, &choice).await.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let body = html! {
        h1 { (say("Inbox")) }
        form class="line" method="get" action=(format!("{ROOT}/work")) role="search" {
            label { (say("Search"))
                input type="search" name="q" value=(choice.search) data-search="true"; }
            label { (say("Order"))
                select name="order" { @for (name, word) in ORDERS {
                    option value=(name) selected[name == choice.order] { (say(word)) }
                } } }
            label { (say("Show"))
                select name="show" { @for (name, word) in PARTS {
                    option value=(name) selected[name == choice.part] { (say(word)) }
                } } }
            button { (say("List")) }
        }
        div data-live=(format!("{ROOT}/work/live?{}", choice.query())) { (list) }
        div class="scripted" { details {
            summary { (say("Go away with what is locked")) }
            p { label class="row" {
                input type="checkbox" data-rest="true";
                (say("Copy only when I leave, while the connection is full"))
            } }
            form class="line" data-leave="true" {
                label { (say("Minutes until you leave")) input type="number" name="minutes" min="1"; }
                button { (say("Get ready to go")) }
                div role="status" { ol {} }
            }
        } }
    };
    work_page(&session, say("Inbox"), &body).await
}

/// The part of the inbox that is kept current.
pub(crate) async fn live(session: Session, query: Query, headers: HeaderMap) -> Answer {
    let list = list(&session, &Choice::of(&query)).await.map_err(session.failed())?;
    Ok(part(&headers, &list))
}

async fn list(session: &Session, choice: &Choice) -> Result<Markup, ClientError> {
    let mut items = session.client.worklist(choice.order, choice.limit).await?;
    let offered = items.iter().filter(|item| item["state"] == "READY").count();
    let is_cut = i32::try_from(offered).is_ok_and(|offered| offered >= choice.limit);
    items.retain(|item| choice.takes(item));
    let say = |text| session.language.say(text);
    Ok(html! {
        @if items.is_empty() { p class="box" { (say("Nothing to do here.")) } }
        ol class="items" {
            @for (at, item) in items.iter().enumerate() {
                @let before = (choice.order == "own" && at > 0).then(|| items.get(at - 1)).flatten();
                li class="box" { (entry(session, item, before)) }
            }
        }
        @if is_cut {
            @let next = format!("{ROOT}/work?{}&all=yes", choice.query());
            (more(session, items.len(), None, Some(next.as_str()).filter(|_| choice.limit < ENTRIES_MAX)))
        }
    })
}

/// The messages, newest first. Whoever sees them has looked at them.
pub(crate) async fn messages(session: Session, query: Query) -> Answer {
    let most = limit(&query, MESSAGES_MAX);
    let messages = session.client.messages(most).await.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let body = html! {
        h1 { (say("Messages")) }
        @if messages.is_empty() { p class="box" { (say("There is no message.")) } }
        ol class="items" {
            @for one in &messages {
                li class="box" {
                    p { (text(one, "text")) }
                    p class="soft" {
                        (text(one, "sender")) " · " (time(text(one, "at")))
                        @if !one["item"].is_null() {
                            " · " a href=(item_address(&one["item"])) { (say("Work item")) " " (one["item"]) }
                        }
                    }
                }
            }
        }
        @if i32::try_from(messages.len()).is_ok_and(|shown| shown >= most) {
            @let next = format!("{ROOT}/work/messages?all=yes");
            (more(&session, messages.len(), None, Some(next.as_str()).filter(|_| most < ENTRIES_MAX)))
        }
        @if !messages.is_empty() {
            form method="post" action=(format!("{ROOT}/work/messages")) {
                (hidden(&session))
                button data-ask=(say("Delete all messages?")) { (say("Delete all messages")) }
            }
        }
    };
    let mut response = work_page(&session, say("Messages"), &body).await?;
    let newest = messages.iter().filter_map(|one| one["message"].as_i64());
    if let Some(newest) = newest.max() {
        set_cookie(&mut response, &seen(&session.me, newest));
    }
    Ok(response)
}

/// Deletes the messages.
pub(crate) async fn delete_messages(session: Session, _: Sent) -> Answer {
    session.client.delete_messages().await.map_err(session.failed())?;
    let message = session.language.say("The messages are deleted.");
    Ok(onward(&format!("{ROOT}/work/messages"), message))
}

/// The form that starts a process: the process is chosen first, then its first values.
pub(crate) async fn start_form(session: Session, query: Query) -> Answer {
    let flows = session.client.flows().await.map_err(session.failed())?;
    let first = flows.first().map(|flow| flow.name.as_str());
    let chosen = query.given("flow").or(first).unwrap_or_default();
    let fields = start_fields(&session, chosen).await;
    let say = |text| session.language.say(text);
    let address = format!("{ROOT}/work/start");
    let body = html! {
        h1 { (say("Start a process")) }
        form method="get" action=(address) class="line" {
            label { (say("Process"))
                select name="flow" {
                    @for flow in &flows { option selected[flow.name == chosen] { (flow.name) } }
                }
            }
            button { (say("Choose")) }
        }
        form method="post" action=(address) class="box" {
            (hidden(&session))
            input type="hidden" name="flow" value=(chosen);
            @for one in &fields {
                div class="field" {
                    label for=(format!("a.{}", one.name)) { (one.name) " " span class="soft" { (one.r#type) } }
                    input id=(format!("a.{}", one.name)) name=(format!("a.{}", one.name)) autocomplete="off";
                }
            }
            div class="field" {
                label for="in-charge" { (say("Person in charge; empty: you")) }
                input id="in-charge" name="in_charge" autocomplete="off";
            }
            p { button class="strong" { (say("Start a process")) } }
        }
    };
    work_page(&session, say("Start a process"), &body).await
}

/// The attributes that a process begins with: those that a start may set. Of a process its data; of a flow without a
/// list all but those that hold the state of a task.
async fn start_fields(session: &Session, flow: &str) -> Vec<Attribute> {
    let Ok((mut detail, _)) = session.client.flow(flow).await else {
        return Vec::new();
    };
    if let Ok(plan) = session.client.work_plan(flow).await
        && let Some(data) = plan.plan["data"].as_array()
    {
        let is_datum = |name: &str| data.iter().any(|one| one["attribute"] == name);
        detail.attributes.retain(|one| is_datum(&one.name));
    }
    let triggers = detail.definition["trigger"].as_array();
    let states: Vec<&Value> = triggers.into_iter().flatten().map(|one| &one["work"]["state"]).collect();
    let is_state = |name: &str| states.iter().any(|state| *state == name);
    let is_begun_with = |name: &str| !detail.definition["start"].is_null() || !is_state(name);
    detail.startable().filter(|one| is_begun_with(&one.name)).cloned().collect()
}

/// Starts a process; what is left empty takes its default.
pub(crate) async fn start(session: Session, sent: Sent) -> Answer {
    let flow = sent.text("flow");
    let mut values = serde_json::Map::new();
    for one in start_fields(&session, flow).await {
        if let Some(text) = sent.given(&format!("a.{}", one.name)) {
            values.insert(one.name.clone(), read(&session, &one, &text)?);
        }
    }
    let process = Process {
        flow: flow.to_owned(),
        in_charge: sent.given("in_charge"),
        values,
        policy: None,
        count: None,
        warnings: Vec::new(),
        transfer: None,
    };
    let begun = session.client.begin(&process).await;
    let begun = begun.map_err(session.failed())?;
    let message = format!("{} {} {}", session.language.say("Started:"), process.flow, begun["wid"]);
    Ok(onward(&format!("{ROOT}/work"), &message))
}

/// The page that the browser keeps for when there is no network. It holds nothing of anybody.
pub(crate) async fn away(headers: HeaderMap) -> Response {
    let language = Language::of(&headers);
    let title = language.say("Without a connection");
    let body = html! {
        header class="top" { a class="brand" href=(format!("{ROOT}/work")) { "Wedflow" } }
        main id="main" tabindex="-1" {
            p class="note" role="status" data-away="true" {
                (language.say("There is no connection. What is here is what this device kept.")) " "
                button type="button" class="plain" data-again="true" { (language.say("Try again")) }
            }
            div data-outbox="true" {}
            div data-kept="true" {}
        }
    };
    confined(axum::http::StatusCode::OK, &shell(language, title, &body))
}
