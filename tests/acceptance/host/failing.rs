//! Attempts that change nothing: what is on record, what becomes of the job, whom it hurts.

use std::time::Duration;

use super::leases::group;
use super::{flow, flow_of_one};
use crate::race::assert_sound;
use crate::support::database::one_lane;
use crate::support::{Database, Session, eventually, on};

#[harness::test]
fn failures_are_tried_again_and_end_as_an_exception() {
    // Transition, its trigger's time limit, the outcome's name, attempts of three.
    const CASES: [(&str, &str, &str, usize); 8] = [
        ("trap", "1 minute", "trapped:unreachable", 3),
        ("recursion", "1 minute", "trapped:stack_overflow", 3),
        ("loop", "200 milliseconds", "timed_out", 3),
        ("sleep-forever", "100 milliseconds", "timed_out", 3),
        ("memory-bomb", "1 minute", "over_memory", 3),
        ("abort", "1 minute", "aborted", 3),
        // It says itself that there is no use in trying again.
        ("fail", "1 minute", "failed", 1),
        // The guest's answer makes no sense for this flow, now or later.
        ("echo", "1 minute", "refused", 1),
    ];
    let database = Database::new();
    let host = database.host(one_lane("strict"));
    let started = CASES.map(|case| {
        let settings = format!(", timeout, attempts, backoff='{}', 3, '10 milliseconds'", case.1);
        let flow = flow_of_one(&database, case.0, &settings);
        let wid = flow.session().start();
        (case, flow, wid)
    });
    for ((transition, _, outcome, attempts), flow, wid) in &started {
        assert_eq!(flow.end_of(*wid), "E", "{transition}");
        let mut session = flow.session();
        let by = format!("host:{}", host.id());
        let expected: Vec<String> =
            (1..=*attempts).map(|attempt| format!("{transition}|{attempt}|{outcome}|{by}|t|t|t")).collect();
        assert_eq!(
            session.lines(
                "SELECT trname, attempt, outcome, writer, fuel > 0 OR outcome = 'timed_out', elapsed_us > 0, \
                 memory_bytes > 0 \
                 FROM wed_attempt ORDER BY attempt"
            ),
            expected
        );
        assert_eq!(session.pending(*wid), ["_EXCPT"], "{transition}");
        assert_eq!(session.line("SELECT a1, n, tags FROM wed_flow"), "new|0|·", "{transition}");
        assert_eq!(session.trace(*wid), [format!("-> {{{transition}}} R"), "_ABORT -> {_EXCPT} E".to_owned()]);
        let note = session.line("SELECT note FROM wed_trace WHERE seq = 2");
        assert!(
            note.starts_with(&format!(
                "{transition}: {outcome} after {attempts} attempt{}: ",
                if *attempts == 1 { "" } else { "s" }
            )),
            "{note}"
        );
        assert_eq!(
            session.line("SELECT attempt, writer, elapsed_us > 0, memory_bytes > 0 FROM wed_trace WHERE seq = 2"),
            format!("{attempts}|{by}|t|t"),
            "{transition}"
        );
        assert_sound(flow);
    }
    on(host.stop());
}

#[harness::test]
fn a_retry_waits_twice_as_long_each_time() {
    let database = Database::new();
    let flow = flow_of_one(&database, "trap", ", attempts, backoff=4, '1 hour'");
    let host = database.host(one_lane("patient"));
    let mut session = flow.session();
    let mut owner = database.owner();
    let wid = session.start();
    for (attempt, at_least) in [(1, "55 minutes"), (2, "115 minutes"), (3, "235 minutes")] {
        eventually("the attempt on record", || {
            (session.number("SELECT count(*) FROM wed_attempt") == attempt).then_some(())
        });
        assert_eq!(
            session.line(&format!(
                "SELECT attempt, lckid, due > now() + interval '{at_least}' AND due < now() + 2 * interval \
                 '{at_least}' FROM job_pool"
            )),
            format!("{attempt}|·|t")
        );
        assert_eq!(session.status(wid), "R");
        owner.run("UPDATE wed.job SET due = now()");
    }
    assert_eq!(flow.end_of(wid), "E");
    on(host.stop());
    assert_eq!(session.number("SELECT count(*) FROM wed_attempt"), 4);
}

