//! The protocol of hosts under a seeded scheduler: simulated hosts call the functions that real ones call, in an order
//! that a seed decides, and fail at any step. The decisions are the database's own; only their callers are simulated.
//!
//! `WEDFLOW_SEEDS=1000` runs that many seeds, `WEDFLOW_SEED=7` begins with that one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use wedflow_model::Measure;
use wedflow_store::{Claimed, CommitGroup, CommitItem, FailedAttempt, Store, StoreError};

use super::checker::violations;
use crate::support::database::sample_component;
use crate::support::{Database, Flow, Session, on, repository};

/// Seeds of a short round.
const SEEDS: u64 = 12;
/// Steps with faults.
const STEPS: usize = 150;
/// Most instances of a seed.
const INSTANCES_MAX: usize = 12;
/// A lease that does not end by itself.
const LEASE: std::time::Duration = std::time::Duration::from_secs(3600);

/// A number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

/// A host, as its jobs.
struct Simulated {
    number: i32,
    jobs: Vec<Claimed>,
}

struct World {
    flow: Flow,
    store: Store,
    owner: Session,
    gate: String,
    random: StdRng,
    hosts: Vec<Simulated>,
    started: usize,
}

impl World {
    fn new(flow: &Flow, seed: u64) -> Self {
        let database = &flow.database;
        let gate = on(database.store.flow_shape(flow.id)).expect("a flow").gate;
        // One session: everything happens in the order that the seed says.
        let store = on(Store::connect(&database.url(), 1)).expect("connected");
        let mut world = World {
            store,
            owner: database.owner(),
            flow: flow.clone(),
            gate,
            random: StdRng::seed_from_u64(seed),
            hosts: Vec::new(),
            started: 0,
        };
        for _ in 0..3 {
            world.enter();
        }
        world
    }

    fn enter(&mut self) {
        let number = on(self.store.enter_host("simulated", LEASE)).expect("entered");
        self.hosts.push(Simulated {
            number,
            jobs: Vec::new(),
        });
    }

    fn step(&mut self) {
        let at = self.random.random_range(0..self.hosts.len());
        match self.random.random_range(0..100) {
            0..10 => self.start(),
            10..35 => self.claim(at),
            35..65 => self.commit(at, false),
            65..70 => self.commit(at, true),
            70..76 => self.fail(at),
            76..79 => self.release(at),
            79..81 => self.put_off(at),
            81..84 => self.crash(at),
            84..87 => self.expire(at),
            87..90 => self.take_up(at),
            90..95 => self.pass_time(),
            95..97 => self.pause_and_resume(),
            97..98 => self.retry_all(),
            _ => self.sweep(),
        }
    }

    fn start(&mut self) {
        if self.started < INSTANCES_MAX {
            self.started += 1;
            self.flow.session().start();
        }
    }

    fn claim(&mut self, at: usize) {
        let limit = self.random.random_range(1..6);
        match on(self.store.claim(self.hosts[at].number, limit)) {
            Ok(claimed) => self.hosts[at].jobs.extend(claimed),
            Err(error) => self.lost(at, &error),
        }
    }

    /// A refusal that tells a host that it is out: it forgets its jobs and enters anew.
    fn lost(&mut self, at: usize, error: &StoreError) {
        assert_eq!(error.code(), Some("WF016"), "{error}");
        self.hosts.remove(at);
        self.enter();
    }

