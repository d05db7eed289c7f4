//! Lists: in parts, bounded, filtered.

use serde_json::{Value as Json, json};

use super::{steps, with_steps};

#[harness::test]
fn lists_come_in_parts() {
    let (_api, client) = with_steps();
    for n in 0..5 {
        let state = json!({ "state": { "n": n % 3 } });
        client.json("POST", "/v1/flows/steps/instances", &state).is(201);
    }
    for (list, key) in [("instances", "wid"), ("jobs", "wid")] {
        let (mut seen, mut next) = (Vec::new(), String::new());
        loop {
            let part = client.get(&format!("/v1/flows/steps/{list}?limit=2{next}")).is(200).json();
            let items = part["items"].as_array().expect("entries").clone();
            assert!(items.len() <= 2);
            seen.extend(items.iter().filter_map(|item| item[key].as_i64()));
            match part["next"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => break,
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3, 4, 5], "{list}");
    }
    let finals = client.get("/v1/flows/steps/instances?status=final").is(200).json();
    assert_eq!(finals["items"], json!([]));
    client.get("/v1/flows/steps/instances?limit=0").problem(400, "invalid_query");
    client.get("/v1/flows/steps/instances?cursor=nonsense").problem(400, "invalid_cursor");
    client.get("/v1/flows/steps/instances?colour=red").problem(400, "invalid_query");
}

#[harness::test]
fn whole_lists_come_in_parts_too() {
    let (_api, client) = with_steps();
    client.json("PUT", "/v1/flows/more", &steps("more")).is(201);
    let first = client.get("/v1/flows?limit=1").is(200).json();
    assert_eq!(first["items"][0]["name"], "more");
    let next = first["next"].as_str().expect("there is more");
    let rest = client.get(&format!("/v1/flows?cursor={next}")).is(200).json();
    assert_eq!(rest["items"][0]["name"], "steps");
    client.get("/v1/me?tenant=x").problem(400, "invalid_query");
}

#[harness::test]
fn a_part_of_a_list_is_bounded_in_bytes() {
    let (_api, client) = with_steps();
    for _ in 0..24 {
        let state = json!({ "state": { "remark": "x".repeat(200_000) } });
        client.json("POST", "/v1/flows/steps/instances", &state).is(201);
    }
    let path = "/v1/flows/steps/instances?limit=500";
    let first = client.get(path).is(200);
    assert!(first.text.len() < 5 << 20, "{}", first.text.len());
    let first = first.json();
    let next = first["next"].as_str().expect("there is more");
    let rest = client.get(&format!("{path}&cursor={next}")).is(200).json();
    let count = |part: &Json| part["items"].as_array().map_or(0, Vec::len);
    assert_eq!(count(&first) + count(&rest), 24);
}

#[harness::test]
fn instances_are_found_by_what_they_hold() {
    let (_api, client) = with_steps();
    for (n, remark) in [(0, "tea"), (1, "tea"), (1, "milk")] {
        let state = json!({ "state": { "n": n, "remark": remark } });
        client.json("POST", "/v1/flows/steps/instances", &state).is(201);
    }
    let found = |filter: &str| -> Vec<i64> {
        let path = format!("/v1/flows/steps/instances?{filter}");
        let items = client.get(&path).is(200).json()["items"].clone();
        let items = items.as_array().expect("entries").clone();
        items.iter().filter_map(|item| item["wid"].as_i64()).collect()
    };
    assert_eq!(found("state=%7B%22remark%22:%22tea%22%7D"), [2, 1]);
    assert_eq!(found("state=%7B%22remark%22:%22tea%22,%22n%22:1%7D"), [2]);
    assert_eq!(found("changed_since=2000-01-01T00:00:00Z"), [3, 2, 1]);
    assert_eq!(found("changed_since=2999-01-01T00:00:00Z"), [0; 0]);
    for (wrong, status, code) in [("state=tea", 422, "invalid_query"), ("changed_since=yore", 422, "22007")] {
        client.get(&format!("/v1/flows/steps/instances?{wrong}")).problem(status, code);
    }
}

