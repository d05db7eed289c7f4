//! Refusals of the API: RFC 9457, with a stable code and a hint.

use std::borrow::Cow;

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use wedflow_store::{FragmentPosition, Refusal, StoreError};

use crate::documents::{self, FragmentPlace, QuotaPlace};

/// The most characters of what is wrong: it may hold a part of what was sent.
const LONGEST_DETAIL: usize = 2_000;

/// Codes of answers for a tenant that is on its way, or lives elsewhere.
const FENCED: [&str; 3] = ["tenant_moving", "tenant_moved", "WF024"];

/// Why a request was not done, and headers of the answer.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    document: documents::Problem,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document.serialize(serializer)
    }
}

impl PartialSchema for Problem {
    fn schema() -> RefOr<Schema> {
        documents::Problem::schema()
    }
}

impl ToSchema for Problem {
    fn name() -> Cow<'static, str> {
        documents::Problem::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        documents::Problem::schemas(schemas);
    }
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Problem {
            document: documents::Problem {
                kind: format!("urn:wedflow:problem:{code}"),
                title: status.canonical_reason().unwrap_or("Problem").to_owned(),
                status: status.as_u16(),
                detail: detail.into(),
                instance: None,
                code: code.to_owned(),
                hint: String::new(),
                at: None,
                place: None,
                limit: None,
            },
            headers: Vec::new(),
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.document.hint = hint.into();
        self
    }

    pub(crate) fn at(mut self, path: String) -> Self {
        self.document.at = Some(path);
        self
    }

    pub(crate) fn limit(mut self, name: &str, used: i64, allowed: i64) -> Self {
        self.document.limit = Some(QuotaPlace { name: name.to_owned(), used, allowed });
        self
    }

    pub(crate) fn with(mut self, name: HeaderName, value: impl Into<HeaderValue>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Answers as [`Problem::missing`] does, with the thing whose name is most like the one given.
    fn missing_like(kind: &str, name: &str, similar: Option<String>) -> Self {
        let problem = Problem::missing(kind, name);
        match similar {
            Some(similar) => problem.hint(format!("Perhaps you mean \"{similar}\".")),
            None => problem,
        }
    }

    /// Answers that the tenant has no thing of that name. A thing of another tenant gives the same answer.
    pub(crate) fn missing(kind: &str, name: &str) -> Self {
        let hint = match kind {
            "flow" => "GET /v1/flows lists the flows there are.",
            "component" => "GET /v1/components lists the components there are.",
            "instance" => "GET /v1/flows/{flow}/instances lists the instances there are.",
            "setting" => "GET /v1/flows/{flow}/config lists the settings there are.",
            "secret" => "GET /v1/flows/{flow}/secrets lists the secrets there are.",
            "hook" => "GET /v1/flows/{flow}/hooks lists the hooks of a flow.",
            "webhook" => "GET /v1/webhooks lists the webhooks there are.",
            "job" => "GET /v1/flows/{flow}/jobs lists the pending jobs.",
            "user" => "GET /v1/users lists the users there are.",
            "token" => "GET /v1/tokens lists the tokens there are.",
            _ => "GET /openapi.json tells what there is.",
        };
        Problem::new(StatusCode::NOT_FOUND, "not_found", format!("there is no {kind} \"{name}\"")).hint(hint)
    }

    pub(crate) fn invalid(code: &str, detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
    }

    /// Makes the problem of a defect of the server, whose cause is only logged.
    pub(crate) fn internal() -> Self {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server failed to do this")
            .hint("Tell the operator the number in `instance`; it stands in the server's log.")
    }

    /// Too many of these are under way.
    pub(crate) fn busy() -> Self {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "busy", "too many of these are under way")
            .hint("Wait until one of them has ended.")
            .with(header::RETRY_AFTER, 2)
    }

    /// The database takes no changes.
    pub(crate) fn read_only() -> Self {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "database", "the database takes no changes now: it is read-only")
            .hint("Try again in a moment.")
            .with(header::RETRY_AFTER, 1)
    }

    /// Returns the client's problem while the database does not answer, and logs the cause for the operator.
    fn unanswered(error: &StoreError) -> Self {
        tracing::warn!(
            %error,
            "the database does not answer; requests are answered 503, and `wed status` says how it is"
        );
        Problem::unavailable()
    }

    fn unavailable() -> Self {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "database", "the database does not answer")
            .hint("Try again in a moment.")
            .with(header::RETRY_AFTER, 1)
    }
}

/// Number of the request that a response answers; the outermost layer sets it.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) String);

tokio::task_local! {
    /// The request that is being answered.
    pub(crate) static REQUEST: RequestId;
}

