//! A lane: one event scheduler, one processor's share of a host.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use foldhash::{HashMap, HashMapExt, HashSet};
use futures::FutureExt;
use wedflow_capability::files::Draft;
use wedflow_contract::Digest;
use wedflow_model::{FlowId, HostId, LeaseToken, Limits, Measure, Outcome, Severity, TenantId};
use wedflow_sandbox::{Beside, Invocation, Logs, Sandbox, Watch};
use wedflow_scheduler::{Context, FreshFirst, HandlerResult, Registration, Scheduler, source};
use wedflow_store::{Claimed, LogLine, Store};

use crate::batches::{BATCH, Batch, Batches};
use crate::bindings::{Bindings, NotLoaded, Runnable};
use crate::breaker::{Apart, Breaker};
use crate::commit;
use crate::outside::Outside;
use crate::results::{Finished, Verdict, no_record};
use crate::shares::Shares;
use crate::silence::{AT_LAST, answered};
use crate::turns::{Turn, Turns};
use crate::work::Work;

/// How often a lane looks for work that nobody told it of.
const POLL: Duration = Duration::from_secs(1);
/// Batches that one lane may have on their way to the database at once; how many are is decided where they are made
/// (batches.rs).
const COMMITS_AT_ONCE: usize = 3;
/// How long after a commit a lane looks whether jobs wait whose tenant has room in its share again.
const FOR_A_SHARE: Duration = Duration::from_millis(20);
/// Steps of others that go before a guest that computes has its next millisecond: together about as long.
const BESIDE_COMPUTING: u32 = 32;
/// How long a job is held that cannot be loaded now, before it is given back.
const UNTIL_LATER: Duration = Duration::from_secs(1);
/// Jobs claimed in one call.
const CLAIM: usize = 128;
/// While jobs wait that a full lane has no room for, the jobs that every so many-th batch fires are not
/// kept but queue up behind them: flows that go on for ever do not keep a host from all others.
const TURN: u32 = 8;

/// What the lanes of a host share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) bindings: Bindings,
    pub(crate) limits: Limits,
    pub(crate) outside: Outside,
    /// The host's number; another after its leases were lost.
    pub(crate) host: AtomicI32,
    /// No more jobs are begun.
    pub(crate) draining: AtomicBool,
    /// Tokens of the jobs in hand.
    pub(crate) in_hand: Mutex<HashSet<LeaseToken>>,
    /// What each tenant has of this host.
    pub(crate) shares: Arc<Shares>,
    /// Jobs being run or committed right now.
    pub(crate) busy: AtomicUsize,
    /// Each lane's jobs in hand.
    pub(crate) hands: Vec<Hand>,
    /// What runs came to, of all lanes: a flow's results meet in one batch wherever they were run.
    pub(crate) batches: Batches,
    /// Where attempts at what faults are made.
    pub(crate) apart: Apart,
    /// Sessions that batches are committed over, each one at a time.
    pub(crate) sessions: Vec<Store>,
    /// Transitions committed so far.
    pub(crate) committed: AtomicU64,
    /// Where it is said that other hosts are to be told of work.
    pub(crate) tellings: source::QueueSender<()>,
}

impl Shared {
    pub(crate) fn host(&self) -> HostId {
        HostId::new(self.host.load(Ordering::Acquire))
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Has other hosts told that there is work which this one left. Any number of times at once are one.
    fn tell_others(&self) {
        // Full: it is about to be said.
        let _ = self.tellings.try_send(());
    }

    /// The tokens in hand.
    pub(crate) fn tokens(&self) -> std::sync::MutexGuard<'_, HashSet<LeaseToken>> {
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a lane has in hand.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    jobs: AtomicUsize,
    /// Tells the lane that there may be work for it.
    pub(crate) work: Work,
}

impl Hand {
    fn jobs(&self) -> usize {
        self.jobs.load(Ordering::Acquire)
    }

