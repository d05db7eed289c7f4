//! A host: lanes, and what they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use wedflow_model::{HostId, Limits};
use wedflow_sandbox::{Sandbox, Settings};
use wedflow_scheduler::{Signals, source};
use wedflow_store::Store;

use crate::HostError;
use crate::SecretKey;
use crate::batches::{Batches, sessions};
use crate::bindings::Bindings;
use crate::breaker::Apart;
use crate::housekeeping::{self, LEASE};
use crate::lane::{Hand, Lane, Shared, reserve};
use crate::outside::{Outside, OutsideSettings};
use crate::shares::Shares;

/// How long giving jobs back may take, and a lane that is in a call of the database when it is told to stop.
const LEAVING: Duration = Duration::from_secs(1);

/// Looks for the key to secrets; none where there is none yet.
pub type FindSecretKey = fn() -> Option<SecretKey>;

/// How a host is set up.
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// Its name in the list of hosts.
    pub name: String,
    /// Lanes: guests that may compute at the same instant. As many as processors by default.
    pub lanes: usize,
    /// Jobs that may be in hand at once, running or waiting, all lanes together.
    pub in_hand: usize,
    /// How long running jobs may go on after [`Host::stop`] was called.
    pub grace: Duration,
    /// What an attempt may use.
    pub limits: Limits,
    /// The key to the flows' secrets; without it, transitions that are granted one cannot run.
    pub secret_key: Option<SecretKey>,
    /// Where to look for that key once more when a transition is granted a secret and there was none.
    pub find_secret_key: Option<FindSecretKey>,
    /// What transitions may reach beyond their calls, where their flow allows it too.
    pub outside: OutsideSettings,
}

impl Default for HostSettings {
    fn default() -> Self {
        HostSettings {
            name: format!("host-{}", std::process::id()),
            lanes: processors(),
            in_hand: 1_000,
            grace: Duration::from_secs(5),
            limits: Limits::default(),
            secret_key: None,
            find_secret_key: None,
            outside: OutsideSettings::default(),
        }
    }
}

impl HostSettings {
    /// Database connections that such a host can use beside those that it commits over, two for each lane and
    /// one: a claim for each lane, sweeping, leases and notifications.
    pub fn connections(&self) -> u32 {
        u32::try_from(self.lanes).unwrap_or(2).saturating_add(3)
    }
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

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("host", &self.host())
            .finish_non_exhaustive()
    }
}

impl Host {
    /// Enters the database's list of hosts and starts to work. Needs a multi-thread tokio runtime, best
    /// with `event_interval(1)` and `global_queue_interval(1)`.
    ///
    /// # Errors
    /// [`HostError`] when the database or the sandbox is not to be had.
    pub async fn start(store: Store, settings: HostSettings) -> Result<Host, HostError> {
        let lanes = settings.lanes.max(1);
        let room = settings.in_hand.div_ceil(lanes).max(1);
        let sandbox = Arc::new(Sandbox::new(Settings {
            concurrent: u32::try_from((room + reserve(room)).saturating_mul(lanes).max(16))
                .unwrap_or(u32::MAX),
            cache: wedflow_sandbox::user_cache(),
            ..Settings::fast()
        })?);
        let outside = Outside::open(&settings.outside).map_err(HostError::Files)?;
        store.roll_trace().await?;
        let apart = Apart::new(processors()).map_err(HostError::Threads)?;
        let host = store.enter_host(&settings.name, LEASE).await?;
        let (tellings, told) = source::queue(1);
        let shares = Arc::new(Shares::new(room * lanes));
        let shared = Arc::new(Shared {
            tellings,
            sessions: (0..sessions(lanes)).map(|_| store.apart(1)).collect(),
            apart,
            bindings: Bindings::new(
                store.clone(),
                Arc::clone(&sandbox),
                settings.limits.clone(),
                (settings.secret_key, settings.find_secret_key),
                outside.clone(),
            ),
            outside,
            store,
            sandbox,
            limits: settings.limits,
            host: AtomicI32::new(host.get()),
            draining: AtomicBool::new(false),
            in_hand: Default::default(),
            batches: Batches::new(Arc::clone(&shares), lanes),
            shares,
            hands: (0..lanes).map(|_| Hand::default()).collect(),
            busy: AtomicUsize::new(0),
            committed: AtomicU64::new(0),
        });
        let (lanes, mut schedulers): (Vec<Lane>, Vec<_>) = (0..lanes)
            .map(|number| Lane::new(Arc::clone(&shared), number, room))
            .unzip();
        housekeeping::register(&mut schedulers[0], &shared, &settings.name, &lanes[0], told);
        for hand in &shared.hands {
            hand.work.tell();
        }
        let lanes = schedulers
            .into_iter()
            .map(|mut scheduler| {
                let signals = scheduler.signals();
                (signals, tokio::spawn(async move { scheduler.run().await }))
            })
            .collect();
        tracing::info!(%host, "at work");
        Ok(Host {
            shared,
            lanes,
            grace: settings.grace,
        })
    }

    /// The host's number, as in `job_pool.lckid` and `wed_trace.writer`.
    pub fn id(&self) -> HostId {
        self.shared.host()
    }

    /// Transitions it has committed since it started.
    pub fn committed(&self) -> u64 {
        self.shared.committed.load(Ordering::Relaxed)
    }

    /// Stops: begins no more jobs, lets running ones finish for the grace period, commits what is
    /// finished, gives the rest back.
    pub async fn stop(mut self) {
        self.shared.draining.store(true, Ordering::Release);
        let until = Instant::now() + self.grace;
        while self.shared.busy.load(Ordering::Acquire) > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
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
        let until = tokio::time::Instant::from_std(until) + LEAVING;
        let _ = tokio::time::timeout_at(until, lanes).await;
        for (_, task) in &self.lanes {
            task.abort();
        }
        // What was tried apart is no more when the jobs are given back.
        self.shared.apart.stop().await;
        let leaving = self.shared.store.leave_host(self.shared.host());
        match tokio::time::timeout(LEAVING, leaving).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "could not leave; the leases will end by themselves");
            }
            Err(_) => tracing::warn!("could not leave in time; the leases will end by themselves"),
        }
    }
}
