//! Figures of the whole installation for Prometheus, on a listener of their own: they name all tenants.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use wedflow_store::{Metric, Store};

/// Maximum time for the database to answer with the figures.
const ANSWER_MAX: Duration = Duration::from_secs(8);

/// Labels of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    tenant: String,
    of: String,
}

/// Each kind of figure: its name in the database, its own, its help.
const KINDS: [(&str, &str, &str); 10] = [
    (
        "lock_wait_seconds",
        "wedflow_lock_wait_seconds",
        "Longest wait for a lock, by the session that holds it",
    ),
    ("hosts", "wedflow_hosts", "Hosts whose leases hold"),
    (
        "jobs",
        "wedflow_jobs",
        "Pending jobs by what becomes of them",
    ),
    (
        "queue_age_seconds",
        "wedflow_queue_age_seconds",
        "Time since the oldest job that could run is due",
    ),
    (
        "exceptions",
        "wedflow_exceptions",
        "Instances that are exceptions, by flow",
    ),
    (
        "outbox_messages",
        "wedflow_outbox_messages",
        "Announcements that are still to be delivered",
    ),
    ("usage", "wedflow_usage", "What tenants use, by limit"),
    (
        "circuits_open",
        "wedflow_circuits_open",
        "Circuit breakers that hosts hold open",
    ),
    (
        "problems",
        "wedflow_problems",
        "Problems of the installation, by code",
    ),
    (
        "database_bytes",
        "wedflow_database_bytes",
        "Size of the database",
    ),
];

/// Counts the transitions that this process has committed.
pub type Committed = Arc<dyn Fn() -> u64 + Send + Sync>;

#[derive(Clone)]
struct Figures {
    store: Store,
    committed: Committed,
}

/// The listener for monitoring, as long as it is not stopped.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl MetricsServer {
    /// Listens at an address and begins to serve `/metrics`, over one connection to the database.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub async fn start(
        store: &Store,
        listen: SocketAddr,
        committed: Committed,
    ) -> std::io::Result<Self> {
        MetricsServer::serve(store, TcpListener::bind(listen).await?, committed)
    }

    /// Begins to serve `/metrics` where somebody listens already.
    ///
    /// # Errors
    /// When the listener has no address.
    pub fn serve(
        store: &Store,
        listener: TcpListener,
        committed: Committed,
    ) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let figures = Figures {
            store: store.for_status(),
            committed,
        };
        let service = Router::new()
            .route("/metrics", get(metrics))
            .with_state(figures);
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, service).await {
                tracing::error!(
                    %error,
                    "figures are served no more; start the host anew, or its --metrics at another address"
                );
            }
        });
        Ok(MetricsServer { address, task })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves no more.
    pub fn stop(self) {
        self.task.abort();
    }
}

async fn metrics(State(figures): State<Figures>) -> Response {
    let asked = tokio::time::timeout(ANSWER_MAX, figures.store.metrics()).await;
    // What this process knows is reported whether the database answers or not.
    let (up, rows) = match asked {
        Ok(Ok(rows)) => (1, rows),
        Ok(Err(error)) => {
            tracing::warn!(
                %error,
                "the database does not tell its figures; it is tried again, and `wed status` tells how the database \
                 is"
            );
            (0, Vec::new())
        }
        Err(_) => (0, Vec::new()),
    };
    match written(up, &rows, (figures.committed)()) {
        Ok(text) => (
            [(
                header::CONTENT_TYPE,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            )],
            text,
        )
            .into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn written(up: i64, rows: &[Metric], committed: u64) -> Result<String, std::fmt::Error> {
    let mut registry = Registry::default();
    let database = Gauge::<i64>::default();
    database.set(up);
    registry.register(
        "wedflow_database_up",
        "Whether the database answers",
        database,
    );
    registry.register(
        "wedflow_transitions_committed",
        "Transitions that this host has committed since it started",
        ConstCounter::new(committed),
    );
    for (name, own, help) in KINDS {
        let family = Family::<Labels, Gauge<f64, std::sync::atomic::AtomicU64>>::default();
        for row in rows.iter().filter(|row| row.name == name) {
            let labels = Labels {
                tenant: row.tenant.clone().unwrap_or_default(),
                of: row.label.clone().unwrap_or_default(),
            };
            family.get_or_create(&labels).set(row.value);
        }
        registry.register(own, help, family);
    }
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_with_their_labels() {
        let rows = [Metric {
            name: "exceptions".to_owned(),
            tenant: Some("acme".to_owned()),
            label: Some("orders".to_owned()),
            value: 3.0,
        }];
        let text = written(1, &rows, 7).expect("written");
        for line in [
            "wedflow_exceptions{tenant=\"acme\",of=\"orders\"} 3.0",
            "wedflow_transitions_committed_total 7",
            "wedflow_database_up 1",
            "# EOF",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
