//! Connections: how many, how slow they may be, and how they end.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use wedflow_store::Store;
use wedflow_worker::FindSecretKey;

use crate::application::RunApplication;
use crate::routes;
use crate::sending::Patient;
use crate::state::{Api, Stores, Times};

/// Time between two removals of old idempotency keys.
const FORGET: Duration = Duration::from_secs(600);
/// Pause after the system refused a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Connections to the database over which tokens are looked up.
const TOKEN_CONNECTIONS: u32 = 2;
/// Maximum duration of that question.
const TOKEN_QUESTION: Duration = Duration::from_secs(5);

/// Settings of the API's server.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Connections at the same instant; more wait to be taken.
    pub connections: usize,
    /// Connections of one address at the same instant; more are closed at once.
    pub address_connections: usize,
    /// Connections to the database for what is asked; a tenant has at most half of them in use. Tokens and
    /// health are looked after over others.
    pub database_connections: u32,
    /// Maximum wait of a request's statement for a lock.
    pub lock: Duration,
    /// Maximum duration of a request, except uploads and watching, and of any statement.
    pub request: Duration,
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
    /// Runs the component of a person's item; none: this server runs none.
    pub run_application: Option<RunApplication>,
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
            database_connections: 8,
            lock: Duration::from_secs(1),
            request: Duration::from_secs(20),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(10),
            taking: Duration::from_secs(30),
            upload: Duration::from_secs(120),
            watching: Duration::from_secs(600),
            grace: Duration::from_secs(3),
            find_secret_key: None,
            run_application: None,
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
        let address = listener.local_addr()?;
        let bounded = |connections, most| store.bounded(connections, most, settings.lock);
        let stores = Stores {
            store: bounded(settings.database_connections, settings.request),
            connections: settings.database_connections,
            tokens: bounded(TOKEN_CONNECTIONS, TOKEN_QUESTION),
            health: bounded(1, TOKEN_QUESTION),
        };
        let times = Times {
            request: settings.request,
            idle: settings.idle,
            upload: settings.upload,
            watching: settings.watching,
        };
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(serve(
            listener,
            Api::new(
                stores,
                times,
                (settings.find_secret_key, settings.run_application),
            ),
            settings.clone(),
            stopped,
        ));
        Ok(Server {
            address,
            grace: settings.grace,
            stop,
            task,
        })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets requests that are under way finish for the grace period.
    pub async fn stop(self) {
        let Server {
            grace, stop, task, ..
        } = self;
        // It listens as long as it runs.
        let _ = stop.send(());
        let ending = task.abort_handle();
        if tokio::time::timeout(grace, task).await.is_err() {
            ending.abort();
        }
    }
}

async fn serve(
    listener: TcpListener,
    api: Api,
    settings: ServerSettings,
    mut stopped: oneshot::Receiver<()>,
) {
    let forgetting = tokio::spawn(forget(api.store.clone()));
    let service = routes::service(api);
    let service = match &settings.pages {
        Some(MakePages(make)) => make(service.clone()).fallback_service(service),
        None => service,
    };
    let service = TowerToHyperService::new(service);
    let places = Arc::new(Semaphore::new(settings.connections));
    let addresses = Addresses::default();
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            _ = &mut stopped => break,
        };
        let Some((stream, address, place)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Some(share) = addresses.take(address, settings.address_connections) else {
            continue;
        };
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(settings.head)
            .max_buf_size(64 << 10)
            .serve_connection(
                TokioIo::new(Patient::new(stream, settings.taking)),
                service.clone(),
            );
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that went away, or was too slow, is no failure of ours.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
            drop((place, share));
        });
    }
    drop(listener);
    graceful.shutdown().await;
    forgetting.abort();
}

/// Number of connections of each address.
#[derive(Debug, Clone, Default)]
struct Addresses(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// Connection of an address, until dropped.
struct Share(Addresses, IpAddr);

impl Addresses {
    /// Counts a connection; none if the address has its maximum.
    fn take(&self, address: IpAddr, most: usize) -> Option<Share> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Share(self.clone(), address))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let Share(Addresses(counts), address) = self;
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(address);
            }
        }
    }
}

/// The next connection, when there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(
    tokio::net::TcpStream,
    IpAddr,
    tokio::sync::OwnedSemaphorePermit,
)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, from)) => {
            // Answers are small and whole.
            let _ = stream.set_nodelay(true);
            Some((stream, from.ip(), place))
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

async fn forget(store: Store) {
    loop {
        tokio::time::sleep(FORGET).await;
        if let Err(error) = store.forget_answers().await {
            tracing::warn!(
                %error,
                "old idempotency keys could not be forgotten; it is tried again, and `wed status` tells how the \
                 database is"
            );
        }
    }
}
