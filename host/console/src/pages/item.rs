//! A work item: its data, the form of its result, what may be done with it, its comments and history.

use axum::Json;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use wedflow_client::ClientError;
use wedflow_documents::{Decision, Problem, Report};

use super::fields::{Typed, fields, shown, text_of, values};
use super::news::{deadline, entry, item_address, person, state_badge, text, work_page};
use crate::ROOT;
use crate::failure::Failure;
use crate::frame::{Answer, hidden, onward};
use crate::session::{Sent, Session};
use crate::shown::{bytes, time};
use crate::words::Language;

/// Form of an item as it is shown: what was typed, and the answer that did not take it.
#[derive(Default)]
struct Attempt {
    typed: Typed,
    reason: String,
    /// A result that was refused and kept, with both versions.
    refused: Option<Value>,
    problem: Option<String>,
}

/// An item.
pub(crate) async fn item(session: Session, Path(item): Path<i64>) -> Answer {
    shown_item(&session, item, &Attempt::default()).await
}

async fn shown_item(session: &Session, item: i64, attempt: &Attempt) -> Answer {
    let document = session.client.work_item(item).await;
    let document = document.map_err(session.failed())?;
    let history = session.client.work_history(item).await;
    let history = history.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let body = html! {
        p class="soft" { a href=(format!("{ROOT}/work")) { (say("Inbox")) } " / " (text(&document, "instance")) }
        (content(session, &document, attempt))
        (acts(session, &document))
        (past(session, item, &history))
    };
    let mut response = work_page(session, text(&document, "task"), &body).await?;
    if attempt.problem.is_some() || !attempt.typed.wrong.is_empty() || attempt.refused.is_some() {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

/// An item as a device keeps it: the document, and the part of its page that needs no network.
pub(crate) async fn kept(session: Session, Path(item): Path<i64>) -> Answer {
    let document = session.client.work_item(item).await;
    let document = document.map_err(session.failed())?;
    let page = content(&session, &document, &Attempt::default()).0;
    let row = entry(&session, &document, None).0;
    let history = session.client.work_history(item).await;
    let history = history.map_err(session.failed())?;
    let files: Vec<&Value> =
        (history.iter().map(|one| &one["detail"])).filter(|detail| detail["digest"].is_string()).collect();
    let answer = Json(json!({ "item": document, "page": page, "row": row, "files": files }));
    Ok(([(header::CACHE_CONTROL, "no-store")], answer).into_response())
}

/// The person who is signed in, and the proof of this session, for scripts of ours.
pub(crate) async fn me(session: Session) -> Response {
    let person = person(&session);
    let answer = Json(json!({ "person": person, "proof": session.proof }));
    ([(header::CACHE_CONTROL, "no-store")], answer).into_response()
}

/// A file that is attached to an item.
pub(crate) async fn file(session: Session, Path((item, note)): Path<(i64, i64)>) -> Answer {
    let bytes = session.client.attachment(item, note).await;
    let bytes = bytes.map_err(session.failed())?;
    // Never shown as a page of this server.
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, bytes).into_response())
}

fn is_held(session: &Session, item: &Value) -> bool {
    item["holder"] == session.me.user.as_str() && item["ended_at"].is_null()
}

/// The item without what others did: title, data, and for its holder the form.
fn content(session: &Session, item: &Value, attempt: &Attempt) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        h1 { (text(item, "task")) }
        p {
            (state_badge(session.language, item)) " "
            span class="soft" {
                (text(item, "instance"))
                @if !item["element"].is_null() { " · " (text(item, "element")) }
                " · " (say("arrived")) " " (time(text(item, "arrived_at")))
            }
        }
        (deadline(session.language, item))
        @if !text(item, "description").is_empty() { p class="box" { (text(item, "description")) } }
        (data(session, item))
        @if let Some(refused) = &attempt.refused { (both_versions(session, refused)) }
        @if let Some(problem) = &attempt.problem { p class="alert" role="alert" { (problem) } }
        @if is_held(session, item) { (result_form(session, item, attempt)) }
    }
}

