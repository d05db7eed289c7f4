//! Numbers that no two instances share, with and without gaps.

use std::collections::BTreeSet;

use crate::support::{Flow, Session, recover};

const NUMBERED: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('no', 'bigint', NULL), ('done', 'boolean', 'false');
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', 'NOT done');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);";

fn start(s: &mut Session) -> i64 {
    s.number("INSERT INTO wed_flow DEFAULT VALUES RETURNING no")
}

#[harness::test]
fn gapless_numbers_are_unique_and_given_again_after_a_rollback() {
    let flow = Flow::of(NUMBERED);
    let mut s = flow.session();
    start_none(&mut s);
    s.run("SELECT wed_number('no', true)");
    assert_eq!(start(&mut s), 1);
    s.run("BEGIN");
    assert_eq!(start(&mut s), 2);
    s.run("ROLLBACK");
    assert_eq!(start(&mut s), 2);
    let sessions: Vec<_> = (0..6).map(|_| flow.session()).collect();
    let all: BTreeSet<i64> = std::thread::scope(|scope| {
        let taken: Vec<_> = sessions
            .into_iter()
            .map(|mut s| {
                scope.spawn(move || {
                    let mut kept = Vec::new();
                    for n in 0..60 {
                        s.run("BEGIN");
                        let no = start(&mut s);
                        if n % 3 == 0 {
                            s.run("ROLLBACK");
                        } else {
                            s.run("COMMIT");
                            kept.push(no);
                        }
                    }
                    kept
                })
            })
            .collect();
        taken.into_iter().flat_map(|one| one.join().expect("ran")).collect()
    });
    assert_eq!(all.len(), 6 * 40, "no two are the same");
    // What was given back last is taken first, so that in the end none is left out.
    let highest = *all.last().expect("some");
    let missing = (3..highest).filter(|no| !all.contains(no)).count();
    for _ in 0..missing {
        assert!(start(&mut s) < highest);
    }
    assert_eq!(start(&mut s), highest + 1);
    // It stays an instance's own.
    s.refused("INSERT INTO wed_flow (no) VALUES (1)").expect("WF010");
    s.refused("DELETE FROM wed_attr WHERE aname = 'no'").expect("WF013");
    recover(&flow.database.store);
}

fn start_none(s: &mut Session) {
    s.refused("SELECT wed_number('done', true)").expect("WF013");
    s.refused("SELECT wed_number('nothing', false)").expect("WF013");
}

#[harness::test]
fn numbers_with_gaps_are_unique() {
    let flow = Flow::of(NUMBERED);
    let mut s = flow.session();
    s.run("SELECT wed_number('no')");
    assert_eq!(start(&mut s), 1);
    s.run("BEGIN");
    start(&mut s);
    s.run("ROLLBACK");
    assert_eq!(start(&mut s), 3);
    s.run("SELECT wed_number('no', true)");
    assert_eq!(start(&mut s), 4, "from the highest on");
    s.run("UPDATE wed_attr SET open = true WHERE aname = 'no'");
    assert_eq!(start(&mut s), 5);
}

#[harness::test]
fn taking_a_number_does_not_hold_up_others() {
    let flow = Flow::of(NUMBERED);
    let (mut s, mut t) = (flow.session(), flow.session());
    s.run("SELECT wed_number('no', true)");
    start(&mut s);
    s.run("BEGIN");
    assert_eq!(start(&mut s), 2);
    t.run("SET lock_timeout = '100ms'");
    assert_eq!(start(&mut t), 3);
    s.run("ROLLBACK");
    assert_eq!(start(&mut t), 2);
}

#[harness::test]
fn numbers_are_the_servers_alone() {
    let flow = Flow::of(NUMBERED);
    for gapless in ["true", "false"] {
        let mut s = flow.session();
        s.run(&format!("SELECT wed_number('no', {gapless})"));
        s.refused("INSERT INTO wed_flow (no) VALUES (500)").expect("WF010");
        let wid = s.number("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid");
        let refused = s.finish_refused(wid, "step", "no = 500, done = true");
        refused.expect("WF010");
        s.finish(wid, "step", "done = true");
        s.refused("SELECT wed_next_number('no')").expect("42883");
        assert!(start(&mut s) < 10);
    }
}

#[harness::test]
fn number_of_a_skipped_insert_goes_to_a_later_instance() {
    let mut s = Flow::of(NUMBERED).session();
    s.run("SELECT wed_number('no', true)");
    assert_eq!(start(&mut s), 1);
    s.run(
        "INSERT INTO wed_flow (wid, done) SELECT wid, false FROM wed_flow UNION ALL SELECT 77, false
           ON CONFLICT DO NOTHING",
    );
    let mut numbers = s.lines("SELECT no FROM wed_flow");
    numbers.push(start(&mut s).to_string());
    numbers.push(start(&mut s).to_string());
    numbers.sort();
    assert_eq!(numbers, ["1", "2", "3", "4"]);
}

#[harness::test]
fn largest_number_stops_no_sweep() {
    let flow = Flow::of(NUMBERED);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (no) VALUES (9223372036854775807)");
    s.refused("SELECT wed_number('no', true)").expect("WF013");
    let mut owner = flow.database.owner();
    // A series from before the refusal.
    owner.run(
        "INSERT INTO wed.numbering (flow_id, attribute, gapless, made_to)
           SELECT flow_id, 'no', true, 9223372036854775807 FROM wed.flow",
    );
    assert_eq!(owner.chores("numbers"), 0);
}

#[harness::test]
fn series_that_met_a_given_number_begins_behind_it() {
    let flow = Flow::of(NUMBERED);
    let mut s = flow.session();
    s.run("SELECT wed_number('no', true)");
    assert_eq!(start(&mut s), 1);
    let mut owner = flow.database.owner();
    // Given by hand, when that was allowed.
    owner.run(&format!(
        "SET search_path = {}; SET session_replication_role = replica;
         INSERT INTO wed_flow (wid, no) VALUES (50, 2), (51, 600)",
        s.line("SELECT current_schema")
    ));
    owner.run("SET session_replication_role = DEFAULT; SELECT wed.install_flow(flow_id) FROM wed.flow");
    assert_eq!([start(&mut s), start(&mut s)], [3, 4]);
    assert_eq!(owner.number("SELECT count(*) FROM wed.free_number WHERE number IN (2, 600)"), 0);
    assert_eq!(owner.number("SELECT count(*) FROM wed.free_number WHERE number IN (599, 601)"), 2);
}
