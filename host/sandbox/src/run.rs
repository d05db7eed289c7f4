//! An attempt at a transition.

use std::sync::Arc;

use bumpalo::Bump;
use tokio::time::{Duration, Instant};
use wasmtime::Store;
use wedflow_model::{Limits, Measure, Outcome, TenantId, Wid};

use crate::answers::AnswersFrom;
use crate::asker::Asker;
use crate::attempt::Attempt;
use crate::backtrace;
use crate::bindings;
use crate::component::Bound;
use crate::ending;
use crate::log::Logs;
use crate::outside::Outside;
use crate::payload::{self, PayloadError};
use crate::pool::Pool;
use crate::provided::Provided;
use crate::sandbox::Sandbox;
use crate::state::State;
use crate::time_slice::{TimeSlices, Watch};

/// Input of a transition, besides what it is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invocation<'a> {
    /// The flow's name.
    pub flow: &'a str,
    /// The instance.
    pub wid: Wid,
    /// The trigger that fired, by name; its number as text where it has none.
    pub trigger: &'a str,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// Time at which the time limit ends, for the guest: microseconds since 1970-01-01T00:00:00Z.
    pub deadline: i64,
    /// The WED-state that fired the transition: a JSON object of attribute names and values, as
    /// Postgres's `to_jsonb` writes them.
    pub payload: &'a str,
    /// Names what fired the transition: the same in every attempt at it, another in every other firing.
    pub key: &'a str,
}

/// Resources of an attempt besides its call.
#[derive(Default)]
pub struct AttemptContext {
    /// Tenant: slots and memory are shared by tenant.
    pub tenant: TenantId,
    /// Source of the answers when the guest asks for the time or for random numbers: the host, unless it is for a
    /// test or plays back a [`Recording`](crate::Recording).
    pub answers: AnswersFrom,
    /// Observer of the times when the guest computes for long.
    pub watch: Option<Arc<dyn Watch>>,
    /// Time slices that it takes instead of the sandbox's.
    pub slices: Option<TimeSlices>,
    /// Header `traceparent` of its HTTP requests, unless the guest sets one.
    pub traceparent: Option<String>,
    /// Steps of lower priority (`nice`) of the guest process, where guests have one.
    pub nice_steps: i32,
}

/// Fuel that a guest uses in an epoch of 1 ms at most, as charged to one that was ended by its time.
const FUEL_PER_EPOCH: u64 = 10_000_000;

enum Ended {
    Payload(PayloadError),
    Guest(wasmtime::Error),
}

impl Sandbox {
    /// Runs a transition once, in a fresh instance, and says how it ended; every way has a name.
    ///
    /// `timeout` covers computing and waiting alike, from the moment when there is room for the
    /// guest ([`Settings::concurrent`](crate::Settings::concurrent)); `limits` everything else,
    /// within what the sandbox's settings allow and what the component says it needs
    /// ([`Bound::within`]). A guest that computes is interrupted at the next
    /// epoch (1 ms), one that waits at once.
    ///
    /// The future runs the guest on the thread that polls it and yields at every epoch. Dropping it
    /// ends the guest. The fuel in [`Attempt::measure`] is a lower bound for a guest that was
    /// interrupted: compiled code writes its count back only now and then. What goes wrong on the host's side is an
    /// [`Outcome::Failed`] too: a payload that does not fit the binding (not to be retried), or a component of
    /// another sandbox.
    pub async fn run(&self, bound: &Bound, invocation: Invocation<'_>, timeout: Duration, limits: &Limits) -> Attempt {
        self.run_in_context(bound, invocation, timeout, limits, AttemptContext::default()).await
    }

    /// Runs as [`Sandbox::run`] does, with further resources.
    pub async fn run_in_context(
        &self,
        bound: &Bound,
        invocation: Invocation<'_>,
        timeout: Duration,
        limits: &Limits,
        context: AttemptContext,
    ) -> Attempt {
        self.run_asking(bound, invocation, timeout, limits, context, None).await
    }

