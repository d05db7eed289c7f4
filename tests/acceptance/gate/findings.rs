//! Ways to lose a value, to stop others or to get stuck, each closed.

use std::time::Duration;

use crate::host::group;
use crate::support::database::{one_lane, sample_component};
use crate::support::flows::{PAPER, STEPS};
use crate::support::{Database, Flow, Session, eventually, on, sweep};

/// Runs a statement in a session of its own, and hands over the refusal it ended with.
fn beside(mut session: Session, statement: &'static str) -> std::thread::JoinHandle<Option<String>> {
    let handle = std::thread::spawn(move || session.tried(statement).map(|refusal| refusal.code));
    // Until it waits.
    std::thread::sleep(Duration::from_millis(300));
    handle
}

const REGISTER: &str = "SELECT wed.register_host('by hand', '1 hour')";

/// The papers' flow with both first transitions left to a component, and one instance.
fn hosted() -> (Flow, i64) {
    let flow = Flow::of(PAPER);
    flow.database.upload("paper", sample_component("paper"));
    flow.bind("tr_a2", "paper");
    flow.bind("tr_a3", "paper");
    let wid = flow.session().start();
    (flow, wid)
}

#[harness::test]
fn type_change_beside_an_insert_loses_no_value() {
    let flow = Flow::of(STEPS);
    let (mut s, owner) = (flow.session(), flow.session());
    s.run("INSERT INTO wed_attr (aname, atype) VALUES ('code', 'integer')");
    s.run("BEGIN; INSERT INTO wed_flow (code) VALUES (7)");
    let change = beside(owner, "UPDATE wed_attr SET atype = 'text' WHERE aname = 'code'");
    s.run("COMMIT");
    assert_eq!(change.join().expect("joined").as_deref(), Some("WF013"));
    assert_eq!(s.line("SELECT code FROM wed_flow"), "7");
}

const ACCOUNT: &str = "
INSERT INTO wed_attr (aname, atype, adv, open) VALUES
  ('balance', 'float', '1000', false), ('price', 'numeric', '1.5', false), ('poke', 'integer', '0', true);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', 'balance > 0');";

#[harness::test]
fn settings_do_not_hide_a_change() {
    let mut s = Flow::of(ACCOUNT).session();
    s.start();
    s.run("SET extra_float_digits = -15");
    s.refused("UPDATE wed_flow SET balance = 1499, poke = 1").expect("WF003");
    s.run("UPDATE wed_flow SET poke = 2");
    s.run("SET extra_float_digits = -2; UPDATE wed_attr SET open = true WHERE aname = 'balance'");
    s.run("UPDATE wed_flow SET balance = 0.1234567890123456");
    assert_eq!(s.line("SELECT state ->> 'balance' FROM wed_trace ORDER BY seq DESC LIMIT 1"), "0.1234567890123456");
}

#[harness::test]
fn change_of_a_values_image_is_a_change() {
    let mut s = Flow::of(ACCOUNT).session();
    s.start();
    s.refused("UPDATE wed_flow SET price = 1.50, poke = 1").expect("WF003");
    s.run("UPDATE wed_flow SET price = price, poke = 1");
}

#[harness::test]
fn job_that_cannot_be_looked_at_is_not_claimed() {
    let (flow, wid) = hosted();
    let mut owner = flow.database.owner();
    let (mut s, mut holder) = (flow.session(), flow.session());
    s.run("UPDATE wed_attr SET open = true WHERE aname = 'a2'");
    s.run("UPDATE wed_flow SET a2 = 'done by hand'");
    holder.run("BEGIN; SELECT * FROM wed_flow FOR UPDATE");
    let host = owner.number(REGISTER);
    let claimed = format!("SELECT trname FROM wed.claim({host}, 10) ORDER BY 1");
    assert_eq!(owner.lines(&claimed), ["tr_a3"]);
    assert_eq!(s.pending(wid), ["tr_a2", "tr_a3"]);
    assert_eq!(s.line("SELECT waits_for LIKE 'a lock%' FROM job_pool WHERE trname = 'tr_a2'"), "t");
    holder.run("COMMIT");
    owner.run("UPDATE wed.job SET due = now() WHERE host_id IS NULL");
    assert!(owner.lines(&claimed).is_empty());
    assert_eq!(s.trace(wid).pop().as_deref(), Some("_SKIP -> {} R"));
}

