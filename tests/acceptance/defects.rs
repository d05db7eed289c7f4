//! The eighteen defects of the papers' reference implementation, each shown to be none of ours, in its
//! plain form. Other modules look at the same ground from all sides.

use std::borrow::Cow;
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator;
use wedflow_model::Measure;
use wedflow_store::{CommitGroup, CommitItem};

use crate::support::database::{one_lane, sample_component};
use crate::support::flows::{PAPER, STEPS};
use crate::support::{Database, Flow, GENEROUS, Session, eventually, on, repository, sweep};

/// Returns what a listener hears within a deadline, if anything.
fn heard(listener: &mut Session, within: Duration) -> Option<(String, String)> {
    listener
        .notifications()
        .timeout_iter(within)
        .next()
        .expect("connected")
        .map(|heard| (heard.channel().to_owned(), heard.payload().to_owned()))
}

#[harness::test]
fn defect_01_text_in_a_state_is_never_run() {
    let mut s = Flow::of(PAPER).session();
    let wicked = "'); UPDATE wed_attr SET open = true; DROP TABLE wed_trig; SELECT ('";
    let wid: i32 =
        s.query_one("INSERT INTO wed_flow (a2) VALUES ($1) RETURNING wid", &[&wicked]).expect("started").get(0);
    let wid = i64::from(wid);
    s.run("BEGIN");
    assert!(s.take(wid, "tr_a3"));
    s.execute("UPDATE wed_flow SET a3 = $1", &[&wicked]).expect("updated");
    s.run("COMMIT");
    assert_eq!(s.pending(wid), ["tr_final"]);
    assert_eq!(s.number("SELECT count(*) FROM wed_attr WHERE open"), 0);
    assert_eq!(s.number("SELECT count(*) FROM wed_trig"), 4);
    let kept: serde_json::Value = s.query_one("SELECT payload FROM job_pool", &[]).expect("the job").get(0);
    assert_eq!((&kept["a2"], &kept["a3"]), (&wicked.into(), &wicked.into()));
}

#[harness::test]
fn defect_02_states_with_quotes_or_of_any_length_are_notified() {
    let flow = Flow::of(PAPER);
    let (mut listener, mut s) = (flow.session(), flow.session());
    listener.run("LISTEN tr_a2");
    let tgid = s.number("SELECT tgid FROM wed_trig WHERE trname = 'tr_a2'");
    for (wid, state) in (1..).zip(["it's", &"x".repeat(8_001), &"'\"\\".repeat(60_000)]) {
        s.execute("INSERT INTO wed_flow (a3) VALUES ($1)", &[&state]).expect("started");
        let (channel, message) = heard(&mut listener, GENEROUS).expect("a notification");
        assert_eq!(channel, "tr_a2");
        let message: serde_json::Value = serde_json::from_str(&message).expect("JSON");
        assert_eq!(message, serde_json::json!({ "wid": wid, "tgid": tgid }));
    }
    assert_eq!(
        s.line("SELECT max(length(payload ->> 'a3')) FROM job_pool"),
        "180000",
        "the state is where the notification points to"
    );
}

#[harness::test]
fn defect_03_conditions_run_with_no_rights() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    for condition in [
        "pg_read_file(''/etc/passwd'') <> ''''",
        "pg_stat_file(''/etc/passwd'') IS NOT NULL",
        "current_setting(''data_directory'') <> ''''",
    ] {
        let refusal = s.refused(&format!("INSERT INTO wed_trig (trname, cpred) VALUES ('x', '{condition}')"));
        assert_eq!(refusal.code, "WF011", "{condition}: {refusal:?}");
    }
    let shape = format!("{}_shape", s.line("SELECT current_schema"));
    let mut owner = flow.database.owner();
    assert_eq!(
        owner.lines(&format!(
            "SELECT r.rolname, p.prosecdef, r.rolsuper, r.rolcanlogin, r.rolinherit
             FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner
             WHERE p.proname = 'match_{shape}' AND p.pronamespace = '{shape}'::regnamespace"
        )),
        ["wed_predicate|t|f|f|f"]
    );
    let granted = owner.lines(&format!(
        "SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE (nspname IN ('wed', 'public') OR nspname LIKE 'wf\\_%') AND nspname <> '{shape}' AND c.relkind IN \
         ('r', 'v')
           AND has_table_privilege('wed_predicate', c.oid, 'SELECT, INSERT, UPDATE, DELETE')"
    ));
    assert!(granted.is_empty(), "{granted:?}");
}