#[harness::test]
fn document_nested_too_deeply_takes_no_list_with_it() {
    let database = crate::support::Database::new();
    let api = crate::support::http::Api::of(&database);
    let client = api.user(crate::support::database::TENANT, "ann", "developer");
    let mut flow = steps("deep");
    flow["attribute"].as_array_mut().expect("a list").push(json!({ "name": "j", "type": "jsonb" }));
    client.json("PUT", "/v1/flows/deep", &flow).is(201);
    let deep = format!("{}1{}", "[".repeat(101), "]".repeat(101));
    let state: Json = serde_json::from_str(&format!(r#"{{"state": {{"j": {deep}}}}}"#)).expect("a document");
    client.json("POST", "/v1/flows/deep/instances", &state).problem(422, "WF035");
    client.json("POST", "/v1/flows/deep/instances", &json!({})).is(201);
    // From before the bound.
    let mut owner = database.owner();
    owner.run(&format!(
        "SET search_path = {}; SET session_replication_role = replica;
         DO $do$ BEGIN EXECUTE (SELECT 'ALTER TABLE wed_flow DROP CONSTRAINT ' || conname FROM pg_constraint
           WHERE conrelid = 'wed_flow'::regclass AND conname ~ '^depth'); END $do$;
         UPDATE wed_flow SET j = (repeat('[', 200) || repeat(']', 200))::jsonb;
         UPDATE wed.trace SET state = jsonb_build_object('j', (repeat('[', 200) || repeat(']', 200))::jsonb)",
        owner_schema(&database)
    ));
    client.json("POST", "/v1/flows/deep/instances", &json!({})).is(201);
    let list = client.get("/v1/flows/deep/instances").is(200).json();
    let wids: Vec<i64> =
        (list["items"].as_array().into_iter().flatten()).filter_map(|item| item["wid"].as_i64()).collect();
    assert_eq!(wids.len(), 2, "{list}");
    let wid = wids.iter().min().expect("two");
    let trace = client.get(&format!("/v1/flows/deep/instances/{wid}/trace")).is(200).json();
    assert!(trace["items"][0]["state"]["unreadable"].is_string(), "{trace}");
}

fn owner_schema(database: &std::sync::Arc<crate::support::Database>) -> String {
    database.owner().line("SELECT schema_name FROM wed.flow")
}

#[harness::test]
fn lists_refuse_parameters_that_they_do_not_have() {
    let (_api, client) = with_steps();
    for list in [
        "flows",
        "webhooks",
        "pauses",
        "flows/steps/schedules",
        "flows/steps/versions",
        "flows/steps/order",
        "flows/steps/resources",
        "flows/steps/reservations",
        "work/calendars",
        "me",
        "usage",
        "settings",
        "flows/steps",
        "flows/steps/secrets",
    ] {
        client.get(&format!("/v1/{list}?colour=red")).problem(400, "invalid_query");
    }
}

#[harness::test]
fn versions_and_webhooks_come_in_parts() {
    let (_api, client) = with_steps();
    let mut flow = steps("steps");
    for n in 0..3 {
        flow["description"] = format!("number {n}").into();
        client.json("PUT", "/v1/flows/steps", &flow).is(200);
    }
    let (mut versions, mut next) = (Vec::new(), String::new());
    loop {
        let part = client.get(&format!("/v1/flows/steps/versions?limit=1{next}"));
        let part = part.is(200).json();
        assert!(part["items"].as_array().is_some_and(|items| items.len() <= 1));
        versions.extend(part["items"][0]["version"].as_i64());
        match part["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(versions.len(), 4);
    assert!(versions.is_sorted_by(|one, other| one > other), "{versions:?}");
}

#[harness::test]
fn instances_are_found_by_condition_time_and_transition() {
    let (_api, client) = with_steps();
    for n in 0..5 {
        let state = json!({ "state": { "n": n, "remark": format!("it's {n}") } });
        client.json("POST", "/v1/flows/steps/instances", &state).is(201);
    }
    let found = |query: &str| -> Vec<i64> {
        let list = client.get(&format!("/v1/flows/steps/instances?{query}"));
        let list = list.is(200).json();
        let items = list["items"].as_array().into_iter().flatten();
        items.filter_map(|item| item["wid"].as_i64()).collect()
    };
    assert_eq!(found("where=n%20%3E%202"), [5, 4]);
    assert_eq!(found("where=n%20%3E%200%20AND%20remark%20LIKE%20'%252'&order=oldest"), [3]);
    assert_eq!(found("transition=step&order=oldest"), [1, 2, 3]);
    assert_eq!(found("started_before=2020-01-01T00:00:00Z"), [0; 0]);
    assert_eq!(found("started_since=2020-01-01T00:00:00Z&limit=2&order=oldest"), [1, 2]);
    client.get("/v1/flows/steps/instances?state=%7B%22nosuch%22:1%7D").problem(422, "42703");
    client.get("/v1/flows/a%00b").problem(404, "not_found");
    let count = client.get("/v1/flows/steps/instances/count?where=n%20%3C%203");
    assert_eq!(count.is(200).json()["count"], 3);
}

#[harness::test]
fn condition_of_a_query_is_held_against_the_guard() {
    let (_api, client) = with_steps();
    for (condition, code) in [
        ("n%20%3E", "42601"),
        ("colour%20%3D%201", "42703"),
        ("(SELECT%20true)", "WF011"),
        ("pg_sleep(1)%20IS%20NULL", "WF011"),
        ("n%20%3D%201)%20OR%20(true", "42601"),
    ] {
        for list in ["instances", "instances/count"] {
            let answer = client.get(&format!("/v1/flows/steps/{list}?where={condition}"));
            answer.problem(422, code);
        }
    }
}