    fn take(&self, jobs: usize) {
        self.jobs.fetch_add(jobs, Ordering::AcqRel);
    }

    /// Gives jobs out of hand; tells the lane when it has less than `half` of its room full then.
    fn give(&self, jobs: usize, half: usize) {
        let less = |before: usize| Some(before.saturating_sub(jobs));
        let (Ok(before) | Err(before)) =
            (self.jobs).fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        if before < jobs {
            tracing::error!(before, jobs, "more jobs were given out of hand than taken");
        }
        if before >= half && before.saturating_sub(jobs) < half {
            self.work.tell();
        }
    }
}

/// A lane's own.
#[derive(Clone)]
pub(crate) struct Lane {
    /// Which of the host's, counted from 0.
    number: usize,
    pub(crate) shared: Arc<Shared>,
    /// Jobs this lane may have in hand.
    room: usize,
    /// Jobs in hand that have not begun. Unbounded, because what a commit fired is leased already and must
    /// be taken; what is claimed is bounded by the lane's room.
    turns: Turns,
    /// Jobs wait that this lane had no room for when it last looked.
    crowded: Arc<AtomicBool>,
    /// Batches committed while that was so.
    batches: Arc<AtomicU32>,
    /// The last claim left jobs to wait whose tenant had its share.
    kept_out: Arc<AtomicBool>,
}

impl Lane {
    /// Makes a lane and its scheduler, not yet running.
    pub(crate) fn new(shared: Arc<Shared>, number: usize, room: usize) -> (Lane, Scheduler) {
        let lane = Lane {
            number,
            shared,
            room,
            turns: Turns::new(),
            crowded: Arc::default(),
            batches: Arc::default(),
            kept_out: Arc::default(),
        };
        let mut scheduler = Scheduler::builder()
            .ready_queue(FreshFirst::new(BESIDE_COMPUTING))
            .on_failure(|failure| tracing::error!(%failure, "a handler failed"))
            .build();
        let claiming = lane.clone();
        scheduler.register_source(lane.hand().work.source(POLL), move |(), context| {
            claiming.clone().claim(context)
        });
        let running = lane.clone();
        scheduler.register_with(
            lane.turns.source(),
            move |turn, _| running.clone().run(turn),
            // Fired jobs may go over the lane's room, so that is no limit here.
            Registration::new().in_flight(usize::MAX),
        );
        let committing = lane.clone();
        scheduler.register_with(
            lane.shared.batches.source(number),
            move |batch, context| committing.clone().commit(batch, context),
            Registration::new().in_flight(COMMITS_AT_ONCE),
        );
        (lane, scheduler)
    }

    fn hand(&self) -> &Hand {
        &self.shared.hands[self.number]
    }

    /// Takes jobs that are this host's into this lane. Their tokens are entered before anything is waited for: until
    /// then whoever looks for jobs held unknowingly would take these for such.
    pub(crate) async fn take(&self, claimed: Vec<Claimed>) {
        if claimed.is_empty() {
            return;
        }
        let shared = &self.shared;
        shared
            .tokens()
            .extend(claimed.iter().map(|claimed| claimed.job.token));
        let unknown = shared.shares.unknown(&claimed);
        if !unknown.is_empty()
            && let Some(known) = commit::with_patience(|| shared.store.tenants_of(&unknown)).await
        {
            shared.shares.learn(known);
        }
        self.hand().take(claimed.len());
        let tenants = shared.shares.taken(&claimed);
        (shared.batches).expect(claimed.iter().map(|claimed| claimed.job.key.flow));
        self.turns.put(tenants.into_iter().zip(claimed));
    }

