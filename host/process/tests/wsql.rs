//! WSQL: what statements mean, what is wrong with them, and definitions that come back from every form as they were.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wedflow_model::{
    AttributeDefinition, FlowDefinition, Numbering, TransitionDefinition, TriggerDefinition, WorkDefinition,
};
use wedflow_process::wsql::{List, StatementKind, expected_at, lower, parse, write, write_script};
use wedflow_process::{Severity, lower as lower_process, parse as parse_process, write_toml};

const ORDERS: &str = "
-- From order to door.
create wed-flow orders description 'From order to door';
CREATE WED-ATTRIBUTE qty integer DEFAULT 1;
CREATE WED-ATTRIBUTE kind enum(small, large)[] OPEN;
CREATE ATTRIBUTE \"Item\" DEFAULT 'it''s';
CREATE WED-CONDITION open AS (qty > 0 AND (\"Item\" <> ';)'));
CREATE FINAL WED-CONDITION AS (qty = 0);
CREATE WED-TRANSITION pack COMPONENT parcel FILES HTTP ('api.example.com:443');
CREATE WED-TRIGGER to_pack ON open FIRE pack TIMEOUT '10 minutes' ATTEMPTS 5 WRITES (qty, \"Item\");
CREATE WED-TRIGGER to_send WHEN (qty = 1) FIRE send RECHECK FALSE;
DISABLE WED-TRIGGER to_send;
";

/// The one flow of a source without errors.
fn flow(source: &str, name: Option<&str>) -> FlowDefinition {
    let parsed = parse(source);
    assert!(parsed.diagnostics.is_empty(), "{source}\n{:#?}", parsed.diagnostics);
    let (mut flows, found) = lower(&parsed.statements, name);
    let errors: Vec<_> = found.iter().filter(|one| one.is_error()).collect();
    assert!(errors.is_empty(), "{source}\n{errors:#?}");
    assert_eq!(flows.len(), 1, "{source}");
    flows.remove(0)
}

/// Messages of a source, with the lines and columns that they are about.
fn messages(source: &str) -> Vec<(usize, usize, String, Option<String>)> {
    let parsed = parse(source);
    let (_, found) = lower(&parsed.statements, None);
    let all = parsed.diagnostics.into_iter().chain(found);
    all.map(|one| {
        let place = one.position(source);
        (place.line, place.column, one.message, one.hint)
    })
    .collect()
}

#[test]
fn statements_make_the_definition_that_a_flow_toml_makes() {
    let expected: FlowDefinition = toml::from_str(
        r#"
        name = "orders"
        description = "From order to door"
        final = "qty = 0"
        [[attribute]]
        name = "qty"
        type = "integer"
        default = 1
        [[attribute]]
        name = "kind"
        type = "enum(small,large)[]"
        open = true
        [[attribute]]
        name = "Item"
        default = "it's"
        [[trigger]]
        name = "to_pack"
        condition = "open"
        when = "qty > 0 AND (\"Item\" <> ';)')"
        transition = "pack"
        timeout = "10 minutes"
        attempts = 5
        writes = ["qty", "Item"]
        [[trigger]]
        name = "to_send"
        when = "qty = 1"
        transition = "send"
        recheck = false
        enabled = false
        [transition.pack]
        component = "parcel"
        files = true
        http = ["api.example.com:443"]
        "#,
    )
    .expect("a definition");
    assert_eq!(flow(ORDERS, None), expected);
}

#[test]
fn the_script_of_the_papers_is_read() {
    let script = "
        BEGIN;
        INSERT INTO wed_attr (aname, adv) VALUES ('a1', 'ready'), ('a2', NULL);
        INSERT INTO wed_trig (tgname, trname, cpred, timeout) VALUES
          ('t1', 'tr_a2', $$a1='ready' and (a2 is null)$$, '3d18h'::interval),
          ('t2', 'tr_a3', 'a1=''ready''', interval '00:00:30');
        INSERT INTO wed_trig (cpred, cfinal) VALUES ('a1 <> ''ready''', true);
        COMMIT;";
    let paper = flow(script, Some("paper"));
    assert_eq!(paper.name, "paper");
    assert_eq!(paper.attributes[0].default.as_deref(), Some("ready"));
    assert_eq!(paper.triggers[0].when, "a1='ready' and (a2 is null)");
    assert_eq!(paper.triggers[1].timeout.as_deref(), Some("00:00:30"));
    assert_eq!(paper.final_condition.as_deref(), Some("a1 <> 'ready'"));
}

#[test]
fn one_reading_finds_several_errors_with_their_places() {
    let source = "CREATE WED-FLOW f;
CREATE WED-ATRIBUTE a;
CREATE WED-ATTRIBUTE b intger;
CREATE WED-TRIGGER t WHEN (b > 1 FIRE x;
CREATE WED-TRIGGER u WHEN (b > 1) FIER x;
CREATE WED-TRIGGER v ON nothing FIRE x";
    let hint = |text: &str| Some(format!("Perhaps {text} is meant."));
    let found = messages(source);
    let places: Vec<_> = found.iter().map(|(line, column, ..)| (*line, *column)).collect();
    assert_eq!(places, [(2, 8), (3, 24), (4, 27), (5, 35), (6, 25)], "{found:#?}");
    assert_eq!(found[0].3, hint("WED-ATTRIBUTE"));
    assert_eq!(found[1].3, hint("integer"));
    assert_eq!(found[2].2, "this '(' is not closed");
    assert_eq!(found[3].3, hint("FIRE"));
    assert_eq!(found[4].2, "there is no condition nothing");
}

#[test]
fn names_that_are_not_there_are_told_with_the_nearest() {
    let source = format!("{ORDERS}ENABLE WED-TRIGGER to_pakc; CREATE WED-CONDITION c AS (qty = 2);");
    let parsed = parse(&source);
    let (_, found) = lower(&parsed.statements, None);
    assert_eq!(found[0].message, "there is no trigger to_pakc");
    assert_eq!(found[0].hint.as_deref(), Some("Perhaps to_pack is meant."));
    assert_eq!(found[1].severity, Severity::Warning);
    assert_eq!(found[1].message, "condition c fires nothing: no trigger names it");
}

#[test]
fn lists_are_queries_over_the_tables_of_a_flow() {
    let query = |source: &str| match &parse(source).statements[0].kind {
        StatementKind::List(list) => list.query(),
        other => panic!("{other:?}"),
    };
    assert!(parse("LIST FINAL INSTANCE").statements.is_empty());
    assert_eq!(query("LIST WED-FLOWS"), None);
    let pending = query("list pending fired wed-transitions for 3;").unwrap_or_default();
    assert!(pending.contains("FROM job_pool WHERE lckid IS NULL AND wid = 3 "), "{pending}");
    let exceptions = query("LIST EXCEPTION INSTANCES").unwrap_or_default();
    assert!(exceptions.contains("WHERE status = 'E'"), "{exceptions}");
    let disabled = query("LIST DISABLED TRIGGERS").unwrap_or_default();
    assert!(disabled.contains("NOT enabled"), "{disabled}");
    assert_eq!(query("LIST HISTORY FOR 7"), List::History(Some(7)).query());
}

#[test]
fn what_may_come_next_is_known() {
    assert!(expected_at("CREATE ").contains(&"WED-TRIGGER".to_owned()));
    assert!(expected_at("SHOW; ").contains(&"LIST".to_owned()));
    let options = expected_at("CREATE WED-TRIGGER t ON c FIRE x ");
    assert!(options.contains(&"TIMEOUT".to_owned()) && !options.contains(&"FIRE".to_owned()));
    assert_eq!(expected_at("ENABLE WED-TRIGGER "), ["the trigger's name"]);
}

#[test]
fn processes_come_back_from_statements() {
    let source = include_str!("data/manutencao.pdl");
    for process in lower_process(&parse_process(source).document).expect("no errors") {
        let written = write(&process.definition);
        assert_eq!(flow(&written, None), process.definition, "{written}");
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9_]{0,8}",
        "[ -~]{1,12}",
        Just("a > 1 AND (b = ';' OR c -- d".to_owned()),
        Just("WED-FLOW".to_owned()),
        Just("x' \"y\" $$ \\ (é".to_owned()),
    ]
}

fn attribute() -> impl Strategy<Value = AttributeDefinition> {
    let kind = prop::sample::select(vec!["text", "integer[]", "enum(a,b c)", "timestamptz", "float"]);
    let number = prop::option::of(prop::sample::select(vec![Numbering::Gapless, Numbering::Gaps]));
    (text(), kind, prop::option::of(text()), any::<bool>(), number).prop_map(|(name, kind, default, open, number)| {
        AttributeDefinition { name, kind: kind.parse().expect("a type"), default, open, number }
    })
}

fn trigger() -> impl Strategy<Value = TriggerDefinition> {
    let some = || prop::option::of(text());
    let texts = prop::array::uniform12(some());
    let numbers = (prop::option::of(1..9i32), prop::option::of(-9..9i32));
    let truths = (prop::option::of(any::<bool>()), prop::option::of(any::<bool>()), any::<bool>());
    let writes = prop::option::of(prop::collection::vec(text(), 0..3));
    let names = (text(), text(), text(), some());
    (names, texts, numbers, truths, writes).prop_map(
        |((name, transition, when, condition), texts, (attempts, priority), truths, writes)| {
            let [
                timeout,
                backoff,
                delay,
                compensation,
                deadline,
                reserves,
                quantity,
                resource,
                holds,
                after,
                waits_for,
                or_after,
            ] = texts;
            let work =
                deadline.clone().map(|role| Box::new(WorkDefinition { role: Some(role), ..WorkDefinition::default() }));
            TriggerDefinition {
                name,
                transition,
                when,
                condition,
                timeout,
                attempts,
                backoff,
                delay,
                priority,
                recheck: truths.0,
                enabled: truths.1,
                writes,
                compensation,
                deadline,
                work,
                reserves,
                quantity,
                resource,
                holds,
                consumes: truths.2,
                after,
                waits_for,
                or_after,
            }
        },
    )
}

fn definition() -> impl Strategy<Value = FlowDefinition> {
    let component =
        (text(), any::<bool>(), prop::collection::vec(text(), 0..2)).prop_map(|(component, files, http)| {
            TransitionDefinition { files, http, ..TransitionDefinition::by_component(component) }
        });
    let pairs = || prop::collection::btree_map(text(), text(), 0..3);
    let shares = prop::collection::vec(text(), 0..3);
    let flow = (text(), pairs(), pairs(), shares, prop::option::of(text())).prop_map(
        |(starts, inputs, outputs, shares, state)| TransitionDefinition {
            starts: Some(starts),
            inputs,
            outputs,
            shares,
            state,
            ..TransitionDefinition::default()
        },
    );
    let bound = prop_oneof![component, flow];
    (
        (
            text(),
            prop_oneof![Just(String::new()), text()],
            prop::option::of(text()),
            prop::option::of(prop::collection::vec(text(), 0..3)),
        ),
        prop::collection::vec(attribute(), 0..4),
        prop::collection::vec(trigger(), 0..4),
        prop::option::of(text()),
        prop::collection::btree_map(text(), bound, 0..3),
    )
        .prop_map(|((name, description, order, start), attributes, triggers, last, transitions)| {
            let mut by_name = BTreeMap::new();
            for one in attributes {
                by_name.insert(one.name.clone(), one);
            }
            let mut of_name = BTreeMap::new();
            for one in triggers {
                of_name.insert(one.name.clone(), one);
            }
            FlowDefinition {
                name,
                description,
                attributes: by_name.into_values().collect(),
                triggers: of_name.into_values().collect(),
                final_condition: last,
                transitions,
                order,
                start,
                schedules: None,
            }
        })
}

/// The part of a definition that the tables of the papers have columns for.
fn as_the_papers(mut flow: FlowDefinition) -> FlowDefinition {
    flow.description.clear();
    flow.order = None;
    flow.start = None;
    flow.transitions.clear();
    for one in &mut flow.attributes {
        one.number = None;
    }
    for one in &mut flow.triggers {
        (one.compensation, one.deadline, one.work) = (None, None, None);
    }
    flow
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn definitions_come_back_from_every_form(definition in definition()) {
        let written = write(&definition);
        prop_assert_eq!(&flow(&written, None), &definition, "{}", written);
        let written = write_toml(&definition);
        let read: FlowDefinition = toml::from_str(&written).expect("a definition");
        prop_assert_eq!(&read, &definition, "{}", written);
        let papers = as_the_papers(definition);
        let script = write_script(&papers).expect("all of it has columns");
        if papers.attributes.len() + papers.triggers.len() > 0 {
            prop_assert_eq!(&flow(&script, Some(&papers.name)), &papers, "{}", script);
        }
    }

    #[test]
    fn sources_with_parts_taken_out_never_panic(gone in prop::collection::btree_set(0usize..900, 1..12)) {
        let kept: String = (ORDERS.chars().enumerate())
            .filter(|(at, _)| !gone.contains(at))
            .map(|(_, one)| one)
            .collect();
        for (line, column, ..) in messages(&kept) {
            prop_assert!(line >= 1 && column >= 1);
        }
    }

    #[test]
    fn any_text_is_read(source in "\\PC{0,200}") {
        messages(&source);
        expected_at(&source);
    }
}
