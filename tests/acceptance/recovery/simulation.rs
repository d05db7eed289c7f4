//! The protocol of hosts under a seeded scheduler: simulated hosts call the functions that real ones call, in an order
//! that a seed decides, and fail at any step. The decisions are the database's own; only their callers are simulated.
//!
//! Each round has one fault in its focus, which comes at any step; the others come too. `WEDFLOW_SEEDS=1000` runs that
//! many seeds for each fault and prints a line of JSON for each, `WEDFLOW_SEED=7` begins with that seed,
//! `WEDFLOW_FAULT=crash` runs that fault only.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use wedflow_model::{HostId, LeaseToken, Measure};
use wedflow_store::{Claimed, CommitGroup, CommitItem, FailedAttempt, Store, StoreError};

use super::checker::violations;
use crate::support::database::sample_component;
use crate::support::{Database, Flow, Session, on, repository};

/// Seeds for each fault of a short round.
const SEEDS: u64 = 1;
/// Steps with faults.
const STEPS: usize = 120;
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

/// Fault at any step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// A commit's answer is lost.
    AnswerLost,
    /// A claim's answer is lost: the host has jobs that it does not know.
    ClaimLost,
    /// A host is gone with all that it knew.
    Crash,
    /// A lease ends, and the host does not know.
    LeaseEnds,
    /// An attempt fails.
    AttemptFails,
    /// A batch holds a result that the database refuses; it is halved until that stands alone.
    BadResult,
    /// A result is committed twice.
    CommitTwice,
    /// Results come for jobs that are somebody else's by now.
    StaleResult,
    /// A job is put off, or given back.
    GivenBack,
    /// The clock jumps ahead.
    ClockJumps,
    /// An instance, a trigger or the flow is paused and resumed.
    Paused,
    /// Operators retry and skip.
    Operated,
    /// The definition changes.
    Redefined,
    /// Hosts sweep at once what is abandoned, late or old.
    Swept,
}

impl Fault {
    const ALL: [Fault; 14] = [
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
    ];
}

/// A host, as its jobs.
struct Simulated {
    number: HostId,
    jobs: Vec<Claimed>,
}

struct World {
    flow: Flow,
    store: Store,
    owner: Session,
    gate: String,
    random: StdRng,
    hosts: Vec<Simulated>,
    /// Jobs that hosts had when they were lost.
    gone: Vec<Claimed>,
    started: usize,
}

impl World {
    fn new(flow: &Flow) -> Self {
        let database = &flow.database;
        let gate = on(database.store.flow_shape(flow.id)).expect("a flow").gate;
        let mut owner = database.owner();
        owner.run("UPDATE wed.retention SET instances = '1 hour', attempts = '1 hour'");
        World {
            // One session: everything happens in the order that the seed says.
            store: on(Store::connect(&database.url(), 1)).expect("connected"),
            owner,
            flow: flow.clone(),
            gate,
            random: StdRng::seed_from_u64(0),
            hosts: Vec::new(),
            gone: Vec::new(),
            started: 0,
        }
    }

    /// Begins a round: an empty flow, three hosts.
    fn begin(&mut self, seed: u64) {
        // What the round before left is removed as what is old is.
        self.owner.run(
            "UPDATE wed.instance SET changed = '2001-01-01'; UPDATE wed.attempt SET tstmp = '2001-01-01'; DELETE \
             FROM wed.host",
        );
        on(self.store.expire(100)).expect("removed");
        assert_eq!(self.owner.number("SELECT count(*) FROM wed.trace"), 0);
        self.random = StdRng::seed_from_u64(seed);
        self.started = 0;
        self.hosts.clear();
        self.gone.clear();
        for _ in 0..3 {
            self.enter();
        }
    }

    fn enter(&mut self) {
        let number = on(self.store.register_host("simulated", LEASE)).expect("entered");
        self.hosts.push(Simulated {
            number,
            jobs: Vec::new(),
        });
    }

    /// Takes one step: the fault in the focus, another one, or ordinary work.
    fn step(&mut self, focus: Fault) {
        let at = self.random.random_range(0..self.hosts.len());
        match self.random.random_range(0..100) {
            0..10 => self.start(),
            10..35 => self.claim(at),
            35..62 => self.commit(at, false),
            62..80 => self.fault(focus, at),
            80..92 => {
                let any = Fault::ALL[self.random.random_range(0..Fault::ALL.len())];
                self.fault(any, at);
            }
            92..97 => self.pass_time(),
            _ => self.sweep(),
        }
    }

