//! A lane: one event scheduler, one processor's share of a host.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foldhash::{HashMap, HashMapExt};
use futures::FutureExt;
use wedflow_capability::files::Draft;
use wedflow_contract::Digest;
use wedflow_model::{ComponentId, FlowId, HostId, Measure, Outcome, Severity, TenantId};
use wedflow_sandbox::{Attempt, AttemptContext, Invocation, Logs, Recording};
use wedflow_scheduler::{FreshFirst, HandlerResult, Registration, Scheduler};
use wedflow_store::{Claimed, LogLine, Store};

use crate::bindings::{NotLoaded, Runnable};
use crate::breaker::Breaker;
use crate::commit;
use crate::decision::{Claim, Event};
use crate::desk::{Committing, Desk, Errand, HostEvent, Run};
use crate::isolation::{ATTEMPTS_OF_TENANT_MAX, Isolation};
use crate::patience::with_patience;
use crate::results::{Finished, Verdict, no_record};
use crate::shared::Shared;

/// Batches that one lane may have on their way to the database at once; how many there are is decided for all lanes.
const COMMITS_OF_LANE_MAX: usize = 16;
/// Errands that are run at once: a claim, and jobs that are put off.
const ERRANDS_MAX: usize = 8;
/// Steps of others that go before a guest that computes has its next millisecond: together about as long.
const STEPS_PER_COMPUTING_STEP_MIN: u32 = 32;
/// Time that a job which cannot be loaded now is held before it is given back.
const LOAD_RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Time after which a job that cannot run is looked at again.
const RUN_RETRY_PAUSE: Duration = Duration::from_secs(5);
/// A lane's own.
#[derive(Clone)]
pub(crate) struct Lane {
    shared: Arc<Shared>,
}

impl Lane {
    /// Makes a lane and its scheduler, not yet running. The first one runs the host's errands.
    pub(crate) fn new(shared: Arc<Shared>, number: usize) -> (Lane, Scheduler) {
        let lane = Lane { shared };
        let desk = lane.shared.desk.clone();
        let mut scheduler = Scheduler::builder()
            .ready_queue(FreshFirst::new(STEPS_PER_COMPUTING_STEP_MIN))
            .on_failure(move |failure| {
                tracing::error!(
                    %failure,
                    "a handler failed; what it did is done again by this host or another"
                );
                desk.note(&failure);
            })
            .build();
        let desk = &lane.shared.desk;
        if number == 0 {
            let running = lane.clone();
            scheduler.register_with(
                desk.errands(),
                move |errand, _| running.clone().run_errand(errand),
                Registration::new().in_flight(ERRANDS_MAX),
            );
        }
        let running = lane.clone();
        scheduler.register_with(
            desk.runs(number),
            move |run, _| running.clone().run(run),
            // How many are in flight is decided for all lanes.
            Registration::new().in_flight(usize::MAX),
        );
        let committing = lane.clone();
        scheduler.register_with(
            desk.batches(number),
            move |(batch, results), _| committing.clone().commit(batch, results),
            Registration::new().in_flight(COMMITS_OF_LANE_MAX),
        );
        (lane, scheduler)
    }

    async fn run_errand(self, errand: Errand) -> HandlerResult {
        match errand {
            Errand::Claim(claim) => self.claim(claim).await,
            Errand::PutOff { ticket, pause } => {
                let shared = &self.shared;
                let tokens = [ticket.token()];
                let put_off = || (shared.store).put_off(shared.host(), &tokens, None, pause);
                with_patience(put_off).await;
            }
        }
        Ok(())
    }

