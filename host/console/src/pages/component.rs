//! A component: its versions and transitions, where it is used, and shadow runs of versions that are not in use.

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::Value;
use wedflow_documents::{Component, ShadowFilter, ShadowRun};

use super::{flow_address, more, table};
use crate::ROOT;
use crate::failure::Failure;
use crate::frame::{Answer, hidden, onward, page};
use crate::session::{Sent, Session, is_own_script};
use crate::shown::{bytes, cut, part, prose, time};

/// Attempts of a shadow run unless told.
const ATTEMPTS: i64 = 20;
/// Differing attempts that a page shows.
const SHOWN_MAX: usize = 20;

/// The page of a component.
pub(crate) async fn component(session: Session, Path(name): Path<String>) -> Answer {
    Ok(page_of(&session, &versions(&session, &name).await?, &html! {}))
}

/// Versions of a component, newest first.
async fn versions(session: &Session, name: &str) -> Result<Vec<Component>, Failure> {
    let versions = session.client.components(Some(name)).await;
    let versions = versions.map_err(session.failed())?;
    match versions.is_empty() {
        true => Err(Failure::nowhere(session.language)),
        false => Ok(versions),
    }
}

fn page_of(session: &Session, versions: &[Component], content: &Markup) -> Response {
    let say = |text| session.language.say(text);
    let name = versions.first().map_or("", |one| one.name.as_str());
    let shown = versions.iter().find(|one| one.active).or(versions.first());
    let heads = [say("Version"), say("Size"), say("Uploaded (UTC)"), say("SHA-256"), say("In use")];
    let body = html! {
        p class="soft" { a href=(format!("{ROOT}/components")) { (say("Components")) } }
        h1 { (name) }
        (table(say("Versions"), &heads, &html! {
            @for one in versions {
                tr {
                    th scope="row" { (one.version) }
                    td class="number" { (bytes(i64::from(one.size))) }
                    td { (time(&one.created_at)) }
                    td { code { (one.digest.get(..12).unwrap_or_default()) "…" } }
                    td { (super::components::use_form(session, one)) }
                }
            }
        }))
        @if session.may("activation:write") && versions.len() > 1 {
            form class="line" method="post" action=(address(name)) {
                (hidden(session))
                button name="act" value="back" data-ask=(say("Put the version before into use?")) { (say("Roll back")) }
            }
        }
        @if let Some(one) = shown {
            h2 { (say("Transitions of version")) " " (one.version) }
            (transitions(session, one))
            h2 { (say("Where it is used")) }
            @if one.used_by.is_empty() { p { (say("No flow is bound to it.")) } }
            ul { @for place in &one.used_by {
                li { a href=(flow_address(place.split('/').next().unwrap_or_default())) { (place) } }
            } }
            @if session.may("components:write") && !one.used_by.is_empty() {
                (shadow_form(session, name, versions, &one.used_by))
            }
        }
        (content)
    };
    page(session, name, &body)
}

/// Address of a component's page.
pub(crate) fn address(name: &str) -> String {
    format!("{ROOT}/components/of/{}", part(name))
}

/// Table of a manifest's transitions, with the limits that its author suggests.
fn transitions(session: &Session, one: &Component) -> Markup {
    let say = |text| session.language.say(text);
    let transitions = one.manifest["transitions"].as_array().cloned().unwrap_or_default();
    let named = ["transition", "description"];
    table(
        say("Transitions"),
        &[say("Transition"), say("Declares")],
        &html! {
            @for transition in &transitions {
                tr {
                    th scope="row" {
                        (transition["transition"].as_str().unwrap_or_default())
                        @if let Some(text) = transition["description"].as_str().filter(|text| !text.is_empty()) {
                            br; span class="soft" { (text) }
                        }
                    }
                    td {
                        @for (what, value) in transition.as_object().into_iter().flatten() {
                            @if !named.contains(&what.as_str()) && !plain(value).is_empty() && !value.is_null() {
                                span class="soft" { (what) } " " code { (cut(&plain(value))) } br;
                            }
                        }
                    }
                }
            }
        },
    )
}

/// Writes a value of a declaration as words: what it lists with commas, and what has a name by its name first.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let name = fields.get("name").map(plain);
            let rest = (fields.iter()).filter(|(key, _)| *key != "name").filter_map(field);
            name.into_iter().chain(rest).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// Writes a field of a named thing: a text by itself, what holds by its key, other values behind their key.
fn field((key, value): (&String, &Value)) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(key.clone()),
        Value::String(text) => Some(text.clone()),
        other => Some(format!("{key}: {}", plain(other))),
    }
}

