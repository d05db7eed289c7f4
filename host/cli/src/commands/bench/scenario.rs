//! One flow (or many) to be measured: made in a database of its own, run by a host of its own.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json, json};
use wedflow_model::{AttributeDefinition, FlowDefinition, TransitionDefinition, TriggerDefinition};
use wedflow_store::Store;
use wedflow_worker::{Host, HostSettings};

use crate::problem::Problem;
use crate::samples;

/// How long a host runs at least before it is measured.
const WARM_UP: Duration = Duration::from_millis(700);
/// Instances started in one statement.
const CHUNK: usize = 10_000;
/// Trace rows that the gaps are taken from.
const NEWEST: i64 = 50_000;

/// What is measured.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    /// Triggers of each flow; ten of them are the ring's, the others never hold.
    pub(super) triggers: usize,
    /// Instances of each flow.
    pub(super) instances: usize,
    /// Flows.
    pub(super) flows: usize,
    /// Tenants that the flows are spread over.
    pub(super) tenants: usize,
    /// Bytes of an attribute that nobody reads or writes.
    pub(super) ballast: usize,
    /// Trace rows that the instances of the first flow have already.
    pub(super) history: usize,
    /// The sample component's transition.
    pub(super) transition: &'static str,
    /// The step at which an instance is final; without it, none ever is.
    pub(super) last: Option<usize>,
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
        }
    }
}

/// What a measurement found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measured {
    pub(super) per_s: f64,
    pub(super) host_us: Option<f64>,
    pub(super) server_us: Option<f64>,
    pub(super) p50_us: Option<f64>,
    pub(super) p99_us: Option<f64>,
}

/// A scenario whose database is made.
pub(super) struct Ready {
    pub(super) store: Store,
    /// The database's URL.
    pub(super) url: String,
    /// The URL of its first flow.
    pub(super) flow_url: String,
    /// How long a host runs before it is measured.
    warm_up: Duration,
}

impl Scenario {
    /// Makes the database, the flows and the instances.
    pub(super) async fn prepare(&self, url: &str) -> Result<Ready, Problem> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wed_bench_{}_{number}", std::process::id());
        let (store, url) =
            Store::scratch(url, &name, HostSettings::default().connections()).await?;
        match self.fill(&store).await {
            Ok(flow_url) => Ok(Ready {
                store,
                url,
                flow_url,
                // Each flow is loaded once, each tenant's component compiled once.
                warm_up: WARM_UP
                    + Duration::from_millis(5) * u32::try_from(self.flows).unwrap_or(0)
                    + Duration::from_millis(100) * u32::try_from(self.tenants).unwrap_or(0),
            }),
            Err(problem) => {
                store.drop_database().await?;
                Err(problem)
            }
        }
    }

    async fn fill(&self, store: &Store) -> Result<String, Problem> {
        let component = component()?;
        let bytes = std::fs::read(&component).map_err(|source| {
            Problem::new(format!("{} cannot be read", component.display())).because(source)
        })?;
        let mut flow_url = None;
        for tenant in 0..self.tenants {
            let tenant_name = format!("tenant-{tenant}");
            store.ensure_tenant(&tenant_name).await?;
            wedflow_worker::upload(store, &tenant_name, "bench", &bytes)
                .await
                .map_err(|error| Problem::new("the bench component is refused").because(error))?;
            for number in (tenant..self.flows).step_by(self.tenants) {
                let definition = self.definition(number);
                store.apply(&tenant_name, &definition).await?;
                let flow = store.flow(&tenant_name, &definition.name).await?;
                let mut left = self.instances;
                while left > 0 {
                    let chunk = left.min(CHUNK);
                    let states: Vec<Map<String, Json>> =
                        (0..chunk).map(|n| self.state(n)).collect();
                    store.start_instances(&flow, &states).await?;
                    left -= chunk;
                }
                if flow_url.is_none() {
                    flow_url = Some(store.flow_url(&tenant_name, &definition.name).await?);
                }
            }
        }
        store.lengthen_trace(self.history).await?;
        store.vacuum().await?;
        Ok(flow_url.unwrap_or_default())
    }

    /// The state that instance `n` begins with.
    pub(super) fn state(&self, n: usize) -> Map<String, Json> {
        let mut state = Map::new();
        state.insert("step".into(), json!(n % 10));
        if self.ballast > 0 {
            // Not to be compressed away.
            let mut seed = n as u64 | 1;
            let text: String = (0..self.ballast)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    char::from(b'0' + ((seed >> 33) % 64) as u8)
                })
                .collect();
            state.insert("ballast".into(), Json::from(text.replace('\\', "/")));
        }
        state
    }

    /// A ring of ten steps over ten attributes; the sample component reads them all.
    pub(super) fn definition(&self, number: usize) -> FlowDefinition {
        let attribute = |name: &str, kind: &str, default: Option<&str>| AttributeDefinition {
            name: name.to_owned(),
            kind: kind.parse().unwrap_or(wedflow_model::AttributeType {
                scalar: wedflow_model::ScalarType::Text,
                array: false,
            }),
            default: default.map(str::to_owned),
            open: false,
            number: None,
        };
        let mut attributes = vec![
            attribute("step", "integer", Some("0")),
            attribute("note", "text", None),
            attribute("customer", "text", Some("ann")),
            attribute("product", "text", Some("tea")),
            attribute("quantity", "integer", Some("3")),
            attribute("price", "text", Some("12.50")),
            attribute("paid", "boolean", Some("false")),
            attribute("city", "text", Some("Paris")),
            attribute("street", "text", Some("Rue Monge 12")),
            attribute("remark", "text", None),
        ];
        if self.ballast > 0 {
            attributes.push(attribute("ballast", "text", None));
        }
        let trigger = |name: String, when: String| TriggerDefinition {
            name,
            transition: self.transition.to_owned(),
            when,
            condition: None,
            timeout: Some("10 s".to_owned()),
            attempts: None,
            backoff: None,
            delay: None,
            priority: None,
            recheck: None,
            writes: None,
            compensation: None,
            deadline: None,
            work: None,
            reserves: None,
            quantity: None,
            resource: None,
            holds: None,
            consumes: false,
            after: None,
        };
        let triggers = (0..self.triggers)
            .map(|n| {
                let when = match n {
                    0..10 => format!("step = {n}"),
                    _ => format!("city = 'Nowhere {n}' and quantity > {n}"),
                };
                trigger(format!("t{n}"), when)
            })
            .collect();
        FlowDefinition {
            name: format!("ring-{number}"),
            description: String::new(),
            attributes,
            triggers,
            final_condition: Some(format!("step = {}", self.last.unwrap_or(100))),
            transitions: [(
                self.transition.to_owned(),
                TransitionDefinition {
                    component: "bench".to_owned(),
                    files: false,
                    http: Vec::new(),
                },
            )]
            .into(),
            order: None,
        }
    }
}

