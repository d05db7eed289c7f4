//! The guard: the one of the host and the one of the database say the same, what they accept runs, and
//! no value in a row makes it run for long.

mod bounds;
mod fuzz;
mod same;

use std::time::{Duration, Instant};

use wedflow_guard::{CheckedPredicate, CheckedSetClause, CheckedValue, FlowAttributes};

use crate::support::{Database, Flow, Session, repository};

/// The attributes that the corpora speak of: name and type, a line each.
const ATTRIBUTES: &str = include_str!("../../../host/guard/tests/data/attributes.txt");

/// Maximum time of a fragment on a hostile row before the test fails: far more than any takes, for busy machines.
const TOO_LONG: Duration = Duration::from_secs(20);

/// Lists these attributes: name and type.
fn attribute_table() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = ATTRIBUTES.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| row.split_once(' ').expect("name and type"))
}

fn attributes() -> FlowAttributes {
    FlowAttributes::new(attribute_table().map(|(name, kind)| (name, kind.parse().expect("a type"))))
}

/// A flow with these attributes.
fn flow() -> Flow {
    let flow = Database::new().flow("fragments");
    let rows: Vec<String> = attribute_table().map(|(name, kind)| format!("('{name}', '{kind}')")).collect();
    flow.session().run(&format!("INSERT INTO wed_attr (aname, atype) VALUES {}", rows.join(", ")));
    flow
}

/// The corpora of the guard, without comments: the kind (`set` or `where`) and the fragment.
fn corpus(file: &str, words: usize) -> Vec<(String, String)> {
    let path = repository("host/guard/tests/data").join(file);
    let text = std::fs::read_to_string(&path).expect("the corpus");
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let mut parts = line.splitn(words, ' ');
            let kind = parts.next().expect(line).trim_end_matches('~').to_owned();
            (kind, parts.last().expect(line).to_owned())
        })
        .collect()
}

/// Returns the statement that the host's guard makes of a fragment, for a table of the flow's shape.
fn statement(kind: &str, text: &str, table: &str) -> Option<String> {
    if kind == "where" {
        let predicate = CheckedPredicate::parse(text, &attributes()).ok()?;
        return Some(format!("SELECT count(*) FROM {table} WHERE {}", predicate.guarded()));
    }
    let clause = CheckedSetClause::parse(text, &attributes()).ok()?;
    let set: Vec<String> = clause
        .assignments()
        .iter()
        .map(|assignment| match &assignment.value {
            CheckedValue::Expression { guarded, .. } => {
                format!("{} = ({guarded})", assignment.quoted)
            }
            CheckedValue::Default => format!("{} = DEFAULT", assignment.quoted),
            CheckedValue::Literal(None) => format!("{} = NULL", assignment.quoted),
            CheckedValue::Literal(Some(text)) => {
                format!("{} = '{}'", assignment.quoted, text.replace('\'', "''"))
            }
        })
        .collect();
    Some(format!("UPDATE {table} SET {}", set.join(", ")))
}

/// A table of the flow's shape with rows that nobody wishes for, in the owner's session.
fn hostile_rows(flow: &Flow) -> Session {
    let mut owner = flow.database.owner();
    let schema = owner.line("SELECT schema_name FROM wed.flow");
    // Where the host's statements find things (wed.commit_batch).
    owner.run("SET search_path = pg_catalog, pg_temp; SET standard_conforming_strings = on");
    owner.run(&format!(
        r#"CREATE TEMP TABLE hostile AS SELECT * FROM {schema}.wed_flow;
        INSERT INTO hostile (wid, a1, a2, a3, a4, a7, d2, big, n1, f, ok, at, day, span, id, doc, tags, "Mixed",
          "order", nums, ints)
        SELECT 1, '1e131000', '1e131000', '9e999999', '-1e-16000', repeat('9', 200), 2147483647, 9223372036854775807,
               ('9e99'::numeric + '1e-100'::numeric), 1e308, true, '294276-12-31 23:59:59+00', '5874897-12-31',
                 '178000000 years',
               gen_random_uuid(), '{{"a": 1e131000, "n": 1e131000, "qty": 1e131000, "price": 1e131000, "amount":
                 1e131000}}',
               '{{1e131000,1e131000}}', '1e131000', '1e131000', ARRAY['9e99'::numeric], '{{1,2}}';
        INSERT INTO hostile (wid, a1, a2, a3, a4, d2, n1, f, ok, at, doc, tags, ints)
        SELECT 2, repeat('a', 60000) || 'b', repeat('a', 60000), repeat('%a', 20000), 'b', 1000000000,
          -('9e99'::numeric), -1e308,
               false, '4713-01-01 BC', to_jsonb(ARRAY(SELECT 'k' || i FROM generate_series(1, 2000) i)),
               ARRAY(SELECT 'k' || i FROM generate_series(1, 3000) i), ARRAY(SELECT i FROM generate_series(1, 5000) i);
        INSERT INTO hostile (wid, a1, a2, d2, n1, doc, tags)
        SELECT 3, repeat('ab,', 30000), '%' || repeat('ab', 10000) || '%', -2147483648, 'NaN',
               (SELECT jsonb_object_agg('k' || i, i) FROM generate_series(1, 3000) i), '{{}}';
        INSERT INTO hostile (wid) VALUES (4);
        INSERT INTO hostile (wid, a1, a2, d2, n1, at, day, doc, tags) VALUES
          (5, '17', '4', 3, 99.95, now(), current_date, '{{"a": {{"b": "x"}}, "n": 5}}', '{{x,y}}');
        -- As long as regular expressions are held against.
        INSERT INTO hostile (wid, a1, a2, d2, n1, f) SELECT 6, string_agg(chr(97 + i * i % 7 % 2), ''),
          left(string_agg(chr(97 + i % 3), ''), 1024),
               1000, 1.5 + '1e-100'::numeric, 2 FROM generate_series(1, 8192) i;
        INSERT INTO hostile (wid, a1, a2, d2, n1) SELECT 7, string_agg(chr(97 + i * i % 7 % 2), ''), repeat('x', 1024),
               -1000, '1e-100' FROM generate_series(1, 1024) i;
        -- Documents that take far more memory than their bytes, where they are made.
        INSERT INTO hostile (wid, a1, d2, n1, doc) SELECT 8, 'x', 1, 1, jsonb_agg('{{}}'::jsonb) FROM
          generate_series(1, 30000);
        INSERT INTO hostile (wid, a1, a4, tags, ints) SELECT 9, repeat('ab', 4000), '[' || repeat('{{}},', 75000) ||
          '1]',
               ARRAY(SELECT 'x' || i FROM generate_series(1, 256) i), ARRAY(SELECT i FROM generate_series(1, 256) i);
        SET timezone = 'UTC'; SET statement_timeout = '2s'"#
    ));
    owner
}

/// Runs a statement on each hostile row, in a transaction that is rolled back; how long the longest took.
fn longest(session: &mut Session, statement: &str) -> Duration {
    let mut longest = Duration::ZERO;
    for wid in 1..=9 {
        // One row at a time: an error in one must not spare the others.
        let one = format!("(SELECT * FROM hostile WHERE wid = {wid})");
        let narrowed = if let Some((before, condition)) = statement.split_once(" WHERE ") {
            format!("{} WHERE {condition}", before.replace("hostile", &format!("{one} hostile")))
        } else {
            format!("{statement} WHERE wid = {wid}")
        };
        let started = Instant::now();
        // What becomes of it is not asked here.
        let _ = session.batch_execute(&format!("BEGIN; {narrowed}"));
        longest = longest.max(started.elapsed());
        session.run("ROLLBACK");
    }
    longest
}
