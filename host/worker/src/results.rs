//! Results of runs: a clause as the database takes it, or the reason why there is none.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wedflow_guard::{CheckedAssignment, CheckedSetClause, CheckedValue};
use wedflow_model::{JobKey, LeaseToken, Measure};
use wedflow_sandbox::Provided;
use wedflow_store::AttemptRecord;

use crate::spans::Traced;

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The job.
    pub(crate) key: JobKey,
    /// The job's lease token.
    pub(crate) token: LeaseToken,
    /// Fuel, memory and time that the attempt used.
    pub(crate) measure: Measure,
    /// Deadline that the attempt was given, in microseconds since 1970.
    pub(crate) deadline: i64,
    /// Data to keep of it; always present for an attempt that changes nothing.
    pub(crate) record: Option<Box<AttemptRecord>>,
    /// Decision about it.
    pub(crate) verdict: Verdict,
    /// The secrets it was given, for masking them in what the database says of it.
    pub(crate) provided: Option<Arc<Provided>>,
    /// Trace of the instance, where that is recorded.
    pub(crate) traced: Option<Box<Traced>>,
}

impl Finished {
    /// Returns about how many bytes it holds while it waits.
    pub(crate) fn bytes(&self) -> usize {
        let verdict = match &self.verdict {
            Verdict::Commit(rendered) => (rendered.literals.iter().flatten().map(String::len)).sum(),
            Verdict::Fail { message, .. } => message.len(),
        };
        let record = self.record.as_deref().map_or(0, |record| {
            let logs: usize =
                (record.logs.iter()).map(|line| line.message.len() + bytes_of(line.fields.values())).sum();
            logs + bytes_of(record.answers.iter())
        });
        size_of::<Finished>() + verdict + record
    }
}

/// Returns about how many bytes values hold.
fn bytes_of<'a>(values: impl Iterator<Item = &'a serde_json::Value>) -> usize {
    use serde_json::Value;
    let of = |value: &Value| match value {
        Value::String(text) => text.len(),
        Value::Array(values) => bytes_of(values.iter()),
        Value::Object(values) => values.keys().map(String::len).sum::<usize>() + bytes_of(values.values()),
        _ => 0,
    };
    values.map(|value| size_of::<Value>() + of(value)).sum()
}

/// The record of an attempt that asked its host for nothing and logged nothing.
pub(crate) fn no_record(key: JobKey, token: LeaseToken, deadline: i64) -> AttemptRecord {
    AttemptRecord {
        flow: key.flow,
        wid: key.wid,
        tgid: key.tgid,
        token,
        keep: true,
        deadline,
        answers: Some(serde_json::Value::Array(Vec::new())),
        digest: None,
        logs: Vec::new(),
    }
}

/// Decision about a finished run.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Commit this clause; the attributes' SQL types for its literals are in the rendered text.
    Commit(Rendered),
    /// Record that it changed nothing.
    Fail {
        /// The outcome's name.
        outcome: String,
        /// Message of the attempt.
        message: String,
        /// True if another attempt may be made.
        retry: bool,
        /// Pause before the next attempt, where the transition asks for one.
        after: Option<Duration>,
    },
}

/// A checked clause as the database takes it: those of one shape are committed as one statement.
#[derive(Debug, Clone)]
pub(crate) struct Rendered {
    /// Common part of all results of this shape.
    pub(crate) shape: Arc<Shape>,
    /// The literals.
    pub(crate) literals: Vec<Option<String>>,
}

/// A clause without its literals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// The flow's version that the results were made for.
    pub(crate) version: i32,
    /// The schema of the flow's part of the gate.
    pub(crate) gate: String,
    /// The attributes that are assigned.
    pub(crate) assigned: Vec<Arc<str>>,
    /// Unless all of them are assigned literals: the clause, with literal `n`, counted from 1, as
    /// `_b._n` cast to its attribute's type.
    pub(crate) set: Option<String>,
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.set {
            Some(set) => f.write_str(set),
            None => write!(f, "{} = …", self.assigned.join(" = …, ")),
        }
    }
}

/// The shapes of a flow's results that came last, so that equal ones are one.
#[derive(Debug, Default)]
pub(crate) struct Shapes(Mutex<Vec<Arc<Shape>>>);

/// Maximum number of cached shapes of a flow; flows have few.
const SHAPES_MAX: usize = 16;

impl Shapes {
    fn one(&self, (version, gate): (i32, &str), assignments: &[CheckedAssignment], set: Option<String>) -> Arc<Shape> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().find(|shape| {
            shape.set == set
                && shape.version == version
                && shape.assigned.len() == assignments.len()
                && (shape.assigned.iter().zip(assignments)).all(|(name, one)| *name == one.attribute)
        });
        if let Some(shape) = known {
            return Arc::clone(shape);
        }
        let shape = Arc::new(Shape {
            version,
            gate: gate.to_owned(),
            assigned: assignments.iter().map(|one| Arc::clone(&one.attribute)).collect(),
            set,
        });
        if kept.len() == SHAPES_MAX {
            kept.remove(0);
        }
        kept.push(Arc::clone(&shape));
        shape
    }
}

impl Rendered {
    /// Renders a clause made for a version of a flow with that gate. `sql_type` gives an attribute's SQL type.
    pub(crate) fn new(
        clause: Arc<CheckedSetClause>,
        (version, gate): (i32, &str),
        shapes: &Shapes,
        sql_type: impl Fn(&str) -> &'static str,
    ) -> Self {
        use std::fmt::Write;
        let plain = (clause.assignments().iter()).all(|one| matches!(one.value, CheckedValue::Literal(_)));
        if plain {
            let shape = shapes.one((version, gate), clause.assignments(), None);
            let literals = match Arc::try_unwrap(clause) {
                Ok(clause) => (clause.into_assignments().into_iter())
                    .filter_map(|one| match one.value {
                        CheckedValue::Literal(literal) => Some(literal),
                        _ => None,
                    })
                    .collect(),
                Err(kept) => kept.literals().map(|one| one.map(str::to_owned)).collect(),
            };
            return Rendered { shape, literals };
        }
        let mut set = String::new();
        let mut literals = Vec::new();
        for assignment in clause.assignments() {
            if !set.is_empty() {
                set.push_str(", ");
            }
            let name = &assignment.quoted;
            // Writing to a String cannot fail.
            let _ = match &assignment.value {
                CheckedValue::Literal(literal) => {
                    literals.push(literal.clone());
                    write!(set, "{name} = _b._{}::{}", literals.len(), sql_type(&assignment.attribute))
                }
                CheckedValue::Expression { guarded, .. } => write!(set, "{name} = ({guarded})"),
                CheckedValue::Default => write!(set, "{name} = DEFAULT"),
            };
        }
        Rendered { shape: shapes.one((version, gate), clause.assignments(), Some(set)), literals }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use wedflow_model::{FlowId, JobKey, Measure, TriggerId, Wid};

    /// Returns a result of a job of flow and tenant 1.
    pub(crate) fn finished(instance: i32, number: i32) -> Finished {
        Finished {
            key: JobKey { flow: FlowId::new(1), wid: Wid::new(instance), tgid: TriggerId::new(number) },
            token: LeaseToken::new(number.into()),
            measure: Measure::default(),
            deadline: 0,
            record: None,
            verdict: Verdict::Fail { outcome: "failed".into(), message: String::new(), retry: true, after: None },
            provided: None,
            traced: None,
        }
    }
}
