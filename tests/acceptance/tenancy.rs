//! Tenants do not see each other, whichever door they try; tokens, roles, suspension, the audit log.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use wedflow_tenancy::{Action, Area, Role, Scope};

use crate::support::database::{one_lane, sample_component};
use crate::support::http::{Answered, Api, Client};
use crate::support::program::{Answer, run, wed};
use crate::support::{Database, Session, eventually, on, repository, trials};

trials![
    another_tenants_things_are_as_good_as_missing,
    another_tenants_things_are_as_good_as_missing_for_the_command_line,
    equal_names_of_two_tenants_are_two_things,
    each_role_is_let_do_what_the_matrix_says,
    a_token_does_no_more_than_its_scopes,
    a_token_makes_none_that_may_do_more,
    a_token_is_rotated_with_both_live,
    a_token_is_shown_once_and_only_its_hash_is_kept,
    what_is_revoked_or_expired_or_another_role_holds_at_once,
    a_suspended_tenant_rests_and_goes_on,
    a_deleted_tenant_leaves_nothing,
    everything_done_is_in_the_audit_log,
    the_audit_log_is_only_appended_to,
    names_of_tenants_and_users_are_checked,
    a_quota_is_kept_at_every_door,
    what_ends_makes_room,
];

/// What must never be seen by another tenant.
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
    /// Its secret.
    secret: String,
}

