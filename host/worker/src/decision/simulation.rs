//! The decision under simulation: a whole host on a simulated clock, with a database that is a map, attempts that take
//! random times, panics and locks. The same seed gives the same run.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use proptest::prelude::*;
use wedflow_scheduler::simulation::{Seed, Simulation};
use wedflow_scheduler::source::{QueueSender, queue};
use wedflow_scheduler::{Context, Moment, Registration};

use super::outbox::Queue;
use super::*;
use wedflow_model::{FlowId, LeaseToken, TenantId, Wid};

const MS: Duration = Duration::from_millis(1);
/// Difference between the numbers of a tenant's flows.
const TENANTS: i32 = 10_000;

/// Behaviour of a simulated tenant.
#[derive(Debug, Clone, Copy)]
struct Kind {
    instances: i32,
    /// Branches of each instance, which run at the same time.
    branches: i32,
    /// Transitions of each branch.
    steps: u32,
    /// Fuel of an attempt.
    fuel: u64,
    /// Flows among which the instances are divided.
    flows: i32,
    /// Bytes of a result.
    bytes: usize,
}

impl Kind {
    fn new(instances: i32, steps: u32, fuel: u64) -> Self {
        Kind { instances, branches: 1, steps, fuel, flows: 1, bytes: 0 }
    }
}

/// Faults of the simulated world.
#[derive(Debug, Clone, Default)]
struct Trouble {
    /// Number of a thousand attempts and batches that panic.
    panics: u64,
    /// Number of a thousand batches that take 0.2 s.
    slow: u64,
    /// Tenants the tables of whose flows are locked until the moment.
    locked: HashSet<TenantId>,
    until: Moment,
}

type Told = Event<u32, u32>;
type Done = Action<u32, u32>;

/// Results by token, each with what it says.
type Results = Vec<(LeaseToken, u32)>;
/// A job as the database has it: its instance, and how many transitions are left.
type Row = (Instance, u32);

/// Returns the tenant of an instance, by the number of its flow.
fn tenant_of(instance: Instance) -> TenantId {
    TenantId::new(instance.0.get() % TENANTS)
}

struct World {
    decision: Decision<u32, u32>,
    seed: Seed,
    kinds: BTreeMap<TenantId, Kind>,
    trouble: Trouble,
    next_token: LeaseToken,
    /// Due jobs of each tenant.
    pool: BTreeMap<TenantId, VecDeque<Row>>,
    rows: HashMap<LeaseToken, Row>,
    under_way: HashSet<Instance>,
    sessions: HashSet<usize>,
    finished: HashMap<LeaseToken, (Moment, u64)>,
    /// Batches begun over home sessions.
    batches: u64,
    /// Longest time of each tenant from a result to its batch, and the most batches over home sessions meanwhile.
    waits: BTreeMap<TenantId, (Duration, u64)>,
    committed: BTreeMap<TenantId, u64>,
    meets: u64,
    events: u64,
    woken: u64,
    /// Most bytes of results in quarantine.
    bytes: usize,
}

#[derive(Clone)]
struct Model(Arc<Mutex<World>>, QueueSender<Done>);

