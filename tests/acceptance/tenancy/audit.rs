//! The audit log: complete, and only appended to.

use serde_json::json;

use super::Two;
use crate::support::database::TENANT;
use crate::support::http::Api;
use crate::support::program::{run, wed};
use crate::support::{Database, on};

/// Does what the audit log records, over HTTP and by hand.
fn do_everything(two: &Two, url: &str) {
    two.beta.json("POST", "/v1/users", &json!({ "name": "bob", "role": "viewer" })).is(201);
    two.beta.json("PATCH", "/v1/users/bob", &json!({ "role": "operator" })).is(200);
    two.beta.delete("/v1/users/bob").is(204);
    two.beta.json("PATCH", "/v1/settings", &json!({ "description": "Ours" })).is(200);
    let rotated = format!("/v1/tokens/{}/rotate", two.token);
    two.beta.json("POST", &rotated, &json!({})).is(201);
    two.beta.delete(&format!("/v1/tokens/{}", two.token)).is(204);
    let beta = |words: &[&str]| run(wed(url).args(["--tenant", "beta"]).args(words)).done();
    beta(&["flow", "create", "by-hand"]);
    beta(&["flow", "bind", "canary-flow", "canary_step", "canary-component"]);
    beta(&["flow", "rematch", "canary-flow", "--apply"]);
    beta(&["flow", "config", "set", "canary-flow", "key", "value"]);
    beta(&["instance", "start", "canary-flow"]);
    beta(&["flow", "drop", "by-hand", "--yes"]);
    two.beta.delete("/v1/flows/canary-flow").is(204);
}

#[harness::test]
fn everything_done_is_in_the_audit_log() {
    let two = Two::new();
    let url = two.database().url();
    do_everything(&two, &url);
    let entries = two.beta.get("/v1/audit?limit=500").is(200).json();
    let entries = entries["items"].as_array().expect("entries");
    let done: Vec<String> = entries
        .iter()
        .rev()
        .map(|entry| {
            format!(
                "{} {} {}",
                entry["actor"].as_str().unwrap_or_default(),
                entry["action"].as_str().unwrap_or_default(),
                entry["target"].as_str().unwrap_or_default()
            )
        })
        .collect();
    let by = "token:canary-user/all";
    let expected = [
        "operator tenant.create beta".to_owned(),
        "operator user.create canary-user".to_owned(),
        "operator token.create canary-user/all".to_owned(),
        format!("{by} flow.apply canary-flow"),
        format!("{by} instance.start canary-flow/1"),
        format!("{by} component.push canary-component"),
        "operator flow.config.set canary-flow/canary_setting".to_owned(),
        format!("{by} token.create canary-user/canary-token"),
        format!("{by} user.create bob"),
        format!("{by} user.role bob"),
        format!("{by} user.delete bob"),
        format!("{by} tenant.set beta"),
        format!("{by} token.rotate canary-user/canary-token"),
        format!("{by} token.revoke canary-user/canary-token"),
        "operator flow.apply by-hand".to_owned(),
        "operator flow.apply canary-flow".to_owned(),
        "operator flow.rematch canary-flow".to_owned(),
        "operator flow.config.set canary-flow/key".to_owned(),
        "operator instance.start canary-flow/2".to_owned(),
        "operator flow.delete by-hand".to_owned(),
        format!("{by} flow.delete canary-flow"),
    ];
    assert_eq!(done, expected);
    // No secret and no state is in it; the operator's is shown to the operator only.
    let text = serde_json::to_string(entries).expect("JSON");
    assert!(!text.contains("canary_value") && !text.contains(&two.secret), "{text}");
    let own = run(wed(&url).args(["--json", "audit", "--all"])).done();
    assert!(own.out.contains("operator:"), "{own:?}");
    // What is refused is not done, and reading is not doing.
    let count = entries.len();
    two.beta.delete("/v1/flows/none").is(404);
    two.beta.get("/v1/flows").is(200);
    let after = two.beta.get("/v1/audit?limit=500").is(200).json();
    assert_eq!(after["items"].as_array().map(Vec::len), Some(count));
    let none = two.beta.get("/v1/audit?since=2999-01-01").is(200).json();
    assert_eq!(none["items"], json!([]));
    let some = two.beta.get("/v1/audit?since=1%20hour").is(200).json();
    assert!(some["items"].as_array().is_some_and(|items| !items.is_empty()));
    two.beta.get("/v1/audit?since=yore").problem(422, "22007");
}

#[harness::test]
fn the_audit_log_is_only_appended_to() {
    let database = Database::new();
    on(database.store.create_tenant("alpha", "")).expect("a tenant");
    let mut owner = database.owner();
    for statement in [
        "UPDATE wed.audit SET actor = 'nobody'",
        "DELETE FROM wed.audit",
        "TRUNCATE wed.audit",
        "SELECT wed.forget_audit('me', '29 days')",
    ] {
        owner.refused(statement).expect("WF022");
    }
    let count = owner.number("SELECT count(*) FROM wed.audit");
    let forgotten = run(wed(&database.url()).args(["--json", "audit", "--forget", "30 days"])).done();
    assert_eq!(forgotten.json(), json!({ "forgotten": 0 }));
    run(wed(&database.url()).args(["audit", "--forget", "1 day"])).exits(4);
    // To forget is on record as well.
    assert_eq!(owner.number("SELECT count(*) FROM wed.audit"), count + 1);
}

