//! Results of all lanes that wait to be committed, and which of them go together.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use wedflow_model::{FlowId, TenantId, Wid};

use crate::results::Finished;

/// So many flows with jobs in hand are many: each goes over its home.
pub(crate) const MANY_FLOWS: usize = 32;
/// While a batch of a tenant alone is on its way, another goes when so many results have come together, or when it is
/// back: to begin and end a batch costs the database as much as fifteen results.
pub(crate) const TOGETHER: usize = 256;
/// After this time the next batch takes a result without its company: the batch on its way may be held up, by whoever
/// locks an instance, and the others of its flow may take long.
pub(crate) const PATIENCE: Duration = Duration::from_millis(30);
/// A batch that takes longer than this is held up: of several tenants, its flows go into no other until it is back, so that
/// whoever locks instances holds up one batch and not all; of one alone, another may go beside it.
pub(crate) const HELD_UP: Duration = Duration::from_millis(100);
/// A tenant with so few results shares a batch with whoever has few. A flow with so few jobs in hand goes through the
/// database as one, because that has work with each flow of a batch.
pub(crate) const FEW: usize = 8;

/// So many sessions keep the processors busy: one for each, and one that waits for the disk meanwhile. With more, they take
/// the processors' memory from each other. They are the homes of flows, where flows are many.
pub(crate) fn homes(lanes: usize) -> usize {
    lanes + 1
}

/// The one of so many homes that a flow has.
fn home(flow: FlowId, homes: usize) -> usize {
    usize::try_from(flow.get()).unwrap_or(0) % homes
}

/// A flow's number and an instance's.
pub(crate) type Instance = (FlowId, Wid);

/// Which instance a result is of.
pub(crate) fn instance(finished: &Finished) -> Instance {
    (finished.key.flow, finished.key.wid)
}

/// A flow's jobs in hand.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flow {
    /// Waiting to be begun, being run, being committed, or waiting as results.
    pub(crate) in_hand: usize,
    /// Of those, results that wait.
    pub(crate) waiting: usize,
    /// They waited for the others in vain, and those have not come since.
    pub(crate) gave_up: bool,
}

impl Flow {
    /// Whether its results wait for no other of the flow: all that is in hand has come, or it is too much to be one.
    pub(crate) fn is_whole(self) -> bool {
        self.waiting >= self.in_hand || self.in_hand > FEW || self.gave_up
    }

    /// How many results are ready to go.
    fn ready(self) -> usize {
        if self.is_whole() { self.waiting } else { 0 }
    }
}

/// Results that wait, the oldest first.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Each with the time it came.
    pub(crate) results: VecDeque<(Instant, Finished)>,
    pub(crate) flows: HashMap<FlowId, Flow>,
    /// How many wait for no other of their flow, by the session that they are to go over: those of flows with few
    /// results by their home, and last those that may go over any.
    ready: Vec<usize>,
}

/// Results of a flow that wait and may go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waits {
    pub(crate) tenant: TenantId,
    pub(crate) flow: FlowId,
    pub(crate) results: usize,
    /// When the oldest of them came.
    since: Instant,
}

impl Waits {
    /// Whether they have waited for company as long as they should.
    pub(crate) fn is_late(&self, now: Instant) -> bool {
        now.duration_since(self.since) >= PATIENCE
    }

    /// Whether they may go over a session where many flows wait: of a flow with few results over its home, unless that is
    /// held up.
    fn may_go_over(&self, session: usize, homes: usize, now: Instant) -> bool {
        home(self.flow, homes) == session
            || self.results > FEW
            || now.duration_since(self.since) >= HELD_UP
    }
}

impl Waiting {
    pub(crate) fn new(homes: usize) -> Self {
        Waiting {
            results: VecDeque::new(),
            flows: HashMap::new(),
            ready: vec![0; homes + 1],
        }
    }

