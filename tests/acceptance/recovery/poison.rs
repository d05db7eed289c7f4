//! Rows of one tenant that raise errors, are locked, are many or take long: the chores of hosts continue for the other
//! tenants. One test for each kind of chore, and for claims.

use std::sync::Arc;

use wedflow_worker::{Host, upload};

use crate::support::database::{one_lane, sample_component};
use crate::support::{Database, Session, eventually, on};

/// Two tenants with the same flow. `bad` is there first, so that what goes by number or age meets it first.
struct Neighbours {
    database: Arc<Database>,
    owner: Session,
    bad: Session,
    good: Session,
}

impl Neighbours {
    fn new(script: &str) -> Self {
        let database = Database::new();
        let mut sessions = ["bad", "good"].map(|tenant| {
            let store = &database.store;
            on(store.create_tenant(tenant, "")).expect("a tenant");
            on(upload(store, tenant, "paper", sample_component("paper"))).expect("uploaded");
            let mut session = flow(&database, tenant, "trial");
            session.run(script);
            session
        });
        sessions.reverse();
        let [good, bad] = sessions;
        Neighbours { owner: database.owner(), database, bad, good }
    }

    /// Number of a tenant's flow.
    fn flow_id(&mut self, tenant: &str) -> i64 {
        self.owner.number(&format!(
            "SELECT min(flow_id) FROM wed.flow JOIN wed.tenant t USING (tenant_id) WHERE t.name = '{tenant}'"
        ))
    }

    /// Another session of the bad tenant's flow, which holds its table.
    fn locked_table(&self) -> Session {
        let mut holder = self.bad_session();
        holder.run("BEGIN; LOCK TABLE wed_flow IN ACCESS EXCLUSIVE MODE");
        holder
    }

    /// Another session of the bad tenant's flow, which holds all rows of its table.
    fn locked_rows(&self) -> Session {
        let mut holder = self.bad_session();
        holder.run("BEGIN; SELECT count(*) FROM (SELECT FROM wed_flow FOR UPDATE) w");
        holder
    }

    fn bad_session(&self) -> Session {
        let url = on(self.database.store.flow_url("bad", "trial")).expect("its URL");
        Session::on(&self.database, &url)
    }

    fn host(&self) -> Host {
        self.database.host(one_lane("one"))
    }

    /// Runs a host until an instance of the good tenant has a status.
    fn good_becomes(&mut self, wid: i64, status: &str) {
        let host = self.host();
        eventually("the neighbour goes on", || (self.good.status(wid) == status).then_some(()));
        on(host.stop());
    }
}

/// A flow of a tenant; a session of its role.
fn flow(database: &Arc<Database>, tenant: &str, name: &str) -> Session {
    on(database.store.create_flow(tenant, name, "")).expect("a flow");
    let url = on(database.store.flow_url(tenant, name)).expect("its URL");
    Session::on(database, &url)
}

/// A step of an external worker.
const STEP: &str = "
INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('n', 'integer', '0', true);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', 'n = 0');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 9', true);";

/// A reminder by the clock, and other work.
const REMINDER: &str = "
INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('done', 'boolean', 'false', false),
  ('at', 'timestamptz', NULL, true), ('n', 'integer', '1', true);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('work', 'do_work', 'NOT done'), ('late', 'remind', 'at <= now()');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);";

/// Gives all jobs of both a deadline.
const DEADLINES: &str = "
INSERT INTO wed.trigger_policy (tgid, flow_id, deadline)
SELECT tgid, flow_id, interval '1 ms' FROM wed.trigger WHERE trname = 'step'";

#[harness::test]
fn deadlines_go_on_beside_a_locked_table() {
    let mut both = Neighbours::new(STEP);
    both.owner.run(DEADLINES);
    both.bad.run("INSERT INTO wed_flow SELECT FROM generate_series(1, 60)");
    let wid = both.good.start();
    let _holder = both.locked_table();
    both.good_becomes(wid, "E");
}

#[harness::test]
fn deadlines_go_on_beside_locked_rows() {
    let mut both = Neighbours::new(STEP);
    both.owner.run(DEADLINES);
    both.bad.run("INSERT INTO wed_flow SELECT FROM generate_series(1, 300)");
    let wid = both.good.start();
    let _holder = both.locked_rows();
    let free = both.bad.start();
    both.good_becomes(wid, "E");
    let host = both.host();
    eventually("an instance of the same flow that nobody holds", || (both.bad.status(free) == "E").then_some(()));
    on(host.stop());
}