/// The values that the person sees.
fn data(session: &Session, item: &Value) -> Markup {
    let names: Vec<&str> =
        item["inputs"].as_array().map(|inputs| inputs.iter().filter_map(Value::as_str).collect()).unwrap_or_default();
    html! {
        @if !names.is_empty() {
            dl class="data" {
                @for name in names {
                    div { dt { (name) } dd { (text_of(session.language, &item["data"][name])) } }
                }
            }
        }
    }
}

/// The form of the result. A key that goes with it lets it be applied once, however often it is sent.
fn result_form(session: &Session, item: &Value, attempt: &Attempt) -> Markup {
    let say = |text| session.language.say(text);
    let base = attempt.refused.as_ref().map_or(&Value::Null, |one| &one["base"]);
    let base = if base.is_null() { &item["base"] } else { base };
    html! {
        form method="post" action=(format!("{}/do", item_address(&item["item"]))) class="box result"
            data-result=(item["item"]) data-claim=(item["claim"]) data-base=(base) novalidate {
            h2 { (say("Result")) }
            (hidden(session))
            input type="hidden" name="key" value=(format!("{:032x}", rand::random::<u128>()));
            input type="hidden" name="claim" value=(item["claim"]);
            input type="hidden" name="base" value=(base);
            (shown(session.language, &fields(item), &attempt.typed))
            div class="field" {
                label for="reason" { (say("Reason of a failure, or what else is to be said")) }
                input id="reason" name="reason" value=(attempt.reason) autocomplete="off";
            }
            p class="said" role="status" data-told="true" hidden {}
            p class="acts" {
                button class="strong" name="act" value="done" { (say("Report as done")) }
                button class="bad" name="act" value="failed" data-ask=(say("Report that it failed?")) {
                    (say("Report a failure")) }
                @if !item["application"].is_null() {
                    button name="act" value="run" { (say("Run")) " " (text(item, "application")) }
                }
            }
        }
    }
}

/// A refused result next to the present values.
fn both_versions(session: &Session, refused: &Value) -> Markup {
    let say = |text| session.language.say(text);
    let names = refused["yours"].as_object();
    html! {
        section class="alert" role="alert" {
            p { strong { (text(refused, "reason")) } } p { (text(refused, "hint")) }
            table {
                thead { tr {
                    th scope="col" { (say("Attribute")) }
                    th scope="col" { (say("Yours")) }
                    th scope="col" { (say("Present")) }
                } }
                tbody { @for (name, value) in names.into_iter().flatten() { tr {
                    th scope="row" { (name) }
                    td { (text_of(session.language, value)) }
                    td { (text_of(session.language, &refused["present"][name.as_str()])) }
                } } }
            }
        }
    }
}

/// Buttons and forms of an item besides that of its result.
fn acts(session: &Session, item: &Value) -> Markup {
    let say = |text| session.language.say(text);
    let button = |act: &str, word: &str, class: &str| {
        html! { button name="act" value=(act) class=(class) { (word) } }
    };
    let state = text(item, "state");
    let has_ended = !item["ended_at"].is_null();
    html! {
        @if !has_ended {
            form method="post" action=(format!("{}/do", item_address(&item["item"]))) class="acts" {
                (hidden(session))
                input type="hidden" name="claim" value=(item["claim"]);
                @if state == "READY" {
                    (button("select", say("Select"), "strong"))
                    @if item["disconnected"] == true { (button("lock", say("Lock, to take it away"), "")) }
                } @else if is_held(session, item) {
                    @if state != "RUNNING" { (button("start", say("Begin"), "")) }
                    (button(if state == "LOCKED" { "unlock" } else { "unselect" }, say("Give back"), ""))
                } @else { (button("take-over", say("Take over"), "")) }
            }
            details {
                summary { (say("Give it to somebody, or decide")) }
                form method="post" action=(format!("{}/do", item_address(&item["item"]))) class="line" {
                    (hidden(session))
                    label { (say("To")) input name="to" required autocomplete="off"; }
                    (button("delegate", say("Give"), ""))
                }
                @if !item["deadline_at"].is_null() {
                    form method="post" action=(format!("{}/do", item_address(&item["item"]))) class="line" {
                        (hidden(session))
                        label { (say("More time, as 12 hours")) input name="extend" autocomplete="off"; }
                        (button("continue", say("Continue"), ""))
                        (button("stop", say("Stop"), "bad"))
                    }
                }
            }
        }
    }
}

