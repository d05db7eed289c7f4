//! Starts of instances: the attributes that one may set, at each door, and who may not do what was started.

use serde_json::json;
use wedflow_console::Links;

use super::data_says::VACATION;
use super::{Office, REPAIRS};
use crate::console::{page, served_over};
use crate::support::program::{run, wed};

/// The vacation of which a start sets who asks and who decides, with its first lines replaced.
fn listed(start: &str) -> Office {
    Office::of(&VACATION.replacen("final = \"booked\"", &format!("final = \"booked\"\nstart = {start}"), 1))
}

const START: &str = r#"["employee", "approvers"]"#;

/// A refusal of an attribute that `start` does not list.
fn refused(office: &mut Office, call: &str) -> String {
    let refusal = office.owner.refused(&format!("SELECT {call}"));
    assert_eq!(refusal.code, "WF048", "{call}: {}", refusal.message);
    format!("{} {}", refusal.message, refusal.hint)
}

#[harness::test]
fn start_sets_only_what_the_flow_lists() {
    let mut office = listed(START);
    let flow = office.flow.id;
    let decided = r#"{"employee": "beto", "approved": true, "days": 3}"#;
    let text = refused(&mut office, &format!("wed.start_process('default', 'vacation', 'ana', 'dora', '{decided}')"));
    assert!(text.contains("\"approved\"") && text.contains("It may set: employee, approvers."), "{text}");
    refused(&mut office, &format!("wed.start_once({flow}, '{decided}', 'ana', NULL)"));
    office.owner.run(&format!("SELECT wed.start_once({flow}, '{{\"employee\": \"beto\"}}', 'ana', NULL)"));
    // What starts nothing else: none at all.
    let mut office = listed("[]");
    let flow = office.flow.id;
    refused(&mut office, &format!("wed.start_once({flow}, '{{\"employee\": \"beto\"}}', 'ana', NULL)"));
    office.owner.run(&format!("SELECT wed.start_once({flow}, '{{}}', 'ana', NULL)"));
}

#[harness::test]
fn doors_of_users_take_only_the_attributes_of_a_start() {
    let office = listed(START);
    let api = served_over(office.database(), &Links::default());
    let beto = api.user("default", "beto", "participant");
    let operator = api.user("default", "olga", "operator");
    let asked = json!({ "state": { "employee": "beto", "approved": true } });
    operator.json("POST", "/v1/flows/vacation/instances", &asked).problem(422, "WF048");
    let asked = json!({ "flow": "vacation", "values": { "approved": true } });
    beto.json("POST", "/v1/work/processes", &asked).problem(422, "WF048");
    let url = office.database().url();
    let told = run(wed(&url).args(["instance", "start", "vacation", "approved=true"])).exits(4).err;
    assert!(told.contains("may not set attribute") && told.contains("employee, approvers"), "{told}");
    for (client, path) in [(&operator, "/console/flows/vacation/start"), (&beto, "/console/work/start?flow=vacation")] {
        let shown = page(client, path).is(200).text;
        assert!(shown.contains("a.employee") && !shown.contains("a.approved"), "{shown}");
    }
    run(wed(&url).args(["instance", "start", "vacation", "employee=beto"])).done();
}

#[harness::test]
fn list_of_a_start_is_part_of_the_definition() {
    let mut office = listed(START);
    let flow = office.flow.id;
    let start = |office: &mut Office| office.owner.line(&format!("SELECT wed.definition({flow}) -> 'start'"));
    assert_eq!(start(&mut office), r#"["employee", "approvers"]"#);
    let mut session = office.flow.session();
    session.run("UPDATE wed_attr SET aname = 'who' WHERE aname = 'employee'");
    assert_eq!(start(&mut office), r#"["who", "approvers"]"#);
    // A schedule is the author's own.
    let apply =
        |change: &str| format!("SELECT wed.apply_definition({flow}, wed.definition({flow}) || '{change}', 'x')");
    office.owner.run(&apply(r#"{"schedule": [{"name": "s", "cron": "0 0 1 1 *", "state": {"days": 2}}]}"#));
    office.owner.refused(&apply(r#"{"start": ["nothing"]}"#)).expect("WF013");
    office.owner.run(&apply(r#"{"start": []}"#));
    assert_eq!(start(&mut office), "[]");
    let changes = "SELECT name, was, becomes FROM wed_difference() WHERE part = 'setting'";
    assert_eq!(session.line(changes), r#"start|["who", "approvers"]|[]"#);
    session.run("SELECT wed_roll_back(preview => false)");
    assert_eq!(start(&mut office), r#"["who", "approvers"]"#);
}

/// A vacation that nobody approves who started it.
fn by_another() -> Office {
    let text = VACATION.replace("candidates = \"approvers\"\nnot_by = \"ask\"", "not_by = \"_START\"");
    Office::of(&text.replace("assignee = \"employee\"\n", ""))
}

#[harness::test]
fn who_started_an_instance_does_not_do_a_task_for_others() {
    let mut office = by_another();
    let values = r#"{"days": 5}"#;
    let call = format!("SELECT wed.start_process('default', 'vacation', 'ana', 'ana', '{values}')");
    let wid = office.owner.number(&call);
    let item = office.item(wid, "approve");
    assert!(office.list("ana", "arrival", "0").is_empty());
    // Nor in charge, nor by somebody else's hand, nor at the deadline.
    for call in [
        format!("wed.select_work('default', 'ana', {item})"),
        format!("wed.take_over_work('default', 'ana', {item})"),
        format!("wed.delegate_work('default', 'dora', {item}, 'ana')"),
    ] {
        office.owner.refused(&format!("SELECT {call}")).expect("WF083");
    }
    office.act("select_work", "beto", item);
    assert_eq!(office.report("beto", item, r#"{"approved": true}"#, "k")["applied"], true);
}

#[harness::test]
fn start_over_http_is_noted_too() {
    let mut office = by_another();
    let api = crate::support::http::Api::of(office.database());
    let beto = api.user("default", "beto", "operator");
    let started = beto.json("POST", "/v1/flows/vacation/instances", &json!({ "state": { "days": 5 } })).is(201).json();
    let item = office.item(started["wid"].as_i64().expect("a number"), "approve");
    office.owner.refused(&format!("SELECT wed.select_work('default', 'beto', {item})")).expect("WF083");
    office.act("select_work", "caio", item);
}

#[harness::test]
fn second_pair_of_eyes_is_looked_at_when_the_task_is_done() {
    // Both tasks are offered at once: what is done later counts as well.
    let both = REPAIRS.replace("order_state = 'SUCCEEDED' AND visit_state", "visit_state");
    let mut office = Office::of(&both.replace("role = \"Tecnico\"", "role = \"Atendente\"\nnot_by = \"order\""));
    let wid = office.start();
    let (order, visit) = (office.item(wid, "order"), office.item(wid, "visit"));
    office.act("lock_work", "ana", visit);
    office.act("select_work", "ana", order);
    office.report("ana", order, "{}", "order");
    let report = format!("SELECT wed.report_work('default', 'ana', {visit}, true, '{{}}', 'visit')");
    office.owner.refused(&report).expect("WF083");
    office.act("unlock_work", "ana", visit);
    office.owner.refused(&format!("SELECT wed.lock_work('default', 'ana', {visit})")).expect("WF083");
}
