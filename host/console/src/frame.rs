//! The frame of all pages: navigation, the person, the message that an act left.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};

use crate::ROOT;
use crate::cookies::{SAID, set_cookie};
use crate::document::{confined, document};
use crate::failure::Failure;
use crate::places::{Place, links, places};
use crate::session::Session;
use crate::words::Language;

/// A page, or why there is none.
pub(crate) type Answer = Result<Response, Failure>;

/// Puts the frame around the content of a page.
pub(crate) fn page(session: &Session, title: &str, content: &Markup) -> Response {
    let body = framed(session, &places(session.me.person), content);
    answered(session, &document(session.language, title, &body))
}

/// The frame with places that it leads to.
pub(crate) fn framed(session: &Session, places: &[Place], content: &Markup) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        a class="skip" href="#main" { (say("To the content")) }
        header class="top" {
            a class="brand" href=(ROOT) { "Wedflow" }
            (links(session.language, places, Some(&session.path)))
            div class="who" {
                a href=(format!("{ROOT}/usage")) { (session.me.tenant) " · " (session.me.user) }
                form method="post" action=(format!("{ROOT}/language")) {
                    (hidden(session))
                    input type="hidden" name="back" value=(session.path);
                    @let (other, name) = other(session.language);
                    button class="plain" name="language" value=(other.tag()) lang=(other.tag()) { (name) }
                }
                form method="post" action=(format!("{ROOT}/sign-out")) {
                    (hidden(session))
                    button class="plain" { (say("Sign out")) }
                }
            }
        }
        main id="main" tabindex="-1" {
            @if let Some(said) = &session.said { p class="said" role="status" { (said) } }
            (content)
        }
    }
}

/// Answers with a document; the message that an act left is shown once.
pub(crate) fn answered(session: &Session, document: &Markup) -> Response {
    let mut response = confined(StatusCode::OK, document);
    if session.said.is_some() {
        set_cookie(&mut response, &format!("{SAID}=; Path={ROOT}; Max-Age=0; HttpOnly; SameSite=Strict"));
    }
    response
}

/// The field that proves a form to be ours.
pub(crate) fn hidden(session: &Session) -> Markup {
    html! { input type="hidden" name="proof" value=(session.proof); }
}

/// The proof of a form that stands elsewhere on the page, by the form's id.
pub(crate) fn proof_of(session: &Session, form: &str) -> Markup {
    html! { input type="hidden" name="proof" value=(session.proof) form=(form); }
}

/// The language that a page does not speak, with its name.
fn other(language: Language) -> (Language, &'static str) {
    match language {
        Language::English => (Language::Portuguese, "Português"),
        Language::Portuguese => (Language::English, "English"),
    }
}

/// Leads on to another page, with a message at its top.
pub(crate) fn onward(path: &str, message: &str) -> Response {
    let mut response = Redirect::to(path).into_response();
    set_cookie(
        &mut response,
        &format!("{SAID}={}; Path={ROOT}; HttpOnly; SameSite=Strict", crate::shown::part(message)),
    );
    response
}
