//! The installation over HTTP: tenants, limits, hosts, retention, for tokens of operators alone.

use serde_json::json;
use wedflow_tenancy::issue_operator;

use super::with_steps;
use crate::support::http::{Api, Client};
use crate::support::{Database, on};

fn operator(api: &Api, name: &str, may_write: bool) -> Client {
    let secret = on(issue_operator(&api.database.store, name, may_write, 1)).expect("a token");
    Client::at(api.address, secret.reveal())
}

#[harness::test]
fn operator_makes_a_tenant_whose_admin_can_begin() {
    let api = Api::of(&Database::new());
    let operator = operator(&api, "portal", true);
    let new = json!({ "name": "acme", "description": "signed up", "admin": "ann" });
    let made = operator.json("POST", "/v1/installation/tenants", &new).is(201).json();
    let admin = Client::at(api.address, made["admin_token"].as_str().expect("a token"));
    assert_eq!(admin.get("/v1/me").is(200).json()["role"], "admin");
    let quotas = "/v1/installation/tenants/acme/quotas";
    let set = operator.json("PATCH", quotas, &json!({ "flows": 1, "jobs": null })).is(200).json();
    let flows = set["items"].as_array().into_iter().flatten().find(|quota| quota["name"] == "flows");
    assert_eq!(flows.map(|quota| &quota["allowed"]), Some(&1.into()));
    operator.json("PATCH", quotas, &json!({ "colours": 1 })).problem(422, "WF023");
    let tenant = "/v1/installation/tenants/acme";
    operator.json("PATCH", tenant, &json!({ "suspended": true })).is(200);
    admin.get("/v1/me").problem(403, "tenant_suspended");
    operator.delete(tenant).is(204);
    operator.get(tenant).problem(404, "not_found");
    let noted = api
        .database
        .owner()
        .line("SELECT count(*) FROM wed.audit WHERE actor = 'operator:portal' AND action LIKE 'tenant.%'");
    assert!(noted.parse::<i64>().is_ok_and(|noted| noted >= 4), "{noted}");
    // A tenant whose admin cannot be made is not left behind.
    operator.json("POST", "/v1/installation/tenants", &json!({ "name": "next", "admin": "No Name" })).is(422);
    operator.get("/v1/installation/tenants/next").problem(404, "not_found");
}

#[harness::test]
fn installation_is_for_operators_alone() {
    let (api, client) = with_steps();
    let admin = api.user("default", "root", "admin");
    for path in ["", "/tenants", "/hosts", "/retention", "/tenants/default/quotas"] {
        let path = format!("/v1/installation{path}");
        admin.get(&path).problem(403, "not_permitted");
        client.get(&path).problem(403, "not_permitted");
        api.nobody().get(&path).problem(401, "no_token");
        operator(&api, &format!("op{}", path.len()), false).get(&path).is(200);
    }
    let reader = operator(&api, "reader", false);
    reader.json("POST", "/v1/installation/tenants", &json!({ "name": "x" })).problem(403, "not_permitted");
    // An operator's token belongs to no tenant.
    reader.get("/v1/flows").problem(403, "not_permitted");
    on(api.database.store.revoke_operator("reader")).expect("revoked");
    reader.get("/v1/installation").problem(401, "invalid_token");
}

#[harness::test]
fn retention_is_set_over_http() {
    let api = Api::of(&Database::new());
    let operator = operator(&api, "ops", true);
    let path = "/v1/installation/retention";
    let set = operator.json("PATCH", path, &json!({ "trace": "90 days", "logs": null })).is(200).json();
    assert_eq!((&set["trace"], &set["logs"]), (&"P90D".into(), &serde_json::Value::Null));
    operator.json("PATCH", path, &json!({ "trace": "1 minute" })).is(422);
    operator.json("PATCH", path, &json!({ "colours": "1 day" })).problem(404, "not_found");
}