#[harness::test]
fn deadline_out_of_range_stops_no_other() {
    let mut both = Neighbours::new(STEP);
    both.owner.run(DEADLINES);
    let bad = both.flow_id("bad");
    both.bad.start();
    let wid = both.good.start();
    // Where the value is refused already, so much the better.
    both.owner.tried(&format!("UPDATE wed.trigger_policy SET deadline = '300000 years' WHERE flow_id = {bad}"));
    both.good_becomes(wid, "E");
}

#[harness::test]
fn clock_goes_on_beside_a_locked_table() {
    let mut both = Neighbours::new(REMINDER);
    let mut holders: Vec<Session> = (0..5)
        .map(|number| {
            let mut other = flow(&both.database, "bad", &format!("other{number}"));
            other.run(REMINDER);
            other.run("INSERT INTO wed_flow (at) VALUES (now() + interval '1 ms')");
            other.run("BEGIN; LOCK TABLE wed_flow IN ACCESS EXCLUSIVE MODE");
            other
        })
        .collect();
    let host = both.host();
    for at in 1..=5 {
        both.good.run("INSERT INTO wed_flow (at) VALUES (now() + interval '500 ms')");
        eventually("the neighbour's reminder", || (both.good.pending(at) == ["do_work", "remind"]).then_some(()));
    }
    let problems = eventually("the operator is told", || {
        Some(both.owner.lines("SELECT text FROM wed.postponed_problems()")).filter(|texts| texts.len() == 5)
    });
    for text in problems {
        assert!(text.starts_with("conditions on the clock of flow other"), "{text}");
        assert!(text.contains("tenant bad"), "{text}");
    }
    holders.clear();
    on(host.stop());
}

#[harness::test]
fn clock_gets_through_slow_conditions() {
    let mut both = Neighbours::new(REMINDER);
    let slow = both.flow_id("bad");
    both.bad.run("INSERT INTO wed_flow (at) SELECT now() + interval '1 ms' FROM generate_series(1, 30)");
    // A look at all of them together takes longer than a statement may.
    let shape = both.owner.line(&format!("SELECT shape_schema FROM wed.flow WHERE flow_id = {slow}"));
    both.owner.run(&format!(
        "CREATE OR REPLACE FUNCTION {shape}.clock_{shape}(_rows {shape}.wed_flow[])
           RETURNS TABLE (wid integer, tgids integer[]) LANGUAGE plpgsql STABLE AS $$
         BEGIN
           PERFORM pg_sleep(0.1 * cardinality(_rows));
           RETURN QUERY SELECT r.wid, ARRAY(SELECT t.tgid FROM wed.trigger t
             WHERE t.flow_id = {slow} AND t.trname = 'remind') FROM unnest(_rows) r;
         END $$"
    ));
    both.good.run("INSERT INTO wed_flow (at) VALUES (now() + interval '500 ms')");
    let host = both.host();
    eventually("the neighbour's reminder", || (both.good.pending(1) == ["do_work", "remind"]).then_some(()));
    eventually("the last slow instance's", || (both.bad.pending(30) == ["do_work", "remind"]).then_some(()));
    on(host.stop());
}

#[harness::test]
fn schedules_go_on_beside_a_locked_table_and_lose_nothing() {
    let mut both = Neighbours::new(STEP);
    for tenant in ["bad", "good"] {
        let id = both.flow_id(tenant);
        let many = if tenant == "bad" { 40 } else { 1 };
        both.owner.run(&format!(
            "INSERT INTO wed.schedule (flow_id, name, cron, missed, next_at, actor)
             SELECT {id}, 's' || i, '* * * * * *', 'all', now(), 'ann' FROM generate_series(1, {many}) i"
        ));
    }
    let begun = both.owner.line("SELECT now()");
    let holder = both.locked_table();
    let host = both.host();
    eventually("the neighbour's instances", || {
        (both.good.number("SELECT count(*) FROM wed_instance") >= 5).then_some(())
    });
    assert!(
        both.owner.number("SELECT count(*) FROM wed.schedule WHERE last_error IS NOT NULL") == 0,
        "a lock is no error of a schedule"
    );
    drop(holder);
    let late = format!(
        "SELECT count(*) FROM wed.schedule WHERE name = 's1' AND next_at > timestamptz '{begun}' + interval '5 s'"
    );
    eventually("the schedule that was held up", || (both.owner.number(&late) == 2).then_some(()));
    on(host.stop());
    // One for each second of each schedule.
    assert_eq!(
        both.owner.number(
            "SELECT count(*) FROM wed.trace t JOIN wed.flow f USING (flow_id) JOIN wed.tenant n USING (tenant_id)
             WHERE n.name = 'bad' AND t.note LIKE 'schedule s1, %'"
        ),
        both.owner.number(&format!(
            "SELECT extract(epoch FROM date_trunc('second', min(next_at)) - date_trunc('second', timestamptz '{begun}'))::bigint
             FROM wed.schedule JOIN wed.flow USING (flow_id) JOIN wed.tenant n USING (tenant_id)
             WHERE n.name = 'bad' AND wed.schedule.name = 's1'"
        )),
        "no occurrence is lost"
    );
}

