//! Routes of the API, a file for each noun.

mod audit;
mod batch;
mod clusters;
mod components;
mod conditions;
mod config;
mod constrain;
mod events;
mod explain;
mod feed;
mod flows;
mod health;
mod hooks;
mod installation;
mod instances;
mod jobs;
mod me;
mod operate;
mod overview;
mod query;
mod schedules;
mod settings;
mod shadow;
mod tokens;
mod usage;
mod users;
mod versions;
mod webhooks;
mod work;
mod workers;
mod worklists;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, Version, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{self, Caller, ShareOf};
use crate::body;
use crate::connections::Narrow;
use crate::openapi::{self, Description};
use crate::problem::{Problem, REQUEST, RequestId, too_long};
use crate::replica::{Replica, prefer_replica};
use crate::sending;
use crate::state::{Api, ReplicaSettings, Slots};
use crate::traced::traced;

/// Header with the request's number.
const REQUEST_ID: &str = "x-request-id";

/// All routes, by what bounds them.
struct Described {
    /// Routes with a time limit, within the tenant's share of connections to the database.
    quick: OpenApiRouter<Api>,
    /// Routes that apply or preview definitions, with a share and a time limit of their own.
    defining: OpenApiRouter<Api>,
    /// Routes without the common time limit, within limits of their own.
    slow: OpenApiRouter<Api>,
    /// Routes for operators of the installation.
    installation: OpenApiRouter<Api>,
    /// Routes open to everyone.
    open: OpenApiRouter<Api>,
}

/// Describes all routes.
fn described() -> Described {
    let quick =
        flow_routes().merge(operation_routes()).merge(definition_routes()).merge(tenant_routes()).merge(work_routes());
    let slow = OpenApiRouter::new()
        .routes(routes!(components::upload))
        .routes(routes!(components::upload_as_itself))
        .routes(routes!(shadow::run))
        .routes(routes!(events::watch))
        .routes(routes!(events::result))
        .routes(routes!(workers::claim))
        .routes(routes!(feed::of_flow))
        .routes(routes!(feed::of_tenant))
        .routes(routes!(work::events))
        .routes(routes!(work::application));
    let open = OpenApiRouter::new()
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::openapi))
        .routes(routes!(hooks::receive));
    let defining = OpenApiRouter::new()
        .routes(routes!(flows::apply))
        .routes(routes!(versions::preview))
        .routes(routes!(versions::roll_back))
        .routes(routes!(versions::rematch))
        .routes(routes!(versions::apply_processes))
        .routes(routes!(batch::run));
    Described { quick, defining, slow, installation: installation_routes(), open }
}

/// Describes what an operator of the installation does.
fn installation_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(installation::status))
        .routes(routes!(installation::hosts))
        .routes(routes!(installation::tenants, installation::create))
        .routes(routes!(installation::tenant, installation::change, installation::delete))
        .routes(routes!(installation::pause))
        .routes(routes!(installation::resume))
        .routes(routes!(installation::quotas, installation::set_quotas))
        .routes(routes!(installation::retention, installation::set_retention))
        .routes(routes!(usage::all_receipts))
        .routes(routes!(clusters::list))
        .routes(routes!(clusters::put, clusters::change, clusters::remove))
}

/// Describes flows, their instances, settings and secrets.
fn flow_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(me::me))
        .routes(routes!(flows::list))
        .routes(routes!(flows::get, flows::delete))
        .routes(routes!(instances::list, instances::start))
        .routes(routes!(instances::count))
        .routes(routes!(instances::get))
        .routes(routes!(overview::overview))
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
        .routes(routes!(operate::delete))
        .routes(routes!(operate::skip))
        .routes(routes!(operate::set_state))
        .routes(routes!(operate::go_back))
        .routes(routes!(operate::pause))
        .routes(routes!(operate::resume))
        .routes(routes!(operate::waiting))
        .routes(routes!(conditions::conditions))
        .routes(routes!(explain::why))
        .routes(routes!(explain::what_if))
        .routes(routes!(explain::foresee))
        .routes(routes!(explain::what_if_condition))
        .routes(routes!(explain::graph))
        .routes(routes!(query::query))
        .routes(routes!(operate::retry_matching))
        .routes(routes!(operate::pause_all))
        .routes(routes!(operate::resume_all))
        .routes(routes!(schedules::schedules))
        .routes(routes!(schedules::put_schedule, schedules::remove_schedule))
        .routes(routes!(schedules::pause_schedule))
        .routes(routes!(schedules::resume_schedule))
        .routes(routes!(schedules::backfill))
        .routes(routes!(hooks::list))
        .routes(routes!(hooks::put, hooks::delete))
        .routes(routes!(hooks::rotate))
        .routes(routes!(operate::pauses))
        .routes(routes!(operate::pause_tenant))
        .routes(routes!(operate::resume_tenant))
        .routes(routes!(operate::event))
}

