//! Results, drafts and copies are kept: whatever answers in the server's place, whoever's token it is, whatever
//! the server refuses.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use serde_json::json;
use wedflow_away::{LocalStore, reconnect};

use super::away::{Field, HOUSE};
use super::inbox::machine;
use super::{Office, REPAIRS};
use crate::recovery::proxy::Mode;
use crate::support::eventually;

/// A server that answers every request alike.
fn portal(status: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut seen: Vec<u8> = Vec::new();
                let mut buffer = [0; 4096];
                while !seen.windows(4).any(|four| four == b"\r\n\r\n") {
                    match client.read(&mut buffer) {
                        Ok(count) if count > 0 => seen.extend(&buffer[..count]),
                        _ => return,
                    }
                }
                let page = "<html>Log in to the hotel's network</html>";
                let _ = write!(
                    client,
                    "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: \
                     close\r\n\r\n{page}",
                    page.len()
                );
            });
        }
    });
    address
}

#[harness::test]
fn login_page_empties_no_local_store() {
    let mut field = Field::new();
    let item = field.locked();
    let number = item.to_string();
    field.work("s", &["sync"]).done();
    let page = portal("200 OK");
    field.proxy.lead(Some(page));
    field.work("s", &[]).exits(5);
    field.work("s", &["do", &number, "--at-server"]).exits(5);
    assert!(field.store("s").executable(item).is_ok());
    field.proxy.lead(None);
    let screen = machine(&field, "s");
    screen.has("whole");
    field.proxy.lead(Some(page));
    screen.press(&["F5"]);
    let picture = screen.has("● server lost");
    assert!(picture.contains("visit"), "{picture}");
    screen.press(&["q"]);
    screen.ended();
    assert!(field.store("s").executable(item).is_ok());
}

#[harness::test]
fn word_of_a_proxy_refuses_no_result() {
    let mut field = Field::new();
    let item = field.locked().to_string();
    field.work("s", &["away"]).done();
    field.work("s", &["do", &item, "--set", "a2=mine"]).done();
    for status in ["404 Not Found", "413 Content Too Large", "200 OK", "403 Forbidden"] {
        field.proxy.lead(Some(portal(status)));
        field.work("s", &["return"]).exits(5);
        let kept = field.store("s").results().expect("results").remove(0);
        assert!(kept.is_pending(), "{status}: {kept:?}");
    }
    field.proxy.lead(None);
    field.work("s", &["return"]).done();
    assert_eq!(field.steps_of(), 1);
}

#[harness::test]
fn result_is_on_the_disk_while_the_link_is_silent() {
    let mut field = Field::new();
    let item = field.locked();
    let screen = machine(&field, "s");
    screen.has("whole");
    screen.press(&["r"]);
    screen.has("result of item");
    field.proxy.set(Mode::Hold);
    screen.type_text("mine");
    screen.press(&["F2"]);
    screen.has("is saved here");
    eventually("the result on the disk", || {
        let store = LocalStore::open(&field.path("s")).ok()?;
        store.result(item).ok()
    });
    screen.press(&["q"]);
    screen.ended();
    field.proxy.set(Mode::Pass);
    field.proxy.cut();
    field.work("s", &["return"]).done();
    assert_eq!(field.steps_of(), 1);
}

#[harness::test]
fn form_that_is_left_is_there_again() {
    let mut field = Field::new();
    field.locked();
    let screen = machine(&field, "s");
    screen.has("whole");
    screen.press(&["r"]);
    screen.has("result of item");
    screen.type_text("half of it");
    screen.press(&["Escape"]);
    screen.has("Kept as a draft");
    screen.press(&["q"]);
    screen.ended();
    let screen = machine(&field, "s");
    screen.has("whole");
    screen.press(&["r"]);
    screen.has("half of it");
    screen.press(&["F2"]);
    screen.has("is applied");
    let mut flow = field.office.flow.session();
    assert_eq!(flow.line("SELECT a2 FROM wed_flow"), "half of it");
}

#[harness::test]
fn result_that_a_pause_holds_up_is_not_said_to_be_applied_and_is_sent_later() {
    let mut field = Field::new();
    let item = field.locked();
    let flow = field.office.flow.id;
    let pause = |pause: bool| {
        format!(
            "SELECT wed.set_pause(tenant_id, flow_id, NULL, 1, {pause}, 'operator', 'inventory') FROM wed.flow WHERE \
             flow_id = {flow}"
        )
    };
    field.office.owner.run(&pause(true));
    let screen = machine(&field, "s");
    screen.has("whole");
    screen.press(&["r"]);
    screen.has("result of item");
    screen.type_text("mine");
    screen.press(&["F2"]);
    screen.has("is paused");
    screen.has("1 result to send");
    let kept = field.store("s").result(item).expect("kept");
    assert!(kept.is_pending(), "{kept:?}");
    field.office.owner.run(&pause(false));
    screen.has("is applied");
    assert_eq!(field.steps_of(), 1);
}