#[harness::test]
fn defect_04_words_of_sql_inside_strings_are_only_words() {
    let mut s = Flow::of(
        "INSERT INTO wed_attr (aname, adv) VALUES ('a1', 'created'), ('deleted', 'no'), ('update_count', '0');
         INSERT INTO wed_trig (trname, cpred) VALUES
           ('one', $$a1='created'$$), ('two', $$a1 = 'insert; drop table x -- select' or deleted = 'no'$$),
           ('three', $$update_count = '0' and a1 <> 'truncate'$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 = 'dropped'$$, true);",
    )
    .session();
    let wid = s.start();
    assert_eq!(s.trace(wid), ["-> {one,two,three} R"]);
}

#[harness::test]
fn defect_05_a_bad_condition_is_refused_when_it_is_defined() {
    let mut s = Flow::of(PAPER).session();
    let refusal =
        s.refused("INSERT INTO wed_trig (trname, cpred) VALUES ('x', 'a1 = ''x'' and a9 is null')").expect("42703");
    let (query, position) = refusal.inside.expect("a place");
    assert!(query[position as usize - 1..].starts_with("a9"), "{query} {position}");
    s.refused("UPDATE wed_trig SET cpred = 'a1 = ' WHERE tgname = 't1'").expect("42601");
    let wid = s.start();
    s.finish(wid, "tr_a2", "a2 = 'done'");
    // A new name is followed.
    s.run("UPDATE wed_attr SET aname = 'hotel' WHERE aname = 'a3'");
    s.finish(wid, "tr_a3", "hotel = 'done'");
    assert_eq!(s.pending(wid), ["tr_final"]);
    // One that fails on a value hurts the instance that has it, and says so.
    s.run("INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('n', 'integer', '1', true)");
    s.run("INSERT INTO wed_trig (trname, cpred, enabled) VALUES ('div', '1 / n > 5', true)");
    s.run("INSERT INTO wed_flow (a1) VALUES ('ready'), ('ready')");
    s.run("UPDATE wed_flow SET n = 2 - wid WHERE wid IN (2, 3)");
    assert_eq!(
        s.lines("SELECT wid, status, note LIKE '%division by zero%' FROM wed_trace WHERE trw = '_EVENT' ORDER BY wid"),
        ["2|E|t", "3|R|·"]
    );
}

#[harness::test]
fn defect_06_the_final_condition_can_be_changed_disabled_and_removed() {
    let mut s = Flow::of(STEPS).session();
    s.run("UPDATE wed_trig SET cpred = 'n >= 5' WHERE cfinal");
    s.run("UPDATE wed_trig SET cpred = 'n < 5' WHERE NOT cfinal");
    let wid = s.start();
    s.finish(wid, "step", "n = 4");
    assert_eq!(s.status(wid), "R");
    s.run("UPDATE wed_trig SET enabled = false WHERE cfinal");
    s.finish(wid, "step", "n = 5");
    assert_eq!(s.status(wid), "E", "nothing is left to do, and nothing is final");
    s.run("UPDATE wed_trig SET enabled = true WHERE cfinal");
    s.finish(wid, "_EXCPT", "n = 5");
    assert_eq!(s.status(wid), "F");
    s.run("DELETE FROM wed_trig WHERE cfinal");
    s.refused("INSERT INTO wed_flow (n) VALUES (5)").expect("WF001");
    s.run("INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 7', true)");
    s.run("INSERT INTO wed_flow (n) VALUES (7)");
    s.refused("INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 8', true)").expect("WF013");
}

