//! Signing in and out, and the choice of a language.

use std::collections::HashMap;

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use wedflow_client::ClientError;

use super::Query;
use crate::ROOT;
use crate::cookies::{LANGUAGE, keep, set_cookie};
use crate::document::{confined, document};
use crate::failure::Failure;
use crate::session::{Console, Sent, from_here};
use crate::words::Language;

/// The form that takes a token.
pub(crate) async fn form(headers: HeaderMap, query: Query) -> Response {
    sign_in_page(Language::of(&headers), query.given("to").unwrap_or_default(), None)
}

/// Returns the place of ours at which somebody wanted to be before signing in.
fn wanted(place: &str) -> Option<&str> {
    let below = place.strip_prefix(ROOT)?;
    let is_ours = below.is_empty() || below.starts_with(['/', '?']);
    let is_plain = place.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\\"'<>;,".contains(&byte));
    (is_ours && is_plain && place.len() < 1_000 && !below.starts_with("/sign-")).then_some(place)
}

fn sign_in_page(language: Language, to: &str, refusal: Option<&str>) -> Response {
    let title = language.say("Sign in");
    let body = html! {
        main id="main" class="alone" {
            h1 { "Wedflow" }
            p { (language.say("Sign in with your token: whoever runs this installation gives you one.")) }
            @if let Some(refusal) = refusal { p class="alert" role="alert" { (refusal) } }
            form method="post" action=(format!("{ROOT}/sign-in")) class="box" {
                @if let Some(place) = wanted(to) { input type="hidden" name="to" value=(place); }
                label class="whole" for="token" { (language.say("Token")) }
                p { input class="whole" id="token" name="token" type="password" autocomplete="off" required autofocus; }
                button class="strong" { (title) }
            }
            p class="soft" {
                (crate::shown::prose(language.say("For administrators: `wed token create USER` makes a token.")))
            }
        }
    };
    let status = if refusal.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    confined(status, &document(language, title, &body))
}

/// Signs in with the token of a form.
pub(crate) async fn sign_in(
    State(console): State<Console>,
    headers: HeaderMap,
    Form(fields): Form<HashMap<String, String>>,
) -> Response {
    let language = Language::of(&headers);
    if !from_here(&headers) {
        return Failure::foreign(language).into_response();
    }
    let token = fields.get("token").map_or("", |text| text.trim());
    let to = fields.get("to").map_or("", String::as_str);
    let is_plain = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let client = Some(token).filter(|token| is_plain && !token.is_empty());
    let Some(client) = client.and_then(|token| console.client(token)) else {
        return sign_in_page(language, to, Some(language.say("This is no token.")));
    };
    match client.me().await {
        Ok(_) => entered(&headers, token, wanted(to).unwrap_or(ROOT)),
        // Operators of the installation belong to no tenant.
        Err(_) if client.tenants().await.is_ok() => {
            entered(&headers, token, &format!("{ROOT}{}", super::tenants::PLACE))
        }
        Err(ClientError::Refused(problem)) if problem.status == 401 => sign_in_page(
            language,
            to,
            Some(language.say(
                "This token is not accepted: a part of it is missing, or it is unknown, has expired or was ended. Paste it \
                 whole, or ask for another one.",
            )),
        ),
        Err(error) => sign_in_page(language, to, Some(&error.to_string())),
    }
}

/// Signs in by a link that works once.
pub(crate) async fn enter(State(console): State<Console>, headers: HeaderMap, query: Query) -> Response {
    let language = Language::of(&headers);
    match query.given("code").and_then(|code| console.links.take(code)) {
        Some(token) => entered(&headers, &token, ROOT),
        None => sign_in_page(language, "", Some(language.say("This link was used, or is older than ten minutes."))),
    }
}

/// Keeps the token in the browser and leads on from a page of ours: one that another site led to has no cookies yet.
fn entered(headers: &HeaderMap, token: &str, place: &str) -> Response {
    let language = Language::of(headers);
    let body = html! {
        main id="main" class="alone" { p { a href=(place) { (language.say("To the overview")) } } }
    };
    let mut response = confined(StatusCode::OK, &document(language, language.say("Sign in"), &body));
    set_cookie(&mut response, &keep(headers, token));
    if let Ok(value) = format!("0; url={place}").parse() {
        response.headers_mut().insert("refresh", value);
    }
    response
}

/// Signs out: the browser forgets the token.
pub(crate) async fn sign_out(headers: HeaderMap, _: Sent) -> Response {
    let mut response = Redirect::to(&format!("{ROOT}/sign-in")).into_response();
    set_cookie(&mut response, &keep(&headers, ""));
    response
}

/// Chooses a language, and leads back.
pub(crate) async fn language(sent: Sent) -> Response {
    let is_place =
        |path: &&str| path.starts_with(ROOT) && !path.contains('\\') && path.bytes().all(|c| c.is_ascii_graphic());
    let back = Some(sent.text("back")).filter(is_place);
    let mut response = Redirect::to(back.unwrap_or(ROOT)).into_response();
    let tag = if sent.text("language").starts_with("pt") { "pt-BR" } else { "en" };
    set_cookie(&mut response, &format!("{LANGUAGE}={tag}; Path={ROOT}; Max-Age=31536000; SameSite=Strict"));
    response
}
