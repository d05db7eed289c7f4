//! Documents: what each holds in its head, and the headers that confine it.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::assets::address;
use crate::words::Language;

/// Sources of a page: this server alone, and no script or style within the page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
    manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A whole document.
pub(crate) fn document(language: Language, title: &str, body: &Markup) -> Markup {
    with_head(language, title, &html! {}, body)
}

/// A script of one page.
pub(crate) fn script(name: &str) -> Markup {
    html! { script src=(address(name)) type="module" {} }
}

/// A document of people's work, which a device may install; `person` is who is signed in.
pub(crate) fn work_document(language: Language, title: &str, (person, proof): (&str, &str), body: &Markup) -> Markup {
    let head = html! {
        (installed(language))
        meta name="wedflow-person" content=(person);
        meta name="wedflow-proof" content=(proof);
        script src=(address("work.js")) type="module" {}
    };
    with_head(language, title, &head, body)
}

/// The document that a device shows without a network: a script fills it in from what the device kept.
pub(crate) fn shell(language: Language, title: &str, body: &Markup) -> Markup {
    let head = html! {
        (installed(language))
        script src=(address("away.js")) type="module" {}
    };
    with_head(language, title, &head, body)
}

/// The manifest by which a device installs the pages of work, and the words of their scripts.
fn installed(language: Language) -> Markup {
    html! {
        meta name="wedflow-words" content=(script_words(language));
        link rel="manifest" href=(format!("{}/work/manifest.json", crate::ROOT));
        meta name="theme-color" content="#1f5fbf";
    }
}

/// Words of the scripts of people's work.
fn script_words(language: Language) -> Value {
    let say = |text| language.say(text);
    json!({
        "saved": say("saved here"), "sending": say("sending"), "confirmed": say("confirmed"),
        "refused": say("refused"), "results": say("Results of this device"),
        "waits": say("It is saved here, and is sent when there is a connection."),
        "again": say("Send again"), "edit": say("Edit"), "forget": say("Forget"),
        "required": say("It is required."), "attribute": say("Attribute"), "yours": say("Yours"),
        "present": say("Present"), "nothing": say("This device keeps nothing for you."),
        "inbox": say("Inbox"), "locked": say("Only items that are locked for you can be done without a connection."),
        "kept": say("Its result is kept here already."), "back": say("The connection is back."),
        "uncopied": say("This item was not copied to this device."), "copied": say("copied to this device"),
        "selected": say("% stays with you, and is not taken away. Continue?"),
        "unreached": say("The server was not reached; nothing has changed."),
        "tocopy": say("% locked items are to be copied: %."), "lasts": say("That takes about % seconds."),
        "toolong": say("You have less time: give an item back, or take more time."),
        "full": say("There is no room for it: % are left on this device. Give an item back, or free some."),
        "forgets": say("This browser may forget what it keeps: do not close a private window."),
        "lacks": say("Not copied: %."), "some": say("% locked items are here; those that are not cannot be done away."),
        "go": say("You may go: % locked items are here. All others are disabled until you are back."),
    })
}

fn with_head(language: Language, title: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(language.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                meta name="generator" content="Wedflow";
                title { (title) " · Wedflow" }
                link rel="icon" href=(address("icon.svg"));
                link rel="stylesheet" href=(address("console.css"));
                script src=(address("console.js")) defer {}
                (head)
            }
            body { (body) }
        }
    }
}

/// An answer that may load nothing from elsewhere, and is kept by nobody.
pub(crate) fn confined(status: StatusCode, document: &Markup) -> Response {
    let mut response = (status, axum::response::Html(document.0.clone())).into_response();
    confine(response.headers_mut());
    response
}

fn confine(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
}

/// A part of a page that is asked for again and again: nothing is sent while it stays the same.
pub(crate) fn part(headers: &HeaderMap, content: &Markup) -> Response {
    let digest: String = Sha256::digest(&content.0).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{digest}\"");
    let is_same = headers.get(header::IF_NONE_MATCH).is_some_and(|asked| asked == tag.as_str());
    let mut response = match is_same {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => axum::response::Html(content.0.clone()).into_response(),
    };
    confine(response.headers_mut());
    let kept = HeaderValue::from_static("private, no-cache");
    response.headers_mut().insert(header::CACHE_CONTROL, kept);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