#[harness::test]
fn a_transition_says_when_it_is_tried_again() {
    let database = Database::new();
    let flow = flow_of_one(&database, "abort-after", ", timeout, attempts, backoff='1 minute', 2, '1 hour'");
    let host = database.host(one_lane("patient"));
    let mut session = flow.session();
    let wid = session.start();
    eventually("the attempt on record", || (session.number("SELECT count(*) FROM wed_attempt") == 1).then_some(()));
    assert_eq!(
        session.line("SELECT outcome, attempt, message FROM wed_attempt"),
        "aborted|1|aborted: the shop is closed"
    );
    // In 90 seconds instead of the trigger's hour.
    assert_eq!(session.pending(wid), ["abort-after"]);
    assert_eq!(session.line("SELECT attempt, due - now() BETWEEN '30 seconds' AND '90 seconds' FROM job_pool"), "1|t");
    on(host.stop());
}

#[harness::test]
fn one_bad_row_hurts_its_own_instance_only() {
    let database = Database::new();
    // Counts `n` up: out of range for one instance; for another it makes a condition divide by zero.
    let counting = flow(
        &database,
        "counting",
        "INSERT INTO wed_trig (tgname, trname, cpred, attempts) VALUES ('t', 'clause', $$a1 = 'new'$$, 1);
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('d', 'divide', $$a1 = 'done' and 10 / n > 100$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 = 'done'$$, true)",
    );
    counting.bind("clause", "hostile");
    // Sets what is no label.
    let labelled = database.flow("labelled");
    labelled.session().run(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('a1', 'enum(new, done)', 'new'), ('n', 'integer', '0');
         INSERT INTO wed_attr (aname, atype) VALUES ('tags', 'text[]');
         INSERT INTO wed_trig (tgname, trname, cpred, attempts) VALUES ('t', 'nap', $$a1 = 'new'$$, 1);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true)",
    );
    labelled.bind("nap", "hostile");
    let mut session = counting.session();
    session.run(
        "INSERT INTO wed_flow (n) SELECT CASE g WHEN 17 THEN 2147483647 WHEN 23 THEN -1 ELSE g END \
         FROM generate_series(1, 60) g",
    );
    labelled.session().run("INSERT INTO wed_flow (n) SELECT generate_series(1, 3)");
    // All are pending before anybody looks, so that they come in batches.
    let host = database.host(one_lane("batches"));
    for flow in [&counting, &labelled] {
        eventually("the end of all", || {
            (flow.session().number("SELECT count(*) FROM wed_instance WHERE status = 'R'") == 0).then_some(())
        });
        assert_sound(flow);
    }
    on(host.stop());
    let ends = |session: &mut Session| {
        session.lines("SELECT status, count(*) FROM wed_instance GROUP BY status ORDER BY status")
    };
    assert_eq!(ends(&mut session), ["E|2", "F|58"]);
    assert_eq!(
        session.lines(
            "SELECT w.n, t.trw, t.note LIKE '%out of range%', t.note LIKE '%division by zero%' \
          FROM wed_instance i JOIN wed_flow w USING (wid) JOIN wed_trace t USING (wid) \
          WHERE i.status = 'E' AND t.status = 'E' ORDER BY w.n"
        ),
        ["0|clause|f|t", "2147483647|_ABORT|t|f"]
    );
    assert_eq!(session.lines("SELECT outcome, count(*) FROM wed_attempt GROUP BY outcome"), ["refused|1"]);
    let mut session = labelled.session();
    assert_eq!(ends(&mut session), ["E|3"]);
    assert_eq!(session.lines("SELECT outcome, count(*) FROM wed_attempt GROUP BY outcome"), ["refused|3"]);
}

