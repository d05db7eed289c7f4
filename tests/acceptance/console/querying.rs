//! Queries of people over the tables of a flow: with its rights alone, without changes, within bounds, on record.

use serde_json::{Value as Json, json};

use super::{served, with_exception};
use crate::support::database::TENANT;
use crate::support::http::{Answered, Api, Client};

fn queried() -> (Api, Client) {
    let api = served(&wedflow_console::Links::default());
    let client = api.user(TENANT, "ann", "admin");
    with_exception(&client, "f", 3);
    (api, client)
}

fn ask(client: &Client, sql: &str) -> Answered {
    client.json("POST", "/v1/flows/f/query", &json!({ "sql": sql }))
}

fn rows(client: &Client, sql: &str) -> Json {
    ask(client, sql).is(200).json()["rows"].take()
}

#[harness::test]
fn rows_come_with_their_columns_in_order() {
    let (_api, client) = queried();
    let answer = ask(&client, "SELECT wid AS b, a1 AS a, 1.50 AS a FROM wed_flow ORDER BY wid DESC;").is(200).json();
    let names: Vec<&Json> = answer["columns"].as_array().expect("columns").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["b", "a", "a"]);
    assert_eq!(answer["columns"][2]["type"], "numeric");
    assert_eq!(answer["rows"][0].to_string(), r#"[3,"ready",1.50]"#);
    assert_eq!(answer["truncated"], false);
    let empty = ask(&client, "TABLE wed_attempt").is(200).json();
    assert_eq!((&empty["rows"], &empty["columns"][0]["name"]), (&json!([]), &json!("wid")));
}

#[harness::test]
fn a_query_changes_nothing_and_sees_its_flow_only() {
    let (api, client) = queried();
    with_exception(&client, "other", 1);
    let owner = &mut api.database.owner();
    let schema = owner.line("SELECT schema_name FROM wed.flow WHERE name = 'other'");
    let of_other = format!("TABLE \"{schema}\".wed_flow");
    for sql in [
        of_other.as_str(),
        "TABLE wed.tenant",
        "UPDATE wed_flow SET a2 = 'x'",
        "SELECT 1; DROP TABLE wed_flow",
        "SELECT 1) AS q; COMMIT; --",
        "SELECT 1) AS q, generate_series(1, 100000) AS g --",
        "WITH w AS (DELETE FROM wed_attr RETURNING 1) TABLE w",
        "SELECT * FROM wed_rematch(false)",
        "SELECT pg_read_file('/etc/passwd')",
        // Postgres's catalog tells the definitions of all tenants.
        "SELECT attname FROM pg_attribute",
        "SELECT pg_get_expr(adbin, adrelid) FROM pg_catalog.pg_attrdef",
        "SELECT query_to_xml('TABLE pg_enum', true, true, '')",
        "TABLE information_schema.columns",
        "SELECT $1",
        "SELECT lastval()",
        "SELECT (SELECT wid FROM wed_flow)",
        "COMMIT",
        "",
    ] {
        let answer = ask(&client, sql);
        assert_eq!(answer.status, 422, "{sql}: {answer:?}");
    }
    assert_eq!(rows(&client, "SELECT count(*), min(a2) FROM wed_flow"), json!([[3, null]]));
    assert_eq!(rows(&client, "SELECT current_setting('transaction_read_only')"), json!([["on"]]));
}

#[harness::test]
fn rows_bytes_columns_and_time_are_bounded() {
    let (_api, client) = queried();
    let answer = ask(&client, "SELECT generate_series(1, 500)").is(200).json();
    assert_eq!(answer["rows"].as_array().map(Vec::len), Some(100));
    assert_eq!(answer["truncated"], true);
    let large = ask(&client, "SELECT repeat('x', 400000) FROM generate_series(1, 9)").is(200).json();
    assert_eq!(large["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(large["truncated"], true);
    let limit = |limit: i32| {
        let asked = json!({ "sql": "SELECT generate_series(1, 2000)", "limit": limit });
        client.json("POST", "/v1/flows/f/query", &asked)
    };
    assert_eq!(limit(1000).is(200).json()["rows"].as_array().map(Vec::len), Some(1000));
    limit(1001).is(422);
    limit(0).is(422);
    let columns: Vec<String> = (0..101).map(|at| at.to_string()).collect();
    ask(&client, &format!("SELECT {}", columns.join(", "))).problem(422, "54011");
    let slow = ask(&client, "SELECT count(*) FROM generate_series(1, 100000000000)");
    assert!((400..600).contains(&slow.status), "{slow:?}");
}

#[harness::test]
fn a_query_is_on_record_and_needs_its_rights() {
    let (api, client) = queried();
    rows(&client, "SELECT 4711");
    let audit = client.get("/v1/audit").is(200).json();
    assert_eq!(audit["items"][0]["action"], "flow.query");
    assert_eq!(audit["items"][0]["detail"]["sql"], "SELECT 4711");
    let viewer = api.user(TENANT, "vic", "viewer");
    ask(&viewer, "SELECT 1").problem(403, "not_permitted");
    let stranger = api.nobody();
    ask(&stranger, "SELECT 1").is(401);
}
