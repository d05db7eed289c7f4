//! Tasks for whom the data say: people named by attributes, the same as before or another one, and one for each element
//! of a list.

use super::Office;

/// A vacation: the employee asks, another one of the approvers decides, the employee books.
pub(super) const VACATION: &str = r#"
name = "vacation"
final = "booked"
[[attribute]]
name = "employee"
[[attribute]]
name = "approvers"
type = "text[]"
[[attribute]]
name = "days"
type = "integer"
[[attribute]]
name = "approved"
type = "boolean"
[[attribute]]
name = "booked"
type = "boolean"
default = "false"
[[attribute]]
name = "votes"
type = "jsonb"
[[trigger]]
name = "ask"
when = "days IS NULL"
transition = "ask"
[trigger.work]
assignee = "employee"
outputs = ["days"]
[[trigger]]
name = "approve"
when = "days IS NOT NULL AND approved IS NULL"
transition = "approve"
[trigger.work]
candidates = "approvers"
not_by = "ask"
outputs = ["approved"]
[[trigger]]
name = "book"
when = "approved AND NOT booked"
transition = "book"
[trigger.work]
same_as = "ask"
outputs = ["booked"]
"#;

/// A vote of people that the data name, at the same time.
fn vote(complete: &str) -> String {
    format!(
        r#"
name = "vote"
final = "state = 'SUCCEEDED'"
[[attribute]]
name = "voters"
type = "text[]"
[[attribute]]
name = "yes"
type = "boolean"
[[attribute]]
name = "votes"
type = "jsonb"
[[attribute]]
name = "state"
default = "OPEN"
[[trigger]]
name = "vote"
when = "state = 'OPEN'"
transition = "vote"
[trigger.work]
for_each = "voters"
assignee = "voters"
collect = "votes"
complete = {complete}
outputs = ["yes"]
state = "state"
"#
    )
}

fn start(office: &mut Office, values: &str) -> i64 {
    let flow = office.flow.name.clone();
    office.owner.number(&format!("SELECT wed.start_process('default', '{flow}', 'ana', 'dora', '{values}')"))
}

/// The people who have an item on their worklists.
fn offered(office: &mut Office) -> Vec<String> {
    office.owner.lines(
        "SELECT p.name FROM wed.person p WHERE EXISTS (SELECT FROM wed.worklist('default', p.name)) ORDER BY p.name",
    )
}

fn select_refused(office: &mut Office, person: &str, item: i64) {
    let sql = format!("SELECT wed.select_work('default', '{person}', {item})");
    office.owner.refused(&sql).expect("WF083");
}

