//! A simulated host: the decision of a real one, whose actions are carried out one call at a time, in the order that a
//! seed says, against the real functions of the database. Between a call and the arrival of its answer others come.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use rand::Rng;
use rand::rngs::StdRng;
use wedflow_model::{FlowId, HostId, LeaseToken, Measure, TenantId};
use wedflow_store::{Claimed, CommitGroup, CommitItem, FailedAttempt, NextDue, Store};
use wedflow_worker::decision::{
    Action, Batch, Claim, Decision, Event, Instance, Job, LostAnswers, Moment, OfInstance, Part, Parts, Policy,
    Refusal, Step,
};

use crate::support::on;

/// A lease that does not end by itself.
const LEASE: Duration = Duration::from_secs(3600);

/// Surroundings that simulated hosts share: the database, the clock and the seed's choices.
pub(super) struct Surroundings {
    /// Session for all but commits: everything happens in the order that the seed says.
    pub(super) store: Store,
    /// The session of commits.
    pub(super) commits: Store,
    /// Each flow's gate and tenant.
    pub(super) flows: BTreeMap<FlowId, (String, TenantId)>,
    pub(super) random: StdRng,
    pub(super) now: Moment,
    /// Every job that a host was leased.
    pub(super) leased: BTreeMap<LeaseToken, Claimed>,
}

impl Surroundings {
    fn jobs(&mut self, claimed: Vec<Claimed>) -> Vec<Job<Claimed>> {
        let jobs = claimed.into_iter().map(|claimed| {
            let key = claimed.job.key;
            self.leased.insert(claimed.job.token, claimed.clone());
            Job {
                token: claimed.job.token,
                tenant: self.flows[&key.flow].1,
                instance: (key.flow, key.wid),
                job: claimed,
            }
        });
        jobs.collect()
    }

    /// Groups results by flow and clause, as hosts do.
    pub(super) fn groups(&self, results: &[Outcome]) -> Vec<CommitGroup<'static>> {
        let mut groups: Vec<CommitGroup<'static>> = Vec::new();
        for one in results {
            let claimed = &one.claimed;
            let attribute = claimed.job.transition.trim_start_matches("tr_");
            let clause = match one.verdict {
                Verdict::Refused => {
                    format!("{attribute} = (1 / (_r.{attribute}::integer - _r.{attribute}::integer))::text || _b._1")
                }
                _ => format!("{attribute} = (_r.{attribute}::integer + _b._1::integer)::text"),
            };
            let item = Cow::Owned(CommitItem {
                wid: claimed.job.key.wid,
                tgid: claimed.job.key.tgid,
                token: claimed.job.token,
                literals: vec![Some("1".to_owned())],
                measure: Measure::default(),
            });
            let is_same = |group: &&mut CommitGroup<'static>| {
                group.flow == claimed.job.key.flow
                    && group.version == claimed.flow_version
                    && group.set.as_deref() == Some(&clause)
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.items.push(item),
                None => groups.push(CommitGroup {
                    flow: claimed.job.key.flow,
                    version: claimed.flow_version,
                    gate: self.flows[&claimed.job.key.flow].0.clone().into(),
                    assigned: vec![Arc::from(attribute)].into(),
                    set: Some(clause.into()),
                    items: vec![item],
                }),
            }
        }
        groups
    }
}

/// Outcome of a simulated attempt.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) claimed: Claimed,
    pub(super) verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Counts its attribute up.
    Commits,
    /// The database refuses its clause.
    Refused,
    /// The attempt failed; true if another may be made.
    Fails(bool),
}

impl OfInstance for Outcome {
    fn instance(&self) -> Instance {
        (self.claimed.job.key.flow, self.claimed.job.key.wid)
    }
}

fn tokens(results: &[Outcome]) -> Vec<LeaseToken> {
    results.iter().map(|one| one.claimed.job.token).collect()
}

/// Trouble with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    None,
    /// The answer to a commit is lost; also when the call never came there.
    AnswerLost,
    ClaimLost,
    AttemptFails,
    BadResult,
    /// Whatever carries the action out panics.
    Panics,
    /// The job is given back unrun.
    GivenBack,
    /// A part that was committed is committed once more.
    Twice,
}

