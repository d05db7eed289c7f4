//! One attempt at a transition.

use bumpalo::Bump;
use tokio::time::{Duration, Instant};
use wasmtime::{Engine, Store};
use wedflow_model::{Limits, Measure, Outcome};

use crate::bindings;
use crate::component::Bound;
use crate::ending;
use crate::log::Logs;
use crate::payload::{self, PayloadError};
use crate::provided::Provided;
use crate::sandbox::Sandbox;
use crate::state::State;

/// What a transition is invoked with, beside what it is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invocation<'a> {
    /// The flow's name.
    pub flow: &'a str,
    /// The instance.
    pub wid: i32,
    /// The trigger that fired, by name; its number as text where it has none.
    pub trigger: &'a str,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// When the time limit ends, as the guest is told: microseconds since 1970-01-01T00:00:00Z.
    pub deadline: i64,
    /// The WED-state that fired the transition: a JSON object of attribute names and values, as
    /// Postgres's `to_jsonb` writes them.
    pub payload: &'a str,
}

/// What one attempt came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// How it ended.
    pub outcome: Outcome,
    /// What it used.
    pub measure: Measure,
    /// What the guest logged, and printed, with its secrets masked.
    pub logs: Logs,
}

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
    /// interrupted: compiled code writes its count back only now and then. What goes wrong on the host's side is an [`Outcome::Failed`] too: a payload
    /// that does not fit the binding (not to be retried), or a component of another sandbox.
    pub async fn run(
        &self,
        bound: &Bound,
        invocation: Invocation<'_>,
        timeout: Duration,
        limits: &Limits,
    ) -> Attempt {
        let component = bound.component();
        if !Engine::same(&self.engine, component.pre().engine()) {
            return refused(Outcome::Failed {
                message: "the component was compiled by another sandbox".to_owned(),
                retry: false,
            });
        }
        let Some(_slots) = self.slots(component).await else {
            return refused(self.too_large(component));
        };
        let begun = Instant::now();
        // Centuries, when the sum does not exist.
        let deadline = begun
            .checked_add(timeout)
            .unwrap_or_else(|| begun + Duration::from_secs(1 << 33));
        let limits = &bound.within(limits);
        let mut store = self.store(limits, deadline, Some(bound.names()));
        store.data_mut().provided = bound.provided().cloned();
        let work = call(&mut store, bound, invocation);
        let mut outcome = match tokio::time::timeout_at(deadline, work).await {
            Ok(Ok(answer)) => ending::of_answer(answer, bound.binding(), limits),
            Ok(Err(Ended::Guest(error))) => ending::of_error(&error, limits),
            Ok(Err(Ended::Payload(error))) => Outcome::Failed {
                message: error.to_string(),
                retry: false,
            },
            Err(_) => Outcome::TimedOut,
        };
        let fuel = store.get_fuel().unwrap_or(0);
        let measure = Measure {
            fuel: limits.fuel.saturating_sub(fuel),
            elapsed_us: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            memory_bytes: store.data().room.memory_peak,
        };
        let mut logs = store.data_mut().log.finish();
        if let Some(provided) = bound.provided().filter(|provided| provided.masks()) {
            mask(&mut outcome, &mut logs, provided);
        }
        Attempt {
            outcome,
            measure,
            logs,
        }
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

async fn call(
    store: &mut Store<State>,
    bound: &Bound,
    invocation: Invocation<'_>,
) -> Result<bindings::Outcome, Ended> {
    let scratch = Bump::new();
    let binding = bound.binding();
    let state = payload::decode(invocation.payload, binding, &scratch).map_err(Ended::Payload)?;
    let instance = bound
        .component()
        .pre()
        .instantiate_quickly(&mut *store)
        .await
        .map_err(Ended::Guest)?;
    let payload = bindings::Payload {
        flow: invocation.flow,
        wid: invocation.wid,
        trigger: invocation.trigger,
        transition: binding.transition(),
        attempt: invocation.attempt,
        deadline: invocation.deadline,
        state,
    };
    instance
        .call_run(store, payload)
        .await
        .map_err(Ended::Guest)
}

/// The attempt that never began.
fn refused(outcome: Outcome) -> Attempt {
    Attempt {
        outcome,
        measure: Measure::default(),
        logs: Logs::default(),
    }
}