impl Two {
    fn new() -> Self {
        let database = Database::new();
        for name in ["alpha", "beta"] {
            on(database.store.create_tenant(name, "")).expect("a tenant");
        }
        // Each endpoint is asked several times.
        database
            .owner()
            .run("UPDATE wed.quota SET requests_per_second = NULL");
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
        beta.json("POST", "/v1/flows/canary-flow/instances", &json!({}))
            .is(201);
        beta.upload("canary-component", sample_component("paper"), &[])
            .is(201);
        run(wed(&database.url())
            .args(["--tenant", "beta", "flow", "config", "set", "canary-flow"])
            .args(["canary_setting", "canary_set"]))
        .done();
        let made = beta
            .json(
                "POST",
                "/v1/tokens",
                &json!({ "name": "canary-token", "scopes": ["read"] }),
            )
            .is(201)
            .json();
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
    fn names(&self) -> [(&'static str, String, String); 7] {
        [
            ("flow", "canary-flow".into(), "absent-flow".into()),
            ("wid", "1".into(), "1".into()),
            ("trigger", "canary_trigger".into(), "absent_trigger".into()),
            (
                "component",
                "canary-component".into(),
                "absent-component".into(),
            ),
            ("version", "1".into(), "1".into()),
            ("user", "canary-user".into(), "absent-user".into()),
            ("token", self.token.clone(), "wed_absent00".into()),
        ]
    }
}

/// An answer without what differs between any two.
fn essence(answer: &Answered, names: &[(&str, String, String)]) -> (u16, String) {
    let mut text = answer.text.clone();
    if let Some(id) = answer.header("x-request-id") {
        text = text.replace(id, "");
    }
    for (_, known, absent) in names {
        if known.len() > 1 {
            text = text.replace(known, absent);
        }
    }
    (answer.status, text)
}

fn another_tenants_things_are_as_good_as_missing() {
    let two = Two::new();
    let names = two.names();
    let description = two.alpha.get("/openapi.json").is(200).json();
    let paths = description["paths"].as_object().expect("paths");
    let mut asked = 0;
    for (path, methods) in paths.iter().filter(|(path, _)| path.starts_with("/v1")) {
        for method in methods.as_object().expect("methods").keys() {
            let method = method.to_uppercase();
            let with = |other: bool| {
                let mut concrete = path.clone();
                for (name, known, absent) in &names {
                    let value = if other { known } else { absent };
                    concrete = concrete.replace(&format!("{{{name}}}"), value);
                }
                // A parameter that is not known here would go untried.
                assert!(!concrete.contains('{'), "{concrete}");
                concrete
            };
            let send = |path: &str| {
                // Documents that would do something, if the thing were there.
                let document = match (method.as_str(), path) {
                    (_, path) if path.contains("/users/") => json!({ "role": "viewer" }),
                    (_, path) if path.ends_with("/activate") => json!({ "version": 1 }),
                    _ => json!({}),
                };
                if method == "GET" || method == "DELETE" {
                    two.alpha.send(&method, path, &[], b"")
                } else {
                    two.alpha.json(&method, path, &document)
                }
            };
            let (others, absent) = (send(&with(true)), send(&with(false)));
            asked += 1;
            assert_eq!(
                essence(&others, &names),
                essence(&absent, &names),
                "{method} {path}"
            );
            for answer in [&others, &absent] {
                let said = answer.text.replace(&with(true), "");
                for canary in [
                    "canary_attribute",
                    "canary_value",
                    "canary_step",
                    "canary_description",
                    "canary_setting",
                    "canary_set",
                    "canary-token",
                    &two.secret,
                ] {
                    assert!(!said.contains(canary), "{method} {path}: {answer:?}");
                }
                assert!(answer.status < 500, "{method} {path}: {answer:?}");
            }
            if !path.contains('{') {
                assert!(!others.text.contains(CANARY), "{method} {path}: {others:?}");
            }
        }
    }
    assert!(asked >= 25, "{asked}");
    // All of it is still there.
    let beta = &two.beta;
    for path in [
        "/v1/flows/canary-flow/instances/1",
        "/v1/flows/canary-flow/instances/1/jobs/canary_trigger",
        "/v1/components/canary-component/versions/1",
        "/v1/users/canary-user",
    ] {
        beta.get(path).is(200);
    }
    two.beta.with_token(&two.secret).get("/v1/flows").is(200);
    // A cursor of another tenant's list opens nothing.
    for _ in 0..3 {
        beta.json("POST", "/v1/flows/canary-flow/instances", &json!({}))
            .is(201);
    }
    let cursor = beta.get("/v1/audit?limit=2").is(200).json()["next"].clone();
    let cursor = cursor.as_str().expect("a cursor");
    let entries = two.alpha.get(&format!("/v1/audit?cursor={cursor}")).is(200);
    assert!(!entries.text.contains(CANARY), "{entries:?}");
}

fn another_tenants_things_are_as_good_as_missing_for_the_command_line() {
    let two = Two::new();
    let url = two.database().url();
    let paper = repository("sample-transitions/target/wasm32-wasip2/release/paper.wasm");
    let ask = |words: &[&str], names: &[(&str, &str)]| -> Answer {
        let words: Vec<String> = words
            .iter()
            .map(|word| {
                names
                    .iter()
                    .find(|(name, _)| word == name)
                    .map_or_else(|| (*word).to_owned(), |(_, value)| (*value).to_owned())
            })
            .collect();
        run(wed(&url).args(["--json", "--tenant", "alpha"]).args(words))
    };
    let names = two.names();
    let known: Vec<(&str, &str)> = vec![
        ("FLOW", "canary-flow"),
        ("COMPONENT", "canary-component"),
        ("USER", "canary-user"),
        ("TOKEN", &two.token),
    ];
    let absent = vec![
        ("FLOW", "absent-flow"),
        ("COMPONENT", "absent-component"),
        ("USER", "absent-user"),
        ("TOKEN", "wed_absent00"),
    ];
    let verbs: &[&[&str]] = &[
        &["flow", "show", "FLOW"],
        &["flow", "url", "FLOW"],
        &["flow", "bind", "FLOW", "canary_step", "COMPONENT"],
        &["flow", "unbind", "FLOW", "canary_step"],
        &["flow", "rematch", "FLOW"],
        &["flow", "rematch", "FLOW", "--apply"],
        &["flow", "drop", "FLOW", "--yes"],
        &["flow", "config", "set", "FLOW", "canary_setting", "x"],
        &["flow", "config", "get", "FLOW", "canary_setting"],
        &["flow", "config", "unset", "FLOW", "canary_setting"],
        &["flow", "config", "list", "FLOW"],
        &[
            "flow",
            "secret",
            "grant",
            "FLOW",
            "canary_secret",
            "canary_step",
        ],
        &["flow", "secret", "list", "FLOW"],
        &["flow", "secret", "remove", "FLOW", "canary_secret"],
        &["component", "show", "COMPONENT"],
        &["component", "activate", "COMPONENT", "1"],
        &["component", "rollback", "COMPONENT"],
        &["job", "list", "FLOW"],
        &["job", "logs", "FLOW", "1"],
        &["replay", "FLOW", "1"],
        &["instance", "start", "FLOW"],
        &["instance", "list", "FLOW"],
        &["instance", "show", "FLOW", "1"],
        &["instance", "trace", "FLOW", "1"],
        &["instance", "watch", "FLOW", "1"],
        &["user", "role", "USER", "viewer"],
        &["user", "delete", "USER"],
        &["token", "create", "USER"],
        &["token", "rotate", "TOKEN"],
        &["token", "revoke", "TOKEN"],
    ];
    // Every verb of these nouns is tried, here or below, but for those that name nothing that is there.
    for noun in ["flow", "component", "instance", "job", "user", "token"] {
        let help = run(wed(&url).args([noun, "--help"])).done().out;
        let commands = help.split("Commands:").nth(1).expect("commands");
        let commands = commands.split("Options:").next().expect("commands");
        for line in commands.lines() {
            let Some(verb) = line
                .strip_prefix("  ")
                .and_then(|rest| rest.split(' ').next())
            else {
                continue;
            };
            let known = verbs.iter().any(|words| words[..2] == [noun, verb])
                || [
                    "list", "create", "apply", "encode", "push", "gc", "help", "",
                ]
                .contains(&verb);
            assert!(known, "`wed {noun} {verb}` is not tried");
        }
    }
    for words in verbs {
        let (others, missing) = (ask(words, &known), ask(words, &absent));
        let mut said = others.err.clone();
        for (_, known, absent) in names.iter().filter(|(_, known, _)| known.len() > 1) {
            said = said.replace(known, absent);
        }
        assert_eq!((others.code, &said), (Some(3), &missing.err), "{words:?}");
        assert!(
            others.out.is_empty() && !said.contains(CANARY),
            "{words:?}: {others:?}"
        );
    }
    for words in [
        &["flow", "list"][..],
        &["component", "list"],
        &["component", "gc", "--keep", "0"],
        &["user", "list"],
        &["token", "list"],
        &["audit"],
    ] {
        let answer = ask(words, &[]).done();
        assert!(!answer.out.contains(CANARY), "{words:?}: {answer:?}");
    }
    // A component of the same name is the tenant's own, and pushes nothing over the other's.
    let pushed = ask(
        &[
            "component",
            "push",
            paper.to_str().expect("a path"),
            "--name",
            "canary-component",
        ],
        &[],
    )
    .done();
    assert_eq!(pushed.json()[0]["version"], 1);
    let versions = two
        .beta
        .get("/v1/components/canary-component")
        .is(200)
        .json();
    assert_eq!(versions["items"].as_array().map(Vec::len), Some(1));
}

fn equal_names_of_two_tenants_are_two_things() {
    let two = Two::new();
    let flow = json!({ "name": "canary-flow", "final": "own = 'x'",
        "attribute": [{ "name": "own" }], "trigger": [{ "name": "t", "when": "own IS NULL", "transition": "s" }] });
    two.alpha
        .json("PUT", "/v1/flows/canary-flow", &flow)
        .is(201);
    let started = two
        .alpha
        .json("POST", "/v1/flows/canary-flow/instances", &json!({}))
        .is(201);
    assert_eq!(started.json()["wid"], 1);
    let own = two
        .alpha
        .get("/v1/flows/canary-flow/instances/1")
        .is(200)
        .json();
    assert_eq!(own["state"], json!({ "own": null }));
    two.alpha.delete("/v1/flows/canary-flow").is(204);
    two.beta.get("/v1/flows/canary-flow/instances/1").is(200);
}

/// A request for each action of the matrix, and whether it would do anything.
fn request_for(action: Action, client: &Client) -> Option<Answered> {
    let name = action.to_string();
    Some(match name.as_str() {
        "flows:read" => client.get("/v1/flows/none"),
        "flows:write" => client.delete("/v1/flows/none"),
        "instances:read" => client.get("/v1/flows/none/instances"),
        "instances:write" => client.json("POST", "/v1/flows/none/instances", &json!({})),
        "jobs:read" => client.get("/v1/flows/none/jobs"),
        "components:read" => client.get("/v1/components/none"),
        "components:write" => client.upload("none", b"nothing", &[]),
        "activation:write" => client.json("POST", "/v1/components/none/rollback", &json!({})),
        "tokens:read" => client.get("/v1/tokens/none"),
        "tokens:write" => client.delete("/v1/tokens/none"),
        "all-tokens:write" => client.json(
            "POST",
            "/v1/tokens",
            &json!({ "name": "x", "user": "none", "scopes": ["read"] }),
        ),
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
    Area::ALL
        .into_iter()
        .flat_map(|area| [Action::read(area), Action::write(area)])
}

fn each_role_is_let_do_what_the_matrix_says() {
    let database = Database::new();
    let api = Api::of(&database);
    let mut asked = 0;
    for role in Role::ALL {
        let client = api.user("default", role.name(), role.name());
        for action in all_actions() {
            let Some(answer) = request_for(action, &client) else {
                continue;
            };
            asked += 1;
            if role.may(action) {
                assert!(
                    answer.status != 403 && answer.status < 500,
                    "{role} {action}: {answer:?}"
                );
            } else {
                answer.problem(403, "not_permitted");
            }
        }
    }
    assert_eq!(asked, 5 * 17);
}

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
            assert_eq!(
                answer.status == 403,
                !parsed.allows(*action),
                "{scope} for {action}: {answer:?}"
            );
        }
    }
}

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
        client.json(
            "POST",
            "/v1/tokens",
            &json!({ "name": name, "scopes": scopes }),
        )
    };
    ask(&narrow, "a", &["flows:read"]).is(201);
    for more in [
        &["flows:write"][..],
        &["read"],
        &["write"],
        &["flows:read", "jobs:read"],
    ] {
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
    narrow
        .json("POST", &format!("/v1/tokens/{wide}/rotate"), &json!({}))
        .problem(403, "not_permitted");
    // Somebody else's tokens are not to be seen.
    let viewer = api.user("default", "bob", "viewer");
    viewer
        .get(&format!("/v1/tokens/{wide}"))
        .problem(404, "not_found");
    viewer
        .delete(&format!("/v1/tokens/{wide}"))
        .problem(404, "not_found");
    assert_eq!(
        viewer.get("/v1/tokens").is(200).json()["items"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    viewer
        .json(
            "POST",
            "/v1/tokens",
            &json!({ "name": "x", "user": "ann", "scopes": ["read"] }),
        )
        .problem(403, "not_permitted");
}

fn a_token_is_rotated_with_both_live() {
    let database = Database::new();
    let api = Api::of(&database);
    let client = api.user("default", "ann", "developer");
    let id = client.get("/v1/me").is(200).json()["token"].clone();
    assert_eq!(id, "all");
    let id = client.get("/v1/tokens").is(200).json()["items"][0]["id"].clone();
    let rotate = format!("/v1/tokens/{}/rotate", id.as_str().expect("an id"));
    let new = client.json("POST", &rotate, &json!({})).is(201).json();
    assert_eq!(
        (&new["name"], &new["scopes"]),
        (&json!("all"), &json!(["write"]))
    );
    let next = client.with_token(new["secret"].as_str().expect("a secret"));
    client.get("/v1/flows").is(200);
    next.get("/v1/flows").is(200);
    // Not a third one.
    client
        .json("POST", &rotate, &json!({}))
        .problem(422, "WF023");
    client
        .json(
            "POST",
            "/v1/tokens",
            &json!({ "name": "all", "scopes": ["read"] }),
        )
        .problem(422, "WF023");
    next.delete(&format!("/v1/tokens/{}", id.as_str().expect("an id")))
        .is(204);
    client.get("/v1/flows").problem(401, "invalid_token");
    // At once, when that is asked for.
    let second = new["id"].as_str().expect("an id");
    let last = next
        .json(
            "POST",
            &format!("/v1/tokens/{second}/rotate"),
            &json!({ "overlap_hours": 0 }),
        )
        .is(201)
        .json();
    next.get("/v1/flows").problem(401, "invalid_token");
    next.with_token(last["secret"].as_str().expect("a secret"))
        .get("/v1/flows")
        .is(200);
    // A tenant's tokens live no longer than it allows.
    let admin = api.user("default", "eve", "admin");
    admin
        .json("PATCH", "/v1/settings", &json!({ "token_days": 7 }))
        .is(200);
    admin
        .json(
            "POST",
            "/v1/tokens",
            &json!({ "name": "long", "scopes": ["read"], "days": 8 }),
        )
        .problem(422, "WF023");
    admin
        .json("PATCH", "/v1/settings", &json!({ "token_days": 0 }))
        .problem(422, "WF023");
}

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
        let found = owner.number(&format!(
            "SELECT count(*) FROM {table} t WHERE to_jsonb(t)::text LIKE '%{half}%'"
        ));
        assert_eq!(found, 0, "{table}");
    }
    let listed = two.beta.get("/v1/tokens").is(200);
    assert!(
        !listed.text.contains(half) && !listed.text.contains("hash"),
        "{listed:?}"
    );
    // Its last use is put down, but not by every request.
    let used = two.beta.with_token(&two.secret);
    used.get("/v1/me").is(200);
    let last = "SELECT max(last_used)::text FROM wed.token WHERE name = 'canary-token'";
    let first = owner.line(last);
    assert_ne!(first, "·");
    used.get("/v1/me").is(200);
    assert_eq!(owner.line(last), first);
}

