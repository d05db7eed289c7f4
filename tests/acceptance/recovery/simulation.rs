//! The protocol of hosts under a seeded scheduler: hosts decide by the module that real ones decide by
//! (`simulated_host`), call the functions that real ones call, in an order that a seed says, and fail at any step. Both
//! sides are the product's own; only what carries actions out, and time, is simulated.
//!
//! Each round has one fault in its focus, which comes at any step; the others come too. `WEDFLOW_SEEDS=1000` runs that
//! many seeds for each fault and prints a line of JSON for each, `WEDFLOW_SEED=7` begins with that seed,
//! `WEDFLOW_FAULT=crash` runs that fault only. Seeds run side by side, in as many databases as there are cores, or
//! `WEDFLOW_SIDE_BY_SIDE` says; what a seed does is the same in each.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use wedflow_model::{FlowId, TenantId};
use wedflow_store::Store;
use wedflow_worker::decision::{Event, Moment};

use super::checker::violations;
use super::simulated_host::{Host, Outcome, Surroundings, Trouble, Verdict};
use crate::support::database::sample_component;
use crate::support::{Database, Session, on, repository, sweep};

/// Seeds for each fault of a short round.
const SEEDS: u64 = 1;
/// Steps with faults.
const STEPS: usize = 300;
/// Steps between two looks of the checker.
const CHECKED: usize = 100;
/// Most instances of a seed.
const INSTANCES_MAX: usize = 12;
/// Most rounds in which hosts do what is left.
const ROUNDS_MAX: usize = 200;
/// Time for which simulated commits, operators and starts wait for a lock, in milliseconds.
const LOCK_WAIT_MS: u64 = 4;
const OTHER_TENANT: &str = "other";

/// A number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Fault at any step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// A commit's answer is lost, or the commit itself.
    AnswerLost,
    /// A claim's answer is lost: the host has jobs that it does not know.
    ClaimLost,
    /// A host is gone with all that it knew.
    Crash,
    /// A lease ends, and the host does not know.
    LeaseEnds,
    /// An attempt fails.
    AttemptFails,
    /// A result is one that the database refuses; its batch is halved until that stands alone.
    BadResult,
    /// A part is committed twice.
    CommitTwice,
    /// Results come for jobs that are somebody else's by now.
    StaleResult,
    /// A job is given back.
    GivenBack,
    /// The clock jumps ahead.
    ClockJumps,
    /// An instance, a trigger or the flow is paused, for a while.
    Paused,
    /// Operators retry and skip.
    Operated,
    /// The definition changes.
    Redefined,
    /// Hosts sweep at once what is abandoned, late or old.
    Swept,
    /// Another session locks an instance, or the table of a flow.
    Locked,
    /// An attempt or a commit panics.
    Panics,
    /// A host stops, and another one enters.
    Stopped,
    /// A tenant's fuel is used up, or its jobs are limited, for a while.
    Limited,
}

impl Fault {
    const ALL: [Fault; 18] = [
        Fault::AnswerLost,
        Fault::ClaimLost,
        Fault::Crash,
        Fault::LeaseEnds,
        Fault::AttemptFails,
        Fault::BadResult,
        Fault::CommitTwice,
        Fault::StaleResult,
        Fault::GivenBack,
        Fault::ClockJumps,
        Fault::Paused,
        Fault::Operated,
        Fault::Redefined,
        Fault::Swept,
        Fault::Locked,
        Fault::Panics,
        Fault::Stopped,
        Fault::Limited,
    ];
}

/// A flow of a tenant, with a session of its role.
struct Flow {
    id: FlowId,
    tenant: TenantId,
    session: Session,
}

struct World {
    s: Surroundings,
    flows: Vec<Flow>,
    owner: Session,
    /// Session of an operator, with a short limit for locks.
    operator: Session,
    /// Sessions that hold a lock, each of a flow.
    holders: Vec<Session>,
    locked: Option<usize>,
    /// The flow and the scope that are paused.
    paused: Option<(usize, String)>,
    hosts: Vec<Host>,
    started: usize,
}

