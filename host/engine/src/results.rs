//! Results of runs, collected until a lane can commit them: a batch is whatever has come together
//! meanwhile, so it is small when there is little to do and large when there is much.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use wedflow_guard::{CheckedAssignment, CheckedSetClause, CheckedValue};
use wedflow_model::{JobKey, Measure};
use wedflow_sandbox::Provided;
use wedflow_scheduler::{EventSource, Observing};
use wedflow_store::AttemptRecord;

use crate::shares::Shares;

/// The most results of one batch. DESIGN: 64 to 128 is where larger ones gain no more.
pub(crate) const BATCH: usize = 256;
/// The most of a tenant with many, while others are at work: it keeps a processor of the database for some
/// milliseconds.
const SHARED_BATCH: usize = 64;
/// Batches that may be on their way to the database at once; while several tenants are at work, one more.
const AT_ONCE: usize = 2;
/// While a batch of a tenant alone is on its way, another goes when so many results have come together, or when it is
/// back: to begin and end a batch costs the database as much as fifteen results.
const TOGETHER: usize = 192;
/// A tenant with so few results shares a batch with whoever has few.
const FEW: usize = 8;

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Which job.
    pub(crate) key: JobKey,
    /// Whose it is.
    pub(crate) tenant: i32,
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

impl Finished {
    /// Which instance it is of.
    fn of(&self) -> Instance {
        (self.key.flow, self.key.wid)
    }
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

/// Results to be committed in one transaction.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) results: Vec<Finished>,
    pub(crate) place: Place,
}

/// A batch's place among those on their way; given back when it is dropped, also by a commit that panics.
#[derive(Debug)]
pub(crate) struct Place {
    results: Results,
    number: u64,
    owner: Option<i32>,
}

impl Place {
    /// The tenant that all of the batch is of, where it is one.
    pub(crate) fn owner(&self) -> Option<i32> {
        self.owner
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.results.state();
        let number = self.number;
        state.under_way.retain(|one| one.number != number);
        state.wake();
    }
}

/// A flow's number and an instance's.
type Instance = (i32, i32);

/// What is known of a batch that is on its way.
#[derive(Debug)]
struct UnderWay {
    number: u64,
    owner: Option<i32>,
    /// Their rows are held by it: another batch with one of them would wait for this one.
    instances: HashSet<Instance>,
}

/// Where runs put their results. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Results {
    state: Arc<Mutex<State>>,
    shares: Arc<Shares>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Finished>,
    under_way: Vec<UnderWay>,
    /// Batches so far.
    batches: u64,
    waker: Option<Waker>,
}

impl Results {
    pub(crate) fn new(shares: Arc<Shares>) -> Self {
        Results {
            state: Arc::default(),
            shares,
        }
    }

    /// Adds a result.
    pub(crate) fn put(&self, finished: Finished) {
        let mut state = self.state();
        state.waiting.push_back(finished);
        state.wake();
    }

