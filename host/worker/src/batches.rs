//! Batches: which results are committed next, by which lane, over which session. A batch is whatever has come
//! together meanwhile, so it is small when there is little to do and large when there is much.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::Instant;

use foldhash::{HashMap, HashSet};
use wedflow_model::{FlowId, TenantId};
use wedflow_scheduler::{EventSource, Observing, Sleep};

use crate::results::Finished;
use crate::shares::Shares;
use crate::waiting::{
    FEW, Flow, HELD_UP, Instance, PATIENCE, Waiting, Waits, choose, homes, instance, over_homes,
};

/// The most results of one batch: to begin and end one costs as much as fifteen results, so larger ones gain little.
pub(crate) const BATCH: usize = 320;
/// The most of a tenant with many, while others are at work: it keeps a processor of the database for some
/// milliseconds.
const SHARED_BATCH: usize = 64;
/// Batches of each lane that may be on their way to the database at once, and one more, while several tenants are at
/// work: theirs are small. Of one alone there are no more than there are homes, unless some are held up.
const AT_ONCE: usize = 2;
/// So many tenants share a batch of [`BATCH`].
const SOME: usize = 4;
/// So many tenants at work are many: all of them share batches, each about alike, and wait for company as one alone
/// does.
const MANY: usize = 8;

/// Batches of a host with so many lanes that may be on their way at once, each over a session of its own.
pub(crate) fn sessions(lanes: usize) -> usize {
    AT_ONCE * lanes + 1
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
    batches: Batches,
    number: u64,
    /// The session that the batch goes over: the first that no other does, so that those in use stay warm.
    pub(crate) session: usize,
}

