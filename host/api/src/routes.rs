//! Routes of the API, a file for each noun.

mod audit;
mod components;
mod conditions;
mod config;
mod constrain;
mod events;
mod explain;
mod flows;
mod health;
mod instances;
mod jobs;
mod me;
mod operate;
mod schedules;
mod settings;
mod tokens;
mod usage;
mod users;
mod versions;
mod webhooks;
mod work;
mod worklists;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, Version, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{self, Caller};
use crate::body;
use crate::openapi::{self, Description};
use crate::problem::{Problem, REQUEST, RequestId, too_long};
use crate::sending;
use crate::state::Api;

/// Header with the request's number.
const REQUEST_ID: &str = "x-request-id";

/// Describes all routes: those with a time limit, those that take as long as they take within limits of their own, and
/// those open to everyone.
fn described() -> (OpenApiRouter<Api>, OpenApiRouter<Api>, OpenApiRouter<Api>) {
    let quick = flow_routes()
        .merge(operation_routes())
        .merge(definition_routes())
        .merge(tenant_routes())
        .merge(work_routes());
    let slow = OpenApiRouter::new()
        .routes(routes!(components::upload))
        .routes(routes!(components::upload_as_itself))
        .routes(routes!(events::watch))
        .routes(routes!(work::events))
        .routes(routes!(work::application));
    let open = OpenApiRouter::new()
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::openapi));
    (quick, slow, open)
}

/// Describes flows, their instances, settings and secrets.
fn flow_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(me::me))
        .routes(routes!(flows::list))
        .routes(routes!(flows::get, flows::apply, flows::delete))
        .routes(routes!(instances::list, instances::start))
        .routes(routes!(instances::get))
        .routes(routes!(config::settings))
        .routes(routes!(config::set_setting, config::unset_setting))
        .routes(routes!(config::secrets))
        .routes(routes!(config::put_secret, config::remove_secret))
        .routes(routes!(instances::trace))
        .routes(routes!(instances::attempts))
        .routes(routes!(instances::recording))
        .routes(routes!(instances::last_attempts))
}

/// Describes what an operator does: retry, cancel, pause, schedule.
fn operation_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(operate::retry))
        .routes(routes!(operate::cancel))
        .routes(routes!(operate::skip))
        .routes(routes!(operate::set_state))
        .routes(routes!(operate::go_back))
        .routes(routes!(operate::pause))
        .routes(routes!(operate::resume))
        .routes(routes!(operate::waiting))
        .routes(routes!(conditions::conditions))
        .routes(routes!(explain::why))
        .routes(routes!(explain::what_if))
        .routes(routes!(explain::what_if_condition))
        .routes(routes!(explain::graph))
        .routes(routes!(operate::retry_matching))
        .routes(routes!(operate::pause_all))
        .routes(routes!(operate::resume_all))
        .routes(routes!(schedules::schedules))
        .routes(routes!(schedules::put_schedule, schedules::remove_schedule))
        .routes(routes!(schedules::pause_schedule))
        .routes(routes!(schedules::resume_schedule))
        .routes(routes!(schedules::backfill))
        .routes(routes!(operate::pauses))
        .routes(routes!(operate::pause_tenant))
        .routes(routes!(operate::resume_tenant))
        .routes(routes!(operate::event))
}

/// Describes versions of definitions, webhooks, resources, orders and jobs.
fn definition_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(versions::preview))
        .routes(routes!(versions::apply_processes))
        .routes(routes!(versions::plan))
        .routes(routes!(versions::versions))
        .routes(routes!(versions::diff))
        .routes(routes!(versions::roll_back))
        .routes(routes!(versions::rematch))
        .routes(routes!(webhooks::list, webhooks::set, webhooks::remove))
        .routes(routes!(constrain::lint))
        .routes(routes!(constrain::reservations))
        .routes(routes!(constrain::resources, constrain::set_resource))
        .routes(routes!(constrain::orders, constrain::add_order))
        .routes(routes!(constrain::drop_order))
        .routes(routes!(jobs::list))
        .routes(routes!(jobs::get))
}

/// Describes what a tenant has: components, users, tokens, settings, usage, the audit log.
fn tenant_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(components::list, components::collect))
        .routes(routes!(components::get))
        .routes(routes!(components::activate))
        .routes(routes!(components::rollback))
        .routes(routes!(components::get_version))
        .routes(routes!(components::version_bytes))
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::get, users::change, users::delete))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::get, tokens::revoke))
        .routes(routes!(tokens::rotate))
        .routes(routes!(settings::get, settings::change))
        .routes(routes!(usage::list))
        .routes(routes!(audit::list))
}