#[harness::test]
fn entries_name_token_and_request_and_denials_are_on_record() {
    let api = Api::of(&Database::new());
    let admin = api.user(TENANT, "ann", "admin");
    let viewer = api.user(TENANT, "bob", "viewer");
    let entry = |action: &str| {
        let entries = admin.get("/v1/audit?limit=500").is(200).json();
        let entries = entries["items"].as_array().expect("entries").clone();
        let found: Vec<_> = (entries.into_iter()).filter(|entry| entry["action"] == action).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    };
    let made = admin.json("POST", "/v1/users", &json!({ "name": "carl", "role": "viewer" })).is(201);
    let created = api
        .database
        .owner()
        .line("SELECT detail ->> 'request' FROM wed.audit WHERE action = 'user.create' AND target = 'carl'");
    assert_eq!(made.header("x-request-id"), Some(created.as_str()));
    let by = api
        .database
        .owner()
        .line("SELECT detail ->> 'token' FROM wed.audit WHERE action = 'user.create' AND target = 'carl'");
    let of_ann = api
        .database
        .owner()
        .line("SELECT prefix FROM wed.token JOIN wed.\"user\" USING (user_id) WHERE \"user\".name = 'ann'");
    assert_eq!(by, of_ann);
    // Denied: on record once, however often it is tried.
    for _ in 0..3 {
        viewer.delete("/v1/users/carl").problem(403, "not_permitted");
    }
    let denied = entry("request.denied");
    assert_eq!(denied["actor"], "token:bob/all");
    assert_eq!(denied["target"], "DELETE /v1/users/{user}");
}

/// A flow whose transition takes from a stock.
fn shop() -> serde_json::Value {
    json!({
        "name": "shop",
        "final": "sold AND seen",
        "attribute": [
            { "name": "sold", "type": "boolean", "default": "false" },
            { "name": "seen", "type": "boolean", "default": "false" },
        ],
        "trigger": [
            { "name": "s", "when": "NOT sold", "transition": "sell", "reserves": "'M1'", "quantity": "1" },
            { "name": "t", "when": "NOT seen", "transition": "see", "work": { "type": "manual", "role": "clerk" } },
        ],
    })
}

#[harness::test]
fn no_entry_of_what_is_done_over_http_lacks_token_and_request() {
    let api = Api::of(&Database::new());
    let admin = api.user(TENANT, "ann", "admin");
    let mut owner = api.database.owner();
    let before = owner.number("SELECT max(audit_id) FROM wed.audit");
    let nothing = json!({});
    let why = json!({ "reason": "why" });
    let stock = json!({ "key": "M1", "capacity": 10 });
    let order = json!({ "trigger": "t", "after": "s" });
    let nightly = json!({ "cron": "0 3 * * *", "state": {} });
    let hook = json!({ "url": "https://example.com/hook" });
    let done = [
        ("PUT", "/v1/flows/shop", &shop()),
        ("PUT", "/v1/flows/shop/resources", &stock),
        ("POST", "/v1/flows/shop/order", &order),
        ("POST", "/v1/flows/shop/order/drop", &order),
        ("PUT", "/v1/flows/shop/schedules/nightly", &nightly),
        ("POST", "/v1/flows/shop/schedules/nightly/pause", &nothing),
        ("POST", "/v1/flows/shop/schedules/nightly/resume", &nothing),
        ("DELETE", "/v1/flows/shop/schedules/nightly", &nothing),
        ("PUT", "/v1/work/people/ann", &json!({ "roles": ["clerk"] })),
        ("POST", "/v1/work/processes", &json!({ "flow": "shop" })),
        ("POST", "/v1/flows/shop/instances/1/pause", &why),
        ("POST", "/v1/flows/shop/instances/1/resume", &why),
        ("POST", "/v1/flows/shop/pause", &why),
        ("POST", "/v1/flows/shop/resume", &why),
        ("POST", "/v1/flows/shop/instances/1/skip", &json!({ "transition": "see", "reason": "why" })),
        ("POST", "/v1/flows/shop/instances/1/cancel", &why),
        ("PUT", "/v1/webhooks", &hook),
        ("DELETE", "/v1/webhooks", &hook),
        ("DELETE", "/v1/work/people/ann", &nothing),
        ("DELETE", "/v1/flows/shop", &nothing),
    ];
    for (method, path, document) in done {
        let answer = admin.json(method, path, document);
        assert!(answer.status < 300, "{method} {path}: {}", answer.text);
    }
    let entries = format!("FROM wed.audit WHERE audit_id > {before}");
    let noted = owner.number(&format!("SELECT count(DISTINCT action) {entries}"));
    assert!(noted >= 17, "{noted}");
    let lacking =
        format!("SELECT coalesce(string_agg(action, ' '), '') {entries} AND NOT detail ?& '{{token,request}}'");
    assert_eq!(owner.line(&lacking), "");
    // No function writes an entry by itself.
    let by_itself = "SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc WHERE prosrc ~ 'INTO wed\\.audit'";
    assert_eq!(owner.line(by_itself), "note note_flow");
}