    /// Runs the same in a guest process, which asks its host for what lies outside.
    pub(crate) async fn run_asking(
        &self,
        bound: &Bound,
        invocation: Invocation<'_>,
        timeout: Duration,
        limits: &Limits,
        context: AttemptContext,
        asker: Option<Asker>,
    ) -> Attempt {
        let component = bound.component();
        let Some(pool) = self.pool_of(component) else {
            return refused(Pool::foreign());
        };
        let Some(_room) = pool.room(component, context.tenant).await else {
            return refused(pool.too_large(component));
        };
        let deadline = deadline_of(Instant::now(), timeout);
        let limits = &bound.within(limits);
        let mut attempt = match self.processes_for(bound, &context.answers) {
            Some(processes) => {
                let slices = context.slices.as_ref().unwrap_or(&self.slices);
                let shared = (slices, &self.memory);
                // Most of its memory is for the rare case of a question.
                Box::pin(processes.run(bound, invocation, deadline, limits, &context, shared)).await
            }
            None => self.run_here(pool, bound, invocation, deadline, limits, context, asker).await,
        };
        if let Some(provided) = bound.provided().filter(|provided| provided.masks()) {
            mask(&mut attempt.outcome, &mut attempt.logs, provided);
        }
        ending::shorten(&mut attempt.outcome);
        attempt.account = account(&attempt, timeout, limits);
        attempt
    }

    /// Runs a call in this process.
    #[expect(clippy::too_many_arguments, reason = "the parts of one call, each used once")]
    async fn run_here(
        &self,
        pool: &Pool,
        bound: &Bound,
        invocation: Invocation<'_>,
        deadline: Instant,
        limits: &Limits,
        context: AttemptContext,
        asker: Option<Asker>,
    ) -> Attempt {
        let begun = Instant::now();
        let is_real = context.answers == AnswersFrom::Host;
        let mut store = self.store(pool, limits, deadline, Some(bound.names()), context.answers, context.tenant);
        if let Some(slices) = context.slices {
            store.data_mut().slices.goes_by(slices);
        }
        if let Some(watch) = context.watch {
            store.data_mut().slices.watched_by(watch);
        }
        store.data_mut().log.masks(bound.provided().cloned());
        store.data_mut().provided = bound.provided().cloned();
        store.data_mut().outside = Outside::new(bound.granted(), invocation.wid, invocation.key);
        store.data_mut().outside.traceparent = context.traceparent;
        store.data_mut().room.asks(asker.clone());
        store.data_mut().outside.asker = asker.filter(|_| is_real);
        let work = call(&mut store, bound, invocation);
        let mut frames = Vec::new();
        let outcome = match tokio::time::timeout_at(deadline, work).await {
            Ok(Ok(answer)) => ending::of_answer(answer, bound.binding(), limits),
            Ok(Err(Ended::Guest(error))) => {
                frames = backtrace::of_error(&error);
                ending::of_error(&error, limits)
            }
            Ok(Err(Ended::Payload(error))) => Outcome::Failed { message: error.to_string(), retry: false },
            Err(_) => Outcome::TimedOut,
        };
        let measure = measure_of(&store, limits, begun, &outcome);
        let (recording, beyond_recording) = store.data_mut().answers.finish();
        Attempt {
            measure,
            backtrace: frames,
            recording,
            beyond_recording,
            logs: store.data_mut().log.finish(),
            draft: store.data_mut().outside.draft.take(),
            epochs: store.data().slices.epochs(),
            ..Attempt::of(outcome)
        }
    }
}

/// The attempt that never began.
fn refused(outcome: Outcome) -> Attempt {
    Attempt { account: outcome.to_string(), ..Attempt::of(outcome) }
}

