//! Each kind of fault: what is broken for a moment, and how it ends.

use std::time::{Duration, Instant};

use rand::Rng;

use super::field::{Field, ServerKind, signal};
use super::installed::FAKE_TIME;
use super::proxy::Mode;
use crate::support::database::sample_component;
use crate::support::{Session, eventually, on, program};

macro_rules! kinds {
    ($($kind:ident),+ $(,)?) => {
        /// A kind of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Kind { $($kind),+ }

        impl Kind {
            pub(super) const ALL: &[Kind] = &[$(Kind::$kind),+];
        }
    };
}

kinds![
    HostKilled,
    HostStopped,
    HostDrained,
    HostsReplaced,
    SessionsKilled,
    ListenersKilled,
    NotificationsDoubled,
    NotificationsLost,
    ConnectionsCut,
    ConnectionsCutInside,
    ConnectionsCutAtMessage,
    ConnectionsDelayed,
    ConnectionsHeld,
    ConnectionsSilent,
    AnswersLost,
    PartitionHeals,
    BackendKilled,
    ServerStoppedAtOnce,
    ServerKilled,
    ServerStill,
    ServerAway,
    DiskFull,
    FsyncSlow,
    SessionsTaken,
    ReadOnly,
    LoginsRefused,
    CacheBroken,
    CompilerKilled,
    ClocksJump,
    TriggersChanged,
    AttributesAdded,
    TriggerDisabled,
    Rematched,
    Migrated,
    ComponentReplaced,
    ComponentRolledBack,
    Traps,
    Loops,
    MemoryHogs,
    RowsLocked,
    TableLocked,
    WorkersSlow,
    WorkersKilled,
    WorkersOverrun,
    Herd,
    Paused,
    PartitionMissing,
    ServerClockJumps,
    Midnight,
];

impl Kind {
    /// Those of a short round.
    pub(super) const SHORT: &[Kind] = &[
        Kind::SessionsKilled,
        Kind::ConnectionsCut,
        Kind::ConnectionsSilent,
        Kind::AnswersLost,
        Kind::ServerKilled,
        Kind::AttributesAdded,
    ];

    pub(super) fn name(self) -> String {
        let mut name = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.extend(letter.to_lowercase());
        }
        name
    }

    /// The server that it needs for itself, if it does.
    pub(super) fn server(self) -> Option<ServerKind> {
        use Kind::*;
        match self {
            DiskFull => Some(ServerKind::SmallDisk),
            ServerClockJumps | Midnight => Some(ServerKind::Clock),
            BackendKilled | ServerStoppedAtOnce | ServerKilled | ServerStill | ServerAway | FsyncSlow
            | SessionsTaken | LoginsRefused | ReadOnly => Some(ServerKind::Ordinary),
            _ => None,
        }
    }

    /// Returns false if this machine lacks a program that it needs.
    pub(super) fn is_possible(self) -> bool {
        self != Kind::ClocksJump || std::path::Path::new(FAKE_TIME).exists()
    }
}

/// Sessions of hosts.
const OF_HOSTS: &str = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'wedflow' \
    AND pid <> pg_backend_pid()";

impl Field {
    /// Makes a fault for about a second or two, and ends it.
    pub(super) fn fault(&mut self, kind: Kind) {
        match kind {
            Kind::HostKilled | Kind::HostStopped | Kind::HostDrained | Kind::HostsReplaced => self.fault_of_hosts(kind),
            Kind::SessionsKilled | Kind::ListenersKilled => self.fault_of_sessions(kind),
            Kind::NotificationsDoubled | Kind::NotificationsLost => self.fault_of_notifications(kind),
            Kind::ConnectionsCut
            | Kind::ConnectionsCutInside
            | Kind::ConnectionsCutAtMessage
            | Kind::ConnectionsDelayed
            | Kind::ConnectionsHeld
            | Kind::ConnectionsSilent
            | Kind::AnswersLost
            | Kind::PartitionHeals => self.fault_of_link(kind),
            Kind::BackendKilled
            | Kind::ServerStoppedAtOnce
            | Kind::ServerKilled
            | Kind::ServerStill
            | Kind::ServerAway
            | Kind::DiskFull
            | Kind::FsyncSlow => self.fault_of_server(kind),
            Kind::SessionsTaken | Kind::ReadOnly | Kind::LoginsRefused => self.refusal(kind),
            Kind::CacheBroken | Kind::CompilerKilled | Kind::ClocksJump => self.fault_of_machine(kind),
            Kind::TriggersChanged
            | Kind::AttributesAdded
            | Kind::TriggerDisabled
            | Kind::Rematched
            | Kind::Migrated
            | Kind::ComponentReplaced
            | Kind::ComponentRolledBack
            | Kind::Paused => self.change(kind),
            Kind::Traps => self.poison("trap"),
            Kind::Loops => self.poison("loop"),
            Kind::MemoryHogs => self.poison("memory-bomb"),
            Kind::RowsLocked | Kind::TableLocked => self.lock(kind),
            Kind::WorkersSlow | Kind::WorkersKilled | Kind::WorkersOverrun => self.work_beside(kind),
            Kind::Herd => self.herd(),
            Kind::PartitionMissing => self.partition_missing(),
            Kind::ServerClockJumps | Kind::Midnight => self.fault_of_clock(kind),
        }
    }

