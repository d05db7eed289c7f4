//! Both guards say the same, and what they accept Postgres takes.

use wedflow_guard::CheckedPredicate;

use super::{attributes, corpus, flow, statement};
use crate::support::session::Refusal;

/// Refused by the host only, because they would fail on every row, or mean what they do not say: the database, which
/// looks at what Postgres made of them, lets them fail there. What is searched for and may be long it holds to its
/// length when it runs them. (Through the API and `wed flow apply` the host judges
/// first.)
const REFUSED_BY_THE_HOST_ONLY: [&str; 32] = [
    "n1::numeric(1000, 999) > 1",
    "a1 like '%a\\'",
    "a1 like 'x' escape 'ab'",
    "extract(a1 from at) = 1",
    "a1::numeric(1000, 0) > 1",
    "a1::numeric(500) > 1",
    "a1::anyelement is null",
    "a1::text[][][] is null",
    "a1::setof text = 'x'",
    "extract(hour from day) = 1",
    "ints[3000000000] = 1",
    "chr(0) = a1",
    "at > '2024-01-01 ABC+1:02:03'",
    "daterange(day, day, a1) @> day",
    "daterange(day, day, '[[') @> day",
    "jsonb_build_object('a') = doc",
    "(a1, a2) between ('a', 'b') and ('c', 'd')",
    "extract(dow from span) = 1",
    "extract(foo from at) = 1",
    "at > '2024-01-01 jan-5'",
    "extract(timezone from day) = 1",
    "date_trunc('dow', at) = at",
    "date_trunc('epoch', at) = at",
    "date_trunc('week', span) = span",
    "power(10, 100000) > 1",
    "10 ^ 100000 > 1",
    "repeat('x', -100000) = 'x'",
    "10 ^ 1000000 > 1",
    "power(n1, '100000') > 1",
    "power(n1, -100000.5) > 1",
    "n1 ^ '9e9' > 1",
    "length(repeat(repeat(repeat('x', 1000), 1000), 1000)) > 1",
];

