//! People's work that no person of the tenant may do: its reason, and how to mend it.

use super::Office;
use super::data_says::VACATION;
use crate::support::program::{run, wed};

/// The problems of `wed status` that are about people's work: text and hint.
fn told(office: &Office) -> Vec<(String, String)> {
    let mut status = wed(&office.database().url());
    // No host runs.
    let status = run(status.args(["--json", "status"])).exits(1).json();
    let problems = status["problems"].as_array().expect("problems");
    (problems.iter())
        .filter(|one| one["code"] == "nobody")
        .map(|one| {
            let text = |key: &str| one[key].as_str().expect("a text").to_owned();
            (text("text"), text("hint"))
        })
        .collect()
}

#[harness::test]
fn work_for_nobody_is_told_with_the_role_and_the_command_that_mends_it() {
    let mut office = Office::new();
    let wid = office.start();
    let url = office.database().url();
    let reason = "SELECT wed.waiting_reason(flow_id, wid, tgid) FROM wed.job";
    assert_eq!(office.owner.line(reason), "person");
    assert!(told(&office).is_empty());

    office.owner.run("SELECT wed.drop_person('default', 'ana')");
    assert_eq!(office.owner.line(reason), "nobody");
    let mut show = wed(&url);
    show.args(["--json", "instance", "show", &office.flow.name, &wid.to_string()]);
    let shown = run(&mut show).done().json();
    assert_eq!(shown["waiting"][0]["code"], "nobody", "{shown}");
    assert_eq!(shown["waiting"][0]["text"], "no person has role \"Atendente\"", "{shown}");
    let problems = told(&office);
    let [(text, hint)] = &problems[..] else {
        panic!("{problems:?}");
    };
    let place = "task \"order\" of flow repairs of tenant default waits for a person, as in instance 1";
    assert!(text.starts_with(place), "{text}");
    let command = "wed work people --tenant default --add NAME --role Atendente";
    assert!(hint.contains(command), "{hint}");

    let words = command.replace("NAME", "eva");
    run(wed(&url).args(words.split(' ').skip(1))).done();
    assert_eq!(office.owner.line(reason), "person");
    assert!(told(&office).is_empty());
}

#[harness::test]
fn work_whose_people_are_gone_is_left_to_who_is_in_charge_or_told() {
    let mut office = Office::of(VACATION);
    let flow = office.flow.name.clone();
    let values = r#"{"employee": "beto", "approvers": ["caio"]}"#;
    let wid = office.owner.number(&format!("SELECT wed.start_process('default', '{flow}', 'ana', 'dora', '{values}')"));
    let ask = office.item(wid, "ask");
    office.act("select_work", "beto", ask);
    office.report("beto", ask, r#"{"days": 5}"#, "ask");
    office.owner.run("SELECT wed.drop_person('default', 'beto')");
    let approve = office.item(wid, "approve");
    office.act("select_work", "caio", approve);
    office.report("caio", approve, r#"{"approved": true}"#, "approve");
    // Whoever asked books, and is there no more.
    let book = office.item(wid, "book");
    office.act("select_work", "dora", book);
    office.act("unselect_work", "dora", book);
    assert!(told(&office).is_empty());
    office.owner.run("SELECT wed.drop_person('default', 'dora')");
    let problems = told(&office);
    let [(text, hint)] = &problems[..] else {
        panic!("{problems:?}");
    };
    assert!(text.contains("task \"ask\" names nobody"), "{text}");
    assert!(hint.contains("--role administrator"), "{hint}");
}
