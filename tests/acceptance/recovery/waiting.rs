//! Whoever waits on a terminal learns within two seconds why nothing happens.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use wedflow_store::WaitingReason;

use super::field::Process;
use crate::support::flows::PAPER;
use crate::support::http::Api;
use crate::support::program::{run, wed};
use crate::support::{Database, Flow, eventually};

/// Returns the first line on standard error that names a reason, or all lines where none does in time, and how long it
/// took; the program is ended.
fn told(flow: &Flow, arguments: &[&str]) -> (String, Duration) {
    let mut command = wed(&flow.database.url());
    let mut child = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("wed");
    let begun = Instant::now();
    let errors = BufReader::new(child.stderr.take().expect("standard error"));
    let (lines, read) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in errors.lines().map_while(Result::ok) {
            let _ = lines.send(line);
        }
    });
    let mut other = Vec::new();
    let line = loop {
        let left = crate::support::GENEROUS.saturating_sub(begun.elapsed());
        match read.recv_timeout(left) {
            Ok(line) if line.contains("waiting") => break line,
            Ok(line) => other.push(line),
            Err(_) => break other.join("\n"),
        }
    };
    let took = begun.elapsed();
    let _ = child.kill();
    let _ = child.wait();
    reader.join().expect("the lines are read");
    (line, took)
}

#[harness::test]
fn whoever_waits_is_told_what_for() {
    let flow = Flow::of(PAPER);
    let wid = flow.session().start().to_string();
    for arguments in [
        &["instance", "watch", "trial", &wid][..],
        &["instance", "start", "trial", "--wait"],
        &["job", "logs", "--follow", "trial", &wid],
        &["--json", "instance", "watch", "trial", &wid],
    ] {
        let (line, took) = told(&flow, arguments);
        assert!(line.contains("no_worker"), "{arguments:?}: {line}");
        assert!(took < crate::support::GENEROUS, "{took:?}");
        println!("{arguments:?}: told after {took:?}");
    }
    run(wed(&flow.database.url()).args(["instance", "pause", "trial", &wid, "--reason", "x"])).done();
    let (line, _) = told(&flow, &["instance", "watch", "trial", &wid]);
    assert!(line.contains("[paused]") && line.contains("wed instance resume"), "{line}");
}

#[harness::test]
fn follower_of_an_exception_is_told_so() {
    let flow = Flow::of(PAPER);
    let wid = super::operators::exception(&mut flow.database.owner(), &flow).to_string();
    let (line, _) = told(&flow, &["job", "logs", "--follow", "trial", &wid]);
    assert!(line.contains("is an exception"), "{line}");
}

#[harness::test]
fn open_circuit_is_a_reason() {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "trap", ", attempts, backoff=30, '10 ms'");
    let host = database.host(crate::support::database::one_lane("one"));
    flow.session().run("INSERT INTO wed_flow (a1) SELECT 'new' FROM generate_series(1, 40)");
    let mut owner = database.owner();
    eventually("an open circuit breaker", || (owner.number("SELECT count(*) FROM wed.circuit") > 0).then_some(()));
    let problems = owner.lines("SELECT code FROM wed.problems()");
    assert!(problems.contains(&"circuit_open".to_owned()), "{problems:?}");
    let codes = owner.lines(
        "BEGIN; UPDATE wed.job SET host_id = (SELECT max(host_id) FROM wed.circuit) WHERE trname = 'trap';
         SELECT DISTINCT wed.waiting_reason(flow_id, wid, tgid) FROM wed.job WHERE trname = 'trap'; ROLLBACK",
    );
    assert_eq!(codes, ["circuit"]);
    crate::support::on(host.stop());
}

#[harness::test]
fn status_names_whose_lock_is_in_the_way() {
    let flow = Flow::of(PAPER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wid = s.start();
    s.run(&format!("BEGIN; SELECT FROM wed_flow WHERE wid = {wid} FOR UPDATE"));
    let pid = s.line("SELECT pg_backend_pid()");
    let mut named = || owner.lines("SELECT text, hint FROM wed.problems() WHERE code = 'lock_held'");
    assert!(named().is_empty(), "nothing waits for it");
    flow.database.owner().run("UPDATE wed.job SET due = now() + interval '1 hour', put_off = 'a lock'");
    let told = eventually("it is named", || named().pop());
    assert!(told.contains(&format!("pg_terminate_backend({pid})")), "{told}");
}

#[harness::test]
fn killed_host_is_missed_before_its_leases_end() {
    let flow = Flow::of(PAPER);
    flow.session().start();
    let mut command = wed(&flow.database.url());
    let host = Process::start(command.args(["serve", "--lanes", "1"]));
    let mut owner = flow.database.owner();
    let number = eventually("a host that keeps its leases", || {
        let kept = "SELECT host_id FROM wed.host WHERE session_pid IS NOT NULL";
        owner.lines(kept).pop()
    });
    host.signal("-KILL");
    let problems = "SELECT string_agg(code, ' ' ORDER BY code) FROM wed.problems() WHERE code ~ 'host'";
    let missed = "host_lost no_host";
    eventually("it is missed", || (owner.line(problems) == missed).then_some(()));
    // Its leases hold, however slow this machine is.
    owner.run(&format!(
        "UPDATE wed.host SET expires_at = now() + interval '1 hour'; UPDATE wed.job SET host_id = {number}"
    ));
    assert_eq!(owner.line(problems), missed);
    let reasons = "SELECT DISTINCT wed.waiting_reason(flow_id, wid, tgid) FROM wed.job";
    assert_eq!(owner.lines(reasons), ["no_host"]);
    owner.run("INSERT INTO wed.host (name, expires_at) VALUES ('two', now() + interval '1 hour')");
    assert_eq!(owner.lines(reasons), ["·"], "another one takes it over");
}

#[harness::test]
fn reasons_are_a_view_in_sql() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    let wid = s.start();
    s.line(&format!("SELECT wed_pause({wid}, 'holiday')"));
    assert_eq!(
        s.lines(&format!("SELECT trname, waits_code FROM wed_waiting WHERE wid = {wid} ORDER BY 1")),
        ["tr_a2|paused", "tr_a3|paused"]
    );
}

