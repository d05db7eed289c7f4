//! The console in a browser, headless: every page in two widths and two colour schemes, by rules of accessibility, by
//! keyboard alone, and a journey from the address to a mended instance.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use wedflow_console::Links;

use super::{break_instance, served, with_exception};
use crate::support::database::TENANT;
use crate::support::program::run;
use crate::support::repository;

/// Folder in which the pictures are kept, if it is given.
const PICTURES: &str = "WEDFLOW_CONSOLE_PICTURES";

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

#[harness::test]
fn a_person_finds_understands_and_mends_an_exception_among_ten_thousand() {
    let links = Links::default();
    let api = served(&links);
    let client = api.user(TENANT, "ann", "admin");
    with_exception(&client, "orders", 1);
    let flow = api
        .database
        .owner()
        .line("SELECT schema_name FROM wed.flow WHERE name = 'orders'");
    api.database.owner().run(&format!(
        "INSERT INTO \"{flow}\".wed_flow SELECT FROM generate_series(1, 9999)"
    ));
    break_instance(&client, "orders", 4711);
    let asked = json!({
        "server": format!("http://{}", api.address),
        "token": client.token,
        "flow": "orders",
        "wid": 4711,
        "pictures": pictures(),
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
