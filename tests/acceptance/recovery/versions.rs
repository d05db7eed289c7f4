//! Versions of a flow's definition in SQL: history, difference, and the way back.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::support::flows::STEPS;
use crate::support::{Database, Flow, on};

fn define(database: &Arc<Database>, definition: Json) -> Flow {
    database.define(&serde_json::from_value(definition).expect("a definition"))
}

#[harness::test]
fn change_in_sql_is_a_version_that_can_be_taken_back() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (n) VALUES (2)");
    s.run("UPDATE wed_trig SET cpred = 'n >= 2' WHERE cfinal");
    let versions = "SELECT count(*) FROM wed_version";
    let before = s.number(versions);
    assert_eq!(s.line("SELECT actor = session_user FROM wed_version ORDER BY version DESC LIMIT 1"), "t");
    assert_eq!(
        s.lines("SELECT part, name, was, becomes FROM wed_difference()"),
        ["setting|final|\"n >= 3\"|\"n >= 2\""]
    );
    let preview: Json = s.line("SELECT wed_roll_back()").parse().expect("a document");
    assert_eq!(preview["preview"], true);
    assert_eq!(preview["applied"]["settings_changed"], json!(["final"]));
    assert_eq!(s.number(versions), before, "a preview changes nothing");
    let done: Json = s.line("SELECT wed_roll_back(preview => false)").parse().expect("a document");
    assert_eq!(done["preview"], false);
    assert_eq!(s.line("SELECT cpred FROM wed_trig WHERE cfinal"), "n >= 3");
    assert_eq!(s.number(versions), before + 1);
    assert_eq!(flow.database.owner().number("SELECT count(*) FROM wed.audit WHERE action = 'flow.rollback'"), 1);
    s.refused("SELECT wed_roll_back(4711)").expect("WF040");
    assert_eq!(s.line("SELECT wed_roll_back(preview => NULL) ->> 'preview'"), "true");
}

#[harness::test]
fn earlier_definition_comes_back_whole() {
    let database = Database::new();
    let earlier = json!({
        "name": "orders", "description": "as it was", "final": "paid", "order": "tasks",
        "attribute": [
            { "name": "paid", "type": "boolean", "default": "false" },
            { "name": "number", "type": "bigint", "number": "gapless" },
            { "name": "tasks", "type": "jsonb" },
        ],
        "trigger": [
            { "name": "pay", "transition": "pay", "when": "NOT paid", "timeout": "90 s", "attempts": 5,
              "compensation": "refund", "deadline": "2 days", "priority": 3, "writes": ["paid"],
              "work": { "role": "Caixa" } },
            { "name": "call", "transition": "call", "when": "number > 7", "delay": "1 hour", "after": "pay" },
        ],
        "transition": { "call": { "component": "phone" } },
    });
    let flow = define(&database, earlier);
    let mut owner = database.owner();
    let definition = "SELECT wed.definition(flow_id) FROM wed.flow";
    let as_it_was = owner.line(definition);
    define(
        &database,
        json!({
            "name": "orders", "final": "paid AND number > 0",
            "attribute": [
                { "name": "paid", "type": "boolean", "default": "true" },
                { "name": "number", "type": "bigint" },
                { "name": "tasks", "type": "jsonb" },
            ],
            "trigger": [{ "name": "pay", "transition": "pay", "when": "NOT paid" }],
        }),
    );
    assert_ne!(owner.line(definition), as_it_was);
    let mut s = flow.session();
    let parts = s.lines("SELECT DISTINCT part FROM wed_difference() ORDER BY 1");
    assert_eq!(parts, ["attribute", "setting", "transition", "trigger"]);
    owner.run("SELECT wed.roll_back(flow_id, NULL, false, true, 'owner') FROM wed.flow");
    assert_eq!(owner.line(definition), as_it_was);
    assert_eq!(owner.line("SELECT (plan -> 'tasks' -> 0 ->> 'role') FROM wed.work_plan"), "Caixa");
    // And an instance runs by it.
    s.run("INSERT INTO wed_flow DEFAULT VALUES");
    assert_eq!(s.lines("SELECT trname FROM job_pool"), ["pay"]);
}

