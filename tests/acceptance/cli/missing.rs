//! Things that are missing exit with 3, whatever the command; `tenancy::isolation` tries flows, components, users and
//! tokens of each command.

use super::Cli;

/// Commands on something that is missing in the flow `steps`, which has the instance 1, or in the tenant.
const MISSING: &[&[&str]] = &[
    // Instances.
    &["job", "list", "steps", "77"],
    &["job", "logs", "steps", "77"],
    &["replay", "steps/77#1"],
    &["replay", "steps/1#77"],
    &["instance", "show", "steps", "77"],
    &["instance", "trace", "steps", "77"],
    &["instance", "watch", "steps", "77"],
    &["instance", "retry", "steps", "77"],
    &["instance", "cancel", "steps", "77", "--reason", "x"],
    &["instance", "pause", "steps", "77", "--reason", "x"],
    &["instance", "resume", "steps", "77"],
    &["instance", "skip", "steps", "77", "-t", "step", "--reason", "x"],
    &["instance", "back", "steps", "77", "--to", "1", "--reason", "x"],
    &["instance", "event", "steps", "77", "paid=true"],
    &["instance", "set", "steps", "77", "n=1", "--reason", "x"],
    &["flow", "order", "add", "steps", "t", "t", "--instance", "77"],
    &["flow", "order", "drop", "steps", "t", "t", "--instance", "77"],
    &["work", "--as", "ann", "notify", "steps", "77", "--policy", "1"],
    // Triggers and transitions.
    &["flow", "pause", "steps", "--trigger", "none", "--reason", "x"],
    &["flow", "resume", "steps", "--trigger", "none"],
    &["flow", "order", "add", "steps", "none", "t"],
    &["flow", "order", "drop", "steps", "none", "t"],
    &["flow", "unbind", "steps", "none"],
    &["instance", "skip", "steps", "1", "-t", "none", "--reason", "x"],
    // Versions, settings, secrets.
    &["flow", "diff", "steps", "1", "77"],
    &["flow", "rollback", "steps", "77"],
    &["flow", "config", "get", "steps", "none"],
    &["flow", "config", "unset", "steps", "none"],
    &["flow", "secret", "grant", "steps", "none", "step"],
    &["flow", "secret", "remove", "steps", "none"],
    // Components.
    &["flow", "bind", "steps", "step", "none"],
    &["component", "show", "none"],
    &["component", "activate", "none", "1"],
    &["component", "rollback", "none"],
    // Schedules.
    &["flow", "schedule", "pause", "steps", "none"],
    &["flow", "schedule", "resume", "steps", "none"],
    &["flow", "schedule", "remove", "steps", "none"],
    &[
        "flow",
        "schedule",
        "backfill",
        "steps",
        "none",
        "--from",
        "2026-01-01T00:00:00Z",
        "--until",
        "2026-01-02T00:00:00Z",
    ],
    // Webhooks.
    &["webhook", "messages", "none"],
    &["webhook", "remove", "https://none.example"],
    &["webhook", "remove", "https://none.example", "--flow", "none"],
    &["webhook", "set", "https://none.example", "--flow", "none"],
    // Users, tokens, people and their items.
    &["user", "role", "none", "viewer"],
    &["user", "delete", "none"],
    &["token", "create", "none"],
    &["token", "list", "--user", "none"],
    &["token", "rotate", "none"],
    &["token", "revoke", "none"],
    &["work", "--as", "none", "list"],
    &["work", "--as", "ann", "show", "77"],
    &["work", "--as", "ann", "select", "77"],
    &["work", "--as", "ann", "report", "77"],
    &["work", "--as", "ann", "begin", "none"],
    // Tenants.
    &["--tenant", "none", "flow", "list"],
    &["--tenant", "none", "component", "list"],
    &["--tenant", "none", "webhook", "list"],
    &["--tenant", "none", "user", "list"],
    &["--tenant", "none", "token", "list"],
    &["--tenant", "none", "audit"],
    &["--tenant", "none", "work", "people"],
    &["tenant", "show", "none"],
    &["tenant", "quota", "none", "--flows", "1"],
    &["tenant", "suspend", "none"],
    &["tenant", "resume", "none"],
    &["tenant", "pause", "none", "--reason", "x"],
    &["tenant", "delete", "none", "--yes"],
    // Demos.
    &["demo", "none"],
];

/// Further commands on a missing flow; `tenancy::isolation` tries most of them.
const MISSING_FLOW: &[&[&str]] = &[
    &["flow", "show", "none", "--pdl"],
    &["flow", "secret", "set", "none", "x"],
    &["instance", "start", "none", "--key", "k"],
    &["instance", "list", "none", "--where", "n=1"],
    &["component", "push", "WASM", "--flow", "none"],
    &["replay", "none/1#1"],
];

#[harness::test]
fn each_command_on_something_missing_exits_with_3() {
    let cli = Cli::with_steps();
    cli.run(&["instance", "start", "steps"]).done();
    cli.run(&["work", "people", "--add", "ann", "--role", "clerk"]).done();
    cli.flow("steps").run("INSERT INTO wed_attr (aname, atype, open) VALUES ('paid', 'boolean', true)");
    let wasm = super::paper();
    for words in MISSING.iter().chain(MISSING_FLOW) {
        let words: Vec<&str> = words
            .iter()
            .map(|word| match *word {
                "WASM" => super::path(&wasm),
                word => word,
            })
            .collect();
        let error = cli.fails(3, &words);
        let message = error["message"].as_str().expect("a message");
        assert!(
            ["none", "77", "version", "no host made such an attempt"].iter().any(|name| message.contains(name)),
            "{words:?}: {error}"
        );
    }
}
