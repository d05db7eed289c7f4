//! Quarantine: flows and instances that somebody had locked when a batch needed them. Their results are committed over
//! a session kept for that, one of them at a time, so that nobody else waits for the same lock.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use foldhash::HashMap;
use wedflow_scheduler::Moment;

use super::outbox::Waiting;
use super::{Instance, Policy};

/// Flow or instance that somebody had locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Locked {
    /// The table of a flow.
    Flow(i32),
    /// The row of an instance.
    Instance(Instance),
}

impl Locked {
    /// Returns its flow.
    pub(crate) fn flow(self) -> i32 {
        match self {
            Locked::Flow(flow) | Locked::Instance((flow, _)) => flow,
        }
    }
}

#[derive(Debug)]
struct Entry<R> {
    /// Time that it stays after a lock was met.
    pause: Duration,
    /// Until when.
    until: Moment,
    /// True when the lock was met at the last try.
    is_locked: bool,
    /// True while its results are being committed.
    under_way: bool,
    /// Position in the order, if it has one.
    listed: Option<Moment>,
    results: VecDeque<Waiting<R>>,
}

/// Flows and instances in quarantine, with their results.
#[derive(Debug)]
pub(crate) struct Quarantine<R> {
    entries: HashMap<Locked, Entry<R>>,
    /// When each is to be tried again, or forgotten.
    order: BTreeSet<(Moment, Locked)>,
    /// Instances of each flow that are in quarantine by themselves.
    instances: HashMap<i32, usize>,
}

impl<R> Quarantine<R> {
    pub(crate) fn new() -> Self {
        Quarantine {
            entries: HashMap::default(),
            order: BTreeSet::new(),
            instances: HashMap::default(),
        }
    }

    /// Returns the lock for which an instance's results are in quarantine.
    pub(crate) fn of(&self, instance: Instance) -> Option<Locked> {
        if self.entries.is_empty() {
            return None;
        }
        let by_itself = Locked::Instance(instance);
        let by_flow = Locked::Flow(instance.0);
        [by_itself, by_flow]
            .into_iter()
            .find(|what| self.entries.contains_key(what))
    }

    /// Until when something stays that is locked.
    pub(crate) fn until(&self, what: Locked) -> Option<Moment> {
        self.entries
            .get(&what)
            .filter(|one| one.is_locked)
            .map(|one| one.until)
    }

    /// A lock was met. Returns what is in quarantine for it now, and until when: the flow, where many of its instances
    /// are.
    pub(crate) fn met(&mut self, policy: &Policy, what: Locked, now: Moment) -> (Locked, Moment) {
        let many = (self.instances.get(&what.flow()))
            .is_some_and(|count| *count >= policy.quarantine_instances);
        let what = match what {
            Locked::Instance((flow, _)) if many && !self.entries.contains_key(&what) => {
                Locked::Flow(flow)
            }
            other => other,
        };
        if !self.entries.contains_key(&what)
            && let Locked::Instance((flow, _)) = what
        {
            *self.instances.entry(flow).or_default() += 1;
        }
        let one = self.entries.entry(what).or_insert_with(|| Entry {
            pause: policy.quarantine_first / 2,
            until: now,
            is_locked: false,
            under_way: false,
            listed: None,
            results: VecDeque::new(),
        });
        if !one.is_locked {
            one.pause = (one.pause * 2).clamp(policy.quarantine_first, policy.quarantine_max);
            one.until = now + one.pause;
            one.is_locked = true;
        }
        let until = one.until;
        self.list(what, now);
        (what, until)
    }

    /// Adds a result.
    pub(crate) fn add(&mut self, what: Locked, one: Waiting<R>, now: Moment) {
        if let Some(entry) = self.entries.get_mut(&what) {
            entry.results.push_back(one);
        }
        self.list(what, now);
    }

    /// Puts an entry where it belongs in the order: while it is locked, and without results, at its end; else at once.
    fn list(&mut self, what: Locked, now: Moment) {
        let Some(one) = self.entries.get_mut(&what) else {
            return;
        };
        if let Some(at) = one.listed.take() {
            self.order.remove(&(at, what));
        }
        if !one.under_way {
            let at = if one.is_locked || one.results.is_empty() {
                one.until
            } else {
                now
            };
            one.listed = Some(at);
            self.order.insert((at, what));
        }
    }

    /// When something is to be done next.
    pub(crate) fn next_at(&self) -> Option<Moment> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Forgets what has served its time.
    pub(crate) fn forget(&mut self, now: Moment) {
        while let Some(&(at, what)) = self.order.first()
            && at <= now
            && self
                .entries
                .get(&what)
                .is_none_or(|one| one.results.is_empty())
        {
            self.order.pop_first();
            self.entries.remove(&what);
            if let Locked::Instance((flow, _)) = what
                && let Some(count) = self.instances.get_mut(&flow)
            {
                *count -= 1;
                if *count == 0 {
                    self.instances.remove(&flow);
                }
            }
        }
    }

    /// Takes the results of the entry that is to be tried next.
    pub(crate) fn take(
        &mut self,
        policy: &Policy,
        now: Moment,
    ) -> Option<(Locked, Vec<Waiting<R>>)> {
        self.forget(now);
        let &(at, what) = self.order.first()?;
        if at > now {
            return None;
        }
        self.order.pop_first();
        let one = self.entries.get_mut(&what)?;
        one.listed = None;
        one.under_way = true;
        // Until it is met again.
        one.is_locked = false;
        let taken = one.results.len().min(policy.batch_results_max);
        Some((what, one.results.drain(..taken).collect()))
    }

    /// The batch of an entry is back. Where no lock was met, it stays for as long as it did, to be sure.
    pub(crate) fn is_back(&mut self, what: Locked, now: Moment) {
        if let Some(one) = self.entries.get_mut(&what) {
            one.under_way = false;
            if !one.is_locked {
                one.until = now + one.pause;
            }
        }
        self.list(what, now);
    }

    #[cfg(test)]
    pub(crate) fn is_clear(&self) -> bool {
        self.entries
            .values()
            .all(|one| one.results.is_empty() && !one.under_way)
    }
}