/// Forms for a shadow run: of a version, or of a file that was not uploaded.
fn shadow_form(session: &Session, name: &str, versions: &[Component], places: &[String]) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        h2 { (say("Shadow run")) }
        p class="soft" {
            (say("Runs another version over the last recorded attempts, and says where it comes to something else. \
                Nothing is changed."))
        }
        form class="line" method="post" action=(address(name)) {
            (hidden(session))
            label { (say("Attempts at")) select name="place" { @for place in places { option { (place) } } } }
            label { (say("Version")) select name="version" {
                @for one in versions { option selected[!one.active] { (one.version) } }
            } }
            label {
                (say("How many"))
                input name="last" type="number" min="1" max="50" value=(ATTEMPTS);
            }
            button class="strong" name="act" value="shadow" { (say("Compare")) }
        }
        section class="box upload scripted" data-upload=(format!("{ROOT}/components/shadow")) data-stay
            data-proof=(session.proof) {
            div class="row" {
                label { (say("Attempts at")) select name="name" { @for place in places { option { (place) } } } }
                label { (say("Candidate (.wasm), chosen or dropped here")) input type="file" accept=".wasm"; }
            }
            output aria-live="polite" {}
        }
    }
}

/// Rolls a component back, or makes a shadow run of one of its versions.
pub(crate) async fn act(session: Session, Path(name): Path<String>, sent: Sent) -> Answer {
    if sent.text("act") == "back" {
        let active = session.client.activate(&name, None).await;
        let active = active.map_err(session.failed())?;
        let said = session.language.say("is in use.");
        let message = format!("{} {} {said}", active.name, active.version);
        return Ok(onward(&address(&name), &message));
    }
    let broken = || Failure::broken(session.language);
    let version: i32 = sent.text("version").parse().map_err(|_| broken())?;
    let last = sent.text("last").parse().ok();
    let bytes = session.client.component_bytes(&name, version).await;
    let bytes = bytes.map_err(session.failed())?;
    let run = compare(&session, sent.text("place"), last, bytes).await?;
    let versions = versions(&session, &name).await?;
    Ok(page_of(&session, &versions, &result(&session, &format!("{name} {version}"), &run)))
}

/// Compares a candidate that was not uploaded; the answer is text.
pub(crate) async fn candidate(
    session: Session,
    Path(place): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if !is_own_script(&headers) {
        return Failure::foreign(session.language).into_response();
    }
    match compare(&session, &place, None, body.to_vec()).await {
        Ok(run) => result(&session, session.language.say("Candidate"), &run).0.into_response(),
        Err(failure) => {
            let why = html! { div class="alert" { (session.language.say("It was refused:")) (failure.reason()) } };
            (StatusCode::UNPROCESSABLE_ENTITY, why.0).into_response()
        }
    }
}

async fn compare(session: &Session, place: &str, last: Option<i64>, bytes: Vec<u8>) -> Result<ShadowRun, Failure> {
    let (flow, transition) = place.split_once('/').ok_or_else(|| Failure::broken(session.language))?;
    let attempts = ShadowFilter { transition: Some(transition.to_owned()), last };
    let run = session.client.shadow(flow, &attempts, bytes).await;
    run.map_err(session.failed())
}

/// Section with the result of a shadow run.
fn result(session: &Session, name: &str, run: &ShadowRun) -> Markup {
    let say = |text| session.language.say(text);
    let none = || "–".to_owned();
    html! {
        section aria-live="polite" {
            h2 { (say("Shadow run")) ": " (name) }
            ul class="cards" {
                li { strong { (run.attempts) } (say("attempts")) }
                li { strong { (run.same) } (say("come to the same")) }
                li class=(if run.different > 0 { "bad" } else { "" }) { strong { (run.different) } (say("differ")) }
            }
            @for (why, number) in &run.not_replayable {
                p class="note" { (number) " " (say("were not run again:")) " " (prose(why)) }
            }
            @for one in &run.outcomes {
                p { span class="badge" { (one.before) } " → " span class="badge" { (one.with) } ": " (one.attempts) }
            }
            @if !run.differences.is_empty() {
                @let heads = [say("Attempt"), say("Thing that differs"), say("Before"), say("With the other")];
                (table(say("Differences"), &heads, &html! {
                    @for attempt in run.differences.iter().take(SHOWN_MAX) {
                        @for one in &attempt.differences {
                            tr {
                                th scope="row" { (attempt.id) }
                                td { (one.what) }
                                td { code { (cut(&one.expected.clone().unwrap_or_else(none))) } }
                                td { code { (cut(&one.actual.clone().unwrap_or_else(none))) } }
                            }
                        }
                    }
                }))
                @if run.differences.len() > SHOWN_MAX {
                    (more(session, SHOWN_MAX, Some(run.differences.len().to_string()), None))
                }
            }
        }
    }
}
