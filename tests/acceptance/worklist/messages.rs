//! Messages: each kind reaches whom it is for, at once or at the next connection.

use super::Office;

#[harness::test]
fn process_start_and_end_are_told_to_who_is_in_charge() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    office.report("beto", item, "{}", "k");
    let told = office.messages("dora");
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], "process_started|The process was started by ana.");
    assert!(told[1].starts_with("process_ended|The process has ended: final; it was started at "), "{told:?}");
    let wid = office.start();
    let flow = office.flow.id;
    office.owner.run(&format!("SELECT wed.cancel_instance({flow}, {wid}, 'x', 'not needed')"));
    let told = office.messages("dora");
    assert!(told[3].starts_with("process_ended|The process has ended: cancelled; "), "{told:?}");
}

#[harness::test]
fn messages_are_stored_for_the_absent_and_delivered_at_reconnection() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    office.owner.run("SELECT wed.disconnect_person('default', 'beto')");
    office.act("take_over_work", "dora", item);
    let delivered = "SELECT count(*) FROM wed.work_messages('default', 'beto')";
    assert_eq!(office.owner.number(delivered), 0);
    assert_eq!(office.owner.number("SELECT wed.connect_person('default', 'beto')"), 1);
    let message = office.document("m FROM wed.work_messages('default', 'beto') m");
    assert_eq!(
        (&message["kind"], &message["sender"], &message["item"]),
        (&"task_delegated".into(), &"repairs/1".into(), &item.into())
    );
}

#[harness::test]
fn messages_are_removed() {
    let mut office = Office::new();
    office.start();
    office.start();
    let remove = "SELECT wed.remove_messages('default', 'dora')";
    assert_eq!(office.owner.number(remove), 2);
    assert_eq!(office.owner.number(remove), 0);
}

#[harness::test]
fn who_is_silent_becomes_inactive_and_any_contact_makes_active() {
    let mut office = Office::new();
    let active = "SELECT active FROM wed.person WHERE name = 'beto'";
    office.owner.run("SELECT wed.miss_people(clock_timestamp() + interval '2 minutes')");
    assert_eq!(office.owner.line(active), "t");
    office.owner.run("SELECT wed.miss_people(clock_timestamp() + interval '4 minutes')");
    assert_eq!(office.owner.line(active), "f");
    let item = office.visit();
    office.sweep(item, "11 seconds");
    office.owner.run("SELECT wed.contact_person('default', 'beto')");
    assert_eq!(office.owner.line(active), "t");
}

#[harness::test]
fn only_people_of_the_creator_role_start_a_process() {
    let mut office = Office::new();
    let flow = office.flow.id;
    office.owner.run(&format!(
        "SELECT wed.plan_work({flow}, plan || '{{\"creator_role\": \"Atendente\"}}') FROM wed.work_plan"
    ));
    office.start();
    office.owner.refused("SELECT wed.start_process('default', 'repairs', 'beto', 'dora')").expect("WF083");
    office.owner.refused("SELECT wed.start_process('default', 'repairs', 'ana', 'nobody')").expect("WF080");
    assert_eq!(office.owner.number("SELECT count(*) FROM wed.work_instance"), 1);
}