#[harness::test]
fn job_that_is_put_off_keeps_its_sibling_alive() {
    let (flow, wid) = hosted();
    let store = &flow.database.store;
    let host = on(store.register_host("by hand", Duration::from_secs(600))).expect("registered");
    let claimed = on(store.claim(host, 10)).expect("claimed");
    on(store.put_off(host, &[claimed[0].job.token], None, Duration::from_secs(5))).expect("put off");
    let mut owner = flow.database.owner();
    owner.run(&format!(
        "SELECT wed.fail_attempts({host}, jsonb_build_array(jsonb_build_object( \
           'flow', flow_id, 'wid', wid, 'token', token, 'outcome', 'final_pending', 'message', '', 'retry', true))) \
         FROM wed.job WHERE token = {}",
        claimed[1].job.token
    ));
    let mut s = flow.session();
    assert_eq!(s.status(wid), "R");
    assert_eq!(owner.lines("SELECT awaits_siblings, put_off IS NOT NULL FROM wed.job ORDER BY 1"), ["f|t", "t|f"]);
    assert_eq!(s.lines("SELECT waits_for LIKE 'a lock%' FROM job_pool ORDER BY 1"), ["f", "t"]);
    // Its sibling leaves the pool: it is due.
    owner.run("UPDATE wed.job SET due = now() WHERE NOT awaits_siblings");
    let again = on(store.claim(host, 10)).expect("claimed").remove(0);
    let attribute = again.job.transition.trim_start_matches("tr_").to_owned();
    let done = group(store, &again, &[&attribute], None, &["done"]);
    on(store.commit_batch(host, &[done], false, false)).expect("committed");
    assert_eq!(owner.line("SELECT bool_or(awaits_siblings), bool_and(due <= now()) FROM wed.job"), "f|t");
}

#[harness::test]
fn results_made_before_a_renaming_are_made_anew() {
    let (flow, wid) = hosted();
    let store = &flow.database.store;
    let host = on(store.register_host("by hand", Duration::from_secs(600))).expect("registered");
    let mut claimed = on(store.claim(host, 10)).expect("claimed");
    claimed.sort_by(|a, b| a.job.transition.cmp(&b.job.transition));
    let mut s = flow.session();
    // Another attribute: nothing of the result is another's.
    s.run("INSERT INTO wed_attr (aname) VALUES ('a4')");
    let first = group(store, &claimed[0], &["a2"], None, &["done"]);
    on(store.commit_batch(host, &[first], false, false)).expect("committed");
    // The names of two are exchanged: the result's name is another's.
    s.run(
        "BEGIN; UPDATE wed_attr SET aname = 'a' WHERE aname = 'a3'; \
         UPDATE wed_attr SET aname = 'a3' WHERE aname = 'a4'; COMMIT",
    );
    let second = group(store, &claimed[1], &["a3"], None, &["lost"]);
    let refused = on(store.commit_batch(host, &[second], false, false)).expect_err("out of date");
    assert_eq!(refused.code(), Some("WF018"), "{refused}");
    on(store.release(host, &[claimed[1].job.token])).expect("given back");
    assert_eq!(s.line("SELECT a3, a FROM wed_flow"), "·|·");
    let again = on(store.claim(host, 10)).expect("claimed").remove(0);
    assert_eq!((again.job.attempt, again.job.key), (1, claimed[1].job.key));
    let anew = group(store, &again, &["a"], None, &["done"]);
    on(store.commit_batch(host, &[anew], false, false)).expect("committed");
    assert_eq!(s.pending(wid), ["tr_final"]);
}