fn what_is_revoked_or_expired_or_another_role_holds_at_once() {
    let database = Database::new();
    let api = Api::of(&database);
    let admin = api.user("default", "ann", "admin");
    let bob = api.user("default", "bob", "viewer");
    let start = |client: &Client| client.json("POST", "/v1/flows/none/instances", &json!({}));
    start(&bob).problem(403, "not_permitted");
    admin
        .json("PATCH", "/v1/users/bob", &json!({ "role": "participant" }))
        .is(200);
    start(&bob).problem(404, "not_found");
    admin
        .json("PATCH", "/v1/users/bob", &json!({ "role": "king" }))
        .problem(422, "invalid_document");
    database.owner().run("UPDATE wed.token SET expires_at = now() WHERE user_id = (SELECT user_id FROM wed.user WHERE name = 'bob')");
    let expired = bob.get("/v1/me").problem(401, "invalid_token");
    let unknown = wedflow_tenancy::Secret::random();
    let unknown = bob
        .with_token(unknown.reveal())
        .get("/v1/me")
        .problem(401, "invalid_token");
    assert_eq!(
        expired["detail"], unknown["detail"],
        "which of them, is not told"
    );
    let carol = api.user("default", "carol", "viewer");
    admin.delete("/v1/users/carol").is(204);
    carol.get("/v1/me").problem(401, "invalid_token");
}

