//! A cluster's life: made, reached, stopped, started again, killed, recovered, thrown away.

use std::io::BufRead;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection, Row};
use wedflow_embedded_postgres::{
    Connection, Postgres, PostgresError, PostgresSettings, Progress, Status, default_home,
};

/// A cluster in a fresh folder that the server's account can reach, over the shared binaries.
fn cluster() -> (tempfile::TempDir, Postgres) {
    let home = tempfile::tempdir().expect("folder");
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755)).expect("mode");
    let cluster = Postgres::open(of_its_own(home.path())).expect("cluster");
    (home, cluster)
}

fn settings(home: &Path) -> PostgresSettings {
    let mut settings = PostgresSettings::new(home);
    settings.binaries = default_home().expect("home").join("postgres");
    settings
}

/// Settings with a port that no other test takes while this one's server is down.
fn of_its_own(home: &Path) -> PostgresSettings {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let mut settings = settings(home);
    settings.port = Some(listener.local_addr().expect("its address").port());
    settings
}

async fn connect(connection: &Connection) -> PgConnection {
    PgConnection::connect(&connection.url()).await.expect("connection")
}

async fn ask(connection: &Connection, sql: &'static str) -> String {
    let mut client = connect(connection).await;
    let row = sqlx::query(sql).fetch_one(&mut client).await.expect(sql);
    row.get(0)
}

async fn tell(connection: &Connection, sql: &'static str) {
    let mut client = connect(connection).await;
    sqlx::raw_sql(sql).execute(&mut client).await.expect(sql);
}

fn pid(cluster: &Postgres) -> i32 {
    match cluster.status().expect("status") {
        Status::Running { pid, .. } => pid,
        other => panic!("not running: {other:?}"),
    }
}

