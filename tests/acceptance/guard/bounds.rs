//! Hostile values: in a row, in a clause, in a condition.

use std::sync::Arc;
use std::time::Duration;

use super::{TOO_LONG, corpus, flow, hostile_rows, longest, statement};
use crate::support::Database;

/// Joins a fragment with itself.
fn repeated(part: &str, with: &str, times: usize) -> String {
    vec![part; times].join(with)
}

/// Conditions close to every bound.
fn conditions_near_bounds() -> Vec<String> {
    let many = repeated;
    vec![
        format!("{} > 0", many("n1", " * ", 30)),
        format!("{} > 0", many("a1::numeric", " * ", 30)),
        format!("{} > 0", many("(doc ->> 'n')::numeric", " * ", 30)),
        format!("{} > 0", many("(n1 / 3)", " * ", 30)),
        many("a1 like a2", " or ", 8),
        many("position(left(a2, 64) in a1) > 0", " or ", 8),
        many("tags @> tags", " and ", 4),
        many("lower(a1) = upper(a2)", " or ", 99),
        many(&format!("a1 like '%{}b%'", "a".repeat(250)), " or ", 4),
        "power(power(n1, 16), 16) > 1".to_owned(),
        "round(n1, 2147483647) > 1".to_owned(),
        "sqrt(sqrt(abs(n1) * abs(n1))) > 1".to_owned(),
        many("a1 ~ '[ab]*a[ab]{255}c[ab]{90}'", " or ", 4),
        many("a2 !~* '(x?a*b?){12}$'", " and ", 6),
        "a1 similar to '(a|b)*a(a|b|c)*b(a|c){20}'".to_owned(),
        "regexp_replace(a1, '[ab]*a[ab]{255}c|a', 'x', 'g') = 'x'".to_owned(),
        "regexp_count(a1, '[ab]*a[ab]*b[ab]{200}c|a') > 1".to_owned(),
        "regexp_match(a1, '([ab]*)(a[ab]*?b)([ab]*a)[ab]*b[ab]{200}') is null".to_owned(),
        "power(n1, d2) * power(n1, -d2) > n1 ^ 0.5".to_owned(),
        "abs(n1) ^ n1 > 1 or (1 + n1) ^ 999.5 > 1".to_owned(),
        many("exp(ln(abs(n1)))", " + ", 7) + " > 1",
        many("log(1.0001, abs(n1))", " * ", 8) + " > 1",
        "((((doc || doc) || doc) || doc) || doc) = doc".to_owned(),
        format!("jsonb_build_array({}) = doc", many("doc", ", ", 16)),
        format!("array[{}] is null", many("a4::jsonb", ", ", 8)),
        format!("false = all (array[{}])", many("doc < doc", ", ", 200)),
        format!("false = all (array[{}])", many("(ints || ints || ints || ints) && ints", ", ", 4)),
    ]
}

/// Clauses close to every bound.
fn clauses_near_bounds() -> Vec<String> {
    let many = repeated;
    vec![
        "a1 = repeat(a1, d2), a2 = repeat(a2, d2)".to_owned(),
        "a1 = repeat('', d2)".to_owned(),
        "a1 = lpad(a1, d2, a2), a2 = rpad(a2, d2, a1)".to_owned(),
        format!("a1 = format('{}', a1)", "%1$s".repeat(60)),
        "a1 = regexp_replace(a1, 'a|b', repeat('\\&', 100), 'g')".to_owned(),
        "a1 = encode(sha512(a1::bytea), 'hex') || encode(decode(a2, 'escape'), 'hex')".to_owned(),
        format!("a1 = {}", many("a1", " || ", 30)),
        format!("a1 = concat({})", many("a1", ", ", 90)),
        "a1 = replace(a1, 'a', repeat('b', 1000))".to_owned(),
        "a1 = replace(a1, '', a2), a2 = replace(a2, 'a', a1)".to_owned(),
        "a1 = translate(a1, left(a2, 64), left(a3, 64))".to_owned(),
        "n1 = n1 * n1 * n1".to_owned(),
        "doc = jsonb_set(doc, tags, doc)".to_owned(),
        "doc = doc - tags".to_owned(),
        "a1 = to_char(n1, left(a1, 64)), a2 = to_char(at, left(a2, 64))".to_owned(),
    ]
}

