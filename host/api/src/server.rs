//! Connections: how many, how slow they may be, and how they end.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use ipnet::IpNet;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tower::ServiceExt;
use wedflow_store::{Directory, Store};
use wedflow_telemetry::Tracer;
use wedflow_worker::FindSecretKey;

use crate::application::Bench;
use crate::connections::{ClientAddress, Connection, Connections, Narrow, Proxies, grouped};
use crate::placement::{Placed, ServedDatabase};
use crate::routes;
use crate::sending::Patient;
use crate::state::{Api, DEFINITION_CONNECTIONS, ReplicaSettings, Stores, TOKEN_CONNECTIONS, Times};

/// Time between two removals of old idempotency keys.
const FORGET: Duration = Duration::from_secs(600);
/// Pause after the system refused a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Maximum duration of that question.
const TOKEN_QUESTION: Duration = Duration::from_secs(5);

/// Settings of the API's server.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Connections at the same instant; more take the place of idle ones, or wait to be taken.
    pub connections: usize,
    /// Connections of one address, or of one IPv6 network of 64 bits; some more are served for health alone.
    pub address_connections: usize,
    /// Proxies: their connections have no share, and their header `X-Forwarded-For` names the client.
    pub proxies: Vec<IpNet>,
    /// Connections to the database for what is asked; a tenant has at most half of them in use. Tokens and
    /// health are looked after over others.
    pub database_connections: u32,
    /// A replica that lists, traces and searches are read from; none: the database itself.
    pub replica: Option<ReplicaSettings>,
    /// Maximum wait of a request's statement for a lock.
    pub lock: Duration,
    /// Maximum duration of a request, except definitions, uploads and watching, and of any statement.
    pub request: Duration,
    /// Maximum duration of a request that applies or previews a definition.
    pub definition: Duration,
    /// Maximum time for the first byte of a connection.
    pub first_byte: Duration,
    /// Maximum time for the head of a request.
    pub head: Duration,
    /// Maximum time for the next bytes of a body.
    pub idle: Duration,
    /// Maximum time for which a client takes no byte of an answer.
    pub taking: Duration,
    /// Time that a client may take for the whole of an upload.
    pub upload: Duration,
    /// Maximum duration of a stream of events; its client asks again.
    pub watching: Duration,
    /// Time that requests in flight may take after [`Server::stop`] was called.
    pub grace: Duration,
    /// Finds the key under which secrets are stored; none: secrets are not stored over HTTP.
    pub find_secret_key: Option<FindSecretKey>,
    /// Runs components for people; none: this server runs none.
    pub bench: Option<Bench>,
    /// Door to the collector of spans; none: no spans are made.
    pub tracer: Option<Tracer>,
    /// Makes pages for people of the API's service, which they ask in this process; none: no pages.
    pub pages: Option<MakePages>,
}

/// Makes pages of the API's service. What they have no page for is the API's.
#[derive(Clone)]
pub struct MakePages(pub Arc<dyn Fn(Router) -> Router + Send + Sync>);

impl std::fmt::Debug for MakePages {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("MakePages")
    }
}

impl ServerSettings {
    /// The usual ones.
    pub fn at(listen: SocketAddr) -> Self {
        ServerSettings {
            listen,
            connections: 1_024,
            address_connections: 256,
            proxies: vec![
                IpNet::new_assert(IpAddr::V4(Ipv4Addr::LOCALHOST), 8),
                IpNet::new_assert(IpAddr::V6(Ipv6Addr::LOCALHOST), 128),
            ],
            database_connections: 8,
            replica: None,
            lock: Duration::from_secs(1),
            request: Duration::from_secs(20),
            definition: Duration::from_secs(60),
            first_byte: Duration::from_secs(2),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(10),
            taking: Duration::from_secs(30),
            upload: Duration::from_secs(120),
            watching: Duration::from_secs(600),
            grace: Duration::from_secs(3),
            find_secret_key: None,
            bench: None,
            tracer: None,
            pages: None,
        }
    }
}

