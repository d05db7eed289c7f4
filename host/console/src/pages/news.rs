//! Parts of all pages of a person's work: news and deadlines above, items in few words.

use axum::http::HeaderMap;
use jiff::Timestamp;
use maud::{Markup, html};
use serde_json::Value;
use wedflow_client::ClientError;

use crate::ROOT;
use crate::document::{part, work_document};
use crate::frame::{Answer, answered, framed, hidden};
use crate::places::WORK_PLACES;
use crate::session::Session;
use crate::shown::time;
use crate::words::Language;

/// Newest messages that are looked at.
const MESSAGES_MAX: i32 = 100;
/// Time before a deadline from which it is news.
pub(crate) const NEAR_SECONDS: i64 = 24 * 3_600;

/// Puts the frame of a person's work around the content of a page: its news stand above.
pub(crate) async fn work_page(session: &Session, title: &str, content: &Markup) -> Answer {
    let news = news_content(session).await.map_err(session.failed())?;
    let content = html! {
        div data-live=(format!("{ROOT}/work/news")) aria-live="polite" aria-atomic="true" { (news) }
        div data-outbox="true" {}
        (content)
    };
    let body = framed(session, &WORK_PLACES, &content);
    let person = person(session);
    let who = (person.as_str(), session.proof.as_str());
    Ok(answered(session, &work_document(session.language, title, who, &body)))
}

/// News above each page of work: the newest message that was not looked at, and deadlines of what is held. Announced
/// when it changes.
pub(crate) async fn news(session: Session, headers: HeaderMap) -> Answer {
    let news = news_content(&session).await.map_err(session.failed())?;
    Ok(part(&headers, &news))
}

/// Content of the news.
async fn news_content(session: &Session) -> Result<Markup, ClientError> {
    let messages = session.client.messages(MESSAGES_MAX).await?;
    let items = session.client.worklist("deadline", 1).await?;
    let fresh: Vec<&Value> = messages.iter().filter(|one| one["message"].as_i64() > Some(session.seen)).collect();
    let near = items
        .iter()
        .filter(|item| item["state"] != "READY" && seconds_left(item).is_some_and(|left| left < NEAR_SECONDS));
    let say = |text| session.language.say(text);
    Ok(html! {
        @if let Some(newest) = fresh.first() {
            p class="said" {
                a href=(format!("{ROOT}/work/messages")) { (say("New messages:")) " " (fresh.len()) }
                " · " (text(newest, "text"))
            }
        }
        @for item in near {
            div class="row note" {
                a href=(item_address(&item["item"])) { (text(item, "task")) } (deadline(session.language, item))
            }
        }
    })
}

/// A member of an item that is a text.
pub(crate) fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item[key].as_str().unwrap_or_default()
}

/// Seconds until an item's deadline; none when it has none.
pub(crate) fn seconds_left(item: &Value) -> Option<i64> {
    let at: Timestamp = item["deadline_at"].as_str()?.parse().ok()?;
    Some(at.as_second() - Timestamp::now().as_second())
}

/// The deadline of an item, with a word when it is near or over.
pub(crate) fn deadline(language: Language, item: &Value) -> Markup {
    let (class, word) = match seconds_left(item) {
        Some(left) if left < 0 => ("due near", language.say("The deadline is over:")),
        Some(left) if left < NEAR_SECONDS => ("due near", language.say("The deadline is near:")),
        _ => ("due", language.say("Deadline:")),
    };
    html! { @if let Some(at) = item["deadline_at"].as_str() { p class=(class) { (word) " " (time(at)) " UTC" } } }
}

/// Address of an item's page.
pub(crate) fn item_address(item: &Value) -> String {
    format!("{ROOT}/work/items/{item}")
}

/// The person who is signed in, for scripts of ours.
pub(crate) fn person(session: &Session) -> String {
    format!("{}/{}", session.me.tenant, session.me.user)
}

/// The state of an item as a badge, with who holds it.
pub(crate) fn state_badge(language: Language, item: &Value) -> Markup {
    let (class, word) = match text(item, "state") {
        "READY" => ("badge", language.say("offered")),
        "SELECTED" => ("badge pending", language.say("selected")),
        "LOCKED" => ("badge pending", language.say("locked")),
        "RUNNING" => ("badge pending", language.say("begun")),
        "SUCCEEDED" => ("badge final", language.say("done")),
        "FAILED" => ("badge exception", language.say("failed")),
        _ => ("badge", language.say("withdrawn")),
    };
    html! {
        span class=(class) {
            (word) @if let Some(holder) = item["holder"].as_str() { " · " (holder) }
        }
    }
}

/// An item in the list; in the own order with a button that moves it before the one above.
pub(crate) fn entry(session: &Session, item: &Value, above: Option<&Value>) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        div class="row" {
            a class="task" href=(item_address(&item["item"])) { (text(item, "task")) }
            (state_badge(session.language, item))
            @if item["disconnected"] == true { span class="badge" { (say("can be taken away")) } }
        }
        p class="soft" {
            (text(item, "instance"))
            @if !item["element"].is_null() { " · " (text(item, "element")) }
            @if !item["role"].is_null() { " · " (text(item, "role")) }
            " · " (say("priority")) " " (item["priority"])
        }
        (deadline(session.language, item))
        @if let Some(above) = above {
            form method="post" action=(format!("{}/do", item_address(&item["item"]))) {
                (hidden(session))
                input type="hidden" name="before" value=(above["item"]);
                button class="plain" name="act" value="move" { (say("Move up")) " " (text(item, "task")) }
            }
        }
    }
}
