//! Flows and instances to measure, in a throw-away database, and one measurement of a host over them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value as Json, json};
use wedflow_model::FlowDefinition;
use wedflow_worker::{Guests, Host, HostSettings};

use crate::database::Database;
use crate::processors::{ProcessorTime, postmaster_of};

/// Minimum time that a host runs before it is measured.
const WARM_UP: Duration = Duration::from_millis(700);
/// Warm-up for each flow, which is loaded once.
const WARM_UP_PER_FLOW: Duration = Duration::from_millis(5);
/// Warm-up for each tenant, whose component is compiled once.
const WARM_UP_PER_TENANT: Duration = Duration::from_millis(100);
/// Instances that one statement starts.
pub(crate) const START_CHUNK: usize = 10_000;
/// Trace rows that the time between commits is taken from.
const GAP_ROWS: i64 = 50_000;

/// A ring of ten steps over ten attributes, as often as asked.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    /// Triggers of each flow; ten of them are the ring's, the others never hold.
    pub(crate) triggers: usize,
    /// Instances of each flow.
    pub(crate) instances: usize,
    pub(crate) flows: usize,
    /// Tenants that the flows are spread over.
    pub(crate) tenants: usize,
    /// Bytes of an attribute that no step reads or writes.
    pub(crate) ballast: usize,
    /// Trace rows that the instances have at the start.
    pub(crate) history: usize,
    /// Transition of the component `bench`.
    pub(crate) transition: &'static str,
    /// Step at which an instance is final; without it, instances go round for ever.
    pub(crate) last: Option<usize>,
    pub(crate) reserves: Reserves,
}

/// Reservations of the ring's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reserves {
    Nothing,
    /// A key of its instance, by one step of ten.
    OneOfTen,
    /// The same key of its instance, by each step.
    EachTheSame,
    /// Another key of its instance, by each step.
    EachAnother,
    /// Every step of every instance reserves the same key.
    OneForAll,
}

impl Reserves {
    /// Returns the expression of step `n`, where it reserves.
    fn expression(self, n: usize) -> Option<&'static str> {
        match self {
            Reserves::OneOfTen if n == 0 => Some("street"),
            Reserves::EachTheSame => Some("street"),
            Reserves::EachAnother => Some("street || step"),
            Reserves::OneForAll => Some("'machine'"),
            Reserves::Nothing | Reserves::OneOfTen => None,
        }
    }
}

impl Default for Scenario {
    fn default() -> Self {
        Scenario {
            triggers: 10,
            instances: 1_000,
            flows: 1,
            tenants: 1,
            ballast: 0,
            history: 0,
            transition: "advance",
            last: None,
            reserves: Reserves::Nothing,
        }
    }
}

/// Result of one measurement.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measured {
    pub(crate) per_s: f64,
    pub(crate) host_us: Option<f64>,
    pub(crate) server_us: Option<f64>,
    pub(crate) p50_us: Option<f64>,
    pub(crate) p99_us: Option<f64>,
}

/// Scenario whose database is filled.
pub(crate) struct Ready {
    pub(crate) database: Database,
    /// URL of its first flow's role.
    pub(crate) flow_url: String,
    warm_up: Duration,
}

impl Scenario {
    /// Creates the database, the flows and the instances.
    pub(crate) async fn prepare(&self, url: &str) -> Result<Ready> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wed_bench_{}_{number}", std::process::id());
        let database = Database::create(url, &name).await?;
        match self.fill(&database).await {
            Ok(flow_url) => Ok(Ready {
                database,
                flow_url,
                warm_up: WARM_UP
                    + WARM_UP_PER_FLOW * u32::try_from(self.flows)?
                    + WARM_UP_PER_TENANT * u32::try_from(self.tenants)?,
            }),
            Err(error) => {
                database.drop().await?;
                Err(error)
            }
        }
    }

    async fn fill(&self, database: &Database) -> Result<String> {
        let path = component()?;
        let bytes = std::fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let store = &database.store;
        let mut flow_url = None;
        for tenant in 0..self.tenants {
            let tenant_name = format!("tenant-{tenant}");
            database.ensure_tenant(&tenant_name).await?;
            wedflow_worker::upload(store, &tenant_name, "bench", &bytes)
                .await
                .context("the component bench is refused")?;
            for number in (tenant..self.flows).step_by(self.tenants) {
                let definition = self.definition(number)?;
                store.apply(&tenant_name, &definition).await?;
                let flow = store.flow(&tenant_name, &definition.name).await?;
                self.start(database, &flow, self.instances).await?;
                if flow_url.is_none() {
                    flow_url = Some(store.flow_url(&tenant_name, &definition.name).await?);
                }
            }
        }
        database.lengthen_trace(self.history).await?;
        database.vacuum().await?;
        Ok(flow_url.unwrap_or_default())
    }

    /// Starts `count` instances, spread over the ring.
    pub(crate) async fn start(&self, database: &Database, flow: &wedflow_store::Flow, count: usize) -> Result<()> {
        for begin in (0..count).step_by(START_CHUNK) {
            let states: Vec<_> = (begin..count.min(begin + START_CHUNK)).map(|n| self.state(n)).collect();
            database.start_instances(flow, &states).await?;
        }
        Ok(())
    }

    /// Returns the state that instance `n` begins with.
    pub(crate) fn state(&self, n: usize) -> Map<String, Json> {
        let mut state = Map::new();
        state.insert("step".into(), json!(n % 10));
        if self.reserves != Reserves::Nothing {
            state.insert("street".into(), json!(format!("Rue Monge {n}")));
        }
        if self.ballast > 0 {
            state.insert("ballast".into(), incompressible(self.ballast, n).into());
        }
        state
    }

    /// Returns the definition of flow `number`.
    pub(crate) fn definition(&self, number: usize) -> Result<FlowDefinition> {
        let attribute = |(name, kind, default): (&str, &str, Option<&str>)| match default {
            Some(default) => json!({ "name": name, "type": kind, "default": default }),
            None => json!({ "name": name, "type": kind }),
        };
        let mut attributes: Vec<Json> = ATTRIBUTES.into_iter().map(attribute).collect();
        if self.ballast > 0 {
            attributes.push(attribute(("ballast", "text", None)));
        }
        let trigger = |n: usize| {
            let when = match n {
                0..10 => format!("step = {n}"),
                _ => format!("city = 'Nowhere {n}' and quantity > {n}"),
            };
            let mut trigger = json!({
                "name": format!("t{n}"), "transition": self.transition, "when": when, "timeout": "10 s",
            });
            if let Some(expression) = self.reserves.expression(n) {
                trigger["reserves"] = json!(expression);
            }
            trigger
        };
        let definition = json!({
            "name": format!("ring-{number}"),
            "final": format!("step = {}", self.last.unwrap_or(100)),
            "attribute": attributes,
            "trigger": (0..self.triggers).map(trigger).collect::<Vec<_>>(),
            "transition": { self.transition: { "component": "bench" } },
        });
        serde_json::from_value(definition).context("the definition of the benchmark's flow")
    }
}

