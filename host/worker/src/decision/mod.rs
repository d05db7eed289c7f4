//! The decision of a host: what it does next, from its state, an event and the time. No clock, lock or database here;
//! whoever holds a [`Decision`] tells it events and carries its actions out.
//!
//! After each event, in this order ([`Decision::decide`]):
//!
//! 1. **Begin jobs.** A lane that asked for a job is given the next one of the run queue: of the tenant that has used
//!    least fuel, one whose attempts do not compute on all processors already.
//! 2. **Commit results.** A session that is free takes what waits for it. Each flow belongs to a home session; a flow
//!    with many results may go over any home. While another batch is under way, a home waits until enough results are
//!    there, or some time has passed. Light tenants' results go at once, over any session that is free. What is in
//!    quarantine goes by itself, over a session of its own.
//! 3. **Claim.** One claim at a time, when there is room and somebody told of work, or there may be more, or some time
//!    has passed. One tenant may fill the room; a reserve of half as much is for tenants with less than an equal share.
//!    While that is full too, what those with more fire is left to the pool.
//! 4. **Wake up** when time alone will allow one of these.
//!
//! A job in flight is a *ticket*, from the claim that leased it until its result is committed or it is given up. It is
//! in one stage at a time, and dropping it gives back all that it has.

mod lost;
mod outbox;
mod parts;
mod policy;
mod quarantine;
#[cfg(test)]
mod simulation;
mod tenant_budget;

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::time::Duration;

use foldhash::{HashMap, HashSet};
pub use wedflow_scheduler::Moment;

pub use lost::LostAnswers;
use outbox::{Outbox, Queue, Waiting};
pub use parts::{OfInstance, Part, Parts, Refusal, Step};
pub use policy::Policy;
pub(crate) use policy::{PAUSE_MAX, PAUSE_MIN};
pub use quarantine::Locked;
use quarantine::Quarantine;
use tenant_budget::Budgets;
use wedflow_model::{FlowId, LeaseToken, TenantId, Wid};

/// A flow's number and an instance's.
pub type Instance = (FlowId, Wid);

/// A job that is leased to this host.
#[derive(Debug)]
pub struct Job<J> {
    pub token: LeaseToken,
    pub tenant: TenantId,
    pub instance: Instance,
    pub job: J,
}

/// Event that the decision takes in.
#[derive(Debug)]
pub enum Event<J, R> {
    /// The database may have work.
    Told,
    /// A claim was answered.
    Claimed {
        found: usize,
        /// True when jobs are due that it did not give.
        due: bool,
        /// Time until the next job is due.
        next: Option<Duration>,
    },
    /// A claim failed.
    NotClaimed,
    /// Jobs were claimed, or taken up again.
    Arrived(Vec<Job<J>>),
    /// A lane can begin a job.
    Asked { lane: usize },
    /// A lane is no more.
    LaneEnded { lane: usize },
    /// An attempt of a tenant computes for long, or does so no more.
    Computes { tenant: TenantId, so: bool },
    /// An attempt came to a result of about this number of bytes.
    Finished { token: LeaseToken, fuel: u64, bytes: usize, result: R },
    /// A part of a batch was committed, with the jobs it fired.
    Committed { tokens: Vec<LeaseToken>, fired: Vec<Job<J>> },
    /// A part of a batch met locks; these results wait for them.
    Met { locks: HashSet<Locked>, results: Vec<(LeaseToken, R)> },
    /// A batch is dealt with.
    Returned { session: usize },
    /// A job is given up: the attempt was not made, its result is recorded as a failure, or whoever dealt with it
    /// panicked.
    Dropped { token: LeaseToken },
    /// The database told which tenants rest, and which have a limit on jobs in flight.
    Quotas { resting: Vec<TenantId>, limited: Vec<TenantId> },
    /// Time has passed.
    Woken,
    /// No more jobs begin.
    Stopping,
}

