//! Connections: how many, how slow they may be, and how they end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use wedflow_store::Store;

use crate::routes;
use crate::state::{Api, Times};

/// How often keys of requests that were done once are forgotten.
const FORGET: Duration = Duration::from_secs(600);
/// How long to wait after the system would not take a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// How the API is served.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Where.
    pub listen: SocketAddr,
    /// Connections at the same instant; more wait to be taken.
    pub connections: usize,
    /// Connections to the database.
    pub database_connections: u32,
    /// How long a request may take, but for uploads and watching, and the longest statement of any.
    pub request: Duration,
    /// How long a client may take for the head of a request.
    pub head: Duration,
    /// How long a client may take for the next bytes of a body.
    pub idle: Duration,
    /// How long a client may take for the whole of an upload.
    pub upload: Duration,
    /// How long requests that are under way may go on after [`Server::stop`] was called.
    pub grace: Duration,
}

impl ServerSettings {
    /// The usual ones.
    pub fn at(listen: SocketAddr) -> Self {
        ServerSettings {
            listen,
            connections: 1_024,
            database_connections: 8,
            request: Duration::from_secs(20),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(10),
            upload: Duration::from_secs(120),
            grace: Duration::from_secs(3),
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
    /// When the address is not to be had.
    pub async fn start(store: &Store, settings: &ServerSettings) -> std::io::Result<Server> {
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let store = store.bounded(settings.database_connections, settings.request);
        let times = Times {
            request: settings.request,
            idle: settings.idle,
            upload: settings.upload,
        };
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(serve(
            listener,
            Api::new(store, times),
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

    /// Where it listens.
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
    let service = TowerToHyperService::new(routes::service(api));
    let places = Arc::new(Semaphore::new(settings.connections));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            _ = &mut stopped => break,
        };
        let Some((stream, place)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(settings.head)
            .max_buf_size(64 << 10)
            .serve_connection(TokioIo::new(stream), service.clone());
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that went away, or was too slow, is no failure of ours.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
            drop(place);
        });
    }
    drop(listener);
    graceful.shutdown().await;
    forgetting.abort();
}

/// The next connection, when there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Answers are small and whole.
            let _ = stream.set_nodelay(true);
            Some((stream, place))
        }
        Err(error) => {
            tracing::warn!(%error, "no connection could be taken");
            None
        }
    }
}

async fn forget(store: Store) {
    loop {
        tokio::time::sleep(FORGET).await;
        if let Err(error) = store.forget_answers().await {
            tracing::warn!(%error, "old idempotency keys could not be forgotten");
        }
    }
}
