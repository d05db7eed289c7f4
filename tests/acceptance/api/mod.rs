//! The HTTP API: what it answers, what it refuses, and how it says so.

mod bounds;
mod components;
mod definitions;
mod floods;
mod hooks;
mod installation;
mod instances;
mod keys;
mod lists;
mod previews;
mod requests;
mod schedules;
mod serving;
mod shares;
mod tenants;
mod watching;
mod workers;

use serde_json::{Value as Json, json};

use crate::support::Database;
use crate::support::database::TENANT;
use crate::support::http::{Api, Client};

/// Defines a flow with one attribute that one transition raises.
fn steps(name: &str) -> Json {
    json!({
        "name": name,
        "final": "n >= 3",
        "attribute": [{ "name": "n", "type": "integer", "default": "0" }, { "name": "remark" }],
        "trigger": [{ "name": "t", "when": "n < 3", "transition": "step" }],
    })
}

fn served() -> (Api, Client) {
    let api = Api::of(&Database::new());
    let client = api.user(TENANT, "ann", "developer");
    (api, client)
}

fn with_steps() -> (Api, Client) {
    let (api, client) = served();
    client.json("PUT", "/v1/flows/steps", &steps("steps")).is(201);
    (api, client)
}