impl World {
    /// Two tenants with a flow each.
    fn new() -> Self {
        let database = &Database::new();
        let store = &database.store;
        on(store.create_tenant(OTHER_TENANT, "")).expect("a tenant");
        let file = repository("sample-transitions/counters/flow.toml");
        let text = std::fs::read_to_string(file).expect("a definition");
        let definition: wedflow_model::FlowDefinition = toml::from_str(&text).expect("readable");
        let mut flows = Vec::new();
        let mut gates = BTreeMap::new();
        let mut holders = Vec::new();
        for tenant in [crate::support::database::TENANT, OTHER_TENANT] {
            let component = sample_component("counters");
            on(wedflow_worker::upload(store, tenant, "counters", component)).expect("uploaded");
            on(store.apply(tenant, &definition)).expect("applied");
            let id = on(store.flow(tenant, &definition.name)).expect("the flow").flow_id;
            let url = on(store.flow_url(tenant, &definition.name)).expect("its URL");
            let (_, number) = on(store.tenants_of(&[id])).expect("its tenant")[0];
            let gate = on(store.flow_shape(id)).expect("a flow").gate;
            gates.insert(id, (gate, number));
            let mut session = Session::on(database, &url);
            session.run(&format!("SET lock_timeout = '{LOCK_WAIT_MS}ms'"));
            holders.push(Session::on(database, &url));
            flows.push(Flow { id, tenant: number, session });
        }
        let mut owner = database.owner();
        owner.run("UPDATE wed.retention SET instances = '1 hour', attempts = '1 hour'");
        let mut operator = database.owner();
        operator.run(&format!("SET lock_timeout = '{LOCK_WAIT_MS}ms'"));
        let store = on(Store::connect(&database.url(), 1)).expect("connected");
        World {
            s: Surroundings {
                commits: on(async { store.for_commits(1, Duration::from_millis(LOCK_WAIT_MS)) }),
                store,
                flows: gates,
                random: StdRng::seed_from_u64(0),
                now: Moment::default(),
                leased: BTreeMap::new(),
            },
            flows,
            owner,
            operator,
            holders,
            locked: None,
            paused: None,
            hosts: Vec::new(),
            started: 0,
        }
    }

    fn close(self) {
        on(self.s.store.close());
        on(self.s.commits.close());
    }

    /// Begins a round: empty flows, three hosts.
    fn begin(&mut self, seed: u64) {
        // What the round before left is removed as what is old is.
        self.owner.run(
            "UPDATE wed.instance SET changed = '2001-01-01'; UPDATE wed.attempt SET tstmp = '2001-01-01'; DELETE \
             FROM wed.host",
        );
        while self.owner.chores("expired") > 0 {}
        on(self.s.store.expire_records(100)).expect("removed");
        assert_eq!(self.owner.number("SELECT count(*) FROM wed.trace"), 0);
        for flow in &mut self.flows {
            // Without a limit for locks: autovacuum may hold the table for a moment.
            flow.session.run(&format!(
                "SET lock_timeout = 0; UPDATE wed_trig SET priority = 0, delay = '0' WHERE NOT cfinal \
                 AND (priority, delay) <> (0, '0'); SET lock_timeout = '{LOCK_WAIT_MS}ms'"
            ));
        }
        self.s.random = StdRng::seed_from_u64(seed);
        self.s.now = Moment::default();
        self.s.leased.clear();
        self.started = 0;
        self.hosts.clear();
        for _ in 0..3 {
            self.enter();
        }
    }

    fn enter(&mut self) {
        let host = Host::enter(&mut self.s);
        self.hosts.push(host);
    }

