//! The grammar and the worked example: what is accepted, what is refused and where, what is printed.

use wedflow_process::{Severity, check, format, lower, parse, unknown_roles};

const EXAMPLE: &str = include_str!("data/manutencao.pdl");

/// The grammar to the letter: no semicolon behind PRIORITY and CPU, FILENAME, SEMI_AUTOMATIC, operators.
const GRAMMAR: &str = r#"
WORKFLOW P {
  FILE f { NAME "f.txt"; }
  QUERY q { DATABASE "db"; EXPRESSION "SELECT ""a"" FROM t"; }
  STRING s { VALUE "x"; }
  NUMBER n { VALUE 3; }
  NUMBER r { VALUE -2.5; }
  TASK A: M { DEPENDS ; IN_CONTEXT f, q, s, n; OUT_CONTEXT r; ROLE Office-boy; DESCRIPTION "d"; }
  TASK B: M { DEPENDS OR(AND(A -> FAIL, S->RUNNING), A -> READY); ROLE x; }
  SUB-WORKFLOW S: Q { DEPENDS A -> SUCCEEDED; }
}
WORKFLOW Q { }
TASK M { TYPE SEMI_AUTOMATIC; APPLICATION E; PRIORITY 10 DEADLINE 2 DAYS; DISCONNECTED_OPERATION TRUE; }
APPLICATION E { FILENAME "e"; SIZE 1; OS "o"; CPU "c" HOSTS "h"; }
"#;

fn errors(source: &str) -> Vec<String> {
    let parsed = parse(source);
    let mut all = parsed.diagnostics.clone();
    if !parsed.has_errors() {
        all.extend(check(&parsed.document));
    }
    all.iter()
        .map(|one| {
            let place = one.position(source);
            let found = one.found.as_deref().unwrap_or_default();
            format!("{}:{} {} {found}", place.line, place.column, one.message).trim_end().to_owned()
        })
        .collect()
}

/// Puts a text in place of another and gives the errors.
fn changed(from: &str, to: &str) -> Vec<String> {
    assert!(GRAMMAR.contains(from), "{from}");
    errors(&GRAMMAR.replacen(from, to, 1))
}

#[test]
fn operators_are_read_as_the_text_writes_them_too() {
    let lower = "or(and(A -> FAIL, S->RUNNING), A -> READY)";
    assert_eq!(changed("OR(AND(A -> FAIL, S->RUNNING), A -> READY)", lower), errors(GRAMMAR));
    let wrong = changed("OR(AND(A -> FAIL, S->RUNNING), A -> READY)", "AND A -> READY");
    assert!(wrong[0].contains("AND stands before ( … )"), "{wrong:?}");
}

#[test]
fn example_is_read_as_printed() {
    let parsed = parse(EXAMPLE);
    let messages: Vec<&str> = parsed.diagnostics.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(messages, ["the '}' that closes TASK ArmazenarDebitoCliente is missing"]);
    assert_eq!(parsed.diagnostics[0].severity, Severity::Warning);
    let messages: Vec<String> = check(&parsed.document).iter().map(|one| one.message.clone()).collect();
    assert_eq!(
        messages,
        [
            "the task model GravarArquivo needs to be supplied: ArmazenarDebitoCliente is taken as AUTOMATIC",
            "the task model EnviarDocumento needs to be supplied: EnviarOrdemPagamento is taken as MANUAL",
        ]
    );
    let task = parsed.document.workflows().next().and_then(|one| one.activities().nth(3));
    assert_eq!(task.map(|one| one.name.text.as_str()), Some("ArmazenarDebitoCliente"));
}

#[test]
fn grammar_is_read_to_the_letter() {
    // The one without tasks is allowed, and warned of.
    assert_eq!(errors(GRAMMAR), ["12:10 WORKFLOW Q has no task"]);
}

