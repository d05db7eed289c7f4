//! Triggers that only wait: for an open attribute, alone or with a time limit.

use crate::support::program::{run, wed};
use crate::support::{Database, Flow, Session};

/// An order that is sent, waits for its payment, and is shipped, or ends with the refusal.
const ORDER: &str = "
INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('sent', 'boolean', 'false', false),
  ('shipped', 'boolean', 'false', false), ('paid', 'text', NULL, true);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('send', 'send', 'NOT sent'),
  ('ship', 'ship', $$sent AND paid = 'yes' AND NOT shipped$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$shipped OR paid = 'no'$$, true);";

const ALONE: &str = "INSERT INTO wed_trig (tgname, cpred, waits_for) VALUES ('paid', 'sent AND paid IS NULL', 'paid')";

const LIMITED: &str = "INSERT INTO wed_trig (tgname, trname, cpred, waits_for, or_after)
  VALUES ('paid', 'expire', 'sent AND paid IS NULL', 'paid', '3 days')";

/// A flow with a wait, and an instance of it that waits.
fn waiting(wait: &str) -> (Session, i64) {
    let mut session = Flow::of(&format!("{ORDER}{wait}")).session();
    let wid = session.start();
    session.finish(wid, "send", "sent = true");
    (session, wid)
}

#[harness::test]
fn event_that_ends_an_instance_ends_what_is_due_since_it_waited() {
    for is_taken in [false, true] {
        let flow = Flow::of(&format!("{ORDER}{LIMITED}"));
        let (mut s, mut worker, mut owner) = (flow.session(), flow.session(), flow.database.owner());
        let wid = s.start();
        s.finish(wid, "send", "sent = true");
        owner.run("UPDATE wed.job SET due = now() - interval '1 s'");
        if is_taken {
            worker.run("BEGIN");
            assert!(worker.take(wid, "expire"));
            s.refused("UPDATE wed_flow SET paid = 'no'").expect("WF007");
        } else {
            s.run("UPDATE wed_flow SET paid = 'no'");
            assert_eq!((s.status(wid), s.pending(wid)), ("F".to_owned(), vec![]));
        }
    }
}

#[harness::test]
fn instance_that_only_waits_is_regular_until_its_event() {
    let (mut s, wid) = waiting(ALONE);
    assert_eq!((s.status(wid), s.pending(wid)), ("R".to_owned(), vec!["_WAIT".to_owned()]));
    let why = s.line("SELECT j.waits_for, w.waits_code, j.due FROM job_pool j JOIN wed_waiting w USING (wid, tgid)");
    assert_eq!(why, "an event that sets paid|event|·");
    s.run("BEGIN");
    assert!(!s.take(wid, "_WAIT"), "nobody performs it");
    s.run("COMMIT");
    s.run("UPDATE wed_flow SET paid = 'yes'");
    assert_eq!(s.pending(wid), ["ship"]);
    s.finish(wid, "ship", "shipped = true");
    assert_eq!(s.trace(wid), ["-> {send} R", "send -> {_WAIT} R", "_EVENT -> {ship} R", "ship -> {} F"]);
}

#[harness::test]
fn wait_keeps_neither_the_final_state_nor_an_exception_away() {
    for wait in [ALONE, LIMITED] {
        let (mut s, wid) = waiting(wait);
        s.run("UPDATE wed_flow SET paid = 'no'");
        assert_eq!((s.status(wid), s.pending(wid)), ("F".to_owned(), vec![]));
        let (mut s, wid) = waiting(wait);
        s.run("UPDATE wed_flow SET paid = 'perhaps'");
        assert_eq!((s.status(wid), s.pending(wid)), ("E".to_owned(), vec!["_EXCPT".to_owned()]));
        // The way back to the wait is another state.
        s.line(&format!("SELECT wed_set({wid}, '{{\"paid\": null}}', 'a slip')"));
        assert_eq!(s.status(wid), "R");
        assert_eq!(s.number("SELECT count(*) FROM job_pool"), 1);
    }
}

#[harness::test]
fn other_pending_jobs_keep_the_final_state_away_from_beside_a_wait() {
    let (mut s, wid) = waiting(&format!(
        "{ALONE}; INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('pack', 'pack', 'sent AND NOT shipped')"
    ));
    s.refused("UPDATE wed_flow SET paid = 'no'").expect("WF007");
    assert_eq!(s.pending(wid), ["_WAIT", "pack"]);
    // A result that ends the wait is final, whoever sets the attribute.
    s.finish(wid, "pack", "paid = 'no'");
    assert_eq!((s.status(wid), s.pending(wid)), ("F".to_owned(), vec![]));
}

