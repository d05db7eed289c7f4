//! Whose job is begun next: deficit round robin over tenants, charged in fuel. A tenant whose turn it is
//! spends a credit; when that is used up it waits until everybody else who has jobs had a turn. What an
//! attempt cost is known at its end; until then it is put down as much as the tenant's usual one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Poll, Waker};

use foldhash::{HashMap, HashMapExt};
use wedflow_model::{FlowId, TenantId};
use wedflow_sandbox::Watch;
use wedflow_scheduler::{EventSource, Observing};
use wedflow_store::Claimed;

/// What a turn brings, in fuel.
const QUANTUM: i64 = 1_000_000;
/// What every attempt costs besides its fuel, because the database has work with it too.
const FLAT: i64 = 100_000;
/// How much of a tenant's usual cost is what the last attempt cost: one part in so many.
const SMOOTHING: i64 = 8;
/// Attempts of one tenant that may be computing at once in a lane: more would only have their time run out
/// while they wait for a processor, and keep the sandbox's room from others.
const COMPUTING: usize = 2;
/// Jobs of a flow that a turn takes together, beyond its credit too where they are light: their results go into one
/// batch, and the database has work with each flow of a batch.
const TOGETHER: usize = 8;
/// How many tenants without jobs are remembered before all of them begin anew.
const KEPT: usize = 4_096;

/// Jobs that wait to be begun by a lane. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Turns(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    queues: Queues<Claimed>,
    waker: Option<Waker>,
}

/// How many attempts of a tenant compute.
#[derive(Debug)]
struct Load {
    computing: AtomicUsize,
    turns: Weak<Mutex<State>>,
}

impl Watch for Load {
    fn computes(&self) {
        self.computing.fetch_add(1, Ordering::AcqRel);
    }

