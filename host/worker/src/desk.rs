//! The desk: the one lock around a host's [`Decision`]. Whoever has something to tell tells it here; lanes take what
//! was decided from here, as events of their schedulers.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use foldhash::HashSet;
use tokio::sync::watch;
use wedflow_model::{LeaseToken, TenantId};
use wedflow_sandbox::Watch;
use wedflow_scheduler::{EventSource, Failure, FailureCause, Moment, Observing, Sleep};
use wedflow_store::Claimed;

use crate::decision::{Action, Batch, Claim, Decision, Event, Job, Locked, Policy};
use crate::results::Finished;

/// An event of a host.
pub(crate) type HostEvent = Event<Claimed, Finished>;

/// Desk of a host: takes events in and hands actions out. Clones are the same desk.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    begun_at: Instant,
    state: Arc<Mutex<State>>,
    /// Becomes true for good when a decision or a source of a lane has panicked.
    broken: Arc<watch::Sender<bool>>,
}

#[derive(Debug)]
struct State {
    decision: Decision<Claimed, Finished>,
    /// Each lane's job to run.
    runs: Vec<Lane>,
    batches: VecDeque<Batch<Finished>>,
    batch_wakers: Vec<Option<Waker>>,
    claim: Option<Claim>,
    put_off: VecDeque<(LeaseToken, Duration)>,
    wake_at: Option<Moment>,
    errand_waker: Option<Waker>,
    /// Tokens of jobs that were claimed and whose tenants are being looked up.
    arriving: HashSet<LeaseToken>,
}

#[derive(Debug, Default)]
struct Lane {
    has_asked: bool,
    run: Option<(LeaseToken, TenantId, Claimed)>,
    waker: Option<Waker>,
}

/// Duties of one lane for all.
#[derive(Debug)]
pub(crate) enum Errand {
    Claim(Claim),
    PutOff { ticket: Ticket, pause: Duration },
}

/// A job to run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) ticket: Ticket,
    pub(crate) tenant: TenantId,
    pub(crate) claimed: Claimed,
}

/// A job in flight that a lane deals with. Dropped before it is finished, it is given up.
#[derive(Debug)]
pub(crate) struct Ticket {
    desk: Desk,
    token: LeaseToken,
    is_finished: bool,
}

impl Ticket {
    /// Hands in the attempt's result.
    pub(crate) fn finish(mut self, fuel: u64, result: Finished) {
        self.is_finished = true;
        self.desk.tell(Event::Finished { token: self.token, fuel, bytes: result.bytes(), result });
    }

    pub(crate) fn token(&self) -> LeaseToken {
        self.token
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.is_finished {
            self.desk.tell(Event::Dropped { token: self.token });
        }
    }
}

/// A batch that a lane commits. Dropped, its session is free, and what it still holds is given up.
#[derive(Debug)]
pub(crate) struct Committing {
    desk: Desk,
    pub(crate) session: usize,
    pub(crate) keeps: bool,
    /// True when its results come from quarantine.
    pub(crate) again: bool,
    tokens: HashSet<LeaseToken>,
}

impl Committing {
    /// Some of its results are committed; these jobs were fired by them.
    pub(crate) fn committed(&mut self, tokens: Vec<LeaseToken>, fired: Vec<Job<Claimed>>) {
        for token in &tokens {
            self.tokens.remove(token);
        }
        self.desk.tell(Event::Committed { tokens, fired });
    }

    /// Some of its results wait for locks.
    pub(crate) fn met(&mut self, locks: HashSet<Locked>, results: Vec<Finished>) {
        let results: Vec<_> = results.into_iter().map(|one| (one.token, one)).collect();
        for (token, _) in &results {
            self.tokens.remove(token);
        }
        self.desk.tell(Event::Met { locks, results });
    }
}

impl Drop for Committing {
    fn drop(&mut self) {
        let tokens = self.tokens.drain().collect();
        self.desk.tell(Event::Committed { tokens, fired: Vec::new() });
        self.desk.tell(Event::Returned { session: self.session });
    }
}

/// Jobs that are this host's before their tenants are known.
#[derive(Debug)]
pub(crate) struct Arriving {
    desk: Desk,
    tokens: Vec<LeaseToken>,
}

impl Drop for Arriving {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        for token in &self.tokens {
            state.arriving.remove(token);
        }
    }
}

/// Tells whether a tenant's attempt computes.
#[derive(Debug)]
pub(crate) struct Load {
    desk: Desk,
    tenant: TenantId,
}

impl Watch for Load {
    fn computes(&self) {
        self.desk.tell(Event::Computes { tenant: self.tenant, so: true });
    }

