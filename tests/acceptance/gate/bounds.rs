//! Extreme writes of a tenant: none stops the sweeps, the numbers or the sessions of others.

use crate::support::Flow;
use crate::support::flows::STEPS;
use crate::support::program::psql;

#[harness::test]
fn intervals_make_moments_that_there_are() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    for column in ["timeout", "backoff", "delay"] {
        let refused = s.refused(&format!("UPDATE wed_trig SET {column} = '7000 years'"));
        refused.expect("WF013");
    }
    s.run("UPDATE wed_trig SET timeout = '99 years' WHERE NOT cfinal");
}

#[harness::test]
fn a_number_given_by_hand_leaves_room_for_others() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.refused("INSERT INTO wed_flow (wid) VALUES (2147483647)").expect("23514");
    s.run("BEGIN; INSERT INTO wed_flow (wid) VALUES (1000000); ROLLBACK");
    assert!(s.start() > 0);
}

#[harness::test]
fn a_refused_trigger_takes_no_number() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    let mut owner = flow.database.owner();
    let last = "SELECT last_value FROM wed.tgid_seq";
    let before = owner.number(last);
    s.refused("INSERT INTO wed_trig (trname, cpred, attempts) SELECT 'x', 'true', 0 FROM generate_series(1, 10)")
        .expect("WF013");
    assert_eq!(owner.number(last), before);
}

#[harness::test]
fn locks_of_others_with_a_jobs_numbers_are_left_alone() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET timeout = '10 milliseconds' WHERE NOT cfinal");
    let wid = s.start();
    let mut owner = flow.database.owner();
    let tgid = owner.number(&format!("SELECT tgid FROM wed.job WHERE wid = {wid}"));
    // Somebody of another application of the same database.
    let mut other = flow.database.owner();
    other.run(&format!("BEGIN; SELECT pg_advisory_xact_lock({wid}, {tgid})"));
    std::thread::sleep(std::time::Duration::from_millis(100));
    owner.chores("overdue");
    owner.run("SELECT wed.end_overdue()");
    assert_eq!(other.number("SELECT 1"), 1);
}

#[harness::test]
fn a_refusal_in_psql_is_short() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    let wid = s.start();
    let statement = format!("UPDATE wed_flow SET n = n + 1 WHERE wid = {wid}");
    let said = psql(&flow.url, &statement).err;
    assert!(said.contains("holds no lock"), "{said}");
    assert!(said.trim().lines().count() <= 6, "{said}");
}
