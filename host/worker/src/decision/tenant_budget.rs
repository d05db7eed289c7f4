//! Tenants' budgets, and the run queue over them: whose job begins next.
//!
//! The run queue is fair queueing in fuel. Each tenant has a clock, `served`, that its attempts' fuel moves on; the
//! tenant whose clock is behind the others' begins a job. A tenant that was idle starts at the present time: it
//! accumulates no credit and keeps its debt.

use std::collections::{BTreeSet, VecDeque};

use foldhash::{HashMap, HashSet};
use quick_cache::unsync::Cache;

use super::Policy;
use wedflow_model::{LeaseToken, TenantId};

/// A tenant's part of a host: jobs in flight, fuel, place in the run queue.
#[derive(Debug)]
struct Budget<J> {
    /// Jobs that have not begun, with their lease tokens.
    jobs: VecDeque<(LeaseToken, J)>,
    /// Jobs in flight, those in quarantine left out.
    in_flight: usize,
    /// Results in quarantine, and their bytes.
    quarantined: usize,
    quarantined_bytes: usize,
    /// Attempts that compute.
    computing: usize,
    /// Fuel charged so far, counted on from the run queue's time when it came.
    served: i64,
    /// True while it stands in the run queue.
    queued: bool,
}

impl<J> Budget<J> {
    fn is_held(&self, policy: &Policy) -> bool {
        self.quarantined >= policy.quarantine_results || self.quarantined_bytes >= policy.quarantine_bytes_of_tenant
    }

    fn leave_quarantine(&mut self, bytes: usize) {
        self.quarantined = self.quarantined.saturating_sub(1);
        self.quarantined_bytes = self.quarantined_bytes.saturating_sub(bytes);
    }
}

/// Budgets of all tenants with jobs in flight.
#[derive(Debug)]
pub(crate) struct Budgets<J> {
    tenants: HashMap<TenantId, Budget<J>>,
    /// Tenants with jobs that may begin, the one that was served least first.
    run_queue: BTreeSet<(i64, TenantId)>,
    /// Tenants by the number of their jobs in flight.
    by_in_flight: BTreeSet<(usize, TenantId)>,
    /// The clock of the tenant that began last.
    time: i64,
    /// The tenant whose turn it is, and where its turn ends.
    turn: Option<(TenantId, i64)>,
    /// Clocks of tenants without jobs.
    debts: Cache<TenantId, i64>,
    /// Jobs in flight of all tenants.
    in_flight: usize,
    /// Bytes of all results in quarantine.
    quarantined_bytes: usize,
    /// Fuel that the database was not told of.
    fuel: HashMap<TenantId, u64>,
    /// Tenants whose fuel is used up.
    resting: HashSet<TenantId>,
    /// Tenants with a limit on jobs in flight on all hosts.
    limited: HashSet<TenantId>,
    /// Steps of loops over tenants so far.
    pub(crate) visits: u64,
}

impl<J> Budgets<J> {
    pub(crate) fn new(policy: &Policy) -> Self {
        Budgets {
            tenants: HashMap::default(),
            run_queue: BTreeSet::new(),
            by_in_flight: BTreeSet::new(),
            time: 0,
            turn: None,
            debts: Cache::new(policy.debts_max),
            in_flight: 0,
            quarantined_bytes: 0,
            fuel: HashMap::default(),
            resting: HashSet::default(),
            limited: HashSet::default(),
            visits: 0,
        }
    }

    /// Number of jobs in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Number of tenants with jobs in flight.
    pub(crate) fn tenants(&self) -> usize {
        self.by_in_flight.len()
    }

    /// An equal share of the jobs in flight, with one left for a tenant that comes now.
    pub(crate) fn share(&self, policy: &Policy) -> usize {
        (policy.in_flight_max / (self.tenants() + 1)).max(1)
    }

    /// Returns true when a tenant has more than an equal share of a host that is full.
    pub(crate) fn is_over(&self, policy: &Policy, tenant: TenantId) -> bool {
        let has = self.in_flight_of(tenant);
        let is_full = self.in_flight >= policy.room();
        is_full && has > self.share(policy)
    }

    /// Returns true when a tenant has no more than half as many jobs in flight as tenants have on average.
    pub(crate) fn is_light(&self, tenant: TenantId) -> bool {
        self.in_flight_of(tenant) * 2 * self.tenants() <= self.in_flight
    }

    fn in_flight_of(&self, tenant: TenantId) -> usize {
        self.tenants.get(&tenant).map_or(0, |one| one.in_flight)
    }