/// Attributes of every flow: name, type, default. The component reads them all.
const ATTRIBUTES: [(&str, &str, Option<&str>); 10] = [
    ("step", "integer", Some("0")),
    ("note", "text", None),
    ("customer", "text", Some("ann")),
    ("product", "text", Some("tea")),
    ("quantity", "integer", Some("3")),
    ("price", "text", Some("12.50")),
    ("paid", "boolean", Some("false")),
    ("city", "text", Some("Paris")),
    ("street", "text", Some("Rue Monge 12")),
    ("remark", "text", None),
];

/// Makes a text that Postgres cannot compress to a part of its size.
fn incompressible(bytes: usize, seed: usize) -> String {
    let mut seed = seed as u64 | 1;
    let text: String = (0..bytes)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'0' + ((seed >> 33) % 64) as u8)
        })
        .collect();
    text.replace('\\', "/")
}

impl Ready {
    /// Runs a host for `seconds` after the warm-up.
    pub(crate) async fn measure(&self, seconds: u64) -> Result<Measured> {
        let host = self.host().await?;
        tokio::time::sleep(self.warm_up).await;
        let server = self.server().await?;
        let since = self.database.now().await?;
        let (count, used, at) = (host.committed(), ProcessorTime::now(server), Instant::now());
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let (done, used, took) = (host.committed() - count, used.elapsed(server), at.elapsed());
        host.stop().await;
        let done = done as f64;
        let (p50, p99) = self.database.commit_gaps(GAP_ROWS, since).await?;
        Ok(Measured {
            per_s: done / took.as_secs_f64(),
            host_us: used.host.map(|us| us / done.max(1.0)),
            server_us: used.server.map(|us| us / done.max(1.0)),
            p50_us: Some(p50),
            p99_us: Some(p99),
        })
    }

    /// Returns the process that all of the server's are children of, where it runs on this machine.
    pub(crate) async fn server(&self) -> Result<Option<u32>> {
        Ok(postmaster_of(self.database.backend_process().await?))
    }

    /// Starts a host on the database.
    pub(crate) async fn host(&self) -> Result<Host> {
        let settings = HostSettings { name: "bench".into(), ..HostSettings::default() };
        let guests = match std::env::var("WEDFLOW_GUESTS").as_deref() {
            Ok("processes") => Guests::Processes { per_tenant: settings.lanes },
            _ => settings.guests,
        };
        let settings = HostSettings { guests, ..settings };
        Host::start(self.database.store.clone(), settings).await.context("the host could not be started")
    }

    /// Drops the database.
    pub(crate) async fn remove(self) {
        if let Err(error) = self.database.drop().await {
            tracing::warn!(%error, "a benchmark's database was not dropped");
        }
    }
}

/// Finds the component `bench` in sample-transitions, above the working folder or the program.
fn component() -> Result<PathBuf> {
    const BUILT: &str = "sample-transitions/target/wasm32-wasip2/release/bench.wasm";
    let starts = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let found = starts.into_iter().flatten().find_map(|start| {
        let mut paths = start.ancestors().map(|folder| folder.join(BUILT));
        paths.find(|path| path.is_file())
    });
    match found {
        Some(path) => Ok(path),
        None => bail!("{BUILT} is not built; `make samples` builds it"),
    }
}