#[harness::test]
fn defect_07_an_exception_is_served_and_its_trace_shows_what_fired() {
    let flow = Flow::of(STEPS);
    let (mut listener, mut s) = (flow.session(), flow.session());
    listener.run("LISTEN \"_EXCPT\"");
    let wid = s.start();
    s.finish(wid, "step", "n = NULL");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {_EXCPT} E"]);
    let (_, message) = heard(&mut listener, GENEROUS).expect("a notification");
    assert!(message.contains(&format!("\"wid\":{wid}")), "{message}");
    assert_eq!(s.line("SELECT trname, payload ->> 'n', lckid FROM job_pool"), "_EXCPT|·|·");
    s.finish(wid, "_EXCPT", "n = 0");
    assert_eq!(s.trace(wid)[2], "_EXCPT -> {step} R");
    assert_eq!(s.status(wid), "R");
}

#[harness::test]
fn defect_08_a_lock_that_was_freed_is_not_granted_for_a_job_that_is_done() {
    let flow = Flow::of(PAPER);
    let (mut one, mut two) = (flow.session(), flow.session());
    let wid = one.start();
    // Both have seen the job in the pool.
    let ask = two.line(
        "SELECT format('SELECT pg_try_advisory_xact_lock(%s, %s)', wid, tgid) FROM job_pool WHERE \
     trname = 'tr_a2'",
    );
    one.run("BEGIN");
    assert!(one.take(wid, "tr_a2"));
    two.run("BEGIN");
    assert_eq!(two.line(&ask), "f", "somebody is at it");
    one.run(&format!("UPDATE wed_flow SET a2 = 'done' WHERE wid = {wid}; COMMIT"));
    assert_eq!(two.line(&ask), "f", "it is done");
    two.run("ROLLBACK");
    assert_eq!(two.line(&ask), "f");
}

#[harness::test]
fn defect_08_a_host_that_lost_a_job_cannot_commit_it() {
    let flow = Flow::of(PAPER);
    flow.database.upload("paper", sample_component("paper"));
    flow.bind("tr_a2", "paper");
    let mut s = flow.session();
    let wid = s.start();
    let store = &flow.database.store;
    let slow = on(store.register_host("slow", Duration::from_millis(1))).expect("entered");
    let lost = on(store.claim(slow, 10)).expect("claimed").remove(0).job;
    eventually("the leases of the slow host have ended", || (sweep(store)[0] == 1).then_some(()));
    let quick = on(store.register_host("quick", GENEROUS)).expect("entered");
    let found = on(store.claim(quick, 10)).expect("claimed").remove(0).job;
    assert_eq!((found.key, found.attempt), (lost.key, 2));
    assert!(found.token > lost.token);
    let commit = |host, token, value: &str| {
        let group = CommitGroup {
            flow: flow.id,
            version: i32::MAX,
            gate: on(store.flow_shape(flow.id)).expect("a flow").gate.into(),
            assigned: vec!["a2".into()].into(),
            set: None,
            items: vec![Cow::Owned(CommitItem {
                wid: lost.key.wid,
                token,
                literals: vec![Some(value.into())],
                tgid: lost.key.tgid,
                measure: Measure::default(),
            })],
        };
        on(store.commit_batch(host, &[group], false, true))
            .map(|fired| fired.len())
            .map_err(|error| error.code().unwrap_or("moved on").to_owned())
    };
    let refused = |code: &str| Err(code.to_owned());
    assert_eq!(commit(slow, lost.token, "late"), refused("WF016"));
    assert_eq!(commit(slow, found.token, "forged"), refused("WF016"));
    assert_eq!(commit(quick, lost.token, "late"), refused("moved on"));
    assert_eq!(s.trace(wid).len(), 1);
    assert!(commit(quick, found.token, "done").is_ok());
    assert_eq!(commit(quick, found.token, "twice"), refused("moved on"));
    assert_eq!(s.line("SELECT a2 FROM wed_flow"), "done");
    assert_eq!(s.trace(wid).len(), 2);
    assert_eq!(s.line("SELECT attempt, outcome FROM wed_attempt"), "1|abandoned");
}

