//! Tenants do not see each other, whichever door they try; tokens, roles, suspension, the audit log.

mod audit;
mod canaries;
mod isolation;
mod lifecycle;
mod moving;
mod permissions;
mod placement;
mod quotas;
mod tokens;
mod usage;

use std::sync::Arc;

use serde_json::json;

use crate::support::database::sample_component;
use crate::support::http::{Api, Client};
use crate::support::program::{run, wed};
use crate::support::{Database, on};

/// Text that another tenant must never see.
const CANARY: &str = "canary";

/// Two tenants; the second has one of everything, all of it named after the bird.
struct Two {
    api: Api,
    /// An admin of the first.
    alpha: Client,
    /// An admin of the second.
    beta: Client,
    /// The id of a token of the second.
    token: String,
    /// Secret of the token.
    secret: String,
}

impl Two {
    fn new() -> Self {
        let database = Database::new();
        for name in ["alpha", "beta"] {
            on(database.store.create_tenant(name, "")).expect("a tenant");
        }
        // Each endpoint is asked several times.
        database.owner().run("UPDATE wed.quota SET requests_per_second = NULL");
        let api = Api::of(&database);
        let alpha = api.user("alpha", "admin", "admin");
        let beta = api.user("beta", "canary-user", "admin");
        let flow = json!({
            "name": "canary-flow", "description": "canary_description",
            "final": "canary_attribute = 'x'",
            "attribute": [{ "name": "canary_attribute", "default": "canary_value" }],
            "trigger": [{ "name": "canary_trigger", "when": "canary_attribute <> 'x'", "transition": "canary_step" }],
        });
        beta.json("PUT", "/v1/flows/canary-flow", &flow).is(201);
        beta.json("POST", "/v1/flows/canary-flow/instances", &json!({})).is(201);
        beta.upload("canary-component", sample_component("paper"), &[]).is(201);
        run(wed(&database.url())
            .args(["--tenant", "beta", "flow", "config", "set", "canary-flow"])
            .args(["canary_setting", "canary_set"]))
        .done();
        let made =
            beta.json("POST", "/v1/tokens", &json!({ "name": "canary-token", "scopes": ["read"] })).is(201).json();
        Two {
            token: made["id"].as_str().expect("an id").to_owned(),
            secret: made["secret"].as_str().expect("a secret").to_owned(),
            api,
            alpha,
            beta,
        }
    }

    fn database(&self) -> &Arc<Database> {
        &self.api.database
    }

    /// The second tenant's names, and for each one that nobody has, as long as it.
    fn names(&self) -> [(&'static str, String, String); 21] {
        [
            ("flow", "canary-flow".into(), "absent-flow".into()),
            ("wid", "1".into(), "1".into()),
            ("trigger", "canary_trigger".into(), "absent_trigger".into()),
            ("component", "canary-component".into(), "absent-component".into()),
            ("version", "1".into(), "1".into()),
            ("user", "canary-user".into(), "absent-user".into()),
            ("token", self.token.clone(), "wed_absent00".into()),
            ("schedule", "canary-schedule".into(), "absent-schedule".into()),
            ("item", "1".into(), "1".into()),
            ("act", "select".into(), "select".into()),
            ("key", "canary_key".into(), "absent_key".into()),
            ("secret", "canary_secret".into(), "absent_secret".into()),
            ("attachment", "1".into(), "1".into()),
            ("attempt", "1".into(), "1".into()),
            ("calendar", "other-calendar".into(), "absent-calendar".into()),
            ("role", "other-role".into(), "absent-role".into()),
            ("tenant", "beta".into(), "none".into()),
            ("cluster", "one-cluster".into(), "absent-cluster".into()),
            ("webhook", "wh_1".into(), "wh_2".into()),
            ("hook", "canary-hook".into(), "absent-hook".into()),
            ("address", "hk_1".into(), "hk_2".into()),
        ]
    }
}