#[harness::test]
fn locked_definition_stops_no_host() {
    let (flow, _) = hosted();
    let free = flow.database.flow("free");
    free.session().run(PAPER);
    free.bind("tr_a2", "paper");
    let (mut s, mut t, mut holder) = (flow.session(), free.session(), flow.session());
    // A version that no host has loaded.
    s.run("UPDATE wed_trig SET priority = 1 WHERE trname = 'tr_a2'");
    holder.run("BEGIN; LOCK TABLE wed_attr, wed_trig IN ACCESS EXCLUSIVE MODE");
    let host = flow.database.host(one_lane("locked"));
    let (mine, theirs) = (s.start(), t.start());
    for (session, wid) in [(&mut t, theirs), (&mut s, mine)] {
        eventually("the transition is done beside the lock", || {
            (!session.pending(wid).contains(&"tr_a2".to_owned())).then_some(())
        });
    }
    holder.run("COMMIT");
    on(host.stop());
}

#[harness::test]
fn hosts_sessions_have_limits() {
    let flow = Flow::of(STEPS);
    let store = on(async { flow.database.store.for_host(1) });
    let mut holder = flow.session();
    let wid = holder.start();
    holder.run("BEGIN; SELECT * FROM wed_flow FOR UPDATE");
    let waits = on(store.rematch(flow.id, false));
    let waited = format!("{:?}", waits.expect_err("a lock"));
    assert!(waited.contains("Locked"), "{waited}");
    assert!(wid > 0);
}

#[harness::test]
fn one_bad_row_stops_no_sweep() {
    let flow = Flow::of(PAPER);
    flow.database.upload("paper", sample_component("paper"));
    flow.bind("tr_a2", "paper");
    flow.session().start();
    let mut owner = flow.database.owner();
    let host = owner.number(REGISTER);
    assert_eq!(owner.number(&format!("SELECT count(*) FROM wed.claim({host}, 1)")), 1);
    owner.run("UPDATE wed.host SET expires_at = now() - interval '1 s'");
    // No moment can be computed of it.
    owner.run("UPDATE wed.job SET timeout = '170000000 years' WHERE host_id IS NULL");
    let mut worker = flow.session();
    worker.run("BEGIN");
    let transition = owner.line("SELECT trname FROM wed.job WHERE host_id IS NULL");
    assert!(worker.take(1, &transition));
    sweep(&flow.database.store);
    assert_eq!(owner.number("SELECT count(*) FROM wed.job WHERE host_id IS NOT NULL"), 0);
    assert_eq!(owner.number("SELECT count(*) FROM wed.usage WHERE weighed_at > now() - interval '1 hour'"), 1);
}

#[harness::test]
fn sweep_waits_for_nobody() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET timeout = '10 ms', attempts = 1; UPDATE wed_attr SET open = true WHERE aname = 'a3'");
    let wid = s.start();
    let (mut worker, mut event) = (flow.session(), flow.session());
    worker.run("BEGIN");
    assert!(worker.take(wid, "tr_a2"));
    event.run(&format!("BEGIN; UPDATE wed_flow SET a3 = 'event' WHERE wid = {wid}"));
    std::thread::sleep(Duration::from_millis(50));
    let mut owner = flow.database.owner();
    owner.run("SET statement_timeout = '20s'");
    for kind in ["overdue", "exhausted", "stale", "abandoned"] {
        owner.chores(kind);
        owner.run("SELECT wed.end_overdue()");
    }
    assert_eq!(s.status(wid), "R");
    event.run("COMMIT");
    // What was held is dealt with by the next sweep.
    owner.run("DELETE FROM wed.postponed");
    assert_eq!(owner.chores("overdue"), 1);
    assert_eq!(owner.number("SELECT wed.end_overdue()"), 1);
    assert_eq!(owner.chores("exhausted"), 1);
    assert_eq!(s.status(wid), "E");
    assert_eq!(owner.number("SELECT count(*) FROM wed.exhausted"), 0);
}

#[harness::test]
fn session_holds_a_bounded_number_of_job_locks() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow SELECT FROM generate_series(1, 1300)");
    let all = "SELECT count(*) FILTER (WHERE pg_try_advisory_xact_lock(wid, tgid)) FROM job_pool";
    s.refused(all).expect("WF017");
    assert_eq!(s.number(&format!("{all} WHERE wid <= 1000")), 1000);
}