#[harness::test]
fn defect_09_the_trace_is_in_the_order_of_commits() {
    let flow = Flow::of(PAPER);
    let (mut slow, mut quick) = (flow.session(), flow.session());
    let wid = slow.start();
    slow.run("BEGIN");
    let begun = slow.line("SELECT now()");
    assert!(slow.take(wid, "tr_a2"));
    quick.finish(wid, "tr_a3", "a3 = 'done'");
    slow.run(&format!("UPDATE wed_flow SET a2 = 'done' WHERE wid = {wid}; COMMIT"));
    assert_eq!(slow.lines("SELECT seq, trw FROM wed_trace ORDER BY seq"), ["1|·", "2|tr_a3", "3|tr_a2"]);
    assert_eq!(slow.lines("SELECT seq FROM wed_trace ORDER BY tstmp"), ["1", "2", "3"]);
    assert_eq!(slow.lines(&format!("SELECT seq FROM wed_trace WHERE tstmp > '{begun}' ORDER BY seq")), ["2", "3"]);
}

#[harness::test]
fn defect_10_a_job_whose_condition_no_longer_holds_is_skipped() {
    const DEFINITION: &str = "
        INSERT INTO wed_attr (aname, adv, open) VALUES ('a', 'x', true), ('b', '0', false);
        INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'slow', $$a = 'x'$$), ('other', 'other', $$b = '0'$$);
        INSERT INTO wed_trig (cpred, cfinal) VALUES ($$b = '1'$$, true);";
    let flow = Flow::of(DEFINITION);
    let mut s = flow.session();
    let (wid, second) = (s.start(), s.start());
    s.run("UPDATE wed_flow SET a = 'y'");
    s.run("BEGIN");
    assert!(!s.take(wid, "slow"), "its condition is false by now");
    s.run("COMMIT");
    assert_eq!(s.trace(wid), ["-> {slow,other} R", "_EVENT -> {} R", "_SKIP -> {} R"]);
    assert_eq!(s.line(&format!("SELECT trname, outcome FROM wed_attempt WHERE wid = {wid}")), "slow|skipped");
    assert_eq!(s.pending(wid), ["other"]);
    // Where nobody asks for it, housekeeping finds it.
    eventually("the job of the second instance is skipped", || {
        sweep(&flow.database.store);
        (s.pending(second) == ["other"]).then_some(())
    });
    // The choice is the trigger's.
    s.run("UPDATE wed_trig SET recheck = false WHERE tgname = 't'");
    let third = s.start();
    s.run(&format!("UPDATE wed_flow SET a = 'y' WHERE wid = {third}"));
    sweep(&flow.database.store);
    s.finish(third, "slow", "a = 'z'");
    assert_eq!(s.trace(third)[2], "slow -> {} R");
}

#[harness::test]
fn defect_11_two_locks_in_one_transaction_are_refused() {
    let mut s = Flow::of(PAPER).session();
    let (wid, other) = (s.start(), s.start());
    s.run("BEGIN");
    assert!(s.take(wid, "tr_a2") && s.take(wid, "tr_a3"));
    let refusal = s.refused(&format!("UPDATE wed_flow SET a2 = 'done' WHERE wid = {wid}")).expect("WF005");
    assert!(!refusal.hint.is_empty(), "{refusal:?}");
    assert_eq!(s.trace(wid).len(), 1);
    // Of two instances there is nothing to confuse.
    s.run("BEGIN");
    assert!(s.take(wid, "tr_a2") && s.take(other, "tr_a3"));
    s.run(&format!(
        "UPDATE wed_flow SET a2 = 'done' WHERE wid = {wid}; UPDATE wed_flow SET a3 = 'done' WHERE wid = {other}; COMMIT"
    ));
    assert_eq!(s.trace(wid)[1], "tr_a2 -> {} R");
    assert_eq!(s.trace(other)[1], "tr_a3 -> {} R");
}

