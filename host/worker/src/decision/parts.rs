//! Parts of a batch: which of its results are committed together, and what is done when the database refuses a part.
//! A batch is all or nothing, so a part that is refused is halved until the one bad result stands alone and hurts its
//! own instance only. Results that meet a lock are taken out and wait for it in quarantine.

use std::time::Duration;

use foldhash::{HashMap, HashSet};
use wedflow_model::{FlowId, Wid};
use wedflow_store::StoreError;

use super::policy::{CONFLICT_TRIES_MAX, PAUSE_MAX, PAUSE_MIN, UNKNOWN_LOCKS_MAX, UNKNOWN_TRIES_MAX};
use super::{Instance, Locked};

/// A result of an attempt at a job of an instance.
pub trait OfInstance {
    /// Returns the instance.
    fn instance(&self) -> Instance;
}

/// Results that are committed together, or recorded as failed attempts.
#[derive(Debug)]
pub struct Part<R> {
    pub results: Vec<R>,
    /// True when each state is evaluated by itself, or when a failed attempt is recorded without its words.
    pub careful: bool,
    /// Number of times that it is tried again, and of those the ones that are bounded.
    tries: u32,
    bounded: u32,
}

/// Reason for which the database did not take a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A lock was waited for in vain: of these instances, or of flows' tables. None when nobody knows which.
    Locked(Vec<(FlowId, Option<Wid>)>),
    /// The host's leases are lost.
    LeasesLost,
    /// The results were made for an older version of their flow.
    OutOfDate,
    /// Conditions took too long on the states of the part.
    Slow,
    /// A result can have caused it.
    OfResult,
    /// Another transaction was in the way.
    Conflict,
    /// The server is at fault, or its answer was lost.
    OfServer,
    /// Neither the server nor a result is known to cause it.
    Unknown,
}

impl From<&StoreError> for Refusal {
    fn from(error: &StoreError) -> Self {
        match (error, error.code()) {
            (StoreError::Locked { locks, .. }, _) => Refusal::Locked(locks.clone()),
            (StoreError::Conflict(_), _) => Refusal::Conflict,
            (_, Some("WF016")) => Refusal::LeasesLost,
            (_, Some("WF018")) => Refusal::OutOfDate,
            (_, Some("WF034")) => Refusal::Slow,
            _ if error.is_of_server() => Refusal::OfServer,
            _ if error.is_of_result() => Refusal::OfResult,
            _ => Refusal::Unknown,
        }
    }
}

/// Step that follows the refusal of a part.
#[derive(Debug)]
pub enum Step<R> {
    /// Other parts are next.
    Split,
    /// Tries the part again after a pause, without the results that are no longer the host's.
    Again { part: Part<R>, pause: Duration },
    /// Results wait for these locks; the others are next.
    Meet { locks: HashSet<Locked>, results: Vec<R> },
    /// Gives the jobs back: they are run again.
    GiveBack(Vec<R>),
    /// The jobs are somebody else's by now.
    Lost(Vec<R>),
    /// Records that the one result failed.
    Fail(R),
}

/// Parts of a batch that are still to be tried, the last one first.
#[derive(Debug)]
pub struct Parts<R> {
    parts: Vec<Part<R>>,
    /// Number of results of each flow that met unknown locks alone.
    unknown: HashMap<FlowId, usize>,
}

impl<R: OfInstance> Parts<R> {
    /// A batch as one part.
    pub fn new(results: Vec<R>) -> Self {
        let mut parts = Parts { parts: Vec::new(), unknown: HashMap::default() };
        parts.add(results);
        parts
    }

    /// Takes the part that is tried next.
    pub fn next_part(&mut self) -> Option<Part<R>> {
        self.parts.pop()
    }

