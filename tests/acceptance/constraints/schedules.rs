//! Random sets and schedules: never two holders, never over capacity, never a deadlock, nobody starves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::{broken, fine};
use crate::support::{Database, Flow, GENEROUS, Session, recover};

/// A document of keys and quantities; null is exclusive.
const SETS: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('keys', 'jsonb', '{}'), ('done', 'boolean', 'false');
INSERT INTO wed_trig (tgname, trname, cpred, reserves) VALUES ('t', 'use', 'NOT done', 'keys');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);
INSERT INTO wed_resource (key, capacity) VALUES ('A', 5), ('B', 5), ('C', 5), ('D', 5), ('E', 5);";

/// A small generator of chance that is the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn set(&mut self) -> BTreeMap<char, Option<u64>> {
        let keys = 1 + self.below(3);
        (0..keys)
            .map(|_| {
                let key = ('A'..='E').nth(self.below(5) as usize).expect("five keys");
                (key, (self.below(2) == 0).then(|| 1 + self.below(5)))
            })
            .collect()
    }
}

fn document(set: &BTreeMap<char, Option<u64>>) -> String {
    let entries: Vec<String> = set
        .iter()
        .map(|(key, amount)| format!("\"{key}\": {}", amount.map_or("null".to_owned(), |n| n.to_string())))
        .collect();
    format!("{{{}}}", entries.join(", "))
}

/// Model: requests in order of arrival, each has all of its keys or none.
#[derive(Default)]
struct Model {
    sets: BTreeMap<i64, BTreeMap<char, Option<u64>>>,
    held: BTreeSet<i64>,
}

impl Model {
    fn fits(&self, set: &BTreeMap<char, Option<u64>>) -> bool {
        set.iter().all(|(key, amount)| {
            let holders: Vec<_> = self.held.iter().filter_map(|wid| self.sets[wid].get(key)).collect();
            match amount {
                None => holders.is_empty(),
                Some(n) => {
                    holders.iter().all(|h| h.is_some()) && holders.iter().filter_map(|h| **h).sum::<u64>() + n <= 5
                }
            }
        })
    }

    fn grant_all(&mut self) {
        let mut before = BTreeSet::new();
        for (wid, set) in &self.sets.clone() {
            if self.held.contains(wid) {
                continue;
            }
            if set.keys().all(|key| !before.contains(key)) && self.fits(set) {
                self.held.insert(*wid);
            } else {
                before.extend(set.keys().copied());
            }
        }
    }

    fn end(&mut self, wid: i64) {
        self.sets.remove(&wid);
        self.held.remove(&wid);
        self.grant_all();
    }
}

fn held(s: &mut Session) -> BTreeSet<i64> {
    s.lines("SELECT DISTINCT wid FROM wed_reservation WHERE held")
        .iter()
        .map(|wid| wid.parse().expect("a wid"))
        .collect()
}

#[harness::test]
fn grants_are_those_of_the_model_whatever_the_schedule() {
    const SEEDS: u64 = 24;
    let database = Database::new();
    for seed in 1..=SEEDS {
        let flow = database.flow(&format!("seed-{seed}"));
        flow.session().run(SETS);
        play(&flow, Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)), 60);
        fine(&flow);
    }
}

/// Starts, ends and cancels instances by chance, and compares who holds with the model after each step.
fn play(flow: &Flow, mut chance: Chance, steps: usize) {
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let mut model = Model::default();
    for step in 0..steps {
        let all: Vec<i64> = model.sets.keys().copied().collect();
        if all.len() < 3 || (all.len() < 14 && chance.below(2) == 0) {
            let set = chance.set();
            let wid = s.number(&format!("INSERT INTO wed_flow (keys) VALUES ('{}') RETURNING wid", document(&set)));
            model.sets.insert(wid, set);
            model.grant_all();
        } else if chance.below(4) == 0 {
            let wid = all[chance.below(all.len() as u64) as usize];
            owner.line(&format!("SELECT wed.cancel_instance({}, {wid}, 'ann', 'chance')", flow.id));
            model.end(wid);
        } else {
            let holders: Vec<i64> = model.held.iter().copied().collect();
            let wid = holders[chance.below(holders.len() as u64) as usize];
            s.finish(wid, "use", "done = true");
            model.end(wid);
        }
        assert_eq!(held(&mut s), model.held, "after step {step}: {:?}", model.sets);
    }
}

#[harness::test]
fn sessions_side_by_side_all_come_to_an_end() {
    const SESSIONS: u64 = 6;
    const EACH: usize = 40;
    let flow = Flow::of(SETS);
    let ended = AtomicUsize::new(0);
    let begun = Instant::now();
    let sessions: Vec<_> = (0..SESSIONS).map(|_| flow.session()).collect();
    std::thread::scope(|scope| {
        for (number, mut s) in (1..).zip(sessions) {
            let ended = &ended;
            scope.spawn(move || {
                work(
                    &mut s,
                    Chance(u64::wrapping_mul(number, 0x9E37_79B9_7F4A_7C15)),
                    ended,
                    SESSIONS as usize * EACH,
                    EACH,
                    begun,
                )
            });
        }
        let mut owner = flow.database.owner();
        while ended.load(Ordering::Relaxed) < SESSIONS as usize * EACH && begun.elapsed() < GENEROUS {
            let two = owner.lines(
                "SELECT resource, key FROM wed.reservation JOIN wed.request r USING (request_id) WHERE held GROUP \
                 BY 1, 2 \
                 HAVING bool_or(amount IS NULL) AND count(DISTINCT wid) > 1 OR sum(amount) > 5",
            );
            assert!(two.is_empty(), "{two:?}");
            // As a host's sweep would, each second.
            recover(&flow.database.store);
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    });
    let mut s = flow.session();
    assert_eq!(s.lines("SELECT wid FROM job_pool"), [""; 0]);
    let found = broken(&mut flow.database.owner());
    assert!(found.is_empty(), "{found:#?}");
}

/// Starts instances and does what is due, until all that are to be started have ended.
fn work(s: &mut Session, mut chance: Chance, ended: &AtomicUsize, all: usize, mut left: usize, begun: Instant) {
    while ended.load(Ordering::Relaxed) < all && begun.elapsed() < GENEROUS {
        if left > 0 && chance.below(2) == 0 {
            left -= 1;
            s.run(&format!("INSERT INTO wed_flow (keys) VALUES ('{}')", document(&chance.set())));
        }
        s.run("BEGIN");
        let taken = s.lines(
            "SELECT wid FROM (SELECT wid, tgid FROM job_pool WHERE due <= now() ORDER BY random() LIMIT 3) j \
             WHERE pg_try_advisory_xact_lock(wid, tgid) LIMIT 1",
        );
        let Some(wid) = taken.first() else {
            s.run("ROLLBACK");
            std::thread::sleep(std::time::Duration::from_millis(2));
            continue;
        };
        s.run(&format!("UPDATE wed_flow SET done = true WHERE wid = {wid}"));
        if chance.below(5) == 0 {
            s.run("ROLLBACK");
        } else {
            s.run("COMMIT");
            ended.fetch_add(1, Ordering::Relaxed);
        }
    }
}