    /// Changes what is known of a flow's jobs.
    pub(crate) fn change(&mut self, flow: FlowId, how: impl FnOnce(&mut Flow)) {
        let homes = self.homes();
        let over = |one: &Flow| {
            if one.waiting > FEW {
                homes
            } else {
                home(flow, homes)
            }
        };
        let one = self.flows.entry(flow).or_default();
        self.ready[over(one)] -= one.ready();
        how(one);
        one.gave_up &= one.waiting < one.in_hand;
        self.ready[over(one)] += one.ready();
        if one.in_hand == 0 && one.waiting == 0 {
            self.flows.remove(&flow);
        }
    }

    /// Whether flows go each over its home.
    pub(crate) fn are_many_flows(&self) -> bool {
        self.flows.len() >= MANY_FLOWS
    }

    /// How many results wait for no other of their flow.
    pub(crate) fn all_ready(&self) -> usize {
        self.ready.iter().sum()
    }

    /// How many sessions are homes of flows.
    pub(crate) fn homes(&self) -> usize {
        self.ready.len() - 1
    }

    /// Whether so many results have come together that a batch of them need not wait for one on its way: all, or of
    /// those that may go over a session that is free half as many, where flows are many.
    pub(crate) fn is_company(
        &self,
        now: Instant,
        mut not_in_use: impl Iterator<Item = usize>,
    ) -> bool {
        let anywhere = self.ready[self.homes()];
        self.all_ready() >= TOGETHER
            && (!self.are_many_flows()
                || anywhere >= TOGETHER / 2
                || not_in_use.any(|session| {
                    session < self.homes() && self.ready[session] + anywhere >= TOGETHER / 2
                })
                || (self.results.front())
                    .is_some_and(|(since, _)| now.duration_since(*since) >= HELD_UP))
    }

    pub(crate) fn put(&mut self, finished: Finished) {
        self.change(finished.key.flow, |one| one.waiting += 1);
        self.results.push_back((Instant::now(), finished));
    }

    /// Each flow's results that are `meant`, in the order of its oldest.
    pub(crate) fn flows(&self, meant: impl Fn(&Finished) -> bool) -> Vec<Waits> {
        let mut flows: Vec<Waits> = Vec::new();
        let mut at: HashMap<FlowId, usize> = HashMap::new();
        for (since, one) in self.results.iter().filter(|(_, one)| meant(one)) {
            let at = *at.entry(one.key.flow).or_insert_with(|| {
                flows.push(Waits {
                    tenant: one.tenant,
                    flow: one.key.flow,
                    results: 0,
                    since: *since,
                });
                flows.len() - 1
            });
            flows[at].results += 1;
        }
        flows
    }

    /// Takes so many of each flow's results that are `meant`, the oldest first, at most one of an instance. Gives
    /// their instances too.
    pub(crate) fn take(
        &mut self,
        mut chosen: HashMap<FlowId, usize>,
        meant: impl Fn(&Finished) -> bool,
    ) -> (Vec<Finished>, HashSet<Instance>) {
        let mut missing = chosen.values().sum();
        let mut batch = Vec::with_capacity(missing);
        let mut instances = HashSet::with_capacity(missing);
        let mut left = VecDeque::new();
        while missing > 0
            && let Some((since, finished)) = self.results.pop_front()
        {
            let of_flow = (chosen.get_mut(&finished.key.flow)).filter(|of_flow| **of_flow > 0);
            let Some(of_flow) = of_flow.filter(|_| meant(&finished)) else {
                left.push_back((since, finished));
                continue;
            };
            if !instances.insert(instance(&finished)) {
                left.push_back((since, finished));
                continue;
            }
            *of_flow -= 1;
            missing -= 1;
            self.change(finished.key.flow, |one| one.waiting -= 1);
            batch.push(finished);
        }
        while let Some(one) = left.pop_back() {
            self.results.push_front(one);
        }
        (batch, instances)
    }
}