    fn rests(&self) {
        self.desk.tell(Event::Computes { tenant: self.tenant, so: false });
    }
}

impl Desk {
    pub(crate) fn new(policy: Policy) -> Self {
        let lanes = policy.lanes;
        Desk {
            begun_at: Instant::now(),
            state: Arc::new(Mutex::new(State {
                decision: Decision::new(policy),
                runs: (0..lanes).map(|_| Lane::default()).collect(),
                batches: VecDeque::new(),
                batch_wakers: vec![None; lanes],
                claim: None,
                put_off: VecDeque::new(),
                wake_at: None,
                errand_waker: None,
                arriving: HashSet::default(),
            })),
            broken: Arc::new(watch::Sender::new(false)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            self.broken.send_replace(true);
            PoisonError::into_inner(poisoned)
        })
    }

    /// Notes a failure of a lane's scheduler. A handler's costs its own job; a source's leaves duties that nobody does.
    pub(crate) fn note(&self, failure: &Failure) {
        if let FailureCause::SourcePanicked(_) = failure.cause {
            self.broken.send_replace(true);
        }
    }

    /// Returns true when a decision or a source has panicked: what is decided is not to be trusted any more.
    pub(crate) fn is_broken(&self) -> bool {
        *self.broken.borrow()
    }

    /// Ends when [`Desk::is_broken`] is true.
    pub(crate) async fn until_broken(&self) {
        // The sender is here, so there is an answer.
        let _ = self.broken.subscribe().wait_for(|broken| *broken).await;
    }

    fn now(&self) -> Moment {
        Moment::default() + self.begun_at.elapsed()
    }

    /// Tells an event, and wakes whoever has something to do then.
    pub(crate) fn tell(&self, event: HostEvent) {
        let wakers = {
            let mut state = self.state();
            self.decide(&mut state, event)
        };
        // Nobody is woken under the lock: this may be a thread of a lower priority.
        wakers.into_iter().for_each(Waker::wake);
    }

    fn decide(&self, state: &mut State, event: HostEvent) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for action in state.decision.decide(event, self.now()) {
            match action {
                Action::Run { lane, token, tenant, job } => {
                    let lane = &mut state.runs[lane];
                    lane.run = Some((token, tenant, job));
                    wakers.extend(lane.waker.take());
                }
                Action::Commit(batch) => {
                    state.batches.push_back(batch);
                    // Whoever has least to do comes first.
                    wakers.extend(state.batch_wakers.iter_mut().filter_map(Option::take));
                }
                Action::Claim(claim) => {
                    state.claim = Some(claim);
                    wakers.extend(state.errand_waker.take());
                }
                Action::PutOff { token, pause } => {
                    state.put_off.push_back((token, pause));
                    wakers.extend(state.errand_waker.take());
                }
                Action::WakeAt(at) => {
                    state.wake_at = Some(at);
                    wakers.extend(state.errand_waker.take());
                }
            }
        }
        wakers
    }

    fn ticket(&self, token: LeaseToken) -> Ticket {
        Ticket { desk: self.clone(), token, is_finished: false }
    }

    /// Notes that jobs are this host's while their tenants are looked up.
    pub(crate) fn arriving(&self, tokens: Vec<LeaseToken>) -> Arriving {
        self.state().arriving.extend(&tokens);
        Arriving { desk: self.clone(), tokens }
    }

    /// Lease tokens of all jobs that this host knows to be its own.
    pub(crate) fn tokens(&self) -> Vec<LeaseToken> {
        let state = self.state();
        state.decision.tokens().into_iter().chain(state.arriving.iter().copied()).collect()
    }

    /// Returns true when this host knows a job to be its own.
    pub(crate) fn holds(&self, token: LeaseToken) -> bool {
        let state = self.state();
        state.decision.holds(token) || state.arriving.contains(&token)
    }

    /// Number of jobs that have begun and are not dealt with, those in quarantine left out.
    pub(crate) fn begun(&self) -> usize {
        self.state().decision.begun()
    }

    /// Returns true when a tenant's fuel is used up.
    pub(crate) fn rests(&self, tenant: TenantId) -> bool {
        self.state().decision.rests(tenant)
    }

    /// Returns true when several tenants have jobs in flight, or had a moment ago.
    pub(crate) fn is_shared(&self) -> bool {
        self.state().decision.is_shared(self.now())
    }

    /// Takes the fuel that tenants used since this was asked last.
    pub(crate) fn take_fuel(&self) -> Vec<(TenantId, u64)> {
        self.state().decision.take_fuel()
    }

    /// Puts back fuel that the database could not be told of.
    pub(crate) fn put_back_fuel(&self, fuel: Vec<(TenantId, u64)>) {
        self.state().decision.put_back_fuel(fuel);
    }

    /// Returns the watch that learns whether a tenant's attempt computes.
    pub(crate) fn load(&self, tenant: TenantId) -> Arc<dyn Watch> {
        Arc::new(Load { desk: self.clone(), tenant })
    }

    /// The source of a lane's jobs.
    pub(crate) fn runs(&self, lane: usize) -> RunSource {
        RunSource { desk: self.clone(), lane }
    }

    /// The source of batches; each goes to the lane that takes it first.
    pub(crate) fn batches(&self, lane: usize) -> BatchSource {
        BatchSource { desk: self.clone(), lane }
    }

    /// The source of errands, which also tells when time has passed.
    pub(crate) fn errands(&self) -> ErrandSource {
        ErrandSource { desk: self.clone(), sleep: None }
    }
}

