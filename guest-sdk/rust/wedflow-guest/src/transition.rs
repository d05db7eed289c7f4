//! Transitions: the traits that `#[transition]` implements, and the glue between a call and its function.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use crate::bindings::wed::flow::types::{self, Declaration};
use crate::bindings::{self, Manifest, Outcome, Payload};
use crate::state::Values;
use crate::{Change, Declared, Failure, Job, State, Timestamp};

/// A transition. The attribute [`transition`](macro@crate::transition) implements it for a type
/// named like the function, which is what [`export!`](crate::export) and
/// [`testing::call`](crate::testing::call) take.
pub trait Transition {
    /// The name, as in `wed_trig.trname`.
    const NAME: &'static str;
    /// The purpose, in a sentence.
    const DESCRIPTION: &'static str;
    /// The attributes it may set; nothing for any.
    const WRITES: Option<&'static [Declared]>;
    /// A WED-condition that suits it, as a suggestion to the flow's owner.
    const CONDITION: Option<&'static str> = None;
    /// The time limit that suits it, as a suggestion to the flow's owner.
    const TIMEOUT: Option<Duration> = None;
    /// The most fuel that a call needs; the server's own limit holds where it is lower.
    const FUEL: Option<u64> = None;
    /// The most bytes of memory that a call needs; the server's own limit holds where it is lower.
    const MEMORY: Option<u64> = None;
    /// The attributes it reads.
    type State: State;

    /// Performs it.
    ///
    /// # Errors
    /// What the function returned as a failure.
    fn perform(state: Self::State, job: &Job) -> Result<Change, Failure>;
}

/// A type that a transition's function may return: a [`Change`], a clause made by [`sql!`](crate::sql), or
/// a `Result` of one with a [`Failure`] or any error.
#[diagnostic::on_unimplemented(
    message = "a transition cannot return `{Self}`",
    note = "return a Change (`set! {{ … }}`), or a Result<Change, Failure>"
)]
pub trait Answer {
    /// The change or the failure.
    ///
    /// # Errors
    /// The failure.
    fn into_result(self) -> Result<Change, Failure>;
}

impl<C: Into<Change>> Answer for C {
    fn into_result(self) -> Result<Change, Failure> {
        Ok(self.into())
    }
}

impl<C: Into<Change>, E: Into<Failure>> Answer for Result<C, E> {
    fn into_result(self) -> Result<Change, Failure> {
        self.map(Into::into).map_err(Into::into)
    }
}

/// Returns what the component says of a transition.
#[doc(hidden)]
pub fn declare<T: Transition>() -> Declaration {
    let list = |declared: &[Declared]| {
        declared
            .iter()
            .map(|attribute| types::Attribute { name: attribute.name.to_string(), kind: attribute.kind.to_string() })
            .collect::<Vec<_>>()
    };
    Declaration {
        transition: T::NAME.to_string(),
        description: T::DESCRIPTION.to_string(),
        reads: T::State::READS.map(list),
        writes: T::WRITES.map(list),
        condition: T::CONDITION.map(ToString::to_string),
        timeout: T::TIMEOUT.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX)),
        fuel: T::FUEL,
        memory: T::MEMORY,
    }
}

/// Returns what the component says of itself; `name` is the crate's unless `export!` gives another.
#[doc(hidden)]
pub fn manifest(name: &str, transitions: Vec<Declaration>) -> Manifest {
    Manifest { name: name.to_string(), sdk: concat!("rust ", env!("CARGO_PKG_VERSION")).to_string(), transitions }
}

/// Performs a transition for the server. Each has a frame of its own on the stack: what all of a component's
/// transitions need together would lie over pages that a call need not touch.
#[doc(hidden)]
#[inline(never)]
pub fn perform<T: Transition>(payload: Payload) -> Outcome {
    let Payload { flow, wid, trigger, transition, attempt, deadline, state } = payload;
    let job = Job { flow, wid, trigger, transition, attempt, deadline: Timestamp::from_micros(deadline) };
    T::State::read(Values::new(state))
        .and_then(|state| T::perform(state, &job))
        .and_then(|change| change.into_outcome(T::WRITES))
        .unwrap_or_else(|failure| match failure {
            Failure::Abort { reason, after } => Outcome::Abort(types::Postponement {
                reason,
                after: after.map(|span| u64::try_from(span.as_micros()).unwrap_or(u64::MAX)),
            }),
            Failure::Failed { message, retry } => Outcome::Fail(bindings::wed::flow::types::Failure { message, retry }),
        })
}

/// The answer to a transition that the component does not have.
#[doc(hidden)]
pub fn unknown(transition: &str) -> Outcome {
    Outcome::Fail(bindings::wed::flow::types::Failure {
        message: format!("this component has no transition `{transition}`"),
        retry: false,
    })
}

/// Returns whether two names are the same, for [`export!`](crate::export) to refuse duplicates.
#[doc(hidden)]
pub const fn distinct(names: &[&str]) -> bool {
    let mut first = 0;
    while first < names.len() {
        let mut second = first + 1;
        while second < names.len() {
            if same(names[first].as_bytes(), names[second].as_bytes()) {
                return false;
            }
            second += 1;
        }
        first += 1;
    }
    true
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}