/// A host tries a batch again with each state evaluated by itself: nobody's attempt fails for one slow state.
#[harness::test]
fn slow_conditions_of_one_state_make_one_exception_of_a_batch() {
    let database = Database::new();
    let slow: Vec<String> = (0..100)
        .map(|at| {
            format!("translate(note, 'cdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', '') = 'x{at}'")
        })
        .collect();
    let triggers: Vec<String> =
        (0..3).map(|at| format!("('slow{at}', 'more', $$a1 <> 'new' AND ({})$$)", slow.join(" OR "))).collect();
    let flow = flow(
        &database,
        "slow",
        &format!(
            "INSERT INTO wed_attr (aname) VALUES ('note');
             INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'clause', $$a1 = 'new'$$), {};
             INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true)",
            triggers.join(", ")
        ),
    );
    flow.bind("clause", "hostile");
    let mut session = flow.session();
    session.run(
        "INSERT INTO wed_flow (note) SELECT repeat('ab', CASE g WHEN 3 THEN 125000 ELSE 1 END) \
         FROM generate_series(1, 8) g",
    );
    let host = database.host(one_lane("slow"));
    eventually("the end of all", || {
        (session.number("SELECT count(*) FROM wed_instance WHERE status = 'R'") == 0).then_some(())
    });
    on(host.stop());
    assert_eq!(
        session.lines("SELECT status, count(*), min(wid) FROM wed_instance GROUP BY 1 ORDER BY 1"),
        ["E|1|3", "F|7|1"]
    );
    let note = session.line("SELECT note FROM wed_trace WHERE status = 'E'");
    assert!(note.contains("more than 1 s"), "{note}");
    assert_eq!(session.number("SELECT count(*) FROM wed_attempt"), 0);
    assert_eq!(session.number("SELECT max(attempt) FROM wed_trace"), 1, "nobody was tried again");
}

/// Postgres ends a commit that runs for too long; halving finds the result that it is for.
#[harness::test]
fn statement_that_runs_too_long_hurts_one_result_of_a_batch() {
    let database = Database::new();
    let flow = flow(
        &database,
        "stuck",
        "INSERT INTO wed_trig (tgname, trname, cpred, attempts) VALUES ('t', 'clause', $$a1 = 'new'$$, 1);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true)",
    );
    flow.bind("clause", "hostile");
    let mut owner = database.owner();
    let schema = owner.line("SELECT schema_name FROM wed.flow");
    owner.run(&format!(
        "CREATE FUNCTION public.stay() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$;
         CREATE TRIGGER stay BEFORE UPDATE ON {schema}.wed_flow
           FOR EACH ROW WHEN (NEW.n = 3) EXECUTE FUNCTION public.stay()"
    ));
    let mut session = flow.session();
    session.run("INSERT INTO wed_flow (n) SELECT generate_series(1, 3)");
    let host = database.host(one_lane("stuck"));
    eventually("the end of all", || {
        (session.number("SELECT count(*) FROM wed_instance WHERE status = 'R'") == 0).then_some(())
    });
    on(host.stop());
    assert_eq!(session.lines("SELECT wid, status FROM wed_instance ORDER BY wid"), ["1|F", "2|E", "3|F"]);
    assert_eq!(
        session.lines("SELECT wid, outcome, message LIKE '%57014%' OR message LIKE '%timeout%' FROM wed_attempt"),
        ["2|refused|t"]
    );
}