/// Mistakes: text of the source, what is written instead, the first error.
const MISTAKES: [(&str, &str, &str); 12] = [
    ("NAME \"f.txt\"", "NAME f", "3:17 NAME needs a string in double quotes found `f`, expected a string"),
    (
        "FILE f { NAME \"f.txt\";",
        "FILE f { NAME \"f.txt\" NAME",
        "3:25 NAME is not closed by ';' found `NAME`, expected ';'",
    ),
    ("VALUE 3;", "VALUE x;", "6:20 VALUE needs a number found `x`, expected a number"),
    (
        "ROLE Office-boy",
        "ROEL Office-boy",
        "8:63 `ROEL` is not expected in TASK A found `ROEL`, expected DEPENDS, IN_CONTEXT, OUT_CONTEXT, ROLE or \
             DESCRIPTION",
    ),
    (
        "A -> FAIL",
        "A -> DONE",
        "9:35 `DONE` is not expected as a state of A found `DONE`, expected READY, RUNNING, FAILED or SUCCEEDED",
    ),
    ("A -> FAIL", "A FAIL", "9:32 the dependence on A names no state found `FAIL`, expected '->'"),
    (
        "S: Q",
        "S Q",
        "10:18 SUB-WORKFLOW S in a workflow needs ':' and the name of its workflow found `Q`, expected ':'",
    ),
    (
        "TYPE SEMI_AUTOMATIC",
        "TYPE half",
        "13:15 `half` is not expected as TYPE of a task found `half`, expected AUTOMATIC, SEMI_AUTOMATIC or MANUAL",
    ),
    ("PRIORITY 10", "PRIORITY 1.5", "13:55 PRIORITY needs an integer from -2147483648 to 2147483647, and 1.5 is none"),
    (
        "HOSTS \"h\"; }",
        "HOSTS \"h\";",
        "14:65 the '}' that closes APPLICATION E is missing found the end of the source, expected '}'",
    ),
    ("WORKFLOW Q { }", "WORKFLOW Q {", "13:6 TASK M in a workflow needs ':' and the name of its model found `M`"),
    (
        "WORKFLOW P",
        "PROCESS P",
        "2:1 `PROCESS` is not expected at the top of a source found `PROCESS`, expected WORKFLOW, TASK or \
             APPLICATION",
    ),
];