/// Action that the host must carry out.
#[derive(Debug)]
pub enum Action<J, R> {
    /// Claim jobs.
    Claim(Claim),
    /// Run a job on a lane.
    Run { lane: usize, token: LeaseToken, tenant: TenantId, job: J },
    /// Commit results over a session.
    Commit(Batch<R>),
    /// Give a job back, to be claimed after a pause: what it would commit to is locked, and the host keeps no more
    /// results of the kind.
    PutOff { token: LeaseToken, pause: Duration },
    /// Tell [`Event::Woken`] at this moment.
    WakeAt(Moment),
}

/// Jobs to claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub limit: usize,
    /// Maximum number of a tenant.
    pub of_tenant: Option<usize>,
    /// Tenants to pass over.
    pub without: Vec<TenantId>,
    /// Tenants that come last where there is not enough for all.
    pub last: Vec<TenantId>,
}

/// Results to commit in one transaction, at most one of an instance.
#[derive(Debug)]
pub struct Batch<R> {
    pub session: usize,
    pub results: Vec<(LeaseToken, R)>,
    /// True when the host keeps the jobs that it fires.
    pub keeps: bool,
    /// True when they come from quarantine.
    pub again: bool,
}

/// Stage of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Queued,
    Running,
    Waiting,
    Committing,
    Quarantined,
}

#[derive(Debug)]
struct Ticket {
    tenant: TenantId,
    instance: Instance,
    stage: Stage,
    /// Bytes of its result.
    bytes: usize,
}

/// State of claims.
#[derive(Debug)]
struct Claiming {
    under_way: bool,
    told: bool,
    /// Time of the next claim in any case.
    at: Moment,
    /// Jobs waited that had no room: claim again once there is.
    held_back: bool,
    /// Jobs wait that were not claimed.
    jobs_wait: bool,
    /// Number of jobs that the claim under way asked for; it passed over tenants with their share.
    asked: usize,
    narrow: bool,
}

/// The state of a host. `J` is a job as lanes run it, `R` a result as sessions commit it.
#[derive(Debug)]
pub struct Decision<J, R> {
    policy: Policy,
    tickets: HashMap<LeaseToken, Ticket>,
    budgets: Budgets<J>,
    outbox: Outbox<R>,
    quarantine: Quarantine<R>,
    claiming: Claiming,
    /// Lanes that asked for a job and have none yet.
    idle: VecDeque<usize>,
    /// Sessions in use.
    in_use: Vec<bool>,
    /// Sessions whose batch leaves what it fires to the pool.
    leaves: Vec<bool>,
    /// Locks whose results the session of quarantine tries just now.
    tried: Option<Locked>,
    /// Jobs to be put off.
    put_off: Vec<(LeaseToken, Duration)>,
    batches: u64,
    /// Time until which the host counts as shared by several tenants.
    shared_until: Moment,
    stopping: bool,
    wake_at: Option<Moment>,
    /// Jobs that have begun and are not dealt with, those in quarantine left out.
    begun: usize,
}

impl<J, R> Decision<J, R> {
    pub fn new(policy: Policy) -> Self {
        Decision {
            tickets: HashMap::default(),
            budgets: Budgets::new(&policy),
            outbox: Outbox::new(&policy),
            quarantine: Quarantine::new(),
            claiming: Claiming {
                under_way: false,
                told: true,
                at: Moment::default(),
                held_back: false,
                jobs_wait: false,
                asked: 0,
                narrow: false,
            },
            idle: VecDeque::new(),
            in_use: vec![false; policy.sessions()],
            leaves: vec![false; policy.sessions()],
            tried: None,
            put_off: Vec::new(),
            batches: 0,
            shared_until: Moment::default(),
            stopping: false,
            wake_at: None,
            begun: 0,
            policy,
        }
    }

