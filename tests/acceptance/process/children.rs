//! Instances that a transition of another instance starts: started once, waited for, their results taken, cancelled
//! together.

use std::process::Stdio;
use std::sync::Arc;

use wedflow_model::FlowDefinition;

use super::{flow, flow_command};
use crate::support::database::one_lane;
use crate::support::program::{run, wed};
use crate::support::{Database, Flow, Session, eventually, on};

/// An order that has its payment done by another flow.
const ORDER: &str = r#"
name = "order"
final = "paid IS NOT NULL OR refused"
[[attribute]]
name = "total"
type = "numeric"
[[attribute]]
name = "paid"
type = "numeric"
[[attribute]]
name = "refused"
type = "boolean"
default = "false"
[[attribute]]
name = "payment"
[[trigger]]
name = "pay"
when = "paid IS NULL AND NOT refused AND payment IS DISTINCT FROM 'FAILED'"
transition = "pay"
backoff = "0"
[transition.pay]
starts = "payment"
inputs = { amount = "total" }
outputs = { paid = "got" }
"#;

const PAYMENT: &str = r#"
name = "payment"
final = "got IS NOT NULL"
[[attribute]]
name = "amount"
type = "numeric"
[[attribute]]
name = "got"
type = "numeric"
[[trigger]]
name = "collect"
when = "amount > 0 AND got IS NULL"
transition = "collect"
"#;

fn define(database: &Arc<Database>, text: &str) -> Flow {
    let definition: FlowDefinition = toml::from_str(text).expect("a definition");
    database.define(&definition)
}

/// The two flows, with a session of each and one of the owner.
fn shop(order: &str) -> (Flow, Flow, Session) {
    let database = Database::new();
    let parent = define(&database, order);
    let child = define(&database, PAYMENT);
    let owner = database.owner();
    (parent, child, owner)
}

fn order(parent: &mut Session, total: &str) -> i64 {
    parent.number(&format!("INSERT INTO wed_flow (total) VALUES ({total}) RETURNING wid"))
}

/// Parents and children with how they are.
fn children(owner: &mut Session) -> Vec<String> {
    owner.lines("SELECT wid, child_wid, state FROM wed.child ORDER BY flow_id, wid, seq")
}

#[harness::test]
fn child_is_started_waited_for_and_gives_its_result() {
    let (parent, child, mut owner) = shop(ORDER);
    let (mut p, mut c) = (parent.session(), child.session());
    let wid = order(&mut p, "12.50");
    assert_eq!(owner.chores("children"), 1);
    assert_eq!(owner.chores("children"), 0, "once is enough");
    assert_eq!(c.lines("SELECT wid, amount, got FROM wed_flow"), ["1|12.50|·"]);
    assert_eq!(c.line("SELECT writer FROM wed_trace"), "instance 1 of order");
    assert_eq!(p.lines("SELECT trname, waits_for FROM job_pool"), ["pay|instance 1 of payment"]);
    assert_eq!(p.lines("SELECT waits_code FROM wed_waiting"), ["child"]);
    // Nobody else ends the job meanwhile.
    p.run("BEGIN");
    assert!(!p.take(wid, "pay"));
    p.run("ROLLBACK");
    c.finish(1, "collect", "got = 12.5");
    assert_eq!(p.status(wid), "R", "the parent is told by a host");
    assert_eq!(owner.chores("children"), 1);
    assert_eq!((p.status(wid), p.line("SELECT paid FROM wed_flow")), ("F".into(), "12.5".into()));
    assert_eq!(p.lines("SELECT trw, writer FROM wed_trace WHERE seq = 2"), ["pay|instance 1 of payment"]);
    assert_eq!(children(&mut owner), ["1|1|returned"]);
}

#[harness::test]
fn start_and_return_that_are_cut_happen_once() {
    let (parent, child, mut owner) = shop(ORDER);
    let mut other = parent.database.owner();
    let wid = order(&mut parent.session(), "1");
    for step in ["start", "return"] {
        // A host that dies in the middle has done nothing; another one waits for nothing and does it.
        owner.run("BEGIN");
        assert_eq!(owner.chores("children"), 1, "{step}");
        assert_eq!(other.chores("children"), 0, "{step}: somebody is at it");
        owner.run("ROLLBACK");
        owner.run("DELETE FROM wed.postponed");
        assert_eq!(other.chores("children"), 1, "{step}");
        if step == "start" {
            let mut session = child.session();
            assert_eq!(session.number("SELECT count(*) FROM wed_flow"), 1);
            // The number of the one that was rolled back is gone.
            let started = session.number("SELECT wid FROM wed_flow");
            session.finish(started, "collect", "got = 1");
        }
    }
    assert_eq!(parent.end_of(wid), "F");
    assert_eq!(parent.session().number("SELECT count(*) FROM wed_trace"), 2);
}

