//! What each tenant has of a host: jobs in hand, and fuel used that the database was not told of yet. As
//! long as one tenant is at work alone it may have all; beside others it has a share. A host that ends
//! forgets all of it, and nothing is lost but a second's fuel.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use foldhash::{HashMap, HashSet};
use wedflow_model::{FlowId, TenantId};
use wedflow_store::Claimed;

/// For how long a tenant without jobs is still taken for one at work.
const LASTING: Duration = Duration::from_secs(1);
/// The most jobs that a tenant has in hand beside others: what a processor does in some milliseconds.
const MOST: usize = 64;
/// How many flows are remembered before all are looked up anew.
const KEPT: usize = 65_536;

/// The shares of a host.
#[derive(Debug)]
pub(crate) struct Shares {
    /// Jobs that the host may have in hand.
    room: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// A flow never moves to another tenant.
    tenants: HashMap<FlowId, TenantId>,
    at_work: HashMap<TenantId, AtWork>,
    fuel: HashMap<TenantId, u64>,
    /// Tenants whose fuel is used up.
    resting: HashSet<TenantId>,
    /// Tenants that may have only so many jobs in hand, on all hosts.
    limited: HashSet<TenantId>,
}

#[derive(Debug)]
struct AtWork {
    held: usize,
    seen: Instant,
}

/// What a claim asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The most jobs of one tenant; none: as many as there are.
    pub(crate) most: Option<usize>,
    /// Tenants that have their share.
    pub(crate) without: Vec<TenantId>,
    /// Tenants that have some: where there is not enough for all, others come first.
    pub(crate) busy: Vec<TenantId>,
}

impl Shares {
    pub(crate) fn new(room: usize) -> Self {
        Shares {
            room,
            state: Mutex::default(),
        }
    }

    /// The flows of these jobs whose tenant is not known.
    pub(crate) fn unknown(&self, claimed: &[Claimed]) -> Vec<FlowId> {
        let state = self.state();
        let mut flows: Vec<FlowId> = claimed
            .iter()
            .map(|claimed| claimed.job.key.flow)
            .filter(|flow| !state.tenants.contains_key(flow))
            .collect();
        flows.sort_unstable();
        flows.dedup();
        flows
    }

    /// Learns whose flows these are.
    pub(crate) fn learn(&self, flows: Vec<(FlowId, TenantId)>) {
        let mut state = self.state();
        if state.tenants.len() >= KEPT {
            state.tenants.clear();
        }
        state.tenants.extend(flows);
    }

    /// Jobs were taken in hand. Answers whose each is; a flow that is not known is nobody's, 0.
    pub(crate) fn taken(&self, claimed: &[Claimed]) -> Vec<TenantId> {
        let mut guard = self.state();
        let state = &mut *guard;
        let now = Instant::now();
        claimed
            .iter()
            .map(|claimed| {
                let tenant = state
                    .tenants
                    .get(&claimed.job.key.flow)
                    .copied()
                    .unwrap_or_default();
                let at_work = state
                    .at_work
                    .entry(tenant)
                    .or_insert(AtWork { held: 0, seen: now });
                at_work.held += 1;
                at_work.seen = now;
                tenant
            })
            .collect()
    }

    /// Jobs left the hand: whose, and what their attempts used.
    pub(crate) fn given(&self, jobs: impl Iterator<Item = (TenantId, u64)>) {
        let mut guard = self.state();
        let state = &mut *guard;
        let now = Instant::now();
        for (tenant, fuel) in jobs {
            if let Some(at_work) = state.at_work.get_mut(&tenant) {
                at_work.held = at_work.held.saturating_sub(1);
                at_work.seen = now;
            }
            if fuel > 0 {
                *state.fuel.entry(tenant).or_default() += fuel;
            }
        }
    }

    /// How many tenants are at work: have jobs in hand, or had lately.
    pub(crate) fn at_work(&self) -> usize {
        let mut state = self.state();
        state.share(self.room).map_or(1, |_| state.at_work.len())
    }

    /// What a claim is to ask for.
    pub(crate) fn asked(&self) -> Asked {
        let mut state = self.state();
        let most = state.share(self.room);
        let full = most.unwrap_or(self.room);
        let (mut without, mut busy) = (Vec::new(), Vec::new());
        for (tenant, at_work) in &state.at_work {
            if at_work.held >= full {
                without.push(*tenant);
            } else if at_work.held > 0 {
                busy.push(*tenant);
            }
        }
        // Who rests is asked for again when the database says that it may go on.
        without.extend(&state.resting);
        Asked {
            most,
            without,
            busy,
        }
    }

