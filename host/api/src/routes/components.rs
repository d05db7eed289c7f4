//! Components: uploaded and looked at.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_encoding::{BASE64, HEXLOWER};
use serde_json::{Value, json};
use wedflow_model::Limits;
use wedflow_store::{Once, Store, Taken};
use wedflow_tenancy::{Action, Area};
use wedflow_worker::{StoredAs, UploadError};

use super::instances::REPLAYED;
use crate::access::Caller;
use crate::body::{self, Document, IdempotencyKey};
use crate::documents::{Activation, Component, Kept, List, Page, RemovedComponent, UploadTerms, Uploaded};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::{Api, to_its_end};

/// Number of the newest versions of each component that stay by default, for going back.
const KEEP: i32 = 3;

/// The components, every version, newest first within a name
#[utoipa::path(get, path = "/v1/components", tag = "components", params(Page),
    responses((status = 200, body = List<Component>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Component>>, Problem> {
    caller.must(Action::read(Area::Components))?;
    let components = api.store.components(&caller.tenant, None).await?;
    page::cut(&asked, components, Component::place).map(Json)
}

/// The versions of a component, newest first
#[utoipa::path(get, path = "/v1/components/{component}", tag = "components",
    params(("component" = String, Path, description = "The component's name"), Page),
    responses((status = 200, body = List<Component>), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Component>>, Problem> {
    caller.must(Action::read(Area::Components))?;
    let versions = api.store.components(&caller.tenant, Some(&name)).await?;
    if versions.is_empty() {
        return Err(Problem::missing("component", &name));
    }
    page::cut(&asked, versions, Component::place).map(Json)
}

/// A version of a component
#[utoipa::path(get, path = "/v1/components/{component}/versions/{version}", tag = "components",
    params(("component" = String, Path, description = "The component's name"), ("version" = i32, Path,
        description = "Its version")),
    responses((status = 200, body = Component), (status = 404, body = Problem)))]
pub(crate) async fn get_version(
    State(api): State<Api>,
    caller: Caller,
    Named((name, version)): Named<(String, String)>,
) -> Result<Json<Component>, Problem> {
    caller.must(Action::read(Area::Components))?;
    let versions = api.store.components(&caller.tenant, Some(&name)).await?;
    versions
        .into_iter()
        .find(|component| component.version.to_string() == version)
        .map(Json)
        .ok_or_else(|| Problem::missing("component", &format!("{name} version {version}")))
}

/// The bytes of a version of a component
#[utoipa::path(get, path = "/v1/components/{component}/versions/{version}/bytes", operation_id = "bytes",
    tag = "components",
    params(("component" = String, Path, description = "The component's name"), ("version" = i32, Path,
        description = "Its version")),
    responses((status = 200, body = Vec<u8>, content_type = "application/wasm"), (status = 404, body = Problem)))]
pub(crate) async fn version_bytes(
    State(api): State<Api>,
    caller: Caller,
    Named((name, version)): Named<(String, i32)>,
) -> Result<Response, Problem> {
    caller.must(Action::read(Area::Components))?;
    let bytes = (api.store.version_bytes(&caller.tenant, &name, version)).await?;
    let wasm = HeaderValue::from_static("application/wasm");
    Ok(([(header::CONTENT_TYPE, wasm)], bytes).into_response())
}

