//! Results that make an instance final while other transitions of it are pending.

use super::flow;
use wedflow_model::Wid;

use crate::race::assert_sound;
use crate::support::database::one_lane;
use crate::support::program::{run, wed};
use crate::support::{Database, eventually, on};

#[harness::test]
fn a_final_result_waits_for_what_is_pending() {
    let database = Database::new();
    let flow = flow(
        &database,
        "waits",
        "INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'clause', $$a1 = 'new'$$),
           ('s', 'slow', $$a1 = 'new' and tags is null$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 = 'done'$$, true)",
    );
    flow.bind("clause", "hostile");
    let host = database.host(one_lane("waits"));
    let mut session = flow.session();
    let wid = session.start();
    eventually("the result that waits", || {
        let waiting = session.lines(
            "SELECT trname, lckid, attempt, due IS NULL FROM job_pool WHERE waits_for \
         ~ 'pending transitions'",
        );
        (waiting == ["clause|·|0|t"]).then_some(())
    });
    assert_eq!(session.lines("SELECT trname, outcome FROM wed_attempt"), ["clause|final_pending"]);
    assert_eq!(session.status(wid), "R");
    let shown = run(wed(&database.url()).args(["instance", "show", "waits", &wid.to_string()])).done().out;
    assert!(shown.contains("put off until the others end") && !shown.contains("final_pending"), "{shown}");
    assert_eq!(session.trace(wid), ["-> {clause,slow} R"]);
    session.finish(wid, "slow", "tags = '{x}'");
    assert_eq!(flow.end_of(wid), "F");
    on(host.stop());
    assert_eq!(session.trace(wid), ["-> {clause,slow} R", "slow -> {} R", "clause -> {} F"]);
    // To wait is no failure: what was committed is the first attempt.
    assert_eq!(session.line("SELECT attempt FROM wed_trace WHERE trw = 'clause'"), "1");
    assert_eq!(session.line("SELECT a1, n, tags FROM wed_flow"), "done|1|{x}");
    assert_sound(&flow);
}

#[harness::test]
fn results_that_wait_for_each_other_are_an_exception() {
    let database = Database::new();
    let flow = flow(
        &database,
        "circle",
        "INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'clause', $$a1 = 'new'$$), ('u', 'nap', $$a1 = \
         'new'$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true)",
    );
    flow.bind("clause", "hostile");
    flow.bind("nap", "hostile");
    let mut session = flow.session();
    let wid = session.start();
    let host = database.host(one_lane("circle"));
    assert_eq!(flow.end_of(wid), "E");
    on(host.stop());
    assert_eq!(session.line("SELECT a1, n FROM wed_flow"), "new|0");
    assert_eq!(session.lines("SELECT DISTINCT outcome FROM wed_attempt"), ["final_pending"]);
    assert_eq!(session.line("SELECT trw, trf, status FROM wed_trace WHERE seq = 2"), "_ABORT|{_EXCPT}|E");
    let note = session.line("SELECT note FROM wed_trace WHERE seq = 2");
    assert!(
        note.ends_with(": it would end the instance, and so would each other transition that is pending"),
        "{note}"
    );
    let pending = session.pending(wid);
    assert_eq!(pending.len(), 2, "{pending:?}");
    assert!(pending.contains(&"_EXCPT".to_owned()), "{pending:?}");
    assert_sound(&flow);
}

#[harness::test]
fn a_flow_that_locks_its_own_table_delays_itself_only() {
    let database = Database::new();
    let triggers = "INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'clause', $$a1 = 'new'$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true)";
    let (one, two) = (flow(&database, "locked", triggers), database.flow("free"));
    two.session().run(&format!("BEGIN; {} {triggers}; COMMIT", super::ATTRIBUTES));
    one.bind("clause", "hostile");
    two.bind("clause", "hostile");
    let (mut s, mut t) = (one.session(), two.session());
    let first = s.start();
    let mut holder = one.session();
    holder.run("BEGIN; LOCK TABLE wed_flow IN EXCLUSIVE MODE");
    let host = database.host(one_lane("locks"));
    // Several rounds, while the other's result cannot be committed.
    for _ in 0..3 {
        let wid = t.start();
        assert_eq!(two.end_of(wid), "F");
    }
    // Its result waits in the host; it is not run again.
    let waiting = s.lines("SELECT trname, lckid IS NULL, attempt FROM job_pool");
    assert_eq!(waiting, ["clause|f|1"]);
    assert_eq!(s.status(first), "R");
    holder.run("COMMIT");
    assert_eq!(one.end_of(first), "F");
    on(host.stop());
    assert_eq!(s.line("SELECT attempt FROM wed_trace WHERE trw = 'clause'"), "1");
    assert_sound(&one);
}

