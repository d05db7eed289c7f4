//! `wed flow lint`: what of a definition cannot work.

use crate::support::{Database, Flow, on, program, repository};

const FAULTY: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('a', 'text', 'ready'), ('n', 'integer', '0'), ('b', 'boolean', \
'false'), ('c', 'text', NULL);
INSERT INTO wed_trig (tgname, trname, cpred, writes) VALUES
  ('dead', 'd1', 'a = ''x'' AND a = ''y''', '{c}'), ('loop', 'l1', 'n > 3', '{c}'),
  ('w1', 'x1', 'b', '{c}'), ('w2', 'x2', 'b AND a = ''x''', '{c,b}');
INSERT INTO wed_trig (tgname, trname, cpred, writes, reserves, quantity) VALUES ('r', 'r1', 'n = 1', '{b}', \
'''k''', '5');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 10 AND n = 11', true);
INSERT INTO wed_resource (key, capacity) VALUES ('k', 3);";

#[harness::test]
fn each_fault_is_found_with_its_place_and_a_state() {
    let flow = Flow::of(FAULTY);
    let listed = on(flow.database.store.flow("default", "trial")).expect("the flow");
    let found = on(flow.database.store.lint(&listed)).expect("looked");
    let named: Vec<(&str, &str)> = found.iter().map(|one| (one.code.as_str(), one.place.as_str())).collect();
    for expected in [
        ("dead_trigger", "dead"),
        ("endless_loop", "loop"),
        ("write_conflict", "w1, w2"),
        ("unreachable_final", "final"),
        ("reservation_never", "r"),
    ] {
        assert!(named.contains(&expected), "{expected:?} is not in {named:?}");
    }
    let conflict = found.iter().find(|one| one.place == "w1, w2").and_then(|one| one.state.as_ref()).expect("a state");
    assert_eq!((&conflict["b"], &conflict["a"]), (&true.into(), &"x".into()));
    let answer = program::run(program::wed(&flow.database.url()).args(["flow", "lint", "trial"]));
    let text = answer.done().out;
    assert!(text.contains("write_conflict"), "{text}");
}

#[harness::test]
fn sound_flow_has_no_findings() {
    let flow = Flow::of(crate::support::flows::STEPS);
    let listed = on(flow.database.store.flow("default", "trial")).expect("the flow");
    let found = on(flow.database.store.lint(&listed)).expect("looked");
    assert!(found.is_empty(), "{found:?}");
}

#[harness::test]
fn apply_says_what_is_certain() {
    let definition = toml::from_str(
        r#"
name = "faulty"
final = "done"
[[attribute]]
name = "a"
[[attribute]]
name = "done"
type = "boolean"
default = "false"
[[trigger]]
name = "never"
when = "a = 'x' AND a = 'y'"
transition = "t"
"#,
    )
    .expect("a definition");
    let database = crate::support::Database::new();
    let applied = on(database.store.apply("default", &definition)).expect("applied");
    assert!(applied.warnings.iter().any(|said| said.starts_with("never: ")), "{:?}", applied.warnings);
}

#[harness::test]
fn samples_have_no_findings() {
    let database = Database::new();
    let samples = std::fs::read_dir(repository("sample-transitions")).expect("the samples");
    let mut files: Vec<_> =
        samples.map(|entry| entry.expect("an entry").path().join("flow.toml")).filter(|file| file.is_file()).collect();
    files.push(repository("host/cli/src/commands/requisition.toml"));
    assert!(files.len() > 6, "{files:?}");
    for file in files {
        let flow = database.apply(&file);
        let listed = on(database.store.flow("default", &flow.name)).expect("the flow");
        let found = on(database.store.lint(&listed)).expect("looked");
        let found: Vec<_> = found.iter().filter(|one| one.code != "reservation_never").collect();
        assert!(found.is_empty(), "{}: {found:#?}", file.display());
    }
}

/// Conditions that some state satisfies, though none that is tried for single constants may.
const SATISFIABLE: &[&str] = &[
    "n < goal",
    "n < goal AND n > 5",
    "n < m AND m < goal AND n > 7",
    "a <> b",
    "a > 'm' AND a < 'n'",
    "n < -5 AND n > -7",
    "n + m = 11",
    "coalesce(a, b) = 'x' AND length(a) > 3",
    "n = 1 OR n = 5 OR n = 10 OR n = 20 OR n = 30 AND m = 3",
    "n = 30",
];

#[harness::test]
fn satisfiable_condition_is_never_dead_for_certain() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype) VALUES ('n', 'integer'), ('goal', 'integer'), ('m', 'integer'), \
         ('a', 'text'), ('b', 'text'), ('done', 'boolean'); \
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true)",
    );
    let listed = on(flow.database.store.flow("default", "trial")).expect("the flow");
    let none_is_certain = |conditions: &[&str]| {
        let found = on(flow.database.store.lint(&listed)).expect("looked");
        let certain = found.iter().find(|one| one.certain);
        assert!(certain.is_none(), "{conditions:?}: {certain:?}");
    };
    let insert = |condition: &str| format!("INSERT INTO wed_trig (trname, cpred) VALUES ('t', $${condition}$$);");
    let mut session = flow.session();
    for condition in SATISFIABLE {
        session.run(&insert(condition));
        none_is_certain(&[condition]);
        session.run("DELETE FROM wed_trig WHERE NOT cfinal");
    }
    // Together they have more constants than are tried.
    for condition in SATISFIABLE {
        session.run(&insert(condition));
    }
    none_is_certain(SATISFIABLE);
}

#[harness::test]
fn comparison_of_two_attributes_is_no_finding() {
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0'), ('goal', 'integer', '3'); \
         INSERT INTO wed_trig (tgname, trname, cpred, writes) VALUES ('t', 'step', 'n < goal', '{n}'); \
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('n >= goal', true)",
    );
    let listed = on(flow.database.store.flow("default", "trial")).expect("the flow");
    let found = on(flow.database.store.lint(&listed)).expect("looked");
    assert!(found.is_empty(), "{found:?}");
    // What no state satisfies is still told for certain.
    flow.session()
        .run("INSERT INTO wed_trig (tgname, trname, cpred, writes) VALUES ('dead', 'd', 'n = 1 AND n = 2', '{n}')");
    let found = on(flow.database.store.lint(&listed)).expect("looked");
    let dead = found.iter().find(|one| one.code == "dead_trigger");
    assert!(dead.is_some_and(|one| one.certain), "{found:?}");
}

#[harness::test]
fn condition_among_very_many_states_is_no_finding() {
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let listed = |one: &dyn Fn(&str) -> String| names.map(one).join(", ");
    let flow = Flow::of(&format!(
        "INSERT INTO wed_attr (aname) VALUES {};
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES {}, ('all', 'end', $${}$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = 'end'$$, true)",
        listed(&|name| format!("('{name}')")),
        listed(&|name| format!("('{name}', 'set_{name}', $${name} IN ('x', 'y', 'z')$$)")),
        names.map(|name| format!("{name} = 'z'")).join(" AND ")
    ));
    let listed = on(flow.database.store.flow("default", "trial")).expect("the flow");
    let found = on(flow.database.store.lint(&listed)).expect("looked");
    assert!(found.iter().all(|one| one.code != "dead_trigger"), "{found:?}");
}