impl Model {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().expect("no panic")
    }

    fn tell(&self, event: Told, now: Moment) {
        let actions = {
            let mut world = self.world();
            world.events += 1;
            let actions = world.decision.decide(event, now);
            world.bytes = world.bytes.max(world.decision.budgets.quarantined_bytes());
            world.check(now);
            actions
        };
        for action in actions {
            self.1.try_send(action).expect("room for all actions");
        }
    }

    async fn carry_out(self, action: Done, context: Context) {
        match action {
            Action::Run { lane, token, tenant, .. } => self.run(lane, token, tenant, &context).await,
            Action::Commit(batch) => self.commit(batch, &context).await,
            Action::Claim(claim) => {
                context.sleep(MS).await;
                let (jobs, due) = self.world().claim(&claim);
                let found = jobs.len();
                self.tell(Event::Arrived(jobs), context.now());
                self.tell(Event::Claimed { found, due, next: None }, context.now());
            }
            Action::PutOff { token, pause } => {
                let row = self.world().take_back(token);
                self.tell(Event::Dropped { token }, context.now());
                context.sleep(pause).await;
                self.world().wait(row);
            }
            Action::WakeAt(at) => {
                context.sleep_until(at).await;
                self.world().woken += 1;
                self.tell(Event::Woken, context.now());
            }
        }
    }

    async fn run(&self, lane: usize, token: LeaseToken, tenant: TenantId, context: &Context) {
        // It takes a lane some time to begin a job.
        context.sleep(MS / 50).await;
        self.tell(Event::Asked { lane }, context.now());
        let (takes, panics, fuel, bytes) = {
            let mut world = self.world();
            let Kind { fuel, bytes, .. } = world.kinds[&tenant];
            let panics = world.seed.below(1000) < world.trouble.panics;
            let takes = world.seed.up_to(MS / 4) + Duration::from_nanos(fuel);
            (takes, panics, fuel, bytes)
        };
        let computes = fuel > 1_000_000;
        if computes {
            self.tell(Event::Computes { tenant, so: true }, context.now());
        }
        context.sleep(takes).await;
        if computes {
            self.tell(Event::Computes { tenant, so: false }, context.now());
        }
        let now = context.now();
        if panics {
            self.world().give_up(token);
            self.tell(Event::Dropped { token }, now);
        } else {
            {
                let mut world = self.world();
                let batches = world.batches;
                world.finished.insert(token, (now, batches));
            }
            self.tell(Event::Finished { token, fuel, bytes, result: 0 }, now);
        }
    }

    async fn commit(&self, batch: Batch<u32>, context: &Context) {
        let Batch { session, results, keeps, .. } = batch;
        let now = context.now();
        let takes = self.world().begin(session, &results, now);
        context.sleep(takes).await;
        let now = context.now();
        let (met, rest) = self.world().split(results, now);
        if !met.is_empty() {
            let wait = self.world().decision.policy.lock_wait;
            context.sleep(wait).await;
            let locks = self.world().meet(&met);
            self.tell(Event::Met { locks, results: met }, context.now());
        }
        let tokens: Vec<LeaseToken> = rest.into_iter().map(|(token, _)| token).collect();
        let fired = self.world().commit(&tokens, keeps);
        self.tell(Event::Committed { tokens, fired }, context.now());
        self.world().sessions.remove(&session);
        self.tell(Event::Returned { session }, context.now());
    }
}

impl World {
    fn claim(&mut self, claim: &Claim) -> (Vec<Job<u32>>, bool) {
        let mut rows = Vec::new();
        let tenants: Vec<TenantId> = self.pool.keys().copied().collect();
        let asked = tenants.iter().filter(|tenant| !claim.without.contains(tenant));
        let each = claim.limit.div_ceil(tenants.len().max(1)).max(1);
        for &tenant in asked {
            let room = each.min(claim.limit - rows.len()).min(claim.of_tenant.unwrap_or(usize::MAX));
            let waiting = self.pool.get_mut(&tenant).expect("its jobs");
            rows.extend((0..room).map_while(|_| waiting.pop_front()));
        }
        let jobs = rows.into_iter().map(|row| self.lease(row)).collect();
        (jobs, self.pool.values().any(|waiting| !waiting.is_empty()))
    }

    fn lease(&mut self, row: Row) -> Job<u32> {
        self.next_token = LeaseToken::new(self.next_token.get() + 1);
        self.rows.insert(self.next_token, row);
        Job { token: self.next_token, tenant: tenant_of(row.0), instance: row.0, job: row.1 }
    }

    /// Gives a job up, which the sweep finds again.
    fn give_up(&mut self, token: LeaseToken) {
        let row = self.take_back(token);
        self.wait(row);
    }

    fn take_back(&mut self, token: LeaseToken) -> Option<Row> {
        self.finished.remove(&token);
        self.rows.remove(&token)
    }

    fn wait(&mut self, row: Option<Row>) {
        if let Some(row) = row {
            let tenant = tenant_of(row.0);
            self.pool.entry(tenant).or_default().push_back(row);
        }
    }