#[harness::test]
fn transition_is_due_when_the_time_of_a_wait_is_over() {
    let (mut s, wid) = waiting(LIMITED);
    let due =
        "SELECT waits_for, due BETWEEN now() + interval '2 days 23 hours' AND now() + interval '3 days' FROM job_pool";
    assert_eq!(s.line(due), "an event that sets paid|t");
    s.run("BEGIN");
    assert!(!s.take(wid, "expire"), "its time has not come");
    s.run("COMMIT");
    s.owner().run("UPDATE wed.job SET due = now()");
    s.finish(wid, "expire", "paid = 'no'");
    assert_eq!(s.trace(wid), ["-> {send} R", "send -> {expire} R", "expire -> {} F"]);
}

#[harness::test]
fn wait_outlives_what_does_not_touch_its_condition() {
    let (mut s, wid) = waiting(&format!(
        "{LIMITED}; UPDATE wed_attr SET open = true WHERE aname = 'shipped';
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('pack', 'pack', 'sent AND NOT shipped')"
    ));
    let due = s.line("SELECT due FROM job_pool WHERE trname = 'expire'");
    s.line(&format!("SELECT wed_skip({wid}, 'pack', 'by hand')"));
    s.line(&format!("SELECT wed_pause({wid}, 'a rest'), wed_resume({wid})"));
    assert_eq!(s.lines("SELECT due FROM job_pool"), [due]);
    s.line(&format!("SELECT wed_skip({wid}, 'expire', 'by hand')"));
    assert_eq!(s.status(wid), "E", "nothing is left to wait for");
}

#[harness::test]
fn wait_that_no_event_can_end_is_refused() {
    let refused = [
        ("'x', NULL, 'sent', 'paid', NULL", "does not read"),
        ("'x', NULL, 'NOT shipped', 'shipped', NULL", "no open attribute"),
        ("'x', NULL, 'sent', 'nothing', NULL", "no open attribute"),
        ("'x', 'ship', 'paid IS NULL', 'paid', NULL", "when its time is over"),
        ("'x', NULL, 'paid IS NULL', 'paid', '1 day'", "needs the transition"),
        ("'x', 'ship', 'paid IS NULL', NULL, '1 day'", "waits_for names none"),
    ];
    let mut s = Flow::of(&format!("{ORDER}{ALONE}")).session();
    for (values, why) in refused {
        let refusal = s
            .refused(&format!("INSERT INTO wed_trig (tgname, trname, cpred, waits_for, or_after) VALUES ({values})"))
            .expect("WF013");
        assert!(refusal.message.contains(why), "{values}: {refusal:?}");
    }
    s.refused("UPDATE wed_attr SET open = false").expect("WF013");
    s.run("UPDATE wed_attr SET aname = 'payment' WHERE aname = 'paid'");
    assert_eq!(s.line("SELECT waits_for FROM wed_trig WHERE tgname = 'paid'"), "payment");
}

#[harness::test]
fn wait_is_written_in_each_language_and_shown() {
    let database = Database::new();
    let folder = tempfile::tempdir().expect("a folder");
    let wed = |arguments: &[&str]| run(wed(&database.url()).current_dir(folder.path()).args(arguments)).done();
    let toml = "name = 'waits'\nfinal = \"paid = 'no'\"\n[[attribute]]\nname = 'paid'\nopen = true\n\
                [[trigger]]\nname = 'paid'\nwhen = 'paid IS NULL'\nwaits_for = 'paid'\n\
                [[trigger]]\nname = 'asks'\ntransition = 'ask'\nwhen = 'paid IS NULL'\nwaits_for = 'paid'\n\
                or_after = '1 day'\n";
    std::fs::write(folder.path().join("waits.toml"), toml).expect("a file");
    wed(&["flow", "apply", "waits.toml"]);
    let definition = wed(&["flow", "show", "waits", "--toml"]).out;
    for language in ["wsql", "sql"] {
        let text = wed(&["flow", "show", "waits", &format!("--{language}")]).out;
        let file = format!("waits.{language}");
        std::fs::write(folder.path().join(&file), text).expect("a file");
        wed(&["flow", "drop", "waits", "--yes"]);
        wed(&["flow", "apply", &file]);
        assert_eq!(wed(&["flow", "show", "waits", "--toml"]).out, definition, "{language}");
    }
    wed(&["instance", "start", "waits"]);
    let shown = wed(&["instance", "show", "waits", "1"]);
    let all = format!("{}{}", shown.out, shown.err);
    assert!(all.contains("it waits for an event that sets paid"), "{all}");
    assert!(all.contains("wed instance event"), "{all}");
    let why = wed(&["why", "waits", "1"]).out;
    assert!(why.contains("it waits for an event that sets paid"), "{why}");
}
