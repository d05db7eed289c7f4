//! Authentication of requests: everything below /v1 passes here first.

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use wedflow_model::Wid;
use wedflow_store::{Flow, Store};
use wedflow_tenancy::{
    Action, AuthenticationError, Identity, OperatorIdentity, Secret, authenticate, authenticate_operator,
};

use crate::connections::ClientAddress;
use crate::path::wid;
use crate::problem::{Problem, REQUEST, moved, moving, suspended};
use crate::rate::{Bearer, Counted};
use crate::state::Api;

/// Share of all operators of the installation; no tenant has a name with a blank.
const OPERATORS_SHARE: &str = "operators of the installation";

/// Caller of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    identity: Arc<Identity>,
    /// True without a token, in this process.
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
        Caller { identity: Arc::new(identity), is_owner: true }
    }

    /// Succeeds only if both role and token allow this. Asked before anything is looked up, so that a
    /// refusal tells nothing of what there is.
    pub(crate) fn must(&self, action: Action) -> Result<(), Problem> {
        if self.may(action) {
            return Ok(());
        }
        Err(Problem::new(StatusCode::FORBIDDEN, "not_permitted", format!("this token may not do {action}")).hint(
            if self.role.may(action) {
                "The user's role may: use a token with a wider scope."
            } else {
                "The user's role does not allow it; an admin of the tenant can change that."
            },
        ))
    }

    /// Finds a flow of the tenant's, if this is allowed.
    pub(crate) async fn flow(&self, api: &Api, action: Action, name: &str) -> Result<Flow, Problem> {
        self.must(action)?;
        Ok(api.store.flow(&self.tenant, name).await?)
    }

    /// Finds an instance of a flow of the tenant's by its number or `key:` and its business key, if this is allowed.
    pub(crate) async fn instance(
        &self,
        api: &Api,
        action: Action,
        flow: &str,
        named: &str,
    ) -> Result<(Flow, Wid), Problem> {
        let flow = self.flow(api, action, flow).await?;
        let wid = wid(api, &flow, named).await?;
        Ok((flow, wid))
    }

    /// Returns the token of a request, as it must hold while a stream lasts; none for the owner of the installation.
    pub(crate) fn token(&self, headers: &HeaderMap) -> Option<String> {
        let sent = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (_, token) = sent.split_once(' ')?;
        (!self.is_owner).then(|| token.trim().to_owned())
    }

    /// The store, used in the caller's name.
    pub(crate) fn store(&self, api: &Api) -> Store {
        self.acting_on(&api.store)
    }

    /// The store for definitions, used in the caller's name.
    pub(crate) fn definitions(&self, api: &Api) -> Store {
        self.acting_on(&api.definitions)
    }

    fn acting_on(&self, store: &Store) -> Store {
        if self.is_owner {
            return store.clone();
        }
        let store = store.acting_as(&self.actor());
        let request = REQUEST.try_with(|id| id.0.clone()).unwrap_or_default();
        store.on_request(&self.prefix, &request)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Caller>().cloned().ok_or_else(Problem::internal)
    }
}

/// Key of the share that a request is counted in: its tenant, or one for all operators.
#[derive(Debug, Clone)]
pub(crate) struct ShareOf(pub(crate) String);

/// Operator of the installation who asks: with a token, or without one in this process, where the operator owns the
/// database.
#[derive(Debug, Clone)]
pub(crate) struct Operator(Option<Arc<OperatorIdentity>>);

impl Operator {
    /// The bearer of an operator's token.
    pub(crate) fn bearer(identity: OperatorIdentity) -> Self {
        Operator(Some(Arc::new(identity)))
    }

    /// The owner of the installation, in this process.
    pub(crate) const fn owner() -> Self {
        Operator(None)
    }

    /// Succeeds only if the token may change something.
    pub(crate) fn must_write(&self) -> Result<(), Problem> {
        if self.0.as_ref().is_none_or(|bearer| bearer.may_write) {
            return Ok(());
        }
        Err(Problem::new(StatusCode::FORBIDDEN, "not_permitted", "this operator's token only reads")
            .hint("Use one that `wed operator create` made without --read-only."))
    }

