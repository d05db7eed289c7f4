//! People arrange their worklists over HTTP and the command line: tasks together, own order, late items,
//! notification, calendars, attachments, forms.

use serde_json::json;

use super::{Office, REPAIRS};
use crate::support::http::{Api, Client};
use crate::support::program::{Answer, run, wed};

/// Asserts that an admin sets calendars, and that everybody reads them.
fn assert_calendars_are_set(admin: &Client, beto: &Client) {
    admin
        .json("PUT", "/v1/work/calendars/office", &json!({ "zone": "America/Sao_Paulo", "holidays": ["2026-12-25"] }))
        .is(200);
    beto.json("PUT", "/v1/work/calendars/office", &json!({})).problem(403, "not_permitted");
    admin.json("PUT", "/v1/work/calendars/o", &json!({ "zone": "Mars/Base" })).problem(422, "WF085");
    assert_eq!(beto.get("/v1/work/calendars").is(200).json()["items"][0]["closes"], "17:00:00");
}

#[harness::test]
fn worklists_are_arranged_over_http() {
    let mut office = Office::new();
    let api = Api::of(office.database());
    let [beto, dora] = ["beto", "dora"].map(|name| api.user("default", name, "participant"));
    let (first, second) = (office.visit_with("1, 1, '{6}', NULL"), office.visit());
    let path = |item: i64, act: &str| format!("/v1/work/items/{item}/{act}");
    beto.json("POST", &path(second, "move"), &json!({ "before": first })).is(200);
    assert_eq!(beto.get("/v1/work/items?order=own").is(200).json()["items"][0]["item"], second);
    // A task without a locked item before it is not taken along.
    beto.json("POST", &path(first, "reserve"), &json!({ "task": "visit" })).problem(409, "WF082");
    let late = json!({ "continue": true, "extend": "12 hours" });
    beto.json("POST", &path(first, "decide"), &late).problem(403, "WF083");
    dora.json("POST", &path(first, "decide"), &late).is(200);
    let notify = json!({ "policy": 2, "count": 1, "warnings": [9, 3], "transfer": 3 });
    let of = "/v1/work/processes/repairs/1/notification";
    beto.json("PATCH", of, &notify).problem(403, "WF083");
    let changed = dora.json("PATCH", of, &notify).is(200).json();
    assert_eq!((&changed["policy"], &changed["transfer"]), (&json!(2), &json!(3)), "{changed}");
    dora.json("PATCH", of, &json!({ "policy": 9 })).problem(422, "WF085");
    let admin = api.user("default", "root", "admin");
    assert_calendars_are_set(&admin, &beto);
    let headers = [("wedflow-text", "the door")];
    let sent = beto.send("POST", &path(second, "attachments/door.jpg"), &headers, b"photo").is(201).json();
    let file = path(second, &format!("attachments/{}", sent["note"]));
    assert_eq!(beto.get(&file).is(200).text, "photo");
    let ana = api.user("default", "ana", "participant");
    office.act("lock_work", "beto", second);
    let moved = dora.json("POST", "/v1/work/people/beto/reassign", &json!({ "to": "caio" })).is(200).json();
    assert_eq!(moved["reassigned"], 1);
    admin.send("DELETE", "/v1/work/people/caio/roles/Tecnico", &[], b"").is(204);
    assert_eq!(office.list("caio", "arrival", "0"), [second.to_string()]);
    ana.get(&file).problem(404, "WF080");
}

#[harness::test]
fn worklists_are_arranged_on_the_command_line() {
    let mut office = Office::new();
    let (first, second) = (office.visit(), office.visit());
    let (one, two) = (first.to_string(), second.to_string());
    let url = office.database().url();
    let work = |person: &str, words: &[&str]| -> Answer {
        run(wed(&url).args(["--json", "work", "--as", person]).args(words))
    };
    work("beto", &["move", &two, &one]).done();
    assert_eq!(work("beto", &["list", "--order", "own"]).done().json()[0]["item"], second);
    let changed = work("dora", &["notify", "repairs", "1", "--policy", "4", "--count", "1"]).done().json();
    assert_eq!(changed["policy"], 4);
    work("dora", &["decide", &one, "--continue", "--extend", "3 hours"]).done();
    work("dora", &["decide", &one, "--stop"]).done();
    assert_eq!(office.state(first), "FAILED|dora");
    let calendar = ["calendar", "office", "--zone", "America/Sao_Paulo", "--weekdays", "1,2"];
    work("dora", &calendar).done();
    assert_eq!(work("dora", &["calendar"]).done().json()[0]["weekdays"], json!([1, 2]));
    let folder = tempfile::tempdir().expect("a folder");
    let (file, copy) = (folder.path().join("door.txt"), folder.path().join("copy"));
    std::fs::write(&file, "a photo").expect("written");
    let (file, copy) = (file.display().to_string(), copy.display().to_string());
    let note = work("beto", &["comment", &two, "look", "--attach", &file]).done().json()["note"].to_string();
    work("beto", &["fetch", &two, &note, "--to", &copy]).done();
    assert_eq!(std::fs::read_to_string(&copy).expect("read"), "a photo");
    assert_eq!(work("ana", &["fetch", &two, &note]).exits(3).error()["code"], "WF080");
}

#[harness::test]
fn report_is_checked_by_the_form_of_its_task() {
    let form = concat!(
        r#"form = { type = "object", required = ["cost"], properties = { "#,
        r#"cost = { type = "number", minimum = 1 }, form = { enum = ["tea", "coffee"] } } }"#,
        "\npriority = 10",
    );
    let mut office = Office::of(&REPAIRS.replace("priority = 10", form));
    let item = office.visit();
    office.act("lock_work", "beto", item);
    for wrong in [r#"{}"#, r#"{"cost": 0}"#, r#"{"cost": true}"#, r#"{"cost": 2, "form": "milk"}"#] {
        let sql = format!("SELECT wed.report_work('default', 'beto', {item}, true, '{wrong}', 'k')");
        office.owner.refused(&sql).expect("WF088");
    }
    assert_eq!(office.state(item), "LOCKED|beto");
    let answer = office.report("beto", item, r#"{"cost": 2, "form": "coffee"}"#, "k");
    assert_eq!(answer["applied"], true, "{answer}");
}

#[harness::test]
fn holder_of_a_withdrawn_item_is_told() {
    let mut office = Office::new();
    let item = office.visit();
    office.act("lock_work", "beto", item);
    let flow = office.flow.id;
    // An operator ends the instance while somebody holds it.
    office.owner.run(&format!("SELECT wed.cancel_instance({flow}, 1, 'operator', 'not needed')"));
    assert_eq!(office.state(item), "WITHDRAWN|beto");
    let told = office.messages("beto");
    assert!(told.iter().any(|line| line.starts_with("task_withdrawn|visit")), "{told:?}");
}