    /// Takes one step: ordinary work, the fault in the focus, or another one.
    fn step(&mut self, focus: Fault) {
        let at = self.s.random.random_range(0..self.hosts.len());
        match self.s.random.random_range(0..100) {
            0..8 => self.start(),
            8..70 => {
                self.hosts[at].step(&mut self.s, Trouble::None);
            }
            70..80 => self.fault(focus, at),
            80..86 => {
                let any = Fault::ALL[self.s.random.random_range(0..Fault::ALL.len())];
                self.fault(any, at);
            }
            86..94 => self.pass_time(),
            94..96 => self.hosts[at].beat(&mut self.s),
            96..97 => self.hosts[at].tell_fuel(&mut self.s),
            _ => {
                sweep(&self.s.store);
                self.hosts[at].look(&mut self.s);
            }
        }
        self.let_leave();
    }

    fn fault(&mut self, fault: Fault, at: usize) {
        match fault {
            Fault::AnswerLost => self.trouble(at, Trouble::AnswerLost),
            Fault::ClaimLost => self.trouble(at, Trouble::ClaimLost),
            Fault::AttemptFails => self.trouble(at, Trouble::AttemptFails),
            Fault::BadResult => self.trouble(at, Trouble::BadResult),
            Fault::CommitTwice => self.trouble(at, Trouble::Twice),
            Fault::GivenBack => self.trouble(at, Trouble::GivenBack),
            Fault::Panics => self.trouble(at, Trouble::Panics),
            Fault::Crash => {
                self.hosts.remove(at);
                self.enter();
            }
            Fault::LeaseEnds => self.expire(at),
            Fault::StaleResult => self.stale(at),
            Fault::ClockJumps => {
                self.s.now = self.s.now + Duration::from_secs(60);
                self.pass_time();
                self.owner.run("UPDATE wed.host SET expires_at = expires_at - interval '1 minute'");
            }
            Fault::Paused => self.pause_or_resume(),
            Fault::Operated => self.operate(),
            Fault::Redefined => self.redefine(),
            Fault::Swept => {
                sweep(&self.s.store);
                self.hosts[at].look(&mut self.s);
                self.hosts[at].look(&mut self.s);
            }
            Fault::Locked => self.lock_or_unlock(),
            Fault::Stopped => self.stop(at),
            Fault::Limited => {
                let mut some = || self.s.random.random_bool(0.5);
                let chosen = |so: bool, flow: &Flow| so.then_some(flow.tenant);
                let quotas = Event::Quotas {
                    resting: chosen(some(), &self.flows[1]).into_iter().collect(),
                    limited: chosen(some(), &self.flows[0]).into_iter().collect(),
                };
                self.hosts[at].tell(quotas, self.s.now);
            }
        }
    }

    /// Has an action of a host suffer a trouble, of any host where that one has none that can.
    fn trouble(&mut self, at: usize, trouble: Trouble) {
        for host in 0..self.hosts.len() {
            let at = (at + host) % self.hosts.len();
            if self.hosts[at].step(&mut self.s, trouble) {
                return;
            }
        }
    }

    fn start(&mut self) {
        if self.started < INSTANCES_MAX {
            self.started += 1;
            let at = self.s.random.random_range(0..self.flows.len());
            let _ = self.flows[at].session.tried("INSERT INTO wed_flow DEFAULT VALUES");
            let told = Event::Told;
            let host = self.s.random.random_range(0..self.hosts.len());
            // A notification, which all others miss.
            self.hosts[host].tell(told, self.s.now);
        }
    }

    /// A result of a claim that has been taken back meanwhile, over any host.
    fn stale(&mut self, at: usize) {
        let leased: Vec<_> = self.s.leased.values().cloned().collect();
        let Some(claimed) = leased.choose(&mut self.s.random).cloned() else {
            return;
        };
        let token = claimed.job.token;
        let held = format!("SELECT count(*) FROM wed.job WHERE token = {token}");
        if self.owner.number(&held) > 0 {
            return;
        }
        let verdict = Verdict::Commits;
        let groups = self.s.groups(&[Outcome { claimed, verdict }]);
        let number = self.hosts[at].number;
        let committed = on(self.s.commits.commit_batch(number, &groups, false, false));
        assert!(committed.is_err(), "only the present claim's token finishes a job: {token}");
    }