/// An action on its way.
enum Task {
    Ask(usize),
    Claim(Claim),
    /// The answer to a claim.
    Claimed(Vec<Claimed>, NextDue),
    /// A job that a lane is about to begin.
    Begin(usize, LeaseToken, Claimed),
    /// An attempt; true when it computes.
    Run(LeaseToken, Claimed, bool),
    Commit(Box<Committing>),
    PutOff(LeaseToken, Duration),
}

impl Task {
    /// Returns true when the trouble can happen to it.
    fn suffers(&self, trouble: Trouble) -> bool {
        match trouble {
            Trouble::None => true,
            Trouble::AnswerLost => matches!(self, Task::Commit(one) if one.phase.calls()),
            Trouble::Twice => {
                matches!(self, Task::Commit(one) if matches!(one.phase, Phase::Answered(_, Ok(_))) && !one.records)
            }
            Trouble::ClaimLost => matches!(self, Task::Claim(_) | Task::Claimed(..)),
            Trouble::AttemptFails | Trouble::BadResult => matches!(self, Task::Run(..)),
            Trouble::GivenBack => matches!(self, Task::Begin(..) | Task::Run(..)),
            Trouble::Panics => {
                matches!(self, Task::Begin(..) | Task::Run(..) | Task::Commit(_) | Task::Claim(_))
            }
        }
    }
}

/// Answer of the database to a part: what it fired, or why it was refused, with the SQLSTATE.
type Answer = Result<Vec<Claimed>, (Refusal, String)>;

enum Phase {
    Next,
    Call(Part<Outcome>),
    Answered(Part<Outcome>, Answer),
    /// Asks which results are still its own.
    LookUp(Part<Outcome>),
}

impl Phase {
    fn calls(&self) -> bool {
        matches!(self, Phase::Next | Phase::Call(_))
    }
}

/// A batch on its way.
struct Committing {
    host: HostId,
    session: usize,
    keeps: bool,
    /// Results that are not dealt with, with their instances.
    held: BTreeMap<LeaseToken, Instance>,
    parts: Parts<Outcome>,
    failed: Vec<Outcome>,
    /// True once failed attempts are recorded.
    records: bool,
    phase: Phase,
}

/// A host, as its decision and what is on its way.
pub(super) struct Host {
    pub(super) number: HostId,
    decision: Decision<Claimed, Outcome>,
    tasks: Vec<Task>,
    wake_at: Option<Moment>,
    answers: LostAnswers,
    /// Steps until it leaves, of a host that stops.
    pub(super) leaves_in: Option<usize>,
}

impl Host {
    /// Enters a host with small limits, so that it meets all of them.
    pub(super) fn enter(s: &mut Surroundings) -> Self {
        let number = on(s.store.register_host("simulated", LEASE)).expect("entered");
        let lanes = s.random.random_range(1..3);
        let policy = Policy {
            claim_max: 4,
            batch_results_max: s.random.random_range(1..5),
            batch_results_of_tenant: s.random.random_range(1..3),
            batch_results_wanted: 3,
            batch_wait_batches: 4,
            leave_every: 2,
            quarantine_instances: 2,
            quarantine_results: s.random.random_range(1..5),
            quarantine_bytes_max: s.random.random_range(1..6) * 100,
            ..Policy::new(lanes, s.random.random_range(2..12))
        };
        let mut host = Host {
            number,
            decision: Decision::new(policy),
            tasks: (0..lanes).map(Task::Ask).collect(),
            wake_at: None,
            answers: LostAnswers::default(),
            leaves_in: None,
        };
        host.tell(Event::Told, s.now);
        host
    }

    pub(super) fn tell(&mut self, event: Event<Claimed, Outcome>, now: Moment) {
        for action in self.decision.decide(event, now) {
            let task = match action {
                Action::Claim(claim) => Task::Claim(claim),
                Action::Run { lane, token, job, .. } => Task::Begin(lane, token, job),
                Action::Commit(batch) => Task::Commit(Box::new(self.begin(batch))),
                Action::PutOff { token, pause } => Task::PutOff(token, pause),
                Action::WakeAt(at) => {
                    self.wake_at = Some(at);
                    continue;
                }
            };
            self.tasks.push(task);
        }
    }

