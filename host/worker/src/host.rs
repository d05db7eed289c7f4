//! A host: lanes, and what they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use wedflow_model::{HostId, Limits};
use wedflow_sandbox::{Guests, Sandbox, Settings};
use wedflow_scheduler::{Signals, source};
use wedflow_store::Store;
use wedflow_telemetry::Tracer;

use crate::HostError;
use crate::bindings::Bindings;
use crate::decision::{Event, Policy};
use crate::desk::Desk;
use crate::housekeeping::{self, LEASE_TIME};
use crate::isolation::IsolatedAttempts;
use crate::lane::Lane;
use crate::measures::Measures;
use crate::outside::{Outside, OutsideSettings};
use crate::shared::{Shared, TENANTS_MAX};
use crate::spans::Spans;
use crate::vault::{FindSecretKey, SecretKey};

/// Time that giving jobs back may take, and a lane's call of the database when it has to stop.
const LEAVE_TIME_MAX: Duration = Duration::from_secs(1);
/// Database connections for claims, of which a host makes one at a time.
const CLAIM_CONNECTIONS: u32 = 1;
/// Database connections for what is done for all tenants: one that is held up leaves others.
const CHORE_CONNECTIONS: u32 = 4;

/// Settings of a host.
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// Name in the list of hosts.
    pub name: String,
    /// Version and commit of the program, which distinguish hosts of different builds.
    pub build: String,
    /// Lanes: guests that may compute at the same instant. As many as processors by default.
    pub lanes: usize,
    /// Jobs that may be in flight at once, running or waiting, all lanes together.
    pub in_flight: usize,
    /// Bytes of memory of all running guests together; by default half of the machine's, or of its control group's.
    pub guest_memory: Option<u64>,
    /// Processes in which guests run.
    pub guests: Guests,
    /// Time that running jobs may take after [`Host::stop`] was called.
    pub grace: Duration,
    /// Limits of an attempt.
    pub limits: Limits,
    /// The key to the flows' secrets; without it, transitions that are granted one cannot run.
    pub secret_key: Option<SecretKey>,
    /// Second source of that key, asked when a transition is granted a secret and there was none.
    pub find_secret_key: Option<FindSecretKey>,
    /// Access outside their calls that transitions may have, where their flow allows it too.
    pub outside: OutsideSettings,
    /// Door to the collector of spans; none: no spans are made.
    pub tracer: Option<Tracer>,
}

impl Default for HostSettings {
    fn default() -> Self {
        HostSettings {
            name: format!("host-{}", std::process::id()),
            build: env!("CARGO_PKG_VERSION").to_owned(),
            lanes: processors(),
            in_flight: 1_000,
            guest_memory: None,
            guests: Guests::InProcess,
            grace: Duration::from_secs(5),
            limits: Limits::default(),
            secret_key: None,
            find_secret_key: None,
            outside: OutsideSettings::default(),
            tracer: None,
        }
    }
}

impl HostSettings {
    /// Database connections that such a host can use for what has none of its own, such as loading flows.
    pub fn connections(&self) -> u32 {
        u32::try_from(self.lanes).unwrap_or(2).saturating_add(2)
    }

    /// Most database connections that such a host has at once: for commits, claims, chores, its leases, notifications,
    /// and all else.
    pub fn connections_max(&self) -> u32 {
        let policy = Policy::new(self.lanes.max(1), self.in_flight);
        let commits = u32::try_from(policy.sessions()).unwrap_or(u32::MAX);
        let others = self.connections() + CLAIM_CONNECTIONS + CHORE_CONNECTIONS + 2;
        commits.saturating_add(others)
    }
}