#[test]
fn errors_say_line_column_found_and_expected() {
    let mut wrong = Vec::new();
    for (from, to, error) in MISTAKES {
        let found = changed(from, to);
        let first = found.first().cloned().unwrap_or_default();
        if to == "WORKFLOW Q {" {
            assert!(first.starts_with("13:") && first.contains("':'"), "{found:?}");
        } else {
            if first != error {
                wrong.push(format!(
                    "{error}
  is {first}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_reading_finds_several_errors() {
    let source = GRAMMAR.replace("VALUE 3", "VALUE x").replace("SIZE 1", "SIZE one");
    let lines: Vec<String> = errors(&source).iter().map(|one| one[..3].to_owned()).collect();
    assert_eq!(lines, ["6:2", "14:"]);
}

#[test]
fn names_that_are_missing_or_used_twice_are_errors() {
    let mut wrong = Vec::new();
    for (from, to, error) in [
        ("DEPENDS A -> SUCCEEDED", "DEPENDS AA -> SUCCEEDED", "10:31 there is no task of WORKFLOW P AA"),
        ("IN_CONTEXT f,", "IN_CONTEXT ff,", "8:36 there is no datum of WORKFLOW P ff"),
        ("APPLICATION E;", "APPLICATION F;", "13:43 there is no application F"),
        ("TASK B:", "TASK A:", "9:8 there are two definitions of task A"),
        ("STRING s", "STRING f", "5:10 there are two definitions of datum f"),
        ("SIZE 1;", "SIZE 1; SIZE 2;", "14:39 APPLICATION E has two clauses SIZE"),
        ("SIZE 1;", "", "14:13 APPLICATION E has no SIZE"),
        ("WORKFLOW Q { }", "WORKFLOW Q { SUB-WORKFLOW x: P { } }", "2:10 the workflow contains itself: P -> Q -> P"),
    ] {
        let found = changed(from, to);
        if !found.contains(&error.to_owned()) {
            wrong.push(format!(
                "{error}
  is {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn keywords_in_small_letters_are_named() {
    let source = GRAMMAR.replace("ROLE Office-boy", "role Office-boy");
    let hint = parse(&source).diagnostics[0].hint.clone();
    assert_eq!(hint.as_deref(), Some("Keywords are written in capitals: ROLE."));
}

#[test]
fn roles_that_nobody_has_are_told() {
    let known = ["Office_boy", "x"].map(str::to_owned);
    let told = unknown_roles(&parse(GRAMMAR).document, &known);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].hint.as_deref(), Some("Perhaps Office_boy is meant."));
}

fn rules(rules: &[(&str, &str)]) -> Vec<String> {
    let tasks: String = rules.iter().map(|(name, rule)| format!("TASK {name}: M {{ DEPENDS {rule}; }}\n")).collect();
    let source = format!("WORKFLOW P {{\n{tasks}}}\nTASK M {{ TYPE; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }}");
    let parsed = parse(&source);
    assert!(!parsed.has_errors(), "{:#?}", parsed.diagnostics);
    check(&parsed.document).iter().map(|one| one.message.clone()).filter(|message| message.contains("never")).collect()
}

#[test]
fn mutual_dependences_are_named_with_their_cycle() {
    assert_eq!(
        rules(&[("A", "C -> SUCCEEDED"), ("B", "A -> READY"), ("C", "AND (B -> FAILED, D -> READY)"), ("D", "")]),
        ["these wait for each other and never run: A -> C -> B -> A"]
    );
    assert_eq!(rules(&[("A", "A -> RUNNING")]), ["A waits for itself and never runs"]);
    // A way out by OR is none of them.
    assert!(rules(&[("A", "OR (B -> READY, C -> READY)"), ("B", "A -> READY"), ("C", "")]).is_empty());
}

#[test]
fn tasks_behind_dead_ones_and_behind_two_ends_never_run() {
    assert_eq!(
        rules(&[("A", "A -> READY"), ("B", "A -> SUCCEEDED")]),
        ["A waits for itself and never runs", "B never runs: it waits for A, which never runs"]
    );
    assert_eq!(
        rules(&[("A", ""), ("B", "A -> SUCCEEDED"), ("C", "AND (A -> FAILED, B -> READY)")]),
        ["C never runs: its rule asks for two ends of one task, SUCCEEDED and FAILED"]
    );
}

#[test]
fn example_lowers_to_a_flow() {
    let processes = lower(&parse(EXAMPLE).document).expect("no errors");
    assert_eq!(processes.len(), 1);
    let flow = &processes[0].definition;
    assert_eq!(flow.name, "manutencao");
    let attributes: Vec<&str> = flow.attributes.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        attributes,
        [
            "debitos_clientes",
            "ordem_pagamento",
            "ordem_servico",
            "criar_ordem_servico_state",
            "visitar_cliente_state",
            "gerar_ordem_pagamento_state",
            "armazenar_debito_cliente_state",
            "enviar_ordem_pagamento_state"
        ]
    );
    let visit = &flow.triggers[1];
    assert_eq!(
        visit.when,
        "visitar_cliente_state NOT IN ('SUCCEEDED', 'FAILED') AND (criar_ordem_servico_state = 'SUCCEEDED')"
    );
    assert_eq!(visit.priority, Some(10));
    assert_eq!(visit.writes.as_deref(), Some(&["visitar_cliente_state".to_owned(), "ordem_servico".to_owned()][..]));
    let generate = &flow.triggers[2];
    assert_eq!((generate.attempts, generate.deadline.as_deref()), (Some(6), Some("24 hours")));
    assert_eq!(flow.transitions["gerar_ordem_pagamento"].component, Some("software-ordem-pagamento".to_owned()));
    assert_eq!(flow.transitions.len(), 1);
}

#[test]
fn plan_is_that_of_the_contract() {
    let processes = lower(&parse(EXAMPLE).document).expect("no errors");
    let plan = serde_json::to_value(&processes[0].plan).expect("JSON");
    let visit = &plan["tasks"][1];
    for (key, value) in [
        ("task", serde_json::json!("VisitarCliente")),
        ("trigger", serde_json::json!("visitar_cliente")),
        ("model", serde_json::json!("PreencherFormulario")),
        ("type", serde_json::json!("semi_automatic")),
        ("application", serde_json::json!("EditorTexto")),
        ("role", serde_json::json!("Tecnico")),
        ("priority", serde_json::json!(10)),
        ("deadline", serde_json::json!({ "amount": 48, "unit": "hours" })),
        ("disconnected", serde_json::json!(true)),
        ("retries", serde_json::json!(0)),
        ("inputs", serde_json::json!(["OrdemServico"])),
        ("outputs", serde_json::json!(["OrdemServico"])),
        ("state", serde_json::json!("visitar_cliente_state")),
        ("depends", serde_json::json!({ "task": "CriarOrdemServico", "state": "SUCCEEDED" })),
    ] {
        assert_eq!(visit[key], value, "{key}");
    }
    assert_eq!(plan["type"], "Manutencao");
    assert_eq!(plan["data"][2]["attribute"], "ordem_servico");
    assert_eq!(plan["applications"][1]["hosts"][0], "araguaia.ic.unicamp.br");
}

#[test]
fn sub_workflows_are_parts_of_the_flow_around_them() {
    let source = r#"
WORKFLOW Outer {
  STRING shared { VALUE "a"; }
  SUB-WORKFLOW S: Inner { }
  TASK Z: M { DEPENDS S -> SUCCEEDED; }
  TASK Y: M { DEPENDS S -> FAILED; }
}
WORKFLOW Inner {
  STRING shared { VALUE "b"; }
  NUMBER own { VALUE 1.5; }
  TASK A: M { IN_CONTEXT shared, own; }
}
TASK M { TYPE AUTOMATIC; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }
"#;
    let processes = lower(&parse(source).document).expect("no errors");
    let flow = &processes[0].definition;
    let names: Vec<&str> = flow.attributes.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["s_own", "shared", "z_state", "y_state", "s_a_state"]);
    let plan = &processes[0].plan;
    assert_eq!(plan.tasks[2].task, "S.A");
    assert_eq!(plan.tasks[2].inputs, ["shared", "S.own"]);
    assert_eq!(plan.sub_workflows[0].process_type, "Inner");
    assert_eq!(
        flow.triggers[0].when,
        "z_state NOT IN ('SUCCEEDED', 'FAILED') AND ((s_a_state IN ('SUCCEEDED', 'FAILED')) AND NOT (s_a_state = \
         'FAILED'))"
    );
    assert_eq!(processes[1].definition.name, "inner");
}

#[test]
fn sub_workflows_that_wait_for_each_other_are_lowered() {
    let source = "WORKFLOW P {
  TASK X: M { }
  SUB-WORKFLOW S: Q { DEPENDS OR (T -> SUCCEEDED, X -> SUCCEEDED); }
  SUB-WORKFLOW T: Q { DEPENDS OR (S -> SUCCEEDED, X -> SUCCEEDED); }
}
WORKFLOW Q { TASK A: M { } }
TASK M { TYPE AUTOMATIC; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }";
    assert!(lower(&parse(source).document).is_ok());
}

#[test]
fn names_that_become_one_are_errors() {
    let source = "WORKFLOW P { TASK aB: M { } TASK A_B: M { } }";
    let errors = lower(&parse(source).document).expect_err("one trigger");
    assert_eq!(errors[0].message.split(" are both").next(), Some("aB and A_B"));
}

#[test]
fn format_writes_what_may_be_omitted() {
    let printed = format(&parse("TASK M{TYPE Semi-automatic;PRIORITY 1 DISCONNECTED_OPERATION true}").document);
    assert_eq!(printed, "TASK M {\n  TYPE SEMI_AUTOMATIC;\n  PRIORITY 1;\n  DISCONNECTED_OPERATION TRUE;\n}\n");
}

#[test]
fn format_keeps_comments() {
    let source = "// first\nWORKFLOW P { // open\n  /* a\n b */ FILE f { NAME \"x\"; } // file\n  TASK T: M { // \
     head\n    // role\n    ROLE r; // why\n    // end\n  }\n  // last\n}\n// after\n";
    let printed = format(&parse(source).document);
    assert_eq!(
        printed,
        "// first\nWORKFLOW P { // open\n  /* a\n b */\n  FILE f { NAME \"x\"; } // file\n\n  TASK T: M { // \
         head\n    // role\n    ROLE r; // why\n    // end\n  }\n  // last\n}\n// after\n"
    );
}

#[test]
fn deep_rules_are_refused() {
    let rule = format!("{}A -> READY{}", "AND (".repeat(60), ")".repeat(60));
    let source = format!("WORKFLOW P {{ TASK A: M {{ DEPENDS {rule}; }} }}");
    assert!(errors(&source)[0].contains("nested too deeply"));
}
