//! Random fragments: nothing panics, and whatever is accepted comes out the same when it goes in
//! again.

mod attributes;

use proptest::prelude::*;
use wedflow_guard::{CheckedPredicate, CheckedSetClause, CheckedValue};

use attributes::attributes;

/// Expressions without parts.
const LEAVES: &str = "\
    a1 a2 d2 ok tags doc \"order\" null true 1 -1 1.5 2e3 'x' '' now() current_date wid $1 default * -0 0x1F 1_000";

/// Operators between two expressions.
const OPERATORS: &str = "\
    +, -, *, /, %, ||, =, <>, <, >=, and, or, ->, ->>, @>, ?, is distinct from, like, ilike, \
    not like, ^, ~, between 1 and";

/// Expressions of the allowed kind, and a few that are not.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(LEAVES.split(' ').collect::<Vec<_>>()).prop_map(str::to_owned),
        "[^\0]{0,8}".prop_map(|text| format!("'{}'", text.replace('\'', "''"))),
        "[^\0]{0,8}".prop_map(|text| { format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")) }),
    ];
    leaf.prop_recursive(6, 40, 3, |inner| {
        let operators = prop::sample::select(OPERATORS.split(", ").collect::<Vec<_>>());
        prop_oneof![
            (inner.clone(), operators, inner.clone()).prop_map(|(l, op, r)| format!("{l} {op} {r}")),
            inner.clone().prop_map(|e| format!("({e})")),
            inner.clone().prop_map(|e| format!("- {e}")),
            inner.clone().prop_map(|e| format!("not {e}")),
            inner.clone().prop_map(|e| format!("{e}::text")),
            inner.clone().prop_map(|e| format!("({e})::integer[]")),
            inner.clone().prop_map(|e| format!("{e} is null")),
            inner.clone().prop_map(|e| format!("{e} is not true")),
            inner.clone().prop_map(|e| format!("lower({e})")),
            inner.clone().prop_map(|e| format!("({e})[1]")),
            inner.clone().prop_map(|e| format!("extract(year from {e})")),
            inner.clone().prop_map(|e| format!("trim({e})")),
            inner.clone().prop_map(|e| format!("(select {e})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("coalesce({a}, {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} in ({b}, 'y')")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("array[{a}, {b}]")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("case when {a} then {b} else {c} end")),
        ]
    })
}

fn tokens() -> impl Strategy<Value = String> {
    let words = "\
        a1 = 'x' , ( ) -- /* */ ; where from returning select 1 $1 $$ \" ' E'\\' U&'\\0041' [ ] . \
        :: text default union \\ é wid set case end when and not is null";
    let token = words.split(' ').chain(["\n"]).collect::<Vec<_>>();
    let token = prop::sample::select(token);
    prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn accepted_expressions_are_stable(e in expression()) {
        let text = format!("a1 = {e}");
        if let Ok(clause) = CheckedSetClause::parse(&text, &attributes()) {
            let sql = clause.to_string();
            let again = CheckedSetClause::parse(&sql, &attributes());
            prop_assert_eq!(Ok(&clause), again.as_ref(), "{} -> {}", text, sql);
            // What Postgres's own deparser says of both: the same, but where syntax was resolved.
            let literal = clause.literals().next().is_some();
            if !literal && !text.contains("trim(") {
                let deparsed = |text: &str| {
                    let tree = pg_query::parse(&format!("UPDATE wed_flow SET {text}"), 0)
                        .expect("accepted");
                    tree.protobuf.deparse(Default::default()).expect("deparsed")
                };
                prop_assert_eq!(deparsed(&text), deparsed(&sql));
            }
        }
        if let Ok(predicate) = CheckedPredicate::parse(&e, &attributes()) {
            let again = CheckedPredicate::parse(predicate.sql(), &attributes());
            prop_assert_eq!(Ok(&predicate), again.as_ref());
        }
    }

    #[test]
    fn nothing_panics_and_positions_are_within(text in prop_oneof![tokens(), "\\PC{0,60}", ".{0,30}"]) {
        for error in [
            CheckedSetClause::parse(&text, &attributes()).err(),
            CheckedPredicate::parse(&text, &attributes()).err(),
        ]
        .into_iter()
        .flatten()
        {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.position), "{}", error);
        }
    }

    #[test]
    fn text_survives_as_it_is(value in "[^\0]{0,40}", escaped in any::<bool>()) {
        let text = if escaped {
            format!("a1=E'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
        } else {
            format!("a1='{}'", value.replace('\'', "''"))
        };
        let clause = CheckedSetClause::parse(&text, &attributes()).expect("text");
        let literal = CheckedValue::Literal(Some(value.clone()));
        prop_assert_eq!(&clause.assignments()[0].value, &literal);
        let again = CheckedSetClause::parse(&clause.to_string(), &attributes()).expect("again");
        prop_assert_eq!(clause, again);
        // The same within an expression.
        let text = text.replacen("a1=", "a1=a2||", 1);
        let clause = CheckedSetClause::parse(&text, &attributes()).expect("expression");
        let again = CheckedSetClause::parse(&clause.to_string(), &attributes()).expect("again");
        prop_assert_eq!(clause, again);
    }

    /// Clauses of constants take a way of their own; it must lead where the parser leads.
    #[test]
    fn the_short_way_leads_to_the_same_place(
        parts in prop::collection::vec((
            prop::sample::select(vec!["a1", "a2", "d2", "ok", "tags", "doc", "wid", "a9"]),
            prop_oneof![
                prop::sample::select(vec![
                    "1", "-1", "- 2", "007", "1.50", "-.5", "3000000000", "1e5", "null", "NULL", "true",
                    "false", "0x10", "'it''s'", "''", "'x' 'y'", "'x'\n'y'", "-'1'", "--1", "default",
                    "99999999999999999999999999999999999999999",
                ]).prop_map(str::to_owned),
                "[^\0]{0,8}".prop_map(|text| format!("'{}'", text.replace('\'', "''"))),
            ],
        ), 1..4),
    ) {
        let short: Vec<_> = parts.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // Parentheses mean nothing to the parser, and keep a clause off the short way.
        let long: Vec<_> = parts.iter().map(|(name, value)| format!("{name}=({value})")).collect();
        let parse = |parts: &[String]| {
            CheckedSetClause::parse(&parts.join(","), &attributes()).map_err(|e| e.code)
        };
        if !parts.iter().any(|(_, value)| value == "default" || value.starts_with("--")) {
            prop_assert_eq!(parse(&short), parse(&long));
        }
    }
}
