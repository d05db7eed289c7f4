//! After a change of the model: which live instances would fire what, and firing it.

use wedflow_documents::{Rematched, Status};
use wedflow_model::Wid;

use crate::support::flows::PAPER;
use crate::support::{Flow, Session, on};

const PREVIEW: &str = "SELECT wid, fires, becomes FROM wed_rematch() ORDER BY wid";
const APPLY: &str = "SELECT wid, fires, becomes FROM wed_rematch(false) ORDER BY wid";

#[harness::test]
fn a_preview_says_what_would_fire_and_changes_nothing() {
    let mut s = Flow::of(PAPER).session();
    let (one, two) = (s.start(), s.start());
    s.finish(two, "tr_a2", "a2 = 'done'");
    assert!(s.lines(PREVIEW).is_empty(), "nothing has changed");
    s.run("INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('new', 'tr_new', 'a2 IS NOT NULL')");
    assert_eq!(s.lines(PREVIEW), [format!("{two}|{{tr_new}}|R")]);
    assert_eq!(s.pending(two), ["tr_a3"]);
    assert_eq!(s.trace(two).len(), 2);
    assert_eq!(s.trace(one).len(), 1);
}

#[harness::test]
fn applying_fires_what_the_preview_said() {
    let mut s = Flow::of(PAPER).session();
    s.run("INSERT INTO wed_flow (a1) SELECT 'ready' FROM generate_series(1, 5)");
    s.run("INSERT INTO wed_attr (aname, atype, adv) VALUES ('level', 'integer', '1')");
    s.run("INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('new', 'tr_new', 'level = 1')");
    let preview = s.lines(PREVIEW);
    assert_eq!(preview.len(), 5);
    assert_eq!(s.lines(APPLY), preview);
    assert!(s.lines(PREVIEW).is_empty(), "what is pending does not fire again");
    assert_eq!(s.trace(1), ["-> {tr_a2,tr_a3} R", "_REMATCH -> {tr_new} R"]);
    s.finish(1, "tr_new", "level = 2");
    assert_eq!(s.pending(1), ["tr_a2", "tr_a3"]);
}

#[harness::test]
fn a_rematch_leads_on_from_an_exception() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    s.finish(wid, "tr_a2", "a2 = 'done'");
    s.run("UPDATE wed_trig SET recheck = false WHERE tgname = 't2'");
    s.finish(wid, "tr_a3", "a1 = NULL");
    assert_eq!(s.status(wid), "E");
    s.run("INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('mend', 'tr_mend', 'a1 IS NULL')");
    assert_eq!(s.lines(PREVIEW), [format!("{wid}|{{tr_mend}}|R")]);
    s.lines(APPLY);
    assert_eq!(s.status(wid), "R");
    assert_eq!(s.pending(wid), ["tr_mend"]);
    s.finish(wid, "tr_mend", "a1 = 'done'");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn a_rematch_leaves_final_instances_alone() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.number("INSERT INTO wed_flow (a1) VALUES ('done') RETURNING wid");
    s.run("INSERT INTO wed_trig (trname, cpred) VALUES ('always', 'true')");
    assert!(s.lines(PREVIEW).is_empty());
    assert!(s.lines(APPLY).is_empty());
    assert_eq!(s.trace(wid), ["-> {} F"]);
}

#[harness::test]
fn a_rematch_may_end_an_instance() {
    let mut s = Flow::of(
        "INSERT INTO wed_attr (aname, adv) VALUES ('a', 'x');
         INSERT INTO wed_trig (trname, cpred) VALUES ('only', $$a = 'x'$$);",
    )
    .session();
    let wid = s.start();
    s.finish(wid, "only", "a = 'y'");
    assert_eq!(s.status(wid), "E");
    s.run("INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = 'y'$$, true)");
    assert_eq!(s.lines(PREVIEW), [format!("{wid}|{{}}|F")]);
    s.lines(APPLY);
    assert_eq!(s.trace(wid), ["-> {only} R", "only -> {_EXCPT} E", "_REMATCH -> {} F"]);
    assert!(s.pending(wid).is_empty());
}

#[harness::test]
fn the_host_side_rematch_is_the_same() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    let wid = s.start();
    s.run("INSERT INTO wed_trig (trname, cpred) VALUES ('always', 'true')");
    let store = &flow.database.store;
    let wanted = vec![Rematched {
        wid: Wid::new(i32::try_from(wid).expect("wid")),
        fires: vec!["always".to_owned()],
        becomes: Status::Regular,
    }];
    assert_eq!(on(store.rematch(flow.id, true)).expect("preview"), wanted);
    assert_eq!(on(store.rematch(flow.id, false)).expect("applied"), wanted);
    assert_eq!(on(store.rematch(flow.id, false)).expect("applied"), []);
}

#[harness::test]
fn one_instance_alone_is_matched_anew() {
    let mut s = Flow::of(PAPER).session();
    s.run("INSERT INTO wed_flow (a1) SELECT 'ready' FROM generate_series(1, 3)");
    s.run("INSERT INTO wed_attr (aname, atype, adv) VALUES ('level', 'integer', '1')");
    s.run("INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('new', 'tr_new', 'level = 1')");
    assert_eq!(s.lines("SELECT wid FROM wed_rematch(false, 2)"), ["2"]);
    assert_eq!(s.lines("SELECT wid FROM wed_rematch() ORDER BY wid"), ["1", "3"]);
}

#[harness::test]
fn jobs_that_a_changed_condition_leaves_are_skipped() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype) VALUES ('n', 'integer');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('go', 'go', 'n > 0'), ('other', 'other', 'n > 0');",
    );
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let pending = |s: &mut Session, name| s.number(&format!("SELECT count(*) FROM job_pool WHERE trname = '{name}'"));
    s.run("INSERT INTO wed_flow (n) SELECT generate_series(1, 100)");
    s.run("UPDATE wed_trig SET cpred = 'n > 90' WHERE trname = 'go'");
    assert_eq!(pending(&mut s, "go"), 100, "the change waits for no job");
    // A worker that takes one first is told.
    s.run("BEGIN");
    assert!(!s.take(1, "go"));
    s.run("COMMIT");
    assert_eq!(s.trace(1), ["-> {go,other} R", "_SKIP -> {} R"]);
    while owner.chores("stale") > 0 {}
    assert_eq!((pending(&mut s, "go"), pending(&mut s, "other")), (10, 100));
    assert_eq!(owner.number("SELECT count(*) FROM wed.changed_condition"), 0);
    // Jobs of a trigger that is disabled are not looked at.
    s.run("UPDATE wed_trig SET enabled = false, cpred = 'n > 90' WHERE trname = 'other'");
    while owner.chores("stale") > 0 {}
    assert_eq!(pending(&mut s, "other"), 100);
    s.run("BEGIN");
    assert!(s.take(100, "other"));
    s.run("COMMIT");
}
