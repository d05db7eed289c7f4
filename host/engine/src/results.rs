//! Results of runs, collected until a lane can commit them: a batch is whatever has come together
//! meanwhile, so it is small when there is little to do and large when there is much.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use wedflow_guard::{CheckedAssignment, CheckedSetClause, CheckedValue};
use wedflow_model::{JobKey, Measure};
use wedflow_sandbox::Provided;
use wedflow_scheduler::{EventSource, Observing};
use wedflow_store::AttemptRecord;

/// The most results of one batch. DESIGN: 64 to 128 is where larger ones gain no more.
pub(crate) const BATCH: usize = 256;

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Which job.
    pub(crate) key: JobKey,
    /// Its fencing token.
    pub(crate) token: i64,
    /// What it used.
    pub(crate) measure: Measure,
    /// When its time ended, as it was told: microseconds since 1970.
    pub(crate) deadline: i64,
    /// What is to be kept of it, where there is anything; always for an attempt that changes nothing.
    pub(crate) record: Option<Box<AttemptRecord>>,
    /// What to do with it.
    pub(crate) verdict: Verdict,
    /// The secrets it was given, for masking them in what the database says of it.
    pub(crate) provided: Option<Arc<Provided>>,
}

/// The record of an attempt that asked its host for nothing and logged nothing.
pub(crate) fn no_record(key: JobKey, token: i64, deadline: i64) -> AttemptRecord {
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

/// What is to be done with a finished run.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Commit this clause; the attributes' SQL types for its literals are in the rendered text.
    Commit(Rendered),
    /// Record that it changed nothing.
    Fail {
        /// The outcome's name.
        outcome: String,
        /// What happened.
        message: String,
        /// Whether another attempt may be made.
        retry: bool,
        /// After which time, where the transition said so.
        after: Option<Duration>,
    },
}

/// A checked clause as the database takes it: those of one shape are committed as one statement.
#[derive(Debug, Clone)]
pub(crate) struct Rendered {
    /// What all results of this shape have in common.
    pub(crate) shape: Arc<Shape>,
    /// The literals.
    pub(crate) literals: Vec<Option<String>>,
}

/// A clause without its literals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
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

/// How many shapes of a flow are remembered; flows have few.
const SHAPES_KEPT: usize = 16;

impl Shapes {
    fn one(
        &self,
        gate: &str,
        assignments: &[CheckedAssignment],
        set: Option<String>,
    ) -> Arc<Shape> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().find(|shape| {
            shape.set == set
                && shape.assigned.len() == assignments.len()
                && (shape.assigned.iter().zip(assignments))
                    .all(|(name, one)| *name == one.attribute)
        });
        if let Some(shape) = known {
            return Arc::clone(shape);
        }
        let shape = Arc::new(Shape {
            gate: gate.to_owned(),
            assigned: assignments
                .iter()
                .map(|one| Arc::clone(&one.attribute))
                .collect(),
            set,
        });
        if kept.len() == SHAPES_KEPT {
            kept.remove(0);
        }
        kept.push(Arc::clone(&shape));
        shape
    }
}

impl Rendered {
    /// Renders a clause. `sql_type` gives an attribute's SQL type.
    pub(crate) fn new(
        clause: Arc<CheckedSetClause>,
        gate: &str,
        shapes: &Shapes,
        sql_type: impl Fn(&str) -> &'static str,
    ) -> Self {
        use std::fmt::Write;
        let plain =
            (clause.assignments().iter()).all(|one| matches!(one.value, CheckedValue::Literal(_)));
        if plain {
            let shape = shapes.one(gate, clause.assignments(), None);
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
                    write!(
                        set,
                        "{name} = _b._{}::{}",
                        literals.len(),
                        sql_type(&assignment.attribute)
                    )
                }
                CheckedValue::Expression { guarded, .. } => write!(set, "{name} = ({guarded})"),
                CheckedValue::Default => write!(set, "{name} = DEFAULT"),
            };
        }
        Rendered {
            shape: shapes.one(gate, clause.assignments(), Some(set)),
            literals,
        }
    }
}

/// Where runs put their results.
#[derive(Debug, Clone, Default)]
pub(crate) struct Results {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Finished>,
    waker: Option<Waker>,
}

impl Results {
    /// Adds a result.
    pub(crate) fn put(&self, finished: Finished) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting.push_back(finished);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// The source: its events are batches.
    pub(crate) fn source(&self) -> ResultsSource {
        ResultsSource(self.clone())
    }
}

/// The source of [`Results`].
pub(crate) struct ResultsSource(Results);

impl EventSource for ResultsSource {
    type Event = Vec<Finished>;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Vec<Finished>>> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting.is_empty() {
            state.waker = Some(observing.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Some(take_batch(&mut state.waiting)))
    }
}

/// Takes the oldest results, at most [`BATCH`], at most one of an instance.
fn take_batch(waiting: &mut VecDeque<Finished>) -> Vec<Finished> {
    let mut batch = Vec::with_capacity(waiting.len().min(BATCH));
    let mut instances = HashSet::with_capacity(batch.capacity());
    let mut left = VecDeque::new();
    while let Some(finished) = waiting.pop_front() {
        if batch.len() == BATCH {
            left.push_back(finished);
            break;
        }
        if instances.insert((finished.key.flow, finished.key.wid)) {
            batch.push(finished);
        } else {
            left.push_back(finished);
        }
    }
    while let Some(finished) = left.pop_back() {
        waiting.push_front(finished);
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(wid: i32, tgid: i32) -> Finished {
        Finished {
            key: JobKey { flow: 1, wid, tgid },
            token: i64::from(tgid),
            measure: Measure::default(),
            deadline: 0,
            record: None,
            verdict: Verdict::Fail {
                outcome: "failed".into(),
                message: String::new(),
                retry: true,
                after: None,
            },
            provided: None,
        }
    }

    #[test]
    fn a_batch_holds_one_result_of_an_instance_and_keeps_the_order_of_the_rest() {
        let mut waiting: VecDeque<_> = [(1, 1), (2, 2), (1, 3), (3, 4), (2, 5), (1, 6)]
            .map(|(wid, tgid)| finished(wid, tgid))
            .into();
        let tokens = |batch: Vec<Finished>| batch.iter().map(|f| f.token).collect::<Vec<_>>();
        assert_eq!(tokens(take_batch(&mut waiting)), [1, 2, 4]);
        assert_eq!(tokens(take_batch(&mut waiting)), [3, 5]);
        assert_eq!(tokens(take_batch(&mut waiting)), [6]);
        assert!(waiting.is_empty());
    }

    #[test]
    fn a_batch_is_bounded() {
        let mut waiting: VecDeque<_> = (0..300).map(|n| finished(n, n)).collect();
        assert_eq!(take_batch(&mut waiting).len(), BATCH);
        assert_eq!(waiting.len(), 300 - BATCH);
        assert_eq!(waiting[0].token, i64::try_from(BATCH).expect("small"));
    }
}