    /// The lease ends, and the host does not know.
    fn expire(&mut self, at: usize) {
        let number = self.hosts[at].number;
        self.owner.run(&format!("UPDATE wed.host SET expires_at = now() - interval '1 s' WHERE host_id = {number}"));
    }

    fn stop(&mut self, at: usize) {
        if self.hosts[at].leaves_in.is_none() {
            self.hosts[at].leaves_in = Some(self.s.random.random_range(0..30));
            self.hosts[at].tell(Event::Stopping, self.s.now);
        }
    }

    /// Lets go of hosts that stop, once they are done or their time is over.
    fn let_leave(&mut self) {
        for at in (0..self.hosts.len()).rev() {
            let Some(steps) = self.hosts[at].leaves_in else {
                continue;
            };
            self.hosts[at].leaves_in = Some(steps.saturating_sub(1));
            if steps == 0 || self.hosts[at].begun() == 0 {
                self.hosts.remove(at).leave(&mut self.s);
                self.enter();
            }
        }
    }

    fn pass_time(&mut self) {
        let millis = self.s.random.random_range(1..2_000);
        self.s.now = self.s.now + Duration::from_millis(millis);
        self.owner.run(
            "UPDATE wed.job SET due = due - interval '20 s' WHERE host_id IS NULL AND isfinite(due) AND NOT \
             wed.is_paused(due)",
        );
        for host in &mut self.hosts {
            host.wake(self.s.now);
        }
    }

    /// Numbers of a flow's instances, in their order.
    fn instances(&mut self, flow: FlowId, status: &str) -> Vec<String> {
        self.owner
            .lines(&format!("SELECT wid FROM wed.instance WHERE flow_id = {flow} AND status ~ '{status}' ORDER BY wid"))
    }

    fn any_flow(&mut self) -> usize {
        self.s.random.random_range(0..self.flows.len())
    }

    /// Pauses an instance, a trigger or a flow, or resumes what is paused.
    fn pause_or_resume(&mut self) {
        let (at, scope, pause) = match self.paused.take() {
            Some((at, scope)) => (at, scope, false),
            None => {
                let at = self.any_flow();
                let wids = self.instances(self.flows[at].id, "[RE]");
                let wid = wids.choose(&mut self.s.random).cloned();
                let scope = match (self.s.random.random_range(0..3), wid) {
                    (0, Some(wid)) => format!("NULL, {wid}"),
                    (1, _) => "'tr_a2', NULL".to_owned(),
                    _ => "NULL, NULL".to_owned(),
                };
                (at, scope, true)
            }
        };
        let Flow { id, tenant, .. } = self.flows[at];
        let refused =
            self.operator.tried(&format!("SELECT wed.set_pause({tenant}, {id}, {scope}, {pause}, 'simulated', 'why')"));
        // What a lock keeps from being resumed is resumed later.
        if refused.is_none() == pause {
            self.paused = Some((at, scope));
        }
    }

    fn operate(&mut self) {
        self.retry_all();
        let id = self.flows[self.s.random.random_range(0..2)].id;
        let wids = self.instances(id, ".");
        if let Some(wid) = wids.choose(&mut self.s.random).cloned() {
            self.retry(id, &wid);
            // A skipped job is fired again by the next state, or when its instance, an exception then, is retried.
            let transition = self.s.random.random_range(1..4);
            let _ = self
                .operator
                .tried(&format!("SELECT wed.skip_job({id}, {wid}, 'tr_a{transition}', 'simulated', 'why')"));
        }
    }

    fn retry(&mut self, flow: FlowId, wid: &str) {
        let _ = self.operator.tried(&format!("SELECT wed.retry_instance({flow}, {wid}, 'simulated', '')"));
    }