/// Statements that make the one job wait, each with its reason.
const REASONS: [(WaitingReason, &str); 13] = [
    (WaitingReason::Time, "UPDATE wed.job SET due = now() + interval '1 hour'"),
    (WaitingReason::Locked, "UPDATE wed.job SET due = now() + interval '1 hour', put_off = 'a lock'"),
    (
        WaitingReason::Siblings,
        // Two of one instance: each is the other's.
        "INSERT INTO wed.job (flow_id, wid, tgid, trname, tenant_id, component_id, seq, last_seq, fired_at, due, \
           attempt, priority, timeout, token, version, beside)
         SELECT flow_id, wid, tgid + 1, trname, tenant_id, component_id, seq, last_seq, fired_at, due, attempt, \
           priority, timeout, token, version, beside FROM wed.job;
         UPDATE wed.job SET awaits_siblings = true",
    ),
    (WaitingReason::Quota, "UPDATE wed.usage SET resting = true"),
    (WaitingReason::Paused, "SELECT wed.set_pause(1, NULL, NULL, NULL, true, 'ann', 'why')"),
    (
        WaitingReason::Circuit,
        "INSERT INTO wed.circuit (host_id, component_id, trname) SELECT h.host_id, j.component_id, trname FROM \
         wed.job j, wed.host h; UPDATE wed.job SET host_id = (SELECT host_id FROM wed.host)",
    ),
    (WaitingReason::NoHost, "DELETE FROM wed.host"),
    (
        WaitingReason::NoComponent,
        "UPDATE wed.binding SET component_name = 'missing'; UPDATE wed.job SET component_id = NULL",
    ),
    (
        WaitingReason::NotRunnable,
        "UPDATE wed.job SET due = now() + interval '1 hour', put_off = 'it cannot run: no such transition', not_runnable = true",
    ),
    (WaitingReason::NoWorker, "DELETE FROM wed.binding; UPDATE wed.job SET component_id = NULL"),
    (WaitingReason::Reservation, "UPDATE wed.job SET blocked = 'r'"),
    (WaitingReason::Precedence, "UPDATE wed.job SET blocked = 'p'"),
    (
        WaitingReason::Event,
        "UPDATE wed.job SET is_wait = true, due = 'infinity'; UPDATE wed.trigger SET waits_for = 'a1' \
         WHERE NOT cfinal",
    ),
];

/// Four at a time: each takes a database and a server of its own.
#[harness::test]
fn each_reason_is_the_same_at_every_door() {
    std::thread::scope(|scope| {
        for reasons in REASONS.chunks(REASONS.len().div_ceil(4)) {
            scope.spawn(move || {
                for (reason, makes_it_wait) in reasons {
                    is_the_same_at_every_door(*reason, makes_it_wait);
                }
            });
        }
    });
}

fn is_the_same_at_every_door(reason: WaitingReason, makes_it_wait: &str) {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "ok", "");
    let mut owner = database.owner();
    let schema = owner.line("SELECT schema_name FROM wed.flow");
    // Not over a session of the flow's role, which might be a worker's.
    let start = format!("INSERT INTO {schema}.wed_flow DEFAULT VALUES RETURNING wid");
    let wid = owner.line(&start);
    owner.run("INSERT INTO wed.host (name, expires_at) VALUES ('one', now() + interval '1 hour')");
    owner.run(makes_it_wait);
    let code = reason.code();
    let view = format!("SELECT DISTINCT waits_code FROM {schema}.wed_waiting");
    assert_eq!(owner.lines(&view), [code], "the view");
    let pool = owner.line(&format!("SELECT DISTINCT coalesce(waits_for, '') FROM {schema}.job_pool"));
    use WaitingReason::{Circuit, NoComponent, NoHost, NoWorker, Quota, Time};
    assert_eq!(pool.is_empty(), reason == Time, "{code}: {pool}");
    if [Circuit, NoComponent, NoHost, NoWorker, Quota].contains(&reason) {
        assert!(pool.starts_with(reason.text()), "{code}: {pool}");
    }
    let api = Api::of(&database);
    let ann = api.user("default", "ann", "viewer");
    let path = format!("/v1/flows/{}/instances/{wid}/waiting", flow.name);
    let waiting = ann.get(&path).is(200).json();
    assert_eq!(waiting["items"][0]["code"], code, "HTTP");
    let mut show = wed(&database.url());
    show.args(["--json", "instance", "show", &flow.name, &wid]);
    let shown = run(&mut show).done().json();
    assert_eq!(shown["jobs"][0]["waits_for"], code, "{shown}");
    let (line, took) = told(&flow, &["instance", "watch", &flow.name, &wid]);
    assert!(line.contains(&format!("[{code}]")) && line.contains(reason.hint()), "{code}: {line}");
    println!("{code}: told after {took:?}");
}