impl IntoResponse for Problem {
    fn into_response(mut self) -> Response {
        self.document.instance = REQUEST.try_with(|request| format!("urn:wedflow:request:{}", request.0)).ok();
        if let Some((end, _)) = self.document.detail.char_indices().nth(LONGEST_DETAIL) {
            self.document.detail.truncate(end);
            self.document.detail.push('…');
        }
        let status = StatusCode::from_u16(self.document.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = std::mem::take(&mut self.headers);
        let is_elsewhere = FENCED.contains(&self.document.code.as_str());
        let mut response = (status, Json(self.document)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response.headers_mut().extend(headers);
        if is_elsewhere {
            response.extensions_mut().insert(Elsewhere);
        }
        response
    }
}

/// Extension of an answer that refuses a tenant which is fenced here: it may live elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elsewhere;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { kind, name, similar } => Problem::missing_like(kind, &name, similar),
            StoreError::OtherRequest => {
                Problem::invalid("WF046", error.to_string()).hint("Choose a new key for each thing that is to be done.")
            }
            StoreError::Conflict(_) => {
                Problem::new(StatusCode::CONFLICT, "conflict", "something else was being done to the same thing")
                    .hint("Try again.")
                    .with(header::RETRY_AFTER, 1)
            }
            StoreError::Locked { .. } => Problem::new(
                StatusCode::CONFLICT,
                "locked",
                "somebody else holds a lock that this needs, and has not let go of it",
            )
            .hint("Try again in a moment; a transaction that is left open in SQL holds its locks until it ends.")
            .with(header::RETRY_AFTER, 1),
            StoreError::Stale(_) => Problem::new(StatusCode::PRECONDITION_FAILED, "stale", error.to_string())
                .hint("GET it again, and send the ETag of that answer in If-Match."),
            StoreError::LastAdmin(_) => Problem::new(StatusCode::CONFLICT, "last_admin", error.to_string())
                .hint("Make another user an admin first."),
            StoreError::Refused(ref refusal) => match refused(refusal) {
                Some(problem) => problem,
                None if refusal.code == "25006" => Problem::read_only(),
                None if error.is_of_server() => Problem::unanswered(&error),
                None => {
                    tracing::error!(
                        %error,
                        code = refusal.code,
                        "the database refused what it should not; this is a defect of wed, please report it with \
                         this line"
                    );
                    Problem::internal()
                }
            },
            error if error.is_transient() => Problem::unanswered(&error),
            error => {
                tracing::error!(
                    %error,
                    "the database reported; this is a defect of wed, please report it with this line"
                );
                Problem::internal()
            }
        }
    }
}

/// A refusal that the client can do something about; none: it is ours.
fn refused(refusal: &Refusal) -> Option<Problem> {
    let status = match refusal.code.as_str() {
        "WF020" => StatusCode::FORBIDDEN,
        // Cancelled for taking too long.
        "57014" => return Some(too_long()),
        "WF021" => {
            return Some(suspended());
        }
        "WF002" | "WF006" | "WF007" | "WF009" | "WF013" | "WF042" | "WF043" | "WF081" | "WF082" | "WF024" | "WF026"
        | "WF027" | "WF028" | "WF087" | "23505" => StatusCode::CONFLICT,
        "WF017" => StatusCode::TOO_MANY_REQUESTS,
        "refused" => StatusCode::UNPROCESSABLE_ENTITY,
        "WF083" => StatusCode::FORBIDDEN,
        "WF040" | "WF080" => StatusCode::NOT_FOUND,
        code if code.starts_with("WF") => StatusCode::UNPROCESSABLE_ENTITY,
        // Data, constraint, syntax and rights within a tenant's own fragment or values.
        code if ["22", "23", "42", "0A", "54"].iter().any(|class| code.starts_with(class)) => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        _ => return None,
    };
    let code = if refusal.code == "WF020" { "quota" } else { &refusal.code };
    let detail = match &refusal.detail {
        // A document is for programs.
        Some(detail) if refusal.code.starts_with("WF") && refusal.code != "WF020" && !detail.starts_with('{') => {
            format!("{}: {detail}", refusal.message)
        }
        _ => refusal.message.clone(),
    };
    let mut problem = Problem::new(status, code, detail).hint(refusal.hint.clone().unwrap_or_else(|| {
        if refusal.place.is_some() {
            "GET /v1/flows/{flow} lists a flow's attributes; `wed explain conditions` says what a predicate \
                 may hold."
        } else {
            "Mend the value that is named, and try again."
        }
        .to_owned()
    }));
    problem.document.place =
        refusal.place.clone().map(|FragmentPosition { fragment, position }| FragmentPlace { fragment, position });
    if refusal.code == "WF088" {
        problem.document.at = wrong_value(refusal);
    }
    if refusal.code == "WF020"
        && let Some((name, used, allowed)) = quota_of(refusal)
    {
        problem = problem.limit(&name, used, allowed);
    }
    Some(problem)
}

/// The place of the value that a form does not take, which the database tells in the detail.
fn wrong_value(refusal: &Refusal) -> Option<String> {
    let detail: serde_json::Value = serde_json::from_str(refusal.detail.as_deref()?).ok()?;
    detail["at"].as_str().map(str::to_owned)
}

/// The limit's name, what is used and what is allowed, which the database tells in the detail.
fn quota_of(refusal: &Refusal) -> Option<(String, i64, i64)> {
    let detail: serde_json::Value = serde_json::from_str(refusal.detail.as_deref()?).ok()?;
    Some((detail["limit"].as_str()?.to_owned(), detail["used"].as_i64()?, detail["allowed"].as_i64()?))
}

/// The request took longer than it may.
pub(crate) fn too_long() -> Problem {
    Problem::new(StatusCode::GATEWAY_TIMEOUT, "timeout", "this took longer than a request may")
        .hint("Ask for less at once, or try again.")
}

/// The tenant is on its way to another database.
pub(crate) fn moving() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "tenant_moving", "the tenant is being moved to another database")
        .hint("Try again in a moment.")
        .with(header::RETRY_AFTER, 1)
}

/// The tenant lives in another database.
pub(crate) fn moved() -> Problem {
    Problem::new(StatusCode::MISDIRECTED_REQUEST, "tenant_moved", "the tenant lives in another installation")
        .hint("Use the server of that installation; the operator of this one knows which it is.")
}

/// The tenant is suspended.
pub(crate) fn suspended() -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "tenant_suspended", "the tenant is suspended")
        .hint("Ask the operator of this installation.")
}

/// The server has no directory of clusters.
pub(crate) fn no_directory() -> Problem {
    Problem::new(StatusCode::CONFLICT, "no_directory", "this server has no directory of clusters")
        .hint("Ask one that was started with `wed serve --directory`.")
}
