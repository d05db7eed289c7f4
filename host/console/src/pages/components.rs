//! Components: versions, where each is used; activating an earlier one, uploading a new one.

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use wedflow_documents::{Component, UploadTerms};

use super::table;
use crate::ROOT;
use crate::failure::Failure;
use crate::frame::{Answer, hidden, onward, page};
use crate::session::{Sent, Session, is_own_script};
use crate::shown::{bytes, time};

/// The components of the tenant.
pub(crate) async fn list(session: Session) -> Answer {
    let components = session.client.components(None).await.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let heads = [say("Component"), say("Version"), say("Size"), say("Uploaded (UTC)"), say("Used by"), say("In use")];
    let body = html! {
        h1 { (say("Components")) }
        @if session.may("components:write") { (upload_form(&session)) }
        @if components.is_empty() { p class="box" { (say("No component was uploaded.")) } }
        @else {
            (table(say("Components"), &heads, &html! {
                @for one in &components { (row(&session, one)) }
            }))
        }
    };
    Ok(page(&session, say("Components"), &body))
}

fn row(session: &Session, one: &Component) -> Markup {
    html! {
        tr {
            th scope="row" { a href=(super::component::address(&one.name)) { (one.name) } }
            td class="number" { (one.version) }
            td class="number" { (bytes(i64::from(one.size))) }
            td { (time(&one.created_at)) }
            td { (one.used_by.join(", ")) }
            td { (use_form(session, one)) }
        }
    }
}

/// Says that a version is in use, or puts it into use.
pub(super) fn use_form(session: &Session, one: &Component) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        @if one.active { span class="badge final" { (say("in use")) } }
        @else if session.may("activation:write") {
            form method="post" action=(format!("{ROOT}/components/do")) {
                (hidden(session))
                input type="hidden" name="name" value=(one.name);
                button name="version" value=(one.version)
                    data-ask=(say("Put this version into use, for what is fired from now on?")) {
                    (say("Use")) " " (one.name) " " (one.version)
                }
            }
        }
    }
}

/// The place to drop a file.
fn upload_form(session: &Session) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        section class="box upload" data-upload=(format!("{ROOT}/components/upload")) data-proof=(session.proof) {
            div class="row" {
                label { (say("Name; empty: the file's")) input name="name" size="20"; }
                label { (say("Component (.wasm), chosen or dropped here")) input type="file" accept=".wasm"; }
            }
            output aria-live="polite" {}
        }
    }
}

/// Puts a version into use.
pub(crate) async fn activate(session: Session, sent: Sent) -> Answer {
    let version = sent.text("version").parse().map_err(|_| Failure::broken(session.language))?;
    let name = sent.text("name");
    let active = session.client.activate(name, Some(version)).await.map_err(session.failed())?;
    let message = format!("{} {} {}", active.name, active.version, session.language.say("is in use."));
    Ok(onward(&format!("{ROOT}/components"), &message))
}

/// Uploads a component; the answer is a line of text.
pub(crate) async fn upload(session: Session, Path(name): Path<String>, headers: HeaderMap, body: Bytes) -> Response {
    if !is_own_script(&headers) {
        return Failure::foreign(session.language).into_response();
    }
    let say = |text| session.language.say(text);
    let terms = UploadTerms::default();
    match session.client.upload(Some(&name), &terms, body.to_vec()).await {
        Ok(done) => {
            let transitions = done.transitions.join(", ");
            format!("{} {}: {transitions}. {}", done.name, done.version, done.warnings.join(" ")).into_response()
        }
        Err(error) => {
            let message = format!("{} {error}", say("It was refused:"));
            (StatusCode::UNPROCESSABLE_ENTITY, message).into_response()
        }
    }
}