    /// Claims jobs, and says what there is left to claim.
    async fn claim(&self, claim: Claim) {
        let whole = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        let shared = &self.shared;
        let mut answer = ClaimAnswer { desk: shared.desk.clone(), event: Event::NotClaimed };
        let claimed = shared.claims.claim_and_look(
            shared.host(),
            whole(claim.limit),
            claim.of_tenant.map(whole),
            &claim.without,
            &claim.last,
        );
        match claimed.await {
            Ok((claimed, due)) => {
                let found = claimed.len();
                shared.take(by_flow(claimed)).await;
                answer.event = Event::Claimed { found, due: due.waits, next: due.next };
            }
            // Lost leases are the housekeeping's to mend, an absent database mends itself.
            Err(error) => {
                shared.note_lost_answer();
                tracing::warn!(%error, "could not claim; it is tried again, and `wed status` tells how the database is")
            }
        }
    }

    /// Runs one job in the sandbox. Wherever it ends without a result, the job is given up with its ticket.
    async fn run(self, run: Run) -> HandlerResult {
        let Run { ticket, tenant, claimed } = run;
        if self.shared.is_draining() {
            return Ok(()); // given back with all the others when the host leaves
        }
        // Waiting for the database is rare, so it is a future of its own: every run's memory would be larger.
        let runnable = match self.shared.bindings.known(&claimed) {
            Some(runnable) => Ok(Some(runnable)),
            None => Box::pin(self.load(&claimed)).await,
        };
        let breaker = match &runnable {
            Ok(Some(runnable)) => Some(&*runnable.breaker),
            _ => None,
        };
        // Held until the attempt has ended.
        let permit = match breaker {
            Some(breaker) if breaker.is_open() => {
                let shared = &self.shared;
                let is_needed = || breaker.is_open() && shared.desk.is_shared() && !shared.is_draining();
                match is_needed() {
                    true => Box::pin(shared.isolated.permit(tenant, is_needed)).await,
                    false => None,
                }
            }
            _ => None,
        };
        let isolation = breaker.and_then(Breaker::isolation);
        if self.shared.is_draining() {
            return Ok(());
        }
        let rests = self.shared.desk.rests(tenant);
        let runnable = match runnable {
            Ok(Some(runnable)) if !rests && !runnable.flow.shape.suspended => runnable,
            Err(reason) if !rests => {
                return Box::pin(self.give_back(&claimed, Some(&reason))).await;
            }
            _ => return Box::pin(self.give_back(&claimed, None)).await,
        };
        let finished = match isolation {
            Some(reason) => {
                let lane = self.clone();
                let attempt = async move { lane.attempt(&claimed, tenant, &runnable, isolation).await };
                match Box::pin(self.shared.isolated.run(reason, attempt)).await {
                    Some(finished) => finished,
                    None => return Ok(()), // the host is no more
                }
            }
            None => self.attempt(&claimed, tenant, &runnable, None).await,
        };
        drop(permit);
        ticket.finish(finished.measure.fuel, finished);
        Ok(())
    }

    /// Loads what a job runs; nothing when its tenant is suspended, or this machine cannot load it now. An error is
    /// for a person.
    async fn load(&self, claimed: &Claimed) -> Result<Option<Arc<Runnable>>, String> {
        let bindings = &self.shared.bindings;
        let given_back = with_patience(|| bindings.is_given_back(claimed)).await;
        if given_back == Some(true) {
            return Ok(None);
        }
        let runnable = with_patience(async || match bindings.runnable(claimed).await {
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
                tokio::time::sleep(LOAD_RETRY_PAUSE).await;
                Ok(None)
            }
        }
    }