    /// Takes in that a part was refused, and says what is done.
    pub fn refused(&mut self, mut part: Part<R>, refusal: Refusal) -> Step<R> {
        let alone = part.results.len() == 1;
        match refusal {
            Refusal::Locked(locks) => self.sort_out(part.results, &locks),
            Refusal::LeasesLost => Step::Lost(part.results),
            Refusal::OutOfDate => {
                let others = other_flows(&mut part.results);
                if others.is_empty() {
                    return Step::GiveBack(part.results);
                }
                self.add(others);
                self.add(part.results);
                Step::Split
            }
            Refusal::OfServer => again(part, false),
            Refusal::Conflict if part.bounded + 1 < CONFLICT_TRIES_MAX => again(part, true),
            Refusal::Unknown if alone && part.bounded + 1 < UNKNOWN_TRIES_MAX => again(part, true),
            Refusal::Conflict if alone => {
                let locks = part.results.iter().map(|one| Locked::Instance(one.instance()));
                Step::Meet { locks: locks.collect(), results: part.results }
            }
            Refusal::OfResult | Refusal::Unknown if alone && !part.careful => self.carefully(part),
            Refusal::Slow if !part.careful => self.carefully(part),
            _ => match (alone, part.results.pop()) {
                (true, Some(one)) => Step::Fail(one),
                (_, last) => {
                    part.results.extend(last);
                    let second = part.results.split_off(part.results.len() / 2);
                    self.add(second);
                    self.add(part.results);
                    Step::Split
                }
            },
        }
    }

    fn add(&mut self, results: Vec<R>) {
        if !results.is_empty() {
            self.parts.push(Part { results, careful: false, tries: 0, bounded: 0 });
        }
    }

    /// Tries a part once more, each state by itself: perhaps it is not a result but a condition that fails.
    fn carefully(&mut self, part: Part<R>) -> Step<R> {
        self.parts.push(Part { careful: true, tries: 0, bounded: 0, ..part });
        Step::Split
    }

    /// Sorts out what meets these locks from what does not, which is tried by itself. Where nobody knows which locks
    /// they were, the part is halved until one result stands alone; of a flow of which some did, all that is left
    /// waits with them.
    fn sort_out(&mut self, mut results: Vec<R>, locks: &[(FlowId, Option<Wid>)]) -> Step<R> {
        let mut locks: HashSet<Locked> = (locks.iter())
            .map(|(flow, wid)| match wid {
                Some(wid) => Locked::Instance((*flow, *wid)),
                None => Locked::Flow(*flow),
            })
            .collect();
        if locks.is_empty() {
            let flows = results.iter().map(|one| one.instance().0);
            let many = |flow: &FlowId| (self.unknown.get(flow)).is_some_and(|met| *met >= UNKNOWN_LOCKS_MAX);
            locks.extend(flows.filter(many).map(Locked::Flow));
        }
        if locks.is_empty() && results.len() > 1 {
            let second = results.split_off(results.len() / 2);
            self.add(second);
            self.add(results);
            return Step::Split;
        }
        if locks.is_empty() {
            for instance in results.iter().map(OfInstance::instance) {
                *self.unknown.entry(instance.0).or_default() += 1;
                locks.insert(Locked::Instance(instance));
            }
        }
        let meets = |one: &R| {
            let instance = one.instance();
            locks.contains(&Locked::Flow(instance.0)) || locks.contains(&Locked::Instance(instance))
        };
        let (held, others): (Vec<_>, Vec<_>) = results.into_iter().partition(meets);
        self.add(others);
        Step::Meet { locks, results: held }
    }
}

/// Tries a part again after a pause, which doubles with each try up to a maximum.
fn again<R>(mut part: Part<R>, is_bounded: bool) -> Step<R> {
    let pause = PAUSE_MIN * 2_u32.pow(part.tries.min(16));
    part.tries = part.tries.saturating_add(1);
    part.bounded += u32::from(is_bounded);
    Step::Again { part, pause: pause.min(PAUSE_MAX) }
}

