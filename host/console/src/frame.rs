//! The frame of all pages: navigation, the person, the message that an act left.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};

use crate::ROOT;
use crate::cookies::{SAID, set_cookie};
use crate::document::{confined, document};
use crate::failure::Failure;
use crate::session::Session;
use crate::words::Language;

/// Pages that the navigation leads to: address, name, key.
const PLACES: [(&str, &str, &str); 12] = [
    ("", "Overview", "o"),
    ("/flows", "Flows", "f"),
    ("/exceptions", "Exceptions", "e"),
    ("/jobs", "Jobs", "j"),
    ("/schedules", "Schedules", "s"),
    ("/reservations", "Reservations", "r"),
    ("/components", "Components", "c"),
    ("/webhooks", "Webhooks", "w"),
    ("/people", "Users and tokens", "u"),
    ("/hosts", "Hosts", "h"),
    ("/audit", "Audit log", "a"),
    ("/work", "Work", "i"),
];

/// A page, or why there is none.
pub(crate) type Answer = Result<Response, Failure>;

/// Puts the frame around the content of a page.
pub(crate) fn page(session: &Session, title: &str, content: &Markup) -> Response {
    let body = framed(session, &PLACES, content);
    answered(session, &document(session.language, title, &body))
}

/// The frame with places that it leads to.
pub(crate) fn framed(
    session: &Session,
    places: &[(&str, &'static str, &str)],
    content: &Markup,
) -> Markup {
    let say = |text| session.language.say(text);
    let here = places.iter().filter(|place| is_at(&session.path, place.0));
    let here = here.map(|place| place.0).max_by_key(|place| place.len());
    html! {
        a class="skip" href="#main" { (say_skip(session.language)) }
        header class="top" {
            a class="brand" href=(ROOT) { "Wedflow" }
            nav aria-label=(say("Pages")) {
                @for &(place, name, key) in places {
                    a href=(format!("{ROOT}{place}")) data-key=(key)
                        aria-current=[(Some(place) == here).then_some("page")] { (place_name(session.language, name)) }
                }
            }
            div class="who" {
                a href=(format!("{ROOT}/usage")) { (session.me.tenant) " · " (session.me.user) }
                form method="post" action=(format!("{ROOT}/language")) {
                    (hidden(session))
                    input type="hidden" name="back" value=(session.path);
                    @let other = other(session.language);
                    button class="plain" name="language" value=(other.tag()) lang=(other.tag()) { (name_of(other)) }
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
        set_cookie(
            &mut response,
            &format!("{SAID}=; Path={ROOT}; Max-Age=0; HttpOnly; SameSite=Strict"),
        );
    }
    response
}

/// Translates the name of a page.
fn place_name(language: Language, name: &'static str) -> &'static str {
    match name {
        "Overview" => language.say("Overview"),
        "Flows" => language.say("Flows"),
        "Exceptions" => language.say("Exceptions"),
        "Jobs" => language.say("Jobs"),
        "Reservations" => language.say("Reservations"),
        "Schedules" => language.say("Schedules"),
        "Components" => language.say("Components"),
        "Webhooks" => language.say("Webhooks"),
        "Hosts" => language.say("Hosts"),
        "Users and tokens" => language.say("Users and tokens"),
        "Work" => language.say("Work"),
        "Inbox" => language.say("Inbox"),
        "Messages" => language.say("Messages"),
        "Start a process" => language.say("Start a process"),
        "Console" => language.say("Console"),
        _ => language.say("Audit log"),
    }
}

fn say_skip(language: Language) -> &'static str {
    language.say("To the content")
}

/// The field that proves a form to be ours.
pub(crate) fn hidden(session: &Session) -> Markup {
    html! { input type="hidden" name="proof" value=(session.proof); }
}

/// The proof of a form that stands elsewhere on the page, by the form's id.
pub(crate) fn proof_of(session: &Session, form: &str) -> Markup {
    html! { input type="hidden" name="proof" value=(session.proof) form=(form); }
}

fn other(language: Language) -> Language {
    match language {
        Language::English => Language::Portuguese,
        Language::Portuguese => Language::English,
    }
}

fn name_of(language: Language) -> &'static str {
    match language {
        Language::English => "English",
        Language::Portuguese => "Português",
    }
}

/// Returns true if a path belongs to a place of the navigation.
fn is_at(path: &str, place: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    match path.strip_prefix(ROOT).unwrap_or_default() {
        "" | "/" => place.is_empty(),
        below => {
            !place.is_empty()
                && below
                    .strip_prefix(place)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
    }
}

/// Leads on to another page, with a message at its top.
pub(crate) fn onward(path: &str, message: &str) -> Response {
    let mut response = Redirect::to(path).into_response();
    set_cookie(
        &mut response,
        &format!(
            "{SAID}={}; Path={ROOT}; HttpOnly; SameSite=Strict",
            crate::shown::part(message)
        ),
    );
    response
}
