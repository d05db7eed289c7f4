//! A tenant's users, settings and secrets.

use serde_json::json;

use super::{steps, with_steps};
use crate::support::database::TENANT;
use crate::support::http::{Api, Client};
use crate::support::{Database, on};

#[harness::test]
fn the_last_admin_stays() {
    let api = Api::of(&Database::new());
    let admin = api.user(TENANT, "ann", "admin");
    let viewer = json!({ "role": "viewer" });
    admin.json("PATCH", "/v1/users/ann", &viewer).problem(409, "last_admin");
    admin.delete("/v1/users/ann").problem(409, "last_admin");
    admin.json("POST", "/v1/users", &json!({ "name": "bob", "role": "admin" })).is(201);
    admin.json("PATCH", "/v1/users/ann", &viewer).is(200);
}

fn secret_key() -> Option<wedflow_worker::SecretKey> {
    wedflow_worker::SecretKey::from_hex(&"5a".repeat(32)).ok()
}

/// The flow `steps` over an API that can seal secrets, and an admin.
fn with_secret_key() -> (Api, Client) {
    let api = Api::with(&Database::new(), |settings| {
        settings.find_secret_key = Some(secret_key);
    });
    let client = api.user(TENANT, "ann", "admin");
    client.json("PUT", "/v1/flows/steps", &steps("steps")).is(201);
    (api, client)
}

#[harness::test]
fn settings_are_kept_over_http() {
    let (_api, client) = with_secret_key();
    let setting = "/v1/flows/steps/config/url";
    client.json("PUT", setting, &json!({ "value": "https://a" })).is(204);
    client.json("PUT", setting, &json!({ "value": "https://b" })).is(204);
    assert_eq!(
        client.get("/v1/flows/steps/config").is(200).json()["items"],
        json!([{ "key": "url", "value": "https://b" }])
    );
    client.json("PUT", "/v1/flows/steps/config/a%20b", &json!({ "value": "x" })).problem(422, "23514");
    client.delete(setting).is(204);
    client.delete(setting).problem(404, "not_found");
    let audit = client.get("/v1/audit").is(200);
    assert!(audit.text.contains("flow.config.unset"), "{}", audit.text);
    assert!(!audit.text.contains("https://b"), "{}", audit.text);
}

#[harness::test]
fn secrets_are_sealed_over_http_and_never_shown() {
    let (api, client) = with_secret_key();
    let secret = "/v1/flows/steps/secrets/key";
    client.json("PUT", secret, &json!({ "transitions": ["step"] })).problem(404, "not_found");
    client.json("PUT", secret, &json!({ "value": "abc" })).problem(422, "invalid_document");
    let value = "canary-of-a-secret";
    client.json("PUT", secret, &json!({ "value": value, "transitions": ["step"] })).is(204);
    client.json("PUT", secret, &json!({ "senders": ["step"] })).is(204);
    let listed = client.get("/v1/flows/steps/secrets").is(200);
    assert_eq!(listed.json()["items"], json!([{ "name": "key", "transitions": ["step"], "senders": ["step"] }]));
    let flow = on(api.database.store.flow(TENANT, "steps")).expect("the flow");
    let sealed = on(api.database.store.secrets(flow.flow_id)).expect("secrets");
    let opened = secret_key().expect("a key").open(flow.flow_id, &sealed[0]);
    assert_eq!(opened.as_deref(), Ok(value));
    let audit = client.get("/v1/audit").is(200);
    assert!(audit.text.contains("flow.secret.set"), "{}", audit.text);
    assert!(!audit.text.contains(value), "{}", audit.text);
    client.delete(secret).is(204);
}

#[harness::test]
fn no_secret_is_taken_without_a_key_to_seal_it() {
    let api = Api::of(&Database::new());
    let client = api.user(TENANT, "ann", "developer");
    client.json("PUT", "/v1/flows/steps", &steps("steps")).is(201);
    client
        .json("PUT", "/v1/flows/steps/secrets/key", &json!({ "value": "canary-of-a-secret" }))
        .problem(409, "no_secret_key");
}

#[harness::test]
fn token_for_a_flow_is_for_nothing_else() {
    let (_api, client) = with_steps();
    client.json("PUT", "/v1/flows/more", &steps("more")).is(201);
    let new = json!({ "name": "one", "scopes": ["write"], "flows": ["steps"] });
    let made = client.json("POST", "/v1/tokens", &new).is(201).json();
    assert_eq!(made["flows"], json!(["steps"]));
    let limited = client.with_token(made["secret"].as_str().expect("a secret"));
    limited.get("/v1/me").is(200);
    limited.get("/v1/flows/steps").is(200);
    limited.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
    for path in [
        "/v1/flows",
        "/v1/flows/more",
        "/v1/flows/more/instances",
        "/v1/components",
        "/v1/tokens",
        "/v1/flows/%73teps",
        "/v1/work/items",
        "/v1/usage",
    ] {
        limited.get(path).problem(403, "not_permitted");
    }
    // Nor makes one that may do more.
    limited.json("POST", "/v1/tokens", &json!({ "name": "all", "scopes": ["write"] })).problem(403, "not_permitted");
}
