//! The three steps of the gate's decision (`wed.decide`), each over a table of cases. A row is given by the fields that
//! matter, and the answer is compared by the fields that are named.

use serde_json::{Value as Json, json};

use crate::support::{Database, Session};

/// A new state that satisfies nothing.
const STATE: &str = r#"{"flow_id": 1, "version": 1, "wid": 1, "state": "{}", "fired": [], "final": false}"#;
/// A pool of which one job ends, the only one.
const POOL: &str = r#"{"row_id": "(0,1)", "trname": "t", "attempt": 1, "others": 0, "pending": [],
  "has_exception": false, "has_waiting": false, "is_compensation": false, "status": "R", "last_seq": 4, "version": 1,
  "waits": []}"#;
const OUTCOME: &str = r#"{"becomes": "R", "changes": false, "fires_exception": false, "fire": []}"#;

/// Compares a step's answers, as documents, with what each case expects of them.
fn hold(session: &mut Session, step: &str, cases: &[(&str, Json, Json)]) {
    for (name, given, expected) in cases {
        let answer: Json = session
            .query_one(
                &format!(
                    "SELECT to_jsonb(answer) FROM (SELECT $1::jsonb AS given) g, LATERAL (SELECT
                       jsonb_populate_record(jsonb_populate_record(NULL::wed.evaluated, '{STATE}'), given -> 'state')
                         AS state,
                       jsonb_populate_record(NULL::wed.finished, given -> 'finished') AS finished,
                       jsonb_populate_record(jsonb_populate_record(NULL::wed.pool, '{POOL}'), given -> 'pool') AS pool,
                       jsonb_populate_record(jsonb_populate_record(NULL::wed.outcome, '{OUTCOME}'), given -> 'outcome')
                         AS outcome,
                       coalesce(given ->> 'cause', 'transition')::wed.cause AS cause) c, LATERAL {step} answer"
                ),
                &[given],
            )
            .unwrap_or_else(|error| panic!("{name}: {error:?}"))
            .get::<_, Option<Json>>(0)
            .unwrap_or_default();
        match expected.as_object() {
            Some(fields) => {
                for (field, value) in fields {
                    assert_eq!(&answer[field], value, "{name}: {field} of {answer}");
                }
            }
            None => assert_eq!(&answer, expected, "{name}"),
        }
    }
}

#[harness::test]
fn outcome_follows_from_the_state_and_the_pool() {
    let database = Database::new();
    let cases = [
        (
            "nothing is left to do",
            json!({}),
            json!({"becomes": "E", "fires_exception": true, "changes": true,
          "fire": [], "siblings": 0, "seq": 5}),
        ),
        (
            "a trigger fires",
            json!({"state": {"fired": [7]}}),
            json!({"becomes": "R", "fire": [7], "siblings": 0,
          "changes": false, "fires_exception": false, "satisfied": null}),
        ),
        ("two fire: each has one sibling", json!({"state": {"fired": [8, 7]}}), json!({"siblings": 1})),
        (
            "a new instance",
            json!({"pool": {"row_id": null, "status": null, "last_seq": null},
          "state": {"fired": [7]}}),
            json!({"seq": 1, "becomes": "R", "changes": false}),
        ),
        (
            "a pending trigger is not fired again",
            json!({"pool": {"others": 1, "pending": [7]},
          "state": {"fired": [7, 8]}}),
            json!({"fire": [8], "satisfied": [7, 8], "siblings": 1}),
        ),
        ("others are pending", json!({"pool": {"others": 1, "pending": [7]}}), json!({"becomes": "R", "fire": []})),
        (
            "a group that was not evaluated keeps its value",
            json!({"pool": {"satisfied": [(1_i64 << 32) + 7, 9]},
          "state": {"kept": [1], "fired": [(2_i64 << 32) + 8]}}),
            json!({"fire": [7, 8],
          "satisfied": [(2_i64 << 32) + 8, (1_i64 << 32) + 7]}),
        ),
        (
            "final suppresses what fires",
            json!({"state": {"final": true, "fired": [7]}}),
            json!({"becomes": "F", "fire": [], "changes": true, "fires_exception": false, "siblings": -1}),
        ),
        (
            "final while others are pending",
            json!({"state": {"final": true}, "pool": {"others": 1, "pending": [7]}}),
            json!({"becomes": "R"}),
        ),
        (
            "a condition fails",
            json!({"state": {"fault": "division by zero", "fired": [7]}}),
            json!({"becomes": "E", "forced": "division by zero", "fire": []}),
        ),
    ];
    hold(&mut database.owner(), "wed.decide_outcome(state, pool, cause, NULL)", &cases);
}

