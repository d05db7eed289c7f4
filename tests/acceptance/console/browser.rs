//! The console in a browser, headless: every page in two widths and two colour schemes, by rules of accessibility, by
//! keyboard alone, and a journey from the address to a mended instance.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value as Json, json};
use wedflow_console::Links;

use super::{break_instance, served, with_exception};
use crate::support::database::{TENANT, sample_component};
use crate::support::http::{Api, Client};
use crate::support::program::run;
use crate::support::repository;

/// Folder in which the pictures are kept, if it is given.
const PICTURES: &str = "WEDFLOW_CONSOLE_PICTURES";
/// Variable with which the pictures of the guide are taken anew.
const WRITE_PICTURES: &str = "WEDFLOW_WRITE_PICTURES";

/// Folder of the pictures, if they are kept.
pub(super) fn pictures() -> Option<String> {
    std::env::var_os(PICTURES).map(|folder| folder.to_string_lossy().into_owned())
}

/// A program that drives the browser.
pub(super) fn driver(name: &str) -> PathBuf {
    let browser = repository("tests/browser");
    assert!(
        browser.join("node_modules").exists(),
        "the browser's driver is missing: `make setup-test` installs it"
    );
    browser.join(name)
}

/// Orders of a shop, which workers elsewhere pack and send.
fn orders() -> Json {
    json!({
        "name": "orders",
        "description": "Orders of a shop: paid, then packed, then sent",
        "final": "sent is not null",
        "attribute": [
            { "name": "customer", "default": "Ana" },
            { "name": "paid", "type": "boolean", "default": "true" },
            { "name": "packed", "open": true },
            { "name": "weight", "type": "integer", "open": true },
            { "name": "sent" },
        ],
        "trigger": [
            { "name": "pack", "transition": "tr_pack", "when": "paid and packed is null", "writes": ["packed", "weight"] },
            { "name": "send", "transition": "tr_send", "when": "packed is not null and weight <= 30", "writes": ["sent"] },
        ],
    })
}

/// Makes 10,000 orders, of which one is too heavy to be sent.
fn ten_thousand(api: &Api, client: &Client) {
    client.json("PUT", "/v1/flows/orders", &orders()).is(201);
    let schema = "SELECT schema_name FROM wed.flow WHERE name = 'orders'";
    let flow = api.database.owner().line(schema);
    api.database.owner().run(&format!(
        "INSERT INTO \"{flow}\".wed_flow SELECT FROM generate_series(1, 10000)"
    ));
    let of = |what: &str| format!("/v1/flows/orders/instances/4711/{what}");
    let packed = json!({ "state": { "packed": "box 9", "weight": 70 } });
    client.json("POST", &of("event"), &packed).is(200);
    let skip = json!({ "transition": "tr_pack", "reason": "packed by hand" });
    client.json("POST", &of("skip"), &skip).is(200);
}

#[harness::test]
fn a_person_finds_understands_and_mends_an_exception_among_ten_thousand() {
    let api = served(&Links::default());
    let client = api.user(TENANT, "ann", "admin");
    with_exception(&client, "f", 3);
    break_instance(&client, "f", 2);
    api.database.upload("pack", sample_component("paper"));
    ten_thousand(&api, &client);
    let walk = std::env::var_os(WRITE_PICTURES).map(|_| repository("docs/pictures"));
    let asked = json!({
        "server": format!("http://{}", api.address),
        "token": client.token,
        "flow": "f",
        "wid": 2,
        "pictures": pictures(),
        "walk": walk,
    });
    let answer = run(Command::new("node")
        .arg(driver("console.mjs"))
        .arg(asked.to_string()))
    .done();
    assert!(answer.out.contains("mended"), "{answer:?}");
    assert_eq!(
        client.get("/v1/flows/orders/instances/4711").json()["status"],
        "final"
    );
}