    /// Begins a batch; no instance and no session is in two of them.
    fn begin(&self, batch: Batch<Outcome>) -> Committing {
        let results: Vec<Outcome> = batch.results.into_iter().map(|(_, one)| one).collect();
        let instances: BTreeSet<Instance> = results.iter().map(OfInstance::instance).collect();
        assert_eq!(instances.len(), results.len(), "an instance twice in a batch");
        for task in &self.tasks {
            if let Task::Commit(other) = task {
                assert_ne!(other.session, batch.session, "a session in two batches");
                assert!(!other.held.values().any(|one| instances.contains(one)), "an instance in two batches");
            }
        }
        let held = results.iter().map(|one| (one.claimed.job.token, one.instance()));
        let held = held.collect();
        let fails = |one: &Outcome| matches!(one.verdict, Verdict::Fails(_));
        let (failed, ready) = results.into_iter().partition(fails);
        Committing {
            host: self.number,
            session: batch.session,
            keeps: batch.keeps,
            held,
            parts: Parts::new(ready),
            failed,
            records: false,
            phase: Phase::Next,
        }
    }

    /// Tells that time has passed, if it asked for that.
    pub(super) fn wake(&mut self, now: Moment) {
        if self.wake_at.is_some_and(|at| at <= now) {
            self.wake_at = None;
            self.tell(Event::Woken, now);
        }
    }

    /// Number of actions on their way.
    pub(super) fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Returns true when nothing is left of any job.
    pub(super) fn is_clear(&self) -> bool {
        self.decision.tokens().is_empty()
            && self.decision.begun() == 0
            && !self
                .tasks
                .iter()
                .any(|task| matches!(task, Task::Begin(..) | Task::Run(..) | Task::Commit(_) | Task::PutOff(..)))
    }

    pub(super) fn begun(&self) -> usize {
        self.decision.begun()
    }

    /// Carries one action on by one step, one that can suffer the trouble. False when there is none.
    pub(super) fn step(&mut self, s: &mut Surroundings, trouble: Trouble) -> bool {
        let able: Vec<usize> = (0..self.tasks.len()).filter(|at| self.tasks[*at].suffers(trouble)).collect();
        if able.is_empty() {
            return false;
        }
        let at = able[s.random.random_range(0..able.len())];
        match self.tasks.remove(at) {
            Task::Ask(lane) => self.tell(Event::Asked { lane }, s.now),
            Task::Claim(claim) => self.claim(s, &claim, trouble),
            Task::Claimed(..) if trouble == Trouble::ClaimLost => {
                self.tell(Event::NotClaimed, s.now);
            }
            Task::Claimed(claimed, due) => {
                let found = claimed.len();
                self.tell(Event::Arrived(s.jobs(claimed)), s.now);
                let (due, next) = (due.waits, due.next.map(|_| Duration::from_secs(1)));
                self.tell(Event::Claimed { found, due, next }, s.now);
            }
            Task::Begin(lane, token, claimed) => {
                self.tasks.push(Task::Ask(lane));
                if self.leaves_in.is_some() || trouble == Trouble::Panics {
                    self.tell(Event::Dropped { token }, s.now);
                } else {
                    let computes = s.random.random_bool(0.2);
                    if computes {
                        let tenant = s.flows[&claimed.job.key.flow].1;
                        self.tell(Event::Computes { tenant, so: true }, s.now);
                    }
                    self.tasks.push(Task::Run(token, claimed, computes));
                }
            }
            Task::Run(token, claimed, computes) => {
                if computes {
                    let tenant = s.flows[&claimed.job.key.flow].1;
                    self.tell(Event::Computes { tenant, so: false }, s.now);
                }
                self.finish(s, token, claimed, trouble);
            }
            Task::Commit(batch) if trouble == Trouble::Panics => self.return_batch(*batch, s.now),
            Task::Commit(batch) => self.carry_on(batch, s, trouble),
            Task::PutOff(token, pause) => {
                on(s.store.put_off(self.number, &[token], None, pause)).expect("put off");
                self.tell(Event::Dropped { token }, s.now);
            }
        }
        true
    }