    /// Takes in an event, and says what is to be done.
    pub fn decide(&mut self, event: Event<J, R>, now: Moment) -> Vec<Action<J, R>> {
        self.take_in(event, now);
        if self.budgets.tenants() > 1 {
            self.shared_until = now + self.policy.shared_linger;
        }
        let mut actions = Vec::new();
        self.begin_jobs(now, &mut actions);
        self.commit_results(now, &mut actions);
        self.claim(now, &mut actions);
        let put_off = self.put_off.drain(..);
        actions.extend(put_off.map(|(token, pause)| Action::PutOff { token, pause }));
        self.wake_up(&mut actions);
        actions
    }

    fn take_in(&mut self, event: Event<J, R>, now: Moment) {
        match event {
            Event::Told => self.claiming.told = true,
            Event::Claimed { found, due, next } => self.claimed(found, due, next, now),
            Event::NotClaimed => {
                self.claiming.under_way = false;
                self.claiming.at = now + self.policy.claim_interval;
            }
            Event::Arrived(jobs) => self.arrive(jobs),
            Event::Asked { lane } => self.idle.push_back(lane),
            Event::LaneEnded { lane } => self.idle.retain(|idle| *idle != lane),
            Event::Computes { tenant, so: true } => self.budgets.computes(&self.policy, tenant),
            Event::Computes { tenant, so: false } => self.budgets.rests_from_computing(&self.policy, tenant),
            Event::Finished { token, fuel, bytes, result } => self.finished(token, (fuel, bytes), result, now),
            Event::Committed { tokens, fired } => {
                // What is fired comes first, so that its tenant is never without jobs between two of them.
                self.arrive(fired);
                for token in tokens {
                    self.end(token, now);
                }
            }
            Event::Met { locks, results } => self.meet(locks, results, now),
            Event::Returned { session } => {
                self.in_use[session] = false;
                // What it left waits with all else that is due.
                self.claiming.told |= self.leaves[session];
                if session == self.policy.quarantine_session()
                    && let Some(tried) = self.tried.take()
                {
                    self.quarantine.is_back(tried, now);
                }
            }
            Event::Dropped { token } => self.end(token, now),
            Event::Quotas { resting, limited } => self.budgets.told(resting, limited),
            Event::Woken => self.wake_at = None,
            Event::Stopping => {
                self.stopping = true;
                self.quarantine.hurry(now);
            }
        }
    }

    fn claimed(&mut self, found: usize, due: bool, next: Option<Duration>, now: Moment) {
        let (policy, claiming) = (&self.policy, &mut self.claiming);
        claiming.under_way = false;
        let full = found >= claiming.asked;
        claiming.held_back = full || claiming.narrow && due;
        claiming.jobs_wait = full || due;
        let wait = match due {
            true => policy.claim_interval_when_due,
            false => policy.claim_interval,
        };
        claiming.at = now + next.map_or(wait, |next| next.min(wait));
    }

    fn arrive(&mut self, jobs: Vec<Job<J>>) {
        for Job { token, tenant, instance, job } in jobs {
            // What the sweep took up may have arrived meanwhile.
            if let Entry::Vacant(free) = self.tickets.entry(token) {
                free.insert(Ticket { tenant, instance, stage: Stage::Queued, bytes: 0 });
                self.budgets.add(&self.policy, tenant, token, job);
            }
        }
    }

    fn finished(&mut self, token: LeaseToken, (fuel, bytes): (u64, usize), result: R, now: Moment) {
        let Some(ticket) = self.tickets.get_mut(&token) else {
            return;
        };
        ticket.stage = Stage::Waiting;
        ticket.bytes = bytes;
        let (tenant, instance) = (ticket.tenant, ticket.instance);
        self.budgets.use_fuel(&self.policy, tenant, fuel);
        if self.quarantine.of(instance).is_some() {
            self.count_in_quarantine(token);
        }
        let one = Waiting { token, tenant, instance, result };
        if let Some(one) = self.outbox.stand(one) {
            self.forward(one, now);
        }
    }

