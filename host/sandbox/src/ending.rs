//! Names outcomes by how calls ended.

use std::time::Duration;

use wasmtime::{Error, Trap};
use wedflow_contract::{Binding, BoundAttribute};
use wedflow_model::{Assignment, Limits, Outcome, Scalar, ScalarType, TrapKind, Value};

use crate::backtrace::message;
use crate::bindings;
use crate::bindings::{ScalarResult, ValueResult};
use crate::state::Stop;

/// Bytes of a trap's message that are kept.
const MESSAGE_BYTES: usize = 4096;

/// Bytes beyond the limit on output that may be copied out of a guest before that is judged too
/// much: what the structure around the values costs.
const COPY_SLACK: u64 = 1 << 20;

/// The longest time after which a transition may ask to be tried again: a year.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Resources of the host that a call may hold at once.
pub(crate) const HANDLES: usize = 1_000;

/// Bytes that one copy out of a guest's memory may have.
pub(crate) fn copy_limit(limits: &Limits) -> usize {
    usize::try_from(limits.output_bytes.saturating_add(COPY_SLACK)).unwrap_or(usize::MAX)
}

/// Names the way in which a guest ended without an answer.
pub(crate) fn of_error(error: &Error, limits: &Limits) -> Outcome {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return of_stop(stop, error);
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return of_trap(trap, error);
    }
    if let Some(message) = lack_of_room(error) {
        return Outcome::Failed { message, retry: true };
    }
    // Whatever else the runtime refuses is a breach of the component model's rules.
    of_limit(error, limits).unwrap_or_else(|| Outcome::Trapped { kind: TrapKind::Contract, message: message(error) })
}

/// Names the outcome of a guest that the host has stopped.
fn of_stop(stop: &Stop, error: &Error) -> Outcome {
    match stop {
        Stop::TimedOut => Outcome::TimedOut,
        Stop::OverMemory { limit, asked } => Outcome::OverMemory { limit: *limit, asked: *asked },
        Stop::HostFull(_) => Outcome::Failed { message: stop.to_string(), retry: true },
        Stop::HostCallLimit { limit } => Outcome::HostCallLimit { limit: *limit },
        Stop::Unserved(_) | Stop::HostInDescribe(_) => {
            Outcome::Trapped { kind: TrapKind::Other, message: message(error) }
        }
    }
}

/// Names the outcome of a trap.
fn of_trap(trap: &Trap, error: &Error) -> Outcome {
    let kind = match trap {
        Trap::OutOfFuel => return Outcome::OutOfFuel,
        Trap::Interrupt => return Outcome::TimedOut,
        Trap::StackOverflow => TrapKind::StackOverflow,
        Trap::MemoryOutOfBounds => TrapKind::MemoryOutOfBounds,
        Trap::UnreachableCodeReached => TrapKind::Unreachable,
        Trap::IntegerOverflow | Trap::IntegerDivisionByZero | Trap::BadConversionToInteger => TrapKind::Arithmetic,
        Trap::TableOutOfBounds | Trap::IndirectCallToNull | Trap::BadSignature => TrapKind::IndirectCall,
        Trap::CannotEnterComponent
        | Trap::CannotLeaveComponent
        | Trap::InvalidChar
        | Trap::InvalidDiscriminant
        | Trap::StringOutOfBounds
        | Trap::ListOutOfBounds
        | Trap::UnalignedPointer => TrapKind::Contract,
        _ => TrapKind::Other,
    };
    Outcome::Trapped { kind, message: message(error) }
}

/// Explains a lack of room on this host, if that is the error; the guest may be tried again.
fn lack_of_room(error: &Error) -> Option<String> {
    if error.is::<wasmtime::PoolConcurrencyLimitError>() {
        return Some(format!("the sandbox is full: {}", message(error)));
    }
    // The system refused memory, most often because the process has too many memory maps.
    let is_of_system = error.chain().any(|cause| cause.is::<std::io::Error>())
        || error.root_cause().to_string().contains("(os error ");
    is_of_system.then(|| {
        tracing::error!(
            error = message(error),
            "the system refuses room for a guest; give this machine more memory, or the host fewer --in-flight"
        );
        format!("the host has no room for the guest: {}", message(error))
    })
}