    fn fault(&mut self, fault: Fault, at: usize) {
        match fault {
            Fault::AnswerLost => self.commit(at, true),
            Fault::ClaimLost => self.claim_lost(at),
            Fault::Crash => self.crash(at),
            Fault::LeaseEnds => self.expire(at),
            Fault::AttemptFails => self.fail(at),
            Fault::BadResult => self.commit_with_bad(at),
            Fault::CommitTwice => self.commit_twice(at),
            Fault::StaleResult => self.stale(at),
            Fault::GivenBack => match self.random.random_bool(0.5) {
                true => self.release(at),
                false => self.put_off(at),
            },
            Fault::ClockJumps => {
                self.pass_time();
                self.owner
                    .run("UPDATE wed.host SET expires_at = expires_at - interval '1 minute'");
            }
            Fault::Paused => self.pause_and_resume(),
            Fault::Operated => self.operate(),
            Fault::Redefined => self.redefine(),
            Fault::Swept => {
                self.sweep();
                self.take_up(at);
            }
        }
    }

    /// A host is leased jobs and does not hear of it; it finds them by looking.
    fn claim_lost(&mut self, at: usize) {
        if let Err(error) = on(self.store.claim(self.hosts[at].number, 3)) {
            return self.lost(at, &error);
        }
        if self.random.random_bool(0.7) {
            self.take_up(at);
        }
    }

    /// A batch of results of different instances, one of which is refused. It is halved until that one stands alone,
    /// which is recorded as a failed attempt.
    fn commit_with_bad(&mut self, at: usize) {
        let mut seen = BTreeSet::new();
        let chosen: Vec<Claimed> = self.hosts[at]
            .jobs
            .iter()
            .filter(|claimed| seen.insert(claimed.job.key.wid))
            .take(4)
            .cloned()
            .collect();
        if chosen.is_empty() {
            return;
        }
        let bad = chosen[self.random.random_range(0..chosen.len())].job.token;
        self.halve(at, &chosen, bad);
    }

    fn halve(&mut self, at: usize, batch: &[Claimed], bad: LeaseToken) {
        let number = self
            .hosts
            .get(at)
            .map_or(HostId::new(0), |host| host.number);
        let groups: Vec<CommitGroup<'static>> = batch
            .iter()
            .map(|claimed| {
                let mut group = self.group(claimed);
                if claimed.job.token == bad {
                    group.set = group.set.map(|set| {
                        format!("{set} || (1 / (_r.a1::integer - _r.a1::integer))::text").into()
                    });
                }
                group
            })
            .collect();
        let committed = on(self.store.commit_batch(number, &groups, false, false));
        match committed {
            Ok(_) => {
                let done: Vec<LeaseToken> = batch.iter().map(|claimed| claimed.job.token).collect();
                self.hosts[at]
                    .jobs
                    .retain(|job| !done.contains(&job.job.token));
            }
            Err(error) if error.code() == Some("WF016") => self.lost(at, &error),
            Err(_) if batch.len() > 1 => {
                let (one, other) = batch.split_at(batch.len() / 2);
                self.halve(at, one, bad);
                if self.hosts.get(at).is_some_and(|host| host.number == number) {
                    self.halve(at, other, bad);
                }
            }
            Err(StoreError::Conflict(_)) => {
                let token = batch[0].job.token;
                self.hosts[at].jobs.retain(|job| job.job.token != token);
            }
            Err(_) => self.fail_one(at, &batch[0]),
        }
    }

    /// The same result a second time, as by a host that does not know that it was committed.
    fn commit_twice(&mut self, at: usize) {
        let Some(claimed) = self.hosts[at].jobs.first().cloned() else {
            return;
        };
        self.commit_one(at, &claimed);
        if let Some(number) = self.hosts.get(at).map(|host| host.number) {
            let again = on(self
                .store
                .commit_batch(number, &[self.group(&claimed)], false, false));
            assert!(again.is_err(), "a job's result is taken once: {claimed:?}");
        }
    }

    fn commit_one(&mut self, at: usize, claimed: &Claimed) {
        let number = self.hosts[at].number;
        match on(self
            .store
            .commit_batch(number, &[self.group(claimed)], false, false))
        {
            Ok(_) | Err(StoreError::Conflict(_)) => {
                let token = claimed.job.token;
                self.hosts[at].jobs.retain(|job| job.job.token != token);
            }
            Err(error) => self.lost(at, &error),
        }
    }

    /// A result of a claim that has been taken back meanwhile, over any host.
    fn stale(&mut self, at: usize) {
        let Some(claimed) = self.gone.choose(&mut self.random).cloned() else {
            return;
        };
        let held = format!(
            "SELECT count(*) FROM wed.job WHERE token = {}",
            claimed.job.token
        );
        if self.owner.number(&held) > 0 {
            return;
        }
        let number = self.hosts[at].number;
        let group = self.group(&claimed);
        let committed = on(self.store.commit_batch(number, &[group], false, false));
        assert!(
            committed.is_err(),
            "only the present claim's token finishes a job: {claimed:?}"
        );
    }

