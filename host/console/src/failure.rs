//! Refusals: why something was not done, on the page of the form that asked for it (`forms`), or on a page of its own.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use wedflow_client::ClientError;

use crate::ROOT;
use crate::document::{confined, document};
use crate::places::{links, places};
use crate::refusals::of_code;
use crate::shown::prose;
use crate::words::{Language, told};

/// A reason why there is no page.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    /// True if the form that asked for it is shown again.
    pub(crate) is_of_form: bool,
    /// Field of the form that is wrong.
    pub(crate) field: Option<String>,
    language: Language,
    /// Code of the API's refusal, whose words are English; none of the console's own.
    code: Option<String>,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// The API's refusal.
    pub(crate) fn of(error: ClientError, language: Language) -> Self {
        match error {
            ClientError::Refused(problem) => Failure {
                status: StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_GATEWAY),
                is_of_form: true,
                field: problem.at.as_deref().and_then(|at| at.rsplit('.').next()).map(str::to_owned),
                language,
                code: Some(problem.code),
                message: problem.detail,
                // A hint at an address of the API helps nobody who looks at pages.
                hint: Some(problem.hint).filter(|hint| !hint.is_empty() && !hint.contains("/v1/")),
            },
            other => Failure {
                status: StatusCode::SERVICE_UNAVAILABLE,
                code: Some("server".to_owned()),
                ..Failure::wrong(language, &other.to_string())
            },
        }
    }

    /// The reason in words, and what to do: on pages in another language than the API's, first what its code says.
    pub(crate) fn reason(&self) -> Markup {
        let Some(code) = &self.code else {
            return html! { p { (prose(&self.message)) } @if let Some(hint) = &self.hint { p { (prose(hint)) } } };
        };
        let (meaning, advice) = of_code(self.language, code).unwrap_or_default();
        let hint = self.hint.as_deref().map(|hint| (hint, self.language.known(hint)));
        html! {
            @if !meaning.is_empty() { p { (prose(meaning)) } }
            p { (told(self.language, &self.message)) }
            @match hint {
                Some((hint, None)) if advice.is_empty() => p { (told(self.language, hint)) },
                Some((_, Some(hint))) => p { (prose(hint)) },
                _ => @if !advice.is_empty() { p { (prose(advice)) } },
            }
        }
    }

    /// A form that no page of ours sent.
    pub(crate) fn foreign(language: Language) -> Self {
        Failure {
            status: StatusCode::FORBIDDEN,
            is_of_form: false,
            hint: Some(language.say("Open the page again, and send it from there.").to_owned()),
            ..Failure::wrong(language, language.say("This form was not sent by a page of this session."))
        }
    }

    /// A form that cannot be read.
    pub(crate) fn broken(language: Language) -> Self {
        Failure::wrong(language, language.say("The form cannot be read."))
    }

    /// A value that cannot be.
    pub(crate) fn wrong(language: Language, message: &str) -> Self {
        Failure {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            is_of_form: true,
            field: None,
            language,
            code: None,
            message: message.to_owned(),
            hint: None,
        }
    }

    /// Absence of a thing at an address.
    pub(crate) fn nowhere(language: Language) -> Self {
        Failure {
            status: StatusCode::NOT_FOUND,
            is_of_form: false,
            ..Failure::wrong(language, language.say("There is nothing at this address."))
        }
    }

    /// Names the field that is wrong.
    pub(crate) fn at(self, field: &str) -> Self {
        Failure { field: Some(field.to_owned()), ..self }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let title = self.language.say("It was not done");
        let body = html! {
            header class="top" { a class="brand" href=(ROOT) { "Wedflow" } (links(self.language, &places(false), None)) }
            main id="main" class="alone" {
                h1 { (title) }
                div role="alert" class="alert" { (self.reason()) }
                @if self.status == StatusCode::UNPROCESSABLE_ENTITY {
                    p class="soft" { (self.language.say("The browser's way back leads to what you wrote.")) }
                }
                p { a href=(ROOT) { (self.language.say("To the overview")) } }
            }
        };
        let mut response = confined(self.status, &document(self.language, title, &body));
        response.extensions_mut().insert(self);
        response
    }
}