#[harness::test]
fn no_accepted_fragment_runs_long_on_hostile_rows() {
    let flow = flow();
    let mut session = hostile_rows(&flow);
    let mut slowest = (Duration::ZERO, String::new());
    let mut fragments = corpus("accepted.txt", 2);
    // Close to every bound at once.
    fragments.extend(conditions_near_bounds().into_iter().map(|text| ("where".to_owned(), text)));
    fragments.extend(clauses_near_bounds().into_iter().map(|text| ("set".to_owned(), text)));
    let mut refused = Vec::new();
    for (kind, text) in &fragments {
        let Some(sql) = statement(kind, text, "hostile") else {
            refused.push(text);
            continue;
        };
        let took = longest(&mut session, &sql);
        if took > slowest.0 {
            slowest = (took, text.clone());
        }
        assert!(took < TOO_LONG, "{text} took {took:?}");
    }
    println!("{} fragments on hostile rows; the slowest took {:?}: {:.100}", fragments.len(), slowest.0, slowest.1);
    assert!(refused.len() < 8, "{refused:?}");
}

#[harness::test]
fn numbers_with_too_many_digits_are_refused() {
    let flow = Database::new().flow("digits");
    let mut s = flow.session();
    s.run(
        "INSERT INTO wed_attr (aname, atype) VALUES ('n', 'numeric'), ('list', 'numeric[]'), ('t', 'text');
         INSERT INTO wed_trig (trname, cpred) VALUES ('go', 'true')",
    );
    for value in ["1e100", "-1e100", "1e131000", "1e-101"] {
        s.refused(&format!("INSERT INTO wed_flow (n) VALUES ({value})")).expect("WF031");
        s.refused(&format!("INSERT INTO wed_flow (list) VALUES (ARRAY[1, {value}])")).expect("WF031");
    }
    for value in ["9.9e99", "1e-100", "'NaN'", "'Infinity'", "'-Infinity'", "NULL", "0"] {
        s.run(&format!("INSERT INTO wed_flow (n, list) VALUES ({value}, ARRAY[{value}]::numeric[])"));
    }
    // Renamed, it is held to the same.
    s.run("UPDATE wed_attr SET aname = 'm' WHERE aname = 'n'");
    let refusal = s.refused("INSERT INTO wed_flow (m) VALUES (1e200)").expect("WF031");
    assert!(refusal.message.contains("\"m\""), "{refusal:?}");
}

#[harness::test]
fn rows_that_are_too_large_are_refused() {
    let flow = Database::new().flow("bytes");
    let mut s = flow.session();
    s.run(
        "INSERT INTO wed_attr (aname, atype) VALUES ('t', 'text'), ('u', 'text');
         INSERT INTO wed_trig (trname, cpred) VALUES ('go', 't IS NOT NULL')",
    );
    s.run("INSERT INTO wed_flow (t, u) VALUES (repeat('x', 130000), repeat('y', 130000))");
    let refusal =
        s.refused("INSERT INTO wed_flow (t, u) VALUES (repeat('x', 140000), repeat('y', 140000))").expect("WF033");
    assert!(refusal.hint.contains("262144"), "{refusal:?}");
    // Attributes still come, change and go.
    s.run("INSERT INTO wed_attr (aname) VALUES ('v')");
    s.run("UPDATE wed_attr SET aname = 'w' WHERE aname = 'v'");
    s.run("DELETE FROM wed_attr WHERE aname = 'w'");
    s.refused("INSERT INTO wed_flow (t) VALUES (repeat('x', 300000))").expect("WF033");
    // Existing instances get a default unmeasured.
    s.run("INSERT INTO wed_attr (aname, adv) VALUES ('d', repeat('x', 100000))");
    for large in [
        "INSERT INTO wed_attr (aname, adv) VALUES ('e', repeat('x', 40000))",
        "UPDATE wed_attr SET adv = repeat('x', 140000) WHERE aname = 'd'",
    ] {
        let refusal = s.refused(large).expect("WF033");
        assert!(refusal.hint.contains("131072"), "{refusal:?}");
    }
}