#[harness::test]
fn suspension_waits_for_no_transaction() {
    let flow = Flow::of(STEPS);
    let store = &flow.database.store;
    on(store.create_tenant("acme", "")).expect("a tenant");
    on(store.create_flow("acme", "busy", "")).expect("a flow");
    let url = on(store.flow_url("acme", "busy")).expect("its URL");
    let mut s = Session::on(&flow.database, &url);
    s.run(STEPS);
    s.run("BEGIN; UPDATE wed_trig SET timeout = '3 s' WHERE NOT cfinal");
    on(store.suspend_tenant("acme", true)).expect("suspended");
    assert!(s.batch_execute("SELECT 1").is_err(), "its session has ended");
    assert!(postgres::Client::connect(&url, postgres::NoTls).is_err());
    on(store.suspend_tenant("acme", false)).expect("resumed");
    Session::on(&flow.database, &url).start();
}

#[harness::test]
fn suspended_tenant_starts_and_changes_nothing() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    s.run("UPDATE wed_attr SET open = true WHERE aname = 'a3'");
    let wid = s.start();
    // Before its sessions are ended.
    flow.database.owner().run("UPDATE wed.tenant SET suspended_at = now()");
    s.refused("INSERT INTO wed_flow DEFAULT VALUES").expect("WF021");
    s.refused("UPDATE wed_flow SET a3 = 'event'").expect("WF021");
    s.finish_refused(wid, "tr_a2", "a2 = 'done'").expect("WF021");
}

#[harness::test]
fn backoff_is_bounded_however_often() {
    let (flow, _) = hosted();
    flow.session().run("UPDATE wed_trig SET backoff = '100 years', attempts = 1000");
    let mut owner = flow.database.owner();
    let host = owner.number(REGISTER);
    owner.run(&format!("SELECT * FROM wed.claim({host}, 10)"));
    owner.run("UPDATE wed.job SET attempt = 999");
    owner.run(&format!(
        "SELECT wed.fail_attempts({host}, jsonb_agg(jsonb_build_object('flow', flow_id, 'wid', wid, 'token', token, \
           'outcome', 'failed', 'message', '', 'retry', true))) FROM wed.job"
    ));
    assert_eq!(
        owner.line("SELECT count(*), max(due) <= now() + interval '1 day' FROM wed.job WHERE host_id IS NULL"),
        "2|t"
    );
}

#[harness::test]
fn start_near_a_quota_holds_nothing_that_others_share() {
    let flow = Flow::of(STEPS);
    let mut owner = flow.database.owner();
    owner.run("UPDATE wed.quota SET instances = 2; UPDATE wed.usage SET measured_at = '-infinity'");
    let mut s = flow.session();
    // They have ended; whether they have is counted when a limit is near.
    s.run("INSERT INTO wed_flow (n) VALUES (3), (3)");
    s.run("BEGIN");
    s.start();
    owner.run("SET lock_timeout = '1s'");
    owner.run("BEGIN; SELECT * FROM wed.usage FOR UPDATE; ROLLBACK");
    s.run("COMMIT");
    s.start();
    s.refused("INSERT INTO wed_flow DEFAULT VALUES").expect("WF020");
}

#[harness::test]
fn locked_table_stops_no_weighing() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow SELECT FROM generate_series(1, 100)");
    let mut owner = flow.database.owner();
    let (free, url) = (flow.database.flow("free"), flow.url.clone());
    free.session().run(STEPS);
    free.session().run("INSERT INTO wed_flow SELECT FROM generate_series(1, 1000)");
    let mut holder = Session::on(&flow.database, &url);
    holder.run("BEGIN; LOCK TABLE wed_flow IN ACCESS EXCLUSIVE MODE");
    assert_eq!(owner.line("SELECT wed.weigh_usage()"), "t");
    assert!(owner.number("SELECT row_bytes FROM wed.usage") > 50_000);
    assert!(owner.number("SELECT trace_bytes FROM wed.usage") > 50_000);
}

#[harness::test]
fn refused_conditions_take_no_numbers() {
    let flow = Flow::of(STEPS);
    let mut owner = flow.database.owner();
    let last = "SELECT last_value FROM wed.tgid_seq";
    let before = owner.number(last);
    let mut s = flow.session();
    s.refused("INSERT INTO wed_trig (trname, cpred) VALUES ('x', 'nobody = 1')").expect("42703");
    assert_eq!(owner.number(last), before);
}