#[harness::test]
fn token_of_somebody_else_neither_sends_nor_replaces_anything() {
    let mut field = Field::new();
    let item = field.locked().to_string();
    field.work("s", &["away"]).done();
    field.work("s", &["do", &item, "--set", "a2=mine"]).done();
    let caio = field.api.user("default", "caio", "participant").token.expect("a token");
    for words in [&["return"][..], &["sync"], &["away"], &[]] {
        let error = field.work_as(&caio, "s", words).exits(2).error();
        assert!(error["message"].to_string().contains("beto"), "{error}");
    }
    field.work("s", &["return"]).done();
    assert_eq!(field.steps_of(), 1);
}

#[harness::test]
fn any_refusal_says_why_and_is_corrected_and_sent_again() {
    let mut field = Field::new();
    let item = field.locked().to_string();
    field.work("s", &["away"]).done();
    field.work("s", &["do", &item, "--set", "a2=mine", "--set", "a1=other"]).done();
    let error = field.work("s", &["return"]).exits(4).error();
    assert_eq!(error["code"], "WF010", "{error}");
    assert!(error["message"].to_string().contains("has no field"), "{error}");
    assert!(error.to_string().contains("mine"), "{error}");
    let rows = field.work("s", &["outbox"]).done().json();
    assert_eq!(rows[0]["state"], "refused", "{rows}");
    field.work("s", &["forget", &item]).done();
    field.work("s", &["do", &item, "--set", "a2=wrong", "--set", "a1=other"]).exits(4);
    // As it was it is refused again.
    field.work("s", &["resend", &item]).exits(4);
    field.work("s", &["forget", &item]).done();
    field.work("s", &["do", &item, "--set", "a2=right"]).done();
    let rows = field.work("s", &["outbox"]).done().json();
    assert_eq!(rows[0]["state"], "confirmed", "{rows}");
    assert_eq!(field.steps_of(), 1);
}

/// HOUSE with an attribute that events may set, which the person sees and sets.
fn noted() -> String {
    HOUSE
        .replace(
            "[[attribute]]\nname = \"a2\"\n",
            "[[attribute]]\nname = \"a2\"\n[[attribute]]\nname = \"note\"\nopen = true\n",
        )
        .replace("inputs = [\"a1\"]", "inputs = [\"a1\", \"note\"]")
        .replace("outputs = [\"a2\"]", "outputs = [\"a2\", \"note\"]")
}

/// Somebody else sets the note of instance 1.
fn note(field: &mut Field, text: &str) {
    let flow = field.office.flow.id;
    field.office.owner.run(&format!("SELECT wed.send_event({flow}, 1, '{{\"note\": \"{text}\"}}', 'operator', NULL)"));
}

#[harness::test]
fn what_changed_since_it_was_copied_is_copied_again() {
    let mut field = Field::of(&noted());
    let item = field.locked();
    field.work("s", &["sync"]).done();
    note(&mut field, "gate code 4711");
    field.work("s", &["away"]).done();
    let (found, _) = field.store("s").executable(item).expect("here");
    assert_eq!(found.document["data"]["note"], "gate code 4711");
}

#[harness::test]
fn what_changed_meanwhile_is_shown_before_it_is_overwritten() {
    let mut field = Field::of(&noted());
    let item = field.locked().to_string();
    field.work("s", &["away"]).done();
    field.work("s", &["do", &item, "--set", "a2=mine", "--set", "note=my note"]).done();
    let mut flow = field.office.flow.session();
    note(&mut field, "theirs");
    let error = field.work("s", &["return"]).exits(4).error();
    assert_eq!(error["code"], "WF084", "{error}");
    assert!(error.to_string().contains("theirs"), "{error}");
    assert_eq!(field.steps_of(), 0);
    field.work("s", &["resend", &item]).done();
    assert_eq!(flow.line("SELECT note FROM wed_flow"), "my note");
}

#[harness::test]
fn held_items_are_listed_whatever_the_limit() {
    let mut office = Office::new();
    let (first, second, third) = (office.visit(), office.visit(), office.visit());
    office.act("lock_work", "beto", third);
    for order in ["arrival", "priority", "deadline", "size", "own"] {
        let listed =
            office.owner.lines(&format!("SELECT d ->> 'item' FROM wed.worklist('default', 'beto', '{order}', 1) d"));
        assert_eq!(listed.len(), 2, "{order}");
        assert!(listed.contains(&third.to_string()), "{order}: {listed:?}");
    }
    assert!(first < second);
}