    fn operate(&mut self) {
        self.retry_all();
        let flow = self.flow.id;
        let instances = format!("SELECT wid FROM wed.instance WHERE flow_id = {flow} ORDER BY wid");
        let wids = self.owner.lines(&instances);
        if let Some(wid) = wids.choose(&mut self.random).cloned() {
            let _ = self.owner.tried(&format!(
                "SELECT wed.retry_instance({flow}, {wid}, 'simulated', '')"
            ));
        }
    }

    fn redefine(&mut self) {
        let priority = self.random.random_range(0..9);
        self.flow.session().run(&format!(
            "UPDATE wed_trig SET priority = {priority} WHERE NOT cfinal"
        ));
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
        self.gone.extend(self.hosts.remove(at).jobs);
        self.enter();
    }

    fn group(&self, claimed: &Claimed) -> CommitGroup<'static> {
        let attribute = claimed.job.transition.trim_start_matches("tr_").to_owned();
        let clause = format!("{attribute} = (_r.{attribute}::integer + _b._1::integer)::text");
        CommitGroup {
            flow: claimed.job.key.flow,
            version: claimed.flow_version,
            gate: self.gate.clone().into(),
            assigned: vec![Arc::from(attribute)].into(),
            set: Some(clause.into()),
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
        if let Some(claimed) = self.hosts[at].jobs.choose(&mut self.random).cloned() {
            self.fail_one(at, &claimed);
        }
    }

    fn fail_one(&mut self, at: usize, claimed: &Claimed) {
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
        on(self.store.fail_attempts(number, &[attempt])).expect("recorded");
        self.hosts[at].jobs.retain(|job| job.job.token != token);
    }

    fn release(&mut self, at: usize) {
        let tokens: Vec<LeaseToken> = self.hosts[at]
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
        on(self.store.put_off(
            self.hosts[at].number,
            &tokens,
            "a lock on the table of its flow",
            LEASE,
        ))
        .expect("put off");
    }

    /// The host is gone with all that it knew; its lease runs on.
    fn crash(&mut self, at: usize) {
        self.gone.extend(self.hosts.remove(at).jobs);
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
        let known: Vec<LeaseToken> = self.hosts[at]
            .jobs
            .iter()
            .map(|job| job.job.token)
            .collect();
        let found = on(self.store.held_beside(self.hosts[at].number, &known)).expect("an answer");
        self.hosts[at].jobs.extend(found);
    }

    fn pass_time(&mut self) {
        self.owner.run(
            "UPDATE wed.job SET due = due - interval '20 s' WHERE host_id IS NULL AND isfinite(due) AND NOT \
             wed.is_paused(due)",
        );
    }

    fn pause_and_resume(&mut self) {
        let flow = self.flow.id;
        let instances = format!("SELECT wid FROM wed.instance WHERE flow_id = {flow} ORDER BY wid");
        let wids = self.owner.lines(&instances);
        let wid = wids.choose(&mut self.random).cloned();
        let scope = match (self.random.random_range(0..3), wid) {
            (0, Some(wid)) => format!("NULL, {wid}"),
            (1, _) => "'tr_a2', NULL".to_owned(),
            _ => "NULL, NULL".to_owned(),
        };
        for pause in [true, false] {
            let _ = self.owner.tried(&format!(
                "SELECT wed.set_pause(1, {flow}, {scope}, {pause}, 'simulated', 'why')"
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
    let (first, seeds) = (setting("WEDFLOW_SEED", 1), setting("WEDFLOW_SEEDS", SEEDS));
    let only = std::env::var("WEDFLOW_FAULT").unwrap_or_default();
    let mut world = World::new(&flow);
    for fault in Fault::ALL {
        if !format!("{fault:?}").to_lowercase().contains(&only) {
            continue;
        }
        let mut transitions = 0;
        for seed in first..first + seeds {
            world.begin(seed);
            for step in 0..STEPS {
                world.step(fault);
                if step % 60 == 59 {
                    let found = violations(&mut world.owner);
                    assert!(
                        found.is_empty(),
                        "{fault:?}, seed {seed}, step {step}: {found:#?}"
                    );
                }
            }
            world.settle();
            let found = world.found();
            assert!(found.is_empty(), "{fault:?}, seed {seed}: {found:#?}");
            transitions += world
                .owner
                .number("SELECT count(*) FROM wed.trace WHERE trw NOT LIKE '\\_%'");
        }
        if std::env::var_os("WEDFLOW_SEEDS").is_some() {
            println!(
                "{}",
                serde_json::json!({
                    "simulated": format!("{fault:?}"),
                    "seeds": seeds,
                    "transitions": transitions,
                    "violations": 0,
                })
            );
        }
    }
    on(world.store.close());
}