/// The API, being served.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    grace: Duration,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Server {
    /// Begins to serve, over connections to the database of its own.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub async fn start(store: &Store, settings: &ServerSettings) -> std::io::Result<Server> {
        let listener = TcpListener::bind(settings.listen).await?;
        let api = api_of(store, settings);
        let own = vec![api.store.clone()];
        let forgetting = tokio::spawn(forget(move || own.clone()));
        Server::over(listener, routes::service(api), vec![forgetting], settings)
    }

    /// Begins to serve several clusters at one address, those that `served` names at any time: each request at the
    /// cluster that its tenant is on. A cluster that does not answer keeps none of the others away. Each cluster has a
    /// replica and a collector of spans of its own, whatever the settings say.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub async fn start_placed(
        directory: &Directory,
        mut served: watch::Receiver<Vec<Arc<ServedDatabase>>>,
        settings: &ServerSettings,
    ) -> std::io::Result<Server> {
        let listener = TcpListener::bind(settings.listen).await?;
        let make_api = {
            let settings = settings.clone();
            move |cluster: &ServedDatabase| {
                let settings = ServerSettings {
                    replica: cluster.replica.clone(),
                    tracer: cluster.tracer.clone(),
                    ..settings.clone()
                };
                api_of(&cluster.store, &settings)
            }
        };
        let placed = Placed::new(directory);
        let now = served.borrow_and_update().clone();
        placed.serve(&now, &make_api).await;
        let (stores, following) = (placed.clone(), placed.clone());
        let follow = async move {
            while served.changed().await.is_ok() {
                let now = served.borrow_and_update().clone();
                following.serve(&now, &make_api).await;
            }
        };
        let forgetting = forget(move || stores.stores());
        let tasks = vec![tokio::spawn(forgetting), tokio::spawn(follow), placed.watch()];
        Server::over(listener, placed.router, tasks, settings)
    }

    /// Serves a service. The tasks end with it.
    fn over(
        listener: TcpListener,
        service: Router,
        tasks: Vec<JoinHandle<()>>,
        settings: &ServerSettings,
    ) -> std::io::Result<Server> {
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let (grace, settings) = (settings.grace, settings.clone());
        let task = tokio::spawn(async move {
            serve(listener, service, settings, stopped).await;
            for task in tasks {
                task.abort();
            }
        });
        Ok(Server { address, grace, stop, task })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets requests that are under way finish for the grace period.
    pub async fn stop(self) {
        let Server { grace, stop, task, .. } = self;
        // It listens as long as it runs.
        let _ = stop.send(());
        let ending = task.abort_handle();
        if tokio::time::timeout(grace, task).await.is_err() {
            ending.abort();
        }
    }
}

/// Makes the state of the API over a database, with connections of its own.
fn api_of(store: &Store, settings: &ServerSettings) -> Api {
    let bounded = |connections, most| store.bounded(connections, most, settings.lock);
    let stores = Stores {
        store: bounded(settings.database_connections, settings.request),
        connections: settings.database_connections,
        definitions: bounded(DEFINITION_CONNECTIONS, settings.definition),
        tokens: bounded(TOKEN_CONNECTIONS, TOKEN_QUESTION),
        health: bounded(1, TOKEN_QUESTION),
        replica: settings.replica.clone(),
    };
    let times = Times {
        request: settings.request,
        definition: settings.definition,
        idle: settings.idle,
        upload: settings.upload,
        watching: settings.watching,
    };
    let given = (settings.find_secret_key, settings.bench);
    let mut api = Api::new(stores, times, given);
    api.tracer = settings.tracer.clone();
    api
}

async fn serve(listener: TcpListener, service: Router, settings: ServerSettings, mut stopped: oneshot::Receiver<()>) {
    let router = match &settings.pages {
        Some(MakePages(make)) => make(service.clone()).fallback_service(service),
        None => service,
    };
    let proxies = Proxies(settings.proxies.clone().into());
    let connections = Connections::new(settings.connections, settings.address_connections);
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            _ = &mut stopped => break,
        };
        let Some((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let share = (!proxies.has(peer)).then(|| grouped(peer));
        let Some(connection) = connections.take(share).map(Arc::new) else {
            continue;
        };
        let end = Arc::clone(&connection.end);
        let service = Served { router: router.clone(), proxies: proxies.clone(), peer, connection };
        let served = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(settings.head)
            .max_buf_size(64 << 10)
            .serve_connection(
                TokioIo::new(Patient::new(stream, settings.first_byte, settings.taking)),
                hyper::service::service_fn(move |request| service.clone().answer(request)),
            );
        let served = graceful.watch(served);
        tokio::spawn(async move {
            tokio::select! {
                // A client that went away, or was too slow, is no failure of ours.
                ended = served => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended");
                },
                () = end.notified() => tracing::debug!("an idle connection made room for another"),
            }
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// The service on one connection.
#[derive(Clone)]
struct Served {
    router: Router,
    proxies: Proxies,
    peer: IpAddr,
    connection: Arc<Connection>,
}

impl Served {
    /// Answers a request, marked with its client's address.
    async fn answer(self, request: Request<hyper::body::Incoming>) -> Result<Response<Body>, Infallible> {
        let busy = self.connection.busy();
        let mut request = request.map(Body::new);
        let client = self.proxies.client(self.peer, request.headers());
        let extensions = request.extensions_mut();
        extensions.insert(ClientAddress(grouped(client)));
        if self.connection.narrow {
            extensions.insert(Narrow);
        }
        let response = self.router.oneshot(request).await?;
        Ok(busy.until_sent(response))
    }
}

/// The next connection, when there is room for it.
async fn accept(listener: &TcpListener, connections: &Connections) -> Option<(TcpStream, IpAddr)> {
    connections.room().await;
    match listener.accept().await {
        Ok((stream, from)) => {
            // Answers are small and whole.
            let _ = stream.set_nodelay(true);
            Some((stream, from.ip()))
        }
        Err(error) => {
            tracing::warn!(
                %error,
                "no connection could be taken; raise this process's limit of open files if it is one"
            );
            None
        }
    }
}

async fn forget(stores: impl Fn() -> Vec<Store>) {
    loop {
        tokio::time::sleep(FORGET).await;
        for store in stores() {
            if let Err(error) = store.forget_answers().await {
                tracing::warn!(
                    %error,
                    "old idempotency keys could not be forgotten; it is tried again, and `wed status` tells how the \
                     database is"
                );
            }
        }
    }
}
