//! `wed doctor`: looks for what is missing or wrong on this machine and in its database, and says how to mend it.

use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;
use wedflow_authoring::{BuildError, Language, check_tools};
use wedflow_embedded_postgres::{Status, default_home};
use wedflow_store::{Schema, Store};

use crate::answer::{bytes, counted};
use crate::arguments::Arguments;
use crate::commands::backup;
use crate::database::{private_cluster, running, start_private};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Bytes below which a disk is called nearly full: the private Postgres and its journal take about as much.
const FREE_BYTES_MIN: u64 = 1 << 30;

/// Difference of clocks above which leases and tokens are judged wrongly.
const CLOCK_DIFFERENCE_MAX: Duration = Duration::from_secs(2);

/// Connections of a server below which a host, the API and a few sessions of flows are short of them.
const CONNECTIONS_MIN: i64 = 50;

/// Address at which `wed dev` listens.
const USUAL: &str = "127.0.0.1:8080";

/// Judgement of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Judgement {
    /// The check passed.
    Good,
    /// Missing, but only some need it.
    Missing,
    /// To be mended.
    Bad,
}

/// Finding of one check.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    judgement: Judgement,
    text: String,
    /// Advice on mending it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<String>,
    /// True if it was bad and `--fix` mended it.
    fixed: bool,
}

/// Findings so far.
struct Examination {
    fix: bool,
    findings: Vec<Finding>,
}

impl Examination {
    fn add(&mut self, check: &'static str, judgement: Judgement, text: String, mend: Option<&str>) {
        self.findings.push(Finding { check, judgement, text, mend: mend.map(str::to_owned), fixed: false });
    }

    fn good(&mut self, check: &'static str, text: impl Into<String>) {
        self.add(check, Judgement::Good, text.into(), None);
    }

    fn missing(&mut self, check: &'static str, text: impl Into<String>, mend: &str) {
        self.add(check, Judgement::Missing, text.into(), Some(mend));
    }

    fn bad(&mut self, check: &'static str, text: impl Into<String>, mend: &str) {
        self.add(check, Judgement::Bad, text.into(), Some(mend));
    }

    fn fixed(&mut self, check: &'static str, text: impl Into<String>) {
        self.good(check, text);
        if let Some(last) = self.findings.last_mut() {
            last.fixed = true;
        }
    }
}

/// Examines the machine and the database; an error tells the number of what is bad.
pub(crate) async fn run(arguments: &Arguments, fix: bool, terminal: &Terminal) -> Result<(), Problem> {
    let mut examination = Examination { fix, findings: Vec::new() };
    let spinner = terminal.spinner_if_slow("examining this machine");
    folders(&mut examination);
    languages(&mut examination);
    programs(&mut examination);
    port(&mut examination);
    contract(&mut examination);
    database(&mut examination, arguments, terminal).await;
    server(&mut examination).await;
    spinner.finish_and_clear();
    let findings = examination.findings;
    terminal.answer(&findings, || print(&findings, terminal));
    let bad = findings.iter().filter(|one| one.judgement == Judgement::Bad).count();
    match bad {
        0 => Ok(()),
        _ => Err(Problem::new(format!("{} to mend", counted(bad, "finding"))).hint(match fix {
            true => "Each finding says what mends it.",
            false => "Each finding says what mends it; `wed doctor --fix` does what is safe.",
        })),
    }
}

fn print(findings: &[Finding], terminal: &Terminal) {
    let rows = findings.iter().map(|one| {
        let word = match one.judgement {
            Judgement::Good if one.fixed => "fixed",
            Judgement::Good => "ok",
            Judgement::Missing => "-",
            Judgement::Bad => "BAD",
        };
        let text = match &one.mend {
            Some(mend) => format!("{}\n{mend}", one.text),
            None => one.text.clone(),
        };
        vec![one.check.to_owned(), word.to_owned(), text]
    });
    terminal.table(&["check", "", "finding"], rows);
}

/// Home and cache: theirs who runs this, private, with room.
fn folders(examination: &mut Examination) {
    let home = match default_home() {
        Ok(home) => home,
        Err(error) => {
            examination.bad("home", error.to_string(), "Set HOME or WEDFLOW_HOME.");
            return;
        }
    };
    folder(examination, "home", &home, 0o022);
    match wedflow_authoring::user_cache() {
        Some(cache) => folder(examination, "cache", &cache, 0o077),
        None => examination.missing(
            "cache",
            "compiled components are not kept",
            "Set WEDFLOW_CACHE to a folder, or unset it.",
        ),
    }
}