#[harness::test]
fn outcome_minds_waits() {
    let database = Database::new();
    let cases = [
        (
            "a wait holds",
            json!({"state": {"fired": [7]}, "pool": {"others": 1, "pending": [7], "waits": [7]}}),
            json!({"becomes": "R", "fire": [], "ends": [], "siblings": 0}),
        ),
        (
            "a wait holds no longer",
            json!({"pool": {"others": 1, "pending": [7], "waits": [7]}}),
            json!({"becomes": "E", "ends": [7], "siblings": 0}),
        ),
        (
            "final ends all waits",
            json!({"state": {"final": true, "fired": [7]}, "pool": {"others": 1, "pending": [7], "waits": [7]}}),
            json!({"becomes": "F", "ends": [7], "siblings": -1}),
        ),
        (
            "final while another job is pending",
            json!({"state": {"final": true, "fired": [7]}, "pool": {"others": 2, "pending": [7, 8], "waits": [7]}}),
            json!({"becomes": "R", "ends": [], "siblings": 1}),
        ),
        (
            "the clock says nothing of waits",
            json!({"state": {"fired": [8]}, "cause": "_CLOCK", "pool": {"row_id": null, "others": 1, "pending": [7],
          "waits": [7]}}),
            json!({"becomes": "R", "fire": [8], "ends": []}),
        ),
    ];
    hold(&mut database.owner(), "wed.decide_outcome(state, pool, cause, NULL)", &cases);
}

#[harness::test]
fn outcome_minds_exceptions_and_compensations() {
    let database = Database::new();
    let cases = [
        (
            "an exception is being served",
            json!({"pool": {"has_exception": true, "others": 1, "pending": [5],
          "status": "E"}, "state": {"fired": [7]}}),
            json!({"becomes": "E", "fires_exception": false,
          "changes": false, "fire": [7]}),
        ),
        (
            "the exception's job ends",
            json!({"pool": {"trname": "_EXCPT", "status": "E"}, "state": {"fired": [7]}}),
            json!({"becomes": "R", "changes": true}),
        ),
        (
            "a compensation ends",
            json!({"pool": {"is_compensation": true}, "state": {"fired": [7]}}),
            json!({"becomes": "E", "forced": "undone by t", "fire": []}),
        ),
        (
            "a compensation is skipped",
            json!({"pool": {"is_compensation": true}, "cause": "_SKIP"}),
            json!({"becomes": "E", "forced": null}),
        ),
        (
            "an event beside a compensation fires nothing",
            json!({"pool": {"is_compensation": true, "row_id": null,
          "trname": null, "others": 1, "pending": [5]}, "cause": "_EVENT", "state": {"fired": [7]}}),
            json!({"becomes": "R", "fire": [], "forced": null}),
        ),
    ];
    hold(&mut database.owner(), "wed.decide_outcome(state, pool, cause, NULL)", &cases);
}

#[harness::test]
fn first_fired_job_takes_over_the_row_only_where_the_host_runs_it_now() {
    let database = Database::new();
    let mut owner = database.owner();
    database.flow("f");
    owner.run(
        "INSERT INTO wed.component (tenant_id, name, version, digest, bytes, manifest)
           SELECT tenant_id, 'c', 1, repeat('0', 64), '', '{}' FROM wed.flow;
         INSERT INTO wed.trigger (tgid, flow_id, tenant_id, tgname, trname, timeout, delay, priority, attempts, backoff,
             cfinal, enabled, recheck, component_id, constrained)
         SELECT t.tgid, f.flow_id, f.tenant_id, t.tgname, 't', '1 s', t.delay::interval, 0, 1, '1 s', false, true, true,
           CASE WHEN t.bound THEN (SELECT component_id FROM wed.component) END, t.constrained
         FROM wed.flow f, (VALUES (101, 'now', '0', true, false), (102, 'later', '1 day', true, false),
           (103, 'worker', '0', false, false), (104, 'reserves', '0', true, true))
           t(tgid, tgname, delay, bound, constrained)",
    );
    let cases = [
        ("nothing fires", json!({}), json!({"reuses_row": false, "fire": [], "tgid": null})),
        (
            "a host runs it now",
            json!({"outcome": {"fire": [101, 102]}}),
            json!({"reuses_row": true, "fire": [102], "tgid": 101, "tgname": "now", "timeout_ms": 1000}),
        ),
        (
            "no job ends",
            json!({"outcome": {"fire": [101]}, "pool": {"row_id": null}}),
            json!({"reuses_row": false, "fire": [101]}),
        ),
        ("it is due later", json!({"outcome": {"fire": [102]}}), json!({"reuses_row": false, "fire": [102]})),
        ("a worker or a person does it", json!({"outcome": {"fire": [103]}}), json!({"reuses_row": false})),
        ("it reserves", json!({"outcome": {"fire": [104]}}), json!({"reuses_row": true, "constrained": true})),
        (
            "it reserves, and no transition wrote",
            json!({"outcome": {"fire": [104]}, "cause": "_RETRY"}),
            json!({"reuses_row": false}),
        ),
    ];
    hold(&mut owner, "wed.decide_next_job((outcome).fire, (pool).row_id IS NOT NULL, cause, true)", &cases);
    let no_room = [("the host has no room", json!({"outcome": {"fire": [101]}}), json!({"reuses_row": false}))];
    hold(&mut owner, "wed.decide_next_job((outcome).fire, (pool).row_id IS NOT NULL, cause, false)", &no_room);
}