/// Compressible values count in full, also when they come compressed from another table; an array has a maximum of
/// elements.
#[harness::test]
fn rows_are_measured_as_they_are() {
    let flow = Database::new().flow("packed");
    let mut s = flow.session();
    s.run(
        "INSERT INTO wed_attr (aname, atype, open) VALUES ('t', 'text', true), ('u', 'text', true),
           ('doc', 'jsonb', true), ('list', 'text[]', true);
         INSERT INTO wed_trig (trname, cpred) VALUES ('go', 'true');
         INSERT INTO wed_flow (t) VALUES (repeat('a', 200000))",
    );
    for large in [
        "u = repeat('a', 200000)",
        "doc = to_jsonb(repeat('a', 200000))",
        "doc = (SELECT payload FROM job_pool WHERE wid = 1)",
        "doc = (SELECT jsonb_agg(true) FROM generate_series(1, 50000))",
        "list = array_fill(null::text, ARRAY[5000])",
        "list = array_fill(null::text, ARRAY[100, 100])",
    ] {
        s.refused(&format!("UPDATE wed_flow SET {large} WHERE wid = 1")).expect("WF033");
    }
    for fine in [
        "u = repeat('b', 20000)",
        "list = array_fill(null::text, ARRAY[4096])",
        "doc = (SELECT jsonb_agg(true) FROM generate_series(1, 500))",
    ] {
        s.run(&format!("UPDATE wed_flow SET {fine} WHERE wid = 1"));
    }
    // Renamed or of another type, an attribute is held to the same.
    s.run("UPDATE wed_attr SET aname = 'many' WHERE aname = 'list'");
    let refusal =
        s.refused("UPDATE wed_flow SET many = array_fill(null::text, ARRAY[5000]) WHERE wid = 1").expect("WF033");
    assert!(refusal.message.contains("\"many\""), "{refusal:?}");
}

/// A value that is compressed where it comes from stays so where it goes: a hundredth of what it is.
#[harness::test]
fn a_value_that_comes_compressed_is_measured_as_it_is() {
    let database = Database::new();
    let flow = database.flow("pressed");
    let mut s = flow.session();
    s.run(
        "INSERT INTO wed_attr (aname, atype, open) VALUES ('t', 'text', true), ('u', 'text', true), ('v', 'text', true);
         INSERT INTO wed_trig (trname, cpred) VALUES ('go', 'true');
         INSERT INTO wed_flow (t) VALUES (NULL), (NULL), ('x')",
    );
    // The names of conditions are no values, and are kept compressed: in the row itself, and out of line.
    s.run(
        "INSERT INTO wed_trig (tgname, trname, cpred, cname) VALUES
           ('within', 'go', 'false', repeat('a', 140000)), ('apart', 'go', 'false', repeat('b', 4000000))",
    );
    let value = |name: &str| format!("(SELECT cname FROM wed_trig WHERE tgname = '{name}')");
    let (within, apart) = (value("within"), value("apart"));
    let compressed =
        s.line("SELECT bool_and(pg_column_compression(cname) IS NOT NULL) FROM wed_trig WHERE cname IS NOT NULL");
    assert_eq!(compressed, "t");
    for large in [
        format!("INSERT INTO wed_flow (t) VALUES ({apart})"),
        format!("INSERT INTO wed_flow (t, u) VALUES ({within}, {within})"),
        format!("INSERT INTO wed_flow (t) SELECT {apart} FROM generate_series(1, 200)"),
        format!("UPDATE wed_flow SET t = {apart} WHERE wid = 1"),
        format!("UPDATE wed_flow SET t = {within}, u = {within} WHERE wid = 1"),
        // Together with one that is stored out of line.
        format!(
            "UPDATE wed_flow SET v = (SELECT string_agg(md5(g::text), '') FROM generate_series(1, 300) g), \
             t = {within}, u = {within} WHERE wid = 1"
        ),
        format!("INSERT INTO wed_flow (wid, t) VALUES (1, 'y') ON CONFLICT (wid) DO UPDATE SET t = {apart}"),
    ] {
        s.refused(&large).expect("WF033");
    }
    // What is within the limit may be so, and is not multiplied.
    s.run(&format!("UPDATE wed_flow SET t = {within} WHERE wid = 1"));
    s.refused("UPDATE wed_flow SET u = t, v = t WHERE wid = 1").expect("WF033");
    assert_hosts_results_are_measured(&database);
}