/// Kills without mercy, and waits until the process is gone or a zombie.
fn kill(pid: i32) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.expect("kill").success());
    let stat = format!("/proc/{pid}/stat");
    let begun = Instant::now();
    while std::fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z")) {
        assert!(begun.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn data_survives_a_restart() {
    let (home, cluster) = cluster();
    assert_eq!(cluster.status().expect("status"), Status::NotCreated);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let first = cluster.ensure_started(move |step| sink.lock().expect("lock").push(step)).await.expect("start");
    {
        let seen = seen.lock().expect("lock");
        assert!(seen.contains(&Progress::Initialising), "{seen:?}");
        assert_eq!(seen.last(), Some(&Progress::Ready { port: first.port }));
    }
    tell(&first, "create table kept (n text); insert into kept values ('here')").await;

    // Idempotent: the same server answers.
    let before = pid(&cluster);
    let again = cluster.ensure_started(|_| {}).await.expect("again");
    assert_eq!((again.clone(), pid(&cluster)), (first.clone(), before));

    assert!(cluster.stop().await.expect("stop"));
    assert!(!cluster.stop().await.expect("stop again"));
    assert_eq!(cluster.status().expect("status"), Status::Stopped);
    assert_eq!(cluster.connection().expect("connection"), None);

    // Another value for the same home, as in another process.
    let other = Postgres::open(settings(home.path())).expect("cluster");
    let second = other.ensure_started(|_| {}).await.expect("restart");
    assert_eq!(second, first);
    assert_eq!(ask(&second, "select n from kept").await, "here");
    other.stop().await.expect("stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_enters_without_the_password() {
    let (_home, cluster) = cluster();
    let connection = cluster.ensure_started(|_| {}).await.expect("start");
    let mut wrong = connection.clone();
    wrong.password = "guess".into();
    let refused = PgConnection::connect(&wrong.url()).await;
    assert!(refused.expect_err("refused").to_string().contains("password"));
    let mode = std::fs::metadata(cluster.password_file()).expect("file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    cluster.stop().await.expect("stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_has_the_settings_of_the_product() {
    let (_home, cluster) = cluster();
    let connection = cluster.ensure_started(|_| {}).await.expect("start");
    for (setting, value) in [
        ("select current_setting('fsync')", "on"),
        ("select current_setting('jit')", "off"),
        ("select current_setting('max_connections')", "200"),
        ("select current_setting('shared_buffers')", "256MB"),
        ("select current_setting('listen_addresses')", "127.0.0.1"),
        ("select current_setting('unix_socket_directories')", ""),
        ("select current_setting('TimeZone')", "UTC"),
        ("select split_part(version(), ' ', 2)", "18.6"),
        ("select datcollate from pg_database where datname = 'postgres'", "C"),
        ("select upper('é')", "É"),
    ] {
        if setting.contains("version") && wedflow_embedded_postgres::version() != Some("18.6.0") {
            continue;
        }
        assert_eq!(ask(&connection, setting).await, value, "{setting}");
    }
    cluster.stop().await.expect("stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_is_recovered() {
    let (_home, cluster) = cluster();
    let connection = cluster.ensure_started(|_| {}).await.expect("start");
    tell(&connection, "create table kept (n text); insert into kept values ('here')").await;
    for _ in 0..3 {
        // A session in the middle of something holds the shared memory for a while.
        let busy = connect(&connection).await;
        let sleeping = tokio::spawn(async move {
            let mut busy = busy;
            let _ = sqlx::raw_sql("select pg_sleep(30)").execute(&mut busy).await;
        });
        let killed = pid(&cluster);
        kill(killed);
        assert!(!cluster.is_running().expect("status"));
        let again = cluster.ensure_started(|_| {}).await.expect("recovery");
        assert_eq!(again, connection);
        assert_ne!(pid(&cluster), killed);
        assert_eq!(ask(&again, "select n from kept").await, "here");
        sleeping.abort();
    }

    // The process id of the dead server now belongs to someone else: this test.
    kill(pid(&cluster));
    let file = cluster.settings().home.join("server/data/postmaster.pid");
    let text = std::fs::read_to_string(&file).expect("pid file");
    let (_, rest) = text.split_once('\n').expect("lines");
    // The file keeps its owner when it is overwritten in place.
    std::fs::write(&file, format!("{}\n{rest}", std::process::id())).expect("write");
    assert_eq!(cluster.status().expect("status"), Status::Stopped);
    let again = cluster.ensure_started(|_| {}).await.expect("recovery");
    assert_eq!(ask(&again, "select n from kept").await, "here");
    cluster.stop().await.expect("stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_callers_get_one_server() {
    let (home, cluster) = cluster();
    let callers: Vec<_> = (0..6)
        .map(|_| {
            let cluster = Postgres::open(settings(home.path())).expect("cluster");
            tokio::spawn(async move { cluster.ensure_started(|_| {}).await })
        })
        .collect();
    let mut connections = Vec::new();
    for caller in callers {
        connections.push(caller.await.expect("task").expect("start"));
    }
    assert!(connections.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(ask(&connections[0], "select 'yes'").await, "yes");
    cluster.stop().await.expect("stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_port_is_named() {
    let (_home, cluster) = cluster();
    let connection = cluster.ensure_started(|_| {}).await.expect("start");
    cluster.stop().await.expect("stop");
    let thief = std::net::TcpListener::bind(("127.0.0.1", connection.port)).expect("bind");
    let error = cluster.ensure_started(|_| {}).await.expect_err("taken");
    assert!(matches!(error, PostgresError::PortTaken { port } if port == connection.port), "{error}");
    drop(thief);
    assert_eq!(cluster.ensure_started(|_| {}).await.expect("start"), connection);
    cluster.stop().await.expect("stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_password_a_foreign_version_and_a_bad_setting_are_named() {
    let (home, cluster) = cluster();
    cluster.ensure_started(|_| {}).await.expect("start");
    let password = std::fs::read(cluster.password_file()).expect("password");
    std::fs::remove_file(cluster.password_file()).expect("remove");
    let error = cluster.ensure_started(|_| {}).await.expect_err("no password");
    assert!(matches!(error, PostgresError::NoPassword { .. }), "{error}");
    std::fs::write(cluster.password_file(), password).expect("write");
    cluster.stop().await.expect("stop");

    let mut bad = settings(home.path());
    bad.configuration = vec![("shared_buffers".into(), "lots".into())];
    let error = Postgres::open(bad).expect("cluster").ensure_started(|_| {}).await;
    let text = error.expect_err("bad setting").to_string();
    assert!(text.contains("shared_buffers"), "{text}");

    let version = home.path().join("server/data/PG_VERSION");
    std::fs::write(&version, "13\n").expect("write");
    let error = cluster.ensure_started(|_| {}).await.expect_err("version");
    assert!(matches!(&error, PostgresError::OtherVersion { found, .. } if found == "13"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_temporary_cluster_is_gone_after_drop() {
    let temporary = Postgres::temporary().await.expect("start");
    let connection = temporary.connection().clone();
    assert_eq!(ask(&connection, "select 'yes'").await, "yes");
    let home = temporary.cluster().settings().home.clone();
    let server = pid(temporary.cluster());
    tokio::task::spawn_blocking(move || drop(temporary)).await.expect("drop");
    assert!(!home.exists());
    assert!(PgConnection::connect(&connection.url()).await.is_err());
    let left = std::fs::read_to_string(format!("/proc/{server}/stat"));
    assert!(!left.is_ok_and(|text| !text.contains(") Z")));
}

/// Not a test: what `the_server_outlives_its_starter_and_holds_nothing_of_it` runs in a process of
/// its own, when told where.
#[test]
fn starter() {
    let Ok(home) = std::env::var("WEDFLOW_TEST_STARTER_HOME") else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let cluster = Postgres::open(settings(Path::new(&home))).expect("cluster");
    runtime.block_on(cluster.ensure_started(|_| {})).expect("start");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_outlives_its_starter_and_holds_nothing_of_it() {
    let (home, cluster) = cluster();
    let marker = home.path().join("inherited");
    // A shell with a stray open file and pipes for its output, as a build tool has them.
    let mut starter = Command::new("sh")
        .arg("-c")
        .arg(format!("exec 7>'{}'; exec \"$0\" --exact starter", marker.display()))
        .arg(std::env::current_exe().expect("path"))
        .env("WEDFLOW_TEST_STARTER_HOME", home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starter");
    let pipe = starter.stdout.take().expect("pipe");
    let read = tokio::task::spawn_blocking(move || std::io::read_to_string(pipe));
    // Ends only when nobody holds the other end any more.
    let output = tokio::time::timeout(Duration::from_secs(60), read).await;
    let output = output.expect("the pipe was closed").expect("task").expect("read");
    assert!(starter.wait().expect("wait").success(), "{output}");

    let server = pid(&cluster);
    let connection = cluster.connection().expect("status").expect("running");
    assert_eq!(ask(&connection, "select 'yes'").await, "yes");
    if let Ok(entries) = std::fs::read_dir(format!("/proc/{server}/fd")) {
        let open: Vec<_> = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).collect();
        assert!(!open.contains(&marker), "{open:?}");
    }
    if let Ok(stat) = std::fs::read_to_string(format!("/proc/{server}/stat")) {
        // After the name: state, parent, group, session.
        let (_, rest) = stat.rsplit_once(") ").expect("stat");
        assert_eq!(rest.split(' ').nth(3), Some(server.to_string().as_str()));
    }
    cluster.stop().await.expect("stop");
}

/// Not a test: what `a_temporary_cluster_whose_process_died_is_swept_up` kills.
#[test]
fn holder() {
    if std::env::var_os("WEDFLOW_TEST_HOLDER").is_none() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let temporary = runtime.block_on(Postgres::temporary()).expect("start");
    println!("\nhome {}", temporary.cluster().settings().home.display());
    std::thread::sleep(Duration::from_secs(120));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_temporary_cluster_whose_process_died_is_swept_up() {
    let mut holder = Command::new(std::env::current_exe().expect("path"))
        .args(["--exact", "holder", "--nocapture"])
        .env("WEDFLOW_TEST_HOLDER", "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("holder");
    let pipe = holder.stdout.take().expect("pipe");
    let home = std::io::BufReader::new(pipe)
        .lines()
        .map(|line| line.expect("line"))
        .find_map(|line| line.strip_prefix("home ").map(PathBuf::from))
        .expect("home");
    let server = pid(&Postgres::open(settings(&home)).expect("cluster"));
    holder.kill().expect("kill");
    holder.wait().expect("wait");
    assert!(home.exists());

    let next = Postgres::temporary().await.expect("start");
    assert!(!home.exists());
    let left = std::fs::read_to_string(format!("/proc/{server}/stat"));
    assert!(!left.is_ok_and(|text| !text.contains(") Z")));
    tokio::task::spawn_blocking(move || drop(next)).await.expect("drop");
}

/// Each session may map a bounded part of the machine's memory; one that needs more is refused it, and the server
/// runs on.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn session_out_of_memory_leaves_the_server_alone() {
    let (_home, cluster) = cluster();
    let connection = cluster.ensure_started(|_| {}).await.expect("start");
    let mut greedy = connect(&connection).await;
    let mut other = connect(&connection).await;
    let row = sqlx::query("SELECT pg_backend_pid(), pg_read_file('/proc/self/limits')")
        .fetch_one(&mut greedy)
        .await
        .expect("its limits");
    let (backend, limits): (i32, String) = (row.get(0), row.get(1));
    let line = limits.lines().find(|line| line.starts_with("Max address space")).expect("the limit");
    let bytes: u64 = line
        .split_ascii_whitespace()
        .nth(3)
        .and_then(|bytes| bytes.parse().ok())
        .unwrap_or_else(|| panic!("no limit: {line}"));
    let info = rustix::system::sysinfo();
    let memory = info.totalram * u64::from(info.mem_unit);
    assert_eq!(bytes, (memory / 4).max(2 << 30) / 1_024 * 1_024);
    // Nearer, so that the test takes little itself; by the server's own account, which may.
    let near = format!("COPY (SELECT 1) TO PROGRAM 'prlimit --pid {backend} --as=700000000:'");
    sqlx::query(sqlx::AssertSqlSafe(near)).execute(&mut other).await.expect("limited");
    let much = "SELECT length(repeat('x', 500000000) || repeat('y', 400000000))";
    let refused = sqlx::query(much).fetch_one(&mut greedy).await;
    let refused = refused.expect_err("out of memory");
    let code = refused.as_database_error().and_then(|error| error.code());
    assert_eq!(code.as_deref(), Some("53200"), "{refused}");
    for client in [&mut greedy, &mut other] {
        let row = sqlx::query("SELECT 1").fetch_one(client).await.expect("alive");
        assert_eq!(row.get::<i32, _>(0), 1);
    }
    cluster.stop().await.expect("stopped");
}