    fn group(&self, claimed: &Claimed) -> CommitGroup<'static> {
        let attribute = claimed.job.transition.trim_start_matches("tr_").to_owned();
        let clause = format!("{attribute} = (_r.{attribute}::integer + _b._1::integer)::text");
        CommitGroup {
            flow: claimed.job.key.flow,
            gate: self.gate.clone().into(),
            assigned: vec![Arc::from(attribute)].into(),
            set: Some(clause.into()),
            literals: 1,
            items: vec![Cow::Owned(CommitItem {
                wid: claimed.job.key.wid,
                tgid: claimed.job.key.tgid,
                token: claimed.job.token,
                literals: vec![Some("1".to_owned())],
                measure: Measure::default(),
            })],
        }
    }

    /// Commits a result, or several of different instances; with `answer_lost` the host never hears of it.
    fn commit(&mut self, at: usize, answer_lost: bool) {
        let mut seen = BTreeSet::new();
        let most = self.random.random_range(1..4);
        let chosen: Vec<Claimed> = self.hosts[at]
            .jobs
            .iter()
            .filter(|claimed| seen.insert(claimed.job.key.wid))
            .take(most)
            .cloned()
            .collect();
        for claimed in chosen {
            let group = self.group(&claimed);
            let (number, lease) = (self.hosts[at].number, self.random.random_bool(0.8));
            let committed = on(self.store.commit_batch(number, &[group], false, lease));
            if answer_lost {
                // It looks whether the claim is still its own, as a host does.
                let token = claimed.job.token;
                let held = on(self.store.still_held(number, &[token])).expect("an answer");
                if held.is_empty() {
                    self.hosts[at].jobs.retain(|job| job.job.token != token);
                }
                continue;
            }
            let token = claimed.job.token;
            match committed {
                Ok(fired) => {
                    self.hosts[at].jobs.retain(|job| job.job.token != token);
                    self.hosts[at].jobs.extend(fired);
                }
                Err(error) if error.code() == Some("WF016") => {
                    self.lost(at, &error);
                    return;
                }
                Err(StoreError::Conflict(_)) => {
                    self.hosts[at].jobs.retain(|job| job.job.token != token);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn fail(&mut self, at: usize) {
        let Some(claimed) = self.hosts[at].jobs.choose(&mut self.random).cloned() else {
            return;
        };
        let attempt = FailedAttempt {
            flow: claimed.job.key.flow,
            wid: claimed.job.key.wid,
            tgid: claimed.job.key.tgid,
            token: claimed.job.token,
            outcome: "failed".to_owned(),
            message: "simulated".to_owned(),
            retry: self.random.random_bool(0.9),
            after: None,
            fuel: 0,
            elapsed_us: 0,
            memory_bytes: 0,
        };
        let (number, token) = (self.hosts[at].number, claimed.job.token);
        on(self.store.fail_batch(number, &[attempt])).expect("recorded");
        self.hosts[at].jobs.retain(|job| job.job.token != token);
    }

    fn release(&mut self, at: usize) {
        let tokens: Vec<i64> = self.hosts[at]
            .jobs
            .drain(..)
            .map(|job| job.job.token)
            .collect();
        on(self.store.release(self.hosts[at].number, &tokens)).expect("released");
    }

    fn put_off(&mut self, at: usize) {
        let Some(claimed) = self.hosts[at].jobs.pop() else {
            return;
        };
        let tokens = [claimed.job.token];
        on(self.store.put_off(self.hosts[at].number, &tokens)).expect("put off");
    }

    /// The host is gone with all that it knew; its lease runs on.
    fn crash(&mut self, at: usize) {
        self.hosts.remove(at);
        self.enter();
    }

    /// The lease ends, and the host does not know.
    fn expire(&mut self, at: usize) {
        let number = self.hosts[at].number;
        self.owner.run(&format!(
            "UPDATE wed.host SET expires_at = now() - interval '1 s' WHERE host_id = {number}"
        ));
    }

    /// The host looks for jobs that are its own without its knowing.
    fn take_up(&mut self, at: usize) {
        let known: Vec<i64> = self.hosts[at]
            .jobs
            .iter()
            .map(|job| job.job.token)
            .collect();
        let found = on(self.store.held_beside(self.hosts[at].number, &known)).expect("an answer");
        self.hosts[at].jobs.extend(found);
    }

    fn pass_time(&mut self) {
        self.owner.run(
            "UPDATE wed.job SET due = due - interval '20 s' WHERE host_id IS NULL AND isfinite(due) AND NOT wed.is_paused(due)",
        );
    }

    fn pause_and_resume(&mut self) {
        let flow = self.flow.id;
        let wid = self.random.random_range(1..=INSTANCES_MAX)
            + usize::try_from(self.owner.number("SELECT count(*) FROM wed.instance"))
                .expect("a number")
            - self.started;
        for pause in [true, false] {
            let _ = self.owner.tried(&format!(
                "SELECT wed.set_pause(1, {flow}, NULL, {wid}, {pause}, 'simulated', 'why')"
            ));
        }
    }

    fn retry_all(&mut self) {
        let flow = self.flow.id;
        for wid in self.owner.lines(&format!(
            "SELECT wid FROM wed.instance WHERE flow_id = {flow} AND status = 'E' ORDER BY wid"
        )) {
            let _ = self.owner.tried(&format!(
                "SELECT wed.retry_instance({flow}, {wid}, 'simulated', '')"
            ));
        }
    }

    fn sweep(&mut self) {
        on(self.store.sweep()).expect("swept");
    }

    /// Ends the faults: hosts that are gone lose their leases, a sound one does what is left.
    fn settle(&mut self) {
        self.owner
            .run("UPDATE wed.host SET expires_at = now() - interval '1 s'");
        self.hosts.clear();
        self.enter();
        for _ in 0..INSTANCES_MAX * 40 {
            self.sweep();
            self.retry_all();
            self.pass_time();
            self.claim(0);
            self.commit(0, false);
            let left = self
                .owner
                .number("SELECT count(*) FROM wed.instance WHERE status <> 'F'");
            if left == 0 {
                return;
            }
        }
    }

    fn found(&mut self) -> Vec<String> {
        let mut found = violations(&mut self.owner);
        found.extend(
            self.flow
                .session()
                .lines(
                    "SELECT w.wid, a1, a2, a3, i.status FROM wed_flow w JOIN wed_instance i USING (wid) \
                     WHERE (a1, a2, a3, i.status) IS DISTINCT FROM ('3', '4', '5', 'F'::\"char\") \
                     OR (SELECT count(*) FROM wed_trace t WHERE t.wid = w.wid AND trw NOT LIKE '\\_%') <> 12",
                )
                .into_iter()
                .map(|line| format!("twelve transitions, to the end: {line}")),
        );
        found
    }
}

#[harness::test]
fn protocol_holds_under_faults_at_every_step() {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
    let first = setting("WEDFLOW_SEED", 1);
    for seed in first..first + setting("WEDFLOW_SEEDS", SEEDS) {
        let mut world = World::new(&flow, seed);
        for step in 0..STEPS {
            world.step();
            if step % 50 == 49 {
                let found = violations(&mut world.owner);
                assert!(found.is_empty(), "seed {seed}, step {step}: {found:#?}");
            }
        }
        world.settle();
        let found = world.found();
        assert!(found.is_empty(), "seed {seed}: {found:#?}");
        on(world.store.close());
    }
}