    /// Returns true when all jobs that a tenant's commits fire must be claimed.
    pub(crate) fn is_limited(&self, tenant: TenantId) -> bool {
        self.limited.contains(&tenant) || self.resting.contains(&tenant)
    }

    /// Returns true when a tenant's fuel is used up.
    pub(crate) fn rests(&self, tenant: TenantId) -> bool {
        self.resting.contains(&tenant)
    }

    /// Returns true when a tenant has so much in quarantine that no more of its jobs begin.
    pub(crate) fn is_held(&self, policy: &Policy, tenant: TenantId) -> bool {
        (self.tenants.get(&tenant)).is_some_and(|one| one.is_held(policy))
    }

    /// Bytes of all results in quarantine.
    pub(crate) fn quarantined_bytes(&self) -> usize {
        self.quarantined_bytes
    }

    /// Number of a tenant's results in quarantine, for tests.
    #[cfg(test)]
    pub(crate) fn quarantined(&self, tenant: TenantId) -> usize {
        self.tenants.get(&tenant).map_or(0, |one| one.quarantined)
    }

    /// Returns the tenants with at least this number of jobs in flight.
    pub(crate) fn with_at_least(&self, jobs: usize) -> Vec<TenantId> {
        (self.by_in_flight.range((jobs, TenantId::new(i32::MIN))..).map(|(_, tenant)| *tenant)).collect()
    }

    /// Tenants that claims pass over: their fuel is used up, or too many of their results are in quarantine.
    pub(crate) fn passed_over(&self, policy: &Policy) -> Vec<TenantId> {
        let held = (self.tenants.iter()).filter(|(_, one)| one.is_held(policy)).map(|(tenant, _)| *tenant);
        self.resting.iter().copied().chain(held).collect()
    }

    /// Adds a job in flight.
    pub(crate) fn add(&mut self, policy: &Policy, tenant: TenantId, token: LeaseToken, job: J) {
        self.change(tenant, |one| {
            one.in_flight += 1;
            one.jobs.push_back((token, job));
        });
        self.in_flight += 1;
        self.queue(policy, tenant);
    }

    /// Takes the job whose turn it is, and charges what an attempt costs at least.
    pub(crate) fn next(&mut self, policy: &Policy) -> Option<(TenantId, LeaseToken, J)> {
        let tenant = self.whose_turn(policy)?;
        let one = self.tenants.get_mut(&tenant)?;
        let (token, job) = one.jobs.pop_front()?;
        self.charge(policy, tenant, policy.attempt_fuel);
        Some((tenant, token, job))
    }

    fn whose_turn(&mut self, policy: &Policy) -> Option<TenantId> {
        self.visits += 1;
        if let Some((tenant, end)) = self.turn
            && (self.tenants.get(&tenant)).is_some_and(|one| one.queued && one.served < end)
        {
            return Some(tenant);
        }
        let (served, tenant) = *self.run_queue.first()?;
        self.time = self.time.max(served);
        self.turn = Some((tenant, served.saturating_add(policy.turn_fuel)));
        Some(tenant)
    }

    /// Charges fuel that is reported to the database.
    pub(crate) fn use_fuel(&mut self, policy: &Policy, tenant: TenantId, fuel: u64) {
        if fuel > 0 {
            *self.fuel.entry(tenant).or_default() += fuel;
        }
        self.charge(policy, tenant, i64::try_from(fuel).unwrap_or(i64::MAX));
    }

    fn charge(&mut self, policy: &Policy, tenant: TenantId, fuel: i64) {
        let Some(one) = self.tenants.get_mut(&tenant) else {
            return;
        };
        if one.queued {
            self.run_queue.remove(&(one.served, tenant));
            one.queued = false;
            one.served = one.served.saturating_add(fuel);
            if Self::may_begin(policy, one) {
                one.queued = true;
                self.run_queue.insert((one.served, tenant));
            }
        } else {
            one.served = one.served.saturating_add(fuel);
        }
    }

    fn may_begin(policy: &Policy, one: &Budget<J>) -> bool {
        !one.jobs.is_empty() && one.computing < policy.computing_max
    }

    /// Puts a tenant into the run queue, if it has a job that may begin. It comes at the present time at the earliest.
    fn queue(&mut self, policy: &Policy, tenant: TenantId) {
        let Some(one) = self.tenants.get_mut(&tenant) else {
            return;
        };
        if !one.queued && Self::may_begin(policy, one) {
            one.queued = true;
            one.served = one.served.max(self.time);
            self.run_queue.insert((one.served, tenant));
        }
    }

    /// An attempt of a tenant computes for long.
    pub(crate) fn computes(&mut self, policy: &Policy, tenant: TenantId) {
        self.change(tenant, |one| one.computing += 1);
        self.charge(policy, tenant, 0);
    }