/// Describes the work of people: items, messages, worklists, calendars.
fn work_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(work::list))
        .routes(routes!(work::item))
        .routes(routes!(work::act))
        .routes(routes!(work::delegate))
        .routes(routes!(work::report))
        .routes(routes!(work::run))
        .routes(routes!(work::history))
        .routes(routes!(work::comment))
        .routes(routes!(work::messages, work::remove_messages))
        .routes(routes!(work::connection, work::leave))
        .routes(routes!(work::start))
        .routes(routes!(work::people))
        .routes(routes!(work::roles))
        .routes(routes!(work::put_person, work::drop_person))
        .routes(routes!(worklists::reserve))
        .routes(routes!(worklists::place))
        .routes(routes!(worklists::decide))
        .routes(routes!(worklists::decide_exception))
        .routes(routes!(worklists::notification))
        .routes(routes!(worklists::reassign))
        .routes(routes!(worklists::revoke))
        .routes(routes!(worklists::calendars))
        .routes(routes!(worklists::set_calendar))
        .routes(routes!(worklists::attach, worklists::attachment))
}

/// The OpenAPI document, as `GET /openapi.json` answers it.
pub fn description() -> serde_json::Value {
    let (quick, slow, open) = described();
    let routes = OpenApiRouter::with_openapi(Description::openapi())
        .merge(quick)
        .merge(slow)
        .merge(open);
    openapi::completed(&routes.into_openapi())
}

/// Returns the whole service, for bearers of tokens.
pub(crate) fn service(api: Api) -> Router {
    let guard = middleware::from_fn_with_state(api.clone(), access::let_in);
    let (guarded, open) = parts(&api);
    assembled(guarded.route_layer(guard).merge(open), api)
}

/// Returns the whole service, for the owner of the installation.
pub(crate) fn owners_service(api: Api, owner: Caller) -> Router {
    let guard = middleware::from_fn_with_state(owner, access::let_owner_in);
    let (guarded, open) = parts(&api);
    assembled(guarded.route_layer(guard).merge(open), api)
}

/// Returns the routes that need a caller, and those open to everyone.
fn parts(api: &Api) -> (Router<Api>, Router<Api>) {
    let (quick, slow, open) = described();
    let (quick, _) = quick.split_for_parts();
    let (slow, _) = slow.split_for_parts();
    let (open, _) = open.split_for_parts();
    let guarded = quick
        .route_layer(middleware::from_fn_with_state(api.clone(), in_share))
        .route_layer(middleware::from_fn_with_state(api.clone(), in_time))
        .merge(slow);
    (guarded, open)
}

/// Adds what holds for every request.
fn assembled(routes: Router<Api>, api: Api) -> Router {
    routes
        .fallback(nothing_here)
        .method_not_allowed_fallback(not_this_way)
        .layer(tower_http::catch_panic::CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(numbered))
        .with_state(api)
}

/// Does what is asked within the tenant's share of connections to the database, and sends the answer within
/// its share of bytes. The body is read before: who sends it slowly holds nothing.
async fn in_share(
    State(api): State<Api>,
    caller: Caller,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (parts, sent) = request.into_parts();
    let read = body::plain(&parts.headers, sent, body::MOST, api.times).await?;
    let places = &api.connections;
    let place = places.wait(&caller.tenant, 1, api.times.request).await?;
    let request = Request::from_parts(parts, Body::from(read.bytes));
    let response = sending::counted(&api, &caller.tenant, next.run(request).await).await;
    drop(place);
    Ok(response)
}

/// Ends what takes too long.
async fn in_time(State(api): State<Api>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(api.times.request, next.run(request)).await {
        Ok(response) => response,
        Err(_) => too_long().into_response(),
    }
}

/// Gives each request a number, and puts down what became of it.
async fn numbered(request: Request, next: Next) -> Response {
    let id = RequestId(format!("{:016x}", rand::random::<u64>()));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let began = std::time::Instant::now();
    let answer = async {
        let hosts = request.headers().get_all(header::HOST).iter().count();
        if request.version() == Version::HTTP_11 && hosts != 1 {
            return Problem::new(
                StatusCode::BAD_REQUEST,
                "host",
                format!("the request has {hosts} headers Host"),
            )
            .hint("Send exactly one.")
            .into_response();
        }
        next.run(request).await
    };
    let mut response = REQUEST.scope(id.clone(), answer).await;
    let status = response.status().as_u16();
    let elapsed_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    // The path may hold names of a tenant's things, but never a secret; what is asked behind it is left out.
    tracing::debug!(request = id.0, %method, path, status, elapsed_us, "answered");
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(
        "x-content-type-options",
        HeaderValue::from_static("nosniff"),
    );
    response
}

async fn nothing_here(uri: Uri) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "not_found",
        format!("there is nothing at {}", uri.path()),
    )
    .hint("GET /openapi.json tells what there is.")
}

async fn not_this_way(request: Request) -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method",
        format!(
            "{} is not done to {}",
            request.method(),
            request.uri().path()
        ),
    )
    .hint("GET /openapi.json tells what can be done.")
}

/// Answers a panic without its message, which is for the log only.
fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("something");
    tracing::error!(
        said,
        "a request panicked; this is a defect of wed, please report it with this line"
    );
    Problem::internal().into_response()
}
