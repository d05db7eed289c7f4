//! Whoever waits on a terminal learns within two seconds why nothing happens.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::flows::PAPER;
use crate::support::program::{run, wed};
use crate::support::{Database, Flow, eventually};

/// The first line on standard error that names a reason, and how long it took; the program is ended.
fn told(flow: &Flow, arguments: &[&str]) -> (String, Duration) {
    let mut command = wed(&flow.database.url());
    let mut child = command
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("wed");
    let begun = Instant::now();
    let errors = BufReader::new(child.stderr.take().expect("standard error"));
    let line = errors
        .lines()
        .map_while(Result::ok)
        .find(|line| line.contains("waiting"));
    let took = begun.elapsed();
    let _ = child.kill();
    let _ = child.wait();
    (line.unwrap_or_default(), took)
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
    run(wed(&flow.database.url()).args(["instance", "pause", "trial", &wid, "--reason", "x"]))
        .done();
    let (line, _) = told(&flow, &["instance", "watch", "trial", &wid]);
    assert!(
        line.contains("[paused]") && line.contains("wed instance resume"),
        "{line}"
    );
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
    flow.session()
        .run("INSERT INTO wed_flow (a1) SELECT 'new' FROM generate_series(1, 40)");
    let mut owner = database.owner();
    eventually("an open circuit breaker", || {
        (owner.number("SELECT count(*) FROM wed.circuit") > 0).then_some(())
    });
    let problems = owner.lines("SELECT code FROM wed.problems()");
    assert!(
        problems.contains(&"circuit_open".to_owned()),
        "{problems:?}"
    );
    let codes = owner.lines(
        "BEGIN; UPDATE wed.job SET host_id = (SELECT max(host_id) FROM wed.circuit) WHERE trname = 'trap';
         SELECT DISTINCT wed.waiting_reason(flow_id, wid, tgid) FROM wed.job WHERE trname = 'trap'; ROLLBACK",
    );
    assert_eq!(codes, ["circuit"]);
    crate::support::on(host.stop());
}

#[harness::test]
fn reasons_are_a_view_in_sql() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    let wid = s.start();
    s.line(&format!("SELECT wed_pause({wid}, 'holiday')"));
    assert_eq!(
        s.lines(&format!(
            "SELECT trname, waits_code FROM wed_waiting WHERE wid = {wid} ORDER BY 1"
        )),
        ["tr_a2|paused", "tr_a3|paused"]
    );
}