/// How many results of which flows make up a batch of `most`: in the order given, of each of `tenants` about `each`.
/// A flow's few results stay together.
pub(crate) fn choose(
    flows: &[Waits],
    tenants: impl Iterator<Item = TenantId>,
    each: usize,
    most: usize,
) -> HashMap<FlowId, usize> {
    let mut rooms: HashMap<TenantId, usize> = tenants.map(|tenant| (tenant, each)).collect();
    let mut chosen = HashMap::new();
    let mut left = most;
    for one in flows {
        let Some(room) = rooms.get_mut(&one.tenant).filter(|room| **room > 0) else {
            continue;
        };
        let few = one.results <= FEW;
        if few && one.results > left && !chosen.is_empty() {
            continue;
        }
        let fit = if few { left } else { left.min(*room) };
        let results = one.results.min(fit);
        *room = room.saturating_sub(results);
        left -= results;
        chosen.insert(one.flow, results);
    }
    chosen
}

/// The sessions that a batch of many flows could go over, that with most to do first, and the flows that could go over
/// each. A flow's few results go over its home: a session makes its plan of a flow once, and where all sessions had
/// plans of all flows, none would find its own in the processor's memory.
pub(crate) fn over_homes(
    flows: &[Waits],
    not_in_use: impl Iterator<Item = usize>,
    homes: usize,
    now: Instant,
) -> Vec<(usize, Vec<Waits>)> {
    let mut ways: Vec<(usize, Vec<Waits>)> = not_in_use
        .map(|session| {
            let may = flows
                .iter()
                .filter(|one| one.may_go_over(session, homes, now));
            (session, may.copied().collect())
        })
        .collect();
    ways.sort_by_key(|(_, flows)| {
        std::cmp::Reverse(flows.iter().map(|one| one.results).sum::<usize>())
    });
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::finished;

    const MOST: usize = 64;

    impl Waiting {
        /// Takes the oldest.
        fn oldest(&mut self, most: usize) -> Vec<Finished> {
            let flows = self.flows(|_| true);
            let chosen = choose(&flows, [1].into_iter(), most, most);
            self.take(chosen, |_| true).0
        }
    }

    fn waiting(results: impl Iterator<Item = Finished>) -> Waiting {
        let mut waiting = Waiting::new(3);
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
            let batch = waiting.oldest(MOST);
            batch.iter().map(|finished| finished.token).collect()
        };
        assert_eq!(tokens(), [1, 2, 4]);
        assert_eq!(tokens(), [3, 5]);
        assert_eq!(tokens(), [6]);
        assert!(waiting.results.is_empty() && waiting.flows.is_empty());
    }

    #[test]
    fn a_batch_is_bounded() {
        let all = i32::try_from(MOST).expect("small") + 44;
        let mut waiting = waiting((0..all).map(|n| finished(n, n)));
        assert_eq!(waiting.oldest(MOST).len(), MOST);
        assert_eq!(waiting.results.len(), 44);
        assert_eq!(waiting.all_ready(), 44);
        let next = waiting.results[0].1.token;
        assert_eq!(next, i64::try_from(MOST).expect("small"));
    }

    #[test]
    fn a_flows_few_results_stay_together() {
        let waits = |tenant, flow, results| Waits {
            tenant,
            flow,
            results,
            since: Instant::now(),
        };
        let flows = [
            waits(1, 10, 5),
            waits(2, 20, 30),
            waits(1, 11, 5),
            waits(1, 12, 1),
            waits(3, 30, 9),
        ];
        let chosen = choose(&flows, [1, 2].into_iter(), 8, 100);
        // The second of the first tenant's goes beyond its eight, the third finds nothing left; who is not asked has none.
        assert_eq!(chosen, [(10, 5), (11, 5), (20, 8)].into_iter().collect());
        let chosen = choose(&flows, [1, 2].into_iter(), 8, 7);
        assert_eq!(chosen.values().sum::<usize>(), 7);
    }
}