#[harness::test]
fn defect_12_a_worker_beyond_its_timeout_is_ended_and_counted() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET timeout = '200 ms', attempts = 2, backoff = '0' WHERE NOT cfinal");
    let wid = s.start();
    for attempt in 1..=2 {
        let mut slow = flow.session();
        slow.run("BEGIN");
        // The server frees the locks of a session that it ends after its client knows.
        eventually(&format!("attempt {attempt} begins"), || slow.take(wid, "step").then_some(()));
        eventually("the worker is ended", || (sweep(&flow.database.store)[1] == 1).then_some(()));
        assert!(slow.batch_execute("SELECT 1").is_err(), "its session is gone");
    }
    assert_eq!(s.lines("SELECT attempt, outcome FROM wed_attempt ORDER BY attempt"), ["1|timed_out", "2|timed_out"]);
    assert_eq!(s.trace(wid), ["-> {step} R", "_ABORT -> {_EXCPT} E"]);
    assert_eq!(s.line("SELECT note LIKE '%timed_out after 2 attempts%' FROM wed_trace WHERE seq = 2"), "t");
    assert_eq!(s.pending(wid), ["_EXCPT"]);
}

/// Two transitions side by side, of which the first makes the instance final.
const FINAL_EARLY: &str = "
INSERT INTO wed_attr (aname) VALUES ('a1'), ('a2'), ('a3');
INSERT INTO wed_trig (trname, cpred) VALUES ('tr_a2', 'a2 IS NULL'), ('tr_a3', 'a3 IS NULL');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('a2 IS NOT NULL', true);";

#[harness::test]
fn defect_13_final_while_others_are_pending_has_an_outcome_of_its_own() {
    let flow = Flow::of(FINAL_EARLY);
    flow.database.upload("paper", sample_component("paper"));
    flow.bind("tr_a2", "paper");
    let mut s = flow.session();
    let wid = s.start();
    let host = flow.database.host(one_lane("host"));
    eventually("the result of tr_a2 waits for tr_a3", || {
        (s.lines("SELECT trname, waits_for ~ 'pending transitions', attempt FROM job_pool ORDER BY 1")
            == ["tr_a2|t|0", "tr_a3|f|0"])
        .then_some(())
    });
    assert_eq!(s.line("SELECT DISTINCT trname, outcome FROM wed_attempt"), "tr_a2|final_pending");
    assert_eq!(s.trace(wid).len(), 1);
    // An external worker learns it by a code of its own.
    let external = Flow::of(FINAL_EARLY);
    let mut t = external.session();
    let other = t.start();
    t.finish_refused(other, "tr_a2", "a2 = 'done'").expect("WF007");
    // When the other one is done, the result is committed: no attempt was used up, nothing stays stuck.
    s.finish(wid, "tr_a3", "a3 = 'done'");
    assert_eq!(flow.end_of(wid), "F");
    assert_eq!(s.trace(wid), ["-> {tr_a2,tr_a3} R", "tr_a3 -> {} R", "tr_a2 -> {} F"]);
    on(host.stop());
}

#[harness::test]
fn defect_14_a_transition_sets_what_it_declares_and_nothing_else() {
    let flow = Flow::of(PAPER);
    flow.database.upload("paper", sample_component("paper"));
    flow.bind("tr_a3", "paper");
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET writes = '{a2}', attempts = 1 WHERE tgname IN ('t1', 't2')");
    let wid = s.start();
    s.finish_refused(wid, "tr_a2", "a2 = 'done', a3 = 'done'").expect("WF010");
    s.finish(wid, "tr_a2", "a2 = 'done'");
    // The component sets a3, which the trigger of this flow does not allow.
    let host = flow.database.host(one_lane("host"));
    assert_eq!(flow.end_of(wid), "E");
    on(host.stop());
    assert_eq!(s.line("SELECT trname, outcome, message LIKE '%a3%' FROM wed_attempt"), "tr_a3|refused|t");
    assert_eq!(s.line("SELECT a1, a2, a3 FROM wed_flow"), "ready|done|·");
}