/// All tenants share the numbers: whoever makes and removes triggers without end uses up none for others.
#[harness::test]
fn numbers_of_removed_triggers_are_given_again() {
    let flow = Flow::of(STEPS);
    let (mut owner, mut s) = (flow.database.owner(), flow.session());
    let insert = "INSERT INTO wed_trig (trname, cpred) VALUES ('more', 'n < 0') RETURNING tgid";
    owner.run("SELECT setval('wed.tgid_seq', 2147483646)");
    assert_eq!(s.number(insert), i64::from(i32::MAX));
    let again = s.number(insert);
    assert!(again <= 10, "{again}");
    let taken = "SELECT count(*) FROM wed.trigger";
    let before = owner.number(taken);
    for _ in 0..5 {
        s.run(&insert.replace(" RETURNING tgid", ""));
    }
    assert_eq!(owner.number(taken), before + 5);
}

#[harness::test]
fn flow_has_a_bounded_number_of_triggers() {
    let flow = Flow::of(STEPS);
    let mut owner = flow.database.owner();
    let schema = owner.line("SELECT schema_name FROM wed.flow");
    owner.run(&format!(
        "ALTER TABLE {schema}.wed_trig DISABLE TRIGGER USER; \
         INSERT INTO {schema}.wed_trig (tgid, trname, cpred) SELECT -g, 'x', 'n < 0' FROM generate_series(1, 1997) g; \
         ALTER TABLE {schema}.wed_trig ENABLE TRIGGER USER"
    ));
    let mut s = flow.session();
    s.run("INSERT INTO wed_trig (trname, cpred) VALUES ('last', 'n < 0')");
    s.refused("INSERT INTO wed_trig (trname, cpred) VALUES ('more', 'n < 0')").expect("WF013");
}

#[harness::test]
fn host_that_leaves_while_it_claims_leaves_no_job() {
    let (flow, _) = hosted();
    let (mut owner, other) = (flow.database.owner(), flow.database.owner());
    assert_eq!(owner.number(REGISTER), 1);
    owner.run("BEGIN; SELECT * FROM wed.claim(1, 10)");
    let leaves = beside(other, "SELECT wed.leave_host(1)");
    owner.run("COMMIT");
    assert_eq!(leaves.join().expect("joined"), None);
    assert_eq!(owner.line("SELECT count(*), count(host_id), sum(attempt) FROM wed.job"), "2|0|0");
}

#[harness::test]
fn trigger_is_not_removed_beside_a_state_that_fires_it() {
    let flow = Flow::of(STEPS);
    let (mut s, other) = (flow.session(), flow.session());
    s.run("BEGIN; INSERT INTO wed_flow DEFAULT VALUES");
    let removal = beside(other, "DELETE FROM wed_trig WHERE tgname = 't'");
    s.run("COMMIT");
    assert_eq!(removal.join().expect("joined").as_deref(), Some("WF013"));
    let mut owner = flow.database.owner();
    assert_eq!(owner.number("SELECT count(*) FROM wed.job j JOIN wed.trigger USING (tgid)"), 1);
}

#[harness::test]
fn job_that_kills_its_hosts_ends_as_an_exception() {
    let (flow, wid) = hosted();
    let mut owner = flow.database.owner();
    flow.session().run("UPDATE wed_trig SET attempts = 2 WHERE trname = 'tr_a2'");
    let mut claims = 0;
    while flow.session().status(wid) == "R" {
        let host = owner.number(REGISTER);
        owner.run(&format!("SELECT * FROM wed.claim({host}, 10)"));
        claims += owner.number("SELECT count(*) FROM wed.job WHERE trname = 'tr_a2' AND host_id IS NOT NULL");
        owner.run("UPDATE wed.host SET expires_at = now() - interval '1 s'");
        owner.chores("abandoned");
        owner.chores("exhausted");
        assert!(claims < 10, "without an end");
        // The second attempt is made at once, the others later.
        assert_eq!(
            owner.line("SELECT bool_and(due > now()) IS NOT FALSE FROM wed.job WHERE attempt = 2 AND trname = 'tr_a2'"),
            "t"
        );
        owner.run("UPDATE wed.job SET due = now() WHERE due < 'infinity'");
    }
    // A host's death is not its jobs' fault: three at the least.
    assert_eq!(claims, 3);
    let mut s = flow.session();
    assert_eq!(s.status(wid), "E");
    assert_eq!(s.line("SELECT count(*) FROM wed_attempt WHERE outcome = 'abandoned' AND trname = 'tr_a2'"), "3");
}