impl Ready {
    /// Runs a host over it for so many seconds.
    pub(super) async fn measure(&self, seconds: u64) -> Result<Measured, Problem> {
        let host = self.host().await?;
        tokio::time::sleep(self.warm_up).await;
        let server = self.server().await?;
        let (count, used, at) = (host.committed(), Processors::now(server), Instant::now());
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let (done, used, took) = (host.committed() - count, used.since(server), at.elapsed());
        host.stop().await;
        let done = done as f64;
        let (p50, p99) = self.store.commit_gaps(NEWEST).await?;
        Ok(Measured {
            per_s: done / took.as_secs_f64(),
            host_us: used.host.map(|us| us / done.max(1.0)),
            server_us: used.server.map(|us| us / done.max(1.0)),
            p50_us: Some(p50),
            p99_us: Some(p99),
        })
    }

    /// The process that all of the server's are children of, where it runs on this machine.
    pub(super) async fn server(&self) -> Result<Option<u32>, Problem> {
        let backend = self.store.backend_process().await?;
        let stat = std::fs::read_to_string(format!("/proc/{backend}/stat")).ok();
        Ok(stat.and_then(|stat| {
            let (head, tail) = stat.rsplit_once(')')?;
            let parent = tail.split_whitespace().nth(1)?.parse().ok()?;
            head.ends_with("(postgres").then_some(parent)
        }))
    }

    /// Starts a host on it.
    pub(super) async fn host(&self) -> Result<Host, Problem> {
        Host::start(
            self.store.clone(),
            HostSettings {
                name: "bench".into(),
                ..HostSettings::default()
            },
        )
        .await
        .map_err(|error| Problem::new("the host could not be started").because(error))
    }

    /// Removes the database.
    pub(super) async fn remove(self) {
        if let Err(error) = self.store.drop_database().await {
            tracing::warn!(%error, "a benchmark's database was not removed");
        }
    }
}

/// The bench component beside the samples.
fn component() -> Result<PathBuf, Problem> {
    let path = samples::folder(None)?.join("target/wasm32-wasip2/release/bench.wasm");
    if path.is_file() {
        return Ok(path);
    }
    Err(Problem::new(format!("{} is not built", path.display()))
        .exit(3)
        .hint("`make samples` builds the sample transitions."))
}

/// Processor time used so far, in microseconds, where /proc tells it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Processors {
    /// By this process.
    pub(super) host: Option<f64>,
    /// By the server's processes.
    pub(super) server: Option<f64>,
}

impl Processors {
    /// `server` is the process that all of the server's are children of; none when it is elsewhere.
    pub(super) fn now(server: Option<u32>) -> Self {
        let of = |stat: String| -> Option<(u32, f64)> {
            let (_, tail) = stat.rsplit_once(')')?;
            let fields: Vec<&str> = tail.split_whitespace().collect();
            // utime, stime, and those of children that were waited for, in ticks of 10 ms.
            let ticks: f64 = fields
                .get(11..15)?
                .iter()
                .filter_map(|field| field.parse::<f64>().ok())
                .sum();
            Some((fields.get(1)?.parse().ok()?, ticks * 10_000.0))
        };
        let stat = |process: &str| {
            std::fs::read_to_string(format!("/proc/{process}/stat"))
                .ok()
                .and_then(of)
        };
        let children = |server: u32| {
            let processes = std::fs::read_dir("/proc").ok()?.flatten();
            let used: f64 = processes
                .filter_map(|process| stat(process.file_name().to_str()?))
                .filter_map(|(parent, us)| (parent == server).then_some(us))
                .sum();
            Some(used + stat(&server.to_string())?.1)
        };
        Processors {
            host: stat("self").map(|(_, us)| us),
            server: server.and_then(children),
        }
    }

    /// What was used since.
    pub(super) fn since(self, server: Option<u32>) -> Self {
        let now = Processors::now(server);
        let less = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        Processors {
            host: less(now.host, self.host),
            server: less(now.server, self.server),
        }
    }
}
