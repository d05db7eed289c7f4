//! Permissions of roles and scopes.

use serde_json::json;
use wedflow_tenancy::{Action, Area, Role, Scope};

use crate::support::Database;
use crate::support::http::{Answered, Api, Client};

/// A request for each action of the matrix, and whether it would do anything.
fn request_for(action: Action, client: &Client) -> Option<Answered> {
    let name = action.to_string();
    Some(match name.as_str() {
        "flows:read" => client.get("/v1/flows/none"),
        "flows:write" => client.delete("/v1/flows/none"),
        "instances:read" => client.get("/v1/flows/none/instances"),
        "instances:write" => client.json("POST", "/v1/flows/none/instances", &json!({})),
        "jobs:read" => client.get("/v1/flows/none/jobs"),
        "workers:write" => {
            client.json("POST", "/v1/flows/none/jobs/claim", &json!({ "worker": "w", "transitions": ["step"] }))
        }
        "components:read" => client.get("/v1/components/none"),
        "components:write" => client.upload("none", b"nothing", &[]),
        "activation:write" => client.json("POST", "/v1/components/none/rollback", &json!({})),
        "tokens:read" => client.get("/v1/tokens/none"),
        "tokens:write" => client.delete("/v1/tokens/none"),
        "all-tokens:write" => {
            client.json("POST", "/v1/tokens", &json!({ "name": "x", "user": "none", "scopes": ["read"] }))
        }
        "users:read" => client.get("/v1/users/none"),
        "users:write" => client.delete("/v1/users/none"),
        "settings:read" => client.get("/v1/settings"),
        "settings:write" => client.json("PATCH", "/v1/settings", &json!({})),
        "usage:read" => client.get("/v1/usage"),
        "audit:read" => client.get("/v1/audit"),
        _ => return None,
    })
}

fn all_actions() -> impl Iterator<Item = Action> {
    Area::ALL.iter().copied().flat_map(|area| [Action::read(area), Action::write(area)])
}

#[harness::test]
fn each_role_is_let_do_what_the_matrix_says() {
    let database = Database::new();
    let api = Api::of(&database);
    let mut asked = 0;
    for &role in Role::ALL {
        let client = api.user("default", role.name(), role.name());
        for action in all_actions() {
            let Some(answer) = request_for(action, &client) else {
                continue;
            };
            asked += 1;
            if role.may(action) {
                assert!(answer.status != 403 && answer.status < 500, "{role} {action}: {answer:?}");
            } else {
                answer.problem(403, "not_permitted");
            }
        }
    }
    assert_eq!(asked, 5 * 18);
}

#[harness::test]
fn a_token_does_no_more_than_its_scopes() {
    let database = Database::new();
    let api = Api::of(&database);
    api.user("default", "ann", "admin");
    let every: Vec<Action> = all_actions().collect();
    for (at, scope) in every.iter().map(ToString::to_string).enumerate() {
        let parsed: Scope = scope.parse().expect("a scope");
        let client = api.token("default", "ann", &format!("t{at}"), &[parsed]);
        for action in &every {
            // Whoever may write all tokens must still be let write one's own.
            if action.area == Area::AllTokens || parsed.to_string().starts_with("all-tokens") {
                continue;
            }
            let Some(answer) = request_for(*action, &client) else {
                continue;
            };
            assert_eq!(answer.status == 403, !parsed.allows(*action), "{scope} for {action}: {answer:?}");
        }
    }
}

#[harness::test]
fn a_token_makes_none_that_may_do_more() {
    let database = Database::new();
    let api = Api::of(&database);
    let admin = api.user("default", "ann", "admin");
    let narrow = api.token(
        "default",
        "ann",
        "narrow",
        &["tokens:write", "flows:read"].map(|scope| scope.parse().expect("a scope")),
    );
    let ask = |client: &Client, name: &str, scopes: &[&str]| {
        client.json("POST", "/v1/tokens", &json!({ "name": name, "scopes": scopes }))
    };
    ask(&narrow, "a", &["flows:read"]).is(201);
    for more in [&["flows:write"][..], &["read"], &["write"], &["flows:read", "jobs:read"]] {
        ask(&narrow, "b", more).problem(403, "not_permitted");
    }
    ask(&narrow, "b", &[]).problem(422, "invalid_document");
    ask(&narrow, "b", &["everything"]).problem(422, "invalid_document");
    // Nor by replacing one that may do more.
    let tokens = admin.get("/v1/tokens").is(200).json();
    let wide = tokens["items"]
        .as_array()
        .and_then(|items| items.iter().find(|token| token["name"] == "all"))
        .and_then(|token| token["id"].as_str())
        .expect("the wide one")
        .to_owned();
    narrow.json("POST", &format!("/v1/tokens/{wide}/rotate"), &json!({})).problem(403, "not_permitted");
    // Somebody else's tokens are not to be seen.
    let viewer = api.user("default", "bob", "viewer");
    viewer.get(&format!("/v1/tokens/{wide}")).problem(404, "not_found");
    viewer.delete(&format!("/v1/tokens/{wide}")).problem(404, "not_found");
    assert_eq!(viewer.get("/v1/tokens").is(200).json()["items"].as_array().map(Vec::len), Some(1));
    viewer
        .json("POST", "/v1/tokens", &json!({ "name": "x", "user": "ann", "scopes": ["read"] }))
        .problem(403, "not_permitted");
}
