//! Notification policies, the rounds of offers, and the orders of a worklist.

use super::Office;

fn offered(office: &mut Office, item: i64, after: &str) -> Vec<String> {
    let mut who = Vec::new();
    for person in ["ana", "beto", "caio"] {
        if office.list(person, "arrival", after).contains(&item.to_string()) {
            who.push(person.to_owned());
        }
    }
    who
}

#[harness::test]
fn policy_1_offers_to_all_active_people_of_the_role() {
    let mut office = Office::new();
    let item = office.visit();
    assert_eq!(offered(&mut office, item, "0"), ["beto", "caio"]);
}

#[harness::test]
fn who_connects_later_is_offered_it_in_the_next_round() {
    let mut office = Office::new();
    office.owner.run("SELECT wed.disconnect_person('default', 'caio')");
    let item = office.visit();
    office.connect("caio");
    assert_eq!(offered(&mut office, item, "0"), ["beto"]);
    assert_eq!(offered(&mut office, item, "11 seconds"), ["beto", "caio"]);
    // Until it is selected or locked.
    office.act("lock_work", "beto", item);
    assert_eq!(offered(&mut office, item, "11 seconds"), ["beto"]);
    // With the other policies the sweep makes the round.
    office.owner.run("SELECT wed.disconnect_person('default', 'beto')");
    let item = office.visit_with("4, 2, '{}', NULL");
    assert_eq!(offered(&mut office, item, "0"), ["caio"]);
    office.connect("beto");
    assert_eq!(offered(&mut office, item, "0"), ["caio"]);
    office.sweep(item, "9 seconds");
    assert_eq!(offered(&mut office, item, "0"), ["caio"]);
    office.sweep(item, "11 seconds");
    assert_eq!(offered(&mut office, item, "0"), ["beto", "caio"]);
}

#[harness::test]
fn policy_2_offers_to_those_with_the_fewest_assigned_items() {
    let mut office = Office::new();
    let first = office.visit();
    office.act("lock_work", "beto", first);
    let item = office.visit_with("2, 1, '{}', NULL");
    assert_eq!(offered(&mut office, item, "0"), ["caio"]);
}

#[harness::test]
fn policy_2_never_offers_to_more_at_a_time_than_it_says() {
    let mut office = Office::new();
    for name in ["eva", "fred", "gil"] {
        office.join(name, "Tecnico");
        office.connect(name);
    }
    let item = office.visit_with("2, 1, '{}', NULL");
    for seconds in [11, 22, 33, 44] {
        office.sweep(item, &format!("{seconds} seconds"));
    }
    let offers = format!("SELECT count(*) FROM wed.work_offer WHERE item_id = {item}");
    assert_eq!(office.owner.number(&offers), 1);
    // Who is gone makes room for another one.
    office
        .owner
        .run("UPDATE wed.person SET active = false WHERE person_id = (SELECT person_id FROM wed.work_offer LIMIT 1)");
    office.sweep(item, "55 seconds");
    assert_eq!(office.owner.number(&offers), 2);
}

#[harness::test]
fn policy_3_offers_to_those_with_the_fewest_selected_items() {
    let mut office = Office::new();
    let (first, second) = (office.visit(), office.visit());
    // A locked item is assigned, but not selected.
    office.act("lock_work", "beto", first);
    office.act("select_work", "caio", second);
    let item = office.visit_with("3, 1, '{}', NULL");
    assert_eq!(offered(&mut office, item, "0"), ["beto"]);
}

#[harness::test]
fn policy_4_offers_to_those_who_connected_last() {
    let mut office = Office::new();
    office.owner.run("SELECT wed.disconnect_person('default', 'beto')");
    office.connect("beto");
    let item = office.visit_with("4, 1, '{}', NULL");
    assert_eq!(offered(&mut office, item, "0"), ["beto"]);
}

#[harness::test]
fn policy_is_changed_while_the_instance_runs() {
    let mut office = Office::new();
    let item = office.visit_with("4, 1, '{}', NULL");
    assert_eq!(offered(&mut office, item, "0"), ["caio"]);
    let flow = office.flow.id;
    office.owner.run(&format!("SELECT wed.set_notification({flow}, 1, 1, 1, NULL, NULL, NULL)"));
    assert_eq!(offered(&mut office, item, "0"), ["beto", "caio"]);
    office.owner.refused(&format!("SELECT wed.set_notification({flow}, 1, 5, 1, NULL, NULL, NULL)")).expect("WF085");
}

#[harness::test]
fn worklist_has_four_orders_and_ones_own() {
    let mut office = Office::new();
    let (a, b, c) = (office.visit(), office.visit(), office.visit());
    office.owner.run(&format!(
        "UPDATE wed.work_item SET priority = 20 WHERE item_id = {b};
         UPDATE wed.work_item SET deadline_at = now() + interval '1 hour' WHERE item_id = {c}"
    ));
    let mut session = office.flow.session();
    session.run("UPDATE wed_attr SET open = true WHERE aname = 'form'");
    let flow = office.flow.id;
    for (wid, bytes) in [(1, 9_000), (2, 10), (3, 200)] {
        office.owner.run(&format!(
            "SELECT wed.send_event({flow}, {wid}, jsonb_build_object('form', repeat('x', {bytes})), 'operator', NULL)"
        ));
    }
    let text = |items: [i64; 3]| items.map(|item| item.to_string());
    assert_eq!(office.list("beto", "arrival", "0"), text([a, b, c]));
    assert_eq!(office.list("beto", "priority", "0"), text([b, a, c]));
    assert_eq!(office.list("beto", "deadline", "0"), text([c, a, b]));
    assert_eq!(office.list("beto", "size", "0"), text([b, c, a]));
    office.owner.run(&format!("SELECT wed.move_work('default', 'beto', {c}, {a})"));
    assert_eq!(office.list("beto", "own", "0"), text([c, a, b]));
    assert_eq!(office.list("caio", "own", "0"), text([a, b, c]));
    office.owner.refused("SELECT wed.worklist('default', 'beto', 'mood')").expect("WF085");
}
