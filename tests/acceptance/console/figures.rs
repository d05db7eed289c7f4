//! Figures of the console: exact while there are few, bounded in cost when there are many.

use std::sync::Arc;

use serde_json::Value as Json;
use wedflow_console::Links;

use super::{break_instance, page, served, with_exception};
use crate::support::Database;
use crate::support::database::TENANT;
use crate::support::http::{Api, Client};

fn watched() -> (Api, Client) {
    let api = served(&Links::default());
    let client = api.user(TENANT, "ann", "admin");
    with_exception(&client, "f", 3);
    (api, client)
}

fn flow_id(database: &Arc<Database>) -> i64 {
    database.owner().number("SELECT flow_id FROM wed.flow WHERE name = 'f'")
}

/// Sum of the attempts of a flow's last hour with an outcome.
fn sum(hour: &Json, outcome: &str) -> i64 {
    let minutes = hour["flows"][0]["attempts"][outcome].as_array();
    minutes.into_iter().flatten().filter_map(Json::as_i64).sum()
}

#[harness::test]
fn last_hour_counts_commits_and_failures_of_each_minute() {
    let (api, client) = watched();
    break_instance(&client, "f", 2);
    let flow_id = flow_id(&api.database);
    api.database.owner().run(&format!(
        "INSERT INTO wed.attempt (flow_id, wid, tgid, trname, attempt, outcome, message, writer, tstmp)
         SELECT {flow_id}, 1, 1, 'tr_a2', 1, 'trapped', 'x', 'host', clock_timestamp() - n * interval '1 hour'
         FROM generate_series(0, 2) n"
    ));
    let hour = client.get("/v1/last-hour").is(200).json();
    let committed = api.database.owner().number("SELECT count(*) FROM wed.trace");
    assert_eq!(hour["sampled"], false);
    assert_eq!(sum(&hour, "committed"), committed, "{hour}");
    // The two of earlier hours are not of this one.
    assert_eq!(sum(&hour, "trapped"), 1, "{hour}");
    let drawn = page(&client, "/console/last-hour").is(200).text;
    assert!(drawn.contains("<svg") && drawn.contains("trapped"), "{drawn}");
}

#[harness::test]
fn busy_hour_is_read_at_spots_and_says_so() {
    let (api, client) = watched();
    let flow_id = flow_id(&api.database);
    api.database.owner().run(&format!(
        "INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, writer)
         SELECT {flow_id}, 1, n + 1, 'R', 'tr_a2', '{{}}', repeat('x', 500),
           date_trunc('minute', now()) - interval '59 minutes' + n * interval '200 ms', 'host'
         FROM generate_series(1, 17000) n"
    ));
    let hour = client.get("/v1/last-hour").is(200).json();
    assert_eq!(hour["sampled"], true);
    let committed = sum(&hour, "committed");
    assert!((14_000..20_000).contains(&committed), "{committed}");
    let drawn = page(&client, "/console/last-hour/live").is(200).text;
    assert!(drawn.contains("sample"), "{drawn}");
}

#[harness::test]
fn large_flow_is_estimated_and_its_exceptions_are_counted() {
    let (api, client) = watched();
    break_instance(&client, "f", 2);
    let few = client.get("/v1/flows/f").is(200).json();
    assert_eq!((&few["exception"], &few["estimated"]), (&1.into(), &false.into()));
    let flow_id = flow_id(&api.database);
    api.database.owner().run(&format!(
        "SET session_replication_role = replica;
         INSERT INTO wed.instance (flow_id, wid, status)
         SELECT {flow_id}, 10 + n, (CASE WHEN n % 1000 = 0 THEN 'E' ELSE 'F' END)::\"char\" FROM generate_series(1, 12000) n;
         SET session_replication_role = DEFAULT;
         ANALYZE wed.instance"
    ));
    let many = client.get("/v1/flows/f").is(200).json();
    assert_eq!((&many["exception"], &many["estimated"]), (&13.into(), &true.into()));
    let ended = many["final"].as_i64().unwrap_or_default();
    assert!((11_000..13_000).contains(&ended), "{many}");
    assert!(page(&client, "/console").is(200).text.contains('≈'));
}