/// Describes versions of definitions, webhooks, resources, orders and jobs.
fn definition_routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(versions::plan))
        .routes(routes!(versions::versions))
        .routes(routes!(versions::diff))
        .routes(routes!(webhooks::list, webhooks::set, webhooks::remove))
        .routes(routes!(constrain::lint))
        .routes(routes!(webhooks::rotate))
        .routes(routes!(webhooks::test))
        .routes(routes!(webhooks::messages))
        .routes(routes!(webhooks::redeliver))
        .routes(routes!(constrain::reservations))
        .routes(routes!(constrain::resources, constrain::set_resource))
        .routes(routes!(constrain::orders, constrain::add_order))
        .routes(routes!(constrain::drop_order))
        .routes(routes!(jobs::list))
        .routes(routes!(jobs::get))
        .routes(routes!(workers::extend))
        .routes(routes!(workers::complete))
        .routes(routes!(workers::fail))
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
        .routes(routes!(usage::receipts))
        .routes(routes!(usage::hosts))
        .routes(routes!(usage::last_hour))
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
        .routes(routes!(work::of_instance))
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
    let Described { quick, defining, slow, installation, open } = described();
    let routes = OpenApiRouter::with_openapi(Description::openapi())
        .merge(quick)
        .merge(defining)
        .merge(slow)
        .merge(installation)
        .merge(open);
    openapi::completed(&routes.into_openapi())
}

/// Returns the whole service, for bearers of tokens.
pub(crate) fn service(api: Api) -> Router {
    let guard = middleware::from_fn_with_state(api.clone(), access::let_in);
    let operators = middleware::from_fn_with_state(api.clone(), access::let_operator_in);
    let Parts { guarded, installation, open } = parts(&api);
    let guarded = guarded.route_layer(guard);
    let installation = installation.route_layer(operators);
    assembled(guarded.merge(installation).merge(open), api)
}

/// Returns the whole service, for the owner of the installation.
pub(crate) fn owners_service(api: Api, owner: Caller) -> Router {
    let guard = middleware::from_fn_with_state(owner, access::let_owner_in);
    let Parts { guarded, installation, open } = parts(&api);
    let guarded = guarded.merge(installation).route_layer(guard);
    assembled(guarded.merge(open), api)
}

/// Routes within their bounds, by who is let in.
struct Parts {
    /// Routes that need a caller of a tenant.
    guarded: Router<Api>,
    /// Routes that need an operator of the installation.
    installation: Router<Api>,
    /// Routes open to everyone.
    open: Router<Api>,
}

fn parts(api: &Api) -> Parts {
    let Described { quick, defining, slow, installation, open } = described();
    let (quick, _) = quick.split_for_parts();
    let (defining, _) = defining.split_for_parts();
    let (slow, _) = slow.split_for_parts();
    let (open, _) = open.split_for_parts();
    let (installation, _) = installation.split_for_parts();
    let bounds = |slots: &Arc<Slots>, time| Bounds { slots: Arc::clone(slots), time, api: api.clone() };
    let quick = match &api.replica {
        None => quick,
        Some(replica) => {
            let replica = middleware::from_fn_with_state(over(api, replica), prefer_replica);
            quick.route_layer(replica)
        }
    };
    let quickly = bounds(&api.connections, api.times.request);
    let quickly = middleware::from_fn_with_state(quickly, bounded);
    let patiently = bounds(&api.defining, api.times.definition);
    let patiently = middleware::from_fn_with_state(patiently, bounded);
    Parts {
        guarded: quick
            .route_layer(quickly.clone())
            .merge(defining.route_layer(patiently))
            .merge(slow)
            .route_layer(middleware::from_fn(known_query)),
        installation: installation.route_layer(quickly).route_layer(middleware::from_fn(known_query)),
        open,
    }
}

/// Makes the routes over a replica, and begins to follow it.
fn over(api: &Api, replica: &ReplicaSettings) -> Replica {
    let store = &replica.store;
    let (routes, _) = described().quick.split_for_parts();
    let routes = routes.with_state(Api { store: store.clone(), ..api.clone() });
    Replica::follow(api.health.clone(), store.clone(), routes, replica.staleness_max)
}

