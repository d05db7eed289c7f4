//! Pages of a person's work: whole without script, and in a browser whose network is cut or answered for by others.

use std::process::Command;

use serde_json::json;
use wedflow_console::Links;

use super::browser::driver;
use super::pictures::Docs;
use super::{form, page, served_over};
use crate::support::http::{Api, Client};
use crate::support::program::run;
use crate::worklist::{Office, REPAIRS};

/// Form of the visit.
const FORM: &str = r#"
[trigger.work.form]
required = ["cost"]
[trigger.work.form.properties]
form = { type = ["string", "null"], title = "Done", maxLength = 400, description = "In a few words" }
cost = { type = ["number", "null"], minimum = 0, title = "Cost", group = "Money" }
"#;

/// An office with pages, and a visit that is offered.
fn open_office() -> (Office, Api, i64) {
    let mut office = Office::of(&format!("{REPAIRS}{FORM}"));
    let api = served_over(office.database(), &Links::default());
    let item = office.visit();
    (office, api, item)
}

/// Sends a form of an item's page, whose fields are read from it.
fn act(client: &Client, item: i64, act: &str, fields: &str) -> crate::support::http::Answered {
    let shown = page(client, &format!("/console/work/items/{item}")).is(200);
    let hidden = |name: &str| {
        let (_, rest) = shown.text.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_default();
        let value = rest.split('"').next().unwrap_or_default();
        format!("{name}={value}")
    };
    let own = ["proof", "key", "claim", "base"].map(hidden).join("&");
    let path = format!("/console/work/items/{item}/do");
    form(client, &path, &[], &format!("{own}&act={act}&{fields}"))
}

#[harness::test]
fn work_is_found_claimed_and_done_without_script() {
    let (mut office, api, item) = open_office();
    let beto = api.user("default", "beto", "participant");
    let inbox = |query: &str| page(&beto, &format!("/console/work?{query}")).is(200).text;
    let link = format!("/console/work/items/{item}\"");
    assert!(inbox("order=deadline&q=VISIT").contains(&link));
    assert!(!inbox("q=elsewhere").contains(&link) && !inbox("show=mine").contains(&link));
    act(&beto, item, "lock", "");
    assert_eq!(office.state(item), "LOCKED|beto");
    assert!(inbox("show=mine").contains(&link));
    let shown = page(&beto, &format!("/console/work/items/{item}")).is(200).text;
    let place = |text: &str| shown.find(text).expect("it is shown");
    assert!(place("Done") < place("<legend>Money") && shown.contains("In a few words"));
    // The reason for a refused value stands next to its field, and what was typed stays.
    let wrong = act(&beto, item, "done", "f.form=tea&f.cost=-1").is(422).text;
    assert!(wrong.contains("it is less than 0</p>") && wrong.contains("value=\"-1\""), "{wrong}");
    let missing = act(&beto, item, "done", "f.form=tea&f.cost=").is(422).text;
    assert!(missing.contains("It is required."), "{missing}");
    act(&beto, item, "comment", "text=nobody+at+home");
    act(&beto, item, "done", "f.form=tea&f.cost=12%2C50");
    assert_eq!(office.state(item), "SUCCEEDED|beto");
    assert_eq!(office.flow.session().line("SELECT cost FROM wed_flow"), "12.50");
    let ended = page(&beto, &format!("/console/work/items/{item}")).is(200).text;
    assert!(ended.contains("nobody at home") && !ended.contains("data-result"));
    // Who looks at the instance sees what people did and said.
    let vera = api.user("default", "vera", "viewer");
    let instance = page(&vera, "/console/flows/repairs/instances/1").is(200).text;
    assert!(instance.contains("nobody at home") && instance.contains("reported it as done"), "{instance}");
}

#[harness::test]
fn scripts_ask_as_their_person_only_and_change_with_a_proof() {
    let (mut office, api, item) = open_office();
    let beto = api.user("default", "beto", "participant");
    let ana = api.user("default", "ana", "participant");
    let list = page(&beto, "/console/work/api/items").is(200).json();
    assert_eq!(list["for"]["person"], "beto");
    assert_eq!(list["items"][0]["item"], item);
    page(&ana, &format!("/console/work/items/{item}/kept")).is(404);
    page(&beto, "/console/work/api/../flows").is(404);
    let lock = format!("/console/work/api/items/{item}/lock");
    form(&beto, &lock, &[], "").is(403);
    let proof = page(&beto, "/console/work/me").is(200).json()["proof"].clone();
    let proof = proof.as_str().expect("a proof");
    let elsewhere = [("x-proof", proof), ("origin", "https://evil.example")];
    form(&beto, &lock, &elsewhere, "").is(403);
    form(&ana, &lock, &[("x-proof", proof)], "").is(403);
    assert_eq!(office.state(item), "READY|·");
    form(&beto, &lock, &[("x-proof", proof)], "").is(200);
    assert_eq!(office.state(item), "LOCKED|beto");
}

/// Plays a scene in a browser; `other` has a session too.
fn play(api: &Api, scene: &str, item: i64, other: &Client, docs: &Docs) -> String {
    let beto = api.user("default", "beto", "participant");
    let asked = json!({
        "server": format!("http://{}", api.address),
        "token": beto.token,
        "other": other.token,
        "item": item,
        "play": scene,
        "pictures": super::browser::pictures(),
        "docs": docs.path(),
    });
    let mut command = Command::new("node");
    run(command.arg(driver("work.mjs")).arg(asked.to_string())).done().out
}

#[harness::test]
fn item_done_without_a_network_is_applied_once() {
    let (mut office, api, item) = open_office();
    office.owner.run(&format!(
        "SELECT wed.add_work_note('default', 'beto', {item}, 'the plan', 'plan.txt', \
         convert_to(repeat('0123456789', 10000), 'UTF8'))"
    ));
    let caio = api.user("default", "caio", "participant");
    let docs = Docs::new();
    let out = play(&api, "cut", item, &caio, &docs);
    assert!(out.contains("confirmed"), "{out}");
    docs.hold(&["work-inbox", "work-item"]);
    assert_eq!(office.state(item), "SUCCEEDED|beto");
    let reports = format!("SELECT count(*) FROM wed.work_event WHERE item_id = {item} AND action = 'succeeded'");
    assert_eq!(office.owner.number(&reports), 1);
    let steps = "SELECT count(*) FROM wed.trace WHERE trw = 'visit'";
    assert_eq!(office.owner.number(steps), 1);
    assert_eq!(office.flow.session().line("SELECT cost FROM wed_flow"), "12.5");
}

#[harness::test]
fn only_the_server_refuses_what_was_done_without_a_network() {
    let (mut office, api, item) = open_office();
    let dora = api.user("default", "dora", "participant");
    let out = play(&api, "hotel", item, &dora, &Docs::new());
    assert!(out.contains("refused"), "{out}");
    assert_eq!(office.state(item), "SELECTED|dora");
}
