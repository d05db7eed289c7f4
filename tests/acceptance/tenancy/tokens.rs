//! Tokens: made, rotated, revoked; kept as hashes.

use serde_json::json;

use super::Two;
use crate::support::Database;
use crate::support::http::{Api, Client};

#[harness::test]
fn a_token_is_rotated_with_both_live() {
    let database = Database::new();
    let api = Api::of(&database);
    let client = api.user("default", "ann", "developer");
    let id = client.get("/v1/me").is(200).json()["token"].clone();
    assert_eq!(id, "all");
    let id = client.get("/v1/tokens").is(200).json()["items"][0]["id"].clone();
    let rotate = format!("/v1/tokens/{}/rotate", id.as_str().expect("an id"));
    let new = client.json("POST", &rotate, &json!({})).is(201).json();
    assert_eq!((&new["name"], &new["scopes"]), (&json!("all"), &json!(["write"])));
    let next = client.with_token(new["secret"].as_str().expect("a secret"));
    client.get("/v1/flows").is(200);
    next.get("/v1/flows").is(200);
    // Not a third one.
    client.json("POST", &rotate, &json!({})).problem(422, "WF023");
    client.json("POST", "/v1/tokens", &json!({ "name": "all", "scopes": ["read"] })).problem(422, "WF023");
    next.delete(&format!("/v1/tokens/{}", id.as_str().expect("an id"))).is(204);
    client.get("/v1/flows").problem(401, "invalid_token");
    // At once, when that is asked for.
    let second = new["id"].as_str().expect("an id");
    let last = next.json("POST", &format!("/v1/tokens/{second}/rotate"), &json!({ "overlap_hours": 0 })).is(201).json();
    next.get("/v1/flows").problem(401, "invalid_token");
    next.with_token(last["secret"].as_str().expect("a secret")).get("/v1/flows").is(200);
    // A tenant's tokens live no longer than it allows.
    let admin = api.user("default", "eve", "admin");
    admin.json("PATCH", "/v1/settings", &json!({ "token_days": 7 })).is(200);
    admin.json("POST", "/v1/tokens", &json!({ "name": "long", "scopes": ["read"], "days": 8 })).problem(422, "WF023");
    admin.json("PATCH", "/v1/settings", &json!({ "token_days": 0 })).problem(422, "WF023");
}

#[harness::test]
fn a_token_is_shown_once_and_only_its_hash_is_kept() {
    let two = Two::new();
    let mut owner = two.database().owner();
    // Everything that any table holds.
    let tables = owner.lines(
        "SELECT format('%I.%I', table_schema, table_name) FROM information_schema.tables \
         WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'",
    );
    assert!(tables.len() > 20, "{tables:?}");
    let half = &two.secret[12..40];
    for table in tables {
        let found = owner.number(&format!("SELECT count(*) FROM {table} t WHERE to_jsonb(t)::text LIKE '%{half}%'"));
        assert_eq!(found, 0, "{table}");
    }
    let listed = two.beta.get("/v1/tokens").is(200);
    assert!(!listed.text.contains(half) && !listed.text.contains("hash"), "{listed:?}");
    // Its last use is put down, but not by every request.
    let used = two.beta.with_token(&two.secret);
    used.get("/v1/me").is(200);
    let last = "SELECT max(last_used)::text FROM wed.token WHERE name = 'canary-token'";
    let first = owner.line(last);
    assert_ne!(first, "·");
    used.get("/v1/me").is(200);
    assert_eq!(owner.line(last), first);
}

#[harness::test]
fn what_is_revoked_or_expired_or_another_role_holds_at_once() {
    let database = Database::new();
    let api = Api::of(&database);
    let admin = api.user("default", "ann", "admin");
    let bob = api.user("default", "bob", "viewer");
    let start = |client: &Client| client.json("POST", "/v1/flows/none/instances", &json!({}));
    start(&bob).problem(403, "not_permitted");
    admin.json("PATCH", "/v1/users/bob", &json!({ "role": "participant" })).is(200);
    start(&bob).problem(404, "not_found");
    admin.json("PATCH", "/v1/users/bob", &json!({ "role": "king" })).problem(422, "invalid_document");
    database.owner().run(
        "UPDATE wed.token SET expires_at = now() WHERE user_id = (SELECT user_id FROM wed.user \
     WHERE name = 'bob')",
    );
    let expired = bob.get("/v1/me").problem(401, "invalid_token");
    let unknown = wedflow_tenancy::Secret::random();
    let unknown = bob.with_token(unknown.reveal()).get("/v1/me").problem(401, "invalid_token");
    assert_eq!(expired["detail"], unknown["detail"], "which of them, is not told");
    let carol = api.user("default", "carol", "viewer");
    admin.delete("/v1/users/carol").is(204);
    carol.get("/v1/me").problem(401, "invalid_token");
}