/// Returns the bytes of memory of all running guests together that a host takes by default.
pub fn usual_guest_memory() -> u64 {
    Settings::fast().memory_of_all
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// A running host. Dropping it without [`Host::stop`] is like killing it: its jobs are found again when
/// its leases end.
#[derive(Debug)]
pub struct Host {
    shared: Arc<Shared>,
    lanes: Vec<(Signals, JoinHandle<()>)>,
    grace: Duration,
}

impl Host {
    /// Enters the database's list of hosts and starts to work. Needs a multi-thread tokio runtime, best
    /// with `event_interval(1)` and `global_queue_interval(1)`.
    ///
    /// # Errors
    /// [`HostError`] when the database or the sandbox is not available.
    pub async fn start(store: Store, settings: HostSettings) -> Result<Host, HostError> {
        let lanes = settings.lanes.max(1);
        let policy = Policy::new(lanes, settings.in_flight);
        let usual = Settings::fast();
        let sandbox = Arc::new(Sandbox::new(Settings {
            concurrent: u32::try_from(policy.room().max(16)).unwrap_or(u32::MAX),
            cache: wedflow_sandbox::user_cache(),
            guests: settings.guests,
            memory_of_all: settings.guest_memory.unwrap_or(usual.memory_of_all),
            ..usual
        })?);
        sandbox.ready().await?;
        let outside = Outside::open(&settings.outside)?;
        let store = store.for_host(settings.connections());
        store.roll_trace().await?;
        let isolated = IsolatedAttempts::new(processors()).map_err(HostError::Threads)?;
        let host = store.register_build(&settings.name, &settings.build, LEASE_TIME, &outside.places()).await?;
        let (tellings, told) = source::queue(1);
        let spans = settings.tracer;
        let spans = spans.map(|tracer| Arc::new(Spans::start(tracer, store.clone())));
        let shared = Arc::new(Shared {
            tellings,
            spans,
            sessions: (0..policy.sessions()).map(|_| store.for_commits(1, policy.lock_wait)).collect(),
            isolated,
            heart: store.for_leases(),
            chores: store.for_chores(CHORE_CONNECTIONS),
            claims: store.for_claims(CLAIM_CONNECTIONS),
            bindings: Bindings::new(
                store.clone(),
                Arc::clone(&sandbox),
                settings.limits.clone(),
                (settings.secret_key, settings.find_secret_key),
                outside.clone(),
            ),
            outside,
            build: settings.build,
            store,
            sandbox,
            limits: settings.limits,
            host: AtomicI32::new(host.get()),
            draining: AtomicBool::new(false),
            answer_lost: AtomicBool::new(false),
            refused: watch::Sender::new(false),
            desk: Desk::new(policy),
            tenants: Cache::new(TENANTS_MAX),
            measures: Measures::default(),
        });
        let (_, mut schedulers): (Vec<Lane>, Vec<_>) =
            (0..lanes).map(|number| Lane::new(Arc::clone(&shared), number)).unzip();
        housekeeping::register(&mut schedulers[0], &shared, &settings.name, told);
        let lanes = schedulers
            .into_iter()
            .map(|mut scheduler| {
                let signals = scheduler.signals();
                (signals, tokio::spawn(async move { scheduler.run().await }))
            })
            .collect();
        tracing::info!(host = host.get(), "at work");
        Ok(Host { shared, lanes, grace: settings.grace })
    }

    /// The host's number, as in `job_pool.lckid` and `wed_trace.writer`.
    pub fn id(&self) -> HostId {
        self.shared.host()
    }

    /// Transitions it has committed since it started.
    pub fn committed(&self) -> u64 {
        self.shared.measures.committed.get()
    }

    /// Measures of this host for monitoring; they follow it.
    pub fn measures(&self) -> Measures {
        self.shared.measures.clone()
    }

    /// Ends when a part that the host needs has panicked. Call [`Host::stop`] then, which gives its jobs back.
    pub async fn failed(&self) {
        self.shared.desk.until_broken().await;
    }

    /// Ends when another version of the program has migrated the database, and this one is refused by it. What is left
    /// then is [`Host::stop`].
    pub async fn refused(&self) {
        let mut refused = self.shared.refused.subscribe();
        // The sender is here, so there is an answer.
        let _ = refused.wait_for(|refused| *refused).await;
    }

    /// Stops: begins no more jobs, lets running ones finish for the grace period, commits what is
    /// finished, gives the rest back.
    pub async fn stop(mut self) {
        self.shared.draining.store(true, Ordering::Release);
        let until = Instant::now() + self.grace;
        if !self.shared.desk.is_broken() {
            self.shared.desk.tell(Event::Stopping);
            while self.shared.desk.begun() > 0 && Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        // All lanes at once, and none that is held up holds up the end beyond the grace.
        for (signals, _) in &self.lanes {
            signals.stop();
        }
        let lanes = async {
            for (_, task) in &mut self.lanes {
                // A scheduler that panicked has nothing left to stop.
                let _ = task.await;
            }
        };
        let until = tokio::time::Instant::from_std(until) + LEAVE_TIME_MAX;
        let _ = tokio::time::timeout_at(until, lanes).await;
        for (_, task) in &self.lanes {
            task.abort();
        }
        // Isolated attempts have ended when the jobs are given back.
        self.shared.isolated.stop().await;
        let leaving = self.shared.store.leave_host(self.shared.host());
        match tokio::time::timeout(LEAVE_TIME_MAX, leaving).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "could not leave; the leases will end by themselves");
            }
            Err(_) => tracing::warn!("could not leave in time; the leases will end by themselves"),
        }
    }
}