fn a_suspended_tenant_rests_and_goes_on() {
    let two = Two::new();
    let database = two.database();
    // A flow that a host would run.
    let flow: Json = {
        let text = std::fs::read_to_string(repository("sample-transitions/paper/flow.toml"))
            .expect("the sample's definition");
        toml::from_str(&text).expect("a definition")
    };
    for client in [&two.alpha, &two.beta] {
        client
            .upload("paper", sample_component("paper"), &[])
            .is(201);
        client.json("PUT", "/v1/flows/paper", &flow).is(201);
    }
    let flow_url = on(database.store.flow_url("beta", "paper")).expect("its URL");
    let mut session = Session::on(database, &flow_url);
    session.start();
    run(wed(&database.url()).args(["tenant", "suspend", "beta"])).done();

    two.beta.get("/v1/flows").problem(403, "tenant_suspended");
    assert!(
        session.batch_execute("SELECT 1").is_err(),
        "the session has ended"
    );
    assert!(
        postgres::Client::connect(&flow_url, postgres::NoTls).is_err(),
        "no login"
    );
    let refused =
        run(wed(&database.url()).args(["--tenant", "beta", "flow", "create", "more"])).exits(4);
    assert!(refused.err.contains("suspended"), "{refused:?}");
    // The other tenant's work goes on beside it, and the suspended one's does not.
    let host = database.host(one_lane("suspended"));
    two.alpha
        .json("POST", "/v1/flows/paper/instances", &json!({}))
        .is(201);
    eventually("the other's end", || {
        let instance = two.alpha.get("/v1/flows/paper/instances/1").is(200).json();
        (instance["status"] == "final").then_some(())
    });
    let untouched = "SELECT count(*) FROM wed.trace r JOIN wed.flow f USING (flow_id) JOIN wed.tenant t USING (tenant_id) \
                     WHERE t.name = 'beta' AND f.name = 'paper'";
    assert_eq!(database.owner().number(untouched), 1);
    // What a host has in hand already is given back: pretend that it was claimed before.
    database.owner().run(&format!(
        "UPDATE wed.job SET host_id = {}, token = nextval('wed.fence') WHERE flow_id = (SELECT flow_id FROM wed.flow f \
         JOIN wed.tenant t USING (tenant_id) WHERE t.name = 'beta' AND f.name = 'paper')",
        host.id()
    ));
    eventually("the job to be given back", || {
        let held = "SELECT count(*) FROM wed.job WHERE host_id IS NOT NULL";
        (database.owner().number(held) == 0).then_some(())
    });
    assert_eq!(database.owner().number(untouched), 1);

    run(wed(&database.url()).args(["tenant", "resume", "beta"])).done();
    eventually("its end", || {
        let instance = two.beta.get("/v1/flows/paper/instances/1").is(200).json();
        (instance["status"] == "final").then_some(())
    });
    on(host.stop());
    Session::on(database, &flow_url).start();
}