    fn fault_of_hosts(&mut self, kind: Kind) {
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
            _ => {
                for _ in 0..2 {
                    let old = self.hosts.remove(0);
                    self.start_hosts();
                    old.signal("-TERM");
                    self.pause(1_500);
                }
            }
        }
    }

    fn fault_of_sessions(&mut self, kind: Kind) {
        let which = match kind {
            Kind::ListenersKilled => "AND query ILIKE 'LISTEN%'",
            _ => "",
        };
        for _ in 0..6 {
            self.pause(200);
            self.owner.lines(&format!("SELECT pg_terminate_backend(pid) {OF_HOSTS} {which}"));
        }
    }

    /// Notifications arrive several times, or never; so do some of jobs that there are not.
    fn fault_of_notifications(&mut self, kind: Kind) {
        self.proxy.notify(match kind {
            Kind::NotificationsLost => 0,
            _ => 3,
        });
        for _ in 0..10 {
            self.pause(400);
            self.owner.lines("SELECT pg_notify('wed_jobs', n::text) FROM generate_series(1, 50) n");
        }
        self.proxy.notify(1);
    }

    fn fault_of_link(&mut self, kind: Kind) {
        match kind {
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
            Kind::ConnectionsCutAtMessage => {
                self.proxy.cut();
                self.proxy.cut_at_message(self.random.random_range(1..80));
                self.pause(3_000);
                self.proxy.cut_at_message(0);
            }
            Kind::ConnectionsDelayed => {
                self.proxy.delay(200);
                self.pause(3_000);
                self.proxy.delay(0);
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
            Kind::AnswersLost => {
                // What hosts send arrives; what the server answers is lost, and then the connection.
                for _ in 0..3 {
                    self.pause(300);
                    self.proxy.set(Mode::SwallowAnswers);
                    self.pause(400);
                    self.proxy.cut();
                    self.proxy.set(Mode::Pass);
                }
            }
            _ => {
                self.proxy.refuse(true);
                self.proxy.cut();
                let away = if self.random.random_ratio(1, 3) { 19_000 } else { 6_000 };
                std::thread::sleep(Duration::from_millis(away));
                self.proxy.refuse(false);
            }
        }
    }

    fn fault_of_server(&mut self, kind: Kind) {
        self.pause(600);
        let own = self.own.as_ref().expect("a server of its own");
        let pid = own.pid().expect("it runs");
        match kind {
            Kind::BackendKilled => {
                let backend = format!("SELECT pid {OF_HOSTS} AND state IS NOT NULL ORDER BY random() LIMIT 1");
                if let Some(backend) = self.owner.lines(&backend).pop() {
                    signal(backend.parse().expect("a number"), "-KILL");
                }
            }
            Kind::ServerStoppedAtOnce => {
                signal(pid, "-QUIT");
                std::thread::sleep(Duration::from_millis(800));
            }
            Kind::ServerKilled => {
                signal(pid, "-KILL");
                std::thread::sleep(Duration::from_millis(300));
            }
            Kind::ServerStill => {
                own.signal_all("-STOP");
                let still = if self.random.random_ratio(1, 3) { 19_000 } else { 4_000 };
                std::thread::sleep(Duration::from_millis(still));
                own.signal_all("-CONT");
            }
            Kind::ServerAway => {
                signal(pid, "-INT");
                std::thread::sleep(Duration::from_secs(8));
            }
            Kind::DiskFull => {
                let full = own.disk.as_ref().expect("a small disk").fill();
                std::thread::sleep(Duration::from_secs(4));
                std::fs::remove_file(full).expect("removed");
            }
            _ => {
                for delay in ["100000", "0"] {
                    self.owner.run(&format!("ALTER SYSTEM SET commit_delay = {delay}"));
                    self.owner.run("ALTER SYSTEM SET commit_siblings = 0");
                    self.owner.run("SELECT pg_reload_conf()");
                    self.pause(4_000);
                }
            }
        }
        self.own.as_ref().expect("a server").revive();
        self.heal();
    }

    /// The server lives, and lets nobody in or write.
    fn refusal(&mut self, kind: Kind) {
        let name = self.owner.line("SELECT quote_ident(current_database())");
        match kind {
            Kind::SessionsTaken => {
                let free = "SELECT current_setting('max_connections')::int - \
                 current_setting('superuser_reserved_connections')::int - count(*) FROM pg_stat_activity WHERE \
                 backend_type = 'client backend'";
                let free = self.owner.number(free);
                let url = self.flow.url.clone();
                let taken: Vec<_> =
                    (0..free).filter_map(|_| postgres::Client::connect(&url, postgres::NoTls).ok()).collect();
                self.owner.lines(&format!("SELECT pg_terminate_backend(pid) {OF_HOSTS}"));
                self.pause(4_000);
                drop(taken);
            }
            Kind::ReadOnly => {
                for _ in 0..3 {
                    self.owner.run(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
                    self.owner.lines(&format!("SELECT pg_terminate_backend(pid) {OF_HOSTS}"));
                    self.pause(900);
                    self.owner.run("SET default_transaction_read_only = off");
                    self.owner.run(&format!("ALTER DATABASE {name} RESET default_transaction_read_only"));
                    // Sessions that were made meanwhile keep the setting.
                    self.owner.lines(&format!("SELECT pg_terminate_backend(pid) {OF_HOSTS}"));
                    self.pause(300);
                }
            }
            _ => {
                // Only from another database can this one be closed.
                let url = self.database.url();
                let (server, _) = url.rsplit_once('/').expect("a database");
                let mut other = Session::open(&format!("{server}/postgres"));
                for _ in 0..3 {
                    other.run(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"));
                    self.owner.lines(&format!("SELECT pg_terminate_backend(pid) {OF_HOSTS}"));
                    self.pause(900);
                    other.run(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"));
                    self.pause(300);
                }
            }
        }
    }

    fn fault_of_machine(&mut self, kind: Kind) {
        match kind {
            Kind::CacheBroken => {
                let file = tempfile::NamedTempFile::new().expect("a file");
                let cache = file.path().join("cache").display().to_string();
                self.environment = vec![("WEDFLOW_CACHE", cache)];
                self.hosts.clear();
                self.start_hosts();
                self.pause(3_000);
                self.environment.clear();
            }
            Kind::CompilerKilled => {
                let cache = tempfile::tempdir().expect("a folder");
                self.environment = vec![("WEDFLOW_CACHE", cache.path().display().to_string())];
                self.hosts.clear();
                self.start_hosts();
                let until = Instant::now() + Duration::from_secs(3);
                while Instant::now() < until {
                    for host in &self.hosts {
                        kill_children(host.0.id());
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                self.environment.clear();
            }
            _ => {
                // The hosts' clocks say something else than the server's.
                let jump = ["+3h", "-3h"][self.random.random_range(0..2)];
                self.environment = vec![
                    ("LD_PRELOAD", FAKE_TIME.to_owned()),
                    ("FAKETIME", jump.to_owned()),
                    ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
                ];
                self.hosts.clear();
                self.start_hosts();
                self.pause(4_000);
                self.environment.clear();
                self.hosts.pop();
            }
        }
    }

    fn change(&mut self, kind: Kind) {
        let flow = self.flow.id;
        match kind {
            Kind::TriggersChanged => {
                for n in 0..4 {
                    self.pause(150);
                    self.flow.session().run(&format!("UPDATE wed_trig SET priority = {n} WHERE NOT cfinal"));
                }
            }
            Kind::AttributesAdded => {
                for _ in 0..3 {
                    self.pause(200);
                    let mut s = self.flow.session();
                    let n = s.number("SELECT count(*) FROM wed_attr");
                    s.run(&format!(
                        "BEGIN; INSERT INTO wed_attr (aname, atype, adv) VALUES ('v{n}', 'boolean', 'false'); \
                         UPDATE wed_trig SET cpred = cpred || ' AND NOT v{n}' WHERE NOT cfinal AND tgid = (SELECT \
                         min(tgid) FROM wed_trig WHERE NOT cfinal); COMMIT"
                    ));
                }
            }
            Kind::TriggerDisabled => self.disable_trigger(),
            Kind::Rematched => {
                for _ in 0..6 {
                    self.pause(200);
                    self.owner.lines(&format!("SELECT * FROM wed.rematch({flow}, false)"));
                }
            }
            Kind::Migrated => {
                for _ in 0..2 {
                    self.owner.run("UPDATE wed.function_source SET digest = 'of another program'");
                    program::run(program::wed(&self.database.url()).args(["migrate"])).done();
                    self.pause(300);
                }
            }
            Kind::ComponentReplaced => {
                self.flow.bind("tr_a1", "counters");
                self.database.upload("counters", sample_component("counters"));
            }
            Kind::ComponentRolledBack => self.roll_back_component(),
            _ => {
                for pause in [true, false] {
                    self.owner.line(&format!("SELECT wed.set_pause(1, {flow}, NULL, NULL, {pause}, 'chaos', 'why')"));
                    self.pause(1_000);
                }
            }
        }
    }

    /// Disables a trigger for a while and enables it again.
    fn disable_trigger(&mut self) {
        let flow = self.flow.id;
        // While another one keeps the instances going.
        for enabled in ["false", "true"] {
            self.flow.session().run(&format!("UPDATE wed_trig SET enabled = {enabled} WHERE trname = 'tr_a1'"));
            self.pause(800);
        }
        // Instances whose only step left was the disabled one are exceptions; what is enabled again leads on.
        self.owner.lines(&format!("SELECT * FROM wed.rematch({flow}, false)"));
    }

    /// Uploads another version with the same code and rolls back.
    fn roll_back_component(&mut self) {
        let mut other = sample_component("counters").to_vec();
        // A custom section makes it another version with the same code.
        let note = self.random.random::<u32>().to_le_bytes();
        other.extend([0, 7, 2, b'n', b'o']);
        other.extend(note);
        self.database.upload("counters", &other);
        self.pause(500);
        on(self.database.store.activate_component("default", "counters", None)).expect("rolled back");
    }

    /// Instances of another flow whose transition ends in a fault; ended by hand when they are exceptions.
    fn poison(&mut self, transition: &str) {
        let known = self.poisoned.iter().find(|(name, _)| name == transition);
        let poisoned = match known {
            Some((_, flow)) => flow.clone(),
            None => crate::host::flow_of_one(&self.database, transition, ", attempts, timeout=1, '500 ms'"),
        };
        let mut session = poisoned.session();
        session.run("INSERT INTO wed_flow (a1) SELECT 'new' FROM generate_series(1, 3)");
        let exceptions = "SELECT wid FROM wed_instance WHERE status = 'E'";
        for wid in eventually("the exceptions", || Some(session.lines(exceptions)).filter(|found| found.len() == 3)) {
            self.owner.line(&format!("SELECT wed.cancel_instance({}, {wid}, 'chaos', 'poison')", poisoned.id));
        }
        self.poisoned.retain(|(name, _)| name != transition);
        self.poisoned.push((transition.to_owned(), poisoned));
    }

    fn lock(&mut self, kind: Kind) {
        let mut session = self.flow.session();
        session.run(match kind {
            Kind::RowsLocked => "BEGIN; SELECT FROM wed_flow ORDER BY wid DESC LIMIT 5 FOR UPDATE",
            _ => "BEGIN; LOCK TABLE wed_flow IN EXCLUSIVE MODE",
        });
        self.pause(3_000);
        session.run("COMMIT");
    }

    /// External workers at jobs of the same instances: slow ones, dying ones, ones that take too long.
    fn work_beside(&mut self, kind: Kind) {
        let limit = |s: &mut Session, timeout: &str| {
            s.run(&format!("UPDATE wed_trig SET timeout = '{timeout}' WHERE NOT cfinal"));
        };
        if kind == Kind::WorkersOverrun {
            limit(&mut self.flow.session(), "1 s");
            self.pause(800);
        }
        let mut holding = Vec::new();
        for _ in 0..4 {
            let mut s = self.flow.session();
            s.run("BEGIN");
            let took = s.lines(
                "SELECT wid, tgid FROM job_pool WHERE lckid IS NULL AND pg_try_advisory_xact_lock(wid, tgid) LIMIT 1",
            );
            if let Some(job) = took.first() {
                let (wid, tgid) = job.split_once('|').expect("two columns");
                holding.push((s, wid.to_owned(), tgid.to_owned()));
            }
        }
        self.pause(if kind == Kind::WorkersOverrun { 4_000 } else { 2_000 });
        for (mut s, wid, tgid) in holding {
            if kind == Kind::WorkersKilled {
                let pid = s.number("SELECT pg_backend_pid()");
                self.owner.line(&format!("SELECT pg_terminate_backend({pid})"));
                continue;
            }
            // A worker that took too long has lost its session; that is no failure of the flow.
            let attribute = self.owner.line(&format!("SELECT substr(trname, 4) FROM wed.trigger WHERE tgid = {tgid}"));
            let update =
                format!("UPDATE wed_flow SET {attribute} = ({attribute}::integer + 1)::text WHERE wid = {wid}; COMMIT");
            let _ = s.batch_execute(&update);
        }
        if kind == Kind::WorkersOverrun {
            limit(&mut self.flow.session(), "1 minute");
        }
    }

    /// All that is pending is due in the same moment.
    fn herd(&mut self) {
        let insert = "INSERT INTO wed_flow (a1, a2, a3) SELECT '2', '4', '5' FROM generate_series(1, 1000)";
        let mut s = self.flow.session();
        s.run("UPDATE wed_trig SET delay = '2 s' WHERE NOT cfinal");
        s.run(insert);
        s.run("UPDATE wed_trig SET delay = '0' WHERE NOT cfinal");
        self.pause(500);
        // They begin nearly at their end.
        s.run("SELECT 1");
    }

    /// The history's partition of the day is gone in the midst of work, as when no host made it in time.
    fn partition_missing(&mut self) {
        self.pause(400);
        let today = self.owner.line("SELECT 'trace_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')");
        self.owner.run(&format!(
            "SET lock_timeout = '5s'; BEGIN; LOCK TABLE wed.trace; ALTER TABLE wed.trace DETACH PARTITION wed.{today}; \
             INSERT INTO wed.trace SELECT * FROM wed.{today}; DROP TABLE wed.{today}; COMMIT"
        ));
        self.pause(400);
        let is_there = format!("SELECT to_regclass('wed.{today}') IS NOT NULL");
        let owner = &mut self.owner;
        eventually("the partition is made again", || {
            // Whoever works may hold the lock that it takes.
            let _ = owner.tried("SELECT wed.roll_trace()");
            (owner.line(&is_there) == "t").then_some(())
        });
    }

    /// The server's clock jumps an hour ahead and some seconds back, or passes midnight.
    fn fault_of_clock(&mut self, kind: Kind) {
        let steps = match kind {
            Kind::ServerClockJumps => vec![3_600, -5],
            _ => {
                let to_midnight = "SELECT extract(epoch FROM date_trunc('day', now() AT TIME ZONE 'UTC') + interval \
                    '1 day' - now() AT TIME ZONE 'UTC')::bigint";
                vec![self.owner.number(to_midnight) - 2]
            }
        };
        for step in steps {
            self.pause(600);
            let own = self.own.as_mut().expect("a server of its own");
            let server = own.clock.as_mut().expect("a clock");
            server.set_ahead(step);
            std::thread::sleep(Duration::from_secs(4));
        }
        self.heal();
    }
}

/// Kills what a host has started: its compilers.
fn kill_children(host: u32) {
    let listed = std::fs::read_to_string(format!("/proc/{host}/task/{host}/children")).unwrap_or_default();
    for child in listed.split_whitespace().filter_map(|word| word.parse().ok()) {
        signal(child, "-KILL");
    }
}