    /// The source: its events are batches.
    pub(crate) fn source(&self) -> ResultsSource {
        ResultsSource(self.clone())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// The next batch, if one may go. While one tenant is at work alone, whatever has come together. Else
    /// those with few results go together, before those with many, and who has many goes alone, one batch
    /// at a time: a few results wait for no large batch, and always find a way free. No instance is in two batches
    /// at once. Gives the results and the batch's number and owner.
    fn next(
        &mut self,
        several: bool,
        limited: impl Fn(i32) -> bool,
    ) -> Option<(Vec<Finished>, u64, Option<i32>)> {
        let first = self.waiting.front()?.tenant;
        if self.under_way.len() >= AT_ONCE + usize::from(several) {
            return None;
        }
        if !several && !self.under_way.is_empty() && self.waiting.len() < TOGETHER {
            return None;
        }
        let alone = self.waiting.iter().all(|one| one.tenant == first);
        let under_way = &self.under_way;
        let free =
            |one: &Finished| !(under_way.iter()).any(|batch| batch.instances.contains(&one.of()));
        let ((results, instances), owner) = if alone && !several {
            (take_batch(&mut self.waiting, BATCH, free), Some(first))
        } else {
            let mut counts: Vec<(i32, usize)> = Vec::new();
            let mut at: HashMap<i32, usize> = HashMap::new();
            for one in self.waiting.iter().filter(|one| free(one)) {
                let at = *at.entry(one.tenant).or_insert_with(|| {
                    counts.push((one.tenant, 0));
                    counts.len() - 1
                });
                counts[at].1 += 1;
            }
            counts.retain(|(tenant, _)| under_way.iter().all(|one| one.owner != Some(*tenant)));
            let (least, few) = *counts.iter().min_by_key(|(_, count)| *count)?;
            let together: HashSet<i32> = if limited(least) {
                [least].into()
            } else {
                counts
                    .iter()
                    .filter(|(tenant, count)| *count <= FEW.max(few * 2) && !limited(*tenant))
                    .map(|(tenant, _)| *tenant)
                    .collect()
            };
            let owner = (together.len() == 1).then_some(least);
            // Many tenants share a large batch: none of them has much of it.
            let most = if together.len() < 4 {
                SHARED_BATCH
            } else {
                BATCH
            };
            let taken = take_batch(&mut self.waiting, most, |one| {
                together.contains(&one.tenant) && free(one)
            });
            (taken, owner)
        };
        if results.is_empty() {
            return None;
        }
        let number = self.batches;
        self.batches += 1;
        self.under_way.push(UnderWay {
            number,
            owner,
            instances,
        });
        Some((results, number, owner))
    }
}

/// The source of [`Results`].
pub(crate) struct ResultsSource(Results);

impl EventSource for ResultsSource {
    type Event = Batch;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Batch>> {
        let shares = &self.0.shares;
        let mut state = self.0.state();
        if !state.waiting.is_empty()
            && let Some((results, number, owner)) =
                state.next(shares.several(), |tenant| shares.is_limited(tenant))
        {
            let place = Place {
                results: self.0.clone(),
                number,
                owner,
            };
            return Poll::Ready(Some(Batch { results, place }));
        }
        state.waker = Some(observing.waker().clone());
        Poll::Pending
    }
}

/// Takes the oldest results of those that are `meant`, at most `most`, at most one of an instance. Gives their
/// instances too.
fn take_batch(
    waiting: &mut VecDeque<Finished>,
    most: usize,
    meant: impl Fn(&Finished) -> bool,
) -> (Vec<Finished>, HashSet<Instance>) {
    let mut batch = Vec::with_capacity(waiting.len().min(most));
    let mut instances = HashSet::with_capacity(batch.capacity());
    let mut left = VecDeque::new();
    while let Some(finished) = waiting.pop_front() {
        if batch.len() == most {
            left.push_back(finished);
            break;
        }
        if meant(&finished) && instances.insert(finished.of()) {
            batch.push(finished);
        } else {
            left.push_back(finished);
        }
    }
    while let Some(finished) = left.pop_back() {
        waiting.push_front(finished);
    }
    (batch, instances)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(wid: i32, tgid: i32) -> Finished {
        Finished {
            key: JobKey { flow: 1, wid, tgid },
            tenant: 1,
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
        assert_eq!(
            tokens(take_batch(&mut waiting, BATCH, |_| true).0),
            [1, 2, 4]
        );
        assert_eq!(tokens(take_batch(&mut waiting, BATCH, |_| true).0), [3, 5]);
        assert_eq!(tokens(take_batch(&mut waiting, BATCH, |_| true).0), [6]);
        assert!(waiting.is_empty());
    }

    #[test]
    fn a_batch_is_bounded() {
        let mut waiting: VecDeque<_> = (0..300).map(|n| finished(n, n)).collect();
        assert_eq!(take_batch(&mut waiting, BATCH, |_| true).0.len(), BATCH);
        assert_eq!(waiting.len(), 300 - BATCH);
        assert_eq!(waiting[0].token, i64::try_from(BATCH).expect("small"));
    }

    fn of(tenant: i32, wids: std::ops::Range<i32>) -> impl Iterator<Item = Finished> {
        wids.map(move |wid| Finished {
            tenant,
            ..finished(wid, wid)
        })
    }

    #[test]
    fn a_tenant_with_few_results_waits_for_none_with_many() {
        let mut state = State::default();
        state.waiting.extend(of(1, 0..500).chain(of(2, 500..501)));
        let (results, _, owner) = state.next(true, |_| false).expect("a batch");
        assert_eq!((owner, results.len()), (Some(2), 1));
        let (results, _, owner) = state.next(true, |_| false).expect("a batch");
        assert_eq!((owner, results.len()), (Some(1), SHARED_BATCH));
        // Its next one goes when that has come back; another's goes now.
        assert!(state.next(true, |_| false).is_none());
        state.waiting.extend(of(3, 600..603));
        let (results, _, owner) = state.next(true, |_| false).expect("a batch");
        assert_eq!((owner, results.len()), (Some(3), 3));
    }

    #[test]
    fn many_tenants_with_few_results_share_a_batch_but_for_limited_ones() {
        let mut state = State::default();
        state
            .waiting
            .extend((1..=20).flat_map(|tenant| of(tenant, tenant * 10..tenant * 10 + 5)));
        let (results, _, owner) = state.next(true, |tenant| tenant == 7).expect("a batch");
        assert_eq!((owner, results.len()), (None, 95));
        let (results, _, owner) = state.next(true, |tenant| tenant == 7).expect("a batch");
        assert_eq!((owner, results.len()), (Some(7), 5));
    }

    #[test]
    fn alone_a_tenant_has_all_of_the_batch() {
        let mut state = State::default();
        state.waiting.extend(of(1, 0..500));
        for left in [BATCH, 500 - BATCH] {
            let (results, _, owner) = state.next(false, |_| false).expect("a batch");
            assert_eq!((owner, results.len()), (Some(1), left));
        }
    }

    #[test]
    fn a_place_comes_back_when_its_batch_is_dropped() {
        let results = Results::new(Arc::new(Shares::new(8)));
        results.state().waiting.extend(of(1, 0..5));
        let (_, number, owner) = results.state().next(false, |_| false).expect("a batch");
        let place = Place {
            results: results.clone(),
            number,
            owner,
        };
        results.put(finished(9, 9));
        assert!(results.state().next(false, |_| false).is_none());
        drop(place);
        assert!(results.state().next(false, |_| false).is_some());
    }

    #[test]
    fn no_instance_is_in_two_batches_at_once() {
        let mut state = State::default();
        state
            .waiting
            .extend([finished(1, 1), finished(2, 2), finished(1, 3)]);
        let (results, number, _) = state.next(true, |_| false).expect("a batch");
        assert_eq!(results.len(), 2);
        assert!(state.next(true, |_| false).is_none());
        // Of another tenant one comes through meanwhile.
        state.waiting.extend(of(2, 7..8));
        let (_, _, owner) = state.next(true, |_| false).expect("a batch");
        assert_eq!(owner, Some(2));
        state.under_way.retain(|one| one.number != number);
        let (results, ..) = state.next(true, |_| false).expect("a batch");
        assert_eq!(results[0].key.tgid, 3);
    }
}