fn a_deleted_tenant_leaves_nothing() {
    let two = Two::new();
    let database = two.database();
    let url = database.url();
    let flow_url = on(database.store.flow_url("beta", "canary-flow")).expect("its URL");
    let session = Session::on(database, &flow_url);
    let role = database.owner().line(
        "SELECT role_name FROM wed.flow JOIN wed.tenant t USING (tenant_id) WHERE t.name = 'beta'",
    );
    let asked = run(wed(&url).args(["tenant", "delete", "beta"])).exits(2);
    assert!(asked.err.contains("--yes"), "{asked:?}");
    run(wed(&url).args(["tenant", "delete", "beta", "--yes"])).done();
    drop(session);
    run(wed(&url).args(["tenant", "show", "beta"])).exits(3);
    two.beta.get("/v1/flows").problem(401, "invalid_token");
    let mut owner = database.owner();
    let left = format!("SELECT count(*) FROM pg_roles WHERE rolname = '{role}'");
    assert_eq!(owner.number(&left), 0);
    let left = format!("SELECT count(*) FROM pg_namespace WHERE nspname LIKE '{role}%'");
    assert_eq!(owner.number(&left), 0);
    for table in [
        "flow",
        "component",
        "user",
        "token",
        "instance",
        "job",
        "trace",
        "idempotency",
    ] {
        let found = owner.number(&format!(
            "SELECT count(*) FROM wed.{table} t WHERE to_jsonb(t)::text LIKE '%{CANARY}%'"
        ));
        assert_eq!(found, 0, "{table}");
    }
    // One of the same name begins anew, and sees nothing of what the first did.
    on(database.store.create_tenant("beta", "")).expect("a tenant");
    let again = two.api.user("beta", "new", "admin");
    let log = again.get("/v1/audit").is(200);
    assert!(!log.text.contains(CANARY), "{log:?}");
    let all = run(wed(&url).args(["audit", "--all"])).done();
    assert!(all.out.contains("tenant.delete"), "{all:?}");
}