/// Comments and history.
fn past(session: &Session, item: i64, history: &[Value]) -> Markup {
    let say = |text| session.language.say(text);
    let address = format!("{ROOT}/work/items/{item}");
    html! {
        h2 { (say("Comments and history")) }
        form method="post" action=(format!("{address}/do")) class="line" {
            (hidden(session))
            label { (say("Comment")) input name="text" required autocomplete="off"; }
            button name="act" value="comment" { (say("Add")) }
        }
        form class="line scripted" data-attach=(item) {
            label { (say("Photo or file, at most 1 MiB")) input type="file" name="file" multiple; }
            output role="status" {}
        }
        ol class="steps" {
            @for one in history.iter().rev() {
                li {
                    (deed(session, one))
                    @let detail = &one["detail"];
                    @for key in ["text", "reason", "to"] {
                        @if let Some(said) = detail[key].as_str().filter(|said| !said.is_empty()) { p { (said) } }
                    }
                    @if let Some(name) = detail["file"].as_str() {
                        p { a href=(format!("{address}/files/{}", detail["note"])) download=(name) { (name) } " "
                            span class="soft" { (bytes(detail["bytes"].as_i64().unwrap_or_default())) } }
                    }
                }
            }
        }
    }
}

/// The work items of an instance, each with its comments and history.
pub(crate) fn work_of_instance(session: &Session, items: &[Value]) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        @if !items.is_empty() {
            h2 { (say("Work items")) }
            @for item in items {
                section class="box" {
                    div class="row" {
                        a href=(item_address(&item["item"])) { (text(item, "task")) }
                        (state_badge(session.language, item))
                        @if !item["holder"].is_null() { span class="soft" { (text(item, "holder")) } }
                    }
                    ul class="changes" {
                        @for one in item["history"].as_array().into_iter().flatten() {
                            li { (deed(session, one)) @if !text(one, "text").is_empty() { ": " (text(one, "text")) } }
                        }
                    }
                }
            }
        }
    }
}

/// An act on an item: by whom, and when.
fn deed(session: &Session, one: &Value) -> Markup {
    html! {
        strong { (text(one, "person")) } " " (act_word(session.language, text(one, "action")))
        " " span class="soft" { (time(text(one, "at"))) }
    }
}

fn act_word(language: Language, action: &str) -> &str {
    match action {
        "ready" => language.say("offered it"),
        "selected" => language.say("selected it"),
        "locked" => language.say("locked it"),
        "released" => language.say("gave it back"),
        "reserved" => language.say("reserved the next task"),
        "running" => language.say("began"),
        "succeeded" => language.say("reported it as done"),
        "failed" => language.say("reported a failure"),
        "report_refused" => language.say("sent a result that was refused"),
        "delegated" | "reassigned" | "transferred" => language.say("gave it to somebody"),
        "taken_over" => language.say("took it over"),
        "continued" => language.say("let it continue after its deadline"),
        "deadline" => language.say("warned of the deadline"),
        "escalated" => language.say("offered it to others too"),
        "withdrawn" => language.say("withdrew it"),
        "commented" => language.say("commented"),
        "attached" => language.say("attached a file"),
        other => other,
    }
}