    /// The store, used in the operator's name.
    pub(crate) fn store(&self, api: &Api) -> Store {
        match &self.0 {
            Some(bearer) => api.store.acting_as(&bearer.actor()),
            None => api.store.clone(),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let operator = parts.extensions.get::<Operator>().cloned();
        operator.ok_or_else(Problem::internal)
    }
}

/// Extension of a request from within this process: its operator, whose token was looked up before.
#[derive(Debug, Clone)]
pub(crate) struct Vouched(pub(crate) Operator);

/// Lets a request in that comes with the token of an operator of the installation, or from within this process.
pub(crate) async fn let_operator_in(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let sent = request.headers().get(header::AUTHORIZATION).cloned();
    let client = request.extensions().get::<ClientAddress>().copied();
    let operator = match request.extensions().get::<Vouched>().cloned() {
        Some(Vouched(operator)) => operator,
        None => match identify_operator(&api, sent, client).await {
            Ok(identity) => Operator::bearer(identity),
            Err(problem) => return problem.into_response(),
        },
    };
    let extensions = request.extensions_mut();
    extensions.insert(operator);
    extensions.insert(ShareOf(OPERATORS_SHARE.to_owned()));
    sealed(next.run(request).await)
}

/// Finds the operator whose token was sent, within the share of look-ups of the client's address.
async fn identify_operator(
    api: &Api,
    sent: Option<HeaderValue>,
    client: Option<ClientAddress>,
) -> Result<OperatorIdentity, Problem> {
    let secret = secret_of(sent.as_ref())?;
    let share = share_of_address(client);
    let _slot = api.lookups.wait(&share, 1, api.times.request).await?;
    let found = authenticate_operator(&api.tokens, &secret).await;
    if matches!(found, Err(AuthenticationError::Invalid)) && authenticate(&api.tokens, secret.reveal()).await.is_ok() {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "not_permitted",
            "this is a token of a tenant's user; the installation is for operators",
        )
        .hint("`wed operator create NAME` makes an operator's token, over the database."));
    }
    found.map_err(denied)
}