#[harness::test]
fn rolling_back_in_sql_leaves_components_and_grants() {
    let database = Database::new();
    let definition = |when: &str, transition: Json| {
        json!({ "name": "calls", "attribute": [{ "name": "n", "type": "integer", "default": "0" }],
                "final": "n > 0", "trigger": [{ "name": "t", "transition": "call", "when": when }],
                "transition": transition })
    };
    let bound = json!({ "call": { "component": "phone", "http": ["api.example.com:443"] } });
    let flow = define(&database, definition("n = 0", bound));
    define(&database, definition("n < 1", json!({})));
    let mut s = flow.session();
    s.run("SELECT wed_roll_back(preview => false)");
    assert_eq!(s.line("SELECT cpred FROM wed_trig WHERE NOT cfinal"), "n = 0");
    let mut owner = database.owner();
    assert_eq!(owner.line("SELECT (SELECT count(*) FROM wed.binding), (SELECT count(*) FROM wed.\"grant\")"), "0|0");
}

#[harness::test]
fn one_transaction_leaves_one_version_and_the_newest_hundred_are_kept() {
    let flow = Flow::of("");
    let mut s = flow.session();
    s.run(&format!("BEGIN; {STEPS}; COMMIT"));
    assert_eq!(s.number("SELECT count(*) FROM wed_version"), 1);
    for limit in 4..=108 {
        s.run(&format!("UPDATE wed_trig SET cpred = 'n >= {limit}' WHERE cfinal"));
    }
    assert_eq!(s.number("SELECT count(*) FROM wed_version"), 100);
    assert_eq!(s.line("SELECT definition ->> 'final' FROM wed_version ORDER BY version DESC LIMIT 1"), "n >= 108");
    s.refused("INSERT INTO wed_version SELECT * FROM wed_version").expect("42501");
}

#[harness::test]
fn nothing_rolls_back_over_a_renamed_attribute() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (n) VALUES (2)");
    let version = s.number("SELECT max(version) FROM wed_version");
    s.run("UPDATE wed_attr SET aname = 'count' WHERE aname = 'n'");
    for preview in [true, false] {
        let refused = s.refused(&format!("SELECT wed_roll_back(preview => {preview})"));
        refused.expect("WF013");
    }
    s.run("UPDATE wed_attr SET aname = 'n' WHERE aname = 'count'");
    s.line(&format!("SELECT wed_roll_back({version}, false)"));
    assert_eq!(s.line("SELECT n FROM wed_flow"), "2");
}

#[harness::test]
fn definitions_with_a_name_twice_or_a_default_of_another_type_are_refused() {
    let database = Database::new();
    let attribute = |name: &str, kind: &str, default: &str| json!({ "name": name, "type": kind, "default": default });
    let trigger = |name: &str| json!({ "name": name, "when": "a = 'x'", "transition": name });
    for (attributes, triggers, code, named) in [
        (json!([attribute("a", "text", "x"), attribute("a", "text", "y")]), json!([trigger("t")]), "WF013", "\"a\""),
        (json!([attribute("a", "text", "x")]), json!([trigger("t"), trigger("t")]), "WF013", "\"t\""),
        (json!([attribute("a", "enum(x,y)", "z")]), json!([trigger("t")]), "23514", "\"a\""),
        (
            json!([attribute("a", "text", "x"), attribute("n", "integer", "abc")]),
            json!([trigger("t")]),
            "22P02",
            "\"n\"",
        ),
    ] {
        let definition = json!({ "name": "twice", "final": "a = 'y'", "attribute": attributes, "trigger": triggers });
        let definition = serde_json::from_value(definition).expect("a definition");
        let refused = on(database.store.apply("default", &definition)).expect_err("refused");
        let refusal = refused.refusal().expect("by the database");
        assert_eq!(refusal.code, code, "{refusal:?}");
        assert!(refusal.message.contains(named) && refusal.hint.is_some(), "{refusal:?}");
    }
}

#[harness::test]
fn first_version_is_1_and_each_change_is_the_next() {
    let database = Database::new();
    let apply = |limit: i32| {
        define(
            &database,
            json!({ "name": "counted", "final": format!("n >= {limit}"),
                    "attribute": [{ "name": "n", "type": "integer", "default": "0" }],
                    "trigger": [{ "name": "t", "transition": "step", "when": format!("n < {limit}") }] }),
        )
    };
    let version = || on(database.store.counted_flow("default", "counted")).expect("the flow").version;
    apply(3);
    assert_eq!(version(), 1);
    // The same again is no change.
    apply(3);
    assert_eq!(version(), 1);
    apply(4);
    assert_eq!(version(), 2);
    let mut s = apply(5).session();
    assert_eq!(s.lines("SELECT version FROM wed_version ORDER BY 1"), ["1", "2", "3"]);
    s.run("SELECT wed_roll_back(1, false)");
    assert_eq!(version(), 4);
    assert_eq!(s.line("SELECT cpred FROM wed_trig WHERE cfinal"), "n >= 3");
}
