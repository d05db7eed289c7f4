//! `wed status` and `/metrics` when they are needed most: while a table of ours is locked.

use std::time::{Duration, Instant};

use crate::support::program::{run, wed};
use crate::support::{Database, on};

/// Far more than the half second that a lock is waited for, for a machine under load.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);

#[harness::test]
fn a_locked_installation_is_answered_for_and_who_locks_it_is_named() {
    let database = Database::new();
    let mut holder = database.owner();
    holder.run("BEGIN; LOCK TABLE wed.job IN ACCESS EXCLUSIVE MODE");
    let pid = holder.line("SELECT pg_backend_pid()");
    std::thread::sleep(Duration::from_millis(1_100));

    let begun = Instant::now();
    let status = run(wed(&database.url()).args(["--json", "status"])).exits(1).json();
    let figures = on(database.store.for_status().metrics()).expect("figures");
    assert!(begun.elapsed() < ANSWER_TIME_MAX, "{:?}", begun.elapsed());

    let problems = status["problems"].as_array().expect("problems");
    let text = |code: &str| {
        let problem = problems.iter().find(|problem| problem["code"] == code);
        problem.map(|problem| problem["text"].to_string()).unwrap_or_default()
    };
    assert!(text("locked").contains("locked"), "{status}");
    let waited = text("lock_waited");
    assert!(waited.contains(&format!("session {pid} ")) && waited.contains("wed.job"), "{status}");
    let told = figures.iter().find(|figure| figure.name == "lock_wait_seconds");
    let label = told.and_then(|figure| figure.label.clone()).unwrap_or_default();
    assert!(label.contains(&pid), "{label}");
    holder.run("ROLLBACK");
}

#[harness::test]
fn numbers_that_are_nearly_used_up_are_named_before_they_end() {
    let database = Database::new();
    database.owner().run("SELECT setval('wed.tgid_seq', 1900000000)");
    let status = run(wed(&database.url()).args(["--json", "status"])).exits(1).json();
    let problems = status["problems"].as_array().expect("problems");
    let named = (problems.iter())
        .any(|problem| problem["code"] == "capacity_low" && problem["text"].to_string().contains("tgid_seq"));
    assert!(named, "{status}");
    let figures = on(database.store.for_status().metrics()).expect("figures");
    let used = (figures.iter()).find(|figure| figure.name == "capacity" && figure.label.as_deref() == Some("numbers"));
    assert!(used.is_some_and(|figure| figure.value > 0.8), "{used:?}");
}

#[harness::test]
fn connections_that_are_nearly_used_up_are_named_before_they_end() {
    let database = Database::new();
    let mut owner = database.owner();
    let name = owner.line("SELECT current_database()");
    let told = format!("SELECT text FROM wed.capacity_problems() WHERE text LIKE 'database {name} %'");
    assert_eq!(owner.lines(&told), [""; 0]);
    // The limit does not hold for the owner of the server, who is connected here.
    owner.run(&format!("ALTER DATABASE {name} CONNECTION LIMIT 1"));
    let told = owner.line(&told);
    assert!(told.ends_with("of its connections"), "{told}");
    let figures = on(database.store.for_status().metrics()).expect("figures");
    let used =
        (figures.iter()).find(|figure| figure.name == "capacity" && figure.label.as_deref() == Some("connections"));
    assert!(used.is_some_and(|figure| figure.value >= 1.0), "{used:?}");
    let disk = (figures.iter()).find(|figure| figure.name == "capacity" && figure.label.as_deref() == Some("disk"));
    assert!(disk.is_none_or(|figure| (0.0..=1.0).contains(&figure.value)), "{disk:?}");
}

#[harness::test]
fn who_may_hold_the_queue_of_notifications_is_named_once_it_fills() {
    let database = Database::new();
    let (mut owner, mut listener) = (database.owner(), database.owner());
    listener.run("LISTEN wed_jobs; BEGIN; SELECT 1");
    let filled = |from: &str| format!("SELECT hint FROM wed.notification_problems({from})");
    // Nearly empty, and another test's session may be the oldest of the server.
    assert_eq!(owner.lines(&filled("0.25")), [""; 0]);
    let hint = owner.line(&filled("0"));
    assert!(hint.contains("SELECT pg_terminate_backend("), "{hint}");
}