#[harness::test]
fn schedules_go_on_beside_one_that_catches_up() {
    let mut both = Neighbours::new(STEP);
    for (tenant, ago) in [("bad", "6 hours"), ("good", "0")] {
        let id = both.flow_id(tenant);
        both.owner.run(&format!(
            "INSERT INTO wed.schedule (flow_id, name, cron, missed, next_at, actor)
             VALUES ({id}, 's', '* * * * * *', 'all', now() - interval '{ago}', 'ann')"
        ));
    }
    let host = both.host();
    eventually("the neighbour's instances", || {
        (both.good.number("SELECT count(*) FROM wed_instance") >= 5).then_some(())
    });
    let behind = both.owner.line("SELECT min(next_at) < now() - interval '1 minute' FROM wed.schedule");
    assert_eq!(behind, "t", "the other one still catches up");
    on(host.stop());
}

#[harness::test]
fn exceptions_are_announced_beside_many_of_a_neighbour() {
    let mut both = Neighbours::new(STEP);
    let (bad, good) = (both.flow_id("bad"), both.flow_id("good"));
    both.owner.run(&format!(
        "INSERT INTO wed.instance (flow_id, wid, status) SELECT {bad}, i, 'E' FROM generate_series(1, 100000) i;
         INSERT INTO wed.instance (flow_id, wid, status) VALUES ({good}, 1, 'E')"
    ));
    let host = both.host();
    eventually("the neighbour's exception is announced", || {
        (both
            .owner
            .number(&format!("SELECT count(*) FROM wed.instance WHERE flow_id = {good} AND announced_at >= changed"))
            == 1)
            .then_some(())
    });
    let waiting =
        both.owner.number(&format!("SELECT count(*) FROM wed.instance WHERE flow_id = {bad} AND announced_at IS NULL"));
    assert!(waiting > 50_000, "{waiting}: its turn came first");
    on(host.stop());
}

/// A component's step that begins when its time has come, and another trigger that makes its state move.
const TIMELY: &str = "
INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('a1', 'text', NULL, false), ('a2', 'text', NULL, false),
  ('a3', 'text', NULL, false), ('due', 'timestamptz', NULL, true), ('ord', 'jsonb', NULL, true);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('go', 'tr_a2', 'due <= now() AND a2 IS NULL'),
  ('stay', 'stay', 'a1 IS NULL');";

/// Leaves a transition of both to the component, whose jobs hosts claim.
fn bind_both(both: &mut Neighbours) {
    for tenant in ["bad", "good"] {
        let flow = on(both.database.store.flow(tenant, "trial")).expect("the flow");
        on(both.database.store.bind(flow.flow_id, "tr_a2", Some("paper"))).expect("bound");
    }
}

