//! Schedules, settings and hooks: what is refused is blamed on what is wrong with it, and a key makes a backfill once.

use serde_json::{Value as Json, json};

use super::with_steps;

fn said(problem: &Json) -> String {
    format!("{} {}", problem["detail"], problem["hint"])
}

#[harness::test]
fn backfill_under_one_key_starts_its_instances_once() {
    let (_api, client) = with_steps();
    let schedule = "/v1/flows/steps/schedules/s";
    client.json("PUT", schedule, &json!({ "cron": "0 9 * * *" })).is(204);
    let backfill = |until: &str| {
        let span = json!({ "from": "2026-03-01T00:00:00Z", "until": until });
        client.send(
            "POST",
            &format!("{schedule}/backfill"),
            &[("content-type", "application/json"), ("idempotency-key", "b-1")],
            span.to_string().as_bytes(),
        )
    };
    let first = backfill("2026-03-03T00:00:00Z").is(200);
    assert_eq!(first.json(), json!({ "started": [1, 2] }));
    let again = backfill("2026-03-03T00:00:00Z").is(200);
    assert_eq!(again.json(), first.json());
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_ne!(backfill("2026-03-04T00:00:00Z").status, 200, "another span");
    let listed = client.get("/v1/flows/steps/instances").is(200).json();
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(2), "{listed}");
    let span = json!({ "from": "5001-01-01T00:00:00Z", "until": "5002-01-01T00:00:00Z" });
    let far = client.json("POST", &format!("{schedule}/backfill"), &span);
    assert!(said(&far.problem(422, "WF044")).contains("year 5000"));
}

#[harness::test]
fn refusal_blames_the_value_and_not_the_name() {
    let (_api, client) = with_steps();
    let refused = |path: &str, document: Json, words: &str| {
        let answer = client.json("PUT", &format!("/v1/flows/steps/{path}"), &document);
        assert_eq!(answer.status, 422, "{path}");
        let told = said(&answer.json());
        assert!(told.contains(words), "{path}: {told}");
    };
    let cron = "0 9 * * *";
    refused("schedules/s", json!({ "cron": cron, "missed": "never" }), "skip, one or all");
    refused("schedules/s", json!({ "cron": cron, "overlap": "never" }), "start or skip");
    let long = format!("0 {} * * *", vec!["9"; 200].join(","));
    refused("schedules/s", json!({ "cron": long }), "and 200 are allowed");
    refused("schedules/S!", json!({ "cron": cron }), "the schedule name");
    refused("config/k", json!({ "value": "v".repeat(70_000) }), "more than 64 KiB");
    refused("config/k!", json!({ "value": "v" }), "the setting name");
    let hook = json!({ "scheme": "github", "acts": "start", "attributes": {} });
    refused("hooks/H!", hook, "the hook name");
    refused("secrets/key", json!({ "transitions": ["none"] }), "no transition");
}