#[harness::test]
fn a_batch_is_all_or_nothing_in_the_database() {
    let database = Database::new();
    let flow = flow_of_one(&database, "clause", "");
    let mut session = flow.session();
    session.run("INSERT INTO wed_flow (n) VALUES (1), (0), (5)");
    let store = &database.store;
    let host = on(store.register_host("by hand", Duration::from_secs(600))).expect("entered");
    let mut claimed = on(store.claim(host, 10)).expect("claimed");
    claimed.sort_by_key(|claimed| claimed.job.key.wid);
    let set = "\"a1\" = _b._1::text, \"n\" = (10 / n)";
    let one = |claimed| group(store, claimed, &["a1", "n"], Some(set), &["done"]);
    let mut all = one(&claimed[0]);
    for claimed in &claimed[1..] {
        all.items.extend(one(claimed).items);
    }
    let refused = on(store.commit_batch(host, &[all], false, true)).expect_err("a division by zero");
    assert_eq!(refused.code(), Some("22012"), "{refused}");
    assert_eq!(session.lines("SELECT DISTINCT a1 FROM wed_flow"), ["new"]);
    assert_eq!(session.number("SELECT count(*) FROM wed_trace"), 3);
    assert_eq!(session.number(&format!("SELECT count(*) FROM job_pool WHERE lckid = 'host:{host}'")), 3);
    // Alone, the good ones pass.
    for (at, passes) in [(0, true), (1, false), (2, true)] {
        let alone = on(store.commit_batch(host, &[one(&claimed[at])], true, true));
        assert_eq!(alone.is_ok(), passes, "{alone:?}");
    }
    assert_eq!(session.lines("SELECT a1, n FROM wed_flow ORDER BY wid"), ["done|10", "new|0", "done|2"]);
    on(store.leave_host(host)).expect("left");
    assert_sound(&flow);
}

#[harness::test]
fn a_component_serves_exceptions() {
    let database = Database::new();
    let flow = flow_of_one(&database, "fail", "");
    flow.bind("_EXCPT", "hostile");
    let mut session = flow.session();
    let wid = session.start();
    let store = &database.store;
    // The guest has no transition of that name, so what one would do is done by hand here.
    let host = on(store.register_host("by hand", Duration::from_secs(600))).expect("entered");
    let claimed = on(store.claim(host, 10)).expect("claimed");
    let key = claimed[0].job.key;
    let failed = wedflow_store::FailedAttempt {
        flow: key.flow,
        wid: key.wid,
        token: claimed[0].job.token,
        outcome: "failed".to_owned(),
        message: "no stock".to_owned(),
        after: None,
        retry: false,
        fuel: 5,
        elapsed_us: 6,
        memory_bytes: 7,
    };
    on(store.fail_attempts(host, &[failed])).expect("recorded");
    assert_eq!(session.status(wid), "E");
    assert_eq!(
        session.line("SELECT attempt, fuel, elapsed_us, memory_bytes, note FROM wed_trace WHERE seq = 2"),
        "1|5|6|7|fail: failed after 1 attempt: no stock"
    );
    let claimed = on(store.claim(host, 10)).expect("claimed");
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    assert_eq!(claimed[0].job.transition, "_EXCPT");
    let fired = on(store.commit_batch(host, &[group(store, &claimed[0], &["a1"], None, &["mended"])], false, true))
        .expect("committed");
    assert!(fired.is_empty(), "{fired:?}");
    assert_eq!(session.status(wid), "F");
    assert_eq!(session.trace(wid), ["-> {fail} R", "_ABORT -> {_EXCPT} E", "_EXCPT -> {} F"]);
    on(store.leave_host(host)).expect("left");
    assert_sound(&flow);
}

#[harness::test]
fn answers_at_their_extremes_are_recorded_attempts() {
    // Transition, the outcome's name, a part of what is on record.
    const CASES: [(&str, &str, &str); 3] = [
        ("date-extreme", "refused", "2147483646 days after 1970"),
        ("zero-fail", "failed", "a\u{fffd}b"),
        ("zero-abort", "aborted", "a\u{fffd}b"),
    ];
    let database = Database::new();
    let host = database.host(one_lane("extremes"));
    for (transition, outcome, said) in CASES {
        let flow = flow(
            &database,
            &transition.replace('-', "_"),
            &format!(
                "INSERT INTO wed_attr (aname, atype) VALUES ('day', 'date');
                 INSERT INTO wed_trig (tgname, trname, cpred, attempts) VALUES ('t', '{transition}', $$a1 = 'new'$$, 1);
                 INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true)"
            ),
        );
        flow.bind(transition, "hostile");
        let wid = flow.session().start();
        assert_eq!(flow.end_of(wid), "E", "{transition}");
        let mut session = flow.session();
        let found = session.line("SELECT outcome, message FROM wed_attempt");
        assert!(found.starts_with(&format!("{outcome}|")) && found.contains(said), "{transition}: {found}");
    }
    drop(host);
}