/// Takes out of a part what is not of its first flow.
fn other_flows<R: OfInstance>(results: &mut Vec<R>) -> Vec<R> {
    let first = results.first().map(|first| first.instance().0);
    let others = results.extract_if(.., |one| Some(one.instance().0) != first);
    others.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl OfInstance for Instance {
        fn instance(&self) -> Instance {
            *self
        }
    }

    fn instance(flow: i32, wid: i32) -> Instance {
        (FlowId::new(flow), Wid::new(wid))
    }

    fn of_flow(flow: i32) -> impl Iterator<Item = Instance> {
        (1..=150).map(move |wid| instance(flow, wid))
    }

    #[test]
    fn locks_that_nobody_names_cost_a_batch_few_statements() {
        let mut parts = Parts::new(of_flow(1).chain(of_flow(2)).collect());
        let (mut statements, mut held, mut committed) = (0, 0, 0);
        while let Some(part) = parts.next_part() {
            statements += 1;
            if part.results.iter().all(|one| one.0 == FlowId::new(2)) {
                committed += part.results.len();
            } else if let Step::Meet { results, .. } = parts.refused(part, Refusal::Locked(Vec::new())) {
                held += results.len();
            }
        }
        assert_eq!((held, committed), (150, 150));
        assert!(statements < 20, "{statements}");
    }

    #[test]
    fn an_instance_that_is_locked_holds_up_no_other_of_its_flow() {
        let mut parts = Parts::new(of_flow(3).collect());
        let part = parts.next_part().expect("a part");
        let met = parts.refused(part, Refusal::Locked(vec![(FlowId::new(3), Some(Wid::new(7)))]));
        assert!(matches!(met, Step::Meet { results, .. } if results == [instance(3, 7)]));
        assert_eq!(parts.next_part().map(|part| part.results.len()), Some(149));
    }

    #[test]
    fn a_batch_that_always_conflicts_waits_in_quarantine_after_a_bounded_number_of_commits() {
        let mut parts = Parts::new(of_flow(1).take(4).collect());
        let (mut commits, mut met) = (0, Vec::new());
        let mut next = parts.next_part();
        while let Some(part) = next {
            commits += 1;
            assert!(commits < 100, "it is tried without end");
            next = match parts.refused(part, Refusal::Conflict) {
                Step::Again { part, pause } => {
                    assert!(pause <= PAUSE_MAX);
                    Some(part)
                }
                Step::Meet { locks, results } => {
                    assert!(results.iter().all(|one| locks.contains(&Locked::Instance(*one))));
                    met.extend(results);
                    parts.next_part()
                }
                Step::Split => parts.next_part(),
                other => panic!("{other:?}"),
            };
        }
        // The whole, its halves, and each alone.
        assert_eq!((commits, met.len()), (7 * CONFLICT_TRIES_MAX, 4));
    }

    #[test]
    fn a_batch_is_tried_for_as_long_as_the_server_is_away() {
        let mut parts = Parts::new(of_flow(1).collect());
        let mut part = parts.next_part().expect("a part");
        for _ in 0..1_000 {
            let Step::Again { part: same, pause } = parts.refused(part, Refusal::OfServer) else {
                panic!("it is given up");
            };
            assert!(pause <= PAUSE_MAX && same.results.len() == 150);
            part = same;
        }
    }

    #[test]
    fn one_bad_result_fails_alone_after_it_was_tried_with_care() {
        let mut parts = Parts::new(of_flow(1).collect());
        let (mut failed, mut committed) = (Vec::new(), 0);
        while let Some(part) = parts.next_part() {
            if !part.results.contains(&instance(1, 70)) {
                committed += part.results.len();
                continue;
            }
            let careful = part.careful;
            if let Step::Fail(one) = parts.refused(part, Refusal::OfResult) {
                assert!(careful);
                failed.push(one);
            }
        }
        assert_eq!((failed, committed), (vec![instance(1, 70)], 149));
    }
}