    fn rests(&self) {
        if self.computing.fetch_sub(1, Ordering::AcqRel) == COMPUTING
            && let Some(turns) = self.turns.upgrade()
        {
            // Not held while somebody is woken: this may be a thread that ranks lower than the lane's.
            let waker = locked(&turns).waker.take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

/// A job whose turn it is.
pub(crate) struct Turn {
    pub(crate) claimed: Claimed,
    pub(crate) tenant: TenantId,
    /// What was put down for it.
    pub(crate) put_down: i64,
    /// Who is to be told whether the attempt computes.
    pub(crate) load: Arc<dyn Watch>,
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn")
            .field("claimed", &self.claimed)
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}

impl Turns {
    pub(crate) fn new() -> Self {
        Turns(Arc::new_cyclic(|turns| {
            Mutex::new(State {
                queues: Queues::new(Weak::clone(turns)),
                waker: None,
            })
        }))
    }

    /// Puts in jobs, each with its tenant.
    pub(crate) fn put(&self, jobs: impl Iterator<Item = (TenantId, Claimed)>) {
        let mut state = self.state();
        for (tenant, claimed) in jobs {
            state.queues.put(tenant, claimed.job.key.flow, claimed);
        }
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Puts right what an attempt cost.
    pub(crate) fn settle(&self, tenant: TenantId, put_down: i64, fuel: u64) {
        self.state().queues.settle(tenant, put_down, fuel);
    }

    /// The source: its events are the jobs, each when its turn has come.
    pub(crate) fn source(&self) -> TurnSource {
        TurnSource(self.clone())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        locked(&self.0)
    }
}

fn locked(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The source of [`Turns`].
pub(crate) struct TurnSource(Turns);

impl EventSource for TurnSource {
    type Event = Turn;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Turn>> {
        let mut state = self.0.state();
        match state.queues.next() {
            Some(begun) => {
                let Begun {
                    tenant,
                    job,
                    put_down,
                    load,
                } = begun;
                Poll::Ready(Some(Turn {
                    claimed: job,
                    tenant,
                    put_down,
                    load,
                }))
            }
            None => {
                state.waker = Some(observing.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// What [`Queues::next`] hands out.
struct Begun<J> {
    tenant: TenantId,
    job: J,
    put_down: i64,
    load: Arc<Load>,
}

#[derive(Debug)]
struct Queues<J> {
    tenants: HashMap<TenantId, Queue<J>>,
    /// Tenants with jobs; the first one's turn it is.
    round: VecDeque<TenantId>,
    /// What is woken when a tenant may begin again.
    turns: Weak<Mutex<State>>,
}

#[derive(Debug)]
struct Queue<J> {
    /// Each with its flow.
    jobs: VecDeque<(FlowId, J)>,
    credit: i64,
    /// Jobs at the front that still go with those of their flow that were begun.
    together: usize,
    /// What an attempt of it usually costs.
    usual: i64,
    load: Arc<Load>,
}

impl<J> Queue<J> {
    fn may_begin(&self) -> bool {
        self.load.computing.load(Ordering::Acquire) < COMPUTING
    }

    /// Takes the next job and puts down what it may cost. Those of its flow that stand behind it may go with it.
    fn begin(&mut self) -> Option<J> {
        let (flow, job) = self.jobs.pop_front()?;
        self.together = match self.together.checked_sub(1) {
            Some(left) => left,
            None if self.usual > QUANTUM / 2 => 0,
            None => (self.jobs.iter().take(TOGETHER - 1))
                .take_while(|(other, _)| *other == flow)
                .count(),
        };
        self.credit -= self.usual;
        Some(job)
    }
}

impl<J> Queues<J> {
    fn new(turns: Weak<Mutex<State>>) -> Self {
        Queues {
            tenants: HashMap::new(),
            round: VecDeque::new(),
            turns,
        }
    }

    fn put(&mut self, tenant: TenantId, flow: FlowId, job: J) {
        if self.tenants.len() >= KEPT {
            self.tenants.retain(|_, queue| {
                !queue.jobs.is_empty() || queue.load.computing.load(Ordering::Acquire) > 0
            });
        }
        let queue = self.tenants.entry(tenant).or_insert_with(|| Queue {
            jobs: VecDeque::new(),
            credit: QUANTUM,
            together: 0,
            usual: FLAT,
            load: Arc::new(Load {
                computing: AtomicUsize::new(0),
                turns: Weak::clone(&self.turns),
            }),
        });
        if queue.jobs.is_empty() {
            // Who had nothing to do saves nothing up, but still owes.
            queue.credit = queue.credit.min(QUANTUM);
            self.round.push_back(tenant);
        }
        queue.jobs.push_back((flow, job));
    }

    fn next(&mut self) -> Option<Begun<J>> {
        let credit = |tenants: &HashMap<TenantId, Queue<J>>, tenant: &TenantId| {
            let queue = tenants.get(tenant).filter(|queue| queue.may_begin());
            queue.map(|queue| (queue.credit, queue.together))
        };
        let may = |tenants: &HashMap<TenantId, Queue<J>>, tenant: &TenantId| {
            credit(tenants, tenant).is_some_and(|(credit, together)| credit > 0 || together > 0)
        };
        let mut at = self.round.iter().position(|one| may(&self.tenants, one));
        if at.is_none() {
            // As many turns for everybody at once as the first one needs who can go on then.
            let able = self
                .round
                .iter()
                .filter_map(|one| credit(&self.tenants, one));
            let turns = able.map(|(credit, _)| -credit / QUANTUM + 1).min()?;
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
        let put_down = queue.usual;
        let load = Arc::clone(&queue.load);
        let job = queue.begin()?;
        if queue.jobs.is_empty() {
            self.round.pop_front();
        } else if queue.credit <= 0 && queue.together == 0 {
            self.round.rotate_left(1);
        }
        Some(Begun {
            tenant,
            job,
            put_down,
            load,
        })
    }

    fn settle(&mut self, tenant: TenantId, put_down: i64, fuel: u64) {
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
            let Some(Begun {
                tenant, put_down, ..
            }) = queues.next()
            else {
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
        let mut queues = Queues::new(Weak::new());
        for _ in 0..10_000 {
            queues.put(1, 1, ());
        }
        spent(&mut queues, &[(1, 0)], 100);
        queues.put(2, 2, ());
        let begun: Vec<i32> = (0..20)
            .map_while(|_| queues.next())
            .map(|begun| begun.tenant)
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
    fn a_turn_takes_a_flows_few_jobs_together_where_they_are_light() {
        let begun = |usual: i64| -> Vec<i32> {
            let mut queues = Queues::new(Weak::new());
            (1..=3).for_each(|flow| (0..5).for_each(|_| queues.put(1, flow, flow)));
            (0..30).for_each(|_| queues.put(2, 9, 9));
            (queues.tenants.values_mut()).for_each(|queue| queue.usual = usual);
            std::iter::from_fn(|| queues.next().map(|begun| begun.job)).collect()
        };
        let (light, heavy) = (begun(300_000), begun(5_000_000));
        let runs = |begun: &[i32]| -> Vec<(i32, usize)> {
            let runs = begun.chunk_by(|one, other| one == other);
            runs.map(|run| (run[0], run.len())).collect()
        };
        let of_first = |begun: &[i32]| -> Vec<(i32, usize)> {
            let mut runs = runs(begun);
            runs.retain(|(flow, _)| *flow != 9);
            runs
        };
        assert_eq!(of_first(&light), [(1, 5), (2, 5), (3, 5)], "{light:?}");
        // Beyond its credit, which it owes: the other has its turn in between.
        assert!(runs(&light).len() >= 5, "{light:?}");
        assert!(
            of_first(&heavy).iter().all(|(_, jobs)| *jobs == 1),
            "{heavy:?}"
        );
    }

    #[test]
    fn tenants_get_equal_fuel_however_heavy_their_jobs() {
        let mut queues = Queues::new(Weak::new());
        for _ in 0..20_000 {
            queues.put(1, 1, ());
            queues.put(2, 2, ());
            queues.put(3, 3, ());
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
        let mut queues = Queues::new(Weak::new());
        queues.put(1, 1, ());
        let put_down = queues.next().expect("its turn").put_down;
        queues.settle(1, put_down, 100_000_000);
        for _ in 0..50 {
            queues.put(1, 1, ());
            queues.put(2, 2, ());
        }
        let begun: Vec<i32> = (0..50)
            .map_while(|_| queues.next())
            .map(|begun| begun.tenant)
            .collect();
        assert!(begun.iter().all(|tenant| *tenant == 2), "{begun:?}");
    }

    #[test]
    fn alone_a_tenant_is_never_kept_waiting() {
        let mut queues = Queues::new(Weak::new());
        for _ in 0..1_000 {
            queues.put(1, 1, ());
        }
        let spent = spent(&mut queues, &[(1, 10_000_000_000)], 1_000);
        assert_eq!(spent.len(), 1);
        assert!(queues.next().is_none());
    }

    #[test]
    fn who_computes_waits_and_nobody_else_does() {
        let mut queues = Queues::new(Weak::new());
        for _ in 0..100 {
            queues.put(1, 1, ());
        }
        let loads: Vec<_> = (0..COMPUTING)
            .map(|_| {
                let load = queues.next().expect("its turn").load;
                load.computes();
                load
            })
            .collect();
        assert!(queues.next().is_none());
        queues.put(2, 2, ());
        assert_eq!(queues.next().map(|begun| begun.tenant), Some(2));
        assert!(queues.next().is_none());
        loads[0].rests();
        assert_eq!(queues.next().map(|begun| begun.tenant), Some(1));
    }

    #[test]
    fn who_may_begin_again_is_woken() {
        struct Flag(std::sync::atomic::AtomicBool);
        impl std::task::Wake for Flag {
            fn wake(self: Arc<Self>) {
                self.0.store(true, Ordering::Release);
            }
        }
        let turns = Turns::new();
        let flag = Arc::new(Flag(false.into()));
        let load = Load {
            computing: AtomicUsize::new(0),
            turns: Arc::downgrade(&turns.0),
        };
        for _ in 0..=COMPUTING {
            load.computes();
        }
        turns.state().waker = Some(Arc::clone(&flag).into());
        load.rests();
        assert!(!flag.0.load(Ordering::Acquire), "still at the limit");
        load.rests();
        assert!(flag.0.load(Ordering::Acquire));
    }
}