    /// Claims as many jobs as there is room for.
    async fn claim(self, context: Context) -> HandlerResult {
        let shared = &self.shared;
        let asked = shared.shares.asked();
        // Who is at work alone leaves some room, in case another comes.
        let room = match asked.without.is_empty() {
            true => self.room,
            false => self.room + reserve(self.room),
        };
        // Its own room, and the host's: others' jobs come into this hand by being committed here.
        let hands = &shared.hands;
        let all: usize = hands.iter().map(Hand::jobs).sum();
        let free = (room.saturating_sub(self.hand().jobs()))
            .min((room * hands.len()).saturating_sub(all))
            .min(CLAIM);
        if self.shared.is_draining() {
            return Ok(());
        }
        let store = &self.shared.store;
        if free == 0 {
            let due = answered(store, AT_LAST, store.next_due()).await;
            let waits = due.is_ok_and(|due| due.waits);
            self.crowded.store(waits, Ordering::Release);
            return Ok(());
        }
        let whole = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        self.kept_out.store(asked.most.is_some(), Ordering::Release);
        let claimed = store.claim_share(
            self.shared.host(),
            whole(free),
            asked.most.map(whole),
            &asked.without,
            &asked.busy,
        );
        let claimed = answered(store, AT_LAST, claimed).await;
        let claimed = match claimed {
            Ok(claimed) => claimed,
            Err(error) => {
                // Lost leases are the housekeeping's to mend, an absent database mends itself.
                tracing::warn!(%error, "could not claim");
                return Ok(());
            }
        };
        let found = claimed.len();
        self.take(by_flow(claimed)).await;
        if found >= free {
            self.crowded.store(true, Ordering::Release);
            self.hand().work.tell();
        } else if let Ok(due) = answered(store, AT_LAST, store.next_due()).await {
            // Jobs of a tenant that has its share wait for room as well: those that its own commits fire
            // are not to keep them out for ever.
            let bounded = asked.most.is_some() || !asked.without.is_empty();
            self.crowded.store(bounded && due.waits, Ordering::Release);
            // What is due and was not claimed is held by someone, so it is not worth a look at once.
            let waits = due.waits.then_some(POLL / 4);
            if let Some(wait) = waits.into_iter().chain(due.next).min()
                && wait < POLL
            {
                self.hand().work.look_again(context.now() + wait);
            }
        } else {
            self.crowded.store(false, Ordering::Release);
        }
        Ok(())
    }

    /// Runs one job in the sandbox.
    async fn run(self, turn: Turn) -> HandlerResult {
        let Turn {
            claimed,
            tenant,
            put_down,
            load,
        } = turn;
        if self.shared.is_draining() {
            return Ok(()); // given back with all the others when the host leaves
        }
        // What waits for the database is kept apart: it is rare, and would make every run's memory larger.
        let runnable = match self.shared.bindings.known(&claimed) {
            Some(runnable) => Ok(Some(runnable)),
            None => Box::pin(self.load(&claimed)).await,
        };
        let breaker = match &runnable {
            Ok(Some(runnable)) => Some(&*runnable.breaker),
            _ => None,
        };
        // Held until the attempt has ended.
        let paced = match breaker {
            Some(breaker) if breaker.is_open() => {
                let shared = &self.shared;
                let must =
                    || breaker.is_open() && shared.shares.at_work() > 1 && !shared.is_draining();
                match must() {
                    true => Box::pin(shared.apart.turn(tenant, must)).await,
                    false => None,
                }
            }
            _ => None,
        };
        let open = breaker.is_some_and(Breaker::is_open);
        let apart = breaker.is_some_and(Breaker::is_apart).then_some(open);
        if self.shared.is_draining() {
            return Ok(());
        }
        let rests = self.shared.shares.rests(tenant);
        let runnable = match runnable {
            Ok(Some(runnable)) if !rests && !runnable.flow.shape.suspended => Ok(runnable),
            Err(reason) if !rests => Err(reason),
            _ => return Box::pin(self.give_back(&claimed, tenant)).await,
        };
        self.shared.busy.fetch_add(1, Ordering::AcqRel);
        let finished = match runnable {
            Ok(runnable) if let Some(open) = apart => {
                let lane = self.clone();
                let attempt =
                    async move { lane.attempt(&claimed, tenant, &runnable, load, apart).await };
                match Box::pin(self.shared.apart.run(open, attempt)).await {
                    Some(finished) => finished,
                    None => return Ok(()), // the host is no more
                }
            }
            Ok(runnable) => self.attempt(&claimed, tenant, &runnable, load, None).await,
            Err(reason) => self.without_answer(&claimed, tenant, "not_runnable", reason),
        };
        drop(paced);
        self.turns.settle(tenant, put_down, finished.measure.fuel);
        self.shared.batches.put(finished);
        Ok(())
    }

