//! The corpora: what must be accepted, and what must be refused, where and by which code.

mod attributes;

use wedflow_guard::{
    CheckedPredicate, CheckedSetClause, CheckedValue, FlowAttributes, MAX_BYTES, Refusal, RefusalCode, SetClauseCache,
};
use wedflow_model::{Assignment, Scalar, Value};

use attributes::attributes;

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn set(text: &str) -> Result<CheckedSetClause, Refusal> {
    CheckedSetClause::parse(text, &attributes())
}

fn condition(text: &str) -> Result<CheckedPredicate, Refusal> {
    CheckedPredicate::parse(text, &attributes())
}

/// An expression in which nothing need be guarded.
fn expression(sql: &str) -> CheckedValue {
    CheckedValue::Expression { sql: sql.to_owned(), guarded: sql.to_owned() }
}

/// Returns what Postgres's own deparser makes of a statement.
fn deparsed(statement: &str) -> String {
    let tree = pg_query::parse(statement, 0).expect(statement);
    tree.protobuf.deparse(Default::default()).expect(statement)
}

#[test]
fn a_suggested_condition_is_checked_without_a_flow() {
    let integer = |name: &str| (name.to_owned(), "integer".parse().expect("a type"));
    for good in [
        "a1 = 'ready' AND \"Odd Name\" > 1",
        "lower(Status) = 'x' OR tags IS NULL",
        "repeat(a, 2) = 'aa' AND n > 0",
        "starts_with(a, b) AND c > 1",
        "a > 1 AND b LIKE 'x%' AND c AND d ? 'k' AND e < now() AND f > interval '1 day'",
    ] {
        CheckedPredicate::parse_for_any_flow(good, [integer("n")])
            .unwrap_or_else(|refusal| panic!("{good}: {refusal}"));
    }
    for bad in ["a = 1; DROP TABLE wed_flow", "a = (SELECT 1)", "pg_sleep(a) IS NULL", "a ="] {
        assert!(CheckedPredicate::parse_for_any_flow(bad, []).is_err(), "{bad}");
    }
}

