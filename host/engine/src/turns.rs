//! Whose job is begun next: deficit round robin over tenants, charged in fuel. A tenant whose turn it is
//! spends a credit; when that is used up it waits until everybody else who has jobs had a turn. What an
//! attempt cost is known at its end; until then it is put down as much as the tenant's usual one.

use std::collections::{HashMap, VecDeque};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use wedflow_scheduler::{EventSource, Observing, Sleep};
use wedflow_store::Claimed;

/// What a turn brings, in fuel.
const QUANTUM: i64 = 1_000_000;
/// What every attempt costs besides its fuel, because the database has work with it too.
const FLAT: i64 = 100_000;
/// How much of a tenant's usual cost is what the last attempt cost: one part in so many.
const SMOOTHING: i64 = 8;
/// Attempts of one tenant that may be computing at once in a lane: more would only have their time run out
/// while they wait for a processor, and keep the sandbox's room from others.
const COMPUTING: usize = 4;
/// A guest that computes is interrupted after a millisecond; one poll of it that took so long was one.
const COMPUTES: Duration = Duration::from_micros(700);
/// For how long an attempt that computed is taken for one that computes: it may wait for its turn at a
/// processor, or for something else.
const LASTING: Duration = Duration::from_millis(500);
/// How soon it is looked whether who computed does still.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How many tenants without jobs are remembered before all of them begin anew.
const KEPT: usize = 4_096;

/// Jobs that wait to be begun by a lane. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    queues: Queues<Claimed>,
    /// Attempts that computed so far.
    numbers: u64,
    waker: Option<Waker>,
}

/// A job whose turn it is.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) claimed: Claimed,
    pub(crate) tenant: i32,
    /// What was put down for it.
    pub(crate) put_down: i64,
}