#[harness::test]
fn hosts_that_are_killed_start_each_child_once() {
    let (parent, child, mut owner) = shop(ORDER);
    let mut p = parent.session();
    p.run("INSERT INTO wed_flow (total) SELECT n FROM generate_series(1, 60) n");
    let mut killed = (wed(&parent.database.url()).args(["serve", "--lanes", "1", "--name", "victim"]))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("wed serve");
    eventually("the first children", || {
        (owner.number("SELECT count(*) FROM wed.child WHERE state <> 'called'") > 0).then_some(())
    });
    killed.kill().and_then(|()| killed.wait()).expect("ended");
    let host = parent.database.host(one_lane("last"));
    eventually("all children", || {
        (owner.number("SELECT count(*) FROM wed.child WHERE state = 'running'") == 60).then_some(())
    });
    let mut c = child.session();
    assert_eq!(c.lines("SELECT count(*), count(DISTINCT amount) FROM wed_flow"), ["60|60"]);
    for wid in c.lines("SELECT wid FROM wed_flow ORDER BY wid") {
        c.finish(wid.parse().expect("a number"), "collect", "got = amount");
    }
    eventually("all parents", || {
        (p.number("SELECT count(*) FROM wed_instance WHERE status = 'F'") == 60).then_some(())
    });
    assert_eq!(p.number("SELECT count(*) FROM wed_flow WHERE paid IS DISTINCT FROM total"), 0);
    assert_eq!(p.number("SELECT count(*) FROM wed_trace"), 120);
    on(host.stop());
}

#[harness::test]
fn parent_that_is_cancelled_cancels_its_children_and_theirs() {
    let (parent, child, mut owner) = shop(ORDER);
    let database = &parent.database;
    let shelf = define(
        database,
        &ORDER
            .replace("name = \"order\"", "name = \"basket\"")
            .replace("starts = \"payment\"", "starts = \"order\"")
            .replace("amount = \"total\"", "total = \"total\"")
            .replace("paid = \"got\"", "paid = \"paid\""),
    );
    let wid = order(&mut shelf.session(), "3");
    owner.chores("children");
    owner.chores("children");
    assert_eq!(owner.number("SELECT max(depth) FROM wed.child"), 2);
    owner.run(&format!("SELECT wed.cancel_instance({}, {wid}, 'user:dora', 'no longer wanted')", shelf.id));
    owner.chores("children");
    owner.chores("children");
    assert_eq!((parent.session().status(1), child.session().status(1)), ("F".into(), "F".into()));
    assert_eq!(
        child.session().lines("SELECT trw, note FROM wed_trace WHERE seq = 2"),
        ["_CANCEL|instance 1 of order: it waits for it no longer"]
    );
    assert_eq!(owner.number("SELECT count(*) FROM wed.child WHERE state = 'cancelled'"), 2);
    // A step that is skipped leaves its child too.
    let wid = order(&mut parent.session(), "4");
    owner.chores("children");
    owner.run(&format!("SELECT wed.skip_job({}, {wid}, 'pay', 'user:dora', 'paid in cash')", parent.id));
    owner.chores("children");
    assert_eq!(child.session().status(2), "F");
}

#[harness::test]
fn failure_of_a_child_is_a_state_where_the_parent_has_one() {
    let with_state = ORDER
        .replace("outputs =", "state = \"payment\"\noutputs =")
        .replace("NOT refused AND", "")
        .replace("OR refused", "OR payment = 'FAILED'");
    let (parent, child, mut owner) = shop(&with_state);
    let (mut p, mut c) = (parent.session(), child.session());
    let wid = order(&mut p, "5");
    owner.chores("children");
    // An amount that nothing is collected of: the child is an exception.
    // The parent decides of it: who is in charge of the child is not asked.
    owner.run(&format!(
        "SELECT wed.create_person('default', 'dora', '{{}}'); \
         INSERT INTO wed.work_instance (flow_id, wid, tenant_id, in_charge) \
         SELECT {0}, 1, tenant_id, person_id FROM wed.person; \
         UPDATE wed.instance SET people = true WHERE flow_id = {0}",
        child.id
    ));
    c.finish(1, "collect", "amount = 0");
    assert_eq!(c.status(1), "E");
    assert_eq!(owner.number("SELECT count(*) FROM wed.work_message"), 0);
    owner.chores("children");
    assert_eq!((p.status(wid), p.line("SELECT payment FROM wed_flow")), ("F".into(), "FAILED".into()));
    assert_eq!(p.line("SELECT note FROM wed_trace WHERE seq = 2"), "instance 1 of payment is an exception");
    owner.chores("children");
    assert_eq!(c.status(1), "F", "nobody waits for it any more");
    // A start that is refused uses up the attempts; a child that cannot be at all is no child.
    let wid = order(&mut p, "-1");
    for _ in 0..3 {
        assert_eq!(owner.chores("children"), 1);
    }
    assert_eq!(p.line(&format!("SELECT payment FROM wed_flow WHERE wid = {wid}")), "FAILED");
    assert_eq!(p.number("SELECT count(*) FROM wed_attempt WHERE message ~ 'satisfies no condition'"), 3);
}