#[harness::test]
fn defect_15_names_are_checked_and_quoted() {
    let mut s = Database::new().flow("names").session();
    for name in ["wid", "Wid", "xmin", "a-b", "1a", "_a", "a b", ""] {
        s.refused(&format!("INSERT INTO wed_attr (aname) VALUES ('{name}')")).expect("WF012");
    }
    s.run("INSERT INTO wed_attr (aname, adv) VALUES ('Select', '1'), ('order', '2'), ('größe', '3')");
    s.refused("INSERT INTO wed_attr (aname) VALUES ('select')").expect("WF012");
    s.run(
        "INSERT INTO wed_trig (trname, cpred) VALUES ('t', $$\"Select\" = '1' and \"order\" = '2' and größe = '3'$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$\"order\" = '9'$$, true)",
    );
    let wid = s.start();
    s.finish(wid, "t", "\"order\" = '9'");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn defect_16_the_model_changes_online_and_a_preview_says_what_would_fire() {
    let flow = Flow::of(PAPER);
    let (mut busy, mut s) = (flow.session(), flow.session());
    let wid = s.start();
    // A worker is in the middle of a transition: it has its lock, and has not yet touched wed_flow.
    busy.run("BEGIN");
    assert!(busy.take(wid, "tr_a2"));
    s.run("INSERT INTO wed_attr (aname, atype, adv) VALUES ('level', 'integer', '1')");
    s.run("INSERT INTO wed_trig (trname, cpred) VALUES ('raise', 'level = 1')");
    busy.run(&format!("UPDATE wed_flow SET a2 = 'done' WHERE wid = {wid}; COMMIT"));
    assert_eq!(s.trace(wid)[1], "tr_a2 -> {raise} R", "a new state is matched by the new model");
    let still = s.start();
    s.run("UPDATE wed_trig SET enabled = false WHERE trname = 'raise'");
    let second = s.start();
    s.run("UPDATE wed_trig SET enabled = true WHERE trname = 'raise'");
    assert_eq!(s.lines("SELECT wid, fires FROM wed_rematch() ORDER BY wid"), [format!("{second}|{{raise}}")]);
    assert_eq!(s.pending(second), ["tr_a2", "tr_a3"], "a preview changes nothing");
    s.lines("SELECT * FROM wed_rematch(false)");
    assert_eq!(s.pending(second), ["raise", "tr_a2", "tr_a3"]);
    assert_eq!(s.pending(still), ["raise", "tr_a2", "tr_a3"]);
}

#[harness::test]
fn defect_17_the_flows_own_role_reads_the_status() {
    let mut s = Flow::of(STEPS).session();
    let (running, stuck) = (s.start(), s.start());
    s.run("INSERT INTO wed_flow (n) VALUES (3)");
    s.finish(stuck, "step", "n = NULL");
    assert_eq!(s.lines("SELECT wid, status FROM wed_instance ORDER BY wid"), ["1|R", "2|E", "3|F"]);
    assert_eq!(
        s.lines("SELECT DISTINCT ON (wid) wid, status FROM wed_trace ORDER BY wid, seq DESC"),
        ["1|R", "2|E", "3|F"]
    );
    assert_eq!(running, 1);
}

#[harness::test]
fn defect_18_one_notification_connection_serves_a_whole_host() {
    let database = Database::new();
    let samples = repository("sample-transitions");
    for (component, files) in [
        ("paper", &["paper/flow.toml"][..]),
        ("counters", &["counters/flow.toml"]),
        ("travel", &["travel/flow.toml"]),
        ("patterns", &["patterns/flows/and-split-join.toml", "patterns/flows/n-of-m.toml"]),
    ] {
        database.upload(component, sample_component(component));
        for file in files {
            database.apply(&samples.join(file));
        }
    }
    let flows: Vec<Flow> = ["paper", "counters", "travel"]
        .iter()
        .map(|sample| database.apply(&samples.join(sample).join("flow.toml")))
        .collect();
    let settings = one_lane("host");
    let most = i64::from(settings.connections_max());
    let mut owner = database.owner();
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = \
     'wedflow'";
    // The test's own store.
    let before = owner.number(sessions);
    let host = database.host(settings);
    let listening = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE \
     'LISTEN%'";
    eventually("the host listens", || (owner.number(listening) == 1).then_some(()));
    for flow in &flows {
        let wid = flow.session().start();
        assert_eq!(flow.end_of(wid), "F", "{}", flow.name);
    }
    assert_eq!(owner.number(listening), 1);
    // While a connection is replaced, the old one and the new one are both counted for a moment.
    eventually("no more connections than the host may have", || {
        let after = owner.number(sessions);
        (after > before && after <= before + most).then_some(())
    });
    on(host.stop());
}
