//! Typed attributes: every type, its edge values, and changes of the model while instances live.

use std::sync::Arc;

use crate::support::flows::{PAPER, STEPS};
use crate::support::{Database, Flow, Session};

/// A flow with one attribute `v` of a type, set by a transition and by an event alike.
fn flow_of(kind: &str) -> Session {
    let flow = Database::new().flow("typed");
    let mut s = flow.session();
    s.execute("INSERT INTO wed_attr (aname, atype, open) VALUES ('v', $1, true)", &[&kind]).expect("the attribute");
    s.run(
        "INSERT INTO wed_attr (aname, adv) VALUES ('phase', 'one');
         INSERT INTO wed_trig (trname, cpred) VALUES ('one', $$phase = 'one'$$), ('two', $$phase = 'two'$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$phase = 'end'$$, true);",
    );
    s
}

/// Each literal is inserted, set by a transition, and set by an event; the state in the trace and the payload gives
/// back the same value.
fn round_trips(kind: &str, cast: &str, literals: &[&str]) {
    let mut s = flow_of(kind);
    for literal in literals {
        let value = format!("{}::{cast}", quoted(literal));
        let inserted = s.number(&format!("INSERT INTO wed_flow (v) VALUES ({value}) RETURNING wid"));
        let set = s.start();
        s.finish(set, "one", &format!("v = {value}, phase = 'two'"));
        let event = s.start();
        s.run(&format!("UPDATE wed_flow SET v = {value} WHERE wid = {event}"));
        for (wid, from) in [(inserted, "INSERT"), (set, "UPDATE"), (event, "event")] {
            let same = |source: &str| {
                format!(
                    "SELECT (jsonb_populate_record(NULL::wed_flow, x)).v::text IS NOT DISTINCT FROM ({value})::text \
                     FROM ({source}) AS y(x)"
                )
            };
            for (what, source) in [
                ("the column", format!("SELECT to_jsonb(f) FROM wed_flow f WHERE wid = {wid}")),
                ("the trace", format!("SELECT state FROM wed_trace WHERE wid = {wid} ORDER BY seq DESC LIMIT 1")),
                (
                    "the payload",
                    match from {
                        "event" => format!("SELECT state FROM wed_trace WHERE wid = {wid} ORDER BY seq DESC LIMIT 1"),
                        _ => format!("SELECT payload FROM job_pool WHERE wid = {wid}"),
                    },
                ),
            ] {
                assert_eq!(s.lines(&same(&source)), ["t"], "{kind} {literal:.60} by {from}, in {what}");
            }
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[harness::test]
fn text_round_trips() {
    let long = "x".repeat(100_000);
    let odd = "line\nbreak\ttab \"quote\" 'apostrophe' \\back\u{7f} \u{1f600} é ﷽ \u{202e}";
    round_trips("text", "text", &["", " ", "null", "NULL", "'", "''", "{}", "$1", "\\u0000", odd, &long]);
}

#[harness::test]
fn integer_and_bigint_round_trip() {
    round_trips("integer", "integer", &["0", "-1", "2147483647", "-2147483648"]);
    round_trips("bigint", "bigint", &["0", "9007199254740993", "9223372036854775807", "-9223372036854775808"]);
}

#[harness::test]
fn numeric_and_float_round_trip() {
    let digits = format!("{}.{}", "9".repeat(100), "1".repeat(100));
    round_trips("numeric", "numeric", &["0", "-0.000", "79.80", "1e-30", "NaN", "Infinity", "-Infinity", &digits]);
    round_trips(
        "float",
        "double precision",
        &["0", "0.1", "1e308", "5e-324", "-1.7976931348623157e308", "NaN", "Infinity", "-Infinity"],
    );
}

#[harness::test]
fn boolean_and_uuid_round_trip() {
    round_trips("boolean", "boolean", &["t", "f"]);
    round_trips("uuid", "uuid", &["00000000-0000-0000-0000-000000000000", "FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF"]);
}

#[harness::test]
fn instants_dates_and_intervals_round_trip() {
    round_trips(
        "timestamptz",
        "timestamptz",
        &[
            "2026-02-28 23:59:59.999999+14",
            "1970-01-01 00:00:00Z",
            "0001-01-01 00:00:00Z",
            "4713-01-01 00:00:00Z BC",
            "294276-12-31 23:59:59.999999Z",
            "infinity",
            "-infinity",
        ],
    );
    round_trips(
        "date",
        "date",
        &["2024-02-29", "0001-01-01", "4713-01-01 BC", "5874897-12-31", "infinity", "-infinity"],
    );
    round_trips(
        "interval",
        "interval",
        &["0", "1 year 2 mons -3 days 04:05:06.000007", "-178000000 years", "3d18h", "00:00:00.000001"],
    );
}

#[harness::test]
fn jsonb_round_trips() {
    round_trips(
        "jsonb",
        "jsonb",
        &["true", "\"text\"", "1e1000", "[]", "{}", r#"{"a": [1, {"b": null}], "": "\"'\\ \ud83d\ude00", "wid": 1}"#],
    );
}

#[harness::test]
fn arrays_round_trip() {
    round_trips("integer[]", "integer[]", &["{}", "{1}", "{1,NULL,-2147483648}"]);
    round_trips("text[]", "text[]", &["{}", r#"{"",NULL,"null","a,b","{","\"","\\"}"#]);
    round_trips("numeric[]", "numeric[]", &["{1.50,NULL,1e-20}"]);
    round_trips("float[]", "double precision[]", &["{0.1,NaN,-Infinity,NULL}"]);
    round_trips("bigint[]", "bigint[]", &["{9223372036854775807}"]);
    round_trips("boolean[]", "boolean[]", &["{t,f,NULL}"]);
    round_trips("timestamptz[]", "timestamptz[]", &["{2026-01-01 00:00:00.000001Z,infinity,NULL}"]);
    round_trips("date[]", "date[]", &["{2024-02-29,infinity}"]);
    round_trips("interval[]", "interval[]", &["{1 mon -1 day,NULL}"]);
    round_trips("uuid[]", "uuid[]", &["{00000000-0000-0000-0000-000000000000,NULL}"]);
    round_trips("jsonb[]", "jsonb[]", &[r#"{"{\"a\": 1}","[]",NULL}"#]);
    round_trips("enum(a, b)[]", "text[]", &["{}", "{a,b,a}"]);
}

#[harness::test]
fn enums_round_trip_and_refuse_other_labels() {
    round_trips("enum(small, middle size, LARGE)", "text", &["small", "middle size", "LARGE"]);
    let mut s = flow_of("enum(small,large)");
    s.refused("INSERT INTO wed_flow (v) VALUES ('Small')").expect("23514");
    s.refused("INSERT INTO wed_flow (v) VALUES ('')").expect("23514");
    let wid = s.number("INSERT INTO wed_flow (v) VALUES (NULL) RETURNING wid");
    s.refused("UPDATE wed_flow SET v = 'medium'").expect("23514");
    s.finish_refused(wid, "one", "v = 'medium'").expect("23514");
    assert_eq!(s.line(&format!("SELECT v FROM wed_flow WHERE wid = {wid}")), "·");
    let mut s = flow_of("enum(a,b)[]");
    s.refused("INSERT INTO wed_flow (v) VALUES ('{a,c}')").expect("23514");
}

#[harness::test]
fn a_value_that_does_not_fit_its_type_is_refused() {
    for (kind, literal, code) in [
        ("integer", "'x'", "22P02"),
        ("integer", "2147483648", "22003"),
        ("boolean", "'perhaps'", "22P02"),
        ("timestamptz", "'2023-02-29'", "22008"),
        ("date", "'soon'", "22007"),
        ("uuid", "'1234'", "22P02"),
        ("jsonb", "'{'", "22P02"),
        ("integer[]", "'{1,x}'", "22P02"),
    ] {
        let mut s = flow_of(kind);
        let refusal = s.refused(&format!("INSERT INTO wed_flow (v) VALUES ({literal})"));
        assert_eq!(refusal.code, code, "{kind} {literal}: {refusal:?}");
    }
}

#[harness::test]
fn a_default_that_does_not_fit_its_type_is_refused() {
    let mut s = flow_of("integer");
    s.refused("INSERT INTO wed_attr (aname, atype, adv) VALUES ('w', 'integer', 'many')").expect("22P02");
    s.refused("UPDATE wed_attr SET adv = 'many' WHERE aname = 'v'").expect("22P02");
    // A default is a value, not an expression.
    s.run("INSERT INTO wed_attr (aname, adv) VALUES ('t', 'now()''; DROP TABLE wed_flow; --')");
    let wid = s.start();
    assert_eq!(s.line(&format!("SELECT t FROM wed_flow WHERE wid = {wid}")), "now()'; DROP TABLE wed_flow; --");
}

#[harness::test]
fn every_name_of_a_type_is_known_and_no_other() {
    let mut s = Database::new().flow("types").session();
    for (at, kind) in [
        "text",
        "TEXT",
        " text ",
        "integer",
        "int",
        "int4",
        "bigint",
        "int8",
        "numeric",
        "decimal",
        "float",
        "float8",
        "double precision",
        "boolean",
        "bool",
        "timestamptz",
        "timestamp with time zone",
        "date",
        "interval",
        "uuid",
        "jsonb",
        "enum(a)",
        "enum(a, b)",
        "Enum (a,b)",
        "text []",
    ]
    .iter()
    .enumerate()
    {
        s.execute("INSERT INTO wed_attr (aname, atype) VALUES ($1, $2)", &[&format!("a{at}"), kind])
            .unwrap_or_else(|error| panic!("{kind}: {error:?}"));
    }
    for kind in [
        "",
        "money",
        "json",
        "xml",
        "bytea",
        "timestamp",
        "oid",
        "regclass",
        "char(3)",
        "varchar",
        "numeric(10,2)",
        "enum()",
        "enum(a,,b)",
        "enum",
        "text[][]",
        "text; DROP TABLE wed_attr",
        "wed_flow",
        "serial",
        "int4range",
    ] {
        let error = s.execute("INSERT INTO wed_attr (aname, atype) VALUES ('bad', $1)", &[&kind]).expect_err(kind);
        let refusal = crate::support::session::Refusal::of(&error);
        assert_eq!(refusal.code, "WF012", "{kind}: {refusal:?}");
        assert!(refusal.hint.contains("jsonb"), "{kind}: {refusal:?}");
    }
}

#[harness::test]
fn a_default_holds_for_new_instances_only() {
    let mut s = Flow::of(PAPER).session();
    let old = s.start();
    s.run("UPDATE wed_attr SET adv = 'given' WHERE aname = 'a2'");
    let new = s.start();
    assert_eq!(s.line(&format!("SELECT a2 FROM wed_flow WHERE wid = {old}")), "·");
    assert_eq!(s.line(&format!("SELECT a2 FROM wed_flow WHERE wid = {new}")), "given");
    assert_eq!(s.pending(new), ["tr_a3"]);
}

#[harness::test]
fn an_attribute_is_added_while_instances_live() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    s.finish(wid, "tr_a2", "a2 = 'done'");
    s.run("INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '5'), ('m', 'text', NULL)");
    assert_eq!(s.trace(wid).len(), 2, "the change of the model is no new state");
    s.finish(wid, "tr_a3", "a3 = 'done', n = n + 1");
    assert_eq!(s.line("SELECT state ->> 'n', state ? 'm' FROM wed_trace ORDER BY seq DESC LIMIT 1"), "6|t");
    assert_eq!(s.pending(wid), ["tr_final"]);
}

#[harness::test]
fn an_attribute_is_added_while_others_read_and_write() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (n) SELECT 0 FROM generate_series(1, 30)");
    let writer = {
        let mut s = flow.session();
        std::thread::spawn(move || {
            for wid in 1..=30 {
                for _ in 0..3 {
                    s.run("BEGIN");
                    // Nobody gets a job while a definition is written.
                    while !s.take(wid, "step") {
                        s.run("ROLLBACK; BEGIN");
                    }
                    s.run(&format!("UPDATE wed_flow SET n = n + 1 WHERE wid = {wid}; COMMIT"));
                }
            }
        })
    };
    for number in 0..10 {
        s.run(&format!("INSERT INTO wed_attr (aname, adv) VALUES ('extra{number}', 'x')"));
        s.start();
    }
    writer.join().expect("the writer");
    assert_eq!(s.number("SELECT count(*) FROM wed_instance WHERE status = 'F'"), 30);
    assert_eq!(s.number("SELECT count(*) FROM wed_flow WHERE extra9 = 'x'"), 40);
}

#[harness::test]
fn a_renamed_attribute_is_followed_by_conditions_writes_and_instances() {
    let mut s = Flow::of(PAPER).session();
    s.run("UPDATE wed_trig SET writes = '{a2,a3}' WHERE tgname = 't1'");
    let wid = s.start();
    s.run("UPDATE wed_attr SET aname = 'hotel' WHERE aname = 'a2'");
    assert_eq!(s.line("SELECT cpred LIKE '%hotel IS NULL%', writes FROM wed_trig WHERE tgname = 't1'"), "t|{hotel,a3}");
    assert_eq!(s.number("SELECT count(*) FROM wed_trig WHERE cpred LIKE '%a2%'"), 0);
    s.finish(wid, "tr_a2", "hotel = 'booked'");
    s.finish(wid, "tr_a3", "a3 = 'done'");
    assert_eq!(s.pending(wid), ["tr_final"]);
    let next = s.start();
    assert_eq!(s.pending(next), ["tr_a2", "tr_a3"]);
    s.refused("UPDATE wed_attr SET aname = 'hotel' WHERE aname = 'a3'");
}

#[harness::test]
fn names_of_two_attributes_may_be_exchanged_by_way_of_a_third() {
    let mut s = Flow::of(PAPER).session();
    s.run(
        "BEGIN; UPDATE wed_attr SET aname = 'x' WHERE aname = 'a2'; UPDATE wed_attr SET aname = 'a2' WHERE aname = 'a3';
         UPDATE wed_attr SET aname = 'a3' WHERE aname = 'x'; COMMIT",
    );
    let wid = s.start();
    // What fired tr_a2 looks at the attribute now called a3.
    s.finish(wid, "tr_a2", "a3 = 'done'");
    s.finish(wid, "tr_a3", "a2 = 'done'");
    assert_eq!(s.pending(wid), ["tr_final"]);
}

#[harness::test]
fn an_attribute_that_a_condition_uses_is_not_dropped() {
    let mut s = Flow::of(PAPER).session();
    let refusal = s.refused("DELETE FROM wed_attr WHERE aname = 'a2'").expect("WF013");
    assert!(refusal.message.contains("t1") && refusal.message.contains("tf"), "{refusal:?}");
    assert_eq!(s.number("SELECT count(*) FROM wed_attr"), 3);
    s.start();
}

#[harness::test]
fn an_attribute_that_nothing_uses_is_dropped() {
    let mut s = Flow::of(PAPER).session();
    s.run("INSERT INTO wed_attr (aname, adv) VALUES ('remark', 'x')");
    let wid = s.start();
    s.run("DELETE FROM wed_attr WHERE aname = 'remark'");
    assert_eq!(s.lines("SELECT * FROM wed_flow"), ["1|ready|·|·"]);
    s.finish(wid, "tr_a2", "a2 = 'done'");
    assert_eq!(s.lines("SELECT state ? 'remark' FROM wed_trace ORDER BY seq"), ["t", "f"], "history keeps what it was");
    // The name is free again.
    s.run("INSERT INTO wed_attr (aname, atype) VALUES ('remark', 'integer')");
    s.start();
}

#[harness::test]
fn a_type_changes_only_while_there_are_no_instances() {
    let mut s = Database::new().flow("changing").session();
    s.run("INSERT INTO wed_attr (aname) VALUES ('n')");
    s.run("UPDATE wed_attr SET atype = 'integer', adv = '3' WHERE aname = 'n'");
    s.run("INSERT INTO wed_trig (trname, cpred) VALUES ('t', 'n > 2')");
    s.refused("UPDATE wed_attr SET atype = 'text' WHERE aname = 'n'").expect("WF013");
    s.run("INSERT INTO wed_attr (aname) VALUES ('m')");
    s.start();
    s.refused("UPDATE wed_attr SET atype = 'integer' WHERE aname = 'm'").expect("WF013");
    assert_eq!(s.line("SELECT n + 1 FROM wed_flow"), "4");
}

/// Types of attributes, arrays included.
const TYPES: [&str; 17] = [
    "text",
    "integer",
    "bigint",
    "numeric",
    "float",
    "boolean",
    "timestamptz",
    "date",
    "interval",
    "uuid",
    "jsonb",
    "enum(a,b)",
    "text[]",
    "integer[]",
    "numeric[]",
    "timestamptz[]",
    "jsonb[]",
];

/// Values of the types, as SQL writes them.
const VALUES: [(&str, &str); 23] = [
    ("text", r#"E'"\\ \u00e9\u2028\t\n\r\x01\x7f/%s%1$I '''"#),
    ("text", "''"),
    ("integer", "-2147483648"),
    ("bigint", "9223372036854775807"),
    ("numeric", "1234567890.12345678900"),
    ("numeric", "'NaN'"),
    ("float", "'-Infinity'"),
    ("float", "1e-300"),
    ("boolean", "true"),
    ("timestamptz", "'2024-02-29 23:59:59.999999+05:30'"),
    ("timestamptz", "'infinity'"),
    ("date", "'0044-03-15 BC'"),
    ("date", "'-infinity'"),
    ("interval", "'-1 year 2 months -3 days 04:05:06.000007'"),
    ("uuid", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"),
    ("jsonb", r#"'{"b": [1.50, null, "\"x"], "a": {}}'"#),
    ("jsonb", "'null'"),
    ("enum(a,b)", "'b'"),
    ("text[]", r#"ARRAY['"', NULL, '{},\']"#),
    ("integer[]", "'{}'"),
    ("numeric[]", "'{1.0,NaN}'"),
    ("timestamptz[]", "'{2024-02-29 12:00+00}'"),
    ("jsonb[]", r#"ARRAY['{"a":1}'::jsonb, NULL]"#),
];

/// Asserts that three states of a flow, in its trace and as payloads of its jobs, are its rows in JSON.
fn assert_states_are_rows(database: &Arc<Database>, name: &str) {
    let mut owner = database.owner();
    let flow = owner.line(&format!("SELECT schema_name FROM wed.flow WHERE name = '{name}'"));
    owner.run("SET timezone = 'UTC'; SET intervalstyle = 'iso_8601'");
    let wrong = owner.lines(&format!(
        "SELECT t.wid FROM {flow}.wed_trace t JOIN {flow}.wed_flow w USING (wid) JOIN {flow}.job_pool j USING \
             (wid) \
             WHERE t.state IS DISTINCT FROM to_jsonb(w) - 'wid' OR j.payload IS DISTINCT FROM to_jsonb(w) - 'wid'"
    ));
    assert_eq!(wrong, Vec::<String>::new(), "{name}");
    assert_eq!(owner.number(&format!("SELECT count(*) FROM {flow}.wed_trace")), 3, "{name}");
}

/// The state in the trace, and the payload of a job, is the row as Postgres says it in JSON.
#[harness::test]
fn a_state_is_its_row_in_json() {
    let only = |some: &[&str]| -> Vec<String> { some.iter().map(|&one| one.to_owned()).collect() };
    // All; only what stands between quotes; only what does not; more than a call has arguments; one.
    let flows: [(&str, Vec<String>); 5] = [
        ("all", only(&TYPES)),
        ("quoted", only(&["text", "uuid", "date", "interval"])),
        ("bare", only(&["integer", "numeric", "jsonb"])),
        ("many", (0..120).map(|n| TYPES[n % TYPES.len()].to_owned()).collect()),
        ("one", only(&["text"])),
    ];
    let database = Database::new();
    for (name, attributes) in flows {
        let flow = database.flow(name);
        let mut s = flow.session();
        let named: Vec<(String, &String)> = (attributes.iter().enumerate())
            .map(|(at, kind)| (format!("{}{at}", if at % 3 == 0 { "A_" } else { "\u{e4}" }), kind))
            .collect();
        let defined: Vec<String> =
            (named.iter()).map(|(attribute, kind)| format!("('{attribute}', '{kind}')")).collect();
        s.run(&format!("INSERT INTO wed_attr (aname, atype) VALUES {}", defined.join(", ")));
        s.run("INSERT INTO wed_trig (trname, cpred) VALUES ('go', 'true')");
        s.run("INSERT INTO wed_flow DEFAULT VALUES");
        for round in 0..2 {
            // Each type's values, one after the other.
            let set: Vec<(String, &str)> = (named.iter())
                .filter_map(|(attribute, kind)| {
                    let of: Vec<&str> =
                        (VALUES.iter()).filter_map(|(of, value)| (of == kind).then_some(*value)).collect();
                    let value = of.get(round % of.len().max(1))?;
                    Some((format!("\"{attribute}\""), *value))
                })
                .collect();
            let (names, given): (Vec<String>, Vec<&str>) = set.into_iter().unzip();
            s.run(&format!("INSERT INTO wed_flow ({}) VALUES ({})", names.join(", "), given.join(", ")));
        }
        assert_states_are_rows(&database, name);
    }
}

#[harness::test]
fn enum_gets_labels_and_integer_becomes_bigint_while_instances_run() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('st', 'enum(new,paid)', 'new'), ('q', 'integer', '1');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('a', 'pay', 'st = ''new'' AND q > 0'),
           ('b', 'refund', 'st = ''paid'' AND q > 3000000000');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('st = ''paid''', true);",
    );
    let mut s = flow.session();
    let wid = s.start();
    s.run("UPDATE wed_attr SET atype = 'enum(new, paid, refunded)' WHERE aname = 'st'");
    s.run("UPDATE wed_attr SET atype = 'bigint' WHERE aname = 'q'");
    s.run("INSERT INTO wed_flow (q) VALUES (5000000000)");
    s.run("INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('c', 'told', 'st = ''refunded''')");
    s.finish(wid, "pay", "st = 'refunded', q = 4000000000");
    assert_eq!(s.pending(wid), ["told"]);
    for narrower in ["atype = 'enum(new, paid)' WHERE aname = 'st'", "atype = 'integer' WHERE aname = 'q'"] {
        s.refused(&format!("UPDATE wed_attr SET {narrower}")).expect("WF013");
    }
    s.refused("UPDATE wed_attr SET atype = 'numeric' WHERE aname = 'q'").expect("WF013");
}

#[harness::test]
fn renaming_an_attribute_follows_into_schedules() {
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    let mut owner = flow.database.owner();
    owner.run(&format!(
        "INSERT INTO wed.schedule (flow_id, name, cron, state, actor) VALUES ({}, 'nightly', '0 2 * * *', \
         '{{\"a1\": \"ready\"}}', 'ann')",
        flow.id
    ));
    s.run("UPDATE wed_attr SET aname = 'first' WHERE aname = 'a1'");
    assert_eq!(owner.line("SELECT state ->> 'first' FROM wed.schedule"), "ready");
    s.run("INSERT INTO wed_attr (aname, atype) VALUES ('note', 'text')");
    owner.run("UPDATE wed.schedule SET state = '{\"note\": \"x\"}'");
    s.refused("DELETE FROM wed_attr WHERE aname = 'note'").expect("WF013");
}

/// An attribute that is renamed and one that is added while a job is pending.
const CHANGED: &str = "UPDATE wed_attr SET aname = 'visits' WHERE aname = 'n';
INSERT INTO wed_attr (aname, atype, adv) VALUES ('limit_of', 'integer', '500')";

#[harness::test]
fn pending_job_has_the_attributes_of_today() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype) VALUES ('n', 'integer'), ('phase', 'text');
         INSERT INTO wed_trig (trname, cpred) VALUES ('one', $$phase = 'one'$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$phase = 'end'$$, true);",
    );
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (n, phase) VALUES (41, 'one')");
    s.run(CHANGED);
    let payload = r#"{"phase": "one", "visits": 41, "limit_of": 500}"#;
    assert_eq!(s.line(&format!("SELECT payload = '{payload}' FROM job_pool")), "t");
    let mut owner = flow.database.owner();
    let leased = owner
        .line(&format!("SELECT state = '{payload}' FROM wed.lease_to_worker({}, '{{one}}', 1, 'w', NULL)", flow.id));
    assert_eq!(leased, "t");
}

#[harness::test]
fn claimed_job_has_the_attributes_of_today() {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "sleep-wid", "");
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (n) VALUES (41)");
    s.run(CHANGED);
    let host = crate::support::on(database.store.register_host("one", std::time::Duration::from_secs(60)))
        .expect("registered");
    let claimed = crate::support::on(database.store.claim(host, 10)).expect("claimed");
    let state: serde_json::Value = serde_json::from_str(&claimed[0].job.payload).expect("a state");
    assert_eq!((&state["visits"], &state["limit_of"]), (&serde_json::json!(41), &serde_json::json!(500)), "{state}");
    assert!(state.get("n").is_none(), "{state}");
}

#[harness::test]
fn names_of_attributes_mean_nothing_else() {
    for name in ["state", "at", "w", "o", "n", "s", "r", "j"] {
        let flow = Flow::of(&format!(
            "INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('{name}', 'integer', '1', true);
             INSERT INTO wed_trig (trname, cpred) VALUES ('step', '{name} < 5');
             INSERT INTO wed_trig (cpred, cfinal) VALUES ('{name} > 8', true)"
        ));
        let (mut s, mut owner) = (flow.session(), flow.database.owner());
        s.start();
        s.run(&format!("UPDATE wed_flow SET {name} = 2"));
        let id = flow.id;
        let what_if = owner.line(&format!("SELECT wed.what_if({id}, 1, '{{\"{name}\": 9}}') ->> 'becomes'"));
        assert_eq!(what_if, "final", "{name}");
        let why = s.line("SELECT wed_why(1, 'step') #>> '{triggers,0,value}'");
        assert_eq!(why, "true", "{name}");
    }
}
