//! Flows and their definitions.

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use wedflow_model::FlowDefinition;
use wedflow_store::Expected;
use wedflow_tenancy::{Action, Area};

use super::operate::FlowPath;
use crate::access::Caller;
use crate::body;
use crate::documents::{Applied, Attribute, FlowDetail, FlowSummary, List, Page};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::Api;

/// The most bytes of a definition.
const MOST: u64 = 1 << 20;

/// The flows
#[utoipa::path(get, path = "/v1/flows", tag = "flows",
    params(Page), responses((status = 200, body = List<FlowSummary>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<FlowSummary>>, Problem> {
    caller.must(Action::read(Area::Flows))?;
    let flows = api.store.flows(&caller.tenant).await?;
    page::cut(&asked, flows, |flow: &FlowSummary| flow.name.clone()).map(Json)
}

/// A flow with its attributes, its triggers and its whole definition. `ETag` is that of the definition
#[utoipa::path(get, path = "/v1/flows/{flow}", tag = "flows", params(FlowPath),
    responses((status = 200, body = FlowDetail, headers(("ETag", description = "The definition's, for If-Match"))),
        (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<(HeaderMap, Json<FlowDetail>), Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &name).await?;
    let held = api.store.counted_flow(&caller.tenant, &name).await?;
    let shape = api.store.flow_shape(flow.flow_id).await?;
    let triggers = api.store.triggers(&flow).await?;
    let (definition, tag) = api.store.definition(flow.flow_id).await?;
    let document = FlowDetail {
        name: held.name,
        description: held.description,
        version: held.version,
        regular: held.regular,
        r#final: held.r#final,
        exception: held.exception,
        jobs: held.jobs,
        estimated: held.estimated,
        attributes: shape
            .attributes
            .into_iter()
            .map(|(name, kind)| Attribute { name, r#type: kind.to_string() })
            .collect(),
        triggers,
        definition,
    };
    Ok((tagged(&tag), Json(document)))
}

/// Makes a flow what a definition says: the content of a flow.toml, as TOML or as JSON
#[utoipa::path(put, path = "/v1/flows/{flow}", tag = "flows",
    params(FlowPath,
        ("If-Match" = Option<String>, Header,
            description = "Only if the definition has this ETag; `*`: only if there is the flow"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: only if there is no flow of the name")),
    request_body(content(
        (crate::documents::Definition = "application/json"),
        (String = "application/toml"),
    ), description = "See `wed explain flow-toml`; `name` is that of the path"),
    responses((status = 200, body = Applied), (status = 201, body = Applied, description = "The flow is new"),
        (status = 412, body = Problem, description = "If-Match or If-None-Match does not hold"),
        (status = 415, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn apply(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    request: Request,
) -> Result<Response, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let (parts, sent) = request.into_parts();
    let definition = definition(&api, &parts.headers, &name, sent).await?;
    let expected = expected(&parts.headers)?;
    let store = caller.definitions(&api);
    let (applied, tag) = wedflow_worker::definition::apply_to(&store, &caller.tenant, &definition, &expected).await?;
    let status = if applied.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, tagged(&tag), Json(applied)).into_response())
}

/// The headers of an answer about a definition.
fn tagged(tag: &str) -> HeaderMap {
    let value = HeaderValue::from_str(&format!("\"{tag}\""));
    let tag = value.into_iter().map(|value| (header::ETAG, value));
    tag.collect()
}

/// Reads from the headers what the client expects to find.
fn expected(headers: &HeaderMap) -> Result<Expected, Problem> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let tags = |list: &str| -> Option<Vec<String>> {
        list.split(',')
            .map(|one| one.trim().strip_prefix('"')?.strip_suffix('"'))
            .map(|tag| tag.map(str::to_owned))
            .collect()
    };
    let matching = match text(header::IF_MATCH) {
        None => None,
        Some("*") => Some(Expected::Some),
        Some(list) => Some(Expected::Tags(tags(list).ok_or_else(unusable)?)),
    };
    match (matching, text(header::IF_NONE_MATCH)) {
        (_, Some(list)) if list != "*" => Err(unusable()),
        (None, None) => Ok(Expected::Anything),
        (None, Some(_)) => Ok(Expected::Nothing),
        (Some(expected), None) => Ok(expected),
        (Some(_), Some(_)) => Err(Problem::new(
            StatusCode::PRECONDITION_FAILED,
            "precondition_failed",
            "If-Match and If-None-Match never hold together",
        )
        .hint("Send one of them.")),
    }
}

/// The problem of a precondition in no form that is known.
fn unusable() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_header", "If-Match or If-None-Match cannot be used")
        .hint("Send If-Match with the ETag of GET, or If-None-Match: *, not both.")
}

/// The definition that was sent, of the flow that the path names.
pub(crate) async fn definition(
    api: &Api,
    headers: &HeaderMap,
    name: &str,
    sent: Body,
) -> Result<FlowDefinition, Problem> {
    let definition = read_definition(api, headers, sent).await?;
    if definition.name == name {
        return Ok(definition);
    }
    Err(Problem::invalid(
        "invalid_document",
        format!("the definition names flow \"{}\", the path \"{name}\"", definition.name),
    )
    .hint("Use the same name in both.")
    .at("name".to_owned()))
}

async fn read_definition(api: &Api, headers: &HeaderMap, sent: Body) -> Result<FlowDefinition, Problem> {
    let bytes = body::plain(headers, sent, MOST, api.times).await?.bytes;
    match body::media_type(headers).as_deref() {
        Some("application/json") => body::json(&bytes),
        Some("application/toml") => std::str::from_utf8(&bytes)
            .map_err(|error| error.to_string())
            .and_then(|text| toml::from_str(text).map_err(|error| error.to_string()))
            .map_err(|error| Problem::invalid("invalid_document", error).hint("`wed explain flow-toml` describes it.")),
        _ => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content_type",
            "the body is neither said to be JSON nor TOML",
        )
        .hint("Send `Content-Type: application/json` or `Content-Type: application/toml`.")),
    }
}

/// Removes a flow with its instances and their history
#[utoipa::path(delete, path = "/v1/flows/{flow}", tag = "flows",
    params(FlowPath,
        ("If-Match" = Option<String>, Header, description = "Only if the definition has this ETag")),
    responses((status = 204), (status = 404, body = Problem),
        (status = 412, body = Problem, description = "If-Match does not hold")))]
pub(crate) async fn delete(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let expected = expected(&headers)?;
    let store = caller.store(&api);
    store.drop_flow_if(&caller.tenant, &name, &expected).await?;
    Ok(StatusCode::NO_CONTENT)
}