/// A folder of ours. `closed`: permissions that nobody else may have.
fn folder(examination: &mut Examination, check: &'static str, path: &Path, closed: u32) {
    let shown = path.display();
    let Ok(found) = std::fs::metadata(path) else {
        let parent = path.ancestors().find(|one| one.is_dir());
        match parent {
            Some(parent) => room(examination, check, path, parent),
            None => examination.bad(check, format!("{shown} cannot be made"), "Name another one."),
        }
        return;
    };
    let user = rustix::process::geteuid();
    if user.as_raw() != found.uid() && !user.is_root() {
        let text = format!("{shown} belongs to user {}", found.uid());
        examination.bad(check, text, "Run wed as that user, or name a folder of your own.");
        return;
    }
    let mode = found.mode() & 0o777;
    if mode & closed != 0 {
        let text = format!("{shown} has mode {mode:o}: others may reach into it");
        let closer = std::fs::Permissions::from_mode(mode & !closed);
        if examination.fix && std::fs::set_permissions(path, closer).is_ok() {
            examination.fixed(check, format!("{shown} has mode {:o} now", mode & !closed));
        } else {
            let mend = format!("Run `chmod {:o} {shown}`.", mode & !closed);
            examination.bad(check, text, &mend);
        }
        return;
    }
    room(examination, check, path, path);
}

/// Room on the disk of a folder.
fn room(examination: &mut Examination, check: &'static str, path: &Path, there: &Path) {
    match rustix::fs::statvfs(there).map(|disk| disk.f_bavail * disk.f_frsize) {
        Ok(free) if free < FREE_BYTES_MIN => examination.bad(
            check,
            format!("{}: {} free on its disk", path.display(), bytes(free)),
            "Make room, or name a folder on another disk (WEDFLOW_HOME, WEDFLOW_CACHE).",
        ),
        Ok(free) => {
            examination.good(check, format!("{}: {} free", path.display(), bytes(free)));
        }
        Err(error) => examination.bad(check, format!("{}: {error}", path.display()), "Look at the disk."),
    }
}

/// The tools of each language in which transitions are written.
fn languages(examination: &mut Examination) {
    for language in Language::ALL {
        let check = language.name();
        match check_tools(language, examination.fix) {
            Ok(()) => examination.good(check, format!("components in {language} can be built")),
            Err(BuildError::Missing { what, how, .. }) => {
                examination.missing(check, format!("{what} is missing"), &how);
            }
            Err(error) => examination.bad(check, error.to_string(), "Mend the tool."),
        }
    }
}

/// First line that a program prints of its version.
fn version_of(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(str::to_owned)
}

/// Programs that some commands of pages and `wed` call.
fn programs(examination: &mut Examination) {
    match version_of("psql") {
        Some(version) => examination.good("psql", version),
        None => examination.missing(
            "psql",
            "psql is missing; flows are written to by SQL with it".to_owned(),
            "Run `apt-get install postgresql-client`, of the server's version or a later one.",
        ),
    }
}

/// The program that `wed db backup` calls: of the server's version or a later one.
fn backup_tool(examination: &mut Examination, server_major: u32) {
    let check = "pg_dump";
    match backup::find(check, server_major) {
        Ok(path) => examination.good(check, format!("`wed db backup` calls {}", path.display())),
        Err(problem) => {
            let hint = problem.hint.clone().unwrap_or_default();
            examination.missing(check, problem.message.clone(), &hint);
        }
    }
}

/// The port of the API.
fn port(examination: &mut Examination) {
    let Ok(address) = USUAL.parse::<SocketAddr>() else {
        return;
    };
    match TcpListener::bind(address) {
        Ok(_) => examination.good("port", format!("{USUAL} is free")),
        Err(_) => examination.missing(
            "port",
            format!("{USUAL} is taken"),
            "`wed dev` then takes a free one; `wed serve --listen 127.0.0.1:PORT` says which.",
        ),
    }
}

/// The contract of a project in the working folder.
fn contract(examination: &mut Examination) {
    let folder = PathBuf::from(".");
    let Ok(project) = wedflow_authoring::Project::open(&folder) else {
        return;
    };
    match wedflow_authoring::contract_is_current(&project) {
        Some(true) => examination.good("contract", "the project's contract is this wed's"),
        Some(false) => examination.bad(
            "contract",
            "the project's contract (vendor/wedflow/wit) differs from this wed's",
            "Make a new project with `wed new` and take its folder `vendor`.",
        ),
        None => {}
    }
}

/// The database that is meant.
async fn database(examination: &mut Examination, arguments: &Arguments, terminal: &Terminal) {
    let given = arguments.database_url.as_deref().filter(|url| !url.is_empty());
    let url = match given {
        Some(url) => Some(url.to_owned()),
        None => private(examination, terminal).await,
    };
    let Some(url) = url else {
        return backup_tool(examination, 0);
    };
    let store = match Store::connect(&url, 2).await {
        Ok(store) => store,
        Err(error) => {
            let problem = Problem::from(error);
            let hint = problem.hint.clone().unwrap_or_default();
            examination.bad("database", problem.message.clone(), &hint);
            return backup_tool(examination, 0);
        }
    };
    if let Err(error) = settings(examination, &store).await {
        examination.bad("database", error.to_string(), "Look at the server's log.");
        return;
    }
    schema(examination, &store, given.is_none()).await;
}