    /// Whether a tenant has more than its share.
    pub(crate) fn is_over(&self, tenant: TenantId) -> bool {
        let mut state = self.state();
        let most = state.share(self.room);
        most.is_some_and(|most| {
            state
                .at_work
                .get(&tenant)
                .is_some_and(|at_work| at_work.held > most)
        })
    }

    /// Whether the fired jobs of a tenant are not kept but claimed, one and all.
    pub(crate) fn is_limited(&self, tenant: TenantId) -> bool {
        let state = self.state();
        state.limited.contains(&tenant) || state.resting.contains(&tenant)
    }

    /// Whether a tenant's fuel is used up.
    pub(crate) fn rests(&self, tenant: TenantId) -> bool {
        self.state().resting.contains(&tenant)
    }

    /// The fuel used since this was asked last.
    pub(crate) fn take_fuel(&self) -> (Vec<TenantId>, Vec<i64>) {
        std::mem::take(&mut self.state().fuel)
            .into_iter()
            .filter(|(tenant, _)| *tenant != TenantId::default())
            .map(|(tenant, fuel)| (tenant, i64::try_from(fuel).unwrap_or(i64::MAX)))
            .unzip()
    }

    /// What the database said to it: who rests, and who may have only so many jobs in hand.
    pub(crate) fn told(&self, resting: Vec<TenantId>, limited: Vec<TenantId>) {
        let mut state = self.state();
        state.resting = resting.into_iter().collect();
        state.limited = limited.into_iter().collect();
    }

    /// Fuel that the database could not be told comes back.
    pub(crate) fn give_back_fuel(&self, tenants: Vec<TenantId>, fuel: Vec<i64>) {
        let mut state = self.state();
        for (tenant, fuel) in tenants.into_iter().zip(fuel) {
            *state.fuel.entry(tenant).or_default() += fuel.unsigned_abs();
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How many jobs each tenant may have in hand; none while only one is at work.
    fn share(&mut self, room: usize) -> Option<usize> {
        if self.at_work.len() < 2 {
            return None;
        }
        let now = Instant::now();
        self.at_work
            .retain(|_, at_work| at_work.held > 0 || now.duration_since(at_work.seen) < LASTING);
        match self.at_work.len() {
            0 | 1 => None,
            // Room is left for one that comes now.
            several => Some((room / (several + 1)).clamp(1, MOST)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use wedflow_model::{Job, JobKey};

    fn jobs(flow: FlowId, count: i32) -> Vec<Claimed> {
        (0..count)
            .map(|wid| Claimed {
                job: Job {
                    key: JobKey { flow, wid, tgid: 1 },
                    transition: String::new(),
                    token: 1,
                    attempt: 1,
                    fired_by: 1,
                    timeout: Duration::from_secs(1),
                    payload: String::new(),
                },
                trigger: String::new(),
                component_id: 1,
                flow_version: 1,
            })
            .collect()
    }

    #[test]
    fn alone_a_tenant_may_have_all_and_beside_others_a_share() {
        let shares = Shares::new(90);
        shares.learn(vec![(10, 1), (20, 2)]);
        assert_eq!(shares.taken(&jobs(10, 80)), vec![1; 80]);
        assert_eq!(
            shares.asked(),
            Asked {
                most: None,
                without: Vec::new(),
                busy: vec![1]
            }
        );
        assert!(!shares.is_over(1) && shares.at_work() == 1);
        shares.taken(&jobs(20, 1));
        assert_eq!(
            shares.asked(),
            Asked {
                most: Some(30),
                without: vec![1],
                busy: vec![2]
            }
        );
        assert!(shares.is_over(1) && !shares.is_over(2) && shares.at_work() == 2);
        shares.given((0..60).map(|_| (1, 5)));
        assert_eq!(shares.asked().without, Vec::<i32>::new());
        assert_eq!(shares.take_fuel(), (vec![1], vec![300]));
        assert_eq!(shares.take_fuel(), (Vec::new(), Vec::new()));
    }

    #[test]
    fn fuel_that_could_not_be_told_is_told_again() {
        let shares = Shares::new(90);
        shares.learn(vec![(10, 1)]);
        shares.taken(&jobs(10, 2));
        shares.given([(1, 7), (1, 8)].into_iter());
        let (tenants, fuel) = shares.take_fuel();
        shares.give_back_fuel(tenants, fuel);
        assert_eq!(shares.take_fuel(), (vec![1], vec![15]));
        shares.told(vec![1], vec![2]);
        assert!(
            shares.rests(1) && shares.is_limited(1) && shares.is_limited(2) && !shares.rests(2)
        );
    }
}
