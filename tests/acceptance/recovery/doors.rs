//! Operators' actions are the same over SQL, HTTP and the command line; a role permits each.

use serde_json::json;

use super::operators::exception;
use crate::support::Flow;
use crate::support::flows::PAPER;
use crate::support::http::Api;

#[harness::test]
fn flows_own_role_operates_in_sql() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    let wid = s.start();
    assert_eq!(s.line(&format!("SELECT wed_pause({wid}, 'holiday')")), "t");
    assert_eq!(s.line("SELECT DISTINCT waits_code FROM wed_waiting"), "paused");
    assert_eq!(s.line(&format!("SELECT wed_resume({wid})")), "t");
    assert_eq!(s.line("SELECT wed_pause_flow('why', 'tr_a2')"), "t");
    assert_eq!(s.line("SELECT wed_resume_flow('tr_a2')"), "t");
    for transition in ["tr_a2", "tr_a3"] {
        s.line(&format!("SELECT wed_skip({wid}, '{transition}', 'not needed')"));
    }
    let listed = s.lines("SELECT wid, failed, refused FROM wed_retry_matching(message => 'not needed')");
    assert_eq!(listed, [format!("{wid}|tr_a3|·")]);
    assert_eq!(s.status(wid), "E", "listed only");
    s.lines("SELECT * FROM wed_retry_matching(preview => false, reason => 'again')");
    assert_eq!(s.pending(wid), ["tr_a2", "tr_a3"]);
    s.line(&format!("SELECT wed_cancel({wid}, 'no more')"));
    let mut owner = flow.database.owner();
    assert_eq!(
        owner.number("SELECT count(*) FROM wed.audit WHERE actor = (SELECT role_name FROM wed.flow)"),
        8,
        "each on record"
    );
    let wid = exception(&mut owner, &flow);
    s.refused(&format!("SELECT wed_set({wid}, '{{}}', 'x')")).expect("42703");
    assert_eq!(s.line(&format!("SELECT wed_set({wid}, '{{\"a2\": \"x\", \"a3\": \"y\"}}', 'by hand')")), "R");
}

#[harness::test]
fn operators_act_over_http() {
    let flow = Flow::of(PAPER);
    let mut owner = flow.database.owner();
    let api = Api::of(&flow.database);
    let ann = api.user("default", "ann", "operator");
    let wid = exception(&mut owner, &flow);
    let at = |what: &str| format!("/v1/flows/trial/instances/{wid}/{what}");
    let count = ann.json("POST", "/v1/flows/trial/retry", &json!({})).is(200).json();
    assert_eq!((&count["matching"], &count["retried"]), (&json!(1), &json!([])));
    ann.json("POST", &at("retry"), &json!({})).is(200);
    ann.json("POST", "/v1/pause", &json!({ "reason": "night" })).is(200);
    let waiting = ann.get(&at("waiting")).is(200).json();
    assert_eq!(waiting["items"][0]["code"], "paused");
    let pauses = ann.get("/v1/pauses").is(200).json();
    assert_eq!(pauses["items"][0]["reason"], "night");
    ann.json("POST", "/v1/resume", &json!({})).is(200);
    assert!(ann.get("/v1/pauses").is(200).json()["items"].as_array().is_some_and(Vec::is_empty));
    ann.json("POST", &at("cancel"), &json!({ "reason": " " })).problem(422, "WF041");
    ann.json("POST", &at("cancel"), &json!({ "reason": "ordered twice" })).is(200);
    assert_eq!(
        owner.lines(
            "SELECT action FROM wed.audit WHERE actor LIKE '%ann%' AND actor <> 'ann' AND action !~ \
         '^(user|token)' ORDER BY audit_id"
        ),
        ["instance.retry", "pause", "resume", "instance.cancel"]
    );
}

#[harness::test]
fn why_nothing_is_fired_is_told_over_http_and_in_sql() {
    let flow = Flow::of(PAPER);
    let mut owner = flow.database.owner();
    let wid = exception(&mut owner, &flow);
    let mut s = flow.session();
    let satisfied = "SELECT string_agg(\"trigger\" || holds, ' ') FROM wed_conditions";
    let before = s.line(&format!("{satisfied}({wid})"));
    assert!(before.contains("true"), "{before}");
    s.line(&format!("SELECT wed_set({wid}, '{{\"a1\": null}}', 'by hand')"));
    let none = s.line(&format!("{satisfied}({wid})"));
    assert!(!none.contains("true"), "{none}");
    s.refused("SELECT * FROM wed_conditions(999)").expect("WF040");

    let api = Api::of(&flow.database);
    let ann = api.user("default", "ann", "viewer");
    let at = |wid| format!("/v1/flows/trial/instances/{wid}/conditions");
    let told = ann.get(&at(wid)).is(200).json();
    assert_eq!(told["status"], "exception");
    assert!(told["reason"].as_str().is_some_and(|why| !why.is_empty()), "{told}");
    let items = told["items"].as_array().expect("conditions");
    let holds: Vec<_> = items.iter().map(|one| one["holds"].as_bool()).collect();
    assert_eq!(holds.len(), usize::try_from(s.number("SELECT count(*) FROM wed_trig")).expect("few"));
    assert!(holds.iter().all(|holds| *holds == Some(false)), "{told}");
    assert_eq!(items.last().map(|one| &one["final"]), Some(&json!(true)), "the final one last");
    ann.get(&at(999)).problem(404, "not_found");
}