/// Asserts that a host's results are measured too: one, several, or a clause; with other values, and alone.
fn assert_hosts_results_are_measured(database: &Arc<Database>) {
    let mut owner = database.owner();
    let shape = owner.line("SELECT shape_schema FROM wed.flow WHERE name = 'pressed'");
    let mut apply = |wids: &str, set: &str, literals: &[usize]| {
        let results: Vec<String> = (wids.split(',').zip(literals))
            .map(|(wid, length)| format!("ROW({wid}, 0, 0, 0, 0, 0, ARRAY[repeat('z', {length})])::wed.result"))
            .collect();
        owner.run("BEGIN");
        owner.run("SELECT set_config('wed.commit', 'batch', true)");
        let refusal = owner.tried(&format!(
            "SELECT {shape}.apply_{shape}(ARRAY[{}], '{{u}}', {set}, 1000, false, false)",
            results.join(", ")
        ));
        owner.run("ROLLBACK");
        refusal.map(|refusal| refusal.code)
    };
    let refused = Some("WF033".to_owned());
    assert_eq!(apply("1", "NULL", &[130_000]), refused);
    assert_eq!(apply("1,2", "NULL", &[130_000, 1]), refused);
    assert_eq!(apply("1", "'u = _b._1, v = t'", &[1]), refused);
    assert_eq!(apply("2", "NULL", &[270_000]), refused);
    assert_eq!(apply("2,3", "NULL", &[1, 270_000]), refused);
    assert_eq!(apply("2", "'u = _b._1'", &[270_000]), refused);
    for wids in ["2,3", "2"] {
        assert_eq!(apply(wids, "NULL", &[200_000, 200_000]), None);
    }
    assert_eq!(apply("1,2", "NULL", &[100_000, 200_000]), None);
    assert_eq!(apply("1,2", "'u = _b._1'", &[100_000, 200_000]), None);
}

/// Conditions written by SQL meet the database's guard only.
#[harness::test]
fn what_is_searched_for_in_a_row_is_short() {
    let flow = flow();
    let mut s = flow.session();
    let mut refused = |condition: &str| {
        s.refused(&format!("INSERT INTO wed_trig (trname, cpred) VALUES ('go', $c${condition}$c$)")).expect("WF011");
    };
    let long = "ab".repeat(700);
    for what in [
        format!("translate(a1, '{long}', '') = 'x'"),
        format!("btrim(a1, '{long}'::text) = 'x'"),
        format!("trim(both '{long}' from a1) = 'x'"),
        format!("strpos(a1, '{long}'::text) > 0"),
        format!("position('{long}' in a1) > 0"),
        format!("replace(a1, '{long}', '') = 'x'"),
        format!("split_part(a1, '{long}'::text, 2) = 'x'"),
        format!("tags = string_to_array(a1, '{long}'::text)"),
        vec!["doc::text = 'a'"; 17].join(" or "),
        vec!["doc || doc = '1'"; 33].join(" or "),
        "at at time zone a1 < now()".to_owned(),
        "array_to_string(string_to_array(a1, null), repeat('x', 250)) = 'x' and doc @? '$.**'".to_owned(),
        format!("{}doc{} = doc", "(".repeat(6), " || doc)".repeat(6)),
        format!("jsonb_build_array({}) = doc", vec!["doc"; 17].join(", ")),
        ["a1::jsonb = doc"; 9].join(" or "),
        vec!["doc < doc"; 201].join(" or "),
        format!("doc = any (array[{}])", vec!["doc"; 201].join(", ")),
        format!("greatest({}) = doc", vec!["doc"; 201].join(", ")),
        "at at time zone 'ABC5' < now()".to_owned(),
        "at at time zone '+01:02:03' < now()".to_owned(),
        "a1 = session_user or a1 = current_schema".to_owned(),
        "a1 collate \"de-x-icu\" < a2".to_owned(),
        "a1::daterange @> day".to_owned(),
        "a1::numrange[] is null".to_owned(),
        "(a1::tstzrange[])[1] is not null".to_owned(),
        ["coalesce(doc, doc)::text = 'i'"; 17].join(" or "),
        ["case when true then doc end::text = 'i'"; 17].join(" or "),
        "to_jsonb(row(a1, a2)) = doc".to_owned(),
        "a1 operator(public.=) a2".to_owned(),
        "a1::bytea::text = 'x'".to_owned(),
        "doc @? '$[*] ? ((@ * @ + 1) % (@ + 7) < 0)'".to_owned(),
        format!("format('{}', doc) = 'x'", "%1$s".repeat(20)),
    ] {
        refused(&what);
    }
}