/// Does something with an item.
pub(crate) async fn act(session: Session, Path(item): Path<i64>, sent: Sent) -> Answer {
    let act = sent.text("act");
    if matches!(act, "done" | "failed" | "run") {
        return result(&session, item, &sent).await;
    }
    let client = &session.client;
    let claim = sent.text("claim").parse().ok();
    let done = match act {
        "select" | "lock" | "start" | "unselect" | "unlock" | "take-over" => client.work_act(item, act, claim).await,
        "delegate" => client.delegate(item, sent.text("to")).await,
        "comment" => client.comment(item, sent.text("text")).await,
        "move" => client.move_item(item, sent.text("before").parse().ok()).await,
        "continue" | "stop" => {
            let decision =
                Decision { proceed: act == "continue", extend: sent.given("extend").filter(|_| act == "continue") };
            client.decide(item, &decision).await
        }
        _ => return Err(Failure::broken(session.language)),
    };
    done.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let (message, stays) = match act {
        "select" => (say("It is yours now."), true),
        "lock" => (say("It is locked for you: take it away when this device has copied it."), true),
        "start" => (say("You have begun."), true),
        "take-over" => (say("You took it over."), true),
        "comment" => (say("The comment is added."), true),
        "move" => (say("It is moved."), false),
        "delegate" => (say("It is given."), false),
        "continue" | "stop" => (say("It is decided."), false),
        _ => (say("It is given back."), false),
    };
    let place = match (act, stays) {
        ("move", _) => format!("{ROOT}/work?order=own"),
        (_, true) => item_address(&json!(item)),
        _ => format!("{ROOT}/work"),
    };
    Ok(onward(&place, message))
}

/// Reports a result, or runs the component that fills the form in.
async fn result(session: &Session, item: i64, sent: &Sent) -> Answer {
    let document = session.client.work_item(item).await;
    let document = document.map_err(session.failed())?;
    let texts = sent.0.iter().filter_map(|(name, text)| {
        let name = name.strip_prefix("f.")?;
        Some((name.to_owned(), text.clone()))
    });
    let mut attempt = Attempt {
        typed: Typed { texts: texts.collect(), ..Typed::default() },
        reason: sent.text("reason").to_owned(),
        ..Attempt::default()
    };
    let fields = fields(&document);
    let success = sent.text("act") == "done";
    let found = values(session.language, &fields, &mut attempt.typed);
    if !success {
        attempt.typed.wrong.clear();
    }
    if sent.text("act") == "run" {
        return run(session, item, &found, attempt).await;
    }
    if !attempt.typed.wrong.is_empty() {
        return shown_item(session, item, &attempt).await;
    }
    let report = Report {
        success,
        values: if success { found } else { Map::new() },
        reason: sent.given("reason"),
        claim: sent.text("claim").parse().ok(),
        base: sent.text("base").parse().ok(),
        done_at: None,
    };
    let key = sent.text("key");
    match session.client.report(item, &report, key).await {
        Ok(answer) if answer["applied"] == true => {
            let message = session.language.say("The result is applied.");
            Ok(onward(&format!("{ROOT}/work"), message))
        }
        Ok(answer) => {
            attempt.refused = Some(answer);
            shown_item(session, item, &attempt).await
        }
        Err(ClientError::Refused(problem)) if problem.status == 422 => {
            complain(&mut attempt, &problem);
            shown_item(session, item, &attempt).await
        }
        Err(error) => Err(Failure::of(error, session.language)),
    }
}

/// Shows the server's message about a value at its field, or above the form.
fn complain(attempt: &mut Attempt, problem: &Problem) {
    let field = problem.at.as_deref().and_then(|at| at.strip_prefix("values."));
    match field {
        Some(field) => {
            let why = problem.detail.clone();
            attempt.typed.wrong.insert(field.to_owned(), why);
        }
        None => attempt.problem = Some(format!("{} {}", problem.detail, problem.hint)),
    }
}

/// Fills the form in with what the item's component answers.
async fn run(session: &Session, item: i64, given: &Map<String, Value>, mut attempt: Attempt) -> Answer {
    match session.client.run_item(item, given).await {
        Ok(answer) => {
            let answered = answer["values"].as_object().into_iter().flatten();
            for (name, value) in answered {
                let text = text_of(session.language, value);
                attempt.typed.texts.insert(name.clone(), text);
            }
        }
        Err(ClientError::Refused(problem)) => complain(&mut attempt, &problem),
        Err(error) => return Err(Failure::of(error, session.language)),
    }
    shown_item(session, item, &attempt).await
}