    /// Passes on a result that is the first of its instance: to quarantine, where that is locked, else to the outbox.
    fn forward(&mut self, one: Waiting<R>, now: Moment) {
        match self.quarantine.of(one.instance) {
            Some(locked) => {
                self.count_in_quarantine(one.token);
                for token in self.outbox.behind(one.instance) {
                    self.count_in_quarantine(token);
                }
                if self.budgets.quarantined_bytes() > self.policy.quarantine_bytes_max {
                    let until = self.quarantine.until(locked).unwrap_or(now);
                    let pause = until.since(now).max(self.policy.quarantine_first);
                    self.put_off.push((one.token, pause));
                } else {
                    self.quarantine.add(locked, one, now);
                }
            }
            None => {
                self.count_in_flight(one.token);
                let queue = self.queue_of(one.tenant, one.instance.0, now);
                self.outbox.add(&self.policy, queue, one, now);
            }
        }
    }

    /// Returns the queue in which a tenant's result of a flow waits.
    fn queue_of(&self, tenant: TenantId, flow: FlowId, now: Moment) -> Queue {
        let is_over = self.is_shared(now) && self.budgets.is_over(&self.policy, tenant);
        if is_over || self.budgets.is_limited(tenant) {
            Queue::Leave
        } else if self.budgets.is_light(tenant) {
            Queue::Express
        } else {
            Queue::Home(usize::try_from(flow.get()).unwrap_or(0) % self.policy.home_sessions)
        }
    }

    /// Counts a result as one in quarantine, until it is dealt with.
    fn count_in_quarantine(&mut self, token: LeaseToken) {
        if let Some(ticket) = self.tickets.get_mut(&token)
            && ticket.stage != Stage::Quarantined
        {
            ticket.stage = Stage::Quarantined;
            self.budgets.quarantine(ticket.tenant, ticket.bytes);
            self.begun -= 1;
        }
    }

    /// Counts a result in quarantine as one in flight again.
    fn count_in_flight(&mut self, token: LeaseToken) {
        if let Some(ticket) = self.tickets.get_mut(&token)
            && ticket.stage == Stage::Quarantined
        {
            ticket.stage = Stage::Waiting;
            self.budgets.leave_quarantine(ticket.tenant, ticket.bytes);
            self.begun += 1;
        }
    }

    /// Locks were met: what they hold up goes to quarantine, and so does what waits of the same.
    fn meet(&mut self, locks: HashSet<Locked>, results: Vec<(LeaseToken, R)>, now: Moment) {
        let mut withdrawn = Vec::new();
        // In an order that is the same in each run.
        let mut locks: Vec<Locked> = locks.into_iter().collect();
        locks.sort_unstable();
        for lock in locks {
            let (locked, _) = self.quarantine.met(&self.policy, lock, now);
            withdrawn.extend(match locked {
                Locked::Flow(flow) => self.outbox.withdraw(flow, None),
                Locked::Instance((flow, wid)) => self.outbox.withdraw(flow, Some(wid)),
            });
        }
        for (token, result) in results {
            if let Some(ticket) = self.tickets.get(&token) {
                let (tenant, instance) = (ticket.tenant, ticket.instance);
                withdrawn.push(Waiting { token, tenant, instance, result });
            }
        }
        for one in withdrawn {
            self.forward(one, now);
        }
    }

    /// A job is dealt with, or given up: all that it has is given back.
    fn end(&mut self, token: LeaseToken, now: Moment) {
        let Some(ticket) = self.tickets.remove(&token) else {
            return;
        };
        if ticket.stage == Stage::Quarantined {
            self.budgets.end_quarantined(ticket.tenant, ticket.bytes);
        } else {
            self.begun -= usize::from(ticket.stage != Stage::Queued);
            self.budgets.remove(ticket.tenant, token, ticket.stage == Stage::Queued);
        }
        let held = matches!(ticket.stage, Stage::Committing | Stage::Quarantined);
        if held && let Some(next) = self.outbox.free(ticket.instance) {
            self.forward(next, now);
        }
    }

