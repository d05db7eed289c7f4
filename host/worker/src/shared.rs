//! State that the lanes of a host share, and how they take up jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use quick_cache::sync::Cache;
use tokio::sync::watch;
use wedflow_model::{FlowId, HostId, Limits, TenantId};
use wedflow_sandbox::Sandbox;
use wedflow_scheduler::source;
use wedflow_store::{Claimed, Store};

use crate::bindings::Bindings;
use crate::decision::{Event, Job};
use crate::desk::{Arriving, Desk};
use crate::isolation::IsolatedAttempts;
use crate::measures::Measures;
use crate::outside::Outside;
use crate::patience::with_patience;
use crate::spans::{Spans, note_taken};

/// Number of flows whose tenants are remembered.
pub(crate) const TENANTS_MAX: usize = 65_536;

/// State that the lanes of a host share.
pub(crate) struct Shared {
    /// Version and commit of the program.
    pub(crate) build: String,
    pub(crate) store: Store,
    /// Sessions for claims.
    pub(crate) claims: Store,
    /// Sessions for what is done for all tenants.
    pub(crate) chores: Store,
    /// The session that the leases are kept over.
    pub(crate) heart: Store,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) bindings: Bindings,
    pub(crate) limits: Limits,
    pub(crate) outside: Outside,
    /// The host's number; another after its leases were lost.
    pub(crate) host: AtomicI32,
    /// No more jobs are begun.
    pub(crate) draining: AtomicBool,
    /// An answer to a claim or a commit may be lost: jobs may be this host's without its knowing.
    pub(crate) answer_lost: AtomicBool,
    /// Becomes true for good when the database has another interface than this program knows.
    pub(crate) refused: watch::Sender<bool>,
    /// Decisions about what is done next.
    pub(crate) desk: Desk,
    /// Each flow's tenant. A flow never moves to another.
    pub(crate) tenants: Cache<FlowId, TenantId>,
    /// Attempts that run on threads of a lower priority.
    pub(crate) isolated: IsolatedAttempts,
    /// Sessions that batches are committed over, each one at a time.
    pub(crate) sessions: Vec<Store>,
    /// Spans of what is done; none: no collector is named.
    pub(crate) spans: Option<Arc<Spans>>,
    /// Measures for monitoring.
    pub(crate) measures: Measures,
    /// Queue of notifications to other hosts that there is work.
    pub(crate) tellings: source::QueueSender<()>,
}

impl Shared {
    pub(crate) fn host(&self) -> HostId {
        HostId::new(self.host.load(Ordering::Acquire))
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Notes that the answer to a claim or a commit may be lost.
    pub(crate) fn note_lost_answer(&self) {
        self.answer_lost.store(true, Ordering::Release);
    }

    /// Has other hosts told that there is work which this one left. Any number of times at once are one.
    pub(crate) fn tell_others(&self) {
        // Full: it is about to be said.
        let _ = self.tellings.try_send(());
    }

    /// Jobs that are this host's, each with its tenant. They are known to be its own from now on, also while their
    /// tenants are looked up: until then whoever looks for jobs held unknowingly would take these for such.
    pub(crate) async fn jobs(&self, mut claimed: Vec<Claimed>) -> (Vec<Job<Claimed>>, Option<Arriving>) {
        note_taken(self.spans.as_ref(), &mut claimed);
        let mut unknown: Vec<FlowId> = (claimed.iter().map(|claimed| claimed.job.key.flow))
            .filter(|flow| self.tenants.get(flow).is_none())
            .collect();
        let mut arriving = None;
        if !unknown.is_empty() {
            arriving = Some(self.desk.arriving(claimed.iter().map(|claimed| claimed.job.token).collect()));
            unknown.sort_unstable();
            unknown.dedup();
            let known = with_patience(|| self.store.tenants_of(&unknown)).await;
            for (flow, tenant) in known.unwrap_or_default() {
                self.tenants.insert(flow, tenant);
            }
        }
        let jobs = claimed.into_iter().map(|claimed| {
            let key = claimed.job.key;
            Job {
                token: claimed.job.token,
                // A flow that is not known is nobody's.
                tenant: self.tenants.get(&key.flow).unwrap_or(TenantId::NOBODY),
                instance: (key.flow, key.wid),
                job: claimed,
            }
        });
        (jobs.collect(), arriving)
    }

    /// Takes up jobs that are this host's.
    pub(crate) async fn take(&self, claimed: Vec<Claimed>) {
        let (jobs, _arriving) = self.jobs(claimed).await;
        self.desk.tell(Event::Arrived(jobs));
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("host", &self.host()).finish_non_exhaustive()
    }
}
