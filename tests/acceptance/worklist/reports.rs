//! Reports: a result passes the gate, is applied once under its key, and is refused and kept when its sender lost
//! the item.

use super::Office;

#[harness::test]
fn report_sets_the_state_writes_the_trace_and_fires_the_next_job() {
    let mut office = Office::new();
    let item = office.visit();
    let mut s = office.flow.session();
    assert_eq!(s.pending(1), ["visit"]);
    assert_eq!(
        s.line("SELECT trw, trf::text, state ->> 'form', state ->> 'order_state', note FROM wed_trace WHERE seq = 2"),
        "order|{visit}|tea|SUCCEEDED|ana"
    );
    office.act("lock_work", "beto", item);
    let answer = office.report("beto", item, r#"{"cost": 12.5}"#, "k");
    assert_eq!(answer["instance"], "F", "{answer}");
    assert_eq!(s.trace(1), ["-> {order} R", "order -> {visit} R", "visit -> {} F"]);
    assert_eq!(s.line("SELECT cost, visit_state FROM wed_flow"), "12.5|SUCCEEDED");
}

#[harness::test]
fn report_under_one_key_is_applied_once() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    let first = office.report("beto", item, r#"{"cost": 1}"#, "k");
    assert_eq!((&first["applied"], first.get("replayed")), (&true.into(), None));
    for _ in 0..3 {
        let again = office.report("beto", item, r#"{"cost": 1}"#, "k");
        assert_eq!((&again["applied"], &again["replayed"]), (&true.into(), &true.into()));
    }
    office
        .owner
        .refused(&format!("SELECT wed.report_work('default', 'beto', {item}, true, '{{\"cost\": 2}}', 'k')"))
        .expect("WF086");
    let mut s = office.flow.session();
    assert_eq!(s.number("SELECT count(*) FROM wed_trace"), 3);
}

#[harness::test]
fn report_of_somebody_who_lost_the_item_is_refused_and_kept() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    office.act("take_over_work", "dora", item);
    let answer = office.report("beto", item, r#"{"cost": 7}"#, "mine");
    assert_eq!((&answer["applied"], &answer["code"]), (&false.into(), &"WF084".into()));
    assert_eq!(answer["holder"], "dora");
    assert_eq!(answer["yours"]["cost"], 7);
    assert_eq!(answer["present"]["form"], "tea");
    assert!(answer["hint"].as_str().is_some_and(|hint| hint.contains("kept")));
    assert_eq!(
        office.owner.line("SELECT applied, result #>> '{values,cost}' FROM wed.work_report WHERE key = 'mine'"),
        "f|7"
    );
    assert_eq!(office.state(item), "SELECTED|dora");
    let replayed = office.report("beto", item, r#"{"cost": 7}"#, "mine");
    assert_eq!((&replayed["applied"], &replayed["replayed"]), (&false.into(), &true.into()));
}

#[harness::test]
fn report_of_an_older_claim_is_refused() {
    let mut office = Office::new();
    let item = office.visit();
    let claim = office.act("lock_work", "beto", item)["claim"].clone();
    office.act("unlock_work", "beto", item);
    office.act("lock_work", "beto", item);
    let answer =
        office.document(&format!("wed.report_work('default', 'beto', {item}, true, '{{}}', 'old', NULL, {claim})"));
    assert_eq!(answer["code"], "WF084", "{answer}");
}

#[harness::test]
fn report_sets_only_what_the_task_may() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    for attribute in ["order_state", "visit_state", "nothing"] {
        let sql = format!("SELECT wed.report_work('default', 'beto', {item}, true, '{{\"{attribute}\": \"x\"}}', 'k')");
        office.owner.refused(&sql).expect("WF010");
    }
}

#[harness::test]
fn refused_value_leaves_the_item_with_its_holder() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    let sql = format!("SELECT wed.report_work('default', 'beto', {item}, true, '{{\"cost\": \"much\"}}', 'k')");
    office.owner.refused(&sql).expect("22P02");
    assert_eq!(office.state(item), "LOCKED|beto");
    let answer = office.report("beto", item, r#"{"cost": 3}"#, "k");
    assert_eq!(answer["applied"], true);
}

#[harness::test]
fn failure_is_told_to_who_is_in_charge() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    let answer =
        office.document(&format!("wed.report_work('default', 'beto', {item}, false, '{{}}', 'k', 'nobody at home')"));
    assert_eq!(answer["state"], "FAILED");
    assert_eq!(office.state(item), "FAILED|beto");
    let mut s = office.flow.session();
    assert_eq!(s.line("SELECT visit_state FROM wed_flow"), "FAILED");
    let told = office.messages("dora");
    assert!(told.contains(&"task_failed|visit failed: beto: nobody at home".to_owned()), "{told:?}");
}

#[harness::test]
fn failure_without_an_attribute_makes_an_exception() {
    let definition = super::REPAIRS.replace("state = \"visit_state\"\n", "");
    let mut office = Office::of(&definition);
    let item = office.visit();
    office.act("lock_work", "beto", item);
    let answer = office.document(&format!("wed.report_work('default', 'beto', {item}, false, '{{}}', 'k', 'no key')"));
    assert_eq!(answer["instance"], "E", "{answer}");
    let mut s = office.flow.session();
    assert_eq!(s.pending(1), ["_EXCPT"]);
    assert_eq!(
        s.line("SELECT trw, note FROM wed_trace ORDER BY seq DESC LIMIT 1"),
        "_ABORT|visit: failed by beto: no key"
    );
}

#[harness::test]
fn history_says_who_did_what() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    office.owner.run(&format!("SELECT wed.delegate_work('default', 'beto', {item}, 'caio')"));
    office.report("caio", item, r#"{"cost": 4}"#, "k");
    let history = office
        .owner
        .lines(&format!("SELECT h ->> 'person', h ->> 'action' FROM wed.work_history('default', 'dora', {item}) h"));
    assert_eq!(history, ["wedflow|ready", "beto|locked", "beto|delegated", "caio|succeeded"]);
}

#[harness::test]
fn reports_of_one_key_at_once_are_applied_once() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    let sql = format!("SELECT wed.report_work('default', 'beto', {item}, true, '{{\"cost\": 1}}', 'k') ->> 'applied'");
    let answers: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..6)
            .map(|_| {
                let (mut session, sql) = (office.database().owner(), &sql);
                scope.spawn(move || session.line(sql))
            })
            .collect();
        running.into_iter().map(|thread| thread.join().expect("a sender")).collect()
    });
    assert!(answers.iter().all(|answer| answer == "true"), "{answers:?}");
    assert_eq!(office.flow.session().number("SELECT count(*) FROM wed_trace WHERE trw = 'visit'"), 1);
}

#[harness::test]
fn report_that_cannot_be_says_what_to_do_first() {
    let mut office = Office::new();
    let visit = office.visit();
    let answer = office.report("beto", visit, "{}", "early");
    assert_eq!(answer["reason"], format!("work item {visit} (visit) is not held by beto: it is READY"), "{answer}");
    let hint = answer["hint"].as_str().expect("a hint");
    assert!(hint.contains("`wed work select`"), "{answer}");
    office.act("select_work", "beto", visit);
    let sql = format!("SELECT wed.report_work('default', 'beto', {visit}, true, '{{\"colour\": 1}}', 'k')");
    let refused = office.owner.refused(&sql);
    assert_eq!(refused.code, "WF010");
    assert_eq!(refused.message, "the form of visit has no field \"colour\"");
    assert!(refused.detail.contains("form, cost"), "{refused:?}");
}