    fn claim(&mut self, s: &mut Surroundings, claim: &Claim, trouble: Trouble) {
        let whole = |count: usize| i32::try_from(count).expect("few");
        let of_tenant = claim.of_tenant.map(whole);
        let claimed =
            on(s.store.claim_and_look(self.number, whole(claim.limit), of_tenant, &claim.without, &claim.last));
        match claimed {
            Ok((claimed, due)) if trouble == Trouble::None => {
                assert!(claimed.len() <= claim.limit, "more than it asked for");
                self.tasks.push(Task::Claimed(claimed, due));
            }
            Ok(_) => self.tell(Event::NotClaimed, s.now),
            Err(error) => {
                assert_eq!(error.code(), Some("WF016"), "{error}");
                self.tell(Event::NotClaimed, s.now);
            }
        }
    }

    fn finish(&mut self, s: &mut Surroundings, token: LeaseToken, claimed: Claimed, trouble: Trouble) {
        let verdict = match trouble {
            Trouble::Panics => return self.tell(Event::Dropped { token }, s.now),
            Trouble::GivenBack => {
                on(s.store.release(self.number, &[token])).expect("released");
                return self.tell(Event::Dropped { token }, s.now);
            }
            Trouble::AttemptFails => Verdict::Fails(s.random.random_bool(0.9)),
            Trouble::BadResult => Verdict::Refused,
            _ => Verdict::Commits,
        };
        let finished = Event::Finished {
            token,
            fuel: s.random.random_range(0..2_000_000),
            bytes: s.random.random_range(0..200),
            result: Outcome { claimed, verdict },
        };
        self.tell(finished, s.now);
    }

    /// Carries a batch on by one call, or by the arrival of its answer.
    fn carry_on(&mut self, mut batch: Box<Committing>, s: &mut Surroundings, trouble: Trouble) {
        batch.phase = match std::mem::replace(&mut batch.phase, Phase::Next) {
            Phase::Next => match batch.parts.next_part() {
                Some(part) => batch.call(part, s, trouble),
                None if batch.failed.is_empty() => return self.return_batch(*batch, s.now),
                None => {
                    batch.parts = Parts::new(std::mem::take(&mut batch.failed));
                    batch.records = true;
                    Phase::Next
                }
            },
            Phase::Call(part) => batch.call(part, s, trouble),
            Phase::Answered(part, Ok(fired)) => {
                if trouble == Trouble::Twice {
                    let groups = s.groups(&part.results);
                    let again = on(s.commits.commit_batch(batch.host, &groups, false, true));
                    assert!(again.is_err(), "a job's result is taken once: {part:?}");
                }
                let tokens = batch.let_go(&part.results);
                let fired = s.jobs(fired);
                self.tell(Event::Committed { tokens, fired }, s.now);
                Phase::Next
            }
            Phase::Answered(part, Err((refusal, code))) => self.refused(&mut batch, part, refusal, &code, s),
            Phase::LookUp(mut part) => {
                let tokens = tokens(&part.results);
                let held = on(s.store.still_held(batch.host, &tokens)).expect("an answer");
                let is_held = |one: &Outcome| held.contains(&one.claimed.job.token);
                part.results.retain(is_held);
                match part.results.is_empty() {
                    true => Phase::Next,
                    false => Phase::Call(part),
                }
            }
        };
        self.tasks.push(Task::Commit(batch));
    }

    fn refused(
        &mut self,
        batch: &mut Committing,
        part: Part<Outcome>,
        refusal: Refusal,
        code: &str,
        s: &mut Surroundings,
    ) -> Phase {
        match batch.parts.refused(part, refusal) {
            Step::Again { part, .. } if batch.records => return Phase::Call(part),
            Step::Again { part, .. } => return Phase::LookUp(part),
            Step::Split | Step::Lost(_) => {}
            Step::Meet { locks, results } => {
                let tokens = batch.let_go(&results);
                let results = tokens.into_iter().zip(results).collect();
                self.tell(Event::Met { locks, results }, s.now);
            }
            Step::GiveBack(results) => {
                on(s.store.release(batch.host, &tokens(&results))).expect("released");
                let tokens = batch.let_go(&results);
                let fired = Vec::new();
                self.tell(Event::Committed { tokens, fired }, s.now);
            }
            // Final meanwhile, or not its own any more.
            Step::Fail(_) if ["WF002", "WF003"].contains(&code) => {}
            Step::Fail(one) => {
                assert!(!batch.records, "a failed attempt is refused: {code}");
                assert_eq!(one.verdict, Verdict::Refused, "{code} for {one:?}");
                batch.failed.push(Outcome { verdict: Verdict::Fails(true), ..one });
            }
        }
        Phase::Next
    }

