//! Deadlines: each warning, the transfer value, and the decision about what is late, by a simulated clock.

use super::Office;

fn warnings(office: &mut Office, person: &str) -> Vec<String> {
    office.messages(person).into_iter().filter(|line| line.starts_with("task_deadline")).collect()
}

#[harness::test]
fn each_warning_is_sent_once_to_holder_and_person_in_charge() {
    let mut office = Office::new();
    let item = office.visit_with("1, 1, '{6,12,24}', NULL");
    office.act("lock_work", "beto", item);
    office.sweep(item, "23 hours 59 minutes");
    assert!(warnings(&mut office, "dora").is_empty());
    let mut told = Vec::new();
    for (after, left) in [("24 hours", 24), ("36 hours", 12), ("42 hours", 6)] {
        for _ in 0..2 {
            office.sweep(item, after);
        }
        told.push(format!("task_deadline|visit: {left} hours are left until its deadline."));
        assert_eq!(warnings(&mut office, "dora"), told);
        assert_eq!(warnings(&mut office, "beto"), told);
    }
    assert!(warnings(&mut office, "caio").is_empty());
    assert_eq!(office.state(item), "LOCKED|beto");
}

#[harness::test]
fn at_the_transfer_value_the_item_passes_to_who_is_in_charge() {
    let mut office = Office::new();
    let item = office.visit_with("1, 1, '{6,12}', 6");
    office.act("lock_work", "beto", item);
    office.sweep(item, "36 hours");
    assert_eq!(office.state(item), "LOCKED|beto");
    office.sweep(item, "42 hours");
    assert_eq!(office.state(item), "SELECTED|dora");
    let told = office.messages("beto");
    assert!(
        told.contains(&"task_transferred|visit was given to dora (transferred by deadline).".to_owned()),
        "{told:?}"
    );
    // Its result comes too late: refused, kept, shown.
    let answer = office.report("beto", item, r#"{"cost": 9}"#, "k");
    assert_eq!((&answer["code"], &answer["holder"]), (&"WF084".into(), &"dora".into()));
    // An item that nobody took is transferred too.
    let item = office.visit_with("1, 1, '{6}', 6");
    office.sweep(item, "43 hours");
    assert_eq!(office.state(item), "SELECTED|dora");
}

#[harness::test]
fn late_item_continues_or_stops_as_who_is_in_charge_decides() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    office.sweep(item, "48 hours");
    let told = office.messages("dora");
    assert!(told.iter().any(|line| line.starts_with("task_late|The deadline of visit")), "{told:?}");
    let decide = |who: &str, rest: &str| format!("wed.decide_late('default', '{who}', {item}, {rest})");
    office.owner.refused(&format!("SELECT {}", decide("beto", "true"))).expect("WF083");
    let answer = office.document(&decide("dora", "true, '2 days'"));
    assert_eq!((&answer["state"], &answer["holder"]), (&"LOCKED".into(), &"beto".into()));
    let answer = office.document(&decide("dora", "false"));
    assert_eq!(answer["state"], "FAILED", "{answer}");
}

#[harness::test]
fn deadline_counts_working_hours_of_a_calendar() {
    let mut office = Office::new();
    let id = office.owner.number(
        "SELECT wed.set_calendar('default', 'office', 'America/Sao_Paulo', '{1,2,3,4,5}', '09:00', '17:00', \
         '{2026-11-26}')",
    );
    // Wednesday 16:00; Thursday is a holiday.
    for (span, ends) in [
        ("1 hour", "2026-11-25 17:00"),
        ("2 hours", "2026-11-27 10:00"),
        ("1 day", "2026-11-27 16:00"),
        ("2 days", "2026-11-30 16:00"),
    ] {
        assert_eq!(
            office.owner.line(&format!(
                "SELECT to_char(wed.add_working_time('2026-11-25 16:00 America/Sao_Paulo', '{span}', {id}) \
                 AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD HH24:MI')"
            )),
            ends,
            "{span}"
        );
    }
    office
        .owner
        .refused("SELECT wed.set_calendar('default', 'o', 'Mars/Base', '{1}', '09:00', '17:00', '{}')")
        .expect("WF085");
}

#[harness::test]
fn calendar_that_never_opens_is_refused_in_words() {
    let mut office = Office::new();
    for (calendar, why) in [
        ("'k', 'UTC', '{}', '09:00', '17:00', '{}'", "weekdays"),
        ("'k', 'UTC', '{1,8}', '09:00', '17:00', '{}'", "weekdays"),
        ("'k', 'UTC', '{1}', '17:00', '09:00', '{}'", "opens at 17:00:00"),
        ("'k', 'UTC', '{1}', '09:00', '17:00', '{infinity}'", "holiday"),
        ("'Big K', 'UTC', '{1}', '09:00', '17:00', '{}'", "its name"),
    ] {
        let sql = format!("SELECT wed.set_calendar('default', {calendar})");
        let refused = office.owner.refused(&sql);
        assert_eq!(refused.code, "WF085", "{calendar}");
        assert!(refused.message.contains(why), "{}", refused.message);
    }
}

#[harness::test]
fn late_item_is_told_to_its_role_too() {
    let mut office = Office::new();
    let item = office.visit();
    office.sweep(item, "48 hours");
    for person in ["beto", "caio"] {
        let told = office.messages(person);
        assert_eq!(told, ["task_late|The deadline of visit has passed."], "{person}");
    }
    assert!(office.messages("ana").iter().all(|line| !line.starts_with("task_late")));
}

#[harness::test]
fn deadline_beyond_ten_years_of_a_calendar_is_refused() {
    let mut office = Office::new();
    office.owner.run("SELECT wed.set_calendar('default', 'o', 'UTC', '{1}', '09:00', '10:00', '{}')");
    let plan = |deadline: &str| {
        format!(
            "SELECT wed.plan_work({}, '{{\"tasks\": [{{\"trigger\": \"visit\", \"deadline\": \"{deadline}\", \
             \"calendar\": \"o\"}}]}}')",
            office.flow.id
        )
    };
    let (short, long) = (plan("500 hours"), plan("600 hours"));
    office.owner.run(&short);
    let refusal = office.owner.refused(&long);
    assert_eq!(refusal.code, "WF085");
    assert!(refusal.message.contains("ten years"), "{}", refusal.message);
}
