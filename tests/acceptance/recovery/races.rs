//! Races of leases, overruns and partitions.

use std::time::Duration;

use crate::support::database::sample_component;
use crate::support::flows::PAPER;
use crate::support::{Database, Flow, eventually, on, repository, sweep};

fn counters() -> Flow {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
    flow.session().start();
    flow
}

const ENTER: &str = "SELECT wed.register_host('one', '1 hour')";
const EXPIRE: &str = "UPDATE wed.host SET expires_at = now() - interval '1 s'";

#[harness::test]
fn claim_beside_the_end_of_its_lease_leaves_no_job_to_nobody() {
    let flow = counters();
    let (mut owner, mut other) = (flow.database.owner(), flow.database.owner());
    let host = owner.number(ENTER);
    owner.run(&format!("BEGIN; SELECT * FROM wed.claim({host}, 3)"));
    other.run(EXPIRE);
    assert_eq!(other.chores("abandoned"), 0, "the claim holds its host");
    owner.run("COMMIT");
    assert_eq!(other.number("SELECT count(*) FROM wed.job WHERE host_id IS NOT NULL"), 3);
    assert_eq!(other.chores("abandoned"), 3);
    assert_eq!(other.number("SELECT count(*) FROM wed.job WHERE host_id IS NOT NULL"), 0);
}

#[harness::test]
fn jobs_of_hosts_that_there_are_not_are_freed() {
    let flow = counters();
    let mut owner = flow.database.owner();
    owner.run("UPDATE wed.job SET host_id = 99, token = 5");
    assert_eq!(owner.chores("abandoned"), 3);
    assert_eq!(owner.chores("abandoned"), 0);
}

#[harness::test]
fn every_overrun_of_a_worker_is_counted() {
    let flow = Flow::of(PAPER);
    let mut owner = flow.database.owner();
    let wid = {
        let mut s = flow.session();
        s.run("UPDATE wed_trig SET timeout = '100 ms', attempts = 2");
        s.start()
    };
    // Workers that try again at once and always hang.
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let flow = flow.clone();
            std::thread::spawn(move || {
                let mut taken = 0;
                let until = std::time::Instant::now() + Duration::from_secs(8);
                while std::time::Instant::now() < until {
                    let mut s = flow.session();
                    let _ = s.batch_execute("BEGIN");
                    let row = s.query_one(
                        "SELECT coalesce(bool_or(pg_try_advisory_xact_lock(wid, tgid)), false) FROM job_pool WHERE \
                         trname = 'tr_a2'",
                        &[],
                    );
                    if row.is_ok_and(|row| row.get(0)) {
                        taken += 1;
                        std::thread::sleep(Duration::from_millis(600));
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
                taken
            })
        })
        .collect();
    eventually("the exception", || {
        sweep(&flow.database.store);
        (owner.line(&format!("SELECT status FROM wed.instance WHERE wid = {wid}")) == "E").then_some(())
    });
    let taken: i64 = workers.into_iter().map(|worker| worker.join().expect("a worker")).sum();
    let counted = owner.number("SELECT count(*) FROM wed.attempt WHERE outcome = 'timed_out' AND trname = 'tr_a2'");
    assert_eq!((taken, counted), (2, 2), "as many as there may be");
}

#[harness::test]
fn rows_that_came_before_their_partition_move_into_it() {
    let flow = Flow::of(PAPER);
    flow.session().start();
    let mut owner = flow.database.owner();
    let today = owner.line("SELECT 'trace_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')");
    owner.run(&format!(
        "CREATE TABLE kept AS SELECT * FROM wed.trace; DROP TABLE wed.{today}; INSERT INTO wed.trace SELECT * FROM kept"
    ));
    assert_eq!(owner.line("SELECT tableoid::regclass FROM wed.trace"), "wed.trace_else");
    owner.line("SELECT wed.roll_trace()");
    assert_eq!(owner.line("SELECT tableoid::regclass FROM wed.trace"), format!("wed.{today}"));
    assert_eq!(flow.session().trace(1).len(), 1);
}

#[harness::test]
fn old_rows_of_the_default_partition_are_dropped() {
    let database = Database::new();
    let mut owner = database.owner();
    owner.run(
        "INSERT INTO wed.trace (flow_id, wid, seq, status, trf, state, tstmp, writer) \
         SELECT 99, 1, n, 'R', '{}', '{}', now() - n * interval '10 days', 'x' FROM generate_series(1, 9) n; \
         UPDATE wed.retention SET trace = '35 days'",
    );
    owner.line("SELECT wed.roll_trace()");
    assert_eq!(owner.number("SELECT count(*) FROM wed.trace"), 3);
}

#[harness::test]
fn result_that_waited_for_a_new_attribute_is_made_anew() {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "clause", "");
    let mut s = flow.session();
    s.start();
    let gate = on(database.store.flow_shape(flow.id)).expect("a flow").gate;
    let mut changing = flow.session();
    changing.run("BEGIN; INSERT INTO wed_attr (aname, atype, adv) VALUES ('late', 'boolean', 'false')");
    let database_url = database.url();
    let applied = std::thread::spawn(move || {
        let mut owner = crate::support::Session::open(&database_url);
        owner.run("BEGIN; SELECT set_config('wed.commit', 'batch', true)");
        owner.tried(&format!(
            "SELECT \"{gate}\".apply_{gate}(ARRAY[ROW(1, 0, 0, 0, 0, 0, '{{}}')::wed.result],
                '{{n}}', 'n = _r.n + 1', 1000, \
             false, false)"
        ))
    });
    std::thread::sleep(Duration::from_millis(700));
    changing.run("COMMIT");
    let refusal = applied.join().expect("applied").expect("refused");
    assert_eq!(refusal.code, "40001", "{refusal:?}");
}
