//! Constraints over HTTP and on the command line.

use serde_json::{Value as Json, json};

use crate::support::Database;
use crate::support::database::TENANT;
use crate::support::http::{Api, Client};
use crate::support::program::{run, wed};

/// Returns a flow whose transition consumes of a stock.
fn store() -> Json {
    json!({
        "name": "store",
        "final": "done AND seen",
        "attribute": [
            { "name": "qty", "type": "integer", "default": "7" },
            { "name": "done", "type": "boolean", "default": "false" },
            { "name": "seen", "type": "boolean", "default": "false" },
            { "name": "no", "type": "bigint", "number": "gapless" },
        ],
        "trigger": [
            { "name": "t", "when": "NOT \
             done", "transition": "issue", "reserves": "'M1'", "quantity": "qty", "consumes": true },
            { "name": "s", "when": "NOT seen", "transition": "look" },
        ],
    })
}

/// Asserts that the first of two instances holds the stock, and that the second one says that it waits for it.
fn assert_second_waits(client: &Client) {
    let rows = client.get("/v1/flows/store/reservations").is(200).json();
    assert_eq!((&rows["items"][0]["held"], &rows["items"][1]["held"]), (&json!(true), &json!(false)));
    let wait = "its reservation: M1 (held by instance 1 of store: 7)";
    assert_eq!(rows["items"][1]["waits_for"], wait);
    let why = client.get("/v1/flows/store/instances/2/waiting").is(200).json();
    assert_eq!(why["items"][0]["code"], "reservation");
    assert_eq!(why["items"][0]["text"], format!("it waits for {wait}"));
    let stock = client.get("/v1/flows/store/resources").is(200).json();
    assert_eq!((&stock["items"][0]["capacity"], &stock["items"][0]["held"]), (&json!("10"), &json!("7")));
}

#[harness::test]
fn reservations_stock_and_orders_are_had_over_http_and_on_the_command_line() {
    let database = Database::new();
    let api = Api::of(&database);
    let client = api.user(TENANT, "ann", "developer");
    client.json("PUT", "/v1/flows/store", &store()).is(201);
    let stock = json!({ "key": "M1", "capacity": 10, "minimum": 1 });
    client.json("PUT", "/v1/flows/store/resources", &stock).is(204);
    for _ in 0..2 {
        client.json("POST", "/v1/flows/store/instances", &json!({})).is(201);
    }
    assert_second_waits(&client);
    let too_much = json!({ "key": "M1", "capacity": 1, "minimum": 2 });
    client.json("PUT", "/v1/flows/store/resources", &too_much).problem(422, "WF061");
    let order = json!({ "trigger": "s", "after": "t" });
    client.json("POST", "/v1/flows/store/order", &order).is(204);
    client.json("POST", "/v1/flows/store/order", &json!({ "trigger": "t", "after": "s" })).problem(422, "WF063");
    let ask = |words: &[&str]| run(wed(&database.url()).args(["--json"]).args(words)).done();
    let listed = ask(&["flow", "order", "list", "store"]).json();
    assert_eq!((&listed[0]["trigger"], &listed[0]["after"]), (&json!("s"), &json!("t")));
    client.json("POST", "/v1/flows/store/order/drop", &order).is(204);
    client.json("POST", "/v1/flows/store/order/drop", &order).is(404);
    ask(&["flow", "order", "add", "store", "s", "t", "--instance", "1"]);
    ask(&["flow", "order", "drop", "store", "s", "t", "--instance", "1"]);
    ask(&["flow", "resource", "set", "store", "M1", "15"]);
    let rows = ask(&["flow", "reservations", "store"]).json();
    assert_eq!(rows[1]["held"], true, "{rows}");
    let stock = ask(&["flow", "resource", "list", "store"]).json();
    assert_eq!(stock[0]["held"], "14");
}

#[harness::test]
fn stock_keeps_all_its_digits_over_http() {
    let database = Database::new();
    let api = Api::of(&database);
    let client = api.user(TENANT, "ann", "developer");
    client.json("PUT", "/v1/flows/store", &store()).is(201);
    let digits = "1234567890123456789.0123456789";
    let stock: serde_json::Value =
        serde_json::from_str(&format!(r#"{{"key": "M1", "capacity": {digits}}}"#)).expect("a document");
    client.json("PUT", "/v1/flows/store/resources", &stock).is(204);
    let found = client.get("/v1/flows/store/resources").is(200).json();
    assert_eq!(found["items"][0]["capacity"], digits);
}
