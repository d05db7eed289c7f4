//! Policy of a host: every number that it decides by, each with its unit.

use std::time::Duration;

/// Limits and times by which [`super::Decision`] decides.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    /// Lanes: schedulers that run jobs, one for each processor.
    pub(crate) lanes: usize,

    /// Maximum number of jobs in flight.
    pub(crate) in_flight_max: usize,
    /// Maximum number of a tenant's jobs in flight while other tenants have jobs in flight.
    pub(crate) in_flight_of_tenant_max: usize,
    /// Time for which a tenant without jobs in flight is still taken for one at work.
    pub(crate) shared_linger: Duration,
    /// Number of jobs in flight above the maximum, for tenants that have less than an equal share.
    pub(crate) in_flight_reserve: usize,

    /// Maximum number of jobs asked for in one claim.
    pub(crate) claim_max: usize,
    /// Number of jobs that there must be room for before a host that was full claims again.
    pub(crate) claim_min: usize,
    /// Time between two claims when nobody tells of work.
    pub(crate) claim_interval: Duration,
    /// The same while jobs are due that the last claim left to somebody else.
    pub(crate) claim_interval_when_due: Duration,

    /// Fuel of a turn: a tenant whose turn it is begins jobs until it has used so much more than the next one.
    pub(crate) turn_fuel: i64,
    /// Fuel charged for an attempt besides its own, for the database's work.
    pub(crate) attempt_fuel: i64,
    /// Maximum number of a tenant's attempts that compute at once.
    pub(crate) computing_max: usize,
    /// Number of tenants without jobs whose debt is remembered.
    pub(crate) debts_max: usize,

    /// Sessions that flows belong to.
    pub(crate) home_sessions: usize,
    /// Sessions that commit results of light tenants only.
    pub(crate) express_sessions: usize,
    /// Maximum number of results in a batch.
    pub(crate) batch_results_max: usize,
    /// Number of results of a tenant that a batch has room for, however many tenants share it. A flow with no more
    /// results than this goes through its home session as one.
    pub(crate) batch_results_of_tenant: usize,
    /// Number of results that go at once while another batch is under way.
    pub(crate) batch_results_wanted: usize,
    /// Time for which fewer results wait for more.
    pub(crate) batch_wait: Duration,
    /// Batches of which one leaves what it fired to the pool, while jobs wait that had no room.
    pub(crate) leave_every: u64,

    /// Time for which a commit waits for a lock.
    pub(crate) lock_wait: Duration,
    /// Time in quarantine after the first lock that was met.
    pub(crate) quarantine_first: Duration,
    /// Maximum time in quarantine; it doubles with each lock that is met.
    pub(crate) quarantine_max: Duration,
    /// Number of a flow's instances in quarantine above which all of the flow is.
    pub(crate) quarantine_instances: usize,
    /// Number of a tenant's results in quarantine above which no more of its jobs begin.
    pub(crate) quarantine_results: usize,
}

impl Policy {
    /// Returns the policy of a host with this number of lanes and of jobs in flight.
    pub(crate) fn new(lanes: usize, in_flight_max: usize) -> Self {
        let lanes = lanes.max(1);
        let in_flight_max = in_flight_max.max(1);
        Policy {
            lanes,
            in_flight_max,
            in_flight_of_tenant_max: in_flight_max.div_ceil(2),
            shared_linger: Duration::from_secs(1),
            in_flight_reserve: in_flight_max.div_ceil(8),
            claim_max: 128,
            claim_min: (in_flight_max / 8).clamp(1, 128),
            claim_interval: Duration::from_secs(1),
            claim_interval_when_due: Duration::from_millis(250),
            // About a millisecond of a processor.
            turn_fuel: 1_000_000,
            attempt_fuel: 100_000,
            computing_max: 2 * lanes,
            debts_max: 4_096,
            // One for each processor, and one that waits for the disk meanwhile.
            home_sessions: lanes + 1,
            express_sessions: lanes,
            batch_results_max: 320,
            batch_results_of_tenant: 8,
            batch_results_wanted: 128,
            batch_wait: Duration::from_millis(30),
            leave_every: 8,
            lock_wait: Duration::from_millis(50),
            quarantine_first: Duration::from_millis(500),
            quarantine_max: Duration::from_secs(15),
            quarantine_instances: 8,
            quarantine_results: 256,
        }
    }

    /// Number of sessions that commit: homes, express, and one for quarantine.
    pub(crate) fn sessions(&self) -> usize {
        self.home_sessions + self.express_sessions + 1
    }

    /// The session that commits what is in quarantine.
    pub(crate) fn quarantine_session(&self) -> usize {
        self.home_sessions + self.express_sessions
    }

    /// Jobs that may be in flight, the reserve included.
    pub(crate) fn room(&self) -> usize {
        self.in_flight_max + self.in_flight_reserve
    }
}