/// Returns the end of an attempt's time: in centuries, when the sum does not exist.
fn deadline_of(begun: Instant, timeout: Duration) -> Instant {
    begun.checked_add(timeout).unwrap_or_else(|| begun + Duration::from_secs(1 << 33))
}

/// Measures what an attempt has used.
fn measure_of(store: &Store<State>, limits: &Limits, begun: Instant, outcome: &Outcome) -> Measure {
    let used = limits.fuel.saturating_sub(store.get_fuel().unwrap_or(0));
    // The count of a guest that its time ends was not written back: it is charged for the time for which it computed.
    let held = match outcome {
        Outcome::TimedOut => u64::from(store.data().slices.epochs()).saturating_mul(FUEL_PER_EPOCH),
        _ => 0,
    };
    Measure {
        fuel: used.max(held.min(limits.fuel)),
        elapsed_us: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
        memory_bytes: store.data().room.memory_peak,
    }
}

/// Masks secrets in whatever is meant for people.
fn mask(outcome: &mut Outcome, logs: &mut Logs, provided: &Provided) {
    match outcome {
        Outcome::Aborted { reason: text, .. }
        | Outcome::Failed { message: text, .. }
        | Outcome::Trapped { message: text, .. } => provided.mask_in(text),
        _ => {}
    }
    for line in &mut logs.lines {
        provided.mask_in(&mut line.message);
        for (key, value) in &mut line.fields {
            provided.mask_in(key);
            provided.mask_in(value);
        }
    }
}

async fn call(store: &mut Store<State>, bound: &Bound, invocation: Invocation<'_>) -> Result<bindings::Outcome, Ended> {
    let scratch = Bump::new();
    let binding = bound.binding();
    let state = payload::decode(invocation.payload, binding, &scratch).map_err(Ended::Payload)?;
    let instance = bound.component().pre().instantiate_quickly(&mut *store).await.map_err(Ended::Guest)?;
    let payload = bindings::Payload {
        flow: invocation.flow,
        wid: invocation.wid.get(),
        trigger: invocation.trigger,
        transition: binding.transition(),
        attempt: invocation.attempt,
        deadline: invocation.deadline,
        state,
    };
    instance.call_run(store, payload).await.map_err(Ended::Guest)
}

/// Explains the end of an attempt, for a person.
fn account(attempt: &Attempt, timeout: Duration, limits: &Limits) -> String {
    let (outcome, measure) = (&attempt.outcome, &attempt.measure);
    let mut text = match outcome {
        Outcome::Clause(_) | Outcome::Assignments(_) => return String::new(),
        Outcome::OutOfFuel => format!(
            "used up its fuel: {} of {} in {}; an endless loop, or work for several transitions?",
            measure.fuel,
            limits.fuel,
            duration(Duration::from_micros(measure.elapsed_us))
        ),
        Outcome::TimedOut => format!(
            "did not finish within its timeout of {}; it used at least {} fuel of {}",
            duration(timeout),
            measure.fuel,
            limits.fuel
        ),
        Outcome::OverMemory { limit, asked } if *limit == limits.memory_bytes => format!(
            "asked for {} of memory in all where {} are allowed; it held {}: work on less at once",
            mebibytes(*asked),
            mebibytes(*limit),
            mebibytes(measure.memory_bytes)
        ),
        Outcome::OverMemory { .. } => format!("{outcome}; it had {}", measure.memory_bytes),
        other => other.to_string(),
    };
    for frame in &attempt.backtrace {
        text.push_str("\n  in ");
        text.push_str(frame);
    }
    text
}

/// Bytes as MiB, with one digit where they are no whole number of them.
fn mebibytes(bytes: u64) -> String {
    match bytes.is_multiple_of(1 << 20) {
        true => format!("{} MiB", bytes >> 20),
        false => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    }
}

fn duration(time: Duration) -> String {
    match time.as_micros() {
        0..1_000 => format!("{} us", time.as_micros()),
        1_000..1_000_000 => format!("{} ms", time.as_millis()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}