#[harness::test]
fn short_list_is_the_beginning_of_a_long_one() {
    let mut office = Office::new();
    let (first, second, third) = (office.visit(), office.visit(), office.visit());
    office.owner.run(&format!(
        "UPDATE wed.work_item SET deadline_at = NULL WHERE item_id = {first}; \
         UPDATE wed.work_item SET deadline_at = deadline_at - interval '1 hour', priority = 20 WHERE item_id = {third}"
    ));
    let mut listed = |order: &str, limit: usize| {
        office.owner.lines(&format!("SELECT d ->> 'item' FROM wed.worklist('default', 'beto', '{order}', {limit}) d"))
    };
    for (order, items) in [
        ("arrival", [first, second, third]),
        ("priority", [third, first, second]),
        ("deadline", [third, second, first]),
        ("size", [first, second, third]),
        ("own", [first, second, third]),
    ] {
        let items = items.map(|item| item.to_string());
        for limit in 1..=3 {
            assert_eq!(listed(order, limit), items[..limit], "{order}");
        }
    }
}

#[harness::test]
fn size_of_data_is_that_of_the_state() {
    let mut office = Office::new();
    let item = office.visit();
    let seen = office.document(&format!("wed.work_data('default', 'beto', {item})"));
    assert_eq!(seen["data_bytes"], 3, "tea: {seen}");
}

#[harness::test]
fn begun_item_that_is_locked_may_be_taken_away() {
    let mut field = Field::new();
    let item = field.locked();
    let state = field.office.act("start_work", "beto", item);
    assert_eq!(state["state"], "LOCKED");
    let mut store = field.store("s");
    field.leave(&mut store, "s");
    assert!(store.executable(item).is_ok());
    reconnect(field.link(), &mut store).expect("connected");
}

#[harness::test]
fn request_that_comes_late_changes_nothing_of_a_later_claim() {
    let mut office = Office::new();
    let item = office.visit();
    let claim = |document: &serde_json::Value| document["claim"].as_i64().expect("a claim");
    let first = claim(&office.act("lock_work", "beto", item));
    office.act("unlock_work", "beto", item);
    let second = claim(&office.act("lock_work", "beto", item));
    assert!(second > first);
    for function in ["unlock_work", "unselect_work", "start_work"] {
        let late = format!("SELECT wed.{function}('default', 'beto', {item}, clock_timestamp(), {first})");
        office.owner.refused(&late).expect("WF082");
    }
    assert_eq!(office.state(item), "LOCKED|beto");
    office.act("unlock_work", "beto", item);
    let late = format!("SELECT wed.lock_work('default', 'beto', {item}, clock_timestamp(), {first})");
    office.owner.refused(&late).expect("WF081");
    assert_eq!(office.state(item), "READY|·");
}

#[harness::test]
fn form_takes_no_text_for_a_number_and_is_an_object() {
    let form = r#"form = { properties = { cost = { type = "number", minimum = 10, maximum = 100 } } }"#;
    let with = |form: &str| REPAIRS.replace("priority = 10", &format!("{form}\npriority = 10"));
    let mut office = Office::of(&with(form));
    let item = office.visit();
    office.act("lock_work", "beto", item);
    for wrong in ["5", "101", "\"50\"", "\"1e4\"", "\"NaN\"", "true"] {
        let sql = format!("SELECT wed.report_work('default', 'beto', {item}, true, '{{\"cost\": {wrong}}}', 'k')");
        office.owner.refused(&sql).expect("WF088");
    }
    let flow = office.flow.id;
    for wrong in ["\"{}\"", "[]", "{\"properties\": []}", "{\"required\": \"cost\"}", "{\"properties\": {\"cost\": 1}}"]
    {
        let plan = format!("{{\"tasks\": [{{\"trigger\": \"visit\", \"form\": {wrong}}}]}}");
        office.owner.refused(&format!("SELECT wed.plan_work({flow}, '{plan}')")).expect("WF085");
    }
}

#[harness::test]
fn peoples_tasks_follow_an_attribute_to_its_new_name() {
    let form = r#"form = { properties = { cost = { type = "number", minimum = 10 } }, required = ["cost"] }"#;
    let mut office = Office::of(&REPAIRS.replace("priority = 10", &format!("{form}\npriority = 10")));
    let item = office.visit();
    office.act("lock_work", "beto", item);
    let mut flow = office.flow.session();
    for (former, name) in [("cost", "price"), ("visit_state", "visited"), ("form", "paper")] {
        flow.run(&format!("UPDATE wed_attr SET aname = '{name}' WHERE aname = '{former}'"));
    }
    let seen = office.document(&format!("wed.work_data('default', 'beto', {item})"));
    assert_eq!(seen["outputs"], json!(["paper", "price"]), "{seen}");
    assert_eq!(seen["data"]["paper"], "tea", "{seen}");
    let refused = "{\"price\": 5}";
    let sql = format!("SELECT wed.report_work('default', 'beto', {item}, true, '{refused}', 'k')");
    office.owner.refused(&sql).expect("WF088");
    let answer = office.report("beto", item, "{\"price\": 20}", "k");
    assert_eq!(answer["instance"], "F", "{answer}");
    assert_eq!(flow.line("SELECT price, visited FROM wed_flow"), "20|SUCCEEDED");
}