/// See [`Desk::runs`].
pub(crate) struct RunSource {
    desk: Desk,
    lane: usize,
}

impl EventSource for RunSource {
    type Event = Run;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Run>> {
        let mut state = self.desk.state();
        let mut wakers = Vec::new();
        if !state.runs[self.lane].has_asked {
            state.runs[self.lane].has_asked = true;
            state.runs[self.lane].waker = None;
            wakers = self.desk.decide(&mut state, Event::Asked { lane: self.lane });
        }
        let lane = &mut state.runs[self.lane];
        let run = lane.run.take();
        match run {
            Some(_) => lane.has_asked = false,
            None => lane.waker = Some(observing.waker().clone()),
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        match run {
            Some((token, tenant, claimed)) => {
                let ticket = self.desk.ticket(token);
                Poll::Ready(Some(Run { ticket, tenant, claimed }))
            }
            None => Poll::Pending,
        }
    }
}

/// A lane that is no more gives up the job that it has not begun.
impl Drop for RunSource {
    fn drop(&mut self) {
        let run = self.desk.state().runs[self.lane].run.take();
        self.desk.tell(Event::LaneEnded { lane: self.lane });
        if let Some((token, ..)) = run {
            self.desk.tell(Event::Dropped { token });
        }
    }
}

/// See [`Desk::batches`].
pub(crate) struct BatchSource {
    desk: Desk,
    lane: usize,
}

impl EventSource for BatchSource {
    type Event = (Committing, Vec<Finished>);

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Self::Event>> {
        let mut state = self.desk.state();
        let Some(batch) = state.batches.pop_front() else {
            state.batch_wakers[self.lane] = Some(observing.waker().clone());
            return Poll::Pending;
        };
        let committing = Committing {
            desk: self.desk.clone(),
            session: batch.session,
            keeps: batch.keeps,
            again: batch.again,
            tokens: batch.results.iter().map(|(token, _)| *token).collect(),
        };
        let results = batch.results.into_iter().map(|(_, one)| one).collect();
        Poll::Ready(Some((committing, results)))
    }
}

/// See [`Desk::errands`].
pub(crate) struct ErrandSource {
    desk: Desk,
    sleep: Option<(Moment, Pin<Box<Sleep>>)>,
}

impl EventSource for ErrandSource {
    type Event = Errand;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Errand>> {
        loop {
            let mut state = self.desk.state();
            if let Some(claim) = state.claim.take() {
                return Poll::Ready(Some(Errand::Claim(claim)));
            }
            if let Some((token, pause)) = state.put_off.pop_front() {
                let ticket = self.desk.ticket(token);
                return Poll::Ready(Some(Errand::PutOff { ticket, pause }));
            }
            state.errand_waker = Some(observing.waker().clone());
            let Some(at) = state.wake_at else {
                return Poll::Pending;
            };
            let now = self.desk.now();
            if at > now {
                drop(state);
                let until = observing.now() + at.since(now);
                let known = self.sleep.take().filter(|(known, _)| *known == at);
                let (_, mut sleep) = known.unwrap_or_else(|| (at, Box::pin(observing.sleep_until(until))));
                if sleep.as_mut().poll(&mut observing.context()).is_pending() {
                    self.sleep = Some((at, sleep));
                    return Poll::Pending;
                }
                // The two clocks differ by less than their resolution.
                continue;
            }
            state.wake_at = None;
            let wakers = self.desk.decide(&mut state, Event::Woken);
            drop(state);
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::results::tests::finished;
    use wedflow_model::{ComponentId, FlowId, JobKey, TriggerId, Wid};

    const TOKEN: LeaseToken = LeaseToken::new(7);

    /// A desk with a job that has begun, and its ticket.
    fn begun() -> (Desk, Ticket) {
        let desk = Desk::new(Policy::new(1, 10));
        desk.tell(Event::Asked { lane: 0 });
        desk.tell(Event::Arrived(vec![job(TOKEN)]));
        assert_eq!((desk.tokens(), desk.begun()), (vec![TOKEN], 1));
        let ticket = desk.ticket(TOKEN);
        (desk, ticket)
    }

    fn job(token: LeaseToken) -> Job<Claimed> {
        let key = JobKey { flow: FlowId::new(1), wid: Wid::new(1), tgid: TriggerId::new(1) };
        let job = wedflow_model::Job {
            key,
            transition: String::new(),
            token,
            attempt: 1,
            timeout: Duration::ZERO,
            payload: String::new(),
            fired_by: 1,
        };
        Job {
            token,
            tenant: TenantId::new(1),
            instance: (key.flow, key.wid),
            job: Claimed {
                job,
                trigger: String::new(),
                component_id: ComponentId::new(1),
                flow_version: 1,
                taken_at: None,
            },
        }
    }

    #[test]
    fn a_panic_in_a_decision_breaks_the_desk() {
        let (desk, ticket) = begun();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _state = desk.state();
            panic!("on purpose");
        }));
        assert!(panicked.is_err() && !desk.is_broken());
        drop(ticket);
        assert!(desk.is_broken());
    }