/// The private Postgres; its URL if it runs.
async fn private(examination: &mut Examination, terminal: &Terminal) -> Option<String> {
    let status = private_cluster().and_then(|cluster| cluster.status().map_err(Problem::from));
    match status {
        Ok(Status::Running { port, .. }) => {
            examination.good("postgres", format!("the private Postgres runs at port {port}"));
        }
        Ok(Status::NotCreated) => {
            let text = "the private Postgres is not installed yet";
            examination.missing("postgres", text, "The first command that needs it installs it.");
        }
        Ok(_) if examination.fix => match start_private(terminal).await {
            Ok(_) => examination.fixed("postgres", "the private Postgres is started"),
            Err(problem) => {
                let hint = problem.hint.clone().unwrap_or_default();
                examination.bad("postgres", problem.message.clone(), &hint);
            }
        },
        Ok(_) => {
            let text = "the private Postgres does not run";
            examination.missing("postgres", text, "`wed db start`, or any command that needs it.");
        }
        Err(problem) => {
            let hint = problem.hint.clone().unwrap_or_default();
            examination.bad("postgres", problem.message.clone(), &hint);
        }
    }
    running()
}

/// The server's version, settings and clock.
async fn settings(examination: &mut Examination, store: &Store) -> Result<(), wedflow_store::StoreError> {
    let server = store.server_settings().await?;
    examination.good("database", format!("Postgres {}", server.version));
    let major = server.version.split(|c: char| !c.is_ascii_digit()).next();
    backup_tool(examination, major.and_then(|major| major.parse().ok()).unwrap_or_default());
    if server.connections_max < CONNECTIONS_MIN {
        let text = format!("max_connections is {}", server.connections_max);
        examination.bad("settings", text, "Set max_connections to 100 or more and restart the server.");
    }
    for (name, on, danger) in [
        ("fsync", server.fsync, "a crash may lose the database"),
        ("full_page_writes", server.full_page_writes, "a crash may damage the database"),
        ("synchronous_commit", server.synchronous_commit, "a crash may lose the last commits"),
    ] {
        if !on {
            let mend = format!("Set {name} to on, unless the data are not worth it.");
            examination.bad("settings", format!("{name} is off: {danger}"), &mend);
        }
    }
    if !server.bounds_files {
        let mend = format!(
            "As a superuser: GRANT SET ON PARAMETER temp_file_limit TO {}; then SELECT wed.bound_files().",
            server.role
        );
        examination.missing(
            "settings",
            "a flow's session may fill the disk with temporary files: this role may not bound them",
            &mend,
        );
    }
    let here = jiff::Timestamp::now().as_duration().as_secs_f64();
    let difference = (here - server.epoch_s).abs();
    match difference > CLOCK_DIFFERENCE_MAX.as_secs_f64() {
        true => examination.bad(
            "clock",
            format!("this machine's clock is {difference:.1} s off the server's"),
            "Let both machines follow one clock (NTP).",
        ),
        false => examination.good("clock", "this machine and the server agree"),
    }
    Ok(())
}

/// The schema, and what `wed status` finds.
async fn schema(examination: &mut Examination, store: &Store, own_database: bool) {
    let state = match store.schema().await {
        Ok(state) => state,
        Err(error) => {
            examination.bad("schema", error.to_string(), "Look at the server's log.");
            return;
        }
    };
    match state {
        Schema::Current => examination.good("schema", "that of this wed"),
        Schema::Other { found, own } if found > own => {
            let text = format!("the database has version {found}, this wed {own}");
            examination.bad("schema", text, "Use the newer wed.");
        }
        Schema::Absent | Schema::Other { .. } if own_database && examination.fix => match store.migrate().await {
            Ok(()) => examination.fixed("schema", "that of this wed now"),
            Err(error) => examination.bad("schema", error.to_string(), "Run `wed migrate`."),
        },
        Schema::Absent => {
            examination.missing("schema", "Wedflow is not in the database", "Run `wed migrate`.");
        }
        Schema::Other { found, own } => {
            let text = format!("the database has version {found}, this wed {own}, or other functions");
            examination.missing("schema", text, "Run `wed migrate`; hosts of older versions then end.");
        }
    }
    if state != Schema::Current {
        return;
    }
    let Ok(installation) = store.installation().await else {
        return;
    };
    for problem in installation["problems"].as_array().into_iter().flatten() {
        let text = |key: &str| problem[key].as_str().unwrap_or_default().to_owned();
        // A machine on which nobody works needs no host.
        match text("code") == "no_host" {
            true => examination.missing("status", text("text"), &text("hint")),
            false => examination.bad("status", text("text"), &text("hint")),
        }
    }
}

/// The server that WEDFLOW_SERVER names.
async fn server(examination: &mut Examination) {
    let Some(given) = std::env::var("WEDFLOW_SERVER").ok().filter(|url| !url.is_empty()) else {
        return;
    };
    let Ok(url) = url::Url::parse(&given) else {
        examination.bad("server", format!("WEDFLOW_SERVER is no URL: {given}"), "It begins with http://.");
        return;
    };
    let place = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(80));
    let reached = tokio::time::timeout(Duration::from_secs(3), tokio::net::TcpStream::connect(place));
    match reached.await {
        Ok(Ok(_)) => examination.good("server", format!("{given} is reached")),
        _ => examination.bad("server", format!("{given} is not reached"), "Check the address and the network."),
    }
}