impl Turns {
    /// Puts in jobs, each with its tenant.
    pub(crate) fn put(&self, jobs: impl Iterator<Item = (i32, Claimed)>) {
        let mut state = self.state();
        for (tenant, claimed) in jobs {
            state.queues.put(tenant, claimed);
        }
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Puts right what an attempt cost.
    pub(crate) fn settle(&self, tenant: i32, put_down: i64, fuel: u64) {
        self.state().queues.settle(tenant, put_down, fuel);
    }

    /// Runs an attempt, and knows all the time whether it computes or waits.
    pub(crate) async fn watch<T>(&self, tenant: i32, attempt: impl Future<Output = T>) -> T {
        let mut computing = Computing {
            turns: self,
            tenant,
            number: None,
        };
        let mut attempt = pin!(attempt);
        std::future::poll_fn(|context| computing.poll(attempt.as_mut(), context)).await
    }

    /// An attempt computed just now. Answers its number among those of its tenant.
    fn computes(&self, tenant: i32, number: Option<u64>) -> u64 {
        let mut state = self.state();
        let number = number.unwrap_or_else(|| {
            state.numbers += 1;
            state.numbers
        });
        if let Some(queue) = state.queues.tenants.get_mut(&tenant) {
            queue.computing.insert(number, Instant::now());
        }
        number
    }

    /// It does so no more.
    fn rests(&self, tenant: i32, number: u64) {
        let mut state = self.state();
        if let Some(queue) = state.queues.tenants.get_mut(&tenant) {
            queue.computing.remove(&number);
        }
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// The source: its events are the jobs, each when its turn has come.
    pub(crate) fn source(&self) -> TurnSource {
        TurnSource {
            turns: self.clone(),
            sleep: None,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an attempt computes, as its last poll showed.
struct Computing<'a> {
    turns: &'a Turns,
    tenant: i32,
    number: Option<u64>,
}

impl Computing<'_> {
    fn poll<F: Future>(
        &mut self,
        attempt: Pin<&mut F>,
        context: &mut Context<'_>,
    ) -> Poll<F::Output> {
        let begun = Instant::now();
        let polled = attempt.poll(context);
        if polled.is_pending() && begun.elapsed() >= COMPUTES {
            self.number = Some(self.turns.computes(self.tenant, self.number));
        } else {
            self.rests();
        }
        polled
    }

    fn rests(&mut self) {
        if let Some(number) = self.number.take() {
            self.turns.rests(self.tenant, number);
        }
    }
}

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.rests();
    }
}

/// The source of [`Turns`].
pub(crate) struct TurnSource {
    turns: Turns,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl EventSource for TurnSource {
    type Event = Turn;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Turn>> {
        let mut state = self.turns.state();
        loop {
            if let Some((tenant, claimed, put_down)) = state.queues.next() {
                self.sleep = None;
                return Poll::Ready(Some(Turn {
                    claimed,
                    tenant,
                    put_down,
                }));
            }
            state.waker = Some(observing.waker().clone());
            if state.queues.round.is_empty() {
                self.sleep = None;
                return Poll::Pending;
            }
            let until = observing.now() + LOOK_AGAIN;
            let sleep = self
                .sleep
                .get_or_insert_with(|| Box::pin(observing.sleep_until(until)));
            if sleep.as_mut().poll(&mut observing.context()).is_pending() {
                return Poll::Pending;
            }
            self.sleep = None;
        }
    }
}

#[derive(Debug)]
struct Queues<J> {
    tenants: HashMap<i32, Queue<J>>,
    /// Tenants with jobs; the first one's turn it is.
    round: VecDeque<i32>,
}

#[derive(Debug)]
struct Queue<J> {
    jobs: VecDeque<J>,
    credit: i64,
    /// What an attempt of it usually costs.
    usual: i64,
    /// Attempts that are computing, and when they last did.
    computing: HashMap<u64, Instant>,
}

impl<J> Queue<J> {
    fn may_begin(&self) -> bool {
        self.computing.len() < COMPUTING
            || self
                .computing
                .values()
                .filter(|at| at.elapsed() < LASTING)
                .count()
                < COMPUTING
    }
}

impl<J> Default for Queues<J> {
    fn default() -> Self {
        Queues {
            tenants: HashMap::new(),
            round: VecDeque::new(),
        }
    }
}

impl<J> Queues<J> {
    fn put(&mut self, tenant: i32, job: J) {
        if self.tenants.len() >= KEPT {
            self.tenants
                .retain(|_, queue| !queue.jobs.is_empty() || !queue.computing.is_empty());
        }
        let queue = self.tenants.entry(tenant).or_insert_with(|| Queue {
            jobs: VecDeque::new(),
            credit: QUANTUM,
            usual: FLAT,
            computing: HashMap::new(),
        });
        if queue.jobs.is_empty() {
            // Who had nothing to do saves nothing up, but still owes.
            queue.credit = queue.credit.min(QUANTUM);
            self.round.push_back(tenant);
        }
        queue.jobs.push_back(job);
    }

    fn next(&mut self) -> Option<(i32, J, i64)> {
        let credit = |tenants: &HashMap<i32, Queue<J>>, tenant: &i32| {
            let queue = tenants.get(tenant).filter(|queue| queue.may_begin());
            queue.map(|queue| queue.credit)
        };
        let may = |tenants: &HashMap<i32, Queue<J>>, tenant: &i32| {
            credit(tenants, tenant).is_some_and(|credit| credit > 0)
        };
        let mut at = self.round.iter().position(|one| may(&self.tenants, one));
        if at.is_none() {
            // As many turns for everybody at once as the first one needs who can go on then.
            let able = self
                .round
                .iter()
                .filter_map(|one| credit(&self.tenants, one));
            let turns = able.map(|credit| -credit / QUANTUM + 1).min()?;
            for tenant in &self.round {
                if let Some(queue) = self
                    .tenants
                    .get_mut(tenant)
                    .filter(|queue| queue.may_begin())
                {
                    queue.credit = queue.credit.saturating_add(turns.saturating_mul(QUANTUM));
                }
            }
            at = self.round.iter().position(|one| may(&self.tenants, one));
        }
        let at = at?;
        self.round.rotate_left(at);
        let tenant = *self.round.front()?;
        let queue = self.tenants.get_mut(&tenant)?;
        let job = queue.jobs.pop_front()?;
        let put_down = queue.usual;
        queue.credit -= put_down;
        if queue.jobs.is_empty() {
            self.round.pop_front();
        } else if queue.credit <= 0 {
            self.round.rotate_left(1);
        }
        Some((tenant, job, put_down))
    }

