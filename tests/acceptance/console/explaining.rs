//! Why and what if: clause by clause, over present and past states, without changing anything.

use serde_json::{Value as Json, json};

use super::{break_instance, served, with_exception};
use crate::support::database::TENANT;
use crate::support::http::{Api, Client};

fn explained() -> (Api, Client) {
    let api = served(&wedflow_console::Links::default());
    let client = api.user(TENANT, "ann", "admin");
    with_exception(&client, "f", 3);
    (api, client)
}

fn why(client: &Client, query: &str) -> Json {
    client.get(&format!("/v1/flows/f/instances/2/why{query}")).is(200).json()
}

/// The clauses of a trigger: path, value, whether it decides.
fn clauses(explanation: &Json) -> Vec<(String, String, bool)> {
    let clauses = explanation["clauses"].as_array().expect("clauses");
    let text = |clause: &Json, name: &str| clause[name].as_str().unwrap_or_default().to_owned();
    clauses.iter().map(|one| (text(one, "path"), text(one, "value"), one["decides"] == true)).collect()
}

#[harness::test]
fn each_clause_has_its_value_and_says_whether_it_decides() {
    let (_api, client) = explained();
    let t2 = &why(&client, "?trigger=t2")["triggers"][0];
    assert_eq!(t2["value"], "false");
    assert_eq!(t2["outcome"], "false");
    let expected = [
        ("", "false", true),
        ("1", "true", false),
        ("2", "false", true),
        ("3", "unknown", false),
        ("3.1", "unknown", false),
        ("3.2", "unknown", false),
        ("3.2.1", "unknown", false),
        ("3.2.1.1", "unknown", false),
        ("3.2.1.2", "unknown", false),
    ];
    let expected: Vec<_> =
        expected.iter().map(|(path, value, decides)| ((*path).to_owned(), (*value).to_owned(), *decides)).collect();
    assert_eq!(clauses(t2), expected);
    // An attribute without a value is what makes a clause unknown.
    assert_eq!(t2["clauses"][4]["text"], "n > 3");
    assert_eq!(t2["clauses"][4]["reads"], json!({ "n": null }));
    let needed = "a2 IS NOT NULL AND (n > 3 OR (NOT (n < 10) OR NOT (a2 <> '</textarea>')))";
    assert_eq!(t2["needed"], needed);
}

#[harness::test]
fn command_and_flow_s_own_function_say_what_a_condition_needs() {
    let (api, client) = explained();
    let schema = api.database.owner().line("SELECT schema_name FROM wed.flow WHERE name = 'f'");
    let own = format!("SELECT left(\"{schema}\".wed_why(2, 't2') -> 'triggers' -> 0 ->> 'needed', 14)");
    assert_eq!(api.database.owner().line(&own), "a2 IS NOT NULL");
    let mut why = crate::support::program::wed(&api.database.url());
    let out = crate::support::program::run(why.args(["why", "f", "2", "t2"])).done().out;
    assert!(out.contains("it would hold if: a2 IS NOT NULL AND"), "{out}");
    assert!(why_of(&client, "tr_a2")["needed"].is_null());
}

fn why_of(client: &Client, trigger: &str) -> Json {
    why(client, &format!("?trigger={trigger}"))["triggers"][0].clone()
}

#[harness::test]
fn a_pending_job_says_what_it_waits_for() {
    let (_api, client) = explained();
    let why = why(&client, "?trigger=tr_a2");
    let trigger = &why["triggers"][0];
    assert_eq!((&trigger["value"], &trigger["outcome"]), (&json!("true"), &json!("pending")));
    assert_eq!(trigger["job"]["waits_for"], "no_worker");
}

#[harness::test]
fn past_states_are_explained_too() {
    let (_api, client) = explained();
    break_instance(&client, "f", 2);
    let now = why(&client, "");
    assert_eq!(now["status"], "exception");
    let past = why(&client, "?seq=1");
    assert_eq!((&past["present"], &past["status"]), (&json!(false), &json!("regular")));
    assert_eq!(past["triggers"][0]["outcome"], "fired");
    client.get("/v1/flows/f/instances/2/why?seq=99").problem(404, "WF040");
    client.get("/v1/flows/f/instances/2/why?trigger=none").problem(404, "WF040");
}

