//! Results of runs, collected until a lane can commit them: a batch is whatever has come together
//! meanwhile, so it is small when there is little to do and large when there is much.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use wedflow_guard::{CheckedAssignment, CheckedSetClause, CheckedValue};
use wedflow_model::{JobKey, Measure};
use wedflow_sandbox::Provided;
use wedflow_scheduler::{EventSource, Observing, Sleep};
use wedflow_store::AttemptRecord;

use crate::shares::Shares;

/// The most results of one batch. DESIGN: 64 to 128 is where larger ones gain no more.
pub(crate) const BATCH: usize = 256;
/// The most of a tenant with many, while others are at work: it keeps a processor of the database for some
/// milliseconds.
const SHARED_BATCH: usize = 64;
/// Batches of each lane that may be on their way to the database at once; while several tenants are at work, one more.
const AT_ONCE: usize = 2;
/// While a batch of a tenant alone is on its way, another goes when so many results have come together, or when it is
/// back: to begin and end a batch costs the database as much as fifteen results.
const TOGETHER: usize = 192;
/// Longer than this no result waits for company: the batch on its way may be held up, by whoever locks an instance.
const PATIENCE: Duration = Duration::from_millis(30);
/// So many tenants share a batch of [`BATCH`].
const SOME: usize = 4;
/// So many tenants with results that wait are many: all of them share batches, each about alike, and wait for company
/// as one alone does.
const MANY: usize = 8;
/// A tenant with so few results shares a batch with whoever has few.
const FEW: usize = 8;

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Which job.
    pub(crate) key: JobKey,
    /// The lane it was run by.
    pub(crate) lane: usize,
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
        // Whoever has least to do comes first.
        if !state.waiting.results.is_empty() {
            for waker in state.wakers.iter_mut().filter_map(Option::take) {
                waker.wake();
            }
        }
    }
}

/// A flow's number and an instance's.
type Instance = (i32, i32);

/// What is known of a batch that is on its way.
#[derive(Debug)]
struct UnderWay {
    number: u64,
    begun: Instant,
    owner: Option<i32>,
    /// Their rows are held by it: another batch with one of them would wait for this one.
    instances: HashSet<Instance>,
}

/// Where runs put their results. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Results {
    state: Arc<Mutex<State>>,
    shares: Arc<Shares>,
    lanes: usize,
}

/// Results that wait, the oldest first, and how many of them are of each tenant.
#[derive(Debug, Default)]
struct Waiting {
    results: VecDeque<Finished>,
    tenants: HashMap<i32, usize>,
}

#[derive(Debug, Default)]
struct State {
    waiting: Waiting,
    under_way: Vec<UnderWay>,
    /// Batches so far.
    batches: u64,
    /// Each lane's, where it waits for a batch.
    wakers: Vec<Option<Waker>>,
}

impl Results {
    pub(crate) fn new(shares: Arc<Shares>, lanes: usize) -> Self {
        let state = State {
            wakers: vec![None; lanes],
            ..State::default()
        };
        Results {
            state: Arc::new(Mutex::new(state)),
            shares,
            lanes,
        }
    }

    /// Adds a result. The lane it was run by looks whether a batch may go.
    pub(crate) fn put(&self, finished: Finished) {
        let mut state = self.state();
        let lane = finished.lane;
        state.waiting.put(finished);
        if let Some(waker) = state.wakers[lane].take() {
            waker.wake();
        }
    }