#[harness::test]
fn a_component_that_does_not_fit_makes_its_jobs_wait() {
    let database = Database::new();
    // It reads ten attributes, of which the flow has one.
    let flow = super::flow(
        &database,
        "misfit",
        "INSERT INTO wed_trig (tgname, trname, cpred, attempts) VALUES ('t', 'assign-of-ten', $$a1 = 'new'$$, 1);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true)",
    );
    flow.bind("assign-of-ten", "hostile");
    let wid = flow.session().start();
    let host = database.host(one_lane("misfit"));
    let mut session = flow.session();
    eventually("that it is said why", || {
        session.line("SELECT waits_for FROM job_pool").starts_with("it cannot run").then_some(())
    });
    assert_eq!(session.status(wid), "R");
    assert_eq!(session.line("SELECT attempt FROM job_pool"), "0");
    assert_eq!(session.line("SELECT count(*) FROM wed_attempt"), "0");
    let wid = Wid::new(i32::try_from(wid).expect("a wid"));
    let waiting = on(database.store.waiting(flow.id, wid)).expect("waiting");
    assert!(waiting[0].text.contains("`a2`"), "{waiting:?}");
    // Mended, it continues without anybody's help.
    session.run("INSERT INTO wed_attr (aname, adv) SELECT 'a' || n, 'x' FROM generate_series(2, 10) n");
    eventually("it runs", || {
        let ran = "SELECT count(*) FROM wed_trace WHERE trw = 'assign-of-ten'";
        (session.number(ran) > 0).then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn a_component_that_a_host_is_too_old_for_uses_up_no_attempt() {
    let database = Database::new();
    let flow = super::flow(
        &database,
        "newer",
        "INSERT INTO wed_trig (tgname, trname, cpred, attempts) VALUES ('t', 'clause', $$a1 = 'new'$$, 1);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 = 'done'$$, true)",
    );
    flow.bind("clause", "hostile");
    // What a newer program would have uploaded: it imports an interface that this one does not know.
    let mut owner = database.owner();
    let mut import = |from: &str, to: &str| {
        owner.run(&format!(
            "UPDATE wed.component SET bytes = decode(replace(encode(bytes, 'hex'),
               encode('wed:flow/host@{from}', 'hex'), encode('wed:flow/host@{to}', 'hex')), 'hex')"
        ));
    };
    import("0.1.0", "7.1.0");
    let mut session = flow.session();
    let wid = session.start();
    let host = database.host(one_lane("old"));
    eventually("that it is said why", || {
        let said = session.line("SELECT waits_for FROM job_pool");
        said.starts_with("it cannot run").then_some(())
    });
    on(host.stop());
    assert_eq!(session.line("SELECT attempt FROM job_pool"), "0");
    assert_eq!(session.line("SELECT count(*) FROM wed_attempt"), "0");
    assert_eq!(session.status(wid), "R");
    // A host that knows it does the job at once, on its first attempt.
    import("7.1.0", "0.1.0");
    let host = database.host(one_lane("new"));
    assert_eq!(flow.end_of(wid), "F");
    on(host.stop());
    let attempts = "SELECT attempt FROM wed_trace WHERE trw = 'clause'";
    assert_eq!(session.line(attempts), "1");
}

#[harness::test]
fn component_whose_result_ends_a_wait_may_end_the_instance() {
    let database = Database::new();
    let flow = flow(
        &database,
        "waits",
        "UPDATE wed_attr SET open = true WHERE aname = 'a1';
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'clause', $$a1 = 'new'$$);
         INSERT INTO wed_trig (tgname, cpred, waits_for) VALUES ('w', $$a1 = 'new'$$, 'a1');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 = 'done'$$, true)",
    );
    flow.bind("clause", "hostile");
    let host = database.host(one_lane("waits"));
    let mut session = flow.session();
    let wid = session.start();
    assert_eq!(flow.end_of(wid), "F");
    on(host.stop());
    assert_eq!(session.trace(wid), ["-> {clause,_WAIT} R", "clause -> {} F"]);
    assert_sound(&flow);
}