    fn retry_all(&mut self) {
        for at in 0..self.flows.len() {
            let id = self.flows[at].id;
            for wid in self.instances(id, "E") {
                self.retry(id, &wid);
            }
        }
    }

    fn redefine(&mut self) {
        let (at, priority) = (self.any_flow(), self.s.random.random_range(0..9));
        let delay = self.s.random.random_range(0..2) * 15;
        let _ = self.flows[at]
            .session
            .tried(&format!("UPDATE wed_trig SET priority = {priority}, delay = '{delay} s' WHERE NOT cfinal"));
    }

    /// Another session locks an instance or a flow's table, or lets go of what it holds.
    fn lock_or_unlock(&mut self) {
        if let Some(at) = self.locked.take() {
            self.holders[at].run("COMMIT");
            return;
        }
        let at = self.any_flow();
        let lock = match self.s.random.random_bool(0.5) {
            true => "LOCK TABLE wed_flow IN EXCLUSIVE MODE",
            false => "SELECT FROM wed_flow ORDER BY wid DESC LIMIT 1 FOR UPDATE",
        };
        self.holders[at].run(&format!("BEGIN; {lock}"));
        self.locked = Some(at);
    }

    /// Ends the faults. Hosts that are gone lose their leases; those that are there do what is left. Returns how many
    /// rounds they needed.
    fn settle(&mut self) -> usize {
        if self.locked.is_some() {
            self.lock_or_unlock();
        }
        if self.paused.is_some() {
            self.pause_or_resume();
        }
        assert_eq!(self.paused, None, "nothing keeps it from being resumed");
        let numbers: Vec<String> = self.hosts.iter().map(|host| host.number.to_string()).collect();
        self.owner.run(&format!(
            "UPDATE wed.host SET expires_at = now() - interval '1 s' WHERE host_id NOT IN ({})",
            numbers.join(", ")
        ));
        for round in 1..=ROUNDS_MAX {
            self.hosts.shuffle(&mut self.s.random);
            // As seldom as real ones do, next to what they run.
            let keeps_house = round % 3 == 1;
            for host in &mut self.hosts {
                if keeps_house {
                    host.beat(&mut self.s);
                    host.tell_fuel(&mut self.s);
                    host.look(&mut self.s);
                }
                for _ in 0..2 * host.tasks() + 4 {
                    host.step(&mut self.s, Trouble::None);
                }
            }
            if keeps_house {
                sweep(&self.s.store);
            }
            self.retry_all();
            self.pass_time();
            self.let_leave();
            let left = "SELECT count(*) FROM wed.instance WHERE status <> 'F'";
            if self.hosts.iter().all(Host::is_clear) && self.owner.number(left) == 0 {
                return round;
            }
        }
        ROUNDS_MAX
    }

    fn found(&mut self) -> Vec<String> {
        let mut found = violations(&mut self.owner);
        for flow in &mut self.flows {
            let lines = flow.session.lines(
                "SELECT w.wid, a1, a2, a3, i.status FROM wed_flow w JOIN wed_instance i USING (wid) \
                 WHERE (a1, a2, a3, i.status) IS DISTINCT FROM ('3', '4', '5', 'F'::\"char\") \
                 OR (SELECT count(*) FROM wed_trace t WHERE t.wid = w.wid AND trw NOT LIKE '\\_%') <> 12",
            );
            let lines = lines.into_iter();
            found.extend(lines.map(|line| format!("twelve transitions, to the end: {line}")));
        }
        let unclear = self.hosts.iter().filter(|host| !host.is_clear());
        found.extend(unclear.map(|host| format!("host {} has nothing left of any job", host.number)));
        found
    }
}