/// Waits until a host has begun an attempt at the good tenant's job.
fn good_is_claimed(both: &mut Neighbours) {
    let host = both.host();
    eventually("the neighbour's job is claimed", || {
        (both.good.number("SELECT count(*) FROM wed_flow WHERE a2 IS NOT NULL") >= 1
            || both.good.number("SELECT count(*) FROM wed_attempt") >= 1)
            .then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn claims_go_on_beside_a_locked_table() {
    let mut both = Neighbours::new(TIMELY);
    bind_both(&mut both);
    both.bad.run("INSERT INTO wed_flow (due) SELECT now() FROM generate_series(1, 1000)");
    both.good.run("INSERT INTO wed_flow (due) VALUES (now())");
    let _holder = both.locked_table();
    good_is_claimed(&mut both);
}

#[harness::test]
fn claims_go_on_beside_an_order_of_tasks_that_cannot_be_read() {
    let mut both = Neighbours::new(TIMELY);
    bind_both(&mut both);
    both.bad.run(
        "INSERT INTO wed_flow (due, ord) SELECT now(), '[1,2]' FROM generate_series(1, 50);
         UPDATE wed_flow SET due = now() + interval '1 day'",
    );
    both.bad.tried("SELECT wed_order_by('ord')");
    both.good.run("INSERT INTO wed_flow (due) VALUES (now())");
    good_is_claimed(&mut both);
}

#[harness::test]
fn claims_put_off_a_flow_whose_table_is_locked_for_longer_each_time() {
    let mut both = Neighbours::new(TIMELY);
    bind_both(&mut both);
    both.bad.run("INSERT INTO wed_flow (due) SELECT now() FROM generate_series(1, 200)");
    let _holder = both.locked_table();
    let host = on(both.database.store.register_host("one", crate::support::GENEROUS)).expect("entered");
    for failures in 1..=3 {
        both.owner.run("UPDATE wed.job SET due = now(); UPDATE wed.postponed SET until = now()");
        let begun = std::time::Instant::now();
        assert!(on(both.database.store.claim(host, 128)).expect("claimed").is_empty());
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "one wait, not one for each job");
        assert_eq!(
            both.owner.lines("SELECT kind, failures FROM wed.postponed WHERE flow_id > 0"),
            [format!("look|{failures}")]
        );
    }
}

#[harness::test]
fn abandoned_jobs_are_freed_beside_keys_that_cannot_be_evaluated() {
    let mut both = Neighbours::new(
        "INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('a1', 'text', NULL, false), ('a2', 'text', NULL, false),
           ('a3', 'text', NULL, false), ('d', 'integer', '1', true);
         INSERT INTO wed_trig (tgname, trname, cpred, reserves) VALUES ('go', 'tr_a2', 'a2 IS NULL', '(10 / d)::text');",
    );
    bind_both(&mut both);
    both.bad.start();
    let wid = both.good.start();
    let store = &both.database.store;
    let gone = on(store.register_host("gone", crate::support::GENEROUS)).expect("entered");
    let claimed = on(store.claim(gone, 10)).expect("claimed");
    assert_eq!(claimed.len(), 2);
    both.bad.run("UPDATE wed_flow SET d = 0");
    both.owner.run("UPDATE wed.host SET expires_at = '2000-01-01'");
    let host = both.host();
    eventually("the neighbour's job is freed", || {
        (both.good.number("SELECT count(*) FROM wed_attempt WHERE outcome = 'abandoned'") == 1).then_some(())
    });
    eventually("the instance whose keys fail is an exception", || (both.bad.status(1) == "E").then_some(()));
    on(host.stop());
    assert!(wid == 1);
}

#[harness::test]
fn exhausted_jobs_end_beside_locked_rows() {
    let mut both = Neighbours::new(STEP);
    both.bad.run("INSERT INTO wed_flow SELECT FROM generate_series(1, 200)");
    let wid = both.good.start();
    both.owner.run("INSERT INTO wed.exhausted SELECT flow_id, wid, tgid, seq, 'used up' FROM wed.job");
    let _holder = both.locked_rows();
    both.good_becomes(wid, "E");
}

#[harness::test]
fn numbers_are_kept_beside_a_series_that_has_ended() {
    let mut both = Neighbours::new(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('no', 'bigint', NULL), ('done', 'boolean', 'false');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', 'NOT done');
         SELECT wed_number('no', true)",
    );
    let bad = both.flow_id("bad");
    both.owner.run(&format!(
        "UPDATE wed.numbering SET made_to = 9223372036854775800 WHERE flow_id = {bad}; DELETE FROM wed.free_number"
    ));
    let host = both.host();
    eventually("the neighbour's numbers", || {
        (both.owner.number("SELECT count(*) FROM wed.free_number") > 0).then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn pauses_are_kept_beside_a_delay_out_of_range() {
    let mut both = Neighbours::new(STEP);
    let (bad, good) = (both.flow_id("bad"), both.flow_id("good"));
    both.bad.start();
    both.good.start();
    both.owner.run(
        "INSERT INTO wed.pause (tenant_id, flow_id, actor, reason) SELECT tenant_id, flow_id, 'ann', 'why' FROM wed.flow",
    );
    // Where the value is refused already, so much the better.
    both.owner.tried(&format!("UPDATE wed.trigger SET delay = '178956000 years' WHERE flow_id = {bad}"));
    let host = both.host();
    eventually("the neighbour's job is paused", || {
        (both.owner.line(&format!("SELECT wed.is_paused(due) FROM wed.job WHERE flow_id = {good}")) == "t")
            .then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn going_back_goes_on_beside_a_locked_row() {
    let mut both = Neighbours::new(STEP);
    both.bad.start();
    both.good.start();
    both.owner.run(
        "INSERT INTO wed.going_back (flow_id, wid, to_seq, from_seq, actor, reason)
         SELECT flow_id, wid, 1, 1, 'ann', 'why' FROM wed.instance;
         UPDATE wed.instance SET status = 'E', announced_at = 'infinity';
         UPDATE wed.job SET trname = '_EXCPT'",
    );
    let good = both.flow_id("good");
    let _holder = both.locked_rows();
    let host = both.host();
    eventually("the neighbour is back", || {
        (both.owner.number(&format!("SELECT count(*) FROM wed.going_back WHERE flow_id = {good}")) == 0).then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn old_instances_go_beside_a_locked_row() {
    let mut both = Neighbours::new(STEP);
    for session in [&mut both.bad, &mut both.good] {
        let wid = session.start();
        session.finish(wid, "step", "n = 9");
    }
    let _holder = both.locked_rows();
    both.owner.run(
        "UPDATE wed.retention SET instances = '1 day'; UPDATE wed.instance SET changed = now() - interval '2 days'",
    );
    let good = both.flow_id("good");
    let host = both.host();
    eventually("the neighbour's old instance is removed", || {
        (both.owner.number(&format!("SELECT count(*) FROM wed.instance WHERE flow_id = {good}")) == 0).then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn stale_jobs_are_skipped_at_once() {
    let mut both = Neighbours::new(
        "INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('paid', 'boolean', 'false', true);
         INSERT INTO wed_trig (tgname, trname, cpred, delay) VALUES ('wait', 'wait', 'NOT paid', '0'),
           ('expire', 'expire', 'NOT paid', '30 days'), ('go', 'go', 'paid', '0');",
    );
    // Many flows with jobs: none of them is looked at by chance.
    for number in 0..20 {
        let mut other = flow(&both.database, "good", &format!("other{number}"));
        other.run(STEP);
        other.start();
    }
    let wid = both.good.start();
    let host = both.host();
    both.good.run(&format!("UPDATE wed_flow SET paid = true WHERE wid = {wid}"));
    eventually("only what its state wants is pending", || (both.good.pending(wid) == ["go"]).then_some(()));
    let waited = both.owner.number(
        "SELECT (extract(epoch FROM max(tstmp) - min(tstmp) FILTER (WHERE trw = '_EVENT')) * 1000)::bigint
         FROM wed.trace WHERE wid = 1 AND flow_id = (SELECT max(flow_id) FROM wed.trace WHERE trw = '_EVENT')",
    );
    assert!(waited < 60_000, "{waited} ms");
    on(host.stop());
}

#[harness::test]
fn what_was_put_off_is_tried_later_each_time_and_forgotten_when_done() {
    let mut both = Neighbours::new(STEP);
    both.owner.run(DEADLINES);
    let wid = both.bad.start();
    std::thread::sleep(std::time::Duration::from_millis(10));
    let holder = both.locked_table();
    for failures in 1..=4 {
        assert_eq!(both.owner.chores("late"), 0);
        assert_eq!(
            both.owner.line("SELECT failures, until > now() + interval '1 s' * 2 ^ (failures - 2) FROM wed.postponed"),
            format!("{failures}|t")
        );
        assert_eq!(both.owner.number("SELECT count(*) FROM wed.find_chores('late')"), 0);
        both.owner.run("UPDATE wed.postponed SET until = now()");
    }
    drop(holder);
    assert_eq!(both.owner.chores("late"), 1);
    assert_eq!(both.owner.number("SELECT count(*) FROM wed.postponed"), 0);
    assert_eq!(both.bad.status(wid), "E");
}

#[harness::test]
fn idle_flow_with_a_known_moment_is_not_looked_at() {
    let mut both = Neighbours::new(REMINDER);
    both.good.run("INSERT INTO wed_flow (at) VALUES (now() + interval '1 day')");
    let good = both.flow_id("good");
    both.owner.chores("clock");
    both.owner.run("UPDATE wed.clock SET not_before = '-infinity'");
    let due = format!("SELECT count(*) FROM wed.due_clock() WHERE flow_id = {good}");
    assert_eq!(both.owner.number(&due), 0);
    assert_eq!(
        both.owner
            .line(&format!("SELECT next_look - now() > interval '23 hours' FROM wed.clock WHERE flow_id = {good}")),
        "t"
    );
    // An event brings the moment forward.
    both.good.run("UPDATE wed_flow SET at = now() + interval '1 ms'");
    assert_eq!(both.owner.number(&due), 1);
    both.owner.chores("clock");
    assert_eq!(both.good.pending(1), ["do_work", "remind"]);
}