#[harness::test]
fn each_rule_refuses_by_its_own_code() {
    let database = Database::new();
    let lost = json!({"row_id": null, "trname": null, "others": 1, "pending": [5]});
    let gone = json!({"row_id": null, "trname": null, "status": null});
    let cases = [
        ("nothing forbids it", json!({"finished": {"tgid": 5}}), json!(null)),
        ("a start", json!({"pool": gone}), json!(null)),
        ("the claim was lost", json!({"finished": {"tgid": 5}, "pool": lost}), json!("40001")),
        ("the instance is final", json!({"cause": "_EVENT", "pool": gone}), json!("WF002")),
        ("final while others are pending", json!({"state": {"final": true}, "pool": {"others": 1}}), json!("WF007")),
        ("the others only wait", json!({"state": {"final": true}, "pool": {"others": 1, "waits": [7]}}), json!(null)),
        ("so by an event", json!({"cause": "_EVENT", "state": {"final": true}, "pool": {"others": 1}}), json!("WF007")),
        ("an operator may", json!({"cause": "_RETRY", "state": {"final": true}, "pool": {"others": 1}}), json!(null)),
        (
            "it must be an exception anyhow",
            json!({"state": {"final": true}, "pool": {"others": 1},
          "outcome": {"forced": "no"}}),
            json!(null),
        ),
        ("values of another version were kept", json!({"state": {"kept": [1], "version": 2}}), json!("40001")),
    ];
    hold(&mut database.owner(), "wed.find_refusal(state, finished, pool, outcome, cause)", &cases);
}

#[harness::test]
fn states_and_jobs_are_paired_by_flow_and_wid_and_never_by_position() {
    let database = Database::new();
    let mut owner = database.owner();
    let flows: Vec<_> = ["f", "g"].map(|name| database.flow(name)).into();
    for flow in &flows {
        let mut s = flow.session();
        s.run(
            "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
             INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('a', 'a', 'n = 0');
             INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 1', true);
             INSERT INTO wed_flow DEFAULT VALUES; INSERT INTO wed_flow DEFAULT VALUES",
        );
    }
    let decided = |owner: &mut Session, order: &str, of: &str| {
        owner.lines(&format!(
            "SELECT concat_ws(' ', f.name, (d.instance).wid, (d.finished).token, (d.pool).from_seq, d.refusal)
             FROM unnest(wed.decide(
               ARRAY(SELECT r FROM wed.flow f, unnest(wed.as_it_stands(f.flow_id, 1) || wed.as_it_stands(f.flow_id, 2)) r),
               ARRAY(SELECT ROW(j.flow_id, j.wid, j.tgid, j.token, 0, 0, 0)::wed.finished FROM wed.job j
                 WHERE {of} ORDER BY j.flow_id {order}, j.wid {order}), 'transition', NULL, false)) d
             LEFT JOIN wed.flow f ON f.flow_id = (d.instance).flow_id
             ORDER BY f.name, (d.instance).wid"
        ))
    };
    let all = decided(&mut owner, "", "true");
    assert_eq!(all, ["f 1 0 1", "f 2 0 1", "g 1 0 1", "g 2 0 1"]);
    assert_eq!(all, decided(&mut owner, "DESC", "true"));
    assert_eq!(decided(&mut owner, "", "j.wid = 2"), ["f 1", "f 2 0 1", "g 1", "g 2 0 1"]);
    let of_none = owner.line(
        "SELECT d.refusal FROM unnest(wed.decide('{}', wed.finished_job(1, 1, 1, 0), 'transition', NULL, false)) d",
    );
    assert_eq!(of_none, "40001");
}
