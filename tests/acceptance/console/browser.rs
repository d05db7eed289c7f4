//! The console in a browser, headless: every page in two widths and two colour schemes, by rules of accessibility, by
//! keyboard alone, and a journey from the address to a mended instance.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value as Json, json};
use wedflow_tenancy::issue_operator;

use super::pictures::Docs;
use super::places::{Kind, PLACES, with_everything};
use crate::support::database::one_lane;
use crate::support::http::{Api, Client};
use crate::support::program::run;
use crate::support::{Session, on, repository};

/// Folder in which the pictures are kept, if it is given.
const PICTURES: &str = "WEDFLOW_CONSOLE_PICTURES";
/// Tenant with ten thousand orders.
const SHOP: &str = "shop";

/// Folder of the pictures, if they are kept.
pub(crate) fn pictures() -> Option<String> {
    std::env::var_os(PICTURES).map(|folder| folder.to_string_lossy().into_owned())
}

/// A program that drives the browser.
pub(crate) fn driver(name: &str) -> PathBuf {
    let browser = repository("tests/browser");
    assert!(browser.join("node_modules").exists(), "the browser's driver is missing: `make setup-test` installs it");
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

/// Makes 10,000 orders, of which one is too heavy to be sent, as a worker finds who packs it.
fn ten_thousand(api: &Api, client: &Client) {
    client.json("PUT", "/v1/flows/orders", &orders()).is(201);
    let schema = "SELECT schema_name FROM wed.flow WHERE name = 'orders'";
    let flow = api.database.owner().line(schema);
    api.database.owner().run(&format!("INSERT INTO \"{flow}\".wed_flow SELECT FROM generate_series(1, 10000)"));
    let url = on(api.database.store.flow_url(SHOP, "orders")).expect("its URL");
    let mut worker = Session::on(&api.database, &url);
    worker.finish(4711, "tr_pack", "packed = 'box 9', weight = 70");
}

/// Pages that the browser opens, each with who may see it.
fn pages() -> Vec<Json> {
    let who = |kind: Kind| match kind {
        Kind::Page => Some("person"),
        Kind::Operators => Some("operator"),
        Kind::Nobody => Some("nobody"),
        Kind::Part | Kind::Data | Kind::Onward => None,
    };
    let pages = PLACES.iter().filter_map(|place| Some((place, who(place.kind)?)));
    pages.map(|(place, who)| json!({ "name": place.name, "path": place.path, "who": who })).collect()
}

#[harness::test]
fn a_person_finds_understands_and_mends_an_exception_among_ten_thousand() {
    let (api, client, _) = with_everything();
    let operator = on(issue_operator(&api.database.store, "portal", true, 1)).expect("a token");
    on(api.database.store.create_tenant(SHOP, "A shop")).expect("a tenant");
    let ann = api.user(SHOP, "ann", "admin");
    ten_thousand(&api, &ann);
    let host = api.database.host(one_lane("host"));
    let docs = Docs::new();
    let asked = json!({
        "server": format!("http://{}", api.address),
        "tokens": { "person": client.token, "operator": operator.reveal(), "shop": ann.token },
        "pages": pages(),
        "flow": "f",
        "wid": 2,
        "pictures": pictures(),
        "docs": docs.path(),
    });
    let answer = run(Command::new("node").arg(driver("console.mjs")).arg(asked.to_string())).done();
    on(host.stop());
    assert!(answer.out.contains("mended"), "{answer:?}");
    assert_eq!(ann.get("/v1/flows/orders/instances/4711").json()["status"], "final");
    docs.hold(&["console-overview", "console-why", "console-what-if", "console-ended"]);
}
