//! Operators retry, cancel, pause, skip and set by hand; each action is traced and audited.

use serde_json::json;
use wedflow_documents::RetryMatching;
use wedflow_model::Wid;

use crate::support::database::one_lane;
use crate::support::flows::{PAPER, STEPS};
use crate::support::program::{run, wed};
use crate::support::{Database, Flow, Session, eventually, on};

/// Calls a function of the owner's with the flow's number in front.
fn call(owner: &mut Session, flow: &Flow, function: &str, arguments: &str) -> String {
    owner.line(&format!("SELECT wed.{function}({}, {arguments})", flow.id))
}

/// An instance that is an exception: both of its jobs were skipped.
pub(super) fn exception(owner: &mut Session, flow: &Flow) -> i64 {
    let wid = flow.session().start();
    for transition in ["tr_a2", "tr_a3"] {
        let arguments = format!("{wid}, '{transition}', 'ann', 'not needed'");
        call(owner, flow, "skip_job", &arguments);
    }
    assert_eq!(flow.session().status(wid), "E");
    wid
}

#[harness::test]
fn cancelled_instance_is_final_and_leaves_no_job() {
    let flow = Flow::of(PAPER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wid = s.start();
    let refused = owner.refused(&format!("SELECT wed.cancel_instance({}, {wid}, 'ann', ' ')", flow.id));
    refused.expect("WF041");
    call(&mut owner, &flow, "cancel_instance", &format!("{wid}, 'ann', 'ordered twice'"));
    assert_eq!(s.status(wid), "F");
    assert!(s.pending(wid).is_empty());
    assert_eq!(s.trace(wid), ["-> {tr_a2,tr_a3} R", "_CANCEL -> {} F"]);
    assert_eq!(s.line("SELECT note FROM wed_trace WHERE seq = 2"), "ann: ordered twice");
    let again = format!("SELECT wed.cancel_instance({}, {wid}, 'ann', 'again')", flow.id);
    owner.refused(&again).expect("WF002");
    let missing = format!("SELECT wed.cancel_instance({}, 99, 'ann', 'why')", flow.id);
    owner.refused(&missing).expect("WF040");
}

#[harness::test]
fn retried_exception_fires_what_its_state_satisfies() {
    let flow = Flow::of(PAPER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wid = exception(&mut owner, &flow);
    assert_eq!(call(&mut owner, &flow, "retry_instance", &format!("{wid}, 'ann', 'mended'")), "{tr_a2,tr_a3}");
    assert_eq!(s.trace(wid).last().map(String::as_str), Some("_RETRY -> {tr_a2,tr_a3} R"));
    s.finish(wid, "tr_a2", "a2 = 'done'");
    s.finish(wid, "tr_a3", "a3 = 'done'");
    s.finish(wid, "tr_final", "a1 = 'done'");
    assert_eq!(s.status(wid), "F");
}

#[harness::test]
fn exception_whose_state_satisfies_nothing_is_not_retried() {
    let flow = Flow::of(PAPER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wid = s.start();
    s.run("UPDATE wed_trig SET recheck = false");
    s.finish(wid, "tr_a2", "a1 = NULL");
    s.finish(wid, "tr_a3", "a3 = 'done'");
    assert_eq!(s.status(wid), "E");
    let preview = s.line("SELECT wid, refused FROM wed_retry_matching()");
    assert!(preview.starts_with(&format!("{wid}|")) && !preview.ends_with('·'), "a preview says so: {preview}");
    let refused = owner.refused(&format!("SELECT wed.retry_instance({}, {wid}, 'ann', '')", flow.id));
    refused.expect("WF042");
    let set = format!("{wid}, '{{\"a1\": \"ready\"}}', 'ann', 'lost by hand'");
    assert_eq!(call(&mut owner, &flow, "set_state", &set), "R");
    assert_eq!(s.pending(wid), ["tr_a2"]);
}

#[harness::test]
fn matching_exceptions_are_counted_before_they_are_retried() {
    let flow = Flow::of(PAPER);
    let mut owner = flow.database.owner();
    let wids: Vec<i64> = (0..3).map(|_| exception(&mut owner, &flow)).collect();
    let store = &flow.database.store;
    let of = on(store.flow("default", &flow.name)).expect("the flow");
    let mut matching = RetryMatching {
        transition: Some("tr_a3".to_owned()),
        message: Some("not needed".to_owned()),
        ..RetryMatching::default()
    };
    let found = on(store.retry_matching(&of, &matching, 10)).expect("counted");
    assert_eq!((found.instances.iter()).map(|one| i64::from(one.wid.get())).collect::<Vec<_>>(), wids);
    matching.transition = Some("tr_a2".to_owned());
    let found = on(store.retry_matching(&of, &matching, 10)).expect("counted");
    assert!(found.instances.is_empty());
    let url = flow.database.url();
    let count = run(wed(&url).args(["--json", "flow", "retry", &flow.name])).done().json();
    assert_eq!((&count["matching"], &count["retried"]), (&json!(3), &json!([])));
    assert_eq!(flow.session().status(wids[0]), "E");
    let retried = run(wed(&url).args(["--json", "flow", "retry", &flow.name, "--yes"])).done().json();
    assert_eq!(retried["retried"], json!(wids));
    assert_eq!(flow.session().status(wids[2]), "R");
}

#[harness::test]
fn skipped_job_is_traced_and_not_fired_again() {
    let flow = Flow::of(PAPER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wid = s.start();
    call(&mut owner, &flow, "skip_job", &format!("{wid}, 'tr_a2', 'ann', 'done by phone'"));
    assert_eq!(s.pending(wid), ["tr_a3"]);
    assert_eq!(s.line("SELECT outcome, message FROM wed_attempt"), "skipped|ann: done by phone");
    // The next state is evaluated as a whole.
    s.finish(wid, "tr_a3", "a3 = 'done'");
    assert_eq!(s.pending(wid), ["tr_a2"]);
    let unknown = format!("SELECT wed.skip_job({}, {wid}, 'tr_x', 'ann', 'why')", flow.id);
    let hint = owner.refused(&unknown).expect("WF040").hint;
    assert!(hint.contains("tr_a2"), "{hint}");
}

#[harness::test]
fn state_is_set_by_hand_in_an_exception_only() {
    let flow = Flow::of(PAPER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wid = s.start();
    let set =
        |wid: i64, values: &str| format!("SELECT wed.set_state({}, {wid}, '{values}', 'ann', 'by hand')", flow.id);
    owner.refused(&set(wid, r#"{"a2": "x"}"#)).expect("WF043");
    let wid = exception(&mut owner, &flow);
    owner.refused(&set(wid, r#"{"b": "x"}"#)).expect("42703");
    owner.refused(&set(wid, "{}")).expect("42703");
    assert_eq!(owner.line(&set(wid, r#"{"a2": "it''s", "a3": "y"}"#)), "R");
    assert_eq!(s.pending(wid), ["tr_final"]);
    assert_eq!(
        s.line(&format!("SELECT state ->> 'a2', note FROM wed_trace WHERE wid = {wid} AND trw = '_ADHOC'")),
        "it's|ann: by hand"
    );
    assert_eq!(s.line(&format!("SELECT a2 FROM wed_flow WHERE wid = {wid}")), "it's");
}

#[harness::test]
fn paused_things_are_not_taken_and_go_on_when_resumed() {
    let flow = Flow::of(PAPER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let (one, other) = (s.start(), s.start());
    let due = "SELECT wid, tgid, due FROM job_pool ORDER BY 1, 2";
    let before = s.lines(due);
    for (scope, number) in [
        ("NULL, NULL", flow.id.to_string()),
        ("NULL, NULL", "NULL".to_owned()),
        (&format!("NULL, {one}"), flow.id.to_string()),
    ] {
        let call = |pause: bool| format!("SELECT wed.set_pause(1, {number}, {scope}, {pause}, 'ann', 'holiday')");
        assert_eq!(owner.line(&call(true)), "t");
        assert_eq!(owner.line(&call(true)), "f");
        s.run("BEGIN");
        assert!(!s.take(one, "tr_a2"), "{scope}");
        assert_eq!(s.take(other, "tr_a2"), scope != "NULL, NULL");
        s.run("ROLLBACK");
        assert_eq!(owner.line(&call(false)), "t");
        assert_eq!(s.lines(due), before, "{scope}");
    }
}

#[harness::test]
fn pause_of_an_instance_that_has_ended_is_taken_back() {
    let flow = Flow::of(STEPS);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wid = s.start();
    s.run("BEGIN");
    assert!(s.take(wid, "step"));
    let pause = |on: bool| format!("SELECT wed.set_pause(1, {}, NULL, {wid}, {on}, 'ann', 'why')", flow.id);
    owner.line(&pause(true));
    // Its worker had begun before.
    s.run(&format!("UPDATE wed_flow SET n = 3 WHERE wid = {wid}; COMMIT"));
    assert_eq!(s.status(wid), "F");
    owner.refused(&pause(true)).expect("WF002");
    assert_eq!(owner.line(&pause(false)), "t");
    assert_eq!(owner.number("SELECT count(*) FROM wed.pause"), 0);
}

#[harness::test]
fn paused_trigger_fires_paused_jobs() {
    let flow = Flow::of(PAPER);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let pause = |on: bool| format!("SELECT wed.set_pause(1, {}, 'tr_a2', NULL, {on}, 'ann', 'why')", flow.id);
    owner.line(&pause(true));
    let wid = s.start();
    s.run("BEGIN");
    assert!(!s.take(wid, "tr_a2") && s.take(wid, "tr_a3"));
    s.run("ROLLBACK");
    owner.line(&pause(false));
    s.finish(wid, "tr_a2", "a2 = 'done'");
    owner
        .refused(&format!("SELECT wed.set_pause(1, {}, 'nothing', NULL, true, 'ann', 'why')", flow.id))
        .expect("WF040");
}

#[harness::test]
fn host_leaves_paused_instances_alone() {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "sleep-wid", "");
    let (mut s, mut owner) = (flow.session(), database.owner());
    // Sleeps as many seconds as its number.
    s.run("INSERT INTO wed_flow (wid) VALUES (2)");
    let host = database.host(one_lane("one"));
    eventually("the job in hand", || (s.line("SELECT lckid IS NOT NULL FROM job_pool") == "t").then_some(()));
    let pause = |on: bool| format!("SELECT wed.set_pause(1, {}, NULL, 2, {on}, 'ann', 'why')", flow.id);
    owner.line(&pause(true));
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(s.status(2), "R");
    assert_eq!(s.line("SELECT lckid IS NULL FROM job_pool"), "t");
    owner.line(&pause(false));
    assert_eq!(flow.end_of(2), "F");
    assert_eq!(s.number("SELECT count(*) FROM wed_trace"), 2);
    on(host.stop());
}

#[harness::test]
fn operators_are_on_record() {
    let flow = Flow::of(PAPER);
    let mut owner = flow.database.owner();
    let wid = exception(&mut owner, &flow);
    call(&mut owner, &flow, "retry_instance", &format!("{wid}, 'ann', 'mended'"));
    call(&mut owner, &flow, "cancel_instance", &format!("{wid}, 'bob', 'no more'"));
    assert_eq!(
        owner.lines(
            "SELECT actor, action, target, detail ->> 'reason' FROM wed.audit WHERE action ~ \
         '^(job|instance)' ORDER BY audit_id"
        ),
        [
            format!("ann|job.skip|trial/{wid}/tr_a2|not needed"),
            format!("ann|job.skip|trial/{wid}/tr_a3|not needed"),
            format!("ann|instance.retry|trial/{wid}|mended"),
            format!("bob|instance.cancel|trial/{wid}|no more"),
        ]
    );
}

#[harness::test]
fn each_waiting_job_has_a_reason() {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "ok", ", delay='1 hour'");
    let mut owner = database.owner();
    let mut s = flow.session();
    let wid = Wid::new(i32::try_from(s.start()).expect("a number"));
    let code = |store: &wedflow_store::Store| {
        let waiting = on(store.waiting(flow.id, wid)).expect("reasons");
        assert!(waiting.iter().all(|job| !job.text.is_empty() && !job.hint.is_empty()));
        waiting.iter().map(|job| job.code.as_str()).collect::<Vec<_>>().join(",")
    };
    let store = &database.store;
    assert_eq!(code(store), "time");
    owner.run("UPDATE wed.job SET due = now()");
    assert_eq!(code(store), "no_host");
    owner.run("INSERT INTO wed.host (name, expires_at) VALUES ('one', now() + interval '1 hour')");
    assert_eq!(code(store), "");
    owner.run("UPDATE wed.usage SET resting = true");
    assert_eq!(code(store), "quota");
    owner.run("UPDATE wed.usage SET resting = false");
    owner.line(&format!("SELECT wed.set_pause(1, {}, NULL, NULL, true, 'ann', 'why')", flow.id));
    assert_eq!(code(store), "paused");
    owner.line(&format!("SELECT wed.set_pause(1, {}, NULL, NULL, false, 'ann', 'why')", flow.id));
    flow.bind("ok", "missing");
    owner.run("UPDATE wed.job SET component_id = NULL");
    assert_eq!(code(store), "no_component");
    on(store.bind(flow.id, "ok", None)).expect("unbound");
    drop(s);
    eventually("no session of the role", || (code(store) == "no_worker").then_some(()));
}

#[harness::test]
fn dry_run_shows_what_would_fire_and_changes_nothing() {
    let database = Database::new();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flow.toml");
    let text = "name = \"steps\"\nfinal = \"n >= 3\"\n[[attribute]]\nname = \"n\"\ntype = \"integer\"\ndefault \
     = \"0\"\n\
                [[trigger]]\nname = \"t\"\nwhen = \"n < 3\"\ntransition = \"step\"\n";
    std::fs::write(&file, text).expect("written");
    let flow = database.apply(&file);
    let wid = flow.session().start();
    let more = format!("{text}[[trigger]]\nname = \"u\"\nwhen = \"n = 0\"\ntransition = \"look\"\n");
    std::fs::write(&file, more).expect("written");
    let mut apply = wed(&database.url());
    apply.args(["--json", "flow", "apply", "--dry-run"]).arg(&file);
    let answer = run(&mut apply).done().json();
    assert_eq!(answer["would_apply"]["triggers_added"], json!(["u"]));
    assert_eq!(answer["instances"], json!([{ "wid": wid, "fires": ["look"], "becomes": "regular" }]));
    assert_eq!(flow.session().number("SELECT count(*) FROM wed_trig"), 2);
    assert_eq!(flow.session().pending(wid), ["step"]);
}

#[harness::test]
fn flow_is_rolled_back_to_an_earlier_definition() {
    let database = Database::new();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flow.toml");
    let url = database.url();
    for limit in [3, 5] {
        let text = format!(
            "name = \"steps\"\nfinal = \"n >= {limit}\"\n[[attribute]]\nname = \"n\"\ntype = \"integer\"\ndefault \
             = \"0\"\n\
             [[trigger]]\nname = \"t\"\nwhen = \"n < {limit}\"\ntransition = \"step\"\n"
        );
        std::fs::write(&file, text).expect("written");
        run(wed(&url).args(["flow", "apply"]).arg(&file)).done();
    }
    let history = run(wed(&url).args(["--json", "flow", "history", "steps"])).done().json();
    assert_eq!(history.as_array().map(Vec::len), Some(2));
    let diff = run(wed(&url).args(["--json", "flow", "diff", "steps"])).done().json();
    let lines = diff["lines"].to_string();
    assert!(lines.contains("- final = \\\"n >= 3\\\"") && lines.contains("+ final = \\\"n >= 5\\\""), "{lines}");
    run(wed(&url).args(["flow", "rollback", "steps"])).done();
    let predicate = |owner: &mut Session| owner.line("SELECT predicate FROM wed.trigger WHERE cfinal");
    let mut owner = database.owner();
    assert!(predicate(&mut owner).contains('5'), "shown only");
    run(wed(&url).args(["flow", "rollback", "steps", "--yes"])).done();
    assert!(predicate(&mut owner).contains('3'));
}

#[harness::test]
fn what_will_not_run_is_said_when_it_is_applied() {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "clause", "");
    let store = &database.store;
    let warnings = || on(store.flow_warnings(flow.id)).expect("an answer");
    assert!(warnings().is_empty(), "{:?}", warnings());
    flow.bind("nothing", "hostile");
    flow.bind("clause", "missing");
    flow.session().run("UPDATE wed_trig SET enabled = false WHERE NOT cfinal");
    let said = warnings().join("; ");
    for part in ["missing was not uploaded", "hostile does not declare transition nothing", "trigger t is disabled"] {
        assert!(said.contains(part), "{said}");
    }
    let pushed = on(store.component_warnings("default", "hostile")).expect("an answer");
    assert_eq!(pushed, ["flow clause: component hostile does not declare transition nothing"]);
}

#[harness::test]
fn new_exceptions_are_announced_once() {
    let flow = Flow::of(PAPER);
    let mut owner = flow.database.owner();
    let wid = exception(&mut owner, &flow);
    let announced = "SELECT n ->> 'tenant', n ->> 'flow', n ->> 'wid', n ->> 'message' \
         FROM wed.find_chores('exceptions') c, unnest(wed.do_chores('exceptions', c)) n WHERE n <> 'false'";
    assert_eq!(owner.lines(announced), [format!("default|trial|{wid}|tr_a3 was skipped by ann: not needed")]);
    assert!(owner.lines(announced).is_empty());
    call(&mut owner, &flow, "retry_instance", &format!("{wid}, 'ann', ''"));
    for transition in ["tr_a2", "tr_a3"] {
        call(&mut owner, &flow, "skip_job", &format!("{wid}, '{transition}', 'ann', 'again'"));
    }
    assert_eq!(owner.lines(announced).len(), 1);
}

#[harness::test]
fn command_line_and_http_name_the_same_reasons() {
    let flow = Flow::of(PAPER);
    let wid = flow.session().start();
    let url = flow.database.url();
    let wid = wid.to_string();
    run(wed(&url).args(["instance", "pause", &flow.name, &wid, "--reason", "holiday"])).done();
    let shown = run(wed(&url).args(["--json", "instance", "show", &flow.name, &wid])).done().json();
    assert_eq!(shown["jobs"][0]["waits_for"], "paused");
    let pauses = run(wed(&url).args(["--json", "flow", "pauses"])).done().json();
    assert_eq!(pauses[0]["reason"], "holiday");
    run(wed(&url).args(["instance", "resume", &flow.name, &wid])).done();
    run(wed(&url).args(["instance", "cancel", &flow.name, &wid, "--reason", "no more"])).done();
    run(wed(&url).args(["instance", "retry", &flow.name, &wid])).exits(4);
    let status = run(wed(&url).args(["--json", "status"])).exits(1).json();
    assert_eq!(status["problems"][0]["code"], "no_host");
}