#[harness::test]
fn rolled_back_number_is_not_counted() {
    let mut s = Flow::of(STEPS).session();
    s.run("BEGIN; INSERT INTO wed_flow (wid) VALUES (1000000000); ROLLBACK");
    assert!(s.start() < 1_000_000, "the sequence has not moved");
    s.refused("INSERT INTO wed_flow (wid) VALUES (1000000001)").expect("23514");
    s.run("INSERT INTO wed_flow (wid) VALUES (5000000)");
    assert_eq!(s.start(), 5_000_001);
    s.run("INSERT INTO wed_flow (wid) VALUES (5000002)");
    assert_eq!(s.start(), 5_000_003);
    s.run("INSERT INTO wed_flow (wid) VALUES (1000000000)");
    assert_eq!(s.start(), 1_000_000_001);
}

#[harness::test]
fn termination_counts_for_all_jobs_of_a_worker() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET timeout = '10 ms' WHERE trname = 'tr_a2'");
    let wid = s.start();
    let mut owner = flow.database.owner();
    for times in 1..=2 {
        let mut worker = flow.session();
        worker.run("BEGIN");
        assert!(worker.take(wid, "tr_a2") && worker.take(wid, "tr_a3"));
        std::thread::sleep(Duration::from_millis(50));
        owner.chores("overdue");
        assert_eq!(owner.number("SELECT wed.end_overdue()"), 1);
        eventually("the worker's locks are gone", || {
            (owner.number(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 \
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            ) == 0)
                .then_some(())
        });
        assert_eq!(owner.lines("SELECT attempt FROM wed.job ORDER BY trname"), [times.to_string(), times.to_string()]);
        owner.run("UPDATE wed.job SET due = now()");
    }
}

#[harness::test]
fn partitions_are_made_well_ahead() {
    let flow = Flow::of(STEPS);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let last = owner.line("SELECT 'trace_' || to_char(now() AT TIME ZONE 'UTC' + interval '7 days', 'YYYYMMDD')");
    owner.run(&format!("DROP TABLE wed.{last}"));
    // A session that has read the trace keeps its partitions locked.
    s.run("BEGIN; SELECT count(*) FROM wed_trace");
    owner.run("SELECT wed.roll_trace()");
    flow.session().start();
    let made = format!("SELECT to_regclass('wed.{last}') IS NOT NULL");
    s.run("COMMIT");
    owner.run("SELECT wed.roll_trace()");
    assert_eq!(owner.line(&made), "t");
}

#[harness::test]
fn attempts_are_dropped_with_their_day() {
    let flow = Flow::of(STEPS);
    let mut owner = flow.database.owner();
    owner.run(
        "CREATE TABLE wed.trace_20200101 PARTITION OF wed.trace FOR VALUES FROM ('2020-01-01') TO ('2020-01-02'); \
         INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer, tstmp) \
         VALUES (1, 1, 1, 'x', 1, 'failed', '', 'x', '2020-01-01'), (1, 1, 1, 'x', 1, 'failed', '', 'x', now()); \
         UPDATE wed.retention SET trace = '30 days'",
    );
    assert_eq!(owner.number("SELECT wed.roll_trace()"), 1);
    assert_eq!(owner.number("SELECT count(*) FROM wed.attempt"), 1);
}

#[harness::test]
fn delay_counts_from_firing() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET delay = '1 hour' WHERE tgname = 't'");
    s.run("BEGIN; SELECT pg_sleep(0.2)");
    s.start();
    s.run("COMMIT");
    let mut owner = flow.database.owner();
    assert_eq!(owner.line("SELECT due - fired_at FROM wed.job"), "01:00:00");
}