#[harness::test]
fn attributes_say_who_does_a_task() {
    let mut office = Office::of(VACATION);
    let wid = start(&mut office, r#"{"employee": "beto", "approvers": ["Atendente", "beto", "caio"]}"#);
    assert_eq!(offered(&mut office), ["beto"]);
    let ask = office.item(wid, "ask");
    select_refused(&mut office, "caio", ask);
    office.act("select_work", "beto", ask);
    office.report("beto", ask, r#"{"days": 5}"#, "ask");
    // Whoever asked does not approve, though the list names that person.
    assert_eq!(offered(&mut office), ["ana", "caio"]);
    let approve = office.item(wid, "approve");
    select_refused(&mut office, "beto", approve);
    office.act("select_work", "caio", approve);
    for to in ["beto", "dora"] {
        let sql = format!("SELECT wed.delegate_work('default', 'caio', {approve}, '{to}')");
        office.owner.refused(&sql).expect("WF083");
    }
    office.act("unselect_work", "caio", approve);
    assert_eq!(offered(&mut office), ["ana", "caio"]);
    office.act("select_work", "ana", approve);
    office.report("ana", approve, r#"{"approved": true}"#, "approve");
    // Whoever asked books.
    assert_eq!(offered(&mut office), ["beto"]);
    let book = office.item(wid, "book");
    office.act("select_work", "beto", book);
    let answer = office.report("beto", book, r#"{"booked": true}"#, "book");
    assert_eq!(answer["instance"], "F", "{answer}");
}

#[harness::test]
fn names_that_nobody_has_leave_a_task_to_who_is_in_charge() {
    let mut office = Office::of(VACATION);
    start(&mut office, r#"{"employee": "nobody"}"#);
    assert_eq!(offered(&mut office), ["dora"]);
}

#[harness::test]
fn person_that_the_data_name_and_who_connects_later_is_offered_it_in_the_next_round() {
    let mut office = Office::of(VACATION);
    office.owner.run("SELECT wed.disconnect_person('default', 'beto')");
    let wid = start(&mut office, r#"{"employee": "beto"}"#);
    let item = office.item(wid, "ask");
    office.connect("beto");
    office.sweep(item, "11 seconds");
    assert_eq!(offered(&mut office), ["beto"]);
}

#[harness::test]
fn list_has_a_task_for_each_element_and_no_answer_overwrites_another() {
    let mut office = Office::of(&vote("\"all\""));
    let wid = start(&mut office, r#"{"voters": ["ana", "beto", "caio"]}"#);
    assert_eq!(offered(&mut office), ["ana", "beto", "caio"]);
    let mut flow = office.flow.session();
    for (place, (name, vote)) in [("caio", true), ("ana", false), ("beto", true)].into_iter().enumerate() {
        let item = office
            .owner
            .number(&format!("SELECT item_id FROM wed.work_item WHERE wid = {wid} AND element = '\"{name}\"'"));
        office.act("select_work", name, item);
        let answer = office.report(name, item, &format!("{{\"yes\": {vote}}}"), &format!("vote-{name}"));
        assert_eq!(answer["instance"], if place == 2 { "F" } else { "R" }, "{answer}");
    }
    assert_eq!(
        flow.line("SELECT votes -> 'ana' ->> 'yes', votes -> 'beto' ->> 'yes', votes -> 'caio' ->> 'by' FROM wed_flow"),
        "false|true|caio"
    );
}

#[harness::test]
fn answers_that_are_enough_withdraw_the_others() {
    for (complete, needed) in [("\"first\"", 1), ("2", 2), ("9", 3)] {
        let mut office = Office::of(&vote(complete));
        let wid = start(&mut office, r#"{"voters": ["ana", "beto", "caio"]}"#);
        for name in &["ana", "beto", "caio"][..needed] {
            let item = office
                .owner
                .number(&format!("SELECT item_id FROM wed.work_item WHERE wid = {wid} AND element = '\"{name}\"'"));
            office.act("select_work", name, item);
            office.report(name, item, r#"{"yes": true}"#, &format!("vote-{name}"));
        }
        let states = office.owner.lines("SELECT state, count(*) FROM wed.work_item GROUP BY state ORDER BY state");
        let expected = match needed {
            3 => vec!["SUCCEEDED|3".to_owned()],
            _ => vec![format!("SUCCEEDED|{needed}"), format!("WITHDRAWN|{}", 3 - needed)],
        };
        assert_eq!(states, expected, "{complete}");
        assert_eq!(office.owner.line("SELECT status FROM wed.instance"), "F");
    }
}

#[harness::test]
fn tasks_for_whom_nothing_can_say_are_refused() {
    let mut office = Office::of(VACATION);
    let flow = office.flow.id;
    for task in [
        r#"{"trigger": "ask", "assignee": "booked"}"#,
        r#"{"trigger": "ask", "assignee": "nothing"}"#,
        r#"{"trigger": "ask", "assignee": "employee", "candidates": "approvers"}"#,
        r#"{"trigger": "ask", "not_by": "nothing"}"#,
        r#"{"trigger": "ask", "for_each": "employee", "collect": "employee"}"#,
        r#"{"trigger": "ask", "for_each": "approvers", "collect": "days"}"#,
        r#"{"trigger": "ask", "for_each": "approvers", "collect": "votes", "outputs": ["nothing"]}"#,
        r#"{"trigger": "ask", "for_each": "approvers", "collect": "votes", "inputs": ["nothing"]}"#,
        r#"{"trigger": "ask", "complete": "all"}"#,
    ] {
        let sql = format!("SELECT wed.plan_work({flow}, '{{\"tasks\": [{task}]}}')");
        office.owner.refused(&sql).expect("WF085");
    }
}

/// The vote over a document, which anybody may answer.
fn survey() -> String {
    vote("\"all\"").replace("type = \"text[]\"", "type = \"jsonb\"").replace("assignee = \"voters\"\n", "")
}

#[harness::test]
fn answers_of_equal_elements_are_kept_by_their_places() {
    for (voters, keys) in [
        (r#"["x", "x", "1"]"#, "1, 2, 3"),
        (r#"[1, "1"]"#, "1, 2"),
        (r#"[null, "1"]"#, "1, 2"),
        (r#"["1", {"name": "x"}, "y"]"#, "1, 2, y"),
    ] {
        let mut office = Office::of(&survey());
        let wid = start(&mut office, &format!(r#"{{"voters": {voters}}}"#));
        let items =
            office.owner.lines(&format!("SELECT item_id FROM wed.work_item WHERE wid = {wid} ORDER BY part DESC"));
        for item in items {
            let item: i64 = item.parse().expect("a number");
            office.act("select_work", "ana", item);
            office.report("ana", item, r#"{"yes": true}"#, &item.to_string());
        }
        let mut flow = office.flow.session();
        assert_eq!(
            flow.line("SELECT string_agg(k, ', ' ORDER BY k) FROM wed_flow, jsonb_object_keys(votes) k"),
            keys,
            "{voters}"
        );
        assert_eq!(flow.status(wid), "F", "{voters}");
    }
}

#[harness::test]
fn list_that_gives_nobody_work_is_ended_by_a_host() {
    for (voters, status, said) in [
        ("[]", "F", "vote: there is no element in \"voters\", and nobody is asked"),
        ("null", "F", "vote: there is no element in \"voters\", and nobody is asked"),
        (r#""ana""#, "E", "vote is done for each element of \"voters\": it is a string, and no list"),
    ] {
        let mut office = Office::of(&survey());
        let wid = start(&mut office, &format!(r#"{{"voters": {voters}}}"#));
        assert_eq!(offered(&mut office), [""; 0], "{voters}");
        let item = office.item(wid, "vote");
        office.sweep(item, "1 second");
        let mut flow = office.flow.session();
        assert_eq!(flow.status(wid), status, "{voters}");
        assert_eq!(flow.line("SELECT note FROM wed_trace ORDER BY seq DESC LIMIT 1"), said);
        let votes = if status == "F" { "{}" } else { "·" };
        assert_eq!(flow.line("SELECT votes FROM wed_flow"), votes, "{voters}");
    }
}