/// Postgres itself puts in the bounded functions, whatever the settings of the session; what Postgres 15 cannot
/// read as it is written is written for it.
#[harness::test]
fn conditions_are_written_so_that_they_can_be_run() {
    let flow = flow();
    let mut owner = flow.database.owner();
    let shape = owner.line("SELECT shape_schema FROM wed.flow");
    owner.run("SET quote_all_identifiers = on; SET extra_float_digits = -15; SET transform_null_equals = on");
    let mut run = |condition: &str| {
        owner.line(&format!("SELECT guarded FROM wed.check_predicate('{shape}', 999999, $c${condition}$c$)"))
    };
    for (condition, bounded) in [
        ("string_to_array(a1, null) && tags", "wed_bounded.string_to_array("),
        ("string_to_array(a1, null) && tags", "OPERATOR(wed_bounded.&&)"),
        ("a1 ~ '^x'", "OPERATOR(wed_bounded.~)"),
        ("a1 similar to 'x%'", "OPERATOR(wed_bounded.~)"),
        ("position(a2 in a1) > 0", "wed_bounded.strpos(a1, a2)"),
        ("trim(both a2 from a1) = 'x'", "wed_bounded.btrim(a1, a2)"),
        ("(doc ->> 'due')::timestamptz < now()", "wed_bounded.moment("),
        ("a1::numeric > 1", "wed_bounded.number("),
        ("a1::jsonb ? 'x'", "wed_bounded.document("),
        ("lower(a1) = 'x'", "wed_bounded.in_time("),
    ] {
        let found = run(condition);
        assert!(found.contains(bounded), "{condition}: {found}");
    }
    for plain in ["daterange(day, NULL) @> current_date", "day <@ daterange(day, current_date)", "a1 = 'x' AND d2 > 1"]
    {
        let found = run(plain);
        assert!(!found.contains("wed_bounded"), "{found}");
    }
    for (written, meant) in [
        ("d2 = 1_000", "1000"),
        ("d2 = 0x1F", "31"),
        ("d2 = 0o17", "15"),
        ("d2 = 0b1_01", "5"),
        ("n1 > 1_000.5_0", "1000.50"),
        ("big = 0xFF_FFFF_FFFF", "1099511627775"),
    ] {
        let found = run(written);
        assert!(found.contains(meant), "{written}: {found}");
    }
    for zone in ["ABC5", "q/aa5", "a.b:c-1"] {
        let made = owner.execute("SELECT wed_bounded.moment('2024-01-01 10:00 ' || $1)", &[&zone]);
        let refusal = crate::support::session::Refusal::of(&made.expect_err(zone));
        assert_eq!(refusal.code, "WF032", "{zone}");
    }
    owner.run("SET statement_timeout = '1s'");
    owner.run("SELECT wed_bounded.repeated('', 2147483647)");
}

/// Checks that what conditions make stays until all of a flow are evaluated.
#[harness::test]
fn the_conditions_of_a_flow_are_bounded_together() {
    let flow = flow();
    let mut s = flow.session();
    let heavy = |name: &str| {
        let parts: Vec<String> = (0..8).map(|at| format!("a1::jsonb ? '{name}{at}'")).collect();
        let condition = parts.join(" or ");
        format!("INSERT INTO wed_trig (trname, cpred) VALUES ('{name}', $c${condition}$c$)")
    };
    for name in ["a", "b", "c"] {
        s.run(&heavy(name));
    }
    let refusal = s.refused(&heavy("d")).expect("WF011");
    assert!(refusal.message.contains("together"), "{refusal:?}");
    // Nor are there more, or longer ones, than a session can keep plans of.
    let refusal = s
        .refused(
            "INSERT INTO wed_trig (trname, cpred) SELECT 't' || i, (SELECT string_agg(format('a1 = %L', 'v' || i || \
             '_' || j), ' or ')
               FROM generate_series(1, 100) j) FROM generate_series(1, 300) i",
        )
        .expect("WF011");
    assert!(refusal.message.contains("bytes together"), "{refusal:?}");
    // Such as look at values are as many as one likes.
    s.run(
        "INSERT INTO wed_trig (trname, cpred)
         SELECT 't' || i, format('lower(a1) = %L AND d2 > %s AND doc ->> ''a'' = %1$L', i, i) FROM \
         generate_series(1, 300) i",
    );
    s.run("UPDATE wed_trig SET enabled = false WHERE trname = 'a'");
    s.run(&heavy("d"));
    // So are such as take several texts out of a document.
    let keys: Vec<String> = (0..10).map(|key| format!("doc ->> ''k{key}'' = %L")).collect();
    let values = ["i"; 10].join(", ");
    let mut s = self::flow().session();
    s.run(&format!(
        "INSERT INTO wed_trig (trname, cpred) SELECT 't' || i, format('{}', {values}) FROM generate_series(1, 110) i",
        keys.join(" and ")
    ));
}