#[harness::test]
fn both_guards_agree_on_conditions() {
    let flow = flow();
    let mut session = flow.session();
    let mut fragments = corpus("accepted.txt", 2);
    fragments.extend(corpus("refused.txt", 4));
    let mut wrong = Vec::new();
    let mut count = 0;
    for (kind, text) in fragments {
        let is_condition = kind.trim_end_matches('~') == "where";
        if !is_condition || REFUSED_BY_THE_HOST_ONLY.contains(&text.as_str()) {
            continue;
        }
        count += 1;
        let host = CheckedPredicate::parse(&text, &attributes());
        session.run("BEGIN");
        let database = session
            .execute("INSERT INTO wed_trig (trname, cpred) VALUES ('t', $1)", &[&text])
            .map_err(|error| Refusal::of(&error));
        session.run("ROLLBACK");
        if host.is_ok() != database.is_ok() {
            wrong.push(format!("{text}\n  host: {host:?}\n  database: {database:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(count > 400, "{count}");
}

/// Conditions whose weight depends on what Postgres writes out of them, besides the corpora.
const WEIGHED: [&str; 66] = [
    "a1::int + d2 > 1 and concat(a1::int) = 'x'",
    "a1::char(5) = a2",
    "lower(a1::char(5)) = 'x'",
    "a1::bpchar::text = 'x'",
    "a1::char(5)::varchar(3) = 'x'",
    "lower(a1::char(5)::char(5)) = 'x'",
    "lower(a1::varchar(3)::varchar(3)) = 'x'",
    "lower(coalesce(a1::char(5), a2::char(5))::char(5)) = 'x'",
    "coalesce(a2, a1::char(5)) = 'x'",
    "greatest(a2, a1::char(5)) = 'x'",
    "case when ok then a1::char(5) else a2 end = 'x'",
    "nullif(a1::varchar(3), a2)::varchar(3) = 'x'",
    "a1 = ANY (ARRAY[a2, a3::varchar(3)]::varchar(3)[])",
    "a1 = ANY (ARRAY[ARRAY['x', a2::char(5)], tags])",
    "a1 = ANY (ARRAY[ARRAY['x' COLLATE \"C\", 'y'::char(5)], tags])",
    "a1::varchar(3) in ('x', a2::char(5))",
    "lower(a1) in (case when true then 'x' else 'y' end, 'z')",
    "doc in ('{}', case when false then '1' else '{}'::jsonb end)",
    "length(a1::varchar(5)) = 1",
    "doc::text = 'x'",
    "doc::varchar(5) = 'x'",
    "doc::json::text = 'x'",
    "a1::json::jsonb = doc",
    "a1::bytea = a2::bytea",
    "tags::varchar(3)[] = '{x}'",
    "tags::varchar[]::varchar(3)[] = '{x}'",
    "tags::text = 'x'",
    "a1::text[] = tags",
    "ARRAY[a1, a2]::varchar(5)[] = '{x}'",
    "ARRAY[a1, a2]::varchar[] = '{x}'",
    "ARRAY[a1, a2]::jsonb[] = ARRAY[doc]",
    "ARRAY[doc, doc]::text[] = tags",
    "ARRAY[a1, a2] = tags",
    "doc[a1] = doc",
    "doc['a']['b'] = '1'",
    "tags[d2] = a1",
    "tags[1:2] = tags",
    "ints[1] = 1",
    "lower(tags[1]) = 'x'",
    "nullif(a1, a2) = 'x'",
    "nullif(a1::char(3), a2) = 'x'",
    "nullif(doc, '{}') = doc",
    "nullif(d2, 0) = 1",
    "lower(nullif('x', a1)) = 'x'",
    "lower(a1) between 'a' and 'b'",
    "lower(a1) between symmetric lower(a2) and 'b'",
    "lower(a1) not between symmetric 'a' and upper(a2)",
    "doc between '{}' and doc",
    "tags not between '{}' and '{x}'",
    "lower(a1) in ('a', 'b', 'c')",
    "lower(a1) in (a2, a3, 'x')",
    "lower(a1) not in (a2, 'x', 'y')",
    "doc in ('{}', '1')",
    "doc in (doc, '1')",
    "tags in ('{}', '{x}')",
    "(lower(a1), doc) in (('a', '{}'), ('b', doc))",
    "(a1, doc) < (a2, doc) or (doc, 1) = (doc, d2)",
    "(doc, a1) is distinct from ('{}', a2)",
    "case a1 when a2 then 'x' else a3 end = 'x'",
    "lower(case a1 when 'y' then 'x' end) = 'x'",
    "case doc when doc then true when '{}' then false end",
    "(tags collate \"C\")::text = 'x'",
    "ARRAY[a1, a2] collate \"C\" < tags",
    "lower(jsonb_extract_path_text(doc, a1, a2)) = 'x'",
    "a1 like a2 escape 'x'",
    "greatest(doc, '{}') = coalesce(doc, '1') and lower(coalesce(a1, a2)) = 'x'",
];

/// Both weigh a condition by one table, so that a host says which condition the database will refuse; and what the
/// database runs of it is SQL.
#[harness::test]
fn both_guards_weigh_alike_and_what_is_run_can_be_prepared() {
    let flow = flow();
    let mut owner = flow.database.owner();
    let shape = owner.line("SELECT shape_schema FROM wed.flow");
    owner.run("SET search_path = pg_catalog, pg_temp; SET standard_conforming_strings = on");
    let mut apart = Vec::new();
    let (mut weighty, mut bounded) = (0, 0);
    let corpus = corpus("accepted.txt", 2);
    let conditions = corpus.iter().filter(|(kind, _)| kind == "where");
    for text in conditions.map(|(_, text)| text.as_str()).chain(WEIGHED) {
        let host =
            CheckedPredicate::parse(text, &attributes()).unwrap_or_else(|rejection| panic!("{text}\n{rejection}"));
        let row = owner
            .query_one("SELECT weight, guarded FROM wed.check_predicate($1, 999999, $2)", &[&shape, &text])
            .unwrap_or_else(|error| panic!("{text}\n{:?}", Refusal::of(&error)));
        let (weight, guarded): (i32, String) = (row.get(0), row.get(1));
        weighty += usize::from(weight > 0);
        bounded += usize::from(guarded.contains("wed_bounded."));
        if u64::try_from(weight).expect("a weight") != host.weight() {
            apart.push(format!("{text}: host {}, database {weight}", host.weight()));
        }
        let sql = format!("SELECT true FROM {shape}.wed_flow WHERE {guarded}");
        if let Err(error) = owner.prepare(&sql) {
            panic!("{text}\n{guarded}\n{:?}", Refusal::of(&error));
        }
    }
    assert!(apart.is_empty(), "{}\n{}", apart.len(), apart.join("\n"));
    assert!(weighty > 100 && bounded > 100, "{weighty} {bounded}");
}

#[harness::test]
fn accepted_clauses_can_be_prepared() {
    let flow = flow();
    let mut session = flow.session();
    session.run("SET search_path = pg_catalog, pg_temp");
    let schema = flow.database.owner().line("SELECT schema_name FROM wed.flow");
    let mut count = 0;
    for (kind, text) in corpus("accepted.txt", 2) {
        if kind != "set" {
            continue;
        }
        count += 1;
        let sql = statement("set", &text, &format!("{schema}.wed_flow")).unwrap_or_else(|| panic!("refused: {text}"));
        if let Err(error) = session.prepare(&sql) {
            panic!("{text}\n{sql}\n{:?}", Refusal::of(&error));
        }
    }
    assert!(count > 100, "{count}");
}

/// The signatures that the guard resolves calls and operators by are the server's own.
#[harness::test]
fn the_lists_are_those_of_the_catalog() {
    let flow = flow();
    let mut owner = flow.database.owner();
    let version = owner.number("SELECT current_setting('server_version_num')::integer / 10000");
    let missing = owner.lines(
        "SELECT call FROM wed.allowed_call
         EXCEPT SELECT (wed.call_of_function(oid)).call FROM pg_proc
           WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset
         EXCEPT SELECT (wed.call_of_operator(oid)).call FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace
         -- With an operand that may be left out.
         EXCEPT SELECT (wed.call_of_function(oid)).call || '' FROM pg_proc WHERE pronargdefaults > 0",
    );
    let missing: Vec<&String> = missing
        .iter()
        .filter(|call| {
            !call.starts_with("jsonb_path_") && !call.starts_with("jsonb_set(") && !call.starts_with("jsonb_insert(")
        })
        .collect();
    // The table is that of 18; older servers lack a few, and know some by fewer operands.
    assert!(
        version >= 18 && missing.iter().all(|call| call.contains("strip_nulls")) || missing.len() < 12,
        "{missing:?}"
    );
    let bounded = owner.lines(
        "SELECT call FROM wed.allowed_call WHERE bounded
         EXCEPT SELECT (wed.call_of_function(oid)).call FROM pg_proc WHERE pronamespace = 'wed_bounded'::regnamespace
         EXCEPT SELECT (wed.call_of_operator(oid)).call FROM pg_operator WHERE oprnamespace = \
         'wed_bounded'::regnamespace",
    );
    assert!(bounded.iter().all(|call| call.starts_with("jsonb_path_")), "{bounded:?}");
}