/// Names the limit that the runtime has enforced, if the error is one of a limit. These errors have no type of their
/// own; tests hold their words.
fn of_limit(error: &Error, limits: &Limits) -> Option<Outcome> {
    let root = error.root_cause().to_string();
    if root.starts_with("too much data is being copied") {
        let limit = copy_limit(limits) as u64;
        return Some(Outcome::OutputTooLarge { limit: limits.output_bytes, size: limit.saturating_add(1) });
    }
    let limit = if root.starts_with("resource limit exceeded") {
        u64::from(limits.instances)
    } else if root.ends_with("store handle limit exceeded") {
        HANDLES as u64
    } else {
        return None;
    };
    Some(Outcome::OverMemory { limit, asked: limit.saturating_add(1) })
}

/// Cuts the message of a trap, whose secrets are masked by now.
pub(crate) fn shorten(outcome: &mut Outcome) {
    if let Outcome::Trapped { message, .. } = outcome
        && message.len() > MESSAGE_BYTES
    {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES));
        message.push('…');
    }
}

/// Names what a guest answered: sizes are checked, positions become names.
pub(crate) fn of_answer(answer: bindings::Outcome, binding: &Binding, limits: &Limits) -> Outcome {
    let size = size(&answer);
    if size > limits.output_bytes {
        return Outcome::OutputTooLarge { limit: limits.output_bytes, size };
    }
    match answer {
        bindings::Outcome::SetClause(clause) => Outcome::Clause(clause),
        bindings::Outcome::Abort(bindings::Postponement { reason, after }) => {
            Outcome::Aborted { reason, after: after.map(|after| Duration::from_micros(after).min(LONGEST_WAIT)) }
        }
        bindings::Outcome::Fail(bindings::Failure { message, retry }) => Outcome::Failed { message, retry },
        bindings::Outcome::Assignments(list) => match assignments(list, binding) {
            Ok(list) => Outcome::Assignments(list),
            Err(message) => Outcome::Trapped { kind: TrapKind::Contract, message },
        },
    }
}

fn size(answer: &bindings::Outcome) -> u64 {
    fn scalar(scalar: &ScalarResult) -> u64 {
        match scalar {
            ScalarResult::Text(text)
            | ScalarResult::Numeric(text)
            | ScalarResult::Interval(text)
            | ScalarResult::Uuid(text)
            | ScalarResult::Jsonb(text) => text.len() as u64,
            _ => 8,
        }
    }
    match answer {
        bindings::Outcome::SetClause(text) => text.len() as u64,
        bindings::Outcome::Abort(postponement) => postponement.reason.len() as u64,
        bindings::Outcome::Fail(failure) => failure.message.len() as u64,
        bindings::Outcome::Assignments(list) => list
            .iter()
            .map(|assignment| match &assignment.value {
                ValueResult::Scalar(value) => scalar(value),
                ValueResult::List(values) => values.iter().map(scalar).sum(),
            })
            .sum(),
    }
}

fn assignments(
    list: Vec<bindings::wed::flow::types::Assignment>,
    binding: &Binding,
) -> Result<Vec<Assignment>, String> {
    let writes = binding.writes().unwrap_or_default();
    let mut set = vec![false; writes.len()];
    let mut assignments = Vec::with_capacity(list.len());
    for assignment in list {
        let position = assignment.attribute as usize;
        let Some(attribute) = writes.get(position) else {
            return Err(format!(
                "assigned to the attribute at position {position}, but `{}` declares {} writes",
                binding.transition(),
                writes.len()
            ));
        };
        if std::mem::replace(&mut set[position], true) {
            return Err(format!("assigned to `{}` twice", attribute.name));
        }
        let value = match assignment.value {
            ValueResult::Scalar(value) => Value::Scalar(model(value)),
            ValueResult::List(values) => Value::Array(values.into_iter().map(model).collect()),
        };
        if !fits(&value, attribute) {
            return Err(format!("assigned {} to `{}`, which is {}", described(&value), attribute.name, attribute.kind));
        }
        assignments.push(Assignment { attribute: attribute.name.clone(), value });
    }
    Ok(assignments)
}

