//! WSQL and queries: files of statements, what is printed of a flow, `wed sql` by `-c` and from a pipe.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use super::{Cli, has, path, says};
use crate::support::program::wed;

/// A flow in statements, with options that only they and TOML can say.
const ORDERS: &str = "
CREATE WED-FLOW orders DESCRIPTION 'From order to door';
CREATE WED-ATTRIBUTE qty integer DEFAULT 1;
CREATE WED-ATTRIBUTE packed boolean DEFAULT FALSE OPEN;
CREATE WED-CONDITION to_be_packed AS (qty > 0 AND NOT packed);
CREATE FINAL WED-CONDITION AS (packed);
CREATE WED-TRIGGER to_pack ON to_be_packed FIRE pack TIMEOUT '10 minutes' WRITES (packed);
";

/// The script of the papers' figure, with its final condition.
const PAPER: &str = "
INSERT INTO wed_attr (aname, adv) VALUES ('a1', 'ready'), ('a2', NULL);
INSERT INTO wed_trig (tgname, trname, cpred, timeout) VALUES ('t1', 'tr_a2', 'a1=''ready'' and (a2 is null)', '3d18h');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('a1 <> ''ready''', true);
";

fn with_orders() -> Cli {
    let cli = Cli::new();
    let file = cli.file("x.wsql", ORDERS.as_bytes());
    let would = cli.json(&["flow", "apply", path(&file), "--dry-run"]);
    assert_eq!(would["would_apply"]["triggers_added"], json!(["to_pack"]));
    cli.run(&["flow", "apply", path(&file)]).done();
    cli
}

#[harness::test]
fn a_flow_comes_back_from_the_database_in_every_form() {
    let cli = with_orders();
    let file = cli.file("paper.sql", PAPER.as_bytes());
    cli.run(&["flow", "apply", path(&file)]).done();
    for (flow, forms) in [("orders", &["wsql", "toml"][..]), ("paper", &["wsql", "sql", "toml"][..])] {
        for form in forms {
            let printed = cli.run(&["flow", "show", flow, &format!("--{form}")]).done().out;
            let file = cli.file(&format!("{flow}.{form}"), printed.as_bytes());
            let again = cli.json(&["flow", "apply", path(&file)]);
            let applied = again["applied"].as_object().expect("changes");
            for (what, names) in applied {
                let is_change = ["added", "changed", "removed", "bound"].iter().any(|end| what.ends_with(end));
                assert!(!is_change || *names == json!([]), "{form}, {what}: {names}\n{printed}");
            }
        }
    }
    let refused = cli.fails(1, &["flow", "show", "orders", "--sql"]);
    assert_eq!(refused["details"], json!(["description"]));
}

#[harness::test]
fn all_errors_of_a_file_are_shown_with_their_places() {
    let cli = Cli::new();
    let file = cli.file("x.wsql", b"CREATE WED-FLOW f;\nCREATE WED-ATRIBUTE a;\nCREATE WED-TRIGGER t ON c FIRE x;");
    let error = cli.fails(2, &["flow", "apply", path(&file)]);
    let details = error["details"].to_string();
    says(&details, &["x.wsql:2:8", "WED-ATTRIBUTE", "x.wsql:3:25", "there is no condition c"]);
}

#[harness::test]
fn statements_and_queries_run_in_order_up_to_the_first_that_fails() {
    let cli = Cli::new();
    let mut program = wed(&cli.database.url());
    let mut child = program
        .arg("sql")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("wed runs");
    let script = format!(
        "{ORDERS} DISABLE WED-TRIGGER to_pack; ENABLE WED-TRIGGER to_pack; CREATE INSTANCE (qty = 7);\n\
         SELECT qty, packed, 'a;b' AS text FROM wed_flow; LIST FIRED WED-TRANSITIONS FOR 1; LIST NOTHING; LIST HISTORY;"
    );
    let mut input = child.stdin.take().expect("its input");
    input.write_all(script.as_bytes()).expect("written");
    drop(input);
    let answer = crate::support::program::Answer::from(child.wait_with_output().expect("it ends"));
    assert_eq!(answer.code, Some(2), "{answer:?}");
    says(&answer.out, &["Instance 1 of orders is started.", "a;b", "pack"]);
    says(&answer.err, &["NOTHING", "expected"]);
    assert!(!answer.out.contains("written_by"), "it goes on after an error: {answer:?}");
}

#[harness::test]
fn one_statement_answers_in_json() {
    let cli = with_orders();
    let started = cli.json(&["sql", "orders", "-c", "CREATE INSTANCE (qty = 2)"]);
    assert_eq!(started, json!({ "flow": "orders", "wid": 1 }));
    let rows = cli.json(&["sql", "orders", "-c", "LIST REGULAR INSTANCES;"]);
    has(&rows, &["columns", "rows", "truncated"]);
    assert_eq!(rows["columns"][0]["name"], "wid");
    assert_eq!(rows["rows"][0][0], 1);
    let flows: Json = cli.json(&["sql", "-c", "LIST WED-FLOWS"]);
    assert_eq!(flows[0]["name"], "orders");
    let error = cli.fails(4, &["sql", "orders", "-c", "SELECT qyt FROM wed_flow"]);
    assert_eq!(error["place"]["position"], 8, "{error}");
    cli.fails(2, &["sql", "-c", "LIST INSTANCES"]);
    cli.fails(3, &["sql", "none", "-c", "LIST INSTANCES"]);
}