fn everything_done_is_in_the_audit_log() {
    let two = Two::new();
    let url = two.database().url();
    two.beta
        .json(
            "POST",
            "/v1/users",
            &json!({ "name": "bob", "role": "viewer" }),
        )
        .is(201);
    two.beta
        .json("PATCH", "/v1/users/bob", &json!({ "role": "operator" }))
        .is(200);
    two.beta.delete("/v1/users/bob").is(204);
    two.beta
        .json("PATCH", "/v1/settings", &json!({ "description": "Ours" }))
        .is(200);
    let rotated = format!("/v1/tokens/{}/rotate", two.token);
    two.beta.json("POST", &rotated, &json!({})).is(201);
    two.beta
        .delete(&format!("/v1/tokens/{}", two.token))
        .is(204);
    let beta = |words: &[&str]| run(wed(&url).args(["--tenant", "beta"]).args(words)).done();
    beta(&["flow", "create", "by-hand"]);
    beta(&[
        "flow",
        "bind",
        "canary-flow",
        "canary_step",
        "canary-component",
    ]);
    beta(&["flow", "rematch", "canary-flow", "--apply"]);
    beta(&["instance", "start", "canary-flow"]);
    beta(&["flow", "drop", "by-hand", "--yes"]);
    two.beta.delete("/v1/flows/canary-flow").is(204);

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
        format!("{by} token.create canary-user/canary-token"),
        format!("{by} user.create bob"),
        format!("{by} user.role bob"),
        format!("{by} user.delete bob"),
        format!("{by} tenant.set beta"),
        format!("{by} token.rotate canary-user/canary-token"),
        format!("{by} token.revoke canary-user/canary-token"),
        "operator flow.create by-hand".to_owned(),
        "operator flow.bind canary-flow/canary_step".to_owned(),
        "operator flow.rematch canary-flow".to_owned(),
        "operator instance.start canary-flow/2".to_owned(),
        "operator flow.delete by-hand".to_owned(),
        format!("{by} flow.delete canary-flow"),
    ];
    assert_eq!(done, expected);
    // No secret and no state is in it; the operator's is told to the operator only.
    let text = serde_json::to_string(entries).expect("JSON");
    assert!(
        !text.contains("canary_value") && !text.contains(&two.secret),
        "{text}"
    );
    let own = beta(&["--json", "audit"]);
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
    assert!(
        some["items"]
            .as_array()
            .is_some_and(|items| !items.is_empty())
    );
    two.beta.get("/v1/audit?since=yore").problem(422, "22007");
}

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
    let forgotten =
        run(wed(&database.url()).args(["--json", "audit", "--forget", "30 days"])).done();
    assert_eq!(forgotten.json(), json!({ "forgotten": 0 }));
    run(wed(&database.url()).args(["audit", "--forget", "1 day"])).exits(4);
    // To forget is on record as well.
    assert_eq!(owner.number("SELECT count(*) FROM wed.audit"), count + 1);
}

