//! `wed demo`: a sample, from upload to the final state.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value as Json, json};
use wedflow_client::Expected;
use wedflow_documents::{Start, Status, TraceRow, UploadTerms};
use wedflow_model::Wid;
use wedflow_worker::HostSettings;

use crate::answer::counted;
use crate::arguments::{Arguments, DemoArguments};
use crate::commands::{component, flow, host, manutencao, requisition};
use crate::database;
use crate::door::{self, Door};
use crate::problem::Problem;
use crate::samples::{SAMPLES, Sample};
use crate::terminal::Terminal;

/// Time between two looks at instances that have not ended.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Demos that are played by hand over SQL, or by people.
const PLAYED: [&(&str, &str); 2] = [&requisition::ABOUT, &manutencao::ABOUT];

pub(crate) async fn run(arguments: &Arguments, demo: &DemoArguments, terminal: &Terminal) -> Result<(), Problem> {
    let known = || SAMPLES.iter().chain(PLAYED);
    let Some(name) = &demo.name else {
        let document: Vec<_> = known().map(|(name, about)| json!({ "demo": name, "about": about })).collect();
        terminal.answer(&document, || {
            terminal.table(
                &["demo", "what it shows"],
                known().map(|(name, about)| vec![(*name).to_owned(), (*about).to_owned()]),
            );
        });
        return Ok(());
    };
    if !known().any(|(one, _)| one == name) {
        let names: Vec<&str> = known().map(|(name, _)| *name).collect();
        return Err(Problem::new(format!("there is no demo \"{name}\""))
            .exit(3)
            .hint(format!("There are: {}.", names.join(", "))));
    }
    if name == requisition::ABOUT.0 {
        let store = database::make(arguments, terminal, 2).await?;
        return requisition::run(&store, &arguments.tenant, terminal).await;
    }
    if name == manutencao::ABOUT.0 {
        let store = database::make(arguments, terminal, 4).await?;
        return manutencao::run(&store, &arguments.tenant, terminal).await;
    }
    let sample = Sample::open(name, demo.samples.as_deref())?;
    let settings = HostSettings { name: format!("demo-{name}"), ..HostSettings::default() };
    let store = database::make(arguments, terminal, settings.connections()).await?;
    let tenant = &arguments.tenant;

    let door = door::of_store(&store, tenant, "operator");
    let terms = UploadTerms { activate: true, ..UploadTerms::default() };
    for (name, file) in &sample.components {
        let upload = component::push(file, Some(name), &terms, &door, terminal).await?;
        terminal.say(&format!("component {} version {} is uploaded", upload.name, upload.version));
    }
    let host = host::start(&store, settings).await?;
    let result = run_all(&sample, demo, &door, terminal).await;
    host.stop().await;
    let ended = result?;

    print_traces(&ended, terminal);
    match ended.iter().find(|run| run.trace.last().is_some_and(|row| row.status == Status::Exception)) {
        Some(run) => Err(Problem::new(format!("instance {} of {} ended as an exception", run.wid, run.flow))),
        None => Ok(()),
    }
}

/// Prints the traces of instances that have ended, and what to try next.
fn print_traces(ended: &[Ended], terminal: &Terminal) {
    if terminal.is_json() {
        let rows_of = |run: &'_ Ended| {
            let row = |row| json!(FlowsRow { flow: &run.flow, wid: run.wid, row });
            run.trace.iter().map(row).collect::<Vec<_>>()
        };
        let rows: Vec<Json> = ended.iter().flat_map(rows_of).collect();
        terminal.document(&rows);
    } else {
        for run in ended {
            terminal.line(&format!("\n{}: {} (instance {})", run.flow, run.name, run.wid));
            terminal.trace(&run.trace, &[]);
        }
        what_next(ended, terminal);
    }
}

/// An instance that has ended.
struct Ended {
    name: String,
    flow: String,
    wid: Wid,
    trace: Vec<TraceRow>,
}

/// Starts all instances of a sample, and waits until they have ended.
async fn run_all(
    sample: &Sample,
    demo: &DemoArguments,
    door: &Door,
    terminal: &Terminal,
) -> Result<Vec<Ended>, Problem> {
    let mut started = Vec::new();
    for run in &sample.runs {
        let definition = flow::read_definition(&sample.definition(run))?;
        door.apply(&definition, &Expected::Anything).await?;
        let flow = definition.name.clone();
        let start = Start { state: run.insert.clone(), ..Start::default() };
        let wid = door.start(&flow, &start, None).await?.wid;
        terminal.say(&format!("{flow}: instance {wid} is started ({})", run.name));
        started.push((run.name.clone(), flow, wid));
    }
    let until = Instant::now() + Duration::from_secs(demo.wait);
    let mut ended = Vec::new();
    for (name, flow, wid) in started {
        while door.instance(&flow, wid).await?.status == Status::Regular {
            if Instant::now() > until {
                let wait = counted(demo.wait, "second");
                let said = format!("instance {wid} of {flow} has not ended within {wait}");
                return Err(
                    Problem::new(said).hint(format!("`wed instance show {flow} {wid}` says what it waits for."))
                );
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let trace = door.trace(&flow, wid, None, None).await?;
        ended.push(Ended { name, flow, wid, trace });
    }
    Ok(ended)
}

/// A row of a trace, and whose it is.
#[derive(Serialize)]
struct FlowsRow<'a> {
    flow: &'a str,
    wid: Wid,
    #[serde(flatten)]
    row: &'a TraceRow,
}

fn what_next(ended: &[Ended], terminal: &Terminal) {
    let Some(first) = ended.first() else { return };
    let (flow, wid) = (&first.flow, first.wid);
    terminal.say(&format!(
        "\nTry next:\n  wed instance show {flow} {wid}        its state and what its transitions logged\n  \
         psql \"$(wed flow url {flow})\"        the same in SQL: SELECT * FROM wed_trace;\n  \
         wed dev                          keep a host running, then: wed instance start {flow} --wait\n  \
         wed demo                         the other samples"
    ));
}
