//! `wed-bench worklist`: many people and open work items; how long a list, a claim and a notice of new work take.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Map, Value as Json, json};
use wedflow_documents::Process;
use wedflow_model::FlowDefinition;
use wedflow_store::{PersonName, Store, WorkAct};

use crate::arguments::WorklistArguments;
use crate::database::Database;
use crate::report::{Report, table};

/// Instances started in one statement.
const CHUNK: usize = 1_000;
/// Clients at once.
const CLIENTS: usize = 8;
/// The longest wait for a notice of new work.
const NOTICE_WAIT: Duration = Duration::from_secs(10);
/// The tenant and the flow.
const TENANT: &str = "default";
const FLOW: &str = "office";

pub(crate) async fn run(url: &str, options: &WorklistArguments, report: &Report) -> Result<()> {
    let name = format!("wed_bench_work_{}", std::process::id());
    let database = Database::create(url, &name).await?;
    let measured = measure(&database, options, report).await;
    database.drop().await?;
    let rows = measured?;
    report.answer(&rows, || {
        let head = ["what", "times", "p50 ms", "p99 ms"];
        let lines = rows.iter().map(|row| {
            let ms = |key: &str| format!("{:.2}", row[key].as_f64().unwrap_or(0.0));
            let what = row["what"].as_str().unwrap_or_default().to_owned();
            vec![what, row["times"].to_string(), ms("p50_ms"), ms("p99_ms")]
        });
        table(&head, lines)
    });
    Ok(())
}

async fn measure(database: &Database, options: &WorklistArguments, report: &Report) -> Result<Vec<Json>> {
    let store = &database.store;
    let began = Instant::now();
    fill(database, options, report).await?;
    report.say(&format!("filled in {:.0} s", began.elapsed().as_secs_f64()));
    database.vacuum().await?;
    let mut rows = Vec::new();
    for order in ["arrival", "priority", "deadline"] {
        let lists = many(options.times, async |n| {
            let person = person(n * 7 % options.people);
            store.worklist(PersonName { tenant: TENANT, name: &person }, order, 100).await.map(drop)
        });
        rows.push(row(&format!("list by {order}, first 100"), lists.await?));
    }
    rows.push(row("claim", claims(store, options).await?));
    rows.push(row("notify: start to notice", notices(store, options.times.min(200)).await?));
    Ok(rows)
}

fn person(n: usize) -> String {
    format!("p{n}")
}

/// A flow with a trigger for each role.
fn definition(roles: usize) -> Result<FlowDefinition> {
    let mut text = format!(
        "name = \"{FLOW}\"\nfinal = \"done\"\n[[attribute]]\nname = \"role\"\ntype = \"integer\"\n\
         [[attribute]]\nname = \"form\"\n[[attribute]]\nname = \"done\"\ntype = \"boolean\"\ndefault = \"false\"\n"
    );
    for role in 0..roles {
        let _ = write!(
            text,
            "[[trigger]]\nname = \"t{role}\"\nwhen = \"role = {role}\"\ntransition = \"t{role}\"\n\
             [trigger.work]\nrole = \"r{role}\"\npriority = {}\ndeadline = \"48 hours\"\ndisconnected = true\n\
             inputs = [\"form\"]\noutputs = [\"form\", \"done\"]\n",
            role % 10
        );
    }
    toml::from_str(&text).context("the definition of the benchmark")
}

async fn fill(database: &Database, options: &WorklistArguments, report: &Report) -> Result<()> {
    let store = &database.store;
    let WorklistArguments { people, items, roles, .. } = *options;
    database.ensure_tenant(TENANT).await?;
    store.apply(TENANT, &definition(roles)?).await?;
    report.say(&format!("making {people} people of {roles} roles"));
    many(people, async |n| {
        let name = person(n);
        let person = PersonName { tenant: TENANT, name: &name };
        store.create_person(person, &[format!("r{}", n % roles)]).await?;
        store.connect_person(person).await.map(drop)
    })
    .await?;
    report.say(&format!("opening {items} items"));
    let flow = store.flow(TENANT, FLOW).await?;
    let states: Vec<Map<String, Json>> = (0..items)
        .map(|n| {
            let state = json!({ "role": n % roles, "form": format!("form of {n}") });
            state.as_object().cloned().unwrap_or_default()
        })
        .collect();
    for chunk in states.chunks(CHUNK) {
        database.start_instances(&flow, chunk).await?;
    }
    Ok(())
}

/// Claims items, each by a person of its role who lists first; only the claim is timed.
async fn claims(store: &Store, options: &WorklistArguments) -> Result<Vec<Duration>> {
    let mut targets = Vec::new();
    for role in 0..options.roles.min(options.people) {
        let name = person(role);
        let list = store.worklist(PersonName { tenant: TENANT, name: &name }, "arrival", 1_000).await?;
        let share = options.times.div_ceil(options.roles);
        targets.extend(list.iter().take(share).filter_map(|item| Some((name.clone(), item["item"].as_i64()?))));
    }
    let targets = &targets;
    many(targets.len(), async |n| {
        let (name, item) = &targets[n];
        store.work_act(PersonName { tenant: TENANT, name }, *item, WorkAct::Select, None).await.map(drop)
    })
    .await
}

/// Times from the start of a process until a listener hears that worklists changed.
async fn notices(store: &Store, times: usize) -> Result<Vec<Duration>> {
    let mut news = store.work_news().await?;
    let new = Process {
        flow: FLOW.to_owned(),
        values: [("role".to_owned(), json!(0))].into_iter().collect(),
        ..Process::default()
    };
    let mut took = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        store.start_process(PersonName { tenant: TENANT, name: "p0" }, &new).await?;
        let heard = tokio::time::timeout(NOTICE_WAIT, news.heard()).await;
        heard.context("no notice of new work came")??;
        took.push(began.elapsed());
    }
    Ok(took)
}

/// Does something many times, by several clients at once; how long each took.
async fn many(
    times: usize,
    step: impl AsyncFn(usize) -> Result<(), wedflow_store::StoreError>,
) -> Result<Vec<Duration>> {
    let next = std::cell::Cell::new(0);
    let client = async || {
        let mut took = Vec::new();
        while next.get() < times {
            let n = next.replace(next.get() + 1);
            let began = Instant::now();
            step(n).await?;
            took.push(began.elapsed());
        }
        Ok::<_, anyhow::Error>(took)
    };
    let clients = (0..CLIENTS).map(|_| client());
    let took = futures::future::try_join_all(clients).await?;
    Ok(took.into_iter().flatten().collect())
}

fn row(what: &str, mut took: Vec<Duration>) -> Json {
    took.sort();
    let at = |part: usize| {
        let place = took.len() * part / 100;
        took.get(place.min(took.len().saturating_sub(1))).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    json!({ "what": what, "times": took.len(), "p50_ms": at(50), "p99_ms": at(99) })
}
