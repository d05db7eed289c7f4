//! Figures of the whole installation for Prometheus, on a listener of their own: they name all tenants.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::future::join_all;
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

/// Databases whose figures are served, with the measures of the hosts at them, by cluster. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Measured(Arc<Mutex<BTreeMap<String, Source>>>);

/// Source of figures.
#[derive(Debug, Clone)]
struct Source {
    store: Store,
    measures: Measures,
}

impl Measured {
    fn sources(&self) -> MutexGuard<'_, BTreeMap<String, Source>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a cluster, or replaces the measures of the host at it. The name "" is that of the only database, whose
    /// figures have no label `cluster`. Its figures are read over one connection.
    pub fn note(&self, cluster: &str, store: &Store, measures: Measures) {
        let mut sources = self.sources();
        let store = match sources.remove(cluster) {
            Some(known) => known.store,
            None => store.for_status(),
        };
        sources.insert(cluster.to_owned(), Source { store, measures });
    }

    /// Leaves a cluster out from now on.
    pub fn forget(&self, cluster: &str) {
        self.sources().remove(cluster);
    }
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
    pub async fn start(store: &Store, listen: SocketAddr, measures: Measures) -> std::io::Result<Self> {
        let measured = Measured::default();
        measured.note("", store, measures);
        MetricsServer::serve(TcpListener::bind(listen).await?, measured)
    }

    /// Begins to serve `/metrics` where somebody listens already.
    ///
    /// # Errors
    /// When the listener has no address.
    pub fn serve(listener: TcpListener, measured: Measured) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let service = Router::new().route("/metrics", get(metrics)).with_state(measured);
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

async fn metrics(State(measured): State<Measured>) -> Response {
    let sources = measured.sources().clone();
    let asked = sources.iter().map(|(cluster, source)| text_of(cluster, source));
    let texts: Result<Vec<String>, _> = join_all(asked).await.into_iter().collect();
    match texts {
        Ok(texts) => {
            ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], together(&texts))
                .into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Puts the figures of several clusters together: the description of each once, then the samples of all.
fn together(texts: &[String]) -> String {
    let mut figures: Vec<(String, String)> = Vec::new();
    for text in texts {
        let text = text.trim_end_matches("# EOF\n");
        for figure in text.split("# HELP ").skip(1) {
            let described = figure.find("\nwedflow_").map_or(figure.len(), |end| end + 1);
            let (description, samples) = figure.split_at(described);
            match figures.iter_mut().find(|known| known.0 == description) {
                Some(known) => known.1.push_str(samples),
                None => figures.push((description.to_owned(), samples.to_owned())),
            }
        }
    }
    let figures = figures.into_iter();
    let mut text: String = figures.map(|(description, samples)| format!("# HELP {description}{samples}")).collect();
    text.push_str("# EOF\n");
    text
}

/// Reads the figures of a cluster.
async fn text_of(cluster: &str, source: &Source) -> Result<String, std::fmt::Error> {
    let asked = tokio::time::timeout(ANSWER_MAX, source.store.metrics()).await;
    // What this process knows is reported whether the database answers or not.
    let (up, rows) = match asked {
        Ok(Ok(rows)) => (1, rows),
        Ok(Err(error)) => {
            tracing::warn!(
                %error,
                cluster,
                "the database does not tell its figures; it is tried again, and `wed status` tells how the database \
                 is"
            );
            (0, Vec::new())
        }
        Err(_) => (0, Vec::new()),
    };
    written(cluster, up, &rows, &source.measures)
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

fn written(cluster: &str, up: i64, rows: &[Metric], measures: &Measures) -> Result<String, std::fmt::Error> {
    let database = Gauge::<i64>::default();
    database.set(up);
    let label = (!cluster.is_empty()).then(|| ("cluster".into(), cluster.to_owned().into()));
    let mut registry = Registry::with_prefix_and_labels("wedflow", label.into_iter());
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
        let rows =
            [row("exceptions", "acme", "orders", 3.0), row("jobs", "", "ready", 2.0), row("queue_age", "", "", 5.0)];
        let measures = Measures::default();
        measures.committed.inc_by(7);
        let text = written("", 1, &rows, &measures).expect("written");
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

    #[test]
    fn figures_of_clusters_stand_below_one_description() {
        let measures = Measures::default();
        measures.committed.inc_by(7);
        let text = |cluster, up| written(cluster, up, &[], &measures).expect("written");
        assert_eq!(together(&[text("", 1)]), text("", 1));
        let both = together(&[text("one", 1), text("two", 0)]);
        for line in [
            "wedflow_transitions_committed_total{cluster=\"one\"} 7",
            "wedflow_transitions_committed_total{cluster=\"two\"} 7",
            "wedflow_database_up{cluster=\"one\"} 1\nwedflow_database_up{cluster=\"two\"} 0\n",
        ] {
            assert!(both.contains(line), "{line} in {both}");
        }
        assert_eq!(both.matches("# TYPE wedflow_database_up ").count(), 1);
        assert_eq!(both.matches("# EOF").count(), 1);
    }
}
