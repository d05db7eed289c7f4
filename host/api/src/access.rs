//! Authentication of requests: everything below /v1 passes here first.

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use wedflow_store::Store;
use wedflow_tenancy::{Action, AuthenticationError, Identity, authenticate};

use crate::problem::{Problem, REQUEST, suspended};
use crate::rate::Counted;
use crate::state::Api;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Caller of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    identity: Arc<Identity>,
    /// Without a token, in this process.
    is_owner: bool,
}

impl std::ops::Deref for Caller {
    type Target = Identity;

    fn deref(&self) -> &Identity {
        &self.identity
    }
}

impl Caller {
    /// The owner of the installation, who acts as a tenant.
    pub(crate) fn owner(identity: Identity) -> Self {
        Caller {
            identity: Arc::new(identity),
            is_owner: true,
        }
    }

    /// Succeeds only if both role and token allow this. Asked before anything is looked up, so that a
    /// refusal tells nothing of what there is.
    pub(crate) fn must(&self, action: Action) -> Result<(), Problem> {
        if self.may(action) {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            "not_permitted",
            format!("this token may not do {action}"),
        )
        .hint(if self.role.may(action) {
            "The user's role may: use a token with a wider scope."
        } else {
            "The user's role does not allow it; an admin of the tenant can change that."
        }))
    }

    /// Returns the token of a request, as it must hold while a stream lasts; none for the owner of the installation.
    pub(crate) fn token(&self, headers: &HeaderMap) -> Option<String> {
        let sent = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (_, token) = sent.split_once(' ')?;
        (!self.is_owner).then(|| token.trim().to_owned())
    }

    /// The store, used in the caller's name.
    pub(crate) fn store(&self, api: &Api) -> Store {
        if self.is_owner {
            return api.store.clone();
        }
        let store = api.store.acting_as(&self.actor());
        let request = REQUEST.try_with(|id| id.0.clone()).unwrap_or_default();
        store.on_request(&self.prefix, &request)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts
            .extensions
            .get::<Caller>()
            .cloned()
            .ok_or_else(Problem::internal)
    }
}

/// Lets a request in that comes with a token, if the tenant does not ask too often.
pub(crate) async fn let_in(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let identity = match identify(&api, request.headers().get(header::AUTHORIZATION).cloned()).await
    {
        Ok(identity) => identity,
        Err(problem) => return problem.into_response(),
    };
    let counted = identity
        .requests_per_second
        .map(|rate| api.rates.count(&identity.tenant, &identity.prefix, rate));
    if let Some(counted) = counted
        && let Some(wait) = counted.wait
    {
        let seconds = wait.as_secs() + 1;
        let mut response = Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            format!(
                "the {} may make {} requests a second",
                counted.policy, counted.rate
            ),
        )
        .hint("Wait as long as Retry-After says, and ask less often.")
        .limit(
            "requests_per_second",
            i64::from(counted.rate),
            i64::from(counted.rate),
        )
        .with(header::RETRY_AFTER, seconds)
        .into_response();
        tell(&mut response, counted);
        return response;
    }
    let caller = Caller {
        identity: Arc::new(identity),
        is_owner: false,
    };
    request.extensions_mut().insert(caller.clone());
    let asked = request
        .extensions()
        .get::<MatchedPath>()
        .map(|path| format!("{} {}", request.method(), path.as_str()));
    let mut response = next.run(request).await;
    if response.status() == StatusCode::FORBIDDEN {
        note_denied(&api, &caller, asked.as_deref().unwrap_or_default()).await;
    }
    if let Some(counted) = counted {
        tell(&mut response, counted);
    }
    // Answers are for the bearer of the token only.
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Lets the owner of the installation in, without a token.
pub(crate) async fn let_owner_in(
    State(owner): State<Caller>,
    mut request: Request,
    next: Next,
) -> Response {
    request.extensions_mut().insert(owner);
    next.run(request).await
}

/// Puts on record that a token was denied something: once an hour for each token and operation, for nobody may take
/// from the record.
async fn note_denied(api: &Api, caller: &Caller, asked: &str) {
    if !api.denials.is_new(&caller.prefix, asked) {
        return;
    }
    let store = caller.store(api);
    if let Err(error) = store.note_denied(&caller.tenant, asked).await {
        tracing::warn!(%error, asked, "a denied request is not on record; look whether the database answers");
    }
}

async fn identify(api: &Api, sent: Option<HeaderValue>) -> Result<Identity, Problem> {
    let unauthorized = |code: &str, detail: &str| {
        Problem::new(StatusCode::UNAUTHORIZED, code, detail)
            .hint("Send `Authorization: Bearer wed_…`; `wed token create` makes a token.")
            .with(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"wedflow\""),
            )
    };
    let Some(value) = sent else {
        return Err(unauthorized(
            "no_token",
            "the request comes without a token",
        ));
    };
    let token = value
        .to_str()
        .ok()
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    let Some(token) = token else {
        return Err(unauthorized(
            "no_token",
            "the header Authorization is not of the form `Bearer wed_…`",
        ));
    };
    authenticate(&api.tokens, token)
        .await
        .map_err(|denied| match denied {
            AuthenticationError::NoToken | AuthenticationError::Invalid => unauthorized(
                "invalid_token",
                "the token is mistyped, unknown, expired or revoked",
            ),
            AuthenticationError::Suspended => suspended(),
            AuthenticationError::Store(error) => error.into(),
        })
}

/// Tells what is left, as the drafts for these headers do.
fn tell(response: &mut Response, counted: Counted) {
    let Counted {
        policy, rate, left, ..
    } = counted;
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&format!("\"{policy}\";q={rate};w=1")) {
        headers.insert(RATE_LIMIT_POLICY, value);
    }
    if let Ok(value) = HeaderValue::from_str(&format!("\"{policy}\";r={left};t=1")) {
        headers.insert(RATE_LIMIT, value);
    }
}
