//! Claims: one of several who race gets an item, the others learn who; only its holder continues it.

use std::sync::Barrier;

use super::Office;
use crate::support::Session;

#[harness::test]
fn of_people_who_race_one_gets_the_item_and_the_others_learn_who() {
    let mut office = Office::new();
    let people: Vec<String> = (0..8).map(|n| format!("racer{n}")).collect();
    for name in &people {
        office.join(name, "Tecnico");
        office.connect(name);
    }
    for _ in 0..5 {
        let item = office.visit();
        let barrier = Barrier::new(people.len());
        let results: Vec<(String, Result<(), crate::support::session::Refusal>)> = std::thread::scope(|scope| {
            let running: Vec<_> = people
                .iter()
                .map(|name| {
                    let (mut session, barrier) = (office.database().owner(), &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        let sql = format!("SELECT wed.select_work('default', '{name}', {item})");
                        (name.clone(), session.tried(&sql).map_or(Ok(()), Err))
                    })
                })
                .collect();
            running.into_iter().map(|thread| thread.join().expect("a racer")).collect()
        });
        let winners: Vec<&String> = results.iter().filter(|(_, result)| result.is_ok()).map(|(name, _)| name).collect();
        assert_eq!(winners.len(), 1, "{results:?}");
        assert_eq!(office.state(item), format!("SELECTED|{}", winners[0]));
        for (_, result) in &results {
            if let Err(refusal) = result {
                assert_eq!(refusal.code, "WF081", "{refusal:?}");
                assert!(refusal.message.contains(winners[0].as_str()), "{refusal:?}");
            }
        }
    }
}

#[harness::test]
fn selected_item_leaves_the_other_worklists_and_comes_back() {
    let mut office = Office::new();
    let item = office.visit();
    let listed = vec![item.to_string()];
    assert_eq!(office.list("caio", "arrival", "0"), listed);
    assert!(office.list("ana", "arrival", "0").is_empty());
    office.act("select_work", "beto", item);
    assert!(office.list("caio", "arrival", "0").is_empty());
    assert_eq!(office.list("beto", "arrival", "0"), listed);
    assert_eq!(office.state(item), "SELECTED|beto");
    office.act("unselect_work", "beto", item);
    assert_eq!(office.state(item), "READY|·");
    assert_eq!(office.list("caio", "arrival", "0"), listed);
    office.act("lock_work", "beto", item);
    assert_eq!(office.state(item), "LOCKED|beto");
    office.act("unlock_work", "beto", item);
    assert_eq!(office.state(item), "READY|·");
}

#[harness::test]
fn only_items_for_disconnected_work_are_locked() {
    let mut office = Office::new();
    let wid = office.start();
    let order = office.item(wid, "order");
    let refused = office.owner.refused(&format!("SELECT wed.lock_work('default', 'ana', {order})"));
    refused.expect("WF083");
    assert_eq!(office.state(order), "READY|·");
}

#[harness::test]
fn only_its_holder_goes_on_with_an_item() {
    let mut office = Office::new();
    let item = office.visit();
    let start = |person: &str| format!("SELECT wed.start_work('default', '{person}', {item})");
    office.owner.refused(&start("beto")).expect("WF082");
    office.act("lock_work", "beto", item);
    let refused = office.owner.refused(&start("caio")).expect("WF082");
    assert!(refused.message.contains("beto"), "{refused:?}");
    office.owner.refused(&format!("SELECT wed.unlock_work('default', 'caio', {item})")).expect("WF082");
    // A locked item stays locked, for it may be taken away.
    office.act("start_work", "beto", item);
    assert_eq!(office.state(item), "LOCKED|beto");
    office.act("unlock_work", "beto", item);
    office.act("select_work", "caio", item);
    office.act("start_work", "caio", item);
    assert_eq!(office.state(item), "RUNNING|caio");
}

#[harness::test]
fn item_is_delegated_within_its_role_and_taken_over_by_who_is_in_charge() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("select_work", "beto", item);
    let to = |name: &str, to: &str| format!("SELECT wed.delegate_work('default', '{name}', {item}, '{to}')");
    office.owner.refused(&to("beto", "ana")).expect("WF083");
    office.owner.refused(&to("caio", "caio")).expect("WF082");
    office.owner.run(&to("beto", "caio"));
    assert_eq!(office.state(item), "SELECTED|caio");
    assert_eq!(office.messages("caio"), ["task_delegated|visit is yours now (delegated by beto)."]);
    office.owner.refused(&format!("SELECT wed.take_over_work('default', 'beto', {item})")).expect("WF083");
    office.act("take_over_work", "dora", item);
    assert_eq!(office.state(item), "SELECTED|dora");
    let lost = office.report("caio", item, "{}", "late");
    assert_eq!(lost["code"], "WF084", "{lost}");
}

#[harness::test]
fn inactive_people_are_offered_nothing() {
    let mut office = Office::new();
    office.owner.run("SELECT wed.disconnect_person('default', 'beto')");
    let item = office.visit();
    assert!(office.list("beto", "arrival", "0").is_empty());
    assert_eq!(office.list("caio", "arrival", "0"), [item.to_string()]);
}

#[harness::test]
fn worker_in_sql_cannot_take_what_a_person_holds() {
    let mut office = Office::new();
    let item = office.visit();
    let mut worker: Session = office.flow.session();
    worker.run("BEGIN");
    assert!(worker.take(1, "visit"));
    // The person was faster than the worker's UPDATE.
    office.act("lock_work", "beto", item);
    worker.refused("UPDATE wed_flow SET visit_state = 'SUCCEEDED'").expect("WF081");
    worker.run("BEGIN");
    assert!(!worker.take(1, "visit"));
    worker.run("ROLLBACK");
    assert_eq!(office.state(item), "LOCKED|beto");
}

#[harness::test]
fn worker_in_sql_withdraws_the_item_that_it_does() {
    let mut office = Office::new();
    let item = office.visit();
    office.flow.session().finish(1, "visit", "visit_state = 'SUCCEEDED'");
    assert_eq!(office.state(item), "WITHDRAWN|·");
    assert!(office.list("beto", "arrival", "0").is_empty());
    office.owner.refused(&format!("SELECT wed.select_work('default', 'beto', {item})")).expect("WF082");
}

#[harness::test]
fn tenants_do_not_see_each_others_people_and_items() {
    let mut office = Office::new();
    let item = office.visit();
    office.owner.run(
        "INSERT INTO wed.tenant (name) VALUES ('acme'); SELECT wed.create_person('acme', 'beto', '{Tecnico}'); \
         SELECT wed.create_person('acme', 'eva', '{administrator}'); SELECT wed.connect_person('acme', 'eva')",
    );
    for (function, person) in [("select_work", "beto"), ("take_over_work", "eva"), ("work_data", "eva")] {
        let sql = format!("SELECT wed.{function}('acme', '{person}', {item})");
        office.owner.refused(&sql).expect("WF080");
    }
    let none = "SELECT count(*) FROM wed.worklist('acme', 'eva')";
    assert_eq!(office.owner.number(none), 0);
    office.owner.refused("SELECT wed.connect_person('acme', 'ana')").expect("WF080");
}