#[harness::test]
fn condition_over_time_is_looked_at_again() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype) VALUES ('until', 'timestamptz'), ('n', 'integer');
         INSERT INTO wed_trig (tgname, trname, cpred) 
           VALUES ('t', 'remind', 'until > now()'), ('u', 'else', 'n IS NULL');",
    );
    let mut s = flow.session();
    let wid = s.number("INSERT INTO wed_flow (until) VALUES (now() + interval '100 ms') RETURNING wid");
    std::thread::sleep(Duration::from_millis(150));
    s.run("BEGIN");
    assert!(!s.take(wid, "remind"));
    s.run("COMMIT");
    assert_eq!(s.pending(wid), ["else"]);
    let other = s.number("INSERT INTO wed_flow (until) VALUES (now() + interval '100 ms') RETURNING wid");
    std::thread::sleep(Duration::from_millis(150));
    let mut owner = flow.database.owner();
    // One look is limited in time.
    eventually("the stale job is listed", || {
        owner.chores("clock");
        (owner.number("SELECT count(*) FROM wed.stale") == 1).then_some(())
    });
    assert_eq!(owner.chores("stale"), 1);
    assert_eq!(s.pending(other), ["else"]);
}

#[harness::test]
fn jobs_of_a_tenant_hide_no_stale_job_of_another() {
    let database = Database::new();
    let session = |name| {
        let store = &database.store;
        on(store.create_tenant(name, "")).expect("a tenant");
        on(store.create_flow(name, "trial", "")).expect("a flow");
        let mut session = Session::on(&database, &on(store.flow_url(name, "trial")).expect("its URL"));
        session.run(
            "INSERT INTO wed_attr (aname, atype) VALUES ('until', 'timestamptz'), ('n', 'integer');
             INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'remind', 'until > now()'),
               ('u', 'else', 'n IS NULL');",
        );
        session
    };
    let (mut busy, mut quiet) = (session("busy"), session("quiet"));
    busy.run(
        "INSERT INTO wed_flow (until) SELECT now() + CASE i WHEN 3000 THEN interval '100 ms' ELSE '1 day' END
         FROM generate_series(1, 3000) i ORDER BY i",
    );
    let wid = quiet.number("INSERT INTO wed_flow (until) VALUES (now() + interval '100 ms') RETURNING wid");
    std::thread::sleep(Duration::from_millis(150));
    let mut owner = database.owner();
    owner.chores("clock");
    owner.chores("stale");
    assert_eq!(quiet.pending(wid), ["else"]);
    eventually("each of many jobs of a flow is looked at", || {
        owner.chores("clock");
        owner.chores("stale");
        (busy.pending(3000) == ["else"]).then_some(())
    });
}

#[harness::test]
fn worker_that_holds_a_job_leaves_its_siblings_alone() {
    let flow = Flow::of(PAPER);
    let (mut s, mut worker) = (flow.session(), flow.session());
    s.run("INSERT INTO wed_attr (aname, open) VALUES ('note', true)");
    let wid = s.start();
    // The state has moved since the jobs were fired.
    s.run("UPDATE wed_flow SET note = 'seen'");
    worker.run("BEGIN");
    assert!(worker.take(wid, "tr_a2"));
    s.run("SET lock_timeout = '2s'");
    s.finish(wid, "tr_a3", "a3 = 'done'");
    worker.run("UPDATE wed_flow SET a2 = 'done'; COMMIT");
    assert_eq!(s.pending(wid), ["tr_final"]);
}

#[harness::test]
fn placeholder_in_a_condition_is_only_text() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, adv) VALUES ('a', '{{flow_id}} $q$ {{quote}}');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', $c$a = '{{flow_id}} $q$ {{quote}}'$c$);",
    );
    assert_eq!(flow.session().start(), 1);
}

#[harness::test]
fn tenant_has_so_many_sessions_over_all_its_flows() {
    let one = Flow::of(STEPS);
    let other = one.database.flow("other");
    let mut owner = one.database.owner();
    owner.run("UPDATE wed.quota SET connections = 3");
    let mut sessions = [one.session(), other.session(), one.session(), other.session(), one.session()];
    assert_eq!(owner.number("SELECT wed.end_surplus_sessions(0)"), 2);
    eventually("the newest have ended", || {
        let alive = sessions.iter_mut().map(|s| s.batch_execute("SELECT 1").is_ok());
        (alive.collect::<Vec<_>>() == [true, true, true, false, false]).then_some(())
    });
}
