//! Properties over random documents and over sources with parts taken out.

use proptest::prelude::*;
use wedflow_guard::{CheckedPredicate, FlowAttributes};
use wedflow_process::{check, format, lower, parse, raise};

const EXAMPLE: &str = include_str!("data/manutencao.pdl");

/// A source with comments, sub-workflows, trees and all kinds of data.
const RICH: &str = r#"
// about it
WORKFLOW P { /* why */
  QUERY q { DATABASE "d"; // where
    EXPRESSION "SELECT 1"; }
  NUMBER n { VALUE 3.5; } // three
  TASK A: M { DEPENDS; IN_CONTEXT q, n; OUT_CONTEXT n; ROLE r; }
  TASK B: M { DEPENDS OR (AND (A -> SUCCEEDED, S -> FAILED), A -> RUNNING /* or so */, S -> READY); ROLE r; }
  SUB-WORKFLOW S: Q { DEPENDS A -> SUCCEEDED; }
}
WORKFLOW Q { STRING s { VALUE "a ""b"""; } TASK X: N { } // end
}
TASK M { TYPE Semi-automatic; APPLICATION E; PRIORITY 10 DEADLINE 2 DAYS; DISCONNECTED_OPERATION true; }
TASK N { TYPE; PRIORITY 0; DEADLINE 5; RETRIES 3; DISCONNECTED_OPERATION FALSE; }
APPLICATION E { NAME "e"; SIZE 1; OS "o"; CPU "c" INSTALLER; HOSTS "h", "i"; }
"#;

/// Splits a source so that the parts together are the source: words, strings, signs, blanks.
fn parts(source: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let same =
            |c: char| c.is_alphanumeric() == first.is_alphanumeric() && c.is_whitespace() == first.is_whitespace();
        let length = match first {
            '"' | '{' | '}' | ';' | '(' | ')' | ',' | ':' => 1,
            _ => rest.find(|c| !same(c)).unwrap_or(rest.len()),
        };
        let (part, after) = rest.split_at(length.max(first.len_utf8()));
        parts.push(part);
        rest = after;
    }
    parts
}

/// Reads, prints, checks and lowers whatever it is; what is printed prints so again.
fn goes_through(source: &str) {
    let parsed = parse(source);
    for diagnostic in &parsed.diagnostics {
        assert!(!diagnostic.render("x.pdl", source).is_empty());
    }
    let diagnostics = check(&parsed.document);
    for diagnostic in &diagnostics {
        assert!(!diagnostic.render("x.pdl", source).is_empty());
    }
    let lowered = lower(&parsed.document);
    if parsed.has_errors() {
        return;
    }
    let once = format(&parsed.document);
    let again = parse(&once);
    assert!(!again.has_errors(), "{once}\n{:#?}", again.diagnostics);
    assert_eq!(format(&again.document), once);
    let lowered = lowered.ok();
    assert_eq!(lower(&again.document).ok(), lowered);
    if let Some(processes) = lowered {
        let plans: Vec<_> = processes.iter().map(|one| one.plan.clone()).collect();
        let raised = raise(&plans);
        let read = parse(&raised);
        assert!(!read.has_errors(), "{raised}\n{:#?}", read.diagnostics);
        assert_eq!(lower(&read.document).ok(), Some(processes), "{raised}");
        assert_eq!(format(&read.document), raised);
    }
}

#[test]
fn sources_are_their_parts() {
    assert_eq!(parts(RICH).concat(), RICH);
    goes_through(RICH);
    goes_through(EXAMPLE);
}

#[test]
fn conditions_of_the_sources_pass_the_guard() {
    for source in [EXAMPLE, RICH] {
        for process in lower(&parse(source).document).expect("no errors") {
            let flow = process.definition;
            let attributes = FlowAttributes::new(
                flow.attributes.iter().map(|one| (one.name.clone(), one.kind.clone())).collect::<Vec<_>>(),
            );
            for condition in flow.triggers.iter().map(|one| &one.when).chain(&flow.final_condition) {
                assert!(CheckedPredicate::parse(condition, &attributes).is_ok(), "{condition}");
            }
        }
    }
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["A", "B", "C", "D-e", "F_g"]).prop_map(str::to_owned)
}

fn rule() -> impl Strategy<Value = String> {
    let term = (name(), prop::sample::select(vec!["READY", "RUNNING", "FAIL", "SUCCEEDED"]))
        .prop_map(|(name, state)| format!("{name} -> {state}"));
    term.prop_recursive(4, 24, 4, |inner| {
        (prop::bool::ANY, prop::collection::vec(inner, 1..4))
            .prop_map(|(and, terms)| format!("{} ({})", if and { "AND" } else { "OR" }, terms.join(" , ")))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sources_with_parts_taken_out_never_panic(
        rich in prop::bool::ANY,
        gone in prop::collection::btree_set(0usize..700, 1..12),
    ) {
        let source = if rich { RICH } else { EXAMPLE };
        let kept: Vec<&str> =
            parts(source).into_iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, part)| part).collect();
        goes_through(&kept.concat());
    }

    #[test]
    fn sources_with_parts_exchanged_never_panic(pairs in prop::collection::vec((0usize..300, 0usize..300), 1..6)) {
        let mut all = parts(RICH);
        let length = all.len();
        for (one, other) in pairs {
            all.swap(one % length, other % length);
        }
        goes_through(&all.concat());
    }

    #[test]
    fn any_text_is_read(source in "\\PC{0,200}") {
        goes_through(&source);
    }

    #[test]
    fn random_rules_are_checked_and_lowered(rules in prop::collection::vec(prop::option::of(rule()), 5)) {
        let names = ["A", "B", "C", "D-e", "F_g"];
        let tasks: String = names.iter().zip(&rules).map(|(name, rule)| {
            format!("TASK {name}: M {{ DEPENDS {}; }}\n", rule.as_deref().unwrap_or(""))
        }).collect();
        let source = format!("WORKFLOW P {{ {tasks} }}");
        goes_through(&source);
        prop_assert!(lower(&parse(&source).document).is_ok());
    }
}