    struct Panics;

    impl EventSource for Panics {
        type Event = ();

        fn poll_event(&mut self, _: &mut Observing<'_>) -> Poll<Option<()>> {
            panic!("on purpose")
        }
    }

    #[tokio::test]
    async fn a_panic_in_a_source_breaks_the_desk() {
        let desk = Desk::new(Policy::new(1, 10));
        let noting = desk.clone();
        let mut scheduler =
            wedflow_scheduler::Scheduler::builder().on_failure(move |failure| noting.note(&failure)).build();
        let registration = wedflow_scheduler::Registration::new();
        scheduler.register_with(Panics, |(), _| async { Ok(()) }, registration);
        tokio::select! {
            () = desk.until_broken() => {}
            _ = scheduler.run() => panic!("it ends before the failure is told"),
        }
    }

    fn panics_with(held: impl Sized) {
        let panicked = catch_unwind(AssertUnwindSafe(move || {
            let _held = held;
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
    }

    fn assert_clear(desk: &Desk) {
        assert_eq!(desk.begun(), 0);
        assert!(desk.tokens().is_empty() && !desk.holds(TOKEN));
    }

    #[test]
    fn a_panic_in_an_attempt_gives_back_all_that_its_job_has() {
        let (desk, ticket) = begun();
        panics_with(ticket);
        assert_clear(&desk);
    }

    #[test]
    fn a_lane_that_ends_gives_up_its_job_and_is_given_no_other() {
        let desk = Desk::new(Policy::new(2, 10));
        for lane in 0..2 {
            desk.state().runs[lane].has_asked = true;
            desk.tell(Event::Asked { lane });
        }
        desk.tell(Event::Arrived(vec![job(TOKEN)]));
        panics_with(desk.runs(0));
        assert_clear(&desk);
        // The other one is given both of these, one after the other.
        for token in [8, 9].map(LeaseToken::new) {
            desk.tell(Event::Arrived(vec![job(token)]));
            let run = desk.state().runs[1].run.take();
            assert_eq!(run.map(|(token, ..)| token), Some(token));
            drop(desk.ticket(token));
            desk.tell(Event::Asked { lane: 1 });
        }
        assert_clear(&desk);
    }

    #[test]
    fn a_panic_in_a_commit_frees_its_session_and_gives_back_its_jobs() {
        let (desk, ticket) = begun();
        let take = |ticket: Ticket| {
            ticket.finish(1, finished(1, 1));
            let batch = desk.state().batches.pop_front();
            let batch = batch.expect("a batch, over a session that is free");
            Committing {
                desk: desk.clone(),
                session: batch.session,
                keeps: batch.keeps,
                again: batch.again,
                tokens: batch.results.iter().map(|(token, _)| *token).collect(),
            }
        };
        panics_with(take(ticket));
        assert_clear(&desk);
        for token in (8..40).map(LeaseToken::new) {
            desk.tell(Event::Asked { lane: 0 });
            desk.tell(Event::Arrived(vec![job(token)]));
            drop(desk.state().runs[0].run.take());
            drop(take(desk.ticket(token)));
        }
        assert_clear(&desk);
    }
}