/// Makes a version of a component the one in use, for what is fired from now on and for jobs that nobody has
/// in flight
#[utoipa::path(post, path = "/v1/components/{component}/activate", tag = "components",
    params(("component" = String, Path, description = "The component's name")), request_body = Activation,
    responses((status = 200, body = Component), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn activate(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Document(wanted): Document<Activation>,
) -> Result<Json<Component>, Problem> {
    activated(&api, &caller, &name, Some(wanted.version)).await
}

/// Makes the version before the one in use the one in use
#[utoipa::path(post, path = "/v1/components/{component}/rollback", tag = "components",
    params(("component" = String, Path, description = "The component's name")),
    responses((status = 200, body = Component), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn rollback(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Json<Component>, Problem> {
    activated(&api, &caller, &name, None).await
}

async fn activated(api: &Api, caller: &Caller, name: &str, version: Option<i32>) -> Result<Json<Component>, Problem> {
    caller.must(Action::write(Area::Activation))?;
    let store = caller.store(api);
    let active = store.activate_component(&caller.tenant, name, version).await?;
    let versions = store.components(&caller.tenant, Some(name)).await?;
    versions
        .into_iter()
        .find(|component| component.version == active)
        .map(Json)
        .ok_or_else(|| Problem::missing("component", name))
}

/// Removes the versions that nothing uses, but for the newest of each name and those in use
#[utoipa::path(delete, path = "/v1/components", tag = "components", params(Kept),
    responses((status = 200, body = List<RemovedComponent>), (status = 403, body = Problem), (status = 422,
        body = Problem)))]
pub(crate) async fn collect(
    State(api): State<Api>,
    caller: Caller,
    Asked(kept): Asked<Kept>,
) -> Result<Json<List<RemovedComponent>>, Problem> {
    caller.must(Action::write(Area::Components))?;
    let keep = kept.keep.unwrap_or(KEEP);
    if keep < 0 {
        return Err(Problem::invalid("invalid_query", "keep is less than 0")
            .hint("Give a number of versions, or leave it out."));
    }
    let removed = caller.store(&api).collect_components(&caller.tenant, keep).await?;
    let removed = removed.into_iter().map(|(name, version)| RemovedComponent { name, version });
    Ok(Json(List::whole(removed.collect())))
}

/// Uploads a component as the newest version of its name; the newest one's bytes make no new version. One that would
/// break a flow is stored, and not in use unless `activate` is true
#[utoipa::path(post, path = "/v1/components/{component}", tag = "components",
    params(("component" = String, Path, description = "The component's name"), UploadTerms,
        ("Content-Digest" = Option<String>, Header, description = "`sha-256=:…:` (RFC 9530); held against what came"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of the client's choice, best a random UUID")),
    request_body(content = Vec<u8>, content_type = "application/wasm"),
    responses((status = 201, body = Uploaded), (status = 200, body = Uploaded, description = "With `check`: it is well"),
        (status = 408, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn upload(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    Asked(terms): Asked<UploadTerms>,
    IdempotencyKey(key): IdempotencyKey,
    request: Request,
) -> Result<Response, Problem> {
    let sent = Sent { name: Some(name), terms, key };
    uploaded(&api, &caller, &sent, request).await
}

/// Uploads a component under the name that its manifest gives it
#[utoipa::path(post, path = "/v1/components", operation_id = "upload_as_itself", tag = "components",
    params(UploadTerms,
        ("Content-Digest" = Option<String>, Header, description = "`sha-256=:…:` (RFC 9530); held against what came"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of the client's choice, best a random UUID")),
    request_body(content = Vec<u8>, content_type = "application/wasm"),
    responses((status = 201, body = Uploaded), (status = 200, body = Uploaded, description = "With `check`: it is well"),
        (status = 408, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn upload_as_itself(
    State(api): State<Api>,
    caller: Caller,
    Asked(terms): Asked<UploadTerms>,
    IdempotencyKey(key): IdempotencyKey,
    request: Request,
) -> Result<Response, Problem> {
    let sent = Sent { name: None, terms, key };
    uploaded(&api, &caller, &sent, request).await
}

/// Name, terms and key of an upload.
#[derive(Clone)]
struct Sent {
    name: Option<String>,
    terms: UploadTerms,
    key: Option<String>,
}

/// Reads, checks and stores a component.
async fn uploaded(api: &Api, caller: &Caller, sent: &Sent, request: Request) -> Result<Response, Problem> {
    caller.must(Action::write(Area::Components))?;
    let (parts, body) = request.into_parts();
    must_be_wasm(&parts.headers)?;
    let most = Limits::default().component_bytes;
    let kib = body::announced(&parts.headers).unwrap_or(most).min(most) >> 10;
    let kib = u32::try_from(kib).unwrap_or(u32::MAX);
    let longest = api.times.upload;
    let room = api.uploading.wait(&caller.tenant, kib, longest).await?;
    let read = body::plain(&parts.headers, body, most, api.times).await?;
    // Slow senders hold room for bytes; the places for compiling are for those whose bytes are here.
    let place = api.compiling.wait(&caller.tenant, 1, longest).await?;
    if let Some(said) = parts.headers.get("content-digest") {
        hold_against(said, &read.digest)?;
    }
    let name = sent.name.as_deref().unwrap_or_default();
    let terms = (sent.terms.activate, sent.terms.check);
    let asked = json!(["upload", name, HEXLOWER.encode(&read.digest), terms]);
    let once = sent.key.as_deref().map(|key| Once { tenant: &caller.tenant, user: &caller.user, key, asked: &asked });
    let store = caller.store(api);
    let mut taken = None;
    if let Some(once) = &once {
        match store.take_key(once).await? {
            Taken::New => taken = Some(TakenKey::new(&store, once)),
            Taken::Answered(answer) => return replayed(answer),
            Taken::Elsewhere => return Err(under_way()),
        }
    }
    let work = {
        let (store, tenant, sent) = (store.clone(), caller.tenant.clone(), sent.clone());
        async move { stored(&store, &tenant, &sent, &read.bytes).await }
    };
    let uploaded = to_its_end((room, place), work).await??;
    if let Some(once) = &once {
        let answer = serde_json::to_value(&uploaded).unwrap_or_default();
        store.remember(once, &answer).await?;
    }
    if let Some(taken) = taken {
        taken.answered();
    }
    Ok(answered(uploaded))
}

/// Checks and stores a component that was read.
async fn stored(store: &Store, tenant: &str, sent: &Sent, bytes: &[u8]) -> Result<Uploaded, Problem> {
    let activation = match (sent.terms.check, sent.terms.activate) {
        (true, _) => wedflow_worker::Activation::Check,
        (false, false) => wedflow_worker::Activation::UnlessItBreaks,
        (false, true) => wedflow_worker::Activation::Always,
    };
    let name = match &sent.name {
        Some(name) => StoredAs::Name(name),
        None => StoredAs::ItsOwn { otherwise: sent.terms.otherwise.as_deref().unwrap_or("component") },
    };
    let upload = wedflow_worker::upload_as(store, tenant, name, bytes, activation).await.map_err(not_uploaded)?;
    Ok(Uploaded {
        warnings: upload.faults,
        name: upload.name,
        version: upload.version,
        active: upload.is_active,
        digest: upload.digest,
        transitions: upload.transitions,
    })
}

/// Checks that a body is sent as a component.
pub(super) fn must_be_wasm(headers: &HeaderMap) -> Result<(), Problem> {
    match body::media_type(headers).as_deref() {
        Some("application/wasm" | "application/octet-stream") => Ok(()),
        _ => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content_type",
            "the body is not said to be a component",
        )
        .hint("Send the bytes of the .wasm file, with `Content-Type: application/wasm`.")),
    }
}

/// Explains the failure of an upload to its client.
fn not_uploaded(error: UploadError) -> Problem {
    match error {
        UploadError::Store(error) => error.into(),
        UploadError::Sandbox(error) => {
            tracing::error!(
                %error,
                "the sandbox cannot be set up; look at this machine's limits of memory and processes"
            );
            Problem::internal()
        }
        UploadError::Refused(reason) => Problem::invalid("component_refused", reason)
            .hint("`wed explain transitions` says what a component must look like."),
    }
}

/// A client's key while its upload is under way. Given back when dropped: the upload was refused, or its client went
/// away.
struct TakenKey(Option<(Store, [String; 3], Value)>);

impl TakenKey {
    fn new(store: &Store, once: &Once<'_>) -> Self {
        let names = [once.tenant, once.user, once.key].map(str::to_owned);
        TakenKey(Some((store.clone(), names, once.asked.clone())))
    }

    /// The key has an answer, and stays.
    fn answered(mut self) {
        self.0 = None;
    }
}

impl Drop for TakenKey {
    fn drop(&mut self) {
        let Some((store, [tenant, user, key], asked)) = self.0.take() else {
            return;
        };
        tokio::spawn(async move {
            let once = Once { tenant: &tenant, user: &user, key: &key, asked: &asked };
            if let Err(error) = store.give_key_back(&once).await {
                tracing::warn!(
                    %error,
                    "a key of an upload that failed is free in ten minutes only; look whether the database answers"
                );
            }
        });
    }
}

/// Answers what was answered before.
fn replayed(answer: serde_json::Value) -> Result<Response, Problem> {
    let uploaded = serde_json::from_value(answer).map_err(|_| Problem::internal())?;
    let mut response = answered(uploaded);
    let headers = response.headers_mut();
    headers.insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

fn under_way() -> Problem {
    Problem::new(StatusCode::CONFLICT, "under_way", "another upload with this idempotency key is under way")
        .hint("Wait as long as Retry-After says, and send it again.")
        .with(header::RETRY_AFTER, 5)
}

/// Answers what was uploaded; of what was checked only, which has no version, that it is well.
fn answered(uploaded: Uploaded) -> Response {
    if uploaded.version == 0 {
        return Json(uploaded).into_response();
    }
    let place = format!("/v1/components/{}/versions/{}", uploaded.name, uploaded.version);
    let mut response = (StatusCode::CREATED, Json(uploaded)).into_response();
    if let Ok(place) = HeaderValue::from_str(&place) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}

/// Holds a digest that the client announced against what came.
fn hold_against(said: &HeaderValue, digest: &[u8; 32]) -> Result<(), Problem> {
    let expected = said.to_str().ok().and_then(|said| {
        said.split(',').find_map(|one| {
            let value = one.trim().strip_prefix("sha-256=:")?.strip_suffix(':')?;
            BASE64.decode(value.as_bytes()).ok()
        })
    });
    match expected {
        Some(expected) if expected == digest => Ok(()),
        Some(_) => Err(Problem::invalid("digest", format!("what came has the digest {}", HEXLOWER.encode(digest)))
            .hint("The bytes were damaged on the way, or the header is that of another file.")),
        None => Err(Problem::new(StatusCode::BAD_REQUEST, "digest", "the header Content-Digest cannot be used")
            .hint("Send `Content-Digest: sha-256=:BASE64:`, or leave it out.")),
    }
}