#[harness::test]
fn definitions_are_previewed_compared_and_rolled_back_over_http() {
    let flow = Flow::of("");
    let api = Api::of(&flow.database);
    let ann = api.user("default", "ann", "developer");
    let definition = |limit: i32| {
        json!({ "name": "steps", "final": format!("n >= {limit}"),
                "attribute": [{ "name": "n", "type": "integer", "default": "0" }],
                "trigger": [{ "name": "t", "when": format!("n < {limit}"), "transition": "step" }] })
    };
    ann.json("PUT", "/v1/flows/steps", &definition(3)).is(201);
    ann.json("POST", "/v1/flows/steps/instances", &json!({ "state": { "n": 2 } })).is(201);
    let shown = ann.json("POST", "/v1/flows/steps/preview", &definition(2)).is(200).json();
    let changed = shown["would_apply"]["triggers_changed"].to_string();
    assert!(changed.contains("\"t\""), "{shown}");
    let versions = || ann.get("/v1/flows/steps/versions").is(200).json()["items"].as_array().map(Vec::len);
    assert_eq!(versions(), Some(1), "a preview changes nothing");
    ann.json("PUT", "/v1/flows/steps", &definition(5)).is(200);
    let lines = ann.get("/v1/flows/steps/diff").is(200).json()["lines"].to_string();
    assert!(lines.contains("- final = \\\"n >= 3\\\""), "{lines}");
    ann.json("POST", "/v1/flows/steps/rollback", &json!({})).is(200);
    assert_eq!(versions(), Some(2));
    let apply = json!({ "apply": true });
    ann.json("POST", "/v1/flows/steps/rollback", &apply).is(200);
    let mut owner = flow.database.owner();
    assert!(owner.line("SELECT predicate FROM wed.trigger WHERE cfinal").contains('3'));
    ann.json("POST", "/v1/flows/steps/rematch", &json!({})).is(200);
    ann.get("/v1/flows/steps/diff?old=1&new=99").problem(404, "not_found");
}

#[harness::test]
fn participants_and_viewers_do_not_operate() {
    let flow = Flow::of(PAPER);
    let wid = flow.session().start();
    let api = Api::of(&flow.database);
    for role in ["participant", "viewer"] {
        let one = api.user("default", role, role);
        for (path, body) in [
            (format!("/v1/flows/trial/instances/{wid}/cancel"), json!({ "reason": "x" })),
            (format!("/v1/flows/trial/instances/{wid}/pause"), json!({ "reason": "x" })),
            (format!("/v1/flows/trial/instances/{wid}/skip"), json!({ "transition": "tr_a2", "reason": "x" })),
            ("/v1/flows/trial/retry".to_owned(), json!({})),
            ("/v1/flows/trial/pause".to_owned(), json!({ "reason": "x" })),
            ("/v1/pause".to_owned(), json!({ "reason": "x" })),
        ] {
            one.json("POST", &path, &body).problem(403, "not_permitted");
        }
    }
    assert_eq!(flow.session().pending(wid).len(), 2);
}

#[harness::test]
fn webhooks_are_kept_over_http() {
    let flow = Flow::of(PAPER);
    let api = Api::of(&flow.database);
    let admin = api.user("default", "ann", "admin");
    let place = json!({ "url": "https://example.com/hook", "flow": "trial" });
    let set = admin.json("PUT", "/v1/webhooks", &place).is(200).json();
    assert!(set["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")));
    let listed = admin.get("/v1/webhooks").is(200).json();
    assert_eq!(listed["items"][0]["flow"], "trial");
    assert!(listed["items"][0].get("secret").is_none(), "shown once");
    admin.json("PUT", "/v1/webhooks", &json!({ "url": "ftp://x" })).is(422);
    api.user("default", "bob", "viewer").json("PUT", "/v1/webhooks", &place).problem(403, "not_permitted");
    admin.json("DELETE", "/v1/webhooks", &place).is(204);
    admin.json("DELETE", "/v1/webhooks", &place).problem(404, "WF040");
}
