//! `wed demo`: a sample, from upload to the final state.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use wedflow_documents::UploadTerms;
use wedflow_model::Wid;
use wedflow_store::{Flow, Store, TraceRow};
use wedflow_worker::HostSettings;

use crate::answer::counted;
use crate::arguments::{Arguments, DemoArguments};
use crate::commands::{component, flow, host, manutencao, requisition};
use crate::database;
use crate::door;
use crate::problem::Problem;
use crate::samples::{SAMPLES, Sample};
use crate::terminal::Terminal;

/// Between two looks at instances that have not ended.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Demos that are played by hand over SQL, or by people.
const PLAYED: [&(&str, &str); 2] = [&requisition::ABOUT, &manutencao::ABOUT];

pub(crate) async fn run(
    arguments: &Arguments,
    demo: &DemoArguments,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let known = || SAMPLES.iter().chain(PLAYED);
    let Some(name) = &demo.name else {
        let document: Vec<_> = known()
            .map(|(name, about)| json!({ "demo": name, "about": about }))
            .collect();
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
    let settings = HostSettings {
        name: format!("demo-{name}"),
        ..HostSettings::default()
    };
    let store = database::make(arguments, terminal, settings.connections()).await?;
    let tenant = &arguments.tenant;

    let door = door::of_store(&store, tenant, "operator");
    let terms = UploadTerms {
        activate: true,
        ..UploadTerms::default()
    };
    for (name, file) in &sample.components {
        let upload = component::push(file, Some(name), &terms, &door, terminal).await?;
        terminal.say(&format!(
            "component {} version {} is uploaded",
            upload.name, upload.version
        ));
    }
    let host = host::start(&store, settings).await?;
    let result = run_all(&sample, tenant, demo, &store, terminal).await;
    host.stop().await;
    let ended = result?;

    print_traces(&ended, terminal);
    match ended
        .iter()
        .find(|run| run.trace.last().is_some_and(|row| row.status == "E"))
    {
        Some(run) => Err(Problem::new(format!(
            "instance {} of {} ended as an exception",
            run.wid, run.flow.name
        ))),
        None => Ok(()),
    }
}

/// Prints the traces of instances that have ended, and what to try next.
fn print_traces(ended: &[Ended], terminal: &Terminal) {
    if terminal.is_json() {
        let rows: Vec<Json> = ended
            .iter()
            .flat_map(|run| run.trace.iter().map(|row| row_of(&run.flow, row)))
            .collect();
        terminal.document(&rows);
    } else {
        for run in ended {
            terminal.line(&format!(
                "\n{}: {} (instance {})",
                run.flow.name, run.name, run.wid
            ));
            let rows: Vec<_> = run.trace.iter().cloned().map(Into::into).collect();
            terminal.trace(&rows, &[]);
        }
        what_next(ended, terminal);
    }
}

/// An instance that has ended.
struct Ended {
    name: String,
    flow: Flow,
    wid: Wid,
    trace: Vec<TraceRow>,
}

async fn run_all(
    sample: &Sample,
    tenant: &str,
    demo: &DemoArguments,
    store: &Store,
    terminal: &Terminal,
) -> Result<Vec<Ended>, Problem> {
    let mut started = Vec::new();
    for run in &sample.runs {
        let definition = flow::read_definition(&sample.definition(run))?;
        store.apply(tenant, &definition).await?;
        let flow = store.flow(tenant, &definition.name).await?;
        let wid = store.start_instance(&flow, &run.insert).await?;
        terminal.say(&format!(
            "{}: instance {wid} is started ({})",
            flow.name, run.name
        ));
        started.push((run.name.clone(), flow, wid));
    }
    let until = Instant::now() + Duration::from_secs(demo.wait);
    let mut ended = Vec::new();
    for (name, flow, wid) in started {
        let trace = loop {
            let trace = store.trace(flow.flow_id, wid, 1).await?;
            if trace.last().is_some_and(|row| row.status != "R") {
                break trace;
            }
            if Instant::now() > until {
                return Err(Problem::new(format!(
                    "instance {wid} of {} has not ended within {}",
                    flow.name,
                    counted(demo.wait, "second")
                ))
                .hint(format!(
                    "`wed instance show {} {wid}` says what it waits for.",
                    flow.name
                )));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        };
        ended.push(Ended {
            name,
            flow,
            wid,
            trace,
        });
    }
    Ok(ended)
}

fn row_of(flow: &Flow, row: &TraceRow) -> Json {
    json!({
        "flow": flow.name,
        "wid": row.wid,
        "seq": row.seq,
        "trw": row.trw,
        "trf": row.trf,
        "status": row.status,
        "state": row.state,
        "tstmp": row.tstmp,
        "writer": row.writer,
        "note": row.note,
        "attempt": row.attempt,
        "fuel": row.fuel,
        "elapsed_us": row.elapsed_us,
        "memory_bytes": row.memory_bytes,
    })
}

fn what_next(ended: &[Ended], terminal: &Terminal) {
    let Some(first) = ended.first() else { return };
    let (flow, wid) = (&first.flow.name, first.wid);
    terminal.say(&format!(
        "\nTry next:\n  wed instance show {flow} {wid}        its state and what its transitions logged\n  \
         psql \"$(wed flow url {flow})\"        the same in SQL: SELECT * FROM wed_trace;\n  \
         wed dev                          keep a host running, then: wed instance start {flow} --wait\n  \
         wed demo                         the other samples"
    ));
}