    /// A lane's source: its events are batches, of results of all lanes.
    pub(crate) fn source(&self, lane: usize) -> ResultsSource {
        ResultsSource {
            results: self.clone(),
            lane,
            again: None,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn put(&mut self, finished: Finished) {
        *self.tenants.entry(finished.tenant).or_default() += 1;
        self.results.push_back(finished);
    }

    /// Takes the oldest results of those that are `meant`, at most `most`, at most one of an instance. Gives their
    /// instances too.
    fn take(
        &mut self,
        most: usize,
        mut meant: impl FnMut(&Finished) -> bool,
    ) -> (Vec<Finished>, HashSet<Instance>) {
        let mut batch = Vec::with_capacity(self.results.len().min(most));
        let mut instances = HashSet::with_capacity(batch.capacity());
        let mut left = VecDeque::new();
        while batch.len() < most
            && let Some(finished) = self.results.pop_front()
        {
            if !meant(&finished) || !instances.insert(finished.of()) {
                left.push_back(finished);
                continue;
            }
            if let Entry::Occupied(mut of_tenant) = self.tenants.entry(finished.tenant) {
                *of_tenant.get_mut() -= 1;
                if *of_tenant.get() == 0 {
                    of_tenant.remove();
                }
            }
            batch.push(finished);
        }
        while let Some(finished) = left.pop_back() {
            self.results.push_front(finished);
        }
        (batch, instances)
    }
}

/// Results of a flow that wait.
#[derive(Debug, Clone, Copy)]
struct Waits {
    tenant: i32,
    flow: i32,
    results: usize,
}

/// How many results of which flows make up a batch of `most`: in the order given, of each tenant in `tenants` about `each`.
/// A flow's few results stay together, because the database has work with each flow of a batch.
fn choose(
    flows: &[Waits],
    tenants: &mut BTreeMap<i32, usize>,
    each: usize,
    most: usize,
) -> HashMap<i32, usize> {
    let mut chosen = HashMap::new();
    let mut left = most;
    tenants.values_mut().for_each(|room| *room = each);
    for one in flows {
        let Some(room) = tenants.get_mut(&one.tenant).filter(|room| **room > 0) else {
            continue;
        };
        let fit = if one.results <= FEW {
            left
        } else {
            left.min(*room)
        };
        let results = one.results.min(fit);
        *room = room.saturating_sub(results);
        left -= results;
        chosen.insert(one.flow, results);
    }
    chosen
}

impl State {
    /// The next batch, if one may go. While one tenant is at work alone, whatever has come together. Else
    /// those with few results go together, before those with many, and who has many goes alone, one batch
    /// at a time: a few results wait for no large batch, and always find a way free. Many tenants share batches, each
    /// about alike. No instance is in two batches at once. Gives the results and the batch's number and owner.
    fn next(
        &mut self,
        lanes: usize,
        several: bool,
        limited: impl Fn(i32) -> bool,
    ) -> Option<(Vec<Finished>, u64, Option<i32>)> {
        let waiting = &mut self.waiting;
        let first = waiting.results.front()?.tenant;
        if self.under_way.len() >= AT_ONCE * lanes + usize::from(several) {
            return None;
        }
        let (many, alone) = (waiting.tenants.len() >= MANY, waiting.tenants.len() == 1);
        let waits = (!several || many)
            && waiting.results.len() < TOGETHER
            && (self.under_way.iter())
                .filter(|batch| !several || batch.owner.is_none())
                .any(|batch| batch.begun.elapsed() < PATIENCE);
        if waits {
            return None;
        }
        let under_way = &self.under_way;
        let free =
            |one: &Finished| !(under_way.iter()).any(|batch| batch.instances.contains(&one.of()));
        let ((results, instances), owner) = if alone && !several {
            (waiting.take(BATCH, free), Some(first))
        } else {
            // Each flow's results, in the order of its oldest.
            let mut flows: Vec<Waits> = Vec::new();
            let mut at: HashMap<i32, usize> = HashMap::new();
            let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
            for one in waiting.results.iter().filter(|one| free(one)) {
                let at = *at.entry(one.key.flow).or_insert_with(|| {
                    flows.push(Waits {
                        tenant: one.tenant,
                        flow: one.key.flow,
                        results: 0,
                    });
                    flows.len() - 1
                });
                flows[at].results += 1;
                *counts.entry(one.tenant).or_default() += 1;
            }
            counts.retain(|tenant, _| {
                let theirs = under_way.iter().filter(|one| one.owner == Some(*tenant));
                theirs.count() < lanes
            });
            let (&least, &few) = counts.iter().min_by_key(|(_, count)| **count)?;
            if limited(least) {
                counts.retain(|tenant, _| *tenant == least);
            } else {
                counts.retain(|tenant, _| !limited(*tenant));
                if counts.len() < MANY {
                    counts.retain(|_, count| *count <= FEW.max(few * 2));
                }
            }
            let owner = (counts.len() == 1).then_some(least);
            // Some tenants share a large batch: none of them has much of it.
            let most = if counts.len() < SOME {
                SHARED_BATCH
            } else {
                BATCH
            };
            let each = FEW.max(most / counts.len());
            let mut chosen = choose(&flows, &mut counts, each, most);
            let taken = waiting.take(most, |one| {
                free(one)
                    && (chosen.get_mut(&one.key.flow)).is_some_and(|left| {
                        let any = *left > 0;
                        *left -= usize::from(any);
                        any
                    })
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
            begun: Instant::now(),
            owner,
            instances,
        });
        Some((results, number, owner))
    }
}

/// A lane's source of batches, see [`Results::source`].
pub(crate) struct ResultsSource {
    results: Results,
    lane: usize,
    /// When it looks again at results that wait, whatever happens meanwhile.
    again: Option<Pin<Box<Sleep>>>,
}

impl EventSource for ResultsSource {
    type Event = Batch;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Batch>> {
        let Results { shares, lanes, .. } = &self.results;
        let mut state = self.results.state();
        loop {
            if let Some((results, number, owner)) =
                state.next(*lanes, shares.several(), |tenant| shares.is_limited(tenant))
            {
                let place = Place {
                    results: self.results.clone(),
                    number,
                    owner,
                };
                return Poll::Ready(Some(Batch { results, place }));
            }
            state.wakers[self.lane] = Some(observing.waker().clone());
            if state.waiting.results.is_empty() {
                return Poll::Pending;
            }
            let again = (self.again)
                .get_or_insert_with(|| Box::pin(observing.sleep_until(observing.now() + PATIENCE)));
            if again.as_mut().poll(&mut observing.context()).is_pending() {
                return Poll::Pending;
            }
            self.again = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(wid: i32, tgid: i32) -> Finished {
        Finished {
            key: JobKey { flow: 1, wid, tgid },
            lane: 0,
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

    fn waiting(results: impl Iterator<Item = Finished>) -> Waiting {
        let mut waiting = Waiting::default();
        results.for_each(|finished| waiting.put(finished));
        waiting
    }

    #[test]
    fn a_batch_holds_one_result_of_an_instance_and_keeps_the_order_of_the_rest() {
        let mut waiting = waiting(
            [(1, 1), (2, 2), (1, 3), (3, 4), (2, 5), (1, 6)]
                .map(|(wid, tgid)| finished(wid, tgid))
                .into_iter(),
        );
        let mut tokens = || -> Vec<i64> {
            let (batch, _) = waiting.take(BATCH, |_| true);
            batch.iter().map(|finished| finished.token).collect()
        };
        assert_eq!(tokens(), [1, 2, 4]);
        assert_eq!(tokens(), [3, 5]);
        assert_eq!(tokens(), [6]);
        assert!(waiting.results.is_empty() && waiting.tenants.is_empty());
    }

    #[test]
    fn a_batch_is_bounded() {
        let mut waiting = waiting((0..300).map(|n| finished(n, n)));
        assert_eq!(waiting.take(BATCH, |_| true).0.len(), BATCH);
        assert_eq!(waiting.results.len(), 300 - BATCH);
        assert_eq!(waiting.tenants[&1], 300 - BATCH);
        let next = waiting.results[0].token;
        assert_eq!(next, i64::try_from(BATCH).expect("small"));
    }

    /// Results of a tenant's one flow.
    fn of(tenant: i32, wids: std::ops::Range<i32>) -> impl Iterator<Item = Finished> {
        wids.map(move |wid| {
            let mut one = finished(wid, wid);
            (one.tenant, one.key.flow) = (tenant, tenant);
            one
        })
    }

    impl State {
        fn add(&mut self, results: impl IntoIterator<Item = Finished>) {
            results
                .into_iter()
                .for_each(|finished| self.waiting.put(finished));
        }
    }

    #[test]
    fn a_tenant_with_few_results_waits_for_none_with_many() {
        let mut state = State::default();
        state.add(of(1, 0..500).chain(of(2, 500..501)));
        let (results, _, owner) = state.next(1, true, |_| false).expect("a batch");
        assert_eq!((owner, results.len()), (Some(2), 1));
        let (results, _, owner) = state.next(1, true, |_| false).expect("a batch");
        assert_eq!((owner, results.len()), (Some(1), SHARED_BATCH));
        // Its next one goes when that has come back; another's goes now.
        assert!(state.next(1, true, |_| false).is_none());
        state.add(of(3, 600..603));
        let (results, _, owner) = state.next(1, true, |_| false).expect("a batch");
        assert_eq!((owner, results.len()), (Some(3), 3));
    }

    #[test]
    fn many_tenants_with_few_results_share_a_batch_but_for_limited_ones() {
        let mut state = State::default();
        state.add((1..=20).flat_map(|tenant| of(tenant, tenant * 10..tenant * 10 + 5)));
        let (results, _, owner) = state.next(1, true, |tenant| tenant == 7).expect("a batch");
        assert_eq!((owner, results.len()), (None, 95));
        let (results, _, owner) = state.next(1, true, |tenant| tenant == 7).expect("a batch");
        assert_eq!((owner, results.len()), (Some(7), 5));
    }

    #[test]
    fn many_tenants_wait_for_company_while_a_batch_is_on_its_way() {
        let many = i32::try_from(MANY).expect("few");
        let one_of_each = |from: i32| (1..=many).flat_map(move |one| of(one, from..from + 1));
        let mut state = State::default();
        state.add(one_of_each(0));
        let (_, number, _) = state.next(2, true, |_| false).expect("a batch");
        state.add(one_of_each(100));
        assert!(state.next(2, true, |_| false).is_none());
        state.under_way.retain(|one| one.number != number);
        assert!(state.next(2, true, |_| false).is_some());
        // One that is held up is not waited for.
        state.add(one_of_each(150));
        assert!(state.next(2, true, |_| false).is_none());
        state.under_way[0].begun -= PATIENCE;
        assert!(state.next(2, true, |_| false).is_some());
        // Enough of them wait for nobody.
        let each = i32::try_from(TOGETHER.div_ceil(MANY)).expect("few");
        state.add((1..=many).flat_map(|one| of(one, 200..200 + each)));
        assert!(state.next(2, true, |_| false).is_some());
    }

    #[test]
    fn who_has_many_results_has_no_more_of_a_batch_than_others() {
        let many = i32::try_from(MANY).expect("few");
        let mut state = State::default();
        state.add(of(1, 0..5_000));
        state.add((2..=many).flat_map(|one| of(one, 0..3)));
        let (results, ..) = state.next(2, true, |_| false).expect("a batch");
        let theirs = |tenant: i32| results.iter().filter(|one| one.tenant == tenant).count();
        assert_eq!(theirs(1), BATCH / MANY);
        assert!((2..=many).all(|tenant| theirs(tenant) == 3));
    }

    #[test]
    fn a_flows_few_results_stay_together() {
        let waits = |tenant, flow, results| Waits {
            tenant,
            flow,
            results,
        };
        let flows = [
            waits(1, 10, 5),
            waits(2, 20, 30),
            waits(1, 11, 5),
            waits(1, 12, 1),
            waits(3, 30, 9),
        ];
        let mut tenants = BTreeMap::from([(1, 11), (2, 30)]);
        let chosen = choose(&flows, &mut tenants, 8, 100);
        // The second of the first tenant's goes beyond its eight, the third finds nothing left; who is not asked has none.
        assert_eq!(chosen, HashMap::from([(10, 5), (11, 5), (20, 8)]));
        let chosen = choose(&flows, &mut tenants, 8, 7);
        assert_eq!(chosen.values().sum::<usize>(), 7);
    }

    #[test]
    fn results_of_all_lanes_are_one_batch() {
        let results = Results::new(Arc::new(Shares::new(8)), 2);
        for lane in [0, 1] {
            let wid = i32::try_from(lane).expect("small");
            results.put(Finished {
                lane,
                ..finished(wid, wid)
            });
        }
        let (taken, ..) = results.state().next(2, false, |_| false).expect("a batch");
        assert_eq!(taken.len(), 2);
    }

    #[test]
    fn alone_a_tenant_has_all_of_the_batch() {
        let mut state = State::default();
        state.add(of(1, 0..500));
        for left in [BATCH, 500 - BATCH] {
            let (results, _, owner) = state.next(1, false, |_| false).expect("a batch");
            assert_eq!((owner, results.len()), (Some(1), left));
        }
    }

    #[test]
    fn a_place_comes_back_when_its_batch_is_dropped() {
        let results = Results::new(Arc::new(Shares::new(8)), 1);
        results.state().add(of(1, 0..5));
        let (_, number, owner) = results.state().next(1, false, |_| false).expect("a batch");
        let place = Place {
            results: results.clone(),
            number,
            owner,
        };
        results.put(finished(9, 9));
        assert!(results.state().next(1, false, |_| false).is_none());
        drop(place);
        assert!(results.state().next(1, false, |_| false).is_some());
    }

    #[test]
    fn no_instance_is_in_two_batches_at_once() {
        let mut state = State::default();
        state.add([finished(1, 1), finished(2, 2), finished(1, 3)]);
        let (results, number, _) = state.next(1, true, |_| false).expect("a batch");
        assert_eq!(results.len(), 2);
        assert!(state.next(1, true, |_| false).is_none());
        // Of another tenant one comes through meanwhile.
        state.add(of(2, 7..8));
        let (_, _, owner) = state.next(1, true, |_| false).expect("a batch");
        assert_eq!(owner, Some(2));
        state.under_way.retain(|one| one.number != number);
        let (results, ..) = state.next(1, true, |_| false).expect("a batch");
        assert_eq!(results[0].key.tgid, 3);
    }
}