    /// Gives jobs to lanes that asked for one.
    fn begin_jobs(&mut self, now: Moment, actions: &mut Vec<Action<J, R>>) {
        while !self.stopping
            && !self.idle.is_empty()
            && let Some((tenant, token, job)) = self.budgets.next(&self.policy)
        {
            let Some(ticket) = self.tickets.get_mut(&token) else {
                continue;
            };
            ticket.stage = Stage::Running;
            let flow = ticket.instance.0;
            self.begun += 1;
            if self.budgets.is_held(&self.policy, tenant)
                && let Some(until) = self.quarantine.until(Locked::Flow(flow))
            {
                let pause = until.since(now);
                actions.push(Action::PutOff { token, pause });
            } else if let Some(lane) = self.idle.pop_front() {
                actions.push(Action::Run { lane, token, tenant, job });
            }
        }
    }

    /// Gives batches to sessions that are free.
    fn commit_results(&mut self, now: Moment, actions: &mut Vec<Action<J, R>>) {
        for one in self.quarantine.release(now) {
            self.forward(one, now);
        }
        let homes = self.policy.home_sessions;
        for session in homes..self.policy.quarantine_session() {
            if !self.in_use[session] && self.outbox.results(Queue::Express) > 0 {
                let results = self.outbox.take_express(&self.policy, now);
                self.commit(session, results, false, actions);
            }
        }
        // A batch that goes can make what waits overdue for a home before it.
        while let Some(home) = (0..homes).find(|home| !self.in_use[*home] && self.may_go(*home, now)) {
            let (results, leaves) = self.outbox.take_over_home(&self.policy, home, now);
            self.commit(home, results, leaves, actions);
        }
        let session = self.policy.quarantine_session();
        if !self.in_use[session]
            && let Some((locked, results)) = self.quarantine.take(&self.policy)
        {
            self.tried = Some(locked);
            let leaves =
                (results.first()).is_some_and(|one| self.queue_of(one.tenant, one.instance.0, now) == Queue::Leave);
            self.send(session, results, !leaves, actions);
        }
    }

    /// Returns true when a batch goes over a home session now: enough results wait for it, or no home's batch is under
    /// way, or some have waited for long, or have seen many others go.
    fn may_go(&self, home: usize, now: Moment) -> bool {
        let queues = [Queue::Home(home), Queue::Any, Queue::Leave];
        let results: usize = queues.iter().map(|queue| self.outbox.results(*queue)).sum();
        let since = queues.iter().filter_map(|queue| self.outbox.since(*queue)).min();
        self.outbox.results(Queue::Express) > 0
            || results >= self.policy.batch_results_wanted
            || results > 0 && !self.in_use[..self.policy.home_sessions].contains(&true)
            || since.is_some_and(|since| now.since(since) >= self.policy.batch_wait)
            || (queues.iter()).any(|queue| self.outbox.is_overdue(&self.policy, *queue))
            || self.outbox.overdue_home(&self.policy).is_some()
    }

    fn commit(&mut self, session: usize, results: Vec<Waiting<R>>, leaves: bool, actions: &mut Vec<Action<J, R>>) {
        self.batches += 1;
        let turn = self.claiming.jobs_wait && self.batches.is_multiple_of(self.policy.leave_every);
        self.send(session, results, !leaves && !turn, actions);
    }

    fn send(&mut self, session: usize, results: Vec<Waiting<R>>, keeps: bool, actions: &mut Vec<Action<J, R>>) {
        if results.is_empty() {
            return;
        }
        self.in_use[session] = true;
        self.leaves[session] = !keeps;
        let results = results.into_iter().map(|one| {
            if let Some(ticket) = self.tickets.get_mut(&one.token)
                && ticket.stage != Stage::Quarantined
            {
                ticket.stage = Stage::Committing;
            }
            (one.token, one.result)
        });
        let results = results.collect();
        actions.push(Action::Commit(Batch {
            session,
            results,
            keeps,
            again: session == self.policy.quarantine_session(),
        }));
    }

