//! Receipts: what tenants used, by day, flow and transition.

use std::sync::Arc;

use serde_json::Value as Json;
use wedflow_tenancy::issue_operator;

use crate::host::flow_of_one;
use crate::support::database::{TENANT, one_lane};
use crate::support::http::{Api, Client};
use crate::support::program::{run, wed};
use crate::support::{Database, on};

/// Returns the rows of all parts, two rows a part.
fn rows(client: &Client, path: &str) -> Vec<Json> {
    let (mut rows, mut cursor) = (Vec::new(), String::new());
    loop {
        let part = client.get(&format!("{path}?limit=2{cursor}")).is(200).json();
        rows.extend(part["items"].as_array().expect("rows").clone());
        match part["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return rows,
        }
    }
}

/// Deletes a flow: it has used what it used. Returns the receipts that are left.
fn after_deletion_of_trap(database: &Arc<Database>, ann: &Client, found: &[Json]) -> Vec<Json> {
    on(database.store.drop_flow(TENANT, "trap")).expect("deleted");
    let mut owner = database.owner();
    assert_eq!(owner.number("SELECT count(*) FROM wed.residue"), 0);
    let left = rows(ann, "/v1/usage/receipts");
    let is_of_trap = |row: &&Json| row["flow"] == "trap" && row["transition"] != Json::Null;
    let before: Vec<&Json> = found.iter().filter(is_of_trap).collect();
    assert!(!before.is_empty(), "{found:?}");
    assert_eq!(left.iter().filter(is_of_trap).collect::<Vec<_>>(), before);
    left
}

/// Asserts what a billing system takes: a line for each row below the heads.
fn assert_csv_has(database: &Database, rows: usize) {
    let csv = run(wed(&database.url()).args(["usage", "--all", "--csv"])).done();
    let lines: Vec<&str> = csv.out.lines().collect();
    assert_eq!(lines.len(), rows + 1, "{}", csv.out);
    assert!(lines[0].starts_with("day,tenant,flow,transition,commits,"), "{}", lines[0]);
    let limits = run(wed(&database.url()).args(["--json", "usage", "--limits"])).done();
    assert!(limits.out.contains("fuel_per_minute"), "{}", limits.out);
}

#[harness::test]
fn receipts_add_up_to_what_commits_and_failures_wrote() {
    let database = Database::new();
    let host = database.host(one_lane("receipts"));
    // One transition commits, the other fails twice and its instance is an exception.
    let good = flow_of_one(&database, "clause", "");
    let bad = flow_of_one(&database, "trap", ", attempts, backoff=2, '1 millisecond'");
    let wid = good.session().start();
    assert_eq!(good.end_of(wid), "F");
    let wid = bad.session().start();
    assert_eq!(bad.end_of(wid), "E");
    on(host.stop());
    on(database.store.create_tenant("other", "")).expect("a tenant");
    let api = Api::of(&database);
    let ann = api.user(TENANT, "ann", "admin");
    let found = rows(&ann, "/v1/usage/receipts");
    let of = |flow: &str, transition: Json| {
        let found = found.iter().find(|row| row["flow"] == flow && row["transition"] == transition);
        found.unwrap_or_else(|| panic!("{flow} {transition} in {found:?}")).clone()
    };
    let clause = of("clause", "clause".into());
    assert_eq!((&clause["commits"], &clause["failures"]), (&1.into(), &0.into()));
    let trap = of("trap", "trap".into());
    assert_eq!((&trap["commits"], &trap["failures"]), (&0.into(), &2.into()));
    let mut owner = database.owner();
    let used = "SELECT sum(fuel) FROM (SELECT fuel FROM wed.attempt UNION ALL \
                SELECT fuel FROM wed.trace WHERE trw <> '_ABORT') u";
    let fuel: i64 = found.iter().filter_map(|row| row["fuel"].as_i64()).sum();
    assert_eq!(fuel, owner.number(used));
    let stored = of("clause", Json::Null)["stored_bytes"].as_i64();
    assert_eq!(
        stored,
        Some(
            owner.number(&format!(
                "SELECT wed.table_bytes(schema_name) FROM wed.flow WHERE flow_id = {}",
                good.id.get()
            ))
        )
    );
    // Another tenant sees none of it, an operator all.
    let other = api.user("other", "bob", "admin");
    assert_eq!(rows(&other, "/v1/usage/receipts"), Vec::<Json>::new());
    let secret = on(issue_operator(&database.store, "billing", false, 1)).expect("a token");
    let operator = Client::at(api.address, secret.reveal());
    assert_eq!(rows(&operator, "/v1/installation/receipts"), found);
    ann.get("/v1/usage/receipts?since=soon").problem(422, "22007");
    ann.get("/v1/usage/receipts?since=2020-01-01").problem(422, "22007");
    ann.get("/v1/usage/receipts?cursor=!").problem(400, "invalid_cursor");
    let found = after_deletion_of_trap(&database, &ann, &found);
    assert_csv_has(&database, found.len());
}