    /// Gives a job back unrun. Claims leave it alone until its tenant is resumed, or has fuel again; one that cannot
    /// run is looked at again after a while, and says for what it waits.
    async fn give_back(&self, claimed: &Claimed, reason: Option<&str>) -> HandlerResult {
        let (shared, tokens) = (&self.shared, [claimed.job.token]);
        let host = shared.host();
        let given = match reason {
            Some(_) => (shared.store.put_off(host, &tokens, reason, RUN_RETRY_PAUSE)).await,
            None => shared.store.release(host, &tokens).await,
        };
        if let Err(error) = given {
            // It is still this host's, without its knowing: the sweep takes it up again.
            shared.note_lost_answer();
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
        isolation: Option<Isolation>,
    ) -> Finished {
        let attempt = self.attempt_unguarded(claimed, tenant, runnable, isolation);
        match AssertUnwindSafe(attempt).catch_unwind().await {
            Ok(finished) => finished,
            Err(panic) => {
                let panic = panic_message(&*panic);
                tracing::error!(
                    %panic,
                    flow = %runnable.flow.shape.name,
                    transition = %claimed.job.transition,
                    "the host panicked over an attempt; this is a defect of wed, please report it with this line"
                );
                let said = format!("the host failed over what the transition answered: {panic}");
                without_answer(claimed, "host_error", said)
            }
        }
    }

    async fn attempt_unguarded(
        &self,
        claimed: &Claimed,
        tenant: TenantId,
        runnable: &Runnable,
        isolation: Option<Isolation>,
    ) -> Finished {
        let job = &claimed.job;
        let deadline = deadline(job.timeout);
        let spans = self.shared.spans.as_deref();
        let mut traced = spans.and_then(|spans| spans.begin(job).map(Box::new));
        let begun = traced.is_some().then(SystemTime::now);
        let header = traced.as_ref().map(|traced| traced.header());
        let attempt = self.run_transition(claimed, (tenant, header), runnable, isolation, deadline).await;
        if let (Some(spans), Some(traced), Some(begun)) = (spans, &mut traced, begun) {
            let (outcome, failed) = (attempt.outcome.name(), is_failure(&attempt.outcome));
            spans.end(traced, claimed, begun, (outcome, failed, attempt.measure));
        }
        (self.shared.measures).note_attempt(attempt.outcome.name(), &attempt.measure);
        if let Some(open) = runnable.breaker.record(&attempt) {
            self.report_circuit(claimed, runnable, &attempt.outcome, open);
        }
        let digest = digest_to_keep(&attempt);
        let mut finished = Finished {
            key: job.key,
            token: job.token,
            measure: attempt.measure,
            deadline,
            record: None,
            verdict: runnable.verdict(attempt.outcome, attempt.account),
            provided: runnable.bound.provided().cloned(),
            traced,
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
        add_record(&mut finished, attempt.recording, attempt.logs, digest);
        finished
    }

    /// Runs the transition of a job in the sandbox. `isolation` is set if the attempt is isolated.
    async fn run_transition(
        &self,
        claimed: &Claimed,
        (tenant, traceparent): (TenantId, Option<String>),
        runnable: &Runnable,
        isolation: Option<Isolation>,
        deadline: i64,
    ) -> Attempt {
        let job = &claimed.job;
        let shared = &self.shared;
        let key = match &runnable.bound.granted().http {
            None => String::new(),
            Some(_) => format!("{}-{}-{}-{}", runnable.flow.shape.gate, job.key.wid, job.key.tgid, job.fired_by),
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
        let context = AttemptContext {
            tenant,
            // Threads of a lower priority take no lock of the lanes'.
            watch: isolation.is_none().then(|| shared.desk.load(tenant)),
            slices: isolation.map(|reason| shared.isolated.slices(reason)),
            nice_steps: isolation.map_or(0, Isolation::guest_nice_steps),
            traceparent,
            ..AttemptContext::default()
        };
        shared.sandbox.run_in_context(&runnable.bound, invocation, job.timeout, &shared.limits, context).await
    }

    /// Records and logs that a circuit breaker has opened or closed.
    fn report_circuit(&self, claimed: &Claimed, runnable: &Runnable, outcome: &Outcome, open: bool) {
        let (flow, transition) = (&runnable.flow.shape.name, &claimed.job.transition);
        note_circuit(&self.shared.store, self.shared.host(), claimed.component_id, transition, open);
        if open {
            tracing::warn!(
                %flow,
                %transition,
                outcome = outcome.name(),
                "circuit breaker opened: attempts of this transition end in faults; they are isolated and, while other \
                 tenants are at work, limited to {ATTEMPTS_OF_TENANT_MAX} at a time"
            );
        } else {
            tracing::info!(%flow, %transition, "circuit breaker closed: its attempts end by themselves again");
        }
    }

    /// Commits a batch and takes in what it fired.
    async fn commit(self, mut batch: Committing, results: Vec<Finished>) -> HandlerResult {
        let (shared, keeps) = (&self.shared, batch.keeps);
        let (begun, size) = (Instant::now(), results.len());
        let dealt_with = commit::deal_with(shared, shared.host(), results, &mut batch);
        let committed = AssertUnwindSafe(dealt_with).catch_unwind().await.unwrap_or_else(|panic| {
            // The batch gives up what it holds, so the sweep takes up again those that are not committed.
            shared.note_lost_answer();
            let panic = panic_message(&*panic);
            tracing::error!(
                %panic,
                "the host panicked over a commit; this is a defect of wed, please report it with this line"
            );
            0
        });
        let committed = u64::try_from(committed).unwrap_or(0);
        (shared.measures).note_commit(begun.elapsed(), size, committed);
        if !keeps {
            shared.tell_others();
        }
        Ok(())
    }
}

/// The answer to a claim, told when it is dropped: also by a claim that panics.
struct ClaimAnswer {
    desk: Desk,
    event: HostEvent,
}

impl Drop for ClaimAnswer {
    fn drop(&mut self) {
        self.desk.tell(std::mem::replace(&mut self.event, Event::NotClaimed));
    }
}

/// The result of an attempt that came to no answer; it may be made again.
fn without_answer(claimed: &Claimed, outcome: &str, message: String) -> Finished {
    let job = &claimed.job;
    Finished {
        key: job.key,
        token: job.token,
        measure: Measure::default(),
        deadline: 0,
        record: None,
        verdict: Verdict::Fail { outcome: outcome.to_owned(), message, retry: true, after: None },
        provided: None,
        traced: None,
    }
}

/// Returns true if an attempt changed nothing.
fn is_failure(outcome: &Outcome) -> bool {
    !matches!(outcome, Outcome::Clause(_) | Outcome::Assignments(_))
}

/// Returns the digest by which a replay of an attempt is compared: of one that failed, or asked the host for answers.
fn digest_to_keep(attempt: &Attempt) -> Option<String> {
    (is_failure(&attempt.outcome) || !attempt.recording.is_empty())
        .then(|| Digest::of(attempt.outcome.transcript().as_bytes()).to_string())
}

/// Adds the record of an attempt to its result, if it failed, logged lines or asked the host for answers.
fn add_record(finished: &mut Finished, recording: Recording, logs: Logs, digest: Option<String>) {
    let keep = !recording.is_empty() || matches!(finished.verdict, Verdict::Fail { .. });
    if !keep && logs.lines.is_empty() && logs.dropped == 0 {
        return;
    }
    let mut record = Box::new(no_record(finished.key, finished.token, finished.deadline));
    record.keep = keep;
    record.digest = digest;
    record.logs = log_lines(logs);
    record.answers = if recording.overflowed { None } else { serde_json::to_value(recording.answers).ok() };
    finished.record = Some(record);
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no word")
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

/// Puts what an attempt wrote in the place of the instance's files.
async fn keep(draft: Draft) -> std::io::Result<()> {
    if draft.is_unchanged() {
        return Ok(());
    }
    tokio::task::spawn_blocking(move || draft.keep()).await.map_err(std::io::Error::other)?
}

/// Returns the end of a time limit that begins now, in microseconds since 1970.
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
            let fields = said.fields.into_iter().map(|(key, value)| (clean(key), clean(value).into())).collect();
            LogLine { severity, message: said.message, fields }
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

/// Records that a circuit breaker has opened or closed, so that jobs say what they wait for. Nobody waits for it.
fn note_circuit(store: &Store, host: HostId, component: ComponentId, transition: &str, open: bool) {
    let (store, transition) = (store.clone(), transition.to_owned());
    tokio::spawn(async move {
        let noted = store.set_circuit(host, component, &transition, open);
        if let Err(error) = noted.await {
            tracing::warn!(%error, "could not record a circuit breaker; this host keeps to it all the same");
        }
    });
}
