//! Values at their extremes, through a real host, from a guest in each language.

use std::sync::Arc;

use wedflow_loader::languages::{Absent, Language, Which, conformance_attributes, guest};

use crate::support::database::one_lane;
use crate::support::{Database, Flow, eventually, on};

/// An attribute of the conformance guest and values at the ends of its type.
const EXTREMES: [(&str, &str, &[&str]); 11] = [
    ("a_text", "text", &["", "it's \u{1d11e} \u{1}\u{7f}\\", "\u{10ffff}"]),
    ("a_integer", "integer", &["-2147483648", "2147483647"]),
    ("a_bigint", "bigint", &["-9223372036854775808", "9223372036854775807"]),
    (
        "a_numeric",
        "numeric",
        &["99999999999999999999999999999999999999", "-0.00000000000000000000000000000000000001", "NaN", "Infinity"],
    ),
    ("a_float", "float", &["1.7976931348623157e308", "-5e-324", "NaN", "-Infinity", "-0"]),
    ("a_boolean", "boolean", &["true", "false"]),
    (
        "a_timestamptz",
        "timestamptz",
        &[
            "4714-11-24 00:00:00+00 BC",
            "294276-12-31 23:59:59.999999+00",
            "0001-01-01 00:00:00+00",
            "9999-12-30 21:59:59.999999+00",
            "9999-12-31 23:59:59.999999+00",
            "infinity",
            "-infinity",
        ],
    ),
    ("a_date", "date", &["4714-11-24 BC", "5874897-12-31", "0001-01-01", "9999-12-31", "infinity", "-infinity"]),
    (
        "a_interval",
        "interval",
        &["178000000 years", "-178000000 years", "2147483647 days", "-2562047788:00:54.775807", "1 mon -1 day"],
    ),
    ("a_uuid", "uuid", &["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]),
    ("a_jsonb", "jsonb", &["null", "[]", "{\"\": {\"a\": [1e-7, -0.0, 12345678901234567890]}}"]),
];

/// Returns a flow with an attribute, and a list, of every type, whose transition echoes its state.
fn echoing(database: &Arc<Database>) -> Flow {
    let mut definition = String::new();
    for (name, kind) in conformance_attributes() {
        definition.push_str(&format!("INSERT INTO wed_attr (aname, atype) VALUES ('{name}', '{kind}');\n"));
    }
    definition.push_str(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('turn', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred, attempts, delay) VALUES
           ('again', 'echo', 'turn >= 0', 1, '0');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('turn < 0', true)",
    );
    let flow = database.flow("extremes");
    flow.session().run(&format!("BEGIN; {definition}; COMMIT"));
    flow.bind("echo", "conformance");
    flow
}

/// Asserts that every language carries what lies within the years that people write.
fn assert_usual_values_are_carried(language: Language, failed: &[String]) {
    for kept in [
        "0001-01-01",
        "date 9999-12-31",
        "timestamptz 9999-12-30",
        "timestamptz 9999-12-31",
        "2147483647",
        "e308",
        "999999999",
    ] {
        assert!(!failed.iter().any(|one| one.contains(kept) && !one.contains("days")), "{language}: {failed:?}");
    }
}

/// Sends every extreme value through a guest that assigns what it read. Each instance must get its value back, or have
/// an attempt on record that names why not; none holds up the host or another instance.
fn extremes_of(language: Language) {
    let bytes = match guest(language, Which::Conformance) {
        Ok(guest) => guest.bytes,
        Err(Absent::Tool(what)) => {
            println!("{language}: {what} is missing");
            return;
        }
        Err(Absent::Broken(why)) => panic!("{why}"),
    };
    let database = Database::new();
    database.upload("conformance", &bytes);
    let flow = echoing(&database);
    let mut session = flow.session();
    let mut started = Vec::new();
    for (attribute, kind, values) in EXTREMES {
        for value in values {
            let wid = session.number(&format!(
                "INSERT INTO wed_flow ({attribute}) VALUES ('{}') RETURNING wid",
                value.replace('\'', "''")
            ));
            started.push((wid, attribute, kind, *value));
        }
    }
    let host = database.host(one_lane("extremes"));
    let mut failed = Vec::new();
    for (wid, attribute, kind, value) in started {
        let row = eventually(&format!("the end of {attribute} = {value}"), || {
            let row = session.line(&format!("SELECT coalesce(max(seq), 0) FROM wed_trace WHERE wid = {wid}"));
            (row != "1").then_some(row)
        });
        assert_ne!(row, "0");
        let status = session.status(wid);
        if status == "E" {
            let said = session.line(&format!("SELECT outcome, message FROM wed_attempt WHERE wid = {wid}"));
            let named = ["failed|", "refused|"].iter().any(|name| said.starts_with(name));
            assert!(named, "{language}: {attribute} = {value}: {said}");
            failed.push(format!("{kind} {value}: {said}"));
            continue;
        }
        let same = session.line(&format!(
            "SELECT count(DISTINCT state ->> '{attribute}') FROM wed_trace WHERE wid = {wid} AND seq < 3"
        ));
        assert!(same == "1" || value == "null", "{language}: {attribute} = {value} is changed");
    }
    on(host.stop());
    println!("{language}: not carried: {failed:#?}");
    assert_usual_values_are_carried(language, &failed);
}

#[harness::test]
fn extreme_values_pass_a_guest_in_rust() {
    extremes_of(Language::Rust);
}

#[harness::test]
fn extreme_values_pass_a_guest_in_c() {
    extremes_of(Language::C);
}

#[harness::test]
fn extreme_values_pass_a_guest_in_go() {
    extremes_of(Language::Go);
}

#[harness::test]
fn extreme_values_pass_a_guest_in_javascript() {
    extremes_of(Language::JavaScript);
}

#[harness::test]
fn extreme_values_pass_a_guest_in_python() {
    extremes_of(Language::Python);
}