    /// Loads what a job runs; nothing when its tenant is suspended, or this machine cannot load it now. An error is
    /// for a person.
    async fn load(&self, claimed: &Claimed) -> Result<Option<Arc<Runnable>>, String> {
        let bindings = &self.shared.bindings;
        let suspended = commit::with_patience(|| bindings.is_suspended(claimed)).await;
        if suspended == Some(true) {
            return Ok(None);
        }
        let runnable = commit::with_patience(async || match bindings.runnable(claimed).await {
            Ok(runnable) => Ok(Some(runnable)),
            Err(NotLoaded::Later) => Ok(None),
            Err(NotLoaded::Store(error)) => Err(error),
        });
        let loaded = AssertUnwindSafe(runnable).catch_unwind().await;
        match loaded {
            Err(panic) => {
                let panic = panic_message(&*panic);
                Err(format!("the host failed to load it: {panic}"))
            }
            Ok(None) => Err("the flow or the component could not be loaded".to_owned()),
            Ok(Some(Some(runnable))) => runnable.map(Some),
            Ok(Some(None)) => {
                tokio::time::sleep(UNTIL_LATER).await;
                Ok(None)
            }
        }
    }

    /// Gives a job back unrun. Claims leave it alone until its tenant is resumed, or has fuel again.
    async fn give_back(&self, claimed: &Claimed, tenant: TenantId) -> HandlerResult {
        let token = claimed.job.token;
        let shared = &self.shared;
        let given = shared.store.release(shared.host(), &[token]).await;
        shared.tokens().remove(&token);
        self.hand().give(1, self.room / 2);
        shared.shares.given([(tenant, 0)].into_iter());
        shared.batches.done([claimed.job.key.flow].into_iter());
        if let Err(error) = given {
            // It is still this host's, without its knowing: the sweep takes it up again.
            tracing::warn!(%error, "a job could not be given back; it is looked at again soon");
        }
        Ok(())
    }

    /// Makes an attempt. A panic, whatever the guest answered, is a recorded attempt.
    async fn attempt(
        &self,
        claimed: &Claimed,
        tenant: TenantId,
        runnable: &Runnable,
        load: Arc<dyn Watch>,
        apart: Option<bool>,
    ) -> Finished {
        let attempt = self.attempt_unguarded(claimed, tenant, runnable, load, apart);
        match AssertUnwindSafe(attempt).catch_unwind().await {
            Ok(finished) => finished,
            Err(panic) => {
                let panic = panic_message(&*panic);
                tracing::error!(
                    %panic,
                    flow = %runnable.flow.shape.name,
                    transition = %claimed.job.transition,
                    "the host panicked over an attempt; this is a defect of wed"
                );
                let said = format!("the host failed over what the transition answered: {panic}");
                self.without_answer(claimed, tenant, "host_error", said)
            }
        }
    }

