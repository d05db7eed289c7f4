//! Figures of the whole installation for Prometheus, on a listener of their own: they name all tenants.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Metric as Registered, Registry, Unit};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use wedflow_store::{Metric, Store};
use wedflow_worker::Measures;

use crate::figures::{FIGURES, Figure, Origin};

/// Maximum time for the database to answer with the figures.
const ANSWER_MAX: Duration = Duration::from_secs(8);

#[derive(Clone)]
struct Figures {
    store: Store,
    measures: Measures,
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
        measures: Measures,
    ) -> std::io::Result<Self> {
        MetricsServer::serve(store, TcpListener::bind(listen).await?, measures)
    }

    /// Begins to serve `/metrics` where somebody listens already.
    ///
    /// # Errors
    /// When the listener has no address.
    pub fn serve(
        store: &Store,
        listener: TcpListener,
        measures: Measures,
    ) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let figures = Figures {
            store: store.for_status(),
            measures,
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
    match written(up, &rows, &figures.measures) {
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

/// Labels of a series, and its value.
type Sample = (Vec<(&'static str, String)>, f64);

/// Figure of the database: samples as they were read.
#[derive(Debug)]
struct Samples(Vec<Sample>);

impl EncodeMetric for Samples {
    fn encode(&self, mut encoder: MetricEncoder) -> Result<(), std::fmt::Error> {
        for (labels, value) in &self.0 {
            match labels.is_empty() {
                true => encoder.encode_gauge(value)?,
                false => encoder.encode_family(labels)?.encode_gauge(value)?,
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }
}

fn written(up: i64, rows: &[Metric], measures: &Measures) -> Result<String, std::fmt::Error> {
    let database = Gauge::<i64>::default();
    database.set(up);
    let mut registry = Registry::with_prefix("wedflow");
    for figure in FIGURES {
        let to = &mut registry;
        match (figure.origin, figure.name) {
            (Origin::Database(row), _) => register(to, figure, samples(figure, row, rows)),
            (Origin::Host, "transitions_committed") => {
                register(to, figure, measures.committed.clone());
            }
            (Origin::Host, "attempts") => register(to, figure, measures.attempts.clone()),
            (Origin::Host, "attempt_duration") => {
                register(to, figure, measures.attempt_duration.clone());
            }
            (Origin::Host, "attempt_fuel") => register(to, figure, measures.fuel.clone()),
            (Origin::Host, "commit_duration") => {
                register(to, figure, measures.commit_duration.clone());
            }
            (Origin::Host, "commit_batch_results") => register(to, figure, measures.batch.clone()),
            (Origin::Host, _) => register(to, figure, database.clone()),
        }
    }
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

fn register(registry: &mut Registry, figure: &Figure, metric: impl Registered) {
    let unit = match figure.unit {
        "" => return registry.register(figure.name, figure.help, metric),
        "seconds" => Unit::Seconds,
        "bytes" => Unit::Bytes,
        other => Unit::Other(other.to_owned()),
    };
    registry.register_with_unit(figure.name, figure.help, unit, metric);
}

/// The rows of a figure, with its labels.
fn samples(figure: &Figure, row: &str, rows: &[Metric]) -> Samples {
    let of_figure = rows.iter().filter(|one| one.name == row);
    let samples = of_figure.map(|one| {
        let labels = figure.labels.iter().map(|label| {
            let value = match *label {
                "tenant" => &one.tenant,
                _ => &one.label,
            };
            (*label, value.clone().unwrap_or_default())
        });
        (labels.collect(), one.value)
    });
    Samples(samples.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_with_their_labels_and_units() {
        let row = |name: &str, tenant: &str, label: &str, value| Metric {
            name: name.to_owned(),
            tenant: Some(tenant.to_owned()).filter(|one| !one.is_empty()),
            label: Some(label.to_owned()).filter(|one| !one.is_empty()),
            value,
        };
        let rows = [
            row("exceptions", "acme", "orders", 3.0),
            row("jobs", "", "ready", 2.0),
            row("queue_age", "", "", 5.0),
        ];
        let measures = Measures::default();
        measures.committed.inc_by(7);
        let text = written(1, &rows, &measures).expect("written");
        for line in [
            "wedflow_exceptions{tenant=\"acme\",flow=\"orders\"} 3.0",
            "wedflow_jobs{state=\"ready\"} 2.0",
            "wedflow_queue_age_seconds 5.0",
            "# UNIT wedflow_queue_age_seconds seconds",
            "wedflow_transitions_committed_total 7",
            "wedflow_commit_duration_seconds_bucket{le=\"+Inf\"} 0",
            "wedflow_database_up 1",
            "# EOF",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert!(!text.contains("of=\""), "{text}");
    }
}