/// Adds what holds for every request.
fn assembled(routes: Router<Api>, api: Api) -> Router {
    let routes = match &api.tracer {
        None => routes,
        Some(tracer) => routes.layer(middleware::from_fn_with_state(tracer.clone(), traced)),
    };
    routes
        .fallback(nothing_here)
        .method_not_allowed_fallback(not_this_way)
        .layer(tower_http::catch_panic::CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(numbered))
        .with_state(api)
}

/// Bounds of a request: a share of its tenant, and a time limit.
#[derive(Clone)]
struct Bounds {
    api: Api,
    slots: Arc<Slots>,
    time: Duration,
}

/// Does what is asked within the tenant's share and in time, and sends the answer within its share of bytes. The body
/// is read before: who sends it slowly holds nothing.
async fn bounded(
    State(bounds): State<Bounds>,
    Extension(ShareOf(share)): Extension<ShareOf>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let Bounds { api, slots, time } = bounds;
    let done = async {
        let (parts, sent) = request.into_parts();
        let read = body::plain(&parts.headers, sent, body::MOST, api.times).await?;
        let _slot = slots.wait(&share, 1, time).await?;
        let request = Request::from_parts(parts, Body::from(read.bytes));
        Ok(sending::counted(&api, &share, next.run(request).await).await)
    };
    let done = tokio::time::timeout(time, done).await;
    done.unwrap_or_else(|_| Err(too_long()))
}

/// Names of the parameters in the query of each operation, by method and path, from the description of the interface.
static QUERIES: LazyLock<HashMap<(String, String), HashSet<String>>> = LazyLock::new(|| {
    let description = description();
    let mut queries = HashMap::new();
    let paths = description["paths"].as_object().into_iter().flatten();
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().into_iter().flatten() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let named = parameters
                .filter(|parameter| parameter["in"] == "query")
                .filter_map(|parameter| parameter["name"].as_str().map(str::to_owned));
            queries.insert((method.to_uppercase(), path.clone()), named.collect());
        }
    }
    queries
});

/// Refuses a parameter that the operation does not have: it is a mistake, and would be taken for an answer to it.
async fn known_query(path: MatchedPath, request: Request, next: Next) -> Result<Response, Problem> {
    let key = (request.method().to_string(), path.as_str().to_owned());
    let known = QUERIES.get(&key);
    let query = request.uri().query().unwrap_or_default();
    let unknown = url::form_urlencoded::parse(query.as_bytes())
        .map(|(name, _)| name)
        .find(|name| !known.is_some_and(|known| known.contains(&**name)));
    match unknown {
        None => Ok(next.run(request).await),
        Some(name) => {
            let short: String = name.chars().take(80).collect();
            Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "invalid_query",
                format!("unknown field `{short}`: this operation has no such parameter"),
            )
            .hint("GET /openapi.json describes the parameters."))
        }
    }
}

/// Gives each request a number, and puts down what became of it.
pub(crate) async fn numbered(request: Request, next: Next) -> Response {
    // Asked within this process, for a request that has its number.
    if REQUEST.try_with(|_| ()).is_ok() {
        return next.run(request).await;
    }
    let id = RequestId(format!("{:016x}", rand::random::<u64>()));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let began = std::time::Instant::now();
    let answer = async {
        let hosts = request.headers().get_all(header::HOST).iter().count();
        if request.version() == Version::HTTP_11 && hosts != 1 {
            return Problem::new(StatusCode::BAD_REQUEST, "host", format!("the request has {hosts} headers Host"))
                .hint("Send exactly one.")
                .into_response();
        }
        if request.extensions().get::<Narrow>().is_some() && !path.starts_with("/health/") {
            return Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "connections",
                "this address has as many connections as it may have",
            )
            .hint("Use connections again instead of opening more; behind a proxy, `--trust-proxy` names it.")
            .with(header::CONNECTION, HeaderValue::from_static("close"))
            .with(header::RETRY_AFTER, 2)
            .into_response();
        }
        next.run(request).await
    };
    let mut response = REQUEST.scope(id.clone(), answer).await;
    let status = response.status().as_u16();
    let elapsed_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    // The path may hold names of a tenant's things, but never a secret; what is asked behind it is left out.
    tracing::debug!(request = id.0, %method, %path, status, elapsed_us, "answered");
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}

async fn nothing_here(uri: Uri) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not_found", format!("there is nothing at {}", uri.path()))
        .hint("GET /openapi.json tells what there is.")
}

async fn not_this_way(request: Request) -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method",
        format!("{} is not done to {}", request.method(), request.uri().path()),
    )
    .hint("GET /openapi.json tells what can be done.")
}

/// Answers a panic without its message, which is for the log only.
pub(crate) fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("something");
    tracing::error!(said, "a request panicked; this is a defect of wed, please report it with this line");
    Problem::internal().into_response()
}