    fn settle(&mut self, tenant: i32, put_down: i64, fuel: u64) {
        let Some(queue) = self.tenants.get_mut(&tenant) else {
            return;
        };
        let cost = FLAT.saturating_add(i64::try_from(fuel).unwrap_or(i64::MAX));
        queue.credit = queue.credit.saturating_add(put_down).saturating_sub(cost);
        queue.usual += (cost - queue.usual) / SMOOTHING;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins and ends jobs of a cost for each tenant; the fuel each got.
    fn spent(queues: &mut Queues<()>, fuel: &[(i32, u64)], steps: usize) -> HashMap<i32, u64> {
        let mut spent = HashMap::new();
        for _ in 0..steps {
            let Some((tenant, (), put_down)) = queues.next() else {
                break;
            };
            let cost = fuel
                .iter()
                .find(|(one, _)| *one == tenant)
                .map_or(0, |(_, fuel)| *fuel);
            queues.settle(tenant, put_down, cost);
            *spent.entry(tenant).or_default() += cost + u64::try_from(FLAT).expect("positive");
        }
        spent
    }

    #[test]
    fn a_new_tenant_waits_for_no_more_than_one_turn() {
        let mut queues = Queues::default();
        for _ in 0..10_000 {
            queues.put(1, ());
        }
        spent(&mut queues, &[(1, 0)], 100);
        queues.put(2, ());
        let begun: Vec<i32> = (0..20)
            .map_while(|_| queues.next())
            .map(|(tenant, ..)| tenant)
            .collect();
        let at = begun
            .iter()
            .position(|tenant| *tenant == 2)
            .expect("its turn");
        assert!(
            at <= usize::try_from(QUANTUM / FLAT).expect("positive"),
            "{begun:?}"
        );
    }

    #[test]
    fn tenants_get_equal_fuel_however_heavy_their_jobs() {
        let mut queues = Queues::default();
        for _ in 0..20_000 {
            queues.put(1, ());
            queues.put(2, ());
            queues.put(3, ());
        }
        let fuel = [(1, 0), (2, 1_000_000), (3, 50_000_000)];
        let spent = spent(&mut queues, &fuel, 15_000);
        let (least, most) = (spent.values().min(), spent.values().max());
        let (least, most) = (*least.expect("some"), *most.expect("some"));
        assert_eq!(spent.len(), 3);
        assert!(most - least <= 3 * 50_000_000, "{spent:?}");
    }

    #[test]
    fn who_rests_saves_nothing_up_and_still_owes() {
        let mut queues = Queues::default();
        queues.put(1, ());
        let (_, (), put_down) = queues.next().expect("its turn");
        queues.settle(1, put_down, 100_000_000);
        for _ in 0..50 {
            queues.put(1, ());
            queues.put(2, ());
        }
        let begun: Vec<i32> = (0..50)
            .map_while(|_| queues.next())
            .map(|(tenant, ..)| tenant)
            .collect();
        assert!(begun.iter().all(|tenant| *tenant == 2), "{begun:?}");
    }

    #[test]
    fn alone_a_tenant_is_never_kept_waiting() {
        let mut queues = Queues::default();
        for _ in 0..1_000 {
            queues.put(1, ());
        }
        let spent = spent(&mut queues, &[(1, 10_000_000_000)], 1_000);
        assert_eq!(spent.len(), 1);
        assert!(queues.next().is_none());
    }

    #[test]
    fn who_computes_waits_and_nobody_else_does() {
        let mut queues = Queues::default();
        for _ in 0..100 {
            queues.put(1, ());
        }
        let compute = |queues: &mut Queues<()>, at: Instant| {
            let queue = queues.tenants.get_mut(&1).expect("there");
            queue.computing = (0..COMPUTING as u64).map(|number| (number, at)).collect();
        };
        compute(&mut queues, Instant::now());
        assert!(queues.next().is_none());
        queues.put(2, ());
        assert_eq!(queues.next().map(|(tenant, ..)| tenant), Some(2));
        assert!(queues.next().is_none());
        // Who computed long ago waits for something else.
        let long_ago = Instant::now().checked_sub(LASTING).expect("a time");
        compute(&mut queues, long_ago);
        assert_eq!(queues.next().map(|(tenant, ..)| tenant), Some(1));
    }
}
