//! Pages that say why something was not done.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use wedflow_client::ClientError;

use crate::ROOT;
use crate::document::{confined, document};
use crate::places::{PLACES, links};
use crate::shown::prose;
use crate::words::Language;

/// A reason why there is no page.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    language: Language,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// The API's refusal.
    pub(crate) fn of(error: ClientError, language: Language) -> Self {
        match error {
            ClientError::Refused(problem) => Failure {
                status: StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_GATEWAY),
                language,
                message: problem.detail,
                // A hint at an address of the API helps nobody who looks at pages.
                hint: Some(problem.hint).filter(|hint| !hint.is_empty() && !hint.contains("/v1/")),
            },
            other => {
                Failure { status: StatusCode::SERVICE_UNAVAILABLE, language, message: other.to_string(), hint: None }
            }
        }
    }

    /// The message.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// A form that no page of ours sent.
    pub(crate) fn foreign(language: Language) -> Self {
        Failure {
            status: StatusCode::FORBIDDEN,
            language,
            message: language.say("This form was not sent by a page of this session.").to_owned(),
            hint: Some(language.say("Open the page again, and send it from there.").to_owned()),
        }
    }

    /// A form that cannot be read.
    pub(crate) fn broken(language: Language) -> Self {
        Failure::wrong(language, language.say("The form cannot be read."))
    }

    /// A value that cannot be.
    pub(crate) fn wrong(language: Language, message: &str) -> Self {
        Failure { status: StatusCode::UNPROCESSABLE_ENTITY, language, message: message.to_owned(), hint: None }
    }

    /// Absence of a thing at an address.
    pub(crate) fn nowhere(language: Language) -> Self {
        Failure {
            status: StatusCode::NOT_FOUND,
            ..Failure::wrong(language, language.say("There is nothing at this address."))
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let title = self.language.say("It was not done");
        let body = html! {
            header class="top" { a class="brand" href=(ROOT) { "Wedflow" } (links(self.language, &PLACES, None)) }
            main id="main" class="alone" {
                h1 { (title) }
                p role="alert" class="alert" { (prose(&self.message)) }
                @if let Some(hint) = &self.hint { p { (prose(hint)) } }
                @if self.status == StatusCode::UNPROCESSABLE_ENTITY {
                    p class="soft" { (self.language.say("The browser's way back leads to what you wrote.")) }
                }
                p { a href=(ROOT) { (self.language.say("To the overview")) } }
            }
        };
        confined(self.status, &document(self.language, title, &body))
    }
}
