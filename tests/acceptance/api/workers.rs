//! Workers over HTTP: claims, leases, results, and what is refused.

use serde_json::{Value as Json, json};

use super::{steps, with_steps};
use crate::support::database::{TENANT, one_lane};
use crate::support::http::{Answered, Api, Client};
use crate::support::on;

const CLAIM: &str = "/v1/flows/steps/jobs/claim";
const INSTANCES: &str = "/v1/flows/steps/instances";

/// Claims a job of the flow.
fn claim(client: &Client) -> Vec<Json> {
    let claim = json!({ "worker": "w-1", "transitions": ["step"], "jobs": 5, "seconds": 60 });
    let leased = client.json("POST", CLAIM, &claim).is(200).json();
    leased["items"].as_array().expect("jobs").clone()
}

/// Acts on the job of an instance.
fn act(client: &Client, wid: i64, act: &str, document: &Json) -> Answered {
    let path = format!("{INSTANCES}/{wid}/jobs/t/{act}");
    client.json("POST", &path, document)
}

/// A flow with an instance, a developer, and a host that runs no component of it.
fn with_instance() -> (Api, Client) {
    let (api, client) = with_steps();
    client.json("POST", INSTANCES, &json!({})).is(201);
    (api, client)
}

#[harness::test]
fn worker_claims_extends_and_completes_a_job() {
    let (api, client) = with_instance();
    let host = api.database.host(one_lane("none"));
    let worker = api.token(TENANT, "ann", "worker", &["workers:write".parse().expect("a scope")]);
    let jobs = claim(&worker);
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    let job = &jobs[0];
    assert_eq!(
        (&job["wid"], &job["trigger"], &job["transition"], &job["attempt"]),
        (&json!(1), &json!("t"), &json!("step"), &json!(1))
    );
    assert_eq!(job["state"], json!({ "n": 0, "remark": null }));
    assert_eq!(claim(&worker), Vec::<Json>::new(), "it is leased");
    let lease = &job["lease"];
    let extended = act(&worker, 1, "extend", &json!({ "lease": lease, "seconds": 600 }));
    assert!(extended.is(200).json()["lease_ends"].as_str() > job["lease_ends"].as_str());
    let listed = client.get("/v1/flows/steps/jobs").is(200).json();
    assert_eq!(listed["items"][0]["running"], true, "{listed}");

    let result = json!({ "lease": lease, "state": { "n": 1, "remark": "by hand" } });
    let done = act(&worker, 1, "complete", &result).is(200).json();
    assert_eq!(done, json!({ "wid": 1, "status": "regular", "seq": 2 }));
    assert_eq!(act(&worker, 1, "complete", &result).is(200).json(), done, "once");
    act(&worker, 1, "complete", &json!({ "lease": lease, "state": { "n": 2 } })).problem(422, "WF046");

    // What it fired is the next job; a clause is evaluated by the gate.
    let next = claim(&worker)[0]["lease"].clone();
    act(&worker, 1, "complete", &json!({ "lease": next, "clause": "n = n + 2" })).is(200);
    let trace = client.get(&format!("{INSTANCES}/1/trace")).is(200).json();
    let rows = trace["items"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1]["writer"], "token:ann/worker");
    assert_eq!((&rows[2]["status"], &rows[2]["state"]["n"]), (&json!("final"), &json!(3)));
    on(host.stop());
}

#[harness::test]
fn lost_worker_gives_its_jobs_back_with_their_progress() {
    let (api, client) = with_instance();
    let lost = claim(&client)[0]["lease"].clone();
    act(&client, 1, "extend", &json!({ "lease": lost, "progress": { "page": 3 } })).is(200);
    // Its time passes.
    let mut owner = api.database.owner();
    owner.run("UPDATE wed.job SET lease_ends = clock_timestamp() - interval '1 second' WHERE host_id = 0");
    let late = json!({ "lease": lost, "state": { "n": 1 } });
    act(&client, 1, "complete", &late).problem(409, "WF026");
    assert_eq!(owner.chores("abandoned"), 1);
    let job = claim(&client).pop().expect("the job is free again");
    assert_eq!((&job["attempt"], &job["progress"]), (&json!(2), &json!({ "page": 3 })));
    assert_ne!(job["lease"], lost);
    for document in [&late, &json!({ "lease": lost, "state": { "n": 2 } })] {
        act(&client, 1, "complete", document).problem(409, "WF026");
    }
    act(&client, 1, "extend", &json!({ "lease": lost })).problem(409, "WF026");
    act(&client, 1, "fail", &json!({ "lease": lost, "message": "x" })).problem(409, "WF026");
    act(&client, 1, "complete", &json!({ "lease": job["lease"], "state": { "n": 3 } })).is(200);
    let attempts = client.get(&format!("{INSTANCES}/1/attempts")).is(200).json();
    assert_eq!(attempts["items"][0]["outcome"], "abandoned", "{attempts}");
}

#[harness::test]
fn failed_job_is_tried_again_and_then_an_exception() {
    let (_api, client) = with_instance();
    let first = claim(&client)[0]["lease"].clone();
    let failure = json!({ "lease": first, "message": "the printer is out of paper", "after": 0 });
    let failed = act(&client, 1, "fail", &failure).is(200).json();
    assert_eq!(failed["status"], "regular");
    assert!(failed["again_at"].is_string(), "{failed}");
    assert_eq!(act(&client, 1, "fail", &failure).is(200).json(), failed, "once");
    let again = claim(&client);
    let last = json!({ "lease": again[0]["lease"], "message": "no printer", "retry": false });
    let failed = act(&client, 1, "fail", &last).is(200).json();
    assert_eq!(failed, json!({ "wid": 1, "status": "exception", "again_at": null }));
    let instance = client.get(&format!("{INSTANCES}/1")).is(200).json();
    assert!(instance["reason"].as_str().is_some_and(|reason| reason.contains("no printer")));
}

