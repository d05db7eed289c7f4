//! Service over several clusters: the API of the cluster that a tenant is on answers its requests. It is called in this
//! process, as it is.
//!
//! - `calls`: the API of a cluster, called; a request that is sent a second time after a move
//! - `places`: which cluster a request is for
//! - `installation`: requests of operators, over all clusters
//! - `resend`: a request whose body nobody has read yet

mod calls;
mod installation;
mod places;
mod resend;

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use wedflow_store::{Directory, Store};

use crate::access::{Operator, Vouched, secret_of};
use crate::connections::ClientAddress;
use crate::problem::Problem;
use crate::routes;
use crate::state::Api;
use calls::{anywhere, at_place};
use installation::INSTALLATION;
use places::{HEALTH_PAUSE, Places, ServedCluster};

/// Beginning of the paths of inbound hooks.
const HOOKS: &str = "/v1/hooks/";

/// A cluster that is to be served.
#[derive(Debug, Clone)]
pub struct ServedDatabase {
    /// Name of the cluster in the directory.
    pub name: String,
    /// Database of the cluster.
    pub store: Store,
}

/// The service over several clusters.
pub(crate) struct Placed {
    /// The service.
    pub(crate) router: Router,
    places: Arc<Places>,
}

impl Placed {
    /// Makes the service over clusters, each with its API.
    pub(crate) fn new(directory: &Directory, clusters: Vec<(String, Api)>) -> Self {
        let clusters = clusters.into_iter().map(|(name, mut api)| {
            api.directory = Some(directory.clone());
            ServedCluster {
                name,
                tokens: api.tokens.clone(),
                health: api.health.clone(),
                router: routes::service(api),
                is_up: true.into(),
            }
        });
        let places = Arc::new(Places::new(directory.clone(), clusters.collect()));
        let router = Router::new()
            .fallback(answer)
            .layer(tower_http::catch_panic::CatchPanicLayer::custom(
                routes::panicked,
            ))
            .layer(middleware::from_fn(routes::numbered))
            .with_state(Arc::clone(&places));
        Placed { router, places }
    }

    /// Looks once which clusters answer.
    pub(crate) async fn look(&self) {
        self.places.look().await;
    }

    /// Begins to look again and again.
    pub(crate) fn watch(&self) -> JoinHandle<()> {
        let places = Arc::clone(&self.places);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(HEALTH_PAUSE).await;
                places.look().await;
            }
        })
    }

    /// Returns the service as the owner of the installation calls it, who needs no token.
    pub(crate) fn owners(self) -> Router {
        let vouch = async |mut request: Request, next: Next| {
            request.extensions_mut().insert(Vouched(Operator::owner()));
            next.run(request).await
        };
        self.router.layer(middleware::from_fn(vouch))
    }
}

/// Answers a request where it belongs.
async fn answer(State(places): State<Arc<Places>>, request: Request) -> Response {
    let path = request.uri().path();
    let below = path.strip_prefix(INSTALLATION);
    if path == "/health/ready" {
        return ready(&places);
    }
    if path.starts_with("/health/") || !path.starts_with("/v1/") {
        return anywhere(&places, request).await;
    }
    if below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
        return match installation::answer(&places, request).await {
            Ok(response) => response,
            Err(problem) => problem.into_response(),
        };
    }
    let (address, sent) = (path.strip_prefix(HOOKS), request.headers());
    let sent = sent.get(header::AUTHORIZATION).cloned();
    let client = request.extensions().get::<ClientAddress>().copied();
    match tenant_of(&places, address.map(str::to_owned), sent, client).await {
        Ok(Some(tenant)) => at_place(&places, &tenant, request).await,
        // It is refused before anybody looks at a database.
        Ok(None) => anywhere(&places, request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Finds the tenant that a request is for, by the address of a hook or the header `Authorization`; none of a request
/// that names none.
async fn tenant_of(
    places: &Places,
    address: Option<String>,
    sent: Option<HeaderValue>,
    client: Option<ClientAddress>,
) -> Result<Option<Arc<str>>, Problem> {
    if let Some(address) = address {
        return Ok(Some(places.tenant_of_hook(&address, client).await?));
    }
    match secret_of(sent.as_ref()) {
        Ok(secret) => Ok(Some(places.tenant_of_token(&secret, client).await?)),
        Err(_) => Ok(None),
    }
}

/// Answers whether the server is ready: one cluster at least answers.
fn ready(places: &Places) -> Response {
    let clusters: Map<String, Value> = (places.clusters.iter())
        .map(|cluster| (cluster.name.clone(), cluster.is_up().into()))
        .collect();
    match places.clusters.iter().any(ServedCluster::is_up) {
        true => {
            let ready = json!({ "ready": true, "writes": true, "clusters": clusters });
            Json(ready).into_response()
        }
        false => places::cluster_down("no cluster answers".to_owned()).into_response(),
    }
}