/// Runs a seed, and counts.
fn round(world: &mut World, fault: Fault, seed: u64) -> Counts {
    world.begin(seed);
    for step in 1..=STEPS {
        world.step(fault);
        if step % CHECKED == 0 {
            let found = violations(&mut world.owner);
            assert!(found.is_empty(), "step {step}: {found:#?}");
        }
    }
    let rounds_to_settle = world.settle();
    let found = world.found();
    assert!(found.is_empty(), "{found:#?}");
    let transitions = "SELECT count(*) FROM wed.trace WHERE trw NOT LIKE '\\_%'";
    Counts {
        transitions: world.owner.number(transitions),
        leases: world.s.leased.len(),
        rounds_to_settle,
        broken: Vec::new(),
    }
}

/// Sums of a fault's seeds.
#[derive(Default)]
struct Counts {
    transitions: i64,
    leases: usize,
    /// Most rounds that hosts needed for what the faults had left.
    rounds_to_settle: usize,
    /// Seeds that broke a rule, with the rules.
    broken: Vec<String>,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.transitions += other.transitions;
        self.leases += other.leases;
        self.rounds_to_settle = self.rounds_to_settle.max(other.rounds_to_settle);
        self.broken.extend(other.broken);
    }
}

/// Seeds of all faults, handed out in order to threads that have a database each.
struct Seeds {
    faults: Vec<Fault>,
    first: u64,
    seeds: u64,
    next: AtomicU64,
    /// Sums of each fault, and how many seeds are in them.
    counts: Mutex<Vec<(u64, Counts)>>,
}

impl Seeds {
    /// Runs seeds until there are none. After one that broke a rule the database is another one.
    fn run(&self) {
        let mut world = None;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let at = usize::try_from(number / self.seeds).expect("few");
            let Some(fault) = self.faults.get(at).copied() else {
                break;
            };
            let seed = self.first + number % self.seeds;
            let mut own = world.take().unwrap_or_else(World::new);
            let done = catch_unwind(AssertUnwindSafe(|| round(&mut own, fault, seed)));
            let counts = match done {
                Ok(counts) => {
                    world = Some(own);
                    counts
                }
                Err(panic) => Counts {
                    broken: vec![format!("{fault:?}, seed {seed}: {}", message(&*panic))],
                    ..Counts::default()
                },
            };
            self.add(at, counts);
        }
        if let Some(world) = world {
            world.close();
        }
    }

    /// Adds a seed to its fault's sums, and prints them when it was the last one.
    fn add(&self, at: usize, counts: Counts) {
        let mut all = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, sums) = &mut all[at];
        *done += 1;
        sums.add(counts);
        if *done == self.seeds && std::env::var_os("WEDFLOW_SEEDS").is_some() {
            let line = serde_json::json!({
                "simulated": format!("{:?}", self.faults[at]),
                "seeds": self.seeds,
                "transitions": sums.transitions,
                "leases": sums.leases,
                "rounds_to_settle": sums.rounds_to_settle,
                "violations": sums.broken.len(),
            });
            println!("{line}");
        }
    }
}

/// The message of a panic.
pub(super) fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

#[harness::test]
fn protocol_holds_under_faults_at_every_step() {
    let only = std::env::var("WEDFLOW_FAULT").unwrap_or_default();
    let is_wanted = |fault: &Fault| format!("{fault:?}").to_lowercase().contains(&only);
    let faults: Vec<Fault> = Fault::ALL.into_iter().filter(is_wanted).collect();
    let seeds = Seeds {
        counts: Mutex::new(faults.iter().map(|_| (0, Counts::default())).collect()),
        faults,
        first: setting("WEDFLOW_SEED", 1),
        seeds: setting("WEDFLOW_SEEDS", SEEDS),
        next: AtomicU64::new(0),
    };
    // A short round is over sooner than a second database is made.
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let usual = if seeds.seeds > SEEDS { cores } else { 1 };
    let threads = setting("WEDFLOW_SIDE_BY_SIDE", usual as u64);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| seeds.run());
        }
    });
    let counts = (seeds.counts.into_inner()).unwrap_or_else(PoisonError::into_inner);
    let broken: Vec<String> = counts.into_iter().flat_map(|(_, sums)| sums.broken).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}