#[harness::test]
fn parent_without_a_state_waits_for_an_exception_to_be_mended() {
    let (parent, child, mut owner) = shop(ORDER);
    let (mut p, mut c) = (parent.session(), child.session());
    let wid = order(&mut p, "5");
    owner.chores("children");
    c.finish(1, "collect", "amount = 0");
    assert_eq!(owner.chores("children"), 0);
    assert_eq!(p.line("SELECT waits_for FROM job_pool"), "instance 1 of payment, which is an exception");
    owner.run(&format!("SELECT wed.set_state({}, 1, '{{\"got\": 5}}', 'user:dora', 'collected by hand')", child.id));
    owner.chores("children");
    assert_eq!(p.status(wid), "F");
    // One that is cancelled makes the parent an exception, which says so.
    let wid = order(&mut p, "6");
    owner.chores("children");
    owner.run(&format!("SELECT wed.cancel_instance({}, 2, 'user:dora', 'fraud')", child.id));
    owner.chores("children");
    assert_eq!(p.status(wid), "E");
    assert_eq!(
        p.line(&format!("SELECT note FROM wed_trace WHERE wid = {wid} ORDER BY seq DESC LIMIT 1")),
        "pay: instance 2 of payment was cancelled"
    );
}

#[harness::test]
fn flow_that_starts_itself_is_bounded() {
    let database = Database::new();
    let flow = define(
        &database,
        "name = \"self\"\nfinal = \"false\"\n[[attribute]]\nname = \"a\"\n[[trigger]]\nname = \"again\"\n\
         when = \"a IS NULL\"\ntransition = \"again\"\nattempts = 1\n[transition.again]\nstarts = \"self\"\n",
    );
    let mut owner = database.owner();
    flow.session().start();
    for _ in 0..12 {
        owner.chores("children");
    }
    assert_eq!(flow.session().number("SELECT count(*) FROM wed_flow"), 9);
    assert_eq!(flow.session().status(9), "E");
    assert_eq!(
        flow.session().line("SELECT message FROM wed_attempt"),
        "children are at most 8 deep, and this one would be 9"
    );
}

#[harness::test]
fn definitions_say_what_is_started_in_every_language() {
    let (parent, _, mut owner) = shop(ORDER);
    let database = &parent.database;
    let (definition, _) = on(database.store.definition(parent.id)).expect("a definition");
    assert_eq!(definition["transition"]["pay"]["starts"], "payment");
    let wed = |arguments: &[&str]| run(wed(&database.url()).args(arguments)).done();
    let text = wed(&["flow", "show", "order", "--wsql"]).out;
    let said = "CREATE WED-TRANSITION pay STARTS payment\n  INPUTS (amount = total)\n  OUTPUTS (paid = got);";
    assert!(text.contains(said), "{text}");
    wed(&["instance", "start", "order", "total=1"]);
    owner.chores("children");
    let shown = wed(&["instance", "show", "order", "1", "--json"]).json();
    let relative = &shown["instance"]["relatives"][0];
    assert_eq!((&relative["role"], &relative["flow"]), (&"child".into(), &"payment".into()));
    let wrong = ORDER.replace("amount = \"total\"", "amount = \"sum\"");
    let wrong: FlowDefinition = toml::from_str(&wrong).expect("a definition");
    let refused = on(database.store.apply("default", &wrong)).expect_err("no such attribute");
    assert!(refused.to_string().contains("names \"sum\""), "{refused}");
}

#[harness::test]
fn sub_workflow_of_another_source_is_a_child() {
    let database = Database::new();
    let inner = "WORKFLOW Visit { NUMBER Cost { VALUE 1; } TASK Go: Walk { ROLE R; OUT_CONTEXT Cost; } } \
                 TASK Walk { TYPE MANUAL; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }";
    let outer = "WORKFLOW Repair { NUMBER Cost { VALUE 7; } SUB-WORKFLOW S: Visit { } \
                 TASK Bill: Write { ROLE R; DEPENDS S -> SUCCEEDED; } } \
                 TASK Write { TYPE MANUAL; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }";
    flow_command(&database, "apply", inner, &[]).done();
    flow_command(&database, "apply", outer, &[]).done();
    let (parent, child) = (flow(&database, "repair"), flow(&database, "visit"));
    let (mut p, mut c, mut owner) = (parent.session(), child.session(), database.owner());
    let wid = p.start();
    owner.chores("children");
    assert_eq!(c.line("SELECT cost FROM wed_flow"), "7");
    c.finish(1, "go", "go_state = 'SUCCEEDED', cost = 20");
    owner.chores("children");
    assert_eq!(p.lines("SELECT s_state, cost FROM wed_flow"), ["SUCCEEDED|20"]);
    assert_eq!(p.pending(wid), ["bill"]);
}
