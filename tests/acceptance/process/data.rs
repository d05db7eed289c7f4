//! The data of a process: four kinds reach the task and come back, and are their instance's alone.

use serde_json::json;

use super::{applied, flow_command};
use crate::support::database::sample_component;
use crate::support::program::{run, wed};
use crate::support::{Database, Flow};

/// A process with data of each kind. Its query reads what the flow's role may read.
fn source(expression: &str) -> String {
    format!(
        r#"WORKFLOW Loan {{
  FILE Letter {{ NAME "letter.txt"; }}
  QUERY Earlier {{ DATABASE "here"; EXPRESSION "{expression}"; }}
  STRING Greeting {{ VALUE "Good day"; }}
  NUMBER Rate {{ VALUE 3.5; }}
  TASK Write: Form {{ ROLE clerk; IN_CONTEXT Letter, Earlier, Greeting, Rate;
    OUT_CONTEXT Letter, Earlier, Greeting, Rate; }}
}}
TASK Form {{ TYPE MANUAL; PRIORITY 1; DISCONNECTED_OPERATION TRUE; }}"#
    )
}

/// The loan with ann, a clerk.
fn loan(expression: &str) -> Flow {
    let flow = applied(&source(expression), "loan");
    let mut owner = flow.database.owner();
    owner.run("SELECT wed.create_person('default', 'ann', '{clerk}'), wed.connect_person('default', 'ann')");
    flow
}

fn work(flow: &Flow, words: &[&str]) -> serde_json::Value {
    let mut program = wed(&flow.database.url());
    program.args(["--json", "work", "--as", "ann"]).args(words);
    run(&mut program).done().json()
}

#[harness::test]
fn four_kinds_of_data_reach_the_task_and_come_back() {
    let flow = loan("SELECT wid, rate FROM wed_flow ORDER BY wid");
    work(&flow, &["begin", "loan", "--set", "letter=Dear Ann", "--set", "rate=4"]);
    let started = work(&flow, &["begin", "loan", "--set", "letter=Dear Bob"]);
    assert_eq!(started["wid"], 2);
    let item = work(&flow, &["list"])[1]["item"].to_string();
    work(&flow, &["select", &item]);
    let shown = work(&flow, &["show", &item]);
    assert_eq!(
        shown["data"],
        json!({ "letter": "Dear Bob", "greeting": "Good day", "rate": 3.5, "earlier": [{ "wid": 1, "rate": 4 }] })
    );
    let set = ["letter=Dear Bob, yes", "greeting=Good night", "rate=3.25", "earlier=[1]"];
    let mut words = vec!["report", &item];
    for one in set {
        words.extend(["--set", one]);
    }
    work(&flow, &words);
    assert_eq!(
        flow.session().line("SELECT letter, greeting, rate, earlier FROM wed_flow WHERE wid = 2"),
        "Dear Bob, yes|Good night|3.25|[1]"
    );
    assert_eq!(flow.session().line("SELECT letter, rate FROM wed_flow WHERE wid = 1"), "Dear Ann|4");
}

#[harness::test]
fn data_are_of_their_instance_alone() {
    let flow = loan("SELECT 1");
    for letter in ["letter=secret of one", "letter=two"] {
        work(&flow, &["begin", "loan", "--set", letter]);
    }
    let items = work(&flow, &["list"]);
    let second = items[1]["item"].to_string();
    work(&flow, &["lock", &second]);
    // What a component of an item is called with is what the item shows.
    let shown = work(&flow, &["show", &second]);
    assert!(!shown.to_string().contains("secret of one"), "{shown}");
    assert_eq!(shown["data"]["letter"], "two");
    // A person of another role sees neither.
    let mut owner = flow.database.owner();
    owner.run("SELECT wed.create_person('default', 'eve', '{thief}'), wed.connect_person('default', 'eve')");
    let refused = owner.refused(&format!("SELECT wed.work_data('default', 'eve', {second})"));
    refused.expect("WF080");
}

#[harness::test]
fn query_runs_with_the_rights_of_its_flow_and_changes_nothing() {
    let database = Database::new();
    database.owner().run("CREATE TABLE public.salary (amount integer); INSERT INTO public.salary VALUES (7)");
    let begin = |expression: &str| {
        flow_command(&database, "apply", &source(expression), &[]).done();
        database
            .owner()
            .run("SELECT wed.create_person('default', 'ann', '{clerk}'), wed.connect_person('default', 'ann')");
        run(wed(&database.url()).args(["--json", "work", "--as", "ann", "begin", "loan"]))
    };
    let error = begin("SELECT * FROM public.salary").exits(4).error();
    assert_eq!(error["code"], "42501", "{error}");
    assert!(error["message"].to_string().contains("query Earlier"), "{error}");
    assert_eq!(begin("SELECT * FROM wed.tenant").exits(4).error()["code"], "42501");
    let two = begin("SELECT 1) q; TRUNCATE wed_flow; SELECT (1").exits(4).error();
    assert_eq!(two["code"], "42601", "{two}");
    let slow = begin("SELECT pg_sleep(20)").exits(5).error();
    assert_eq!(slow["code"], "timeout", "{slow}");
    let many = begin("SELECT generate_series(1, 2000)").exits(4).error();
    assert_eq!(many["code"], "WF085", "{many}");
    // Nothing was started by halves.
    assert_eq!(database.owner().number("SELECT count(*) FROM wed.instance"), 0);
    begin("SELECT 1 AS one").done();
}

#[harness::test]
fn process_is_printed_as_a_source_that_makes_it() {
    let flow = applied(&super::manutencao(), "manutencao");
    let show =
        |words: &[&str]| run(wed(&flow.database.url()).args(["flow", "show", "manutencao"]).args(words)).done().out;
    let printed = show(&["--pdl"]);
    assert!(printed.starts_with("WORKFLOW Manutencao {"), "{printed}");
    let before = show(&["--json"]);
    let again = flow_command(&flow.database, "apply", &printed, &[]).done().json();
    assert_eq!(again["flows"][0]["applied"]["triggers_changed"], json!([]));
    assert_eq!(show(&["--json"]), before);
    assert_eq!(show(&["--pdl"]), printed);
}

#[harness::test]
fn application_of_a_process_is_transferred_under_its_components_name() {
    let source = r#"WORKFLOW P { STRING a1 { VALUE "ready"; } STRING a2 { VALUE ""; }
  TASK Do: M { ROLE clerk; IN_CONTEXT a1; OUT_CONTEXT a2; } }
TASK M { TYPE SEMI_AUTOMATIC; APPLICATION PaperMill; PRIORITY 1; DISCONNECTED_OPERATION TRUE; }
APPLICATION PaperMill { FILENAME "paper.wasm"; SIZE 90; OS "wasi"; CPU "wasm"; HOSTS "any"; }"#;
    let flow = applied(source, "p");
    let mut owner = flow.database.owner();
    owner.run("SELECT wed.create_person('default', 'ann', '{clerk}'), wed.connect_person('default', 'ann')");
    work(&flow, &["begin", "p"]);
    let item = work(&flow, &["list"])[0]["item"].to_string();
    work(&flow, &["lock", &item]);
    // Until it is uploaded, the task is done without it.
    assert_eq!(work(&flow, &["show", &item])["application"], json!(null));
    flow.database.upload("paper-mill", sample_component("paper"));
    let shown = work(&flow, &["show", &item]);
    assert_eq!(shown["application"], "paper-mill");
    assert_eq!(shown["application_bytes"], sample_component("paper").len());
}