#[harness::test]
fn months_of_a_deadline_are_those_of_the_calendar() {
    let mut office = Office::new();
    office.owner.run("SELECT wed.set_calendar('default', 'office', 'UTC', '{1,2,3,4,5}', '09:00', '17:00', '{}')");
    let mut after = |span: &str| {
        office.owner.line(&format!(
            "SELECT wed.add_working_time('2026-01-30 12:00+00', '{span}', calendar_id) AT TIME ZONE 'UTC'
             FROM wed.work_calendar WHERE name = 'office'"
        ))
    };
    assert_eq!(after("2 days 3 hours"), "2026-02-03 15:00:00");
    assert_eq!(after("3 months"), "2026-04-30 12:00:00");
    // The last of February is a Saturday.
    assert_eq!(after("1 month 1 day"), "2026-03-02 17:00:00");
}

#[harness::test]
fn item_on_a_worklist_waits_for_a_person() {
    let mut office = Office::new();
    office.visit();
    let reason = "SELECT wed.waiting_reason(flow_id, wid, tgid) FROM wed.job";
    assert_eq!(office.owner.line(reason), "person");
}

#[harness::test]
fn failure_that_no_rule_expects_is_decided_by_who_is_in_charge() {
    let mut office = Office::new();
    let flow = office.flow.id;
    let name = office.flow.name.clone();
    office.owner.run(&format!(
        "SELECT wed.plan_work({flow}, plan || jsonb_build_object('tasks', (SELECT jsonb_agg(t || \
         '{{\"failure_expected\": false}}') FROM jsonb_array_elements(plan -> 'tasks') t))) FROM wed.work_plan WHERE flow_id = {flow}"
    ));
    let item = office.visit();
    office.act("select_work", "beto", item);
    let answer =
        office.document(&format!("wed.report_work('default', 'beto', {item}, false, '{{}}', 'k', 'nobody at home')"));
    assert_eq!(answer["instance"], "E", "{answer}");
    assert!(office.messages("dora").iter().any(|line| line.starts_with("task_failed|")));
    let decide =
        |person: &str| format!("wed.decide_exception('default', '{person}', '{name}', 1, 'retry', NULL, 'again')");
    office.owner.refused(&format!("SELECT {}", decide("beto"))).expect("WF083");
    let decided = office.document(&decide("dora"));
    assert_eq!(decided["status"], "R", "{decided}");
    let again = office.item(1, "visit");
    assert_ne!(again, item);
}

#[harness::test]
fn participant_in_charge_decides_on_an_exception_over_http() {
    let mut field = Field::new();
    let item = field.locked();
    field.work("s", &["sync"]).done();
    field.work("s", &["do", &item.to_string(), "--failed", "--reason", "nobody at home"]).done();
    assert_eq!(field.office.owner.line("SELECT status FROM wed.instance"), "E");
    let path = format!("/v1/work/processes/{}/1/decide", field.office.flow.name);
    let decision = json!({ "decision": "retry", "reason": "again" });
    let caio = field.api.user("default", "caio", "participant");
    caio.json("POST", &path, &decision).problem(403, "WF083");
    let dora = field.api.user("default", "dora", "participant");
    let decided = dora.json("POST", &path, &decision).is(200).json();
    assert_eq!(decided["status"], "R", "{decided}");
}

#[harness::test]
fn result_without_what_its_form_requires_is_not_kept() {
    let form = "outputs = [\"a2\"]\n[trigger.work.form]\nrequired = [\"a2\"]\n\
                [trigger.work.form.properties]\na2 = { type = \"string\", maxLength = 4 }\n";
    let house = HOUSE
        .replace("outputs = [\"a2\"]\n", form)
        .replace("application = \"paper\"\n", "")
        .replace("semi_automatic", "manual");
    let mut field = Field::of(&house);
    let item = field.locked().to_string();
    field.work("s", &["away"]).done();
    for values in [&[][..], &["--set", "a2=longer"], &["--set", "a2=5"]] {
        let words = [&["do", item.as_str()][..], values].concat();
        assert_eq!(field.work("s", &words).exits(2).error()["code"], "WF088");
    }
    assert!(field.store("s").results().expect("results").is_empty());
    field.work("s", &["do", &item, "--set", "a2=mine"]).done();
    let rows = field.work("s", &["outbox"]).done().json();
    let at = rows[0]["at"].as_str().expect("a time");
    assert_eq!(at.len(), "2026-01-01T00:00:00Z".len(), "{rows}");
}
