//! Processes in the process language: the worked example, dependence rules, names of instances, the command line.

mod children;
mod data;
mod example;
mod language;
mod names;
mod rules;

use std::sync::Arc;

use crate::support::program::{Answer, run, wed};
use crate::support::{Database, Flow, on, repository};

/// The tenant of the command line.
const TENANT: &str = "default";

/// The worked example as printed.
fn manutencao() -> String {
    let file = repository("host/process/tests/data/manutencao.pdl");
    std::fs::read_to_string(file).expect("the example")
}

/// Runs `wed flow COMMAND FILE …` on a source.
#[track_caller]
fn flow_command(database: &Database, command: &str, source: &str, more: &[&str]) -> Answer {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.pdl");
    std::fs::write(&file, source).expect("written");
    let mut program = wed(&database.url());
    program.args(["flow", command]).arg(&file).args(more).arg("--json");
    run(&mut program)
}

/// Applies a source by the command line, and gives its flow of that name.
#[track_caller]
fn applied(source: &str, name: &str) -> Flow {
    let database = Database::new();
    flow_command(&database, "apply", source, &[]).done();
    flow(&database, name)
}

fn flow(database: &Arc<Database>, name: &str) -> Flow {
    Flow {
        id: on(database.store.flow(TENANT, name)).expect("the flow").flow_id,
        url: on(database.store.flow_url(TENANT, name)).expect("its URL"),
        database: Arc::clone(database),
        name: name.to_owned(),
    }
}

/// A workflow `P` of manual tasks with these rules.
fn workflow(tasks: &[(&str, &str)]) -> String {
    let tasks: String =
        tasks.iter().map(|(name, rule)| format!("  TASK {name}: M {{ DEPENDS {rule}; ROLE r; }}\n")).collect();
    format!("WORKFLOW P {{\n{tasks}}}\nTASK M {{ TYPE MANUAL; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }}\n")
}