    /// An attempt of a tenant computes no more.
    pub(crate) fn rests_from_computing(&mut self, policy: &Policy, tenant: TenantId) {
        self.change(tenant, |one| one.computing = one.computing.saturating_sub(1));
        self.queue(policy, tenant);
    }

    /// Takes a job out of flight. `queued` says that it has not begun.
    pub(crate) fn remove(&mut self, tenant: TenantId, token: LeaseToken, queued: bool) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.change(tenant, |one| {
            one.in_flight = one.in_flight.saturating_sub(1);
            if queued {
                one.jobs.retain(|(other, _)| *other != token);
            }
        });
        if let Some(one) = self.tenants.get_mut(&tenant)
            && one.queued
            && one.jobs.is_empty()
        {
            one.queued = false;
            self.run_queue.remove(&(one.served, tenant));
        }
        self.forget(tenant);
    }

    /// Moves a job with a result of this size from flight to quarantine.
    pub(crate) fn quarantine(&mut self, tenant: TenantId, bytes: usize) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.quarantined_bytes += bytes;
        self.change(tenant, |one| {
            one.in_flight = one.in_flight.saturating_sub(1);
            one.quarantined += 1;
            one.quarantined_bytes += bytes;
        });
    }

    /// Moves a job from quarantine to flight.
    pub(crate) fn leave_quarantine(&mut self, tenant: TenantId, bytes: usize) {
        self.in_flight += 1;
        self.quarantined_bytes = self.quarantined_bytes.saturating_sub(bytes);
        self.change(tenant, |one| {
            one.in_flight += 1;
            one.leave_quarantine(bytes);
        });
    }

    /// Takes a job out of quarantine for good.
    pub(crate) fn end_quarantined(&mut self, tenant: TenantId, bytes: usize) {
        self.quarantined_bytes = self.quarantined_bytes.saturating_sub(bytes);
        self.change(tenant, |one| one.leave_quarantine(bytes));
        self.forget(tenant);
    }

    /// Remembers no more of a tenant without jobs than its clock.
    fn forget(&mut self, tenant: TenantId) {
        let idle = (self.tenants.get(&tenant)).is_some_and(|one| one.in_flight + one.quarantined + one.computing == 0);
        if idle && let Some(one) = self.tenants.remove(&tenant) {
            self.debts.insert(tenant, one.served);
        }
    }

    /// Changes a budget, and keeps the order by jobs in flight.
    fn change(&mut self, tenant: TenantId, how: impl FnOnce(&mut Budget<J>)) {
        let (debts, time) = (&mut self.debts, self.time);
        let one = self.tenants.entry(tenant).or_insert_with(|| Budget {
            jobs: VecDeque::new(),
            in_flight: 0,
            quarantined: 0,
            quarantined_bytes: 0,
            computing: 0,
            served: debts.remove(&tenant).map_or(time, |(_, served)| served),
            queued: false,
        });
        let before = one.in_flight;
        how(one);
        if before != one.in_flight {
            self.by_in_flight.remove(&(before, tenant));
            if one.in_flight > 0 {
                self.by_in_flight.insert((one.in_flight, tenant));
            }
        }
    }

    /// Takes the fuel used since this was asked last.
    pub(crate) fn take_fuel(&mut self) -> Vec<(TenantId, u64)> {
        let known = std::mem::take(&mut self.fuel).into_iter();
        known.filter(|(tenant, _)| *tenant != TenantId::NOBODY).collect()
    }

    /// Puts back fuel that the database could not be told of.
    pub(crate) fn put_back_fuel(&mut self, fuel: Vec<(TenantId, u64)>) {
        for (tenant, fuel) in fuel {
            *self.fuel.entry(tenant).or_default() += fuel;
        }
    }

    /// Takes in which tenants rest, and which have a limit on their jobs in flight.
    pub(crate) fn told(&mut self, resting: Vec<TenantId>, limited: Vec<TenantId>) {
        self.resting = resting.into_iter().collect();
        self.limited = limited.into_iter().collect();
    }

    /// Fuel charged to a tenant, for tests.
    #[cfg(test)]
    pub(crate) fn served(&self, tenant: TenantId) -> Option<i64> {
        self.tenants.get(&tenant).map(|one| one.served)
    }

    /// Returns true when no job has left anything.
    #[cfg(test)]
    pub(crate) fn is_clear(&self) -> bool {
        self.in_flight + self.quarantined_bytes == 0
            && self.tenants.is_empty()
            && self.run_queue.is_empty()
            && self.by_in_flight.is_empty()
    }
}
