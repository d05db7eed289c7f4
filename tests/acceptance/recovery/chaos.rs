//! Real faults: hosts and sessions are killed and stopped, links are cut, definitions change under load. After each
//! round the one checker looks at the database.
//!
//! `make chaos RUNS=50 SEED=1` runs every kind so often and prints a line of JSON for each; without, a short round.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use super::checker::violations;
use super::proxy::{Mode, Proxy};
use crate::support::database::sample_component;
use crate::support::{Database, Flow, Session, eventually, program, repository, server};

/// Instances that are started before a fault, and as many during it.
const STARTED: usize = 30;
/// Most time until all is done after a fault: a lease, and what is left.
const RECOVERY_MAX: Duration = Duration::from_secs(60);

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    HostKilled,
    HostStopped,
    HostDrained,
    SessionsKilled,
    ListenersKilled,
    NotificationsDoubled,
    ConnectionsCut,
    ConnectionsCutInside,
    ConnectionsHeld,
    ConnectionsSilent,
    TriggersChanged,
    ComponentReplaced,
    PoisonBeside,
    RowsLocked,
    Paused,
}

impl Kind {
    const ALL: [Kind; 15] = [
        Kind::HostKilled,
        Kind::HostStopped,
        Kind::HostDrained,
        Kind::SessionsKilled,
        Kind::ListenersKilled,
        Kind::NotificationsDoubled,
        Kind::ConnectionsCut,
        Kind::ConnectionsCutInside,
        Kind::ConnectionsHeld,
        Kind::ConnectionsSilent,
        Kind::TriggersChanged,
        Kind::ComponentReplaced,
        Kind::PoisonBeside,
        Kind::RowsLocked,
        Kind::Paused,
    ];

    /// Those of a short round.
    const SHORT: [Kind; 3] = [
        Kind::SessionsKilled,
        Kind::ConnectionsCut,
        Kind::ConnectionsSilent,
    ];

    fn name(self) -> String {
        let mut name = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.extend(letter.to_lowercase());
        }
        name
    }
}

/// A host in a process of its own, killed with the value.
struct HostProcess(Child);