    async fn attempt_unguarded(
        &self,
        claimed: &Claimed,
        tenant: TenantId,
        runnable: &Runnable,
        load: Arc<dyn Watch>,
        apart: Option<bool>,
    ) -> Finished {
        let job = &claimed.job;
        let shared = &self.shared;
        let deadline = deadline(job.timeout);
        let key = match &runnable.bound.granted().http {
            None => String::new(),
            Some(_) => format!(
                "{}-{}-{}-{}",
                runnable.flow.shape.gate, job.key.wid, job.key.tgid, job.fired_by
            ),
        };
        let invocation = Invocation {
            flow: &runnable.flow.shape.name,
            wid: job.key.wid,
            trigger: &claimed.trigger,
            attempt: u32::try_from(job.attempt).unwrap_or(1),
            deadline,
            payload: &job.payload,
            key: &key,
        };
        let attempt = shared
            .sandbox
            .run_beside(
                &runnable.bound,
                invocation,
                job.timeout,
                &shared.limits,
                Beside {
                    tenant,
                    watch: Some(load),
                    gate: apart.map(|open| shared.apart.gate(open)),
                    ..Beside::default()
                },
            )
            .await;
        if let Some(open) = runnable.breaker.ended(&attempt) {
            let (flow, transition) = (&runnable.flow.shape.name, &job.transition);
            match open {
                true => {
                    tracing::warn!(%flow, %transition, outcome = attempt.outcome.name(), "its attempts end in faults: they are made apart from others, and a few at a time while other tenants are at work")
                }
                false => {
                    tracing::info!(%flow, %transition, "its attempts end by themselves again")
                }
            }
        }
        let recording = attempt.recording;
        let fails = !matches!(
            attempt.outcome,
            Outcome::Clause(_) | Outcome::Assignments(_)
        );
        let digest = (fails || !recording.is_empty())
            .then(|| Digest::of(attempt.outcome.transcript().as_bytes()).to_string());
        let mut finished = Finished {
            key: job.key,
            lane: self.number,
            tenant,
            token: job.token,
            measure: attempt.measure,
            deadline,
            record: None,
            verdict: runnable.verdict(attempt.outcome, attempt.account),
            provided: runnable.bound.provided().cloned(),
        };
        if let (Some(draft), Verdict::Commit(_)) = (attempt.draft, &finished.verdict)
            && let Err(error) = Box::pin(keep(draft)).await
        {
            finished.verdict = Verdict::Fail {
                outcome: "failed".to_owned(),
                message: format!("what it wrote into files could not be kept: {error}"),
                retry: true,
                after: None,
            };
        }
        let keep = !recording.is_empty() || matches!(finished.verdict, Verdict::Fail { .. });
        if keep || !attempt.logs.lines.is_empty() || attempt.logs.dropped > 0 {
            let record = finished
                .record
                .insert(Box::new(no_record(job.key, job.token, deadline)));
            record.keep = keep;
            record.digest = digest;
            record.logs = log_lines(attempt.logs);
            record.answers = if recording.overflowed {
                None
            } else {
                serde_json::to_value(recording.answers).ok()
            };
        }
        finished
    }

    /// The result of an attempt that came to no answer; it may be made again.
    fn without_answer(
        &self,
        claimed: &Claimed,
        tenant: TenantId,
        outcome: &str,
        message: String,
    ) -> Finished {
        let job = &claimed.job;
        Finished {
            key: job.key,
            lane: self.number,
            tenant,
            token: job.token,
            measure: Measure::default(),
            deadline: 0,
            record: None,
            verdict: Verdict::Fail {
                outcome: outcome.to_owned(),
                message,
                retry: true,
                after: None,
            },
            provided: None,
        }
    }

