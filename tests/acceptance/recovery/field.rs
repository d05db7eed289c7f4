//! The place of faults: a database, hosts in processes of their own, the link between, and running instances.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use wedflow_embedded_postgres::{Postgres, PostgresSettings, Status, TemporaryPostgres};

use super::installed::InstalledServer;
use super::proxy::Proxy;
use crate::support::database::sample_component;
use crate::support::{Database, Flow, Session, eventually, on, program, repository};

/// Instances that are started before a fault and after it.
const STARTED: usize = 30;
/// Jobs that are pending, at the least, while a fault lasts.
const JOBS_UNDER_LOAD: usize = 40;
/// Most time until all is done after a fault: a lease, and what is left.
const RECOVERY_MAX: Duration = Duration::from_secs(60);

/// A process, killed with the value.
pub(super) struct Process(pub(super) Child);

impl Process {
    pub(super) fn start(command: &mut Command) -> Self {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Process(quiet.spawn().expect("a process"))
    }

    pub(super) fn signal(&self, name: &str) {
        signal(self.0.id(), name);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a signal to a process that this test started, or that its server did.
pub(super) fn signal(pid: u32, name: &str) {
    // One that has ended in the same moment hears nothing.
    let _ = Command::new("kill").args([name, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// A folder of its own in memory, so small that it can be filled.
pub(super) struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts one; none where this is not allowed.
    fn mount(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m,mode=755"), "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then_some(SmallDisk(folder))
    }

    /// Fills it to the last byte; the file that does.
    pub(super) fn fill(&self) -> std::path::PathBuf {
        let file = self.0.path().join("filling");
        if let Ok(mut full) = std::fs::File::create(&file) {
            let zeros = vec![0_u8; 1 << 16];
            while std::io::Write::write_all(&mut full, &zeros).is_ok() {}
        }
        file
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// Kind of a server that a fault needs for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerKind {
    Ordinary,
    /// On a disk that can be filled.
    SmallDisk,
    /// With a clock that can be set.
    Clock,
}

/// A server that a fault may stop, kill, starve or mislead.
pub(super) struct OwnServer {
    /// Absent for one with a clock.
    cluster: Option<Postgres>,
    url: String,
    _temporary: Option<TemporaryPostgres>,
    pub(super) disk: Option<SmallDisk>,
    pub(super) clock: Option<InstalledServer>,
}

impl OwnServer {
    /// Starts one. None where this machine cannot.
    pub(super) fn start(kind: ServerKind) -> Option<Self> {
        if kind == ServerKind::Clock {
            let server = InstalledServer::start(true)?;
            return Some(OwnServer {
                cluster: None,
                url: format!("{}/postgres", server.url()),
                _temporary: None,
                disk: None,
                clock: Some(server),
            });
        }
        if kind == ServerKind::SmallDisk {
            let disk = SmallDisk::mount(260)?;
            let mut settings = PostgresSettings::new(disk.0.path().join("home"));
            settings.binaries = wedflow_embedded_postgres::default_home().ok()?.join("postgres");
            settings.account = PostgresSettings::from_environment().ok()?.account;
            settings.configuration =
                vec![("max_wal_size".to_owned(), "64MB".to_owned()), ("min_wal_size".to_owned(), "32MB".to_owned())];
            let cluster = Postgres::open(settings).ok()?;
            let connection = on(cluster.ensure_started(|_| {})).ok()?;
            return Some(OwnServer {
                cluster: Some(cluster),
                url: connection.url(),
                _temporary: None,
                disk: Some(disk),
                clock: None,
            });
        }
        let temporary = on(Postgres::temporary()).ok()?;
        Some(OwnServer {
            cluster: Some(temporary.cluster().clone()),
            url: temporary.url(),
            _temporary: Some(temporary),
            disk: None,
            clock: None,
        })
    }

    /// Returns its URL without a database.
    pub(super) fn server(&self) -> &str {
        let (server, _) = self.url.rsplit_once('/').expect("a URL with a database");
        server
    }

    /// The postmaster's process.
    pub(super) fn pid(&self) -> Option<u32> {
        match self.cluster.as_ref()?.status().ok()? {
            Status::Running { pid, .. } | Status::Changing { pid } => u32::try_from(pid).ok(),
            _ => None,
        }
    }

    /// Sends a signal to the postmaster and all that it started.
    pub(super) fn signal_all(&self, name: &str) {
        let Some(pid) = self.pid() else { return };
        let children = Command::new("ps")
            .args(["-o", "pid=", "--ppid", &pid.to_string()])
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
            .unwrap_or_default();
        for child in children.split_whitespace().filter_map(|word| word.parse().ok()) {
            signal(child, name);
        }
        signal(pid, name);
    }

    /// Starts it anew, on the same port, where it has ended.
    pub(super) fn revive(&self) {
        if let Some(cluster) = &self.cluster {
            eventually("the server", || on(cluster.ensure_started(|_| {})).ok());
        }
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        if let (Some(cluster), Some(_)) = (&self.cluster, &self.disk) {
            let _ = on(cluster.stop());
        }
    }
}

/// Instances that are started for as long as the value lives, so that hosts never run out of work.
pub(super) struct Load {
    stops: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Load {
    /// Starts instances of the counters over a URL of the flow's role.
    pub(super) fn start(url: String) -> Self {
        // Three jobs for each instance at first, one after another later.
        let insert = format!(
            "INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, ({JOBS_UNDER_LOAD} - (SELECT count(*) \
             FROM (SELECT FROM job_pool LIMIT {JOBS_UNDER_LOAD}) p)) / 2)"
        );
        let stops = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stops);
        let thread = std::thread::spawn(move || {
            let mut session: Option<postgres::Client> = None;
            while !stopped.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(50));
                // The fault may have ended its session, or refuse it one.
                let connected = session.take().or_else(|| postgres::Client::connect(&url, postgres::NoTls).ok());
                session = connected.and_then(|mut client| {
                    let is_done = client.batch_execute(&insert).is_ok();
                    is_done.then_some(client)
                });
            }
        });
        let thread = Some(thread);
        Load { stops, thread }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Release);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// All of it.
pub(super) struct Field {
    pub(super) hosts: Vec<Process>,
    pub(super) owner: Session,
    pub(super) flow: Flow,
    pub(super) proxy: Proxy,
    pub(super) random: StdRng,
    pub(super) poisoned: Vec<(String, Flow)>,
    /// Folders and variables of the hosts.
    pub(super) environment: Vec<(&'static str, String)>,
    pub(super) database: Arc<Database>,
    pub(super) own: Option<OwnServer>,
}

impl Field {
    /// Two hosts on a database; with `own` on that server.
    pub(super) fn new(own: Option<OwnServer>) -> Self {
        let database = match &own {
            Some(server) => Database::at(server.server()),
            None => Database::new(),
        };
        database.upload("counters", sample_component("counters"));
        let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
        let url = database.url();
        let (_, place) = url.rsplit_once('@').expect("a user");
        let (place, _) = place.split_once('/').expect("a database");
        let proxy = Proxy::before_postgres(place.parse().expect("an address"));
        let mut field = Field {
            owner: database.owner(),
            flow,
            proxy,
            hosts: Vec::new(),
            random: StdRng::seed_from_u64(0),
            poisoned: Vec::new(),
            environment: Vec::new(),
            database,
            own,
        };
        field.start_hosts();
        field
    }

    /// A host's URL, which leads through the proxy.
    pub(super) fn url(&self) -> String {
        let url = self.database.url();
        let (before, rest) = url.rsplit_once('@').expect("a user");
        let (_, name) = rest.split_once('/').expect("a database");
        format!("{before}@127.0.0.1:{}/{name}", self.proxy.port)
    }

    /// Starts hosts until there are two. One that could not enter ends, and whoever runs it starts it anew.
    pub(super) fn start_hosts(&mut self) {
        self.hosts.retain_mut(|host| matches!(host.0.try_wait(), Ok(None)));
        while self.hosts.len() < 2 {
            let mut serve: Command = program::wed(&self.url());
            serve.args(["serve", "--lanes", "1"]);
            serve.envs(self.environment.iter().map(|(name, value)| (*name, value)));
            self.hosts.push(Process::start(&mut serve));
        }
    }

    /// Connects the owner anew, where its session has ended.
    pub(super) fn heal(&mut self) {
        if !self.owner.is_closed() && self.owner.simple_query("SELECT 1").is_ok() {
            return;
        }
        let url = self.database.url();
        eventually("a session", || postgres::Client::connect(&url, postgres::NoTls).ok());
        self.owner = self.database.owner();
    }

    /// Begins a run: what a fault chooses follows from the seed.
    pub(super) fn begin(&mut self, seed: u64) {
        self.random = StdRng::seed_from_u64(seed);
        self.wait_for_hosts();
        self.start_instances();
    }

    /// Keeps hosts at work until the value is dropped.
    pub(super) fn load(&self) -> Load {
        Load::start(self.flow.url.clone())
    }

    pub(super) fn start_instances(&mut self) {
        let url = self.flow.url.clone();
        let insert = format!("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, {STARTED})");
        // A server that comes back may end sessions once more.
        eventually("instances are started", || {
            let mut client = postgres::Client::connect(&url, postgres::NoTls).ok()?;
            client.batch_execute(&insert).ok()
        });
    }

    pub(super) fn pause(&mut self, most_ms: u64) {
        let wait = self.random.random_range(most_ms / 4..most_ms);
        std::thread::sleep(Duration::from_millis(wait));
    }

    /// Waits until both hosts are at work.
    fn wait_for_hosts(&mut self) {
        eventually("the hosts are entered", || {
            self.start_hosts();
            self.heal();
            let live = "SELECT count(*) FROM wed.host WHERE expires_at > clock_timestamp()";
            (self.owner.number(live) >= 2).then_some(())
        });
    }

    /// Waits until every instance is final; how long it took, or none where something did not end.
    pub(super) fn recovery(&mut self) -> Option<Duration> {
        let begun = Instant::now();
        while begun.elapsed() < RECOVERY_MAX {
            self.start_hosts();
            self.heal();
            let left = "SELECT count(*) FROM wed.instance WHERE status <> 'F'";
            if self.owner.number(left) == 0 {
                return Some(begun.elapsed());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }

    /// Describes what has not ended: hosts with the rest of their leases, jobs, and sessions with open transactions.
    pub(super) fn remains(&mut self) -> String {
        self.heal();
        let mut lines = Vec::new();
        for look in [
            "SELECT 'host', host_id, expires_at - clock_timestamp() FROM wed.host",
            "SELECT 'jobs', count(*), status, j.host_id, trname, min(attempt), min(due) - clock_timestamp(), \
             min(wed.waiting_reason(j.flow_id, j.wid, j.tgid)) FROM wed.instance i LEFT JOIN wed.job j \
             USING (flow_id, wid) WHERE status <> 'F' GROUP BY status, j.host_id, trname",
            "SELECT 'session', pid, application_name, state, wait_event, clock_timestamp() - xact_start, left(query, 90) \
             FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
             AND xact_start IS NOT NULL",
        ] {
            lines.extend(self.owner.lines(look));
        }
        lines.join("\n")
    }

    /// Counts instances with more or fewer steps than they are to have.
    pub(super) fn count(&mut self, more: &str) -> i64 {
        self.owner.number(&format!(
            "SELECT count(*) FROM (SELECT count(*) FILTER (WHERE trw NOT LIKE '\\_%') AS steps FROM wed.trace t \
             WHERE flow_id = {} GROUP BY wid HAVING bool_and(trw IS NULL OR trw <> '_CANCEL')) i WHERE {more}",
            self.flow.id
        ))
    }
}