    fn begin(&mut self, session: usize, results: &[(LeaseToken, u32)], now: Moment) -> Duration {
        assert!(self.sessions.insert(session), "one batch at a time for each session");
        assert!(results.len() <= self.decision.policy.batch_results_max + 8);
        let is_home = session < self.decision.policy.home_sessions;
        self.batches += u64::from(is_home);
        for (token, _) in results {
            let (instance, _) = self.rows[token];
            assert!(self.under_way.insert(instance), "{instance:?} is in two batches");
            if let Some((since, batches)) = self.finished.get(token) {
                let wait = self.waits.entry(tenant_of(instance)).or_default();
                wait.0 = wait.0.max(now.since(*since));
                wait.1 = wait.1.max(self.batches - batches);
            }
        }
        if self.seed.below(1000) < self.trouble.slow {
            return MS * 200;
        }
        self.seed.up_to(MS * 2) + MS / 20 * u32::try_from(results.len()).expect("few")
    }

    /// Splits results into those that meet a lock and the rest.
    fn split(&mut self, results: Results, now: Moment) -> (Results, Results) {
        let is_locked = |token: &LeaseToken| {
            now < self.trouble.until && self.trouble.locked.contains(&tenant_of(self.rows[token].0))
        };
        for (token, _) in &results {
            self.under_way.remove(&self.rows[token].0);
        }
        let (met, rest): (Vec<_>, Vec<_>) = results.into_iter().partition(|(token, _)| is_locked(token));
        // Those committed stay under way until the decision learns of it.
        self.under_way.extend(rest.iter().map(|(token, _)| self.rows[token].0));
        (met, rest)
    }

    fn meet(&mut self, met: &[(LeaseToken, u32)]) -> foldhash::HashSet<Locked> {
        self.meets += 1;
        met.iter().map(|(token, _)| Locked::Flow(self.rows[token].0.0)).collect()
    }

    fn commit(&mut self, tokens: &[LeaseToken], keeps: bool) -> Vec<Job<u32>> {
        let panics = self.seed.below(1000) < self.trouble.panics;
        let mut fired = Vec::new();
        for token in tokens {
            self.under_way.remove(&self.rows[token].0);
            if panics {
                self.give_up(*token);
                continue;
            }
            let Some((instance, left)) = self.rows.remove(token) else {
                continue;
            };
            self.finished.remove(token);
            *self.committed.entry(tenant_of(instance)).or_default() += 1;
            match left.checked_sub(1) {
                None => {}
                Some(left) if keeps => fired.push(self.lease((instance, left))),
                Some(left) => self.wait(Some((instance, left))),
            }
        }
        fired
    }

    /// Checks the invariants after each decision.
    fn check(&self, now: Moment) {
        let decision = &self.decision;
        let policy = &decision.policy;
        for home in 0..policy.home_sessions {
            assert!(decision.in_use[home] || !decision.may_go(home, now), "a result may go and does not");
        }
        let express = policy.home_sessions..policy.quarantine_session();
        let free = express.clone().any(|session| !decision.in_use[session]);
        assert!(!free || decision.outbox.results(Queue::Express) == 0, "a light tenant's result waits");
        let running = decision.tickets.values().filter(|ticket| ticket.stage == Stage::Quarantined);
        assert_eq!(decision.budgets.in_flight(), decision.tickets.len() - running.count());
    }
}

/// Runs a world until nothing is left to do, or the moment is reached.
fn run(seed: u64, policy: Policy, kinds: &[Kind], trouble: Trouble, until: Moment) -> Model {
    let mut simulation = Simulation::new(seed);
    let (sender, actions) = queue(1_000_000);
    let tenants = (1..).map(TenantId::new);
    let kinds: BTreeMap<TenantId, Kind> = tenants.zip(kinds.iter().copied()).collect();
    let pool = kinds.iter().map(|(tenant, kind)| {
        (
            *tenant,
            (0..kind.instances * kind.branches)
                .map(|job| {
                    let wid = job / kind.branches;
                    let flow = FlowId::new(tenant.get() + wid % kind.flows * TENANTS);
                    ((flow, Wid::new(wid)), kind.steps - 1)
                })
                .collect(),
        )
    });
    let lanes = policy.lanes;
    let world = World {
        decision: Decision::new(policy),
        seed: simulation.seed(),
        trouble,
        next_token: LeaseToken::new(0),
        pool: pool.collect(),
        kinds,
        rows: HashMap::new(),
        under_way: HashSet::new(),
        sessions: HashSet::new(),
        finished: HashMap::new(),
        batches: 0,
        waits: BTreeMap::new(),
        committed: BTreeMap::new(),
        meets: 0,
        events: 0,
        woken: 0,
        bytes: 0,
    };
    let model = Model(Arc::new(Mutex::new(world)), sender);
    let carrying = model.clone();
    simulation.scheduler().register_with(
        actions,
        move |action, context| {
            let model = carrying.clone();
            async move {
                model.carry_out(action, context).await;
                Ok(())
            }
        },
        Registration::new().in_flight(usize::MAX),
    );
    for lane in 0..lanes {
        model.tell(Event::Asked { lane }, Moment::default());
    }
    simulation.run_until(until);
    model
}