fn model(value: ScalarResult) -> Scalar {
    match value {
        ScalarResult::Null => Scalar::Null,
        ScalarResult::Text(text) => Scalar::Text(text),
        ScalarResult::Integer(n) => Scalar::Integer(n),
        ScalarResult::Bigint(n) => Scalar::Bigint(n),
        ScalarResult::Numeric(text) => Scalar::Numeric(text),
        ScalarResult::Float(n) => Scalar::Float(n),
        ScalarResult::Boolean(b) => Scalar::Boolean(b),
        ScalarResult::Timestamptz(microseconds) => Scalar::Timestamptz(microseconds),
        ScalarResult::Date(days) => Scalar::Date(days),
        ScalarResult::Interval(text) => Scalar::Interval(text),
        ScalarResult::Uuid(text) => Scalar::Uuid(text),
        ScalarResult::Jsonb(text) => Scalar::Jsonb(text),
    }
}

/// Returns true if a call within these limits can end so. A guest process that is not honest may say anything.
pub(crate) fn is_possible(outcome: &Outcome, binding: &Binding, limits: &Limits) -> bool {
    let text = |scalar: &Scalar| match scalar {
        Scalar::Text(text)
        | Scalar::Numeric(text)
        | Scalar::Interval(text)
        | Scalar::Uuid(text)
        | Scalar::Jsonb(text) => text.len() as u64,
        _ => 8,
    };
    let size = match outcome {
        Outcome::Clause(text) => text.len() as u64,
        Outcome::Aborted { reason: text, .. }
        | Outcome::Failed { message: text, .. }
        | Outcome::Trapped { message: text, .. } => (text.len() as u64).saturating_sub(MESSAGE_BYTES as u64 * 2),
        Outcome::Assignments(list) => (list.iter())
            .map(|one| match &one.value {
                Value::Scalar(value) => text(value),
                Value::Array(values) => values.iter().map(text).sum(),
            })
            .sum(),
        _ => 0,
    };
    let Outcome::Assignments(list) = outcome else {
        return size <= limits.output_bytes;
    };
    let writes = binding.writes().unwrap_or_default();
    let mut left: Vec<&BoundAttribute> = writes.iter().collect();
    let fits = (list.iter()).all(|one| {
        let place = (left.iter()).position(|attribute| attribute.name == one.attribute);
        place.is_some_and(|place| fits(&one.value, left.swap_remove(place)))
    });
    fits && size <= limits.output_bytes
}

/// Returns true if an attribute can store a value without loss. The database judges the text of a numeric, an
/// interval and an enum's label.
fn fits(value: &Value, attribute: &BoundAttribute) -> bool {
    let scalar = |value: &Scalar| {
        matches!(
            (value, &attribute.kind.scalar),
            (Scalar::Null, _)
                | (Scalar::Text(_), ScalarType::Text | ScalarType::Enum(_))
                | (
                    Scalar::Integer(_),
                    ScalarType::Integer | ScalarType::Bigint | ScalarType::Numeric | ScalarType::Float
                )
                | (Scalar::Bigint(_), ScalarType::Bigint | ScalarType::Numeric)
                | (Scalar::Numeric(_), ScalarType::Numeric)
                | (Scalar::Float(_), ScalarType::Float)
                | (Scalar::Boolean(_), ScalarType::Boolean)
                | (Scalar::Timestamptz(_), ScalarType::Timestamptz)
                | (Scalar::Date(_), ScalarType::Date)
                | (Scalar::Interval(_), ScalarType::Interval)
                | (Scalar::Uuid(_), ScalarType::Uuid)
                | (Scalar::Jsonb(_), ScalarType::Jsonb)
        )
    };
    match value {
        Value::Scalar(Scalar::Null) => true,
        Value::Scalar(value) => !attribute.kind.array && scalar(value),
        Value::Array(values) => attribute.kind.array && values.iter().all(scalar),
    }
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "an array",
        Value::Scalar(scalar) => match scalar {
            Scalar::Null => "null",
            Scalar::Text(_) => "a text",
            Scalar::Integer(_) => "an integer",
            Scalar::Bigint(_) => "a bigint",
            Scalar::Numeric(_) => "a numeric",
            Scalar::Float(_) => "a float",
            Scalar::Boolean(_) => "a boolean",
            Scalar::Timestamptz(_) => "a timestamptz",
            Scalar::Date(_) => "a date",
            Scalar::Interval(_) => "an interval",
            Scalar::Uuid(_) => "a uuid",
            Scalar::Jsonb(_) => "a jsonb",
        },
    }
}
