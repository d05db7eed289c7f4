//! Further functions of task lists: candidates, escalation, reassignment, comments, attachments, forms.

use super::{Office, REPAIRS};

#[harness::test]
fn candidate_users_and_groups_are_offered_the_item_too() {
    let work = "users = [\"ana\"]\ngroups = [\"administrator\"]\npriority = 10";
    let mut office = Office::of(&REPAIRS.replace("priority = 10", work));
    let item = office.visit();
    for person in ["ana", "beto", "dora"] {
        assert_eq!(office.list(person, "arrival", "0"), [item.to_string()], "{person}");
    }
    office.act("lock_work", "ana", item);
    assert!(office.list("dora", "arrival", "0").is_empty());
}

#[harness::test]
fn item_that_nobody_took_is_escalated() {
    let work = "escalate_after = \"2 hours\"\nescalate_to = \"Atendente\"\npriority = 10";
    let mut office = Office::of(&REPAIRS.replace("priority = 10", work));
    let (item, taken) = (office.visit(), office.visit());
    office.act("lock_work", "beto", taken);
    office.sweep(item, "1 hour");
    assert!(office.list("ana", "arrival", "0").is_empty());
    office.sweep(taken, "2 hours");
    office.connect("ana");
    assert_eq!(office.list("ana", "arrival", "0"), [item.to_string()]);
    assert_eq!(office.messages("dora").iter().filter(|line| line.starts_with("task_escalated")).count(), 1);
}

#[harness::test]
fn what_somebody_holds_is_reassigned() {
    let mut office = Office::new();
    let items = [office.visit(), office.visit(), office.visit()];
    for item in items {
        office.act("lock_work", "beto", item);
    }
    let reassign = |who: &str| format!("SELECT wed.reassign_work('default', '{who}', 'beto', 'caio', 2)");
    assert_eq!(office.owner.number(&reassign("ana")), 0);
    assert_eq!(office.owner.number(&reassign("dora")), 2);
    assert_eq!(office.state(items[0]), "SELECTED|caio");
    assert_eq!(office.state(items[2]), "LOCKED|beto");
}

#[harness::test]
fn comments_and_attachments_are_in_the_history() {
    let mut office = Office::new();
    let item = office.visit();
    office.owner.run(&format!(
        "SELECT wed.add_work_note('default', 'beto', {item}, 'the bell is broken');
         SELECT wed.add_work_note('default', 'caio', {item}, 'a photo', 'door.jpg', '\\x00ff')"
    ));
    let history = office.owner.lines(&format!(
        "SELECT h ->> 'person', h ->> 'action', h #>> '{{detail,text}}', h #>> '{{detail,file}}', h #>> \
         '{{detail,bytes}}'
         FROM wed.work_history('default', 'dora', {item}) h OFFSET 1"
    ));
    assert_eq!(history, ["beto|commented|the bell is broken|·|·", "caio|attached|a photo|door.jpg|2"]);
    office.owner.refused(&format!("SELECT wed.add_work_note('default', 'ana', {item}, 'not mine')")).expect("WF080");
    office
        .owner
        .refused(&format!("SELECT wed.add_work_note('default', 'beto', {item}, repeat('x', 20000))"))
        .expect("WF085");
}

#[harness::test]
fn form_is_generated_from_the_types_of_the_outputs() {
    let mut office = Office::new();
    let item = office.visit();
    let data = office.act("work_data", "dora", item);
    assert_eq!(data["form"]["properties"]["cost"]["type"], serde_json::json!(["number", "null"]));
    assert_eq!(data["form"]["additionalProperties"], false);
    assert_eq!(data["data"], serde_json::json!({}), "not her item");
    office.act("lock_work", "beto", item);
    let data = office.act("work_data", "beto", item);
    assert_eq!(data["data"]["form"], "tea");
}

#[harness::test]
fn plan_that_does_not_fit_the_flow_is_refused() {
    let mut office = Office::new();
    let flow = office.flow.id;
    for plan in [
        r#"{}"#,
        r#"{"tasks": [{"task": "A", "trigger": "missing"}]}"#,
        r#"{"tasks": [{"task": "A", "trigger": "visit", "calendar": "none"}]}"#,
        r#"{"tasks": [{"task": "A", "trigger": "visit", "inputs": ["dayz"]}]}"#,
        r#"{"tasks": [{"task": "A", "trigger": "visit", "outputs": ["cost", "dayz"]}]}"#,
        r#"{"tasks": [{"trigger": "visit", "outputs": ["cost"], "form": {"required": ["dayz"]}}]}"#,
    ] {
        office.owner.refused(&format!("SELECT wed.plan_work({flow}, '{plan}')")).expect("WF085");
    }
}

#[harness::test]
fn items_taken_away_together_are_locked_when_they_are_fired() {
    let definition = REPAIRS.replace("role = \"Atendente\"\n", "role = \"Atendente\"\ndisconnected = true\n");
    let mut office = Office::of(&definition);
    office.join("ana", "Tecnico");
    let wid = office.start();
    let order = office.item(wid, "order");
    office.act("lock_work", "ana", order);
    office.owner.run(&format!("SELECT wed.reserve_work('default', 'ana', {order}, 'visit')"));
    office.report("ana", order, r#"{"form": "tea"}"#, "k");
    let visit = office.item(wid, "visit");
    assert_eq!(office.state(visit), "LOCKED|ana");
}

#[harness::test]
fn item_that_is_only_selected_is_escalated_once_and_one_that_is_given_back_too() {
    let work = "escalate_after = \"2 hours\"\nescalate_to = \"Atendente\"\npriority = 10";
    let mut office = Office::of(&REPAIRS.replace("priority = 10", work));
    let (opened, begun) = (office.visit(), office.visit());
    office.act("select_work", "beto", opened);
    office.act("lock_work", "caio", begun);
    for _ in 0..2 {
        office.sweep(begun, "3 hours");
    }
    let told = |office: &mut Office, person: &str| {
        office.messages(person).into_iter().filter(|line| line.starts_with("task_escalated")).collect::<Vec<_>>()
    };
    let text = "task_escalated|visit is selected, and nobody has begun it; it was offered to Atendente as well.";
    assert_eq!(told(&mut office, "dora"), [text]);
    assert_eq!(told(&mut office, "ana"), [text]);
    for person in ["ana", "beto", "caio"] {
        office.connect(person);
    }
    office.act("unselect_work", "beto", opened);
    office.act("unlock_work", "caio", begun);
    office.sweep(begun, "3 hours");
    office.connect("ana");
    assert_eq!(office.list("ana", "arrival", "0"), [opened.to_string(), begun.to_string()]);
    assert_eq!(told(&mut office, "dora").len(), 2);
}