    /// Gives up what a batch still holds; its session is free.
    fn return_batch(&mut self, batch: Committing, now: Moment) {
        let tokens = batch.held.into_keys().collect();
        let fired = Vec::new();
        self.tell(Event::Committed { tokens, fired }, now);
        let session = batch.session;
        self.tell(Event::Returned { session }, now);
    }

    /// Keeps the leases, or enters anew.
    pub(super) fn beat(&mut self, s: &mut Surroundings) {
        if !on(s.store.renew_lease(self.number, LEASE)).expect("an answer") {
            self.number = on(s.store.register_host("simulated", LEASE)).expect("entered");
        }
    }

    /// Looks for jobs that are its own without its knowing.
    pub(super) fn look(&mut self, s: &mut Surroundings) {
        if self.leaves_in.is_some() {
            return;
        }
        let known = self.decision.tokens();
        let found = on(s.store.held_beside(self.number, &known)).expect("an answer");
        let lost = self.answers.found(found, |claimed| claimed.job.token);
        self.tell(Event::Arrived(s.jobs(lost)), s.now);
    }

    /// Tells what fuel was used, and learns which tenants are idle.
    pub(super) fn tell_fuel(&mut self, s: &mut Surroundings) {
        let (tenants, fuel): (Vec<TenantId>, Vec<i64>) = (self.decision.take_fuel().into_iter())
            .map(|(tenant, fuel)| (tenant, i64::try_from(fuel).expect("little")))
            .unzip();
        let (resting, limited) = on(s.store.tell_fuel(&tenants, &fuel)).expect("an answer");
        self.tell(Event::Quotas { resting, limited }, s.now);
    }

    /// Gives its jobs back and leaves.
    pub(super) fn leave(self, s: &mut Surroundings) {
        on(s.store.leave_host(self.number)).expect("left");
    }
}

impl Committing {
    /// Results that are dealt with.
    fn let_go(&mut self, results: &[Outcome]) -> Vec<LeaseToken> {
        let tokens = tokens(results);
        for token in &tokens {
            self.held.remove(token);
        }
        tokens
    }

    /// Calls the database with a part. Where the answer is lost, the call came there or it did not.
    fn call(&self, part: Part<Outcome>, s: &mut Surroundings, trouble: Trouble) -> Phase {
        let is_lost = trouble == Trouble::AnswerLost;
        let lost = Err((Refusal::OfServer, String::new()));
        if is_lost && s.random.random_bool(0.3) {
            return Phase::Answered(part, lost);
        }
        let answer = if self.records {
            let attempts: Vec<FailedAttempt> = part.results.iter().map(attempt).collect();
            on(s.commits.fail_attempts(self.host, &attempts)).map(|()| Vec::new())
        } else {
            let groups = s.groups(&part.results);
            on((s.commits).commit_batch(self.host, &groups, part.careful, self.keeps))
        };
        let answer = answer.map_err(|error| {
            let code = error.code().unwrap_or_default().to_owned();
            (Refusal::from(&error), code)
        });
        Phase::Answered(part, if is_lost { lost } else { answer })
    }
}

fn attempt(one: &Outcome) -> FailedAttempt {
    let job = &one.claimed.job;
    FailedAttempt {
        flow: job.key.flow,
        wid: job.key.wid,
        token: job.token,
        outcome: "failed".to_owned(),
        message: "simulated".to_owned(),
        retry: one.verdict != Verdict::Fails(false),
        after: None,
        fuel: 0,
        elapsed_us: 0,
        memory_bytes: 0,
    }
}