    /// Commits a batch and takes in what it fired, unless others are to have a turn.
    async fn commit(self, batch: Batch, context: Context) -> HandlerResult {
        let Batch { results, place } = batch;
        let (count, shares) = (results.len(), &self.shared.shares);
        debug_assert!(count <= BATCH);
        let tokens: Vec<LeaseToken> = results.iter().map(|finished| finished.token).collect();
        let used: Vec<(TenantId, u64)> = results
            .iter()
            .map(|finished| (finished.tenant, finished.measure.fuel))
            .collect();
        let flows: Vec<FlowId> = (results.iter()).map(|finished| finished.key.flow).collect();
        let mut from = vec![0; self.shared.hands.len()];
        for finished in &results {
            from[finished.lane] += 1;
        }
        let turn = self.crowded.load(Ordering::Acquire)
            && self.batches.fetch_add(1, Ordering::Relaxed) % TURN == TURN - 1;
        let left = (place.owner())
            .is_some_and(|tenant| shares.is_over(tenant) || shares.is_limited(tenant));
        let lease = !turn && !left;
        let session = &self.shared.sessions[place.session];
        let host = self.shared.host();
        let dealt_with = commit::deal_with(session, host, results, lease, &self);
        let committed = AssertUnwindSafe(dealt_with)
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| {
                // Its jobs are out of hand, so the sweep takes up again those that are not committed.
                let panic = panic_message(&*panic);
                tracing::error!(%panic, "the host panicked over a commit; this is a defect of wed");
                0
            });
        drop(place);
        shares.given(used.into_iter());
        self.shared.batches.done(flows.into_iter());
        let committed = u64::try_from(committed).unwrap_or(0);
        self.shared
            .committed
            .fetch_add(committed, Ordering::Relaxed);
        {
            let mut in_hand = self.shared.tokens();
            for token in &tokens {
                in_hand.remove(token);
            }
        }
        self.shared.busy.fetch_sub(count, Ordering::AcqRel);
        for (hand, jobs) in self.shared.hands.iter().zip(from) {
            hand.give(jobs, self.room / 2);
        }
        // Room again, after a tenant had its share: look whether more waits. For a share not after each batch: with
        // many tenants each has a little room all the time, and to look is a probe for each of them.
        if !lease {
            self.shared.tell_others();
            self.hand().work.tell();
        } else if self.kept_out.load(Ordering::Acquire) {
            self.hand().work.look_again(context.now() + FOR_A_SHARE);
        }
        Ok(())
    }
}

/// What a panic said.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no word")
}

/// Jobs in their order, but those of a flow together, where its first one was.
fn by_flow(mut claimed: Vec<Claimed>) -> Vec<Claimed> {
    let mut first: HashMap<FlowId, usize> = HashMap::new();
    for (at, one) in claimed.iter().enumerate() {
        first.entry(one.job.key.flow).or_insert(at);
    }
    claimed.sort_by_key(|one| first.get(&one.job.key.flow).copied());
    claimed
}

/// The room beside `room` that tenants have who come while another fills it.
pub(crate) fn reserve(room: usize) -> usize {
    room.div_ceil(8)
}

/// Puts what an attempt wrote in the place of the instance's files.
async fn keep(draft: Draft) -> std::io::Result<()> {
    if draft.is_unchanged() {
        return Ok(());
    }
    tokio::task::spawn_blocking(move || draft.keep())
        .await
        .map_err(std::io::Error::other)?
}

/// When a time limit that begins now ends: microseconds since 1970.
fn deadline(timeout: Duration) -> i64 {
    SystemTime::now()
        .checked_add(timeout)
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_micros()).ok())
        .unwrap_or(i64::MAX)
}

fn log_lines(logs: Logs) -> Vec<LogLine> {
    let mut lines: Vec<LogLine> = logs
        .lines
        .into_iter()
        .map(|said| {
            let severity = match said.severity {
                Severity::Debug => "debug",
                Severity::Info => "info",
                Severity::Warn => "warn",
                Severity::Error => "error",
            };
            // Postgres's text holds no zero character.
            let clean = |text: String| text.replace('\0', "\u{fffd}");
            let fields = said
                .fields
                .into_iter()
                .map(|(key, value)| (clean(key), clean(value).into()))
                .collect();
            LogLine {
                severity,
                message: said.message,
                fields,
            }
        })
        .collect();
    if logs.dropped > 0 {
        lines.push(LogLine {
            severity: "warn",
            message: format!("{} more lines were dropped", logs.dropped),
            fields: Default::default(),
        });
    }
    lines
}