    /// Claims, if there is room, and reason to think that there is work.
    fn claim(&mut self, now: Moment, actions: &mut Vec<Action<J, R>>) {
        let (policy, in_flight) = (&self.policy, self.budgets.in_flight());
        let free = policy.in_flight_max.saturating_sub(in_flight);
        let room = policy.room().saturating_sub(in_flight);
        let again = self.claiming.held_back && free >= policy.claim_min;
        let due = self.claiming.told || again || now >= self.claiming.at;
        if self.stopping || self.claiming.under_way || room == 0 || !due {
            return;
        }
        let narrow = free == 0;
        let mut without = self.budgets.passed_over(policy);
        let share = self.budgets.share(policy);
        if narrow {
            without.extend(self.budgets.with_at_least(share));
        }
        let limit = if narrow { room } else { free }.min(policy.claim_max);
        self.claiming = Claiming { under_way: true, told: false, asked: limit, narrow, ..self.claiming };
        let last = self.budgets.with_at_least(1);
        let of_tenant = (self.budgets.tenants() > 1).then_some(share);
        actions.push(Action::Claim(Claim { limit, of_tenant, without, last }));
    }

    /// Asks to be woken when time alone changes what is to be done.
    fn wake_up(&mut self, actions: &mut Vec<Action<J, R>>) {
        let policy = &self.policy;
        let claim = (!self.stopping && !self.claiming.under_way && self.budgets.in_flight() < policy.room())
            .then_some(self.claiming.at);
        let tried = (!self.in_use[policy.quarantine_session()]).then(|| self.quarantine.next_at()).flatten();
        let queues = (0..policy.home_sessions).filter(|home| !self.in_use[*home]);
        let since =
            (queues.map(Queue::Home).chain([Queue::Any, Queue::Leave])).filter_map(|queue| self.outbox.since(queue));
        let all_in_use = !self.in_use[..policy.home_sessions].contains(&false);
        let batch = since.min().filter(|_| !all_in_use).map(|since| since + policy.batch_wait);
        let next = [claim, tried, batch].into_iter().flatten().min();
        if let Some(at) = next
            && self.wake_at.is_none_or(|before| at < before)
        {
            self.wake_at = Some(at);
            actions.push(Action::WakeAt(at));
        }
    }

    /// Lease tokens of all jobs in flight.
    pub fn tokens(&self) -> Vec<LeaseToken> {
        self.tickets.keys().copied().collect()
    }

    /// Returns true when a job is in flight.
    pub fn holds(&self, token: LeaseToken) -> bool {
        self.tickets.contains_key(&token)
    }

    /// Number of jobs that have begun and are not dealt with, those left out whose results wait for a lock.
    pub fn begun(&self) -> usize {
        self.begun + self.quarantine.unlocked()
    }

    /// Returns true when a tenant's fuel is used up.
    pub fn rests(&self, tenant: TenantId) -> bool {
        self.budgets.rests(tenant)
    }

    /// Returns true when several tenants have jobs in flight, or had a moment ago. What a tenant may not do while
    /// others are at work depends on this alone.
    pub fn is_shared(&self, now: Moment) -> bool {
        now < self.shared_until
    }

    /// Takes the fuel that tenants used since this was asked last.
    pub fn take_fuel(&mut self) -> Vec<(TenantId, u64)> {
        self.budgets.take_fuel()
    }

    /// Puts back fuel that the database could not be told of.
    pub fn put_back_fuel(&mut self, fuel: Vec<(TenantId, u64)>) {
        self.budgets.put_back_fuel(fuel);
    }
}