impl Place {
    /// The tenant that all of the batch is of, where it is one.
    pub(crate) fn owner(&self) -> Option<TenantId> {
        let state = self.batches.state();
        let own = (state.under_way.iter()).find(|one| one.number == self.number);
        own.and_then(|one| one.owner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.batches.state();
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

/// What is known of a batch that is on its way.
#[derive(Debug)]
struct UnderWay {
    number: u64,
    session: usize,
    begun: Instant,
    owner: Option<TenantId>,
    /// Their rows are held by it: another batch with one of them would wait for this one.
    instances: HashSet<Instance>,
}

impl UnderWay {
    /// Whether it may be back soon.
    fn is_waited_for(&self, now: Instant) -> bool {
        now.duration_since(self.begun) < PATIENCE
    }

    fn is_held_up(&self, now: Instant) -> bool {
        now.duration_since(self.begun) >= HELD_UP
    }
}

/// Where the lanes of a host put their results, and have batches of them from. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Batches {
    state: Arc<Mutex<State>>,
    shares: Arc<Shares>,
}

#[derive(Debug)]
struct State {
    /// The host's lanes.
    lanes: usize,
    waiting: Waiting,
    under_way: Vec<UnderWay>,
    /// Batches so far.
    batches: u64,
    /// Each lane's, where it waits for a batch.
    wakers: Vec<Option<Waker>>,
}

impl Batches {
    pub(crate) fn new(shares: Arc<Shares>, lanes: usize) -> Self {
        Batches {
            state: Arc::new(Mutex::new(State::new(lanes))),
            shares,
        }
    }

    /// Jobs of these flows were taken in hand: their results will come.
    pub(crate) fn expect(&self, flows: impl Iterator<Item = FlowId>) {
        let mut state = self.state();
        for flow in flows {
            state.waiting.change(flow, |one| one.in_hand += 1);
        }
    }

    /// Jobs of these flows are out of hand.
    pub(crate) fn done(&self, flows: impl Iterator<Item = FlowId>) {
        let mut state = self.state();
        for flow in flows {
            let less = |one: &mut Flow| one.in_hand = one.in_hand.saturating_sub(1);
            state.waiting.change(flow, less);
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
    pub(crate) fn source(&self, lane: usize) -> BatchSource {
        BatchSource {
            batches: self.clone(),
            lane,
            again: None,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(lanes: usize) -> Self {
        State {
            lanes,
            waiting: Waiting::new(homes(lanes)),
            under_way: Vec::new(),
            batches: 0,
            wakers: vec![None; lanes],
        }
    }

    /// The next batch, if one may go. While one tenant is at work alone, whatever has come together. Else
    /// those with few results go together, before those with many, and who has many goes alone, one batch
    /// at a time: a few results wait for no large batch, and always find a way free. Many tenants share batches, each
    /// about alike. No instance is in two batches at once, and where many flows wait, each goes over its home. Gives the
    /// results, the batch's number and its session.
    fn next(
        &mut self,
        now: Instant,
        at_work: usize,
        limited: impl Fn(TenantId) -> bool,
    ) -> Option<(Vec<Finished>, u64, usize)> {
        let (waiting, lanes) = (&self.waiting, self.lanes);
        let (several, many) = (at_work > 1, at_work >= MANY);
        let shared = (self.under_way.iter())
            .filter(|batch| batch.owner.is_none() && batch.is_waited_for(now));
        let quick = (self.under_way.iter()).filter(|batch| !batch.is_held_up(now));
        if waiting.results.is_empty()
            || self.under_way.len() >= AT_ONCE * lanes + usize::from(several)
            || !several && quick.count() >= homes(lanes)
            || many && shared.count() > lanes
        {
            return None;
        }
        // Where nobody's few results could wait for another's many, they wait for company.
        let in_company = !several || many;
        let waited_for = in_company
            && (self.under_way.iter())
                .any(|batch| (!several || batch.owner.is_none()) && batch.is_waited_for(now));
        let under_way = &self.under_way;
        let mut not_in_use = (0..sessions(lanes))
            .filter(|session| under_way.iter().all(|batch| batch.session != *session));
        if waited_for && !waiting.is_company(now, not_in_use.clone()) {
            return None;
        }
        let held_up: HashSet<FlowId> = (under_way.iter())
            .filter(|batch| batch.owner.is_none() && batch.is_held_up(now))
            .flat_map(|batch| batch.instances.iter().map(|(flow, _)| *flow))
            .collect();
        let free = |one: &Finished| {
            !held_up.contains(&one.key.flow)
                && !(under_way.iter()).any(|batch| batch.instances.contains(&instance(one)))
        };
        let is_whole = |flow| (waiting.flows.get(&flow)).is_none_or(|one| one.is_whole());
        let mut flows = waiting.flows(free);
        if waited_for {
            flows.retain(|one| one.is_late(now) || is_whole(one.flow));
        }
        let ways = if waiting.are_many_flows() {
            over_homes(&flows, not_in_use, waiting.homes(), now)
        } else {
            vec![(not_in_use.next()?, flows)]
        };
        let (session, flows, (chosen, owner)) = ways.into_iter().find_map(|(session, flows)| {
            let choice = self.pick(now, &flows, at_work, &limited)?;
            Some((session, flows, choice))
        })?;
        let in_vain: Vec<FlowId> = (flows.iter().map(|one| one.flow))
            .filter(|flow| waited_for && !is_whole(*flow))
            .collect();
        let (results, instances) = self.waiting.take(chosen, free);
        for flow in in_vain {
            self.waiting.change(flow, |one| one.gave_up = true);
        }
        let number = self.batches;
        self.batches += 1;
        self.under_way.push(UnderWay {
            number,
            session,
            begun: now,
            owner,
            instances,
        });
        Some((results, number, session))
    }

    /// How many results of which flows the next batch has, and the tenant that all of it is of, where it is one.
    fn pick(
        &self,
        now: Instant,
        flows: &[Waits],
        at_work: usize,
        limited: impl Fn(TenantId) -> bool,
    ) -> Option<(HashMap<FlowId, usize>, Option<TenantId>)> {
        let (several, many) = (at_work > 1, at_work >= MANY);
        let mut counts: BTreeMap<TenantId, usize> = BTreeMap::new();
        for one in flows {
            *counts.entry(one.tenant).or_default() += one.results;
        }
        if several {
            counts.retain(|tenant, _| {
                let theirs = (self.under_way.iter()).filter(|one| one.owner == Some(*tenant));
                theirs.count() < self.lanes
            });
        }
        let (&least, &few) = counts.iter().min_by_key(|(_, count)| **count)?;
        // Who is limited goes alone: when it has least, or has waited.
        let late = (flows.iter()).find(|one| {
            one.is_late(now) && counts.contains_key(&one.tenant) && limited(one.tenant)
        });
        let alone = late.map_or(least, |one| one.tenant);
        if late.is_some() || limited(least) {
            counts.retain(|tenant, _| *tenant == alone);
        } else {
            counts.retain(|tenant, _| !limited(*tenant));
            if !many {
                counts.retain(|_, count| *count <= FEW.max(few * 2));
            }
        }
        let owner = (counts.len() == 1)
            .then(|| counts.keys().next().copied())
            .flatten();
        // Some tenants share a large batch: none of them has much of it.
        let most = if several && counts.len() < SOME {
            SHARED_BATCH
        } else {
            BATCH
        };
        let each = FEW.max(most / counts.len());
        let chosen = choose(flows, counts.into_keys(), each, most);
        (!chosen.is_empty()).then_some((chosen, owner))
    }
}

/// A lane's source of batches, see [`Batches::source`].
pub(crate) struct BatchSource {
    batches: Batches,
    lane: usize,
    /// When it looks again at results that wait, whatever happens meanwhile.
    again: Option<Pin<Box<Sleep>>>,
}

impl EventSource for BatchSource {
    type Event = Batch;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Batch>> {
        let shares = &self.batches.shares;
        let mut state = self.batches.state();
        loop {
            let next = state.next(Instant::now(), shares.at_work(), |tenant| {
                shares.is_limited(tenant)
            });
            if let Some((results, number, session)) = next {
                let batches = self.batches.clone();
                let place = Place {
                    batches,
                    number,
                    session,
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
    use std::collections::VecDeque;
    use std::time::Duration;

    use super::*;
    use crate::results::tests::finished;
    use crate::waiting::{MANY_FLOWS, TOGETHER};

    impl State {
        /// The next batch and its owner.
        fn batch(
            &mut self,
            lanes: usize,
            at_work: usize,
            limited: impl Fn(i32) -> bool,
        ) -> Option<(Vec<Finished>, u64, Option<i32>)> {
            self.lanes = lanes;
            let (results, number, _) = self.next(Instant::now(), at_work, limited)?;
            let batch = self.under_way.last_mut()?;
            // However slow the machine is: no time passes but where a trial says so.
            batch.begun += Duration::from_secs(3600);
            Some((results, number, batch.owner))
        }

        fn returns(&mut self, number: u64) {
            self.under_way.retain(|one| one.number != number);
        }
    }

    /// Results of a tenant's one flow.
    fn of(tenant: TenantId, wids: std::ops::Range<i32>) -> impl Iterator<Item = Finished> {
        wids.map(move |wid| {
            let mut one = finished(wid, wid);
            (one.tenant, one.key.flow) = (tenant, tenant);
            one
        })
    }

    impl State {
        fn add(&mut self, results: impl IntoIterator<Item = Finished>) {
            for finished in results {
                self.waiting.put(finished);
                if let Some((since, _)) = self.waiting.results.back_mut() {
                    *since += Duration::from_secs(3600);
                }
            }
        }

        /// What waits has waited long.
        fn grow_late(&mut self) {
            let long_ago = Instant::now() - PATIENCE;
            (self.waiting.results.iter_mut()).for_each(|(since, _)| *since = long_ago);
        }
    }

    #[test]
    fn of_many_flows_each_goes_over_its_home() {
        let flows = i32::try_from(MANY_FLOWS).expect("few") * 10;
        let mut state = State::new(2);
        let mut over: HashMap<i32, HashSet<usize>> = HashMap::default();
        let mut under_way: VecDeque<(u64, Vec<i32>)> = VecDeque::new();
        state.add((0..flows).flat_map(|flow| of(flow, 0..3)));
        for _ in 0..200 {
            while let Some((results, number, session)) = state.next(Instant::now(), MANY, |_| false)
            {
                let flows: Vec<i32> = results.iter().map(|one| one.key.flow).collect();
                for flow in &flows {
                    over.entry(*flow).or_default().insert(session);
                }
                under_way.push_back((number, flows));
            }
            // What has come back fires as much again.
            let (number, flows) = under_way.pop_front().expect("a batch is on its way");
            state.returns(number);
            for flow in flows.into_iter().collect::<HashSet<i32>>() {
                state.add(of(flow, 0..3));
            }
        }
        assert_eq!(over.len(), usize::try_from(flows).expect("few"));
        assert!(
            over.values().all(|sessions| sessions.len() == 1),
            "{over:?}"
        );
        let sessions: HashSet<usize> = over.into_values().flatten().collect();
        assert_eq!(sessions.len(), homes(2));
    }

    #[test]
    fn of_many_flows_one_with_many_results_or_a_home_that_is_held_up_goes_over_any_session() {
        let flows = i32::try_from(MANY_FLOWS).expect("few") * 8;
        let homes = i32::try_from(homes(2)).expect("few");
        let mut state = State::new(2);
        // All of them at home in the first session, which is in use.
        state.add((0..flows).flat_map(|flow| of(flow * homes, 0..3)));
        let (_, number, session) = state.next(Instant::now(), 1, |_| false).expect("a batch");
        assert_eq!(session, 0);
        assert!(state.next(Instant::now(), 1, |_| false).is_none());
        let many = i32::try_from(TOGETHER).expect("few");
        state.add(of(flows * homes, 0..many));
        let (results, _, session) = state.next(Instant::now(), 1, |_| false).expect("a batch");
        assert!(session != 0 && results.iter().all(|one| one.key.flow == flows * homes));
        state.returns(number + 1);
        assert!(state.next(Instant::now(), 1, |_| false).is_none());
        let long_ago = Instant::now() - HELD_UP;
        (state.waiting.results.iter_mut()).for_each(|(since, _)| *since = long_ago);
        state.add(of(flows * homes, many..many * 2));
        let (results, _, session) = state.next(Instant::now(), 1, |_| false).expect("a batch");
        assert!(session != 0 && results.iter().any(|one| one.key.flow != flows * homes));
    }

    #[test]
    fn a_tenant_with_few_results_waits_for_none_with_many() {
        let mut state = State::new(2);
        state.add(of(1, 0..500).chain(of(2, 500..501)));
        let (results, _, owner) = state.batch(1, 2, |_| false).expect("a batch");
        assert_eq!((owner, results.len()), (Some(2), 1));
        let (results, _, owner) = state.batch(1, 2, |_| false).expect("a batch");
        assert_eq!((owner, results.len()), (Some(1), SHARED_BATCH));
        // Its next one goes when that has come back; another's goes now.
        assert!(state.batch(1, 2, |_| false).is_none());
        state.add(of(3, 600..603));
        let (results, _, owner) = state.batch(1, 2, |_| false).expect("a batch");
        assert_eq!((owner, results.len()), (Some(3), 3));
    }

    #[test]
    fn many_tenants_with_few_results_share_a_batch_but_for_limited_ones() {
        let mut state = State::new(2);
        state.add((1..=20).flat_map(|tenant| of(tenant, tenant * 10..tenant * 10 + 5)));
        let (results, _, owner) = state.batch(1, 2, |tenant| tenant == 7).expect("a batch");
        assert_eq!((owner, results.len()), (None, 95));
        let (results, _, owner) = state.batch(1, 2, |tenant| tenant == 7).expect("a batch");
        assert_eq!((owner, results.len()), (Some(7), 5));
    }

    #[test]
    fn many_tenants_wait_for_company_while_a_batch_is_on_its_way() {
        let many = i32::try_from(MANY).expect("few");
        let one_of_each = |from: i32| (1..=many).flat_map(move |one| of(one, from..from + 1));
        let mut state = State::new(2);
        state.add(one_of_each(0));
        let (_, number, _) = state.batch(2, MANY, |_| false).expect("a batch");
        state.add(one_of_each(100));
        assert!(state.batch(2, MANY, |_| false).is_none());
        state.returns(number);
        assert!(state.batch(2, MANY, |_| false).is_some());
        // One that is held up is not waited for.
        state.add(one_of_each(150));
        assert!(state.batch(2, MANY, |_| false).is_none());
        state.under_way[0].begun = Instant::now() - PATIENCE;
        assert!(state.batch(2, MANY, |_| false).is_some());
        // Enough of them wait for nobody.
        let each = i32::try_from(TOGETHER.div_ceil(MANY)).expect("few");
        state.add((1..=many).flat_map(|one| of(one, 200..200 + each)));
        assert!(state.batch(2, MANY, |_| false).is_some());
    }

    #[test]
    fn who_has_many_results_has_no_more_of_a_batch_than_others() {
        let many = i32::try_from(MANY).expect("few");
        let mut state = State::new(2);
        state.add(of(1, 0..5_000));
        state.add((2..=many).flat_map(|one| of(one, 0..3)));
        let (results, ..) = state.batch(2, MANY, |_| false).expect("a batch");
        let theirs = |tenant: TenantId| results.iter().filter(|one| one.tenant == tenant).count();
        assert_eq!(theirs(1), BATCH / MANY);
        assert!((2..=many).all(|tenant| theirs(tenant) == 3));
    }

    #[test]
    fn results_of_all_lanes_are_one_batch() {
        let batches = Batches::new(Arc::new(Shares::new(8)), 2);
        for lane in [0, 1] {
            let wid = i32::try_from(lane).expect("small");
            batches.put(Finished {
                lane,
                ..finished(wid, wid)
            });
        }
        let (taken, ..) = batches.state().batch(2, 1, |_| false).expect("a batch");
        assert_eq!(taken.len(), 2);
    }

    #[test]
    fn alone_a_tenant_has_all_of_the_batch() {
        let mut state = State::new(2);
        state.add(of(1, 0..600));
        for left in [BATCH, 600 - BATCH] {
            let (results, _, owner) = state.batch(1, 1, |_| false).expect("a batch");
            assert_eq!((owner, results.len()), (Some(1), left));
        }
    }

    #[test]
    fn alone_a_tenant_has_a_batch_for_each_home_on_its_way_and_more_where_they_are_held_up() {
        let mut state = State::new(2);
        let together = i32::try_from(TOGETHER).expect("few");
        for round in 0..3 {
            state.add(of(1, round * together..(round + 1) * together));
            assert!(state.batch(2, 1, |_| false).is_some());
        }
        state.add(of(1, 3 * together..5 * together));
        assert!(state.batch(2, 1, |_| false).is_none());
        state.under_way[0].begun = Instant::now() - HELD_UP;
        assert!(state.batch(2, 1, |_| false).is_some());
        state.under_way[1].begun = Instant::now() - HELD_UP;
        assert!(
            state.batch(2, 1, |_| false).is_none(),
            "as many as ever are on their way"
        );
    }

    #[test]
    fn who_is_limited_or_has_many_results_is_not_passed_by_for_ever() {
        let many = i32::try_from(MANY).expect("few");
        let round = |state: &mut State, from: i32| {
            state.add((2..=4).flat_map(|one| of(one, from..from + 1)));
            state.batch(1, MANY, |tenant| tenant == many)
        };
        // Many are at work, of whom few have results: who has many of them shares their batch.
        let mut state = State::new(2);
        state.add(of(1, 0..64));
        let (results, number, owner) = round(&mut state, 100).expect("a batch");
        assert!(owner.is_none() && results.iter().any(|one| one.tenant == 1));
        state.returns(number);
        // Who is limited goes alone when it has waited.
        let mut state = State::new(2);
        state.add(of(many, 0..5));
        let (results, number, _) = round(&mut state, 200).expect("a batch");
        assert!(results.iter().all(|one| one.tenant != many));
        state.returns(number);
        state.grow_late();
        let (results, _, owner) = round(&mut state, 300).expect("a batch");
        assert_eq!((owner, results.len()), (Some(many), 5));
    }

    #[test]
    fn a_flow_that_is_held_up_holds_up_one_batch() {
        let many = i32::try_from(MANY).expect("few");
        let mut state = State::new(2);
        state.add((1..=many).flat_map(|one| of(one, 0..1)));
        state.batch(1, MANY, |_| false).expect("a batch");
        state.under_way[0].begun = Instant::now() - HELD_UP;
        state.add(of(1, 1..2).chain(of(many + 1, 0..1)));
        let (results, ..) = state.batch(1, MANY, |_| false).expect("a batch");
        assert_eq!(results.len(), 1);
        assert_eq!(results[0].tenant, many + 1);
        state.returns(0);
        let (results, ..) = state.batch(2, 1, |_| false).unwrap_or_default();
        assert!(results.is_empty(), "it waits for the other's return");
        state.returns(1);
        let (results, ..) = state.batch(1, MANY, |_| false).expect("a batch");
        assert_eq!(results[0].key.wid, 1);
    }

    #[test]
    fn a_place_comes_back_when_its_batch_is_dropped() {
        let batches = Batches::new(Arc::new(Shares::new(8)), 1);
        batches.state().add(of(1, 0..5));
        let (_, number, session) =
            (batches.state().next(Instant::now(), 1, |_| false)).expect("a batch");
        let place = Place {
            batches: batches.clone(),
            number,
            session,
        };
        assert_eq!(place.owner(), Some(1));
        batches.put(finished(9, 9));
        assert!(batches.state().next(Instant::now(), 1, |_| false).is_none());
        drop(place);
        assert!(batches.state().next(Instant::now(), 1, |_| false).is_some());
    }

    #[test]
    fn a_flow_with_few_in_hand_waits_for_its_own_but_not_for_ever() {
        let few = i32::try_from(FEW).expect("few");
        let enough = i32::try_from(TOGETHER).expect("few");
        let mut state = State::new(2);
        // Of one flow three of five have come; of another as many of more than a few; then there is enough.
        (0..5).for_each(|_| state.waiting.change(1, |one| one.in_hand += 1));
        (0..=few).for_each(|_| state.waiting.change(2, |one| one.in_hand += 1));
        state.add(of(1, 0..3).chain(of(2, 0..3)));
        assert_eq!(state.waiting.all_ready(), 3);
        let all = |state: &mut State| -> Vec<i32> {
            let (results, ..) = state.batch(2, 1, |_| false).expect("a batch");
            results.iter().map(|one| one.key.flow).collect()
        };
        // With nothing on its way it goes as it is.
        assert_eq!(all(&mut state), [1, 1, 1, 2, 2, 2]);
        state.add(of(1, 3..5).chain(of(2, 3..6)).chain(of(3, 0..enough)));
        assert!(!all(&mut state).contains(&1));
        // The first three come back and go on: all five are one.
        state.returns(0);
        state.add(of(1, 0..3).chain(of(3, 0..enough)));
        assert_eq!(all(&mut state).iter().filter(|flow| **flow == 1).count(), 5);
        // One of them does not come.
        state.returns(1);
        state.add(of(1, 5..7).chain(of(3, 0..enough)));
        assert!(!all(&mut state).contains(&1));
        state.returns(2);
        state.grow_late();
        state.add(of(3, 0..enough));
        assert!(all(&mut state).contains(&1));
    }

    #[test]
    fn no_instance_is_in_two_batches_at_once() {
        let mut state = State::new(2);
        state.add([finished(1, 1), finished(2, 2), finished(1, 3)]);
        let (results, number, _) = state.batch(1, 2, |_| false).expect("a batch");
        assert_eq!(results.len(), 2);
        assert!(state.batch(1, 2, |_| false).is_none());
        // Of another tenant one comes through meanwhile.
        state.add(of(2, 7..8));
        let (_, _, owner) = state.batch(1, 2, |_| false).expect("a batch");
        assert_eq!(owner, Some(2));
        state.returns(number);
        let (results, ..) = state.batch(1, 2, |_| false).expect("a batch");
        assert_eq!(results[0].key.tgid, 3);
    }
}