fn names_of_tenants_and_users_are_checked() {
    let database = Database::new();
    let url = database.url();
    for name in ["", "Alpha", "a b", "-a", "a/b", "ä", &"a".repeat(64)] {
        let refused = run(wed(&url).args(["--json", "tenant", "create", "--", name])).exits(4);
        assert!(refused.err.contains("not allowed"), "{name}: {refused:?}");
    }
    run(wed(&url).args(["tenant", "create", "alpha"])).done();
    let again = run(wed(&url).args(["--json", "tenant", "create", "alpha"])).exits(4);
    assert!(again.err.contains("already"), "{again:?}");
    run(wed(&url).args(["user", "create", "A", "--role", "viewer"])).exits(4);
    run(wed(&url).args(["user", "create", "a", "--role", "king"])).exits(2);
    run(wed(&url).args([
        "--tenant", "none", "user", "create", "a", "--role", "viewer",
    ]))
    .exits(3);
    run(wed(&url).args(["--tenant", "none", "flow", "create", "a"])).exits(4);
    for verb in ["show", "suspend", "resume"] {
        run(wed(&url).args(["tenant", verb, "none"])).exits(3);
    }
}

fn a_quota_is_kept_at_every_door() {
    let two = Two::new();
    let url = two.database().url();
    let set = [
        "tenant",
        "quota",
        "beta",
        "--instances",
        "2",
        "--components",
        "2",
        "--flows",
        "1",
    ];
    run(wed(&url).args(set)).done();
    let start =
        |client: &Client| client.json("POST", "/v1/flows/canary-flow/instances", &json!({}));
    start(&two.beta).is(201);
    let refused = start(&two.beta).problem(403, "quota");
    assert_eq!(
        refused["limit"],
        json!({ "name": "instances", "used": 2, "allowed": 2 })
    );
    let flow_url = on(two.database().store.flow_url("beta", "canary-flow")).expect("its URL");
    let mut session = Session::on(two.database(), &flow_url);
    let by_sql = session
        .refused("INSERT INTO wed_flow DEFAULT VALUES")
        .expect("WF020");
    assert!(
        by_sql.message.contains("instances is used up: 2 of 2"),
        "{by_sql:?}"
    );
    session
        .refused("INSERT INTO wed_flow (canary_attribute) SELECT 'v' FROM generate_series(1, 5)")
        .expect("WF020");
    let by_hand = run(wed(&url).args([
        "--json",
        "--tenant",
        "beta",
        "instance",
        "start",
        "canary-flow",
    ]))
    .exits(4);
    assert_eq!(by_hand.error()["code"], "WF020");

    two.beta
        .upload("more", sample_component("counters"), &[])
        .is(201);
    let refused = two
        .beta
        .upload("again", sample_component("counters"), &[])
        .problem(403, "quota");
    assert_eq!(
        refused["limit"],
        json!({ "name": "components", "used": 2, "allowed": 2 })
    );
    let flow = json!({ "name": "second", "final": "a = 'x'", "attribute": [{ "name": "a" }] });
    let refused = two
        .beta
        .json("PUT", "/v1/flows/second", &flow)
        .problem(403, "quota");
    assert_eq!(
        refused["limit"],
        json!({ "name": "flows", "used": 1, "allowed": 1 })
    );
    // The other tenant has limits of its own.
    two.alpha.json("PUT", "/v1/flows/second", &flow).is(201);

    let usage = two.beta.get("/v1/usage").is(200).json();
    let of = |name: &str| {
        let items = usage["items"].as_array().expect("limits");
        items
            .iter()
            .find(|item| item["name"] == name)
            .expect("the limit")
            .clone()
    };
    assert_eq!(
        (&of("instances")["used"], &of("instances")["allowed"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        (&of("jobs")["used"], &of("jobs")["allowed"]),
        (&json!(2), &json!(500_000))
    );
    assert_eq!(of("flows")["used"], 1);
    run(wed(&url).args([
        "tenant",
        "quota",
        "beta",
        "--instances",
        "none",
        "--jobs",
        "3",
    ]))
    .done();
    start(&two.beta).is(201);
    let refused = start(&two.beta).problem(403, "quota");
    assert_eq!(
        refused["limit"],
        json!({ "name": "jobs", "used": 3, "allowed": 3 })
    );
    run(wed(&url).args(["tenant", "quota", "beta", "--jobs", "none"])).done();
    start(&two.beta).is(201);
    run(wed(&url).args(["tenant", "quota", "beta"])).exits(2);
    run(wed(&url).args(["tenant", "quota", "beta", "--jobs=-1"])).exits(4);
    run(wed(&url).args(["tenant", "quota", "none", "--jobs", "1"])).exits(3);
}

fn what_ends_makes_room() {
    let two = Two::new();
    let url = two.database().url();
    run(wed(&url).args(["tenant", "quota", "beta", "--instances", "1"])).done();
    let flow_url = on(two.database().store.flow_url("beta", "canary-flow")).expect("its URL");
    let mut session = Session::on(two.database(), &flow_url);
    session
        .refused("INSERT INTO wed_flow DEFAULT VALUES")
        .expect("WF020");
    session.finish(1, "canary_step", "canary_attribute = 'x'");
    let row = eventually("room", || {
        session
            .query_one("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid", &[])
            .ok()
    });
    let wid: i32 = row.get(0);
    assert_eq!(session.lines("SELECT wid FROM job_pool"), [wid.to_string()]);
    session
        .refused("INSERT INTO wed_flow DEFAULT VALUES")
        .expect("WF020");
}