#[test]
fn the_legitimate_are_accepted_and_come_out_meaning_the_same() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for line in lines(include_str!("data/accepted.txt")) {
        count += 1;
        let (kind, text) = line.split_once(' ').expect(line);
        let reformed = kind.ends_with('~');
        if kind.starts_with("set") {
            let clause = match set(text) {
                Ok(clause) => clause,
                Err(e) => {
                    wrong.push(format!("{text}: {e}"));
                    continue;
                }
            };
            let sql = clause.to_string();
            let again = set(&sql).unwrap_or_else(|e| panic!("{text} -> {sql}: {e}"));
            assert_eq!(clause, again, "{text} -> {sql}");
            let single = clause.assignments().len() == 1;
            let literal = clause.literals().next().is_some();
            if !reformed && single && !literal {
                let statement = |text: &str| deparsed(&format!("UPDATE wed_flow SET {text}"));
                if statement(text) != statement(&sql) {
                    wrong.push(format!("{}\n{}", statement(text), statement(&sql)));
                }
            }
        } else {
            let predicate = match condition(text) {
                Ok(predicate) => predicate,
                Err(e) => {
                    wrong.push(format!("{text}: {e}"));
                    continue;
                }
            };
            let sql = predicate.sql();
            let again = condition(sql).unwrap_or_else(|e| panic!("{text} -> {sql}: {e}"));
            assert_eq!(predicate, again, "{text} -> {sql}");
            if !reformed {
                let statement = |text: &str| deparsed(&format!("DELETE FROM x WHERE {text}"));
                if statement(text) != statement(sql) {
                    wrong.push(format!("{}\n{}", statement(text), statement(sql)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(count >= 80, "{count}");
}

#[test]
fn the_hostile_are_refused_at_the_right_place() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for line in lines(include_str!("data/refused.txt")) {
        count += 1;
        let mut parts = line.splitn(4, ' ');
        let mut part = || parts.next().expect(line);
        let (kind, code, position, text) = (part(), part(), part(), part());
        let error = if kind == "set" {
            set(text).map(|clause| clause.to_string())
        } else {
            condition(text).map(|predicate| predicate.to_string())
        };
        match error {
            Ok(sql) => wrong.push(format!("{line}: accepted as {sql}")),
            Err(e) => {
                let found = e.position.to_string();
                if e.code.as_str() != code || (position != "-" && found != position) {
                    wrong.push(format!("{line}: {} {found}: {e}", e.code));
                }
                assert!(e.position <= text.chars().count() + 1, "{line}: {e}");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(count >= 80, "{count}");
}

#[test]
fn what_is_run_holds_operands_to_their_bounds() {
    for (text, run) in [
        ("doc = ('[' || a1 || ']')::jsonb", "wed_bounded.document("),
        ("n1 = a1::numeric", "wed_bounded.number("),
        ("at = a1::timestamptz", "wed_bounded.moment("),
        ("ok = a1 like a2 escape '!'", "a1 OPERATOR(wed_bounded.~~) like_escape(a2, '!')"),
        ("ok = a1 like 'x ESCAPE y' escape '!'", "like_escape('x ESCAPE y', '!')"),
        ("ok = a1 not similar to 'x%'", "a1 OPERATOR(wed_bounded.!~) similar_to_escape('x%')"),
        ("ok = position(a2 in a1) > 0", "wed_bounded.strpos(a1, a2)"),
        ("ok = doc @> to_jsonb(tags)", "doc OPERATOR(wed_bounded.@>) to_jsonb(tags)"),
        ("n1 = n1 * d2", "n1 OPERATOR(wed_bounded.*) d2"),
    ] {
        let clause = set(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(clause.guarded().contains(run), "{text}: {}", clause.guarded());
        assert!(!clause.to_string().contains("wed_bounded"), "{text}");
    }
    assert_eq!(set("d2 = d2 + 1").expect("plain").guarded(), "d2 = d2 + 1");
}

#[test]
fn what_does_not_fit_on_a_line_is_refused_too() {
    let code = |text: &str| set(text).map(|ok| ok.to_string()).map_err(|e| e.code);
    assert_eq!(code(""), Err(RefusalCode::Empty));
    assert_eq!(code(" \n\t"), Err(RefusalCode::Empty));
    assert_eq!(code("a1='x\0'"), Err(RefusalCode::NulCharacter));
    assert_eq!(code("--\n"), Err(RefusalCode::Empty));
    assert_eq!(code("a1=1 --\n"), Ok("a1 = '1'".into()));
    assert_eq!(code("a1=1 --\n, a2=2"), Ok("a1 = '1', a2 = '2'".into()));
    assert_eq!(code("a1='x' --\n'y'"), Ok("a1 = 'xy'".into()));
    assert_eq!(code("a1='x'\n'y'"), Ok("a1 = 'xy'".into()));
    assert_eq!(code("a1='x'\n'y' WHERE true"), Err(RefusalCode::ExtraClause));

    let long = format!("a1='{}'", "x".repeat(1 << 20));
    assert_eq!(code(&long), Err(RefusalCode::TooLong));
    let fits = format!("a1='{}'", "x".repeat(MAX_BYTES - 5));
    assert_eq!(fits.len(), MAX_BYTES);
    assert!(set(&fits).is_ok());

    // Nested in every way the grammar knows, as deep as the length allows.
    for (open, inside, close) in [
        ("(", "1", ")"),
        ("not ", "ok", ""),
        ("- ", "d2", ""),
        ("lower(", "a1", ")"),
        ("array[", "1", "]"),
        ("case when ok then ", "1", " end"),
        ("", "a1", "||a1"),
        ("", "d2", "+1"),
        ("", "a1", "::text"),
        ("", "tags", "[1]"),
        ("(", "ok", ") is null"),
        ("coalesce(", "1", ")"),
        ("(select ", "1", ")"),
    ] {
        for levels in [50, 100, 1000, 5000] {
            let text = format!("a1={}{inside}{}", open.repeat(levels), close.repeat(levels));
            if text.len() > MAX_BYTES {
                continue;
            }
            let found = code(&text);
            // Parentheses, and steps of one access, are no levels of the tree.
            let flat = (open == "(" && close == ")") || inside == "tags";
            if !flat {
                let found = found.expect_err(&text);
                let expected = [RefusalCode::TooDeep, RefusalCode::Subquery];
                assert!(expected.contains(&found), "{open}{inside}{close} {levels}: {found}");
            }
        }
    }
    // The same on a small stack.
    let small = std::thread::Builder::new().stack_size(768 << 10).spawn(move || {
        let text = format!("a1={}a1", "- ".repeat(8000));
        CheckedSetClause::parse(&text, &attributes()).map_err(|e| e.code)
    });
    let found = small.expect("thread").join().expect("no overflow");
    assert_eq!(found, Err(RefusalCode::TooDeep));

    let many = vec!["'x'"; 2100].join(",");
    let found = code(&format!("ok=a1 in ({many})"));
    assert_eq!(found, Err(RefusalCode::TooComplex));
}

#[test]
fn depth_and_length_within_the_bounds_are_accepted() {
    let deep = format!("a1={}a1{}", "lower(".repeat(38), ")".repeat(38));
    assert!(set(&deep).is_ok(), "{:?}", set(&deep));
    let chain = vec!["a1 = 'x'"; 400].join(" or ");
    assert!(condition(&chain).is_ok());
}

#[test]
fn a_rejection_says_what_where_and_how_to_mend_it() {
    let e = set("a1='größer', statsu=done").expect_err("unknown");
    assert_eq!((e.position, e.token.as_str()), (14, "statsu"));
    let e = set("a1='größer', a2=done").expect_err("unknown");
    assert_eq!((e.position, e.token.as_str()), (17, "done"));
    assert!(e.to_string().contains("'done'") || e.to_string().contains("single quotes"), "{e}");
    let e = condition("a1 = 'ü' and odrer = 'x'").expect_err("unknown");
    assert!(e.hint.contains("did you mean `order`"), "{e}");
    let e = set("a1='x' wehre a2='y'").expect_err("syntax");
    assert_eq!((e.code, e.position, e.token.as_str()), (RefusalCode::Syntax, 8, "wehre"));
    let e = set("a1=count(*)").expect_err("aggregate");
    assert_eq!(e.code, RefusalCode::Aggregate);
    for (text, hint) in [
        ("span = 3", "interval '3 days'"),
        ("day - at > 3", "interval '3 days'"),
        ("doc = 1", "to_jsonb("),
        ("doc->>'a' > 1", "::integer"),
        ("ok && ok", "AND"),
        ("len(a1) > 1", "length("),
        ("ifnull(a1, 'x') = 'x'", "coalesce("),
        ("getdate() > at", "now()"),
        ("tags = array[]", "ARRAY[]::text[]"),
    ] {
        let e = condition(text).expect_err(text);
        assert!(e.hint.contains(hint), "{text}: {e}");
    }
    // Casts that there are, and none that there are not.
    for (text, hint) in [
        ("jsonb_set(doc, '{a}', a1) = doc", "to_jsonb("),
        ("length(d2) = 1", "(…)::text"),
        ("id = a1", "(…)::uuid"),
        ("tags @> ints", "(…)::text[]"),
        ("d2 = any (array['a'])", "(…)::integer"),
        ("1 = any (tags)", "(…)::text"),
        ("coalesce(d2, day) is null", "cast them"),
        ("d2::date is null", "CURRENT_DATE"),
        ("day::integer is null", "subtract one date"),
        ("d2::uuid is null", "there is no cast"),
        ("d2::jsonb is null", "to_jsonb("),
        ("doc::text[] is null", "doc->>0"),
        ("d2::interval is null", "make_interval("),
        ("day = '01/15/2024'", "2024-01-15"),
        ("at at time zone a1 > at", "CASE a1 WHEN"),
        ("n1 > 1e308", "'1e308'"),
    ] {
        let e = condition(text).expect_err(text);
        assert!(e.hint.contains(hint), "{text}: {e}");
    }
    let e = condition("regexp_count(a1, 'x', 1, 'i') = 1").expect_err("four");
    assert!(e.message.contains("takes 2 arguments here, not 4"), "{e}");
    let written = vec!["doc::text = 'a'"; 17].join(" and ");
    let e = condition(&written).expect_err("heavy");
    assert!(e.message.contains("weighs") && e.hint.contains("->>"), "{e}");
    let e = set("a1 = 'x' and a2 = 'y'").expect_err("one assignment");
    assert!(e.hint.contains("commas"), "{e}");
}

#[test]
fn what_other_languages_write_is_told_what_to_write_here() {
    for (text, position, hint) in [
        ("WHERE a1 = 'x'", 1, "leave that word out"),
        ("a1 == 'x'", 4, "write ="),
        ("a1 = 'x' && a2 = 'y'", 16, "AND"),
        ("a1 = 'x' || a2 = 'y'", 16, "OR"),
        ("!ok", 1, "NOT"),
        ("`a1` = 'x'", 1, "double quotes"),
        ("a1 = \"done\"", 6, "single quotes"),
        ("d2 ≥ 5", 4, ">="),
        ("d2≤5", 1, "<="),
        ("a1 ≠ 'x'", 4, "<>"),
        ("a1 = ‘x’", 6, "straight"),
        ("a1 = “x”", 6, "straight"),
        ("a1 CONTAINS 'x'", 4, "strpos("),
        ("a1 REGEXP 'x'", 4, "~"),
        ("a1 rlike 'x'", 4, "~"),
        ("a1 =~ 'x'", 4, "~"),
        ("a1 := 'x'", 4, "write ="),
        ("[a1] = 'x'", 1, "without brackets"),
        ("a1 = 'x';", 9, "leave it out"),
        ("a1\u{a0}= 'x'", 1, "U+00A0"),
        ("\u{feff}a1 = 'x'", 1, "U+FEFF"),
        ("a1 = E'\\u12'", 8, ""),
        ("a1 ~ '['", 6, "\\["),
        ("a1 ~ '(?<name>x)'", 6, "( )"),
        ("to_tsvector(a1) @@ to_tsquery('x')", 1, "LIKE"),
    ] {
        let e = condition(text).expect_err(text);
        assert!(e.position == position && e.hint.contains(hint), "{text}: {e}");
    }
    for (text, position, hint) in [
        ("SET a1 = 'x'", 1, "leave that word out"),
        ("d2 += 1", 4, "a1 + "),
        ("a1 := 'x'", 4, "write ="),
        ("a1 = 'x';", 9, "leave it out"),
        ("a1 = ‘x’", 6, "straight"),
    ] {
        let e = set(text).expect_err(text);
        assert!(e.position == position && e.hint.contains(hint), "{text}: {e}");
    }
    assert!(
        !condition("a1\u{a0}= 'x'").expect_err("hidden").message.contains('\u{a0}'),
        "a character that is not seen is shown as what it is"
    );
}

#[test]
fn literals_are_bound_and_the_rest_is_written() {
    let clause = set("a2='it''s', d2=-5, a1=(a1::integer+1)::text, n1=null, f=default").expect("ok");
    let values: Vec<_> = clause.assignments().iter().map(|a| (&*a.attribute, a.value.clone())).collect();
    let literal = |text: &str| CheckedValue::Literal(Some(text.to_owned()));
    assert_eq!(
        values,
        [
            ("a1", expression("(a1::integer + 1)::text")),
            ("a2", literal("it's")),
            ("d2", literal("-5")),
            ("n1", CheckedValue::Literal(None)),
            ("f", CheckedValue::Default),
        ]
    );
    assert!(clause.attributes_written().eq(["a1", "a2", "d2", "n1", "f"]));
    assert!(clause.literals().eq([Some("it's"), Some("-5"), None]));
    // A number means the same bound as written only where the attribute takes it as it is.
    let written = |text: &str| set(text).expect(text).assignments()[0].value.clone();
    assert_eq!(written("d2=1.5"), expression("1.5"));
    assert_eq!(written("a1=1e3"), expression("1e3"));
    assert_eq!(written("big=3000000000"), literal("3000000000"));
    assert_eq!(written("a1=007"), literal("7"));
}

#[test]
fn typed_assignments_become_literals() {
    let assign = |name: &str, value: Scalar| Assignment { attribute: name.to_owned(), value: Value::Scalar(value) };
    let made = CheckedSetClause::from_assignments(
        &[assign("d2", Scalar::Integer(7)), assign("a1", Scalar::Text("it's".into()))],
        &attributes(),
    )
    .expect("clause");
    assert_eq!(made, set("a1='it''s', d2=7").expect("clause"));
    for (names, code, position) in [
        (vec![], RefusalCode::Empty, 1),
        (vec!["a1", "wid"], RefusalCode::Wid, 2),
        (vec!["a1", "a9"], RefusalCode::UnknownAttribute, 2),
        (vec!["a1", "a2", "a1"], RefusalCode::DuplicateAttribute, 3),
    ] {
        let list: Vec<_> = names.iter().map(|name| assign(name, Scalar::Null)).collect();
        let e = CheckedSetClause::from_assignments(&list, &attributes()).expect_err("refused");
        assert_eq!((e.code, e.position), (code, position));
    }
}

#[test]
fn many_threads_at_once_and_standard_error_survives() {
    let cache = SetClauseCache::new(attributes(), 100);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let cache = &cache;
            scope.spawn(move || {
                for n in 0..500 {
                    let text = format!("a1=a1||'{thread}', d2=d2+{}", n % 50);
                    cache.parse(&text).expect("clause");
                    assert!(cache.parse("a1=pg_sleep(1)").is_err());
                }
            });
        }
    });
    use std::io::Write;
    let mut real = wedflow_guard::outside_of_parsing(std::io::stderr);
    real.write_all(b"").and_then(|()| real.flush()).expect("stderr");
}

#[test]
fn an_enum_takes_its_labels_only() {
    let attributes =
        FlowAttributes::new([("size", "enum(s,m,l)".parse().expect("type")), ("a1", "text".parse().expect("type"))]);
    for fine in [
        "size = 's' or size in ('m', 'l')",
        "size <> 's' and 'm' = size and size like 's%'",
        "strpos(a1, size) > 0 and translate(a1, size, '') = ''",
    ] {
        CheckedPredicate::parse(fine, &attributes).unwrap_or_else(|e| panic!("{fine}: {e}"));
    }
    for wrong in ["size = 'xl'", "size in ('s', 'x')", "'x' <> size", "size > 's'"] {
        let e = CheckedPredicate::parse(wrong, &attributes).expect_err(wrong);
        assert_eq!(e.code, RefusalCode::Type, "{wrong}");
        assert!(e.hint.contains("s, m, l"), "{e}");
        assert!(e.message.contains("`size`") || e.message.contains("order"), "{e}");
    }
    let e = CheckedPredicate::parse("size = 5", &attributes).expect_err("a number");
    assert!(e.message.contains("`size` is an enum") && e.hint.contains("s, m, l"), "{e}");
    assert!(CheckedSetClause::parse("size = 'm'", &attributes).is_ok());
    assert!(CheckedSetClause::parse("size = 'x'", &attributes).is_err());
    assert!(CheckedSetClause::parse("size = 'x', a1 = lower(a1)", &attributes).is_err());
}

#[test]
fn a_clause_sets_elements_of_few_arrays() {
    let kinds = (0..20).map(|at| (format!("t{at}"), "text[]".parse().expect("a type")));
    let attributes = FlowAttributes::new(kinds);
    let clause = |count: usize| {
        let each: Vec<String> = (0..count).map(|at| format!("t{at}[1] = 'x'")).collect();
        CheckedSetClause::parse(&each.join(", "), &attributes)
    };
    assert!(clause(5).is_ok());
    // Each may begin at 2^27, and Postgres fills up to there.
    let refused = clause(7).expect_err("too much");
    assert_eq!(refused.code, RefusalCode::TooComplex);
}