fn seconds(seconds: u64) -> Moment {
    Moment::default() + Duration::from_secs(seconds)
}

impl World {
    fn all_committed(&self) -> bool {
        self.kinds.iter().all(|(tenant, kind)| {
            let branches = u64::from((kind.instances * kind.branches).unsigned_abs());
            let all = u64::from(kind.steps) * branches;
            self.committed.get(tenant).copied().unwrap_or(0) == all
        })
    }

    fn assert_clear(&self) {
        assert!(self.all_committed(), "{:?} of {:?}", self.committed, self.kinds);
        assert!(self.decision.tickets.is_empty() && self.decision.begun == 0);
        assert!(self.decision.budgets.is_clear(), "{:?}", self.decision.budgets);
        assert!(self.decision.outbox.is_clear() && self.decision.quarantine.is_clear());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every ticket that comes in goes out, whatever panics and whatever is locked for a while; all that there was to
    /// do is done, and nothing is left of any budget or queue.
    #[test]
    fn tickets_in_are_tickets_out(
        seed: u64,
        lanes in 1_usize..5,
        in_flight in 1_usize..80,
        panics in 0_u64..120,
        locked in proptest::collection::hash_set(1_i32..9, 0..4),
        branches in 1_i32..4,
        flows in 1_i32..4,
        slow in 0_u64..60,
        kinds in proptest::collection::vec((1_i32..60, 1_u32..6, 1_u64..3_000_000), 1..9),
    ) {
        let kinds = kinds.into_iter().map(|(a, b, c)| Kind { branches, flows, ..Kind::new(a, b, c) });
        let kinds: Vec<Kind> = kinds.collect();
        let locked = locked.into_iter().map(TenantId::new).collect();
        let trouble = Trouble { panics, slow, locked, until: seconds(5) };
        let model = run(seed, Policy::new(lanes, in_flight), &kinds, trouble, seconds(600));
        model.world().assert_clear();
    }

    /// A flow that is locked for ever delays nobody else by a second, and is met no more often than its quarantine
    /// doubles.
    #[test]
    fn a_flow_that_is_locked_for_ever_delays_nobody_else(
        seed: u64,
        locked in 1_i32..6,
        others in proptest::collection::vec(1_i32..80, 4..12),
    ) {
        let kinds: Vec<Kind> = others.iter().map(|count| Kind::new(*count, 8, 50_000)).collect();
        let locked: HashSet<TenantId> = (1..=locked.min(3)).map(TenantId::new).collect();
        let trouble = Trouble { locked: locked.clone(), until: seconds(100_000), ..Trouble::default() };
        let model = run(seed, Policy::new(2, 400), &kinds, trouble, seconds(60));
        let world = model.world();
        for (tenant, kind) in world.kinds.iter().filter(|(tenant, _)| !locked.contains(tenant)) {
            let all = u64::from(kind.steps) * u64::from(kind.instances.unsigned_abs());
            prop_assert_eq!(world.committed.get(tenant).copied().unwrap_or(0), all);
            let (wait, _) = world.waits[tenant];
            prop_assert!(wait < Duration::from_secs(1), "tenant {} waited {:?}", tenant, wait);
        }
        // At first, and each time as long after as before: 0.5, 1, 2, 4, 8, 15, 15 seconds.
        let most = 15 * locked.len() as u64;
        prop_assert!(world.meets <= most, "{} locks met", world.meets);
    }

    /// A result leaves within a bounded number of batches, whatever floods the host and whichever sessions hang.
    #[test]
    fn a_result_leaves_within_a_bounded_number_of_commits(
        seed: u64,
        flooding in 1_usize..4,
        quiet in 1_usize..38,
        flows in 1_i32..6,
        slow in 0_u64..200,
    ) {
        let mut kinds = vec![Kind { flows, ..Kind::new(2_000, 20, 20_000) }; flooding];
        kinds.extend(vec![Kind { flows, ..Kind::new(3, 6, 20_000) }; quiet]);
        let policy = Policy::new(2, 1_000);
        let (waits, queues) = (policy.batch_wait_batches, 3 + policy.home_sessions as u64);
        // A flooding tenant's result has others of its tenant before it, of which a batch takes at least
        // `batch_results_of_tenant`; its flow changes queues once.
        let before = policy.room().div_ceil(policy.batch_results_of_tenant) as u64;
        let model = run(seed, policy, &kinds, Trouble { slow, ..Trouble::default() }, seconds(10));
        let world = model.world();
        for (tenant, (_, batches)) in &world.waits {
            let floods = usize::try_from(tenant.get()).is_ok_and(|tenant| tenant <= flooding);
            let bound = if floods { 2 * waits + queues * before } else { waits + queues };
            prop_assert!(*batches <= bound, "a result of tenant {} saw {} batches go", tenant, batches);
        }
    }

    /// Results in quarantine have a bound in bytes; what is above it is put off and done later.
    #[test]
    fn a_quarantine_has_a_bound_in_bytes(seed: u64, tenants in 1_usize..6, flows in 1_i32..4) {
        let policy = Policy { quarantine_bytes_of_tenant: 10_000, quarantine_bytes_max: 20_000, ..Policy::new(2, 80) };
        let most = policy.quarantine_bytes_max + policy.room() * 1_000;
        let kinds = vec![Kind { flows, bytes: 1_000, ..Kind::new(200, 2, 20_000) }; tenants];
        let locked = (1..=i32::try_from(tenants).expect("few")).map(TenantId::new).collect();
        let trouble = Trouble { locked, until: seconds(20), ..Trouble::default() };
        let model = run(seed, policy, &kinds, trouble, seconds(600));
        let world = model.world();
        prop_assert!(world.bytes <= most, "{} bytes", world.bytes);
        world.assert_clear();
    }
}

/// Adds a job of a tenant.
fn add(budgets: &mut Budgets<()>, number: i32, token: i64) {
    let policy = Policy::new(1, 1_000);
    budgets.add(&policy, TenantId::new(number), LeaseToken::new(token), ());
}

/// Begins and ends jobs one after the other; the fuel each tenant was charged.
fn charged(fuel: &[(i32, u64)], jobs: usize, attempts: usize) -> BTreeMap<i32, i64> {
    let policy = Policy::new(1, 1_000_000);
    let mut budgets: Budgets<()> = Budgets::new(&policy);
    let mut tokens = (1..).map(LeaseToken::new);
    for _ in 0..jobs {
        for (tenant, _) in fuel {
            let token = tokens.next().expect("without end");
            budgets.add(&policy, TenantId::new(*tenant), token, ());
        }
    }
    for _ in 0..attempts {
        let Some((tenant, token, ())) = budgets.next(&policy) else {
            break;
        };
        let used = fuel.iter().find(|(one, _)| *one == tenant.get()).map_or(0, |(_, fuel)| *fuel);
        budgets.use_fuel(&policy, tenant, used);
        budgets.remove(tenant, token, false);
    }
    fuel.iter().filter_map(|(tenant, _)| Some((*tenant, budgets.served(TenantId::new(*tenant))?))).collect()
}

#[test]
fn tenants_with_work_get_equal_fuel_within_a_turn_and_an_attempt() {
    let fuel = [(1, 0), (2, 1_000_000), (3, 50_000_000)];
    let charged = charged(&fuel, 20_000, 15_000);
    let (least, most) = (charged.values().min(), charged.values().max());
    let apart = most.expect("three") - least.expect("three");
    let policy = Policy::new(1, 1);
    assert!(apart <= policy.turn_fuel + policy.attempt_fuel + 50_000_000, "{charged:?}");
}

#[test]
fn an_idle_tenant_accumulates_no_credit_and_keeps_its_debt() {
    let policy = Policy::new(1, 1_000);
    let mut budgets: Budgets<()> = Budgets::new(&policy);
    add(&mut budgets, 1, 1);
    let (tenant, token, ()) = budgets.next(&policy).expect("its job");
    budgets.use_fuel(&policy, tenant, 100_000_000);
    budgets.remove(tenant, token, false);
    for token in 2..52 {
        add(&mut budgets, 1, token);
        add(&mut budgets, 2, 100 + token);
    }
    let begun: Vec<TenantId> = (0..50).filter_map(|_| Some(budgets.next(&policy)?.0)).collect();
    assert!(begun.iter().all(|tenant| *tenant == TenantId::new(2)), "{begun:?}");
    // The second has used less, but may not save that up while it is away.
    add(&mut budgets, 3, 1_000);
    let served = budgets.served(TenantId::new(3)).expect("its clock");
    assert!(served >= 4_000_000, "{served}");
}

#[test]
fn who_computes_on_all_processors_begins_no_more_and_others_do() {
    let policy = Policy::new(1, 1_000);
    let mut budgets: Budgets<()> = Budgets::new(&policy);
    for token in 0..10 {
        add(&mut budgets, 1, token);
    }
    for _ in 0..policy.computing_max {
        assert!(budgets.next(&policy).is_some());
        budgets.computes(&policy, TenantId::new(1));
    }
    assert!(budgets.next(&policy).is_none());
    add(&mut budgets, 2, 100);
    assert_eq!(budgets.next(&policy).map(|(tenant, ..)| tenant.get()), Some(2));
    budgets.rests_from_computing(&policy, TenantId::new(1));
    assert_eq!(budgets.next(&policy).map(|(tenant, ..)| tenant.get()), Some(1));
}

#[test]
fn a_decision_costs_no_more_with_many_tenants_flows_and_results() {
    let visits = |tenants: usize| {
        let kinds = vec![Kind::new(2, 6, 20_000); tenants];
        let model = run(7, Policy::new(2, tenants.max(64)), &kinds, Trouble::default(), seconds(600));
        let world = model.world();
        world.assert_clear();
        let visits = world.decision.outbox.visits + world.decision.budgets.visits;
        visits as f64 / world.events as f64
    };
    let (few, many) = (visits(8), visits(2_000));
    assert!(many < few * 2.0 + 2.0, "{few:.2} visits for each event of 8 tenants, {many:.2} of 2 000");
}

#[test]
fn a_flow_that_was_locked_leaves_quarantine_though_it_never_rests() {
    let trouble = Trouble { locked: HashSet::from([TenantId::new(1)]), until: seconds(2), ..Trouble::default() };
    let kinds = [Kind::new(20, 100_000, 2_000_000)];
    let model = run(3, Policy::new(2, 400), &kinds, trouble, seconds(10));
    let world = model.world();
    assert!(world.meets > 1 && world.committed[&TenantId::new(1)] > 1_000);
    assert!(world.decision.quarantine.is_empty(), "{:?}", world.decision.quarantine);
}

#[test]
fn a_host_without_work_wakes_up_once_a_second() {
    let model = run(1, Policy::new(2, 1_000), &[], Trouble::default(), seconds(100));
    let woken = model.world().woken;
    assert!((90..=110).contains(&woken), "{woken}");
}

#[test]
fn the_reserve_is_for_tenants_with_less_than_a_share() {
    let policy = Policy::new(1, 80);
    let mut decision: Decision<(), ()> = Decision::new(policy.clone());
    let now = Moment::default();
    let job = |number: i32| Job {
        token: LeaseToken::new(number.into()),
        tenant: TenantId::new(1),
        instance: (FlowId::new(1), Wid::new(number)),
        job: (),
    };
    let claim = |actions: Vec<Action<(), ()>>| {
        actions.into_iter().find_map(|action| match action {
            Action::Claim(claim) => Some(claim),
            _ => None,
        })
    };
    let first = claim(decision.decide(Event::Told, now)).expect("a claim");
    assert_eq!((first.limit, first.without), (80, Vec::new()));
    let _ = decision.decide(Event::Arrived((0..80).map(job).collect()), now);
    let narrow = claim(decision.decide(Event::Claimed { found: 80, due: true, next: None }, now));
    assert!(narrow.is_none(), "nobody told of work");
    let narrow = claim(decision.decide(Event::Told, now)).expect("a claim");
    assert_eq!((narrow.limit, narrow.without), (policy.in_flight_reserve, vec![TenantId::new(1)]));
}

#[test]
fn a_tenant_beside_others_may_fill_the_room() {
    let mut decision: Decision<(), ()> = Decision::new(Policy::new(1, 80));
    let now = Moment::default();
    let job = |number: i32| Job {
        token: LeaseToken::new(number.into()),
        tenant: TenantId::new(if number == 0 { 2 } else { 1 }),
        instance: (FlowId::new(1), Wid::new(number)),
        job: (),
    };
    let jobs = (0..60).map(job).collect();
    let actions = decision.decide(Event::Arrived(jobs), now);
    let claim = actions.into_iter().find_map(|action| match action {
        Action::Claim(claim) => Some((claim.limit, claim.without)),
        _ => None,
    });
    assert_eq!(claim, Some((20, Vec::new())));
}

#[test]
fn a_tenant_whose_jobs_are_claimed_one_and_all_shares_no_batch() {
    let mut decision: Decision<(), ()> = Decision::new(Policy::new(1, 80));
    let now = Moment::default();
    let _ = decision.decide(Event::Quotas { resting: vec![TenantId::new(2)], limited: vec![TenantId::new(1)] }, now);
    let jobs = [(1, 1), (2, 2), (3, 3), (4, 4)];
    let jobs = jobs.map(|(tenant, token)| Job {
        token: LeaseToken::new(token),
        tenant: TenantId::new(tenant),
        instance: (FlowId::new(tenant), Wid::new(1)),
        job: (),
    });
    let _ = decision.decide(Event::Arrived(jobs.into()), now);
    let mut batches = Vec::new();
    let mut ask = Event::Asked { lane: 0 };
    for token in (1..=4).map(LeaseToken::new) {
        let _ = decision.decide(std::mem::replace(&mut ask, Event::Asked { lane: 0 }), now);
        batches.extend(decision.decide(Event::Finished { token, fuel: 0, bytes: 0, result: () }, now));
    }
    for session in 0..2 {
        batches.extend(decision.decide(Event::Returned { session }, now + Duration::from_secs(1)));
    }
    let mut left = 0;
    for action in batches {
        if let Action::Commit(batch) = action {
            let limited = batch.results.iter().filter(|(token, _)| *token <= LeaseToken::new(2)).count();
            assert!(limited == 0 || limited == batch.results.len(), "{batch:?}");
            assert_eq!(batch.keeps, limited == 0);
            left += limited;
        }
    }
    assert_eq!(left, 2);
}

#[test]
fn a_flow_with_few_results_goes_over_its_home_and_one_with_many_over_any() {
    let policy = Policy::new(2, 1_000);
    let mut outbox: Outbox<()> = Outbox::new(&policy);
    let now = Moment::default();
    let mut token = 0;
    let mut add = |outbox: &mut Outbox<()>, number: i32, results: i32| {
        let flow = FlowId::new(number);
        for wid in (0..results).map(Wid::new) {
            token += 1;
            let one =
                Waiting { token: LeaseToken::new(token), tenant: TenantId::new(1), instance: (flow, wid), result: () };
            let one = outbox.stand(one).expect("the first");
            outbox.add(&policy, Queue::Home(usize::try_from(number).expect("small") % 3), one, now);
        }
    };
    add(&mut outbox, 4, 5);
    add(&mut outbox, 5, 3);
    add(&mut outbox, 7, 30);
    assert_eq!(outbox.results(Queue::Home(1)), 5);
    assert_eq!(outbox.results(Queue::Any), 30);
    let (batch, _) = outbox.take_over_home(&policy, 1, now);
    assert_eq!(batch.len(), 35);
    let (batch, _) = outbox.take_over_home(&policy, 2, now);
    assert!(batch.iter().all(|one| one.instance.0 == FlowId::new(5)) && batch.len() == 3);
}