#[harness::test]
fn a_hostile_text_makes_a_condition_fail_for_its_instance_only() {
    let flow = Database::new().flow("hostile");
    let mut s = flow.session();
    s.run(
        "INSERT INTO wed_attr (aname, open) VALUES ('t', true), ('u', false);
         INSERT INTO wed_trig (trname, cpred) VALUES ('go', 'u IS NULL'),
           ('more', $$t::numeric > 10 AND u IS NOT NULL$$)",
    );
    s.run("INSERT INTO wed_flow (u) VALUES (NULL), (NULL)");
    s.run("UPDATE wed_flow SET t = CASE wid WHEN 1 THEN '1e131000' ELSE '5' END");
    assert_eq!(s.lines("SELECT wid, status FROM wed_instance ORDER BY wid"), ["1|E", "2|R"]);
    let note = s.line("SELECT note FROM wed_trace WHERE wid = 1 ORDER BY seq DESC LIMIT 1");
    assert!(note.contains("too many digits"), "{note}");
}

/// Each state's conditions have a second; who needs more does not keep the others of the statement.
#[harness::test]
fn an_instance_whose_conditions_take_too_long_becomes_an_exception() {
    let flow = Database::new().flow("slow");
    let mut s = flow.session();
    s.run("INSERT INTO wed_attr (aname, open) VALUES ('t', true), ('u', false)");
    let set = "cdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let slow: Vec<String> = (0..100).map(|at| format!("translate(t, '{set}', '') = 'x{at}'")).collect();
    for part in ["go", "more", "most"] {
        s.run(&format!("INSERT INTO wed_trig (trname, cpred) VALUES ('{part}', $c${}$c$)", slow.join(" or ")));
    }
    s.run(
        "INSERT INTO wed_trig (trname, cpred) VALUES ('first', 'u IS NULL');
         INSERT INTO wed_flow (u) VALUES (NULL), (NULL);
         UPDATE wed_flow SET t = CASE wid WHEN 1 THEN repeat('ab', 125000) ELSE 'ab' END",
    );
    assert_eq!(s.lines("SELECT wid, status FROM wed_instance ORDER BY wid"), ["1|E", "2|R"]);
    let note = s.line("SELECT note FROM wed_trace WHERE wid = 1 ORDER BY seq DESC LIMIT 1");
    assert!(note.contains("more than 1 s"), "{note}");
}

/// A number of a document may take ten bytes and many thousand digits.
#[harness::test]
fn numbers_in_documents_have_few_digits() {
    let flow = Database::new().flow("documents");
    let mut s = flow.session();
    s.run(
        "INSERT INTO wed_attr (aname, atype, open) VALUES ('doc', 'jsonb', true), ('t', 'text', true);
         INSERT INTO wed_trig (trname, cpred) VALUES ('go', 'true'), ('read', $$t::jsonb ? 'a'$$);
         INSERT INTO wed_flow (doc) VALUES ('[1e308, 5e-324, 1e1000, \"1e131000\"]')",
    );
    for large in ["[1e131000]", "{\"a\": {\"b\": [1, 1e-2000]}}"] {
        s.refused(&format!("INSERT INTO wed_flow (doc) VALUES ($j${large}$j$)")).expect("WF031");
    }
    s.run("UPDATE wed_flow SET t = '[' || repeat('1e131000,', 1000) || '1]' WHERE wid = 1");
    let note = s.line("SELECT note FROM wed_trace WHERE wid = 1 ORDER BY seq DESC LIMIT 1");
    assert!(note.contains("too many digits"), "{note}");
}