#[harness::test]
fn what_if_says_what_would_fire_and_changes_nothing() {
    let (_api, client) = explained();
    let ask = |assumed: Json| client.json("POST", "/v1/flows/f/instances/2/what-if", &assumed);
    let before = client.get("/v1/flows/f/instances/2/trace").is(200).text;
    // As the pending transition: the next one would fire.
    let answer = ask(json!({ "state": { "a2": "x", "n": 4 }, "transition": "tr_a2" })).is(200).json();
    assert_eq!(answer["fires"][0]["trigger"], "t2");
    assert_eq!(answer["refused"]["code"], "WF010", "it may set a2 only");
    // As an event, which may set only what is open.
    let answer = ask(json!({ "state": { "a2": "x" } })).is(200).json();
    assert_eq!((&answer["as"], &answer["refused"]), (&json!("_EVENT"), &Json::Null));
    // The condition of what is pending would hold no more: it is skipped, and nothing is left.
    assert_eq!(answer["still_pending"], json!(["tr_a2"]));
    assert_eq!(answer["stale"], json!(["tr_a2"]));
    let answer = ask(json!({ "state": { "a1": "done" } })).is(200).json();
    assert_eq!(answer["refused"]["code"], "WF003");
    ask(json!({ "state": { "n": "many" } })).problem(422, "22P02");
    ask(json!({ "state": { "a2": "x" }, "transition": "tr_n" })).problem(404, "WF040");
    assert_eq!(client.get("/v1/flows/f/instances/2/trace").is(200).text, before);
}

#[harness::test]
fn what_if_foresees_the_end_of_an_exception() {
    let (_api, client) = explained();
    break_instance(&client, "f", 2);
    let assumed = json!({ "state": { "a1": "done" } });
    let answer = client.json("POST", "/v1/flows/f/instances/2/what-if", &assumed).is(200).json();
    assert_eq!((&answer["as"], &answer["becomes"]), (&json!("_ADHOC"), &json!("final")));
    assert_eq!(client.get("/v1/flows/f/instances/2").is(200).json()["status"], "exception");
}

#[harness::test]
fn acts_of_operators_are_foreseen_and_change_nothing() {
    let (api, client) = explained();
    let ask = |wid: i32, assumed: Json| client.json("POST", &format!("/v1/flows/f/instances/{wid}/foresee"), &assumed);
    let trace = |wid: i32| client.get(&format!("/v1/flows/f/instances/{wid}/trace")).is(200).text;
    let before = (trace(1), trace(2));
    let skipped = ask(1, json!({ "act": "skip", "transition": "tr_a2" })).is(200).json();
    assert_eq!((&skipped["drops"], &skipped["becomes"]), (&json!(["tr_a2"]), &json!("exception")));
    let cancelled = ask(1, json!({ "act": "cancel" })).is(200).json();
    assert_eq!((&cancelled["becomes"], &cancelled["pending"]), (&json!("final"), &json!([])));
    ask(1, json!({ "act": "skip", "transition": "tr_n" })).problem(404, "WF040");
    ask(1, json!({ "act": "back", "to": 1 })).problem(409, "WF043");
    assert_eq!((trace(1), trace(2)), before);
    break_instance(&client, "f", 2);
    let back = ask(2, json!({ "act": "back", "to": 1 })).is(200).json();
    assert_eq!((&back["undoes"], &back["becomes"]), (&json!([]), &json!("exception")));
    let viewer = api.user(TENANT, "vera", "viewer");
    let skip = json!({ "act": "skip", "transition": "tr_a2" });
    viewer.json("POST", "/v1/flows/f/instances/1/foresee", &skip).problem(403, "not_permitted");
    let shown = super::page(&client, "/console/flows/f/instances/2").is(200).text;
    assert!(shown.contains("value=\"preview-back\"") && shown.contains("value=\"preview-cancel\""));
}

#[harness::test]
fn a_changed_condition_is_compared_over_live_instances() {
    let (_api, client) = explained();
    let ask = |trigger: &str, when: &str| {
        client.json("POST", "/v1/flows/f/what-if", &json!({ "trigger": trigger, "when": when }))
    };
    let answer = ask("t2", "a1 = 'ready'").is(200).json();
    assert_eq!((&answer["looked_at"], &answer["would_hold"], &answer["differ"]), (&json!(3), &json!(3), &json!(3)));
    assert_eq!(answer["instances"][0], json!({ "wid": 1, "holds_now": false, "would_hold": true }));
    let answer = ask("t2", "1 / coalesce(n, 0) > 0").is(200).json();
    assert_eq!((&answer["faults"], &answer["complete"]), (&json!(3), &json!(true)));
    // What the guard refuses is refused here too, and the definition is as it was.
    ask("t2", "true); DROP TABLE wed.job; --").problem(422, "WF011");
    ask("t2", "pg_sleep(10) is null").problem(422, "WF011");
    ask("none", "true").problem(404, "WF040");
    let flow = client.get("/v1/flows/f").is(200).json();
    assert!(flow["triggers"][1]["when"].as_str().is_some_and(|when| when.contains("n > 3")));
}

#[harness::test]
fn another_tenants_instance_is_as_good_as_missing() {
    let (api, _client) = explained();
    crate::support::on(api.database.store.create_tenant("other", "")).expect("a tenant");
    let other = api.user("other", "bob", "admin");
    for path in ["instances/2/why", "graph"] {
        other.get(&format!("/v1/flows/f/{path}")).problem(404, "not_found");
    }
}