impl HostProcess {
    fn start(url: &str) -> Self {
        let mut serve: Command = program::wed(url);
        serve
            .args(["serve", "--lanes", "1"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        HostProcess(serve.spawn().expect("wed serve"))
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.0.id().to_string()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "{signal}");
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Field {
    database: Arc<Database>,
    flow: Flow,
    owner: Session,
    proxy: Proxy,
    hosts: Vec<HostProcess>,
    random: StdRng,
    poisoned: Option<Flow>,
}

impl Field {
    fn new(seed: u64) -> Self {
        let database = Database::new();
        database.upload("counters", sample_component("counters"));
        let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
        let url = database.url();
        let (_, place) = url.rsplit_once('@').expect("a user");
        let (place, _) = place.split_once('/').expect("a database");
        let proxy = Proxy::new(place.parse().expect("an address"));
        let mut field = Field {
            owner: database.owner(),
            flow,
            proxy,
            hosts: Vec::new(),
            random: StdRng::seed_from_u64(seed),
            poisoned: None,
            database,
        };
        field.start_hosts();
        field
    }

    /// Two hosts, which reach the server through the proxy.
    fn start_hosts(&mut self) {
        let url = self.database.url();
        let (before, rest) = url.rsplit_once('@').expect("a user");
        let (_, name) = rest.split_once('/').expect("a database");
        let through = format!("{before}@127.0.0.1:{}/{name}", self.proxy.port);
        // A host that could not enter ends, and whoever runs it starts it anew.
        self.hosts
            .retain_mut(|host| matches!(host.0.try_wait(), Ok(None)));
        while self.hosts.len() < 2 {
            self.hosts.push(HostProcess::start(&through));
        }
    }

    fn start_instances(&mut self) {
        self.flow.session().run(&format!(
            "INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, {STARTED})"
        ));
    }

    fn pause(&mut self, most_ms: u64) {
        let wait = self.random.random_range(most_ms / 4..most_ms);
        std::thread::sleep(Duration::from_millis(wait));
    }

    /// Makes a fault for about a second or two, and ends it.
    fn fault(&mut self, kind: Kind) {
        let hosts = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'wedflow' AND pid <> pg_backend_pid()";
        match kind {
            Kind::HostKilled => {
                self.pause(300);
                self.hosts.pop();
            }
            Kind::HostStopped => {
                self.hosts[0].signal("-STOP");
                // Every fourth time past its lease.
                let beyond = self.random.random_ratio(1, 4);
                self.pause(if beyond { 22_000 } else { 3_000 });
                self.hosts[0].signal("-CONT");
            }
            Kind::HostDrained => {
                self.hosts[0].signal("-TERM");
                self.pause(500);
                let ended = self.hosts.remove(0).0.wait();
                assert!(ended.is_ok_and(|status| status.success()), "drained");
            }
            Kind::SessionsKilled | Kind::ListenersKilled => {
                let which = if kind == Kind::ListenersKilled {
                    "AND query ILIKE 'LISTEN%'"
                } else {
                    ""
                };
                for _ in 0..4 {
                    self.pause(200);
                    self.owner
                        .lines(&format!("SELECT pg_terminate_backend(pid) {hosts} {which}"));
                }
            }
            Kind::NotificationsDoubled => {
                for _ in 0..20 {
                    self.owner.lines(
                        "SELECT pg_notify('wed_jobs', n::text) FROM generate_series(1, 50) n",
                    );
                }
            }
            Kind::ConnectionsCut => {
                for _ in 0..4 {
                    self.pause(200);
                    self.proxy.cut();
                }
            }
            Kind::ConnectionsCutInside => {
                self.proxy.cut();
                self.proxy.cut_after(self.random.random_range(500..60_000));
                self.pause(3_000);
                self.proxy.cut_after(0);
            }
            Kind::ConnectionsHeld => {
                self.proxy.set(Mode::Hold);
                self.pause(3_000);
                self.proxy.set(Mode::Pass);
            }
            Kind::ConnectionsSilent => {
                self.pause(500);
                self.proxy.silence();
            }
            Kind::TriggersChanged => {
                for n in 0..4 {
                    self.pause(150);
                    self.flow.session().run(&format!(
                        "UPDATE wed_trig SET priority = {n} WHERE NOT cfinal"
                    ));
                }
            }
            Kind::ComponentReplaced => {
                self.flow.bind("tr_a1", "counters");
                self.database
                    .upload("counters", sample_component("counters"));
            }
            Kind::PoisonBeside => self.poison(),
            Kind::RowsLocked => {
                let mut session = self.flow.session();
                session.run("BEGIN; SELECT FROM wed_flow ORDER BY wid DESC LIMIT 5 FOR UPDATE");
                self.pause(3_000);
                session.run("COMMIT");
            }
            Kind::Paused => {
                for pause in [true, false] {
                    self.owner.line(&format!(
                        "SELECT wed.set_pause(1, {}, NULL, NULL, {pause}, 'chaos', 'why')",
                        self.flow.id
                    ));
                    self.pause(1_000);
                }
            }
        }
    }

    /// Instances of another flow whose transition traps; ended by hand when they are exceptions.
    fn poison(&mut self) {
        let poisoned = match &self.poisoned {
            Some(flow) => flow.clone(),
            None => crate::host::flow_of_one(&self.database, "trap", ", attempts=1"),
        };
        let mut session = poisoned.session();
        session.run("INSERT INTO wed_flow (a1) SELECT 'new' FROM generate_series(1, 3)");
        let exceptions = "SELECT wid FROM wed_instance WHERE status = 'E'";
        for wid in eventually("the exceptions", || {
            Some(session.lines(exceptions)).filter(|found| found.len() == 3)
        }) {
            self.owner.line(&format!(
                "SELECT wed.cancel_instance({}, {wid}, 'chaos', 'poison')",
                poisoned.id
            ));
        }
        self.poisoned = Some(poisoned);
    }

    /// One round; how long recovery took, or none where something did not end.
    fn round(&mut self, kind: Kind) -> Option<Duration> {
        eventually("the hosts are entered", || {
            self.start_hosts();
            let live = "SELECT count(*) FROM wed.host WHERE expires_at > clock_timestamp()";
            (self.owner.number(live) >= 2).then_some(())
        });
        self.start_instances();
        self.fault(kind);
        self.start_instances();
        let begun = Instant::now();
        while begun.elapsed() < RECOVERY_MAX {
            self.start_hosts();
            if self
                .owner
                .number("SELECT count(*) FROM wed.instance WHERE status <> 'F'")
                == 0
            {
                return Some(begun.elapsed());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }

    fn count(&mut self, more: &str) -> i64 {
        self.owner.number(&format!(
            "SELECT count(*) FROM (SELECT count(*) FILTER (WHERE trw NOT LIKE '\\_%') AS steps FROM wed.trace t \
             GROUP BY flow_id, wid HAVING bool_and(trw IS NULL OR trw <> '_CANCEL')) i WHERE {more}"
        ))
    }
}

#[harness::test]
fn faults_lose_double_and_stop_nothing() {
    let runs: Option<u32> = std::env::var("WEDFLOW_CHAOS_RUNS")
        .ok()
        .and_then(|text| text.parse().ok());
    let seed = std::env::var("WEDFLOW_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let only = std::env::var("WEDFLOW_CHAOS_KIND").ok();
    if server::given().is_some() {
        return; // Its address need not be one of this machine.
    }
    let kinds: Vec<Kind> = match runs {
        None => Kind::SHORT.to_vec(),
        Some(_) => Kind::ALL.to_vec(),
    };
    let mut broken = Vec::new();
    for kind in kinds {
        let name = kind.name();
        if only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            continue;
        }
        let mut field = Field::new(seed);
        let (mut stuck, mut worst) = (0, Duration::ZERO);
        for _ in 0..runs.unwrap_or(1) {
            match field.round(kind) {
                Some(recovery) => worst = worst.max(recovery),
                None => stuck += 1,
            }
        }
        let found = violations(&mut field.owner);
        let line = json!({
            "kind": name, "runs": runs.unwrap_or(1),
            "transitions": field.owner.number("SELECT count(*) FROM wed.trace WHERE trw NOT LIKE '\\_%'"),
            "lost": field.count("steps < 12"), "doubled": field.count("steps > 12"), "stuck": stuck,
            "violations": found.len(), "worst_recovery_ms": worst.as_millis() as u64,
        });
        println!("{line}");
        if stuck > 0 || line["lost"] != 0 || line["doubled"] != 0 || !found.is_empty() {
            broken.push(format!("{line} {found:?}"));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
