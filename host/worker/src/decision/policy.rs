//! Policy of a host: every number that it decides by, each with its unit.

use std::time::Duration;

/// Limits and times by which [`super::Decision`] decides.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Lanes: schedulers that run jobs, one for each processor.
    pub lanes: usize,

    /// Maximum number of jobs in flight, which one tenant may have alone.
    pub in_flight_max: usize,
    /// Time for which a tenant without jobs in flight is still taken for one at work.
    pub shared_linger: Duration,
    /// Number of jobs in flight above the maximum, for tenants that have less than an equal share.
    pub in_flight_reserve: usize,

    /// Maximum number of jobs asked for in one claim.
    pub claim_max: usize,
    /// Number of jobs that there must be room for before a host that was full claims again.
    pub claim_min: usize,
    /// Time between two claims when nobody tells of work.
    pub claim_interval: Duration,
    /// The same while jobs are due that the last claim left to somebody else.
    pub claim_interval_when_due: Duration,

    /// Fuel of a turn: a tenant whose turn it is begins jobs until it has used so much more than the next one.
    pub turn_fuel: i64,
    /// Fuel charged for an attempt besides its own, for the database's work.
    pub attempt_fuel: i64,
    /// Maximum number of a tenant's attempts that compute at once.
    pub computing_max: usize,
    /// Number of tenants without jobs whose debt is remembered.
    pub debts_max: usize,

    /// Sessions that flows belong to.
    pub home_sessions: usize,
    /// Sessions that commit results of light tenants only.
    pub express_sessions: usize,
    /// Maximum number of results in a batch.
    pub batch_results_max: usize,
    /// Number of results of a tenant that a batch has room for, however many tenants share it. A flow with no more
    /// results than this goes through its home session as one.
    pub batch_results_of_tenant: usize,
    /// Number of results that go at once while another batch is under way.
    pub batch_results_wanted: usize,
    /// Time for which fewer results wait for more.
    pub batch_wait: Duration,
    /// Number of other batches over home sessions after which results wait for no more, and go over any home.
    pub batch_wait_batches: u64,
    /// Batches of which one leaves what it fired to the pool, while jobs wait that had no room.
    pub leave_every: u64,

    /// Time for which a commit waits for a lock.
    pub lock_wait: Duration,
    /// Time in quarantine after the first lock that was met.
    pub quarantine_first: Duration,
    /// Maximum time in quarantine; it doubles with each lock that is met.
    pub quarantine_max: Duration,
    /// Number of a flow's instances in quarantine above which all of the flow is.
    pub quarantine_instances: usize,
    /// Number of a tenant's results in quarantine above which no more of its jobs begin.
    pub quarantine_results: usize,
    /// Bytes of a tenant's results in quarantine above which the same holds.
    pub quarantine_bytes_of_tenant: usize,
    /// Bytes of all results in quarantine above which no more are kept: their jobs are put off and run again.
    pub quarantine_bytes_max: usize,
}

/// Pause before the database is asked again for the same, at first.
pub(crate) const PAUSE_MIN: Duration = Duration::from_millis(50);
/// Maximum of that pause; it doubles with each try.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Maximum number of times that a part of a batch is tried which other transactions get in the way of.
pub(crate) const CONFLICT_TRIES_MAX: u32 = 5;
/// Maximum number of times that a single result is tried while the cause of its refusal is unknown.
pub(crate) const UNKNOWN_TRIES_MAX: u32 = 5;
/// Number of a flow's results that meet unknown locks alone, after which all of its results in the batch are taken to.
pub(crate) const UNKNOWN_LOCKS_MAX: usize = 3;

impl Policy {
    /// Returns the policy of a host with this number of lanes and of jobs in flight.
    pub fn new(lanes: usize, in_flight_max: usize) -> Self {
        let lanes = lanes.max(1);
        let in_flight_max = in_flight_max.max(1);
        Policy {
            lanes,
            in_flight_max,
            shared_linger: Duration::from_secs(1),
            in_flight_reserve: in_flight_max.div_ceil(2),
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
            batch_wait_batches: 4 * (lanes as u64 + 1),
            leave_every: 8,
            lock_wait: Duration::from_millis(50),
            quarantine_first: Duration::from_millis(500),
            quarantine_max: Duration::from_secs(15),
            quarantine_instances: 8,
            quarantine_results: 256,
            quarantine_bytes_of_tenant: 16 << 20,
            quarantine_bytes_max: 128 << 20,
        }
    }

    /// Number of sessions that commit: homes, express, and one for quarantine.
    pub fn sessions(&self) -> usize {
        self.home_sessions + self.express_sessions + 1
    }

    /// The session that commits what is in quarantine.
    pub fn quarantine_session(&self) -> usize {
        self.home_sessions + self.express_sessions
    }

    /// Jobs that may be in flight, the reserve included.
    pub fn room(&self) -> usize {
        self.in_flight_max + self.in_flight_reserve
    }
}
