//! Real faults: hosts, sessions, servers, links and disks are broken for a moment, definitions change under load. After
//! each kind the one checker looks at the database.
//!
//! `make chaos RUNS=50 SEED=1` runs every kind so often and prints a line of JSON for each; without, a short round.
//! `KIND=server` runs only those whose name holds that. Four runs are under way at a time, or `WEDFLOW_SIDE_BY_SIDE`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::checker::violations;
use super::faults::Kind;
use super::field::{Field, OwnServer};
use super::simulation::message;
use crate::support::server;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Most runs in one database; more are made in others, side by side.
const RUNS_OF_FIELD: u64 = 10;

/// Sums of a kind's runs.
#[derive(Default)]
struct Sums {
    runs: u64,
    transitions: i64,
    lost: i64,
    doubled: i64,
    stuck: u64,
    worst: Duration,
    violations: Vec<String>,
    /// Parts that are still to be run.
    left: usize,
}

impl Sums {
    fn add(&mut self, other: Sums) {
        self.runs += other.runs;
        self.transitions += other.transitions;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.stuck += other.stuck;
        self.worst = self.worst.max(other.worst);
        self.violations.extend(other.violations);
        self.left -= 1;
    }

    fn line(&self, kind: Kind) -> Json {
        if self.runs == 0 && self.violations.is_empty() {
            return json!({ "kind": kind.name(), "runs": 0, "skipped": "this machine cannot make it" });
        }
        json!({
            "kind": kind.name(), "runs": self.runs, "transitions": self.transitions, "lost": self.lost,
            "doubled": self.doubled, "stuck": self.stuck, "violations": self.violations.len(),
            "worst_recovery_ms": u64::try_from(self.worst.as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn is_broken(&self) -> bool {
        self.stuck > 0 || self.lost > 0 || self.doubled > 0 || !self.violations.is_empty()
    }
}

/// Some runs of a kind, in a database of their own.
#[derive(Clone, Copy)]
struct Part {
    kind: Kind,
    seed: u64,
    runs: u64,
}

impl Part {
    /// Runs it; no run where this machine cannot make the fault.
    fn run(self) -> Sums {
        let mut sums = Sums::default();
        let own = match self.kind.server().map(OwnServer::start) {
            Some(None) => return sums,
            Some(own) => own,
            None => None,
        };
        if !self.kind.is_possible() {
            return sums;
        }
        let mut field = Field::new(own);
        for run in 0..self.runs {
            field.begin(self.seed + run);
            let load = field.load();
            field.fault(self.kind);
            drop(load);
            field.start_instances();
            match field.recovery() {
                Some(recovery) => sums.worst = sums.worst.max(recovery),
                None => {
                    sums.stuck += 1;
                    let (kind, seed) = (self.kind.name(), self.seed + run);
                    eprintln!("{kind}, seed {seed}, did not end:\n{}", field.remains());
                }
            }
        }
        sums.runs = self.runs;
        // Each instance makes twelve steps; the herd's one each.
        sums.transitions = field.owner.number("SELECT count(*) FROM wed.trace WHERE trw NOT LIKE '\\_%'");
        sums.lost = field.count("steps < 12 AND steps <> 1");
        sums.doubled = field.count("steps > 12");
        sums.violations = violations(&mut field.owner);
        sums
    }

    /// Runs it; what panics is a violation.
    fn tried(self) -> Sums {
        catch_unwind(AssertUnwindSafe(|| self.run())).unwrap_or_else(|panic| Sums {
            violations: vec![format!("from seed {}: {}", self.seed, message(&*panic))],
            ..Sums::default()
        })
    }
}

/// Splits the kinds' runs, so that those of one kind are side by side too.
fn parts(kinds: &[Kind], count: u64, seed: u64) -> Vec<Part> {
    let mut parts = Vec::new();
    for first in (0..count).step_by(usize::try_from(RUNS_OF_FIELD).expect("few")) {
        parts.extend(kinds.iter().map(|kind| Part {
            kind: *kind,
            seed: seed + first,
            runs: RUNS_OF_FIELD.min(count - first),
        }));
    }
    parts
}

#[harness::test]
fn faults_lose_double_and_stop_nothing() {
    if server::given().is_some() {
        return; // Its address need not be one of this machine.
    }
    let count = setting("WEDFLOW_CHAOS_RUNS");
    let only = std::env::var("WEDFLOW_CHAOS_KIND").unwrap_or_default();
    let kinds = match count {
        None => Kind::SHORT,
        Some(_) => Kind::ALL,
    };
    let kinds: Vec<Kind> = kinds.iter().copied().filter(|kind| kind.name().contains(&only)).collect();
    let parts = parts(&kinds, count.unwrap_or(1), setting("WEDFLOW_SEED").unwrap_or(1));
    let left = |kind: &Kind| parts.iter().filter(|part| part.kind == *kind).count();
    let sums = kinds.iter().map(|kind| {
        let left = left(kind);
        (*kind, Sums { left, ..Sums::default() })
    });
    let sums: Mutex<Vec<(Kind, Sums)>> = Mutex::new(sums.collect());
    let next = AtomicUsize::new(0);
    // Runs mostly wait.
    let threads = setting("WEDFLOW_SIDE_BY_SIDE").unwrap_or(if count.is_some() { 4 } else { 1 });
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let done = part.tried();
                    let mut all = sums.lock().unwrap_or_else(PoisonError::into_inner);
                    let found = all.iter_mut().find(|(kind, _)| *kind == part.kind);
                    let (kind, sums) = found.expect("every kind is there");
                    sums.add(done);
                    if sums.left == 0 {
                        println!("{}", sums.line(*kind));
                    }
                }
            });
        }
    });
    let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    let broken: Vec<String> = sums
        .iter()
        .filter(|(_, sums)| sums.is_broken())
        .map(|(kind, sums)| format!("{} {:?}", sums.line(*kind), sums.violations))
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}