/// Marks an answer as one for the bearer of the token only.
fn sealed(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let entry = headers.entry(header::CACHE_CONTROL);
    entry.or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Lets a request in that comes with a token, if the tenant does not ask too often.
pub(crate) async fn let_in(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let sent = request.headers().get(header::AUTHORIZATION).cloned();
    let client = request.extensions().get::<ClientAddress>().copied();
    let (identity, counted) = match identify(&api, sent, client).await {
        Ok(found) => found,
        Err(refused) => return *refused,
    };
    if !is_for(&identity, &request) {
        return Problem::new(StatusCode::FORBIDDEN, "not_permitted", "this token is for some flows only")
            .hint("GET /v1/tokens names its flows; use another token for anything else.")
            .into_response();
    }
    let caller = Caller { identity: Arc::new(identity), is_owner: false };
    request.extensions_mut().insert(caller.clone());
    let share = ShareOf(caller.tenant.clone());
    request.extensions_mut().insert(share);
    let asked = request.extensions().get::<MatchedPath>().map(|path| format!("{} {}", request.method(), path.as_str()));
    let mut response = next.run(request).await;
    if response.status() == StatusCode::FORBIDDEN {
        note_denied(&api, &caller, asked.as_deref().unwrap_or_default()).await;
    }
    if let Some(counted) = counted {
        counted.tell(&mut response);
    }
    sealed(response)
}

/// Returns whether a token that is for some flows is for what is asked.
fn is_for(identity: &Identity, request: &Request) -> bool {
    let path = request.uri().path();
    // A name that is written with escapes is none of the token's: names have no character that needs one.
    let flow = path.strip_prefix("/v1/flows/").and_then(|rest| rest.split('/').next());
    identity.flows.is_empty()
        || path == "/v1/me"
        || flow.is_some_and(|flow| identity.flows.iter().any(|own| own == flow))
}

/// Lets the owner of the installation in, without a token.
pub(crate) async fn let_owner_in(State(owner): State<Caller>, mut request: Request, next: Next) -> Response {
    let share = ShareOf(owner.tenant.clone());
    request.extensions_mut().insert(share);
    request.extensions_mut().insert(owner);
    request.extensions_mut().insert(Operator(None));
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

/// Finds the bearer of a request's token and counts the request: before the look-up where the token was seen before, so
/// that who asks too often costs the database nothing.
async fn identify(
    api: &Api,
    sent: Option<HeaderValue>,
    client: Option<ClientAddress>,
) -> Result<(Identity, Option<Counted>), Box<Response>> {
    let refused = |problem: Problem| Box::new(problem.into_response());
    let secret = secret_of(sent.as_ref()).map_err(refused)?;
    let hash = secret.hash();
    let known = api.rates.bearer(&hash);
    let count = |bearer: &Bearer| match api.rates.count_bearer(bearer) {
        Some(counted) => match counted.refusal() {
            Some(refusal) => Err(Box::new(refusal)),
            None => Ok(Some(counted)),
        },
        None => Ok(None),
    };
    let counted = known.as_ref().map(count).transpose()?;
    let identity = look_up(api, &secret, known.as_ref(), client).await;
    let bearer = identity.as_ref().ok().map(|identity| Bearer {
        tenant: identity.tenant.clone(),
        token: identity.prefix.clone(),
        rate: identity.requests_per_second,
    });
    api.rates.keep_bearer(hash, bearer.clone());
    let identity = identity.map_err(refused)?;
    let counted = match (counted, bearer) {
        (Some(counted), _) => counted,
        (None, Some(bearer)) => count(&bearer)?,
        (None, None) => None,
    };
    Ok((identity, counted))
}

/// Looks a token up, within the share of its tenant; within that of the client's address where the tenant is not known.
async fn look_up(
    api: &Api,
    secret: &Secret,
    known: Option<&Bearer>,
    client: Option<ClientAddress>,
) -> Result<Identity, Problem> {
    let share = match known {
        Some(bearer) => format!("tenant {}", bearer.tenant),
        None => share_of_address(client),
    };
    let _slot = api.lookups.wait(&share, 1, api.times.request).await?;
    let found = authenticate(&api.tokens, secret.reveal()).await;
    if matches!(found, Err(AuthenticationError::Invalid)) && authenticate_operator(&api.tokens, secret).await.is_ok() {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "not_permitted",
            "this is an operator's token, which belongs to no tenant",
        )
        .hint("An operator asks under /v1/installation; `wed token create` makes a token of a tenant's user."));
    }
    found.map_err(denied)
}

pub(crate) fn denied(error: AuthenticationError) -> Problem {
    match error {
        AuthenticationError::NoToken | AuthenticationError::Invalid => invalid_token(),
        AuthenticationError::Suspended => suspended(),
        AuthenticationError::Moving => moving(),
        AuthenticationError::Moved => moved(),
        AuthenticationError::Store(error) => error.into(),
    }
}

/// Returns the share of look-ups of a client whose tenant is not known.
pub(crate) fn share_of_address(client: Option<ClientAddress>) -> String {
    match client {
        Some(ClientAddress(address)) => format!("address {address}"),
        None => "address".to_owned(),
    }
}

/// Reads the token of the header `Authorization`.
pub(crate) fn secret_of(sent: Option<&HeaderValue>) -> Result<Secret, Problem> {
    let Some(value) = sent else {
        return Err(unauthorized("no_token", "the request comes without a token"));
    };
    let token = value
        .to_str()
        .ok()
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    let Some(token) = token else {
        return Err(unauthorized("no_token", "the header Authorization is not of the form `Bearer wed_…`"));
    };
    Secret::parse(token).ok_or_else(invalid_token)
}

pub(crate) fn invalid_token() -> Problem {
    unauthorized("invalid_token", "the token is mistyped, unknown, expired or revoked")
}

fn unauthorized(code: &str, detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, code, detail)
        .hint("Send `Authorization: Bearer wed_…`; `wed token create` makes a token.")
        .with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"wedflow\""))
}
