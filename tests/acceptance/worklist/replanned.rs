//! Items that wait: held back by a delay, planned anew by a definition, ended by an event; names that nobody has.

use super::{Office, REPAIRS};

/// The repairs, with a change of the visit's trigger.
fn repairs(from: &str, to: &str) -> Office {
    Office::of(&REPAIRS.replace(from, to))
}

#[harness::test]
fn delay_holds_an_item_back() {
    let mut office = repairs("transition = \"visit\"", "transition = \"visit\"\ndelay = \"1 hour\"");
    let item = office.visit();
    assert!(office.list("beto", "arrival", "10 minutes").is_empty());
    for person in ["beto", "dora"] {
        let refusal = office.owner.refused(&format!("SELECT wed.select_work('default', '{person}', {item})"));
        assert_eq!(refusal.code, "WF082", "{}", refusal.message);
        assert!(refusal.message.contains("a delay holds it back"), "{}", refusal.message);
    }
    assert_eq!(office.owner.number("SELECT count(*) FROM wed.people_problems()"), 0);
    let times = "SELECT deadline_at - arrived_at, arrived_at - now() > interval '50 minutes' FROM wed.work_item \
                 WHERE item_id = ";
    assert_eq!(office.owner.line(&format!("{times}{item}")), "2 days|t");
    office.sweep(item, "1 second");
    office.connect("beto");
    assert_eq!(office.list("beto", "arrival", "2 hours"), [item.to_string()]);
}

/// Applies the flow's own definition with a part of it replaced.
fn apply(office: &mut Office, path: &str, value: &str) {
    let flow = office.flow.id;
    let change = format!("jsonb_set(wed.definition({flow}), '{path}', '{value}')");
    office.owner.run(&format!("SELECT wed.apply_definition({flow}, {change}, 'x')"));
}

#[harness::test]
fn waiting_item_follows_a_new_role_and_deadline() {
    let mut office = Office::new();
    let (waiting, taken) = (office.visit(), office.visit());
    office.act("lock_work", "beto", taken);
    apply(&mut office, "{trigger,1,work,role}", "\"Atendente\"");
    assert_eq!(office.list("ana", "arrival", "0"), [waiting.to_string()]);
    assert_eq!(office.list("beto", "arrival", "0"), [taken.to_string()]);
    let spans = "SELECT deadline_at - arrived_at FROM wed.work_item WHERE task = 'visit' ORDER BY item_id";
    assert_eq!(office.owner.lines(spans), ["2 days", "2 days"]);
    apply(&mut office, "{trigger,1,work,deadline}", "\"2 hours\"");
    assert_eq!(office.owner.lines(spans), ["02:00:00", "2 days"]);
    office.sweep(waiting, "2 hours");
    assert!(office.messages("dora").iter().any(|line| line.starts_with("task_late")));
}

#[harness::test]
fn event_that_ends_an_instance_withdraws_peoples_work() {
    let text = REPAIRS.replace("final = \"visit_state", "final = \"stopped OR visit_state").replacen(
        "[[attribute]]",
        "[[attribute]]\nname = \"stopped\"\ntype = \"boolean\"\nopen = true\n[[attribute]]",
        1,
    );
    let mut office = Office::of(&text);
    let item = office.visit();
    office.act("lock_work", "beto", item);
    let flow = office.flow.id;
    office.owner.run(&format!("SELECT wed.send_event({flow}, 1, '{{\"stopped\": true}}', 'x', NULL)"));
    assert_eq!(office.owner.line("SELECT status FROM wed.instance"), "F");
    assert_eq!(office.owner.number("SELECT count(*) FROM wed.job"), 0);
    assert_eq!(office.state(item), "WITHDRAWN|beto");
    assert!(office.messages("beto").iter().any(|line| line.starts_with("task_withdrawn")));
    // Another job beside it keeps the final state away, as ever.
    let beside = "\n[[trigger]]\nname = \"beside\"\nwhen = \"visit_state = 'NOT_READY'\"\ntransition = \"beside\"\n";
    let mut office = Office::of(&format!("{text}{beside}"));
    office.start();
    let flow = office.flow.id;
    let event = format!("SELECT wed.send_event({flow}, 1, '{{\"stopped\": true}}', 'x', NULL)");
    office.owner.refused(&event).expect("WF007");
}

#[harness::test]
fn names_that_nobody_has_are_warned_of() {
    let work = "role = \"Technico\"\nusers = [\"bento\"]\nescalate_after = \"1 hour\"\nescalate_to = \"Chefe\"";
    let mut office = repairs("role = \"Tecnico\"", work);
    office.join("eva", "Chefe");
    let flow = office.flow.id;
    let found = "SELECT place, text FROM wed.lint";
    let lines = office.owner.lines(&format!("{found}({flow}) WHERE code = 'unknown_people' ORDER BY text"));
    assert_eq!(
        lines,
        [
            "task visit|it is for person \"bento\", which nobody is",
            "task visit|it is for role \"Technico\", which nobody has"
        ]
    );
    let applied = office.document(&format!("wed.apply_definition({flow}, wed.definition({flow}), 'x')"));
    assert!(applied["warnings"].to_string().contains("Atendente, Chefe, Tecnico"), "{applied}");
}