#[harness::test]
fn claim_waits_for_a_job() {
    let (_api, client) = with_steps();
    let waiting = client.clone();
    let waits = std::thread::spawn(move || {
        let claim = json!({ "worker": "w", "transitions": ["step"], "wait": 20 });
        waiting.json("POST", CLAIM, &claim).is(200).json()
    });
    client.json("POST", INSTANCES, &json!({})).is(201);
    let leased = waits.join().expect("an answer");
    assert_eq!(leased["items"][0]["wid"], 1, "{leased}");
    let long = json!({ "worker": "w", "transitions": ["step"], "wait": 21 });
    client.json("POST", CLAIM, &long).problem(400, "invalid_query");
}

#[harness::test]
fn worker_does_no_more_than_its_lease_and_its_trigger_allow() {
    let (_api, client) = with_instance();
    let lease = claim(&client)[0]["lease"].clone();
    let with = |more: Json| {
        let mut document = json!({ "lease": lease });
        document.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        document
    };
    for refused in [
        json!({ "state": {} }),
        json!({ "state": { "nothing": 1 } }),
        json!({ "state": { "n": [1] } }),
        json!({ "clause": "n = (SELECT 1)" }),
        json!({ "clause": "n = pg_sleep(1)" }),
        json!({ "clause": "n = 1; DROP TABLE wed_flow" }),
    ] {
        act(&client, 1, "complete", &with(refused)).problem(422, "refused");
    }
    act(&client, 1, "complete", &with(json!({ "state": { "n": "one" } }))).problem(422, "22P02");
    act(&client, 1, "complete", &with(json!({}))).problem(422, "invalid_document");
    let both = json!({ "state": { "n": 1 }, "clause": "n = 1" });
    act(&client, 1, "complete", &with(both)).problem(422, "invalid_document");
    let long = json!({ "progress": { "x": "x".repeat(20_000) } });
    act(&client, 1, "extend", &with(long)).problem(422, "22023");
    let result = with(json!({ "state": { "n": 1 } }));
    act(&client, 2, "complete", &result).problem(409, "WF026");
    let wrong = json!({ "lease": -1, "state": { "n": 1 } });
    act(&client, 1, "complete", &wrong).problem(409, "WF026");
    let path = format!("{INSTANCES}/1/jobs/none/complete");
    client.json("POST", &path, &result).problem(404, "not_found");
    let headers = [("content-type", "application/json")];
    client.send("POST", CLAIM, &headers, b"{\"worker\"").problem(400, "invalid_json");
    let huge = format!("{{\"worker\": \"{}\"}}", "x".repeat(2 << 20));
    client.send("POST", CLAIM, &headers, huge.as_bytes()).problem(413, "too_large");
    for claim in [
        json!({ "worker": "", "transitions": ["step"] }),
        json!({ "worker": "w", "transitions": [] }),
        json!({ "worker": "w", "transitions": ["step"], "jobs": 101 }),
        json!({ "worker": "w", "transitions": ["step"], "seconds": 0 }),
    ] {
        client.json("POST", CLAIM, &claim).problem(422, "invalid_document");
    }
}

#[harness::test]
fn job_is_nobodys_but_of_workers_of_its_tenant() {
    let (api, client) = with_instance();
    let result = json!({ "lease": claim(&client)[0]["lease"], "state": { "n": 1 } });
    let asked = json!({ "worker": "w", "transitions": ["step"] });
    client.without_token().json("POST", CLAIM, &asked).problem(401, "no_token");
    let participant = api.user(TENANT, "bob", "participant");
    participant.json("POST", CLAIM, &asked).problem(403, "not_permitted");
    act(&participant, 1, "complete", &result).problem(403, "not_permitted");
    on(api.database.store.create_tenant("other", "")).expect("a tenant");
    let other = api.user("other", "eve", "developer");
    other.json("POST", CLAIM, &asked).problem(404, "not_found");
    act(&other, 1, "complete", &result).problem(404, "not_found");
    // One of the other tenant's own that has the same numbers.
    other.json("PUT", "/v1/flows/steps", &steps("steps")).is(201);
    other.json("POST", INSTANCES, &json!({})).is(201);
    act(&other, 1, "complete", &result).problem(409, "WF026");
    act(&client, 1, "complete", &result).is(200);
}

#[harness::test]
fn worker_that_may_not_operate_serves_no_exception() {
    let (api, client) = with_instance();
    let job = &claim(&client)[0];
    let lease = json!({ "lease": job["lease"], "message": "broken", "retry": false });
    act(&client, 1, "fail", &lease).is(200);
    let worker = api.token(TENANT, "ann", "w", &["workers:write".parse().expect("a scope")]);
    let asked = json!({ "worker": "w", "transitions": ["_EXCPT"] });
    worker.json("POST", CLAIM, &asked).problem(403, "not_permitted");
    let served = client.json("POST", CLAIM, &asked).is(200).json();
    assert_eq!(served["items"].as_array().map(Vec::len), Some(1), "{served}");
}
