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
use futures::future::join_all;
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
pub use places::ServedDatabase;
use places::{HEALTH_PAUSE, Places, ServedCluster};

/// Beginning of the paths of inbound hooks.
const HOOKS: &str = "/v1/hooks/";

/// The service over several clusters.
#[derive(Clone)]
pub(crate) struct Placed {
    /// The service.
    pub(crate) router: Router,
    places: Arc<Places>,
}

impl Placed {
    /// Makes the service over clusters; it has none yet.
    pub(crate) fn new(directory: &Directory) -> Self {
        let places = Arc::new(Places::new(directory.clone()));
        let router = Router::new()
            .fallback(answer)
            .layer(tower_http::catch_panic::CatchPanicLayer::custom(routes::panicked))
            .layer(middleware::from_fn(routes::numbered))
            .with_state(Arc::clone(&places));
        Placed { router, places }
    }

    /// Serves these clusters from now on. One that was served before keeps its API; a new one gets its own, and is
    /// looked at once. Requests under way at one that is served no more end there.
    pub(crate) async fn serve(
        &self,
        clusters: &[Arc<ServedDatabase>],
        make_api: &(impl Fn(&ServedDatabase) -> Api + Sync),
    ) {
        let before = self.places.clusters();
        let clusters = clusters.iter().map(|of| {
            let known = before.iter().find(|known| Arc::ptr_eq(&known.of, of));
            known.cloned().unwrap_or_else(|| {
                let mut api = make_api(of);
                api.directory = Some(self.places.directory.clone());
                Arc::new(ServedCluster {
                    name: of.name.clone(),
                    of: Arc::clone(of),
                    store: api.store.clone(),
                    tokens: api.tokens.clone(),
                    health: api.health.clone(),
                    router: routes::service(api),
                    is_up: true.into(),
                })
            })
        });
        let clusters: Arc<[_]> = clusters.collect();
        join_all(clusters.iter().map(|cluster| cluster.look())).await;
        self.places.serve(clusters);
    }

    /// Returns the databases that requests are answered over.
    pub(crate) fn stores(&self) -> Vec<Store> {
        let clusters = self.places.clusters();
        clusters.iter().map(|one| one.store.clone()).collect()
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
    let served = places.clusters();
    let clusters: Map<String, Value> =
        (served.iter()).map(|cluster| (cluster.name.clone(), cluster.is_up().into())).collect();
    match served.iter().any(|cluster| cluster.is_up()) {
        true => {
            let ready = json!({ "ready": true, "writes": true, "clusters": clusters });
            Json(ready).into_response()
        }
        false => places::cluster_down("no cluster answers".to_owned()).into_response(),
    }
}
