//! `wed-bench soak`: one host under full load for long, minute by minute: its rate, its memory, what grows in the
//! database, and what a quiet tenant waits. A line of JSON for each minute, and a picture of all.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Map, json};
use wedflow_store::Flow;
use wedflow_worker::Host;

use crate::arguments::SoakArguments;
use crate::report::{Report, table};
use crate::scenario::{Ready, Scenario};

/// Time between two starts of the quiet tenant.
const PACE: Duration = Duration::from_millis(250);
/// Time of one line.
const MINUTE: Duration = Duration::from_secs(60);
/// Instances of the busy flow, which go round for ever.
const BUSY_INSTANCES: usize = 1_000;
/// Small flows, tenants that share them, and instances of each.
const SMALL: (usize, usize, usize) = (60, 12, 3);

/// Figures of a minute.
#[derive(Debug, Clone, Serialize)]
struct Minute {
    minute: u64,
    /// Commits per second.
    per_s: f64,
    /// Time of the quiet tenant's jobs, in milliseconds.
    probe_p50_ms: f64,
    probe_p99_ms: f64,
    /// Anonymous memory of the host, in megabytes.
    host_mb: f64,
    /// Sizes in megabytes.
    trace_mb: f64,
    job_mb: f64,
    job_indexes_mb: f64,
    records_mb: f64,
    dead_jobs: i64,
    /// Load of the machine over the last minute.
    load: f64,
}

pub(crate) async fn run(url: &str, options: &SoakArguments, report: &Report) -> Result<()> {
    let (flows, tenants, instances) = SMALL;
    let scenario = Scenario { flows, tenants, instances, ..Scenario::default() };
    for file in [&options.jsonl, &options.svg] {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
    }
    let spinner = report.spinner("preparing");
    let ready = scenario.prepare(url).await?;
    let measured = measure(&scenario, &ready, options, |text| spinner.set_message(text)).await;
    spinner.finish_and_clear();
    ready.remove().await;
    let minutes = measured?;
    std::fs::write(&options.svg, svg(&minutes))
        .with_context(|| format!("{} cannot be written", options.svg.display()))?;
    let head = ["minute", "commits/s", "probe p50 ms", "probe p99 ms", "host MB", "job indexes MB", "trace MB"];
    let row = |one: &Minute| {
        let figures = [one.probe_p50_ms, one.probe_p99_ms, one.host_mb, one.job_indexes_mb, one.trace_mb];
        let mut row = vec![one.minute.to_string(), format!("{:.0}", one.per_s)];
        row.extend(figures.iter().map(|figure| format!("{figure:.1}")));
        row
    };
    report.answer(&json!({ "minutes": minutes }), || table(&head, minutes.iter().map(row)));
    Ok(())
}

async fn measure(
    scenario: &Scenario,
    ready: &Ready,
    options: &SoakArguments,
    say: impl Fn(String),
) -> Result<Vec<Minute>> {
    let store = &ready.database.store;
    let busy = store.flow("tenant-0", "ring-0").await?;
    scenario.start(&ready.database, &busy, BUSY_INSTANCES).await?;
    // The quiet tenant's instances end with their first step.
    let mut definition = scenario.definition(1)?;
    definition.final_condition = Some("step = 1".to_owned());
    store.apply("tenant-1", &definition).await?;
    let quiet = store.flow("tenant-1", "ring-1").await?;
    let mut file = std::fs::File::create(&options.jsonl)
        .with_context(|| format!("{} cannot be written", options.jsonl.display()))?;
    let host = ready.host().await?;
    let mut minutes = Vec::new();
    for minute in 1..=options.minutes {
        say(format!("minute {minute} of {}", options.minutes));
        let line = one_minute(ready, &host, &quiet, minute).await?;
        writeln!(file, "{}", serde_json::to_string(&line)?)?;
        minutes.push(line);
    }
    host.stop().await;
    Ok(minutes)
}

async fn one_minute(ready: &Ready, host: &Host, quiet: &Flow, minute: u64) -> Result<Minute> {
    let database = &ready.database;
    let (before, begun) = (host.committed(), Instant::now());
    let from = database.newest_instance(quiet).await?;
    let mut next = tokio::time::interval(PACE);
    next.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let state = Map::from_iter([("step".to_owned(), json!(0))]);
    while begun.elapsed() < MINUTE {
        next.tick().await;
        database.start_instances(quiet, std::slice::from_ref(&state)).await?;
    }
    let per_s = (host.committed() - before) as f64 / begun.elapsed().as_secs_f64();
    let waits = database.first_steps(quiet, from).await?;
    let quantile = |part: usize| waits.get(waits.len() * part / 100).copied().unwrap_or(0.0) / 1e3;
    let sizes = database.sizes().await?;
    let mb = |bytes: i64| bytes as f64 / 1e6;
    Ok(Minute {
        minute,
        per_s,
        probe_p50_ms: quantile(50),
        probe_p99_ms: quantile(99),
        host_mb: anonymous_memory_mb().unwrap_or(0.0),
        trace_mb: mb(sizes.trace),
        job_mb: mb(sizes.job),
        job_indexes_mb: mb(sizes.job_indexes),
        records_mb: mb(sizes.records),
        dead_jobs: sizes.dead_jobs,
        load: load().unwrap_or(0.0),
    })
}

/// Reads how much memory of this process is backed by no file.
fn anonymous_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kb: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kb / 1e3)
}

fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

const WIDTH: f64 = 780.0;
const PANEL: f64 = 130.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 760.0;

/// Draws a panel for each figure, minutes to the right, each from zero to its largest value.
fn svg(minutes: &[Minute]) -> String {
    type Figure = (&'static str, fn(&Minute) -> f64);
    let panels: [Figure; 6] = [
        ("commits per second", |one| one.per_s),
        ("quiet tenant's p99, ms", |one| one.probe_p99_ms),
        ("anonymous memory of the host, MB", |one| one.host_mb),
        ("indexes of the pool of jobs, MB", |one| one.job_indexes_mb),
        ("trace, MB", |one| one.trace_mb),
        ("load of the machine", |one| one.load),
    ];
    let height = PANEL * panels.len() as f64 + 20.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    );
    for (at, (name, figure)) in panels.into_iter().enumerate() {
        let values: Vec<f64> = minutes.iter().map(figure).collect();
        panel(&mut out, PANEL * at as f64, name, &values);
    }
    for (x, anchor, minute) in [(LEFT, "start", 1), (RIGHT, "end", minutes.len())] {
        let _ = write!(
            out,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">minute {minute}</text>",
            y = height - 12.0,
        );
    }
    out.push_str("</svg>\n");
    out
}

// Writing to a String cannot fail.
fn panel(out: &mut String, top: f64, name: &str, values: &[f64]) {
    let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let (head, foot) = (top + 28.0, top + PANEL - 12.0);
    let step = (RIGHT - LEFT) / (values.len().max(2) - 1) as f64;
    let line: Vec<String> = (values.iter().enumerate())
        .map(|(at, value)| {
            let (x, y) = (LEFT + step * at as f64, foot - (foot - head) * value / most);
            format!("{x:.1},{y:.1}")
        })
        .collect();
    let label = if most < 10.0 { format!("{most:.1}") } else { format!("{most:.0}") };
    let _ = write!(
        out,
        "<text x=\"{LEFT}\" y=\"{title}\" font-size=\"13\">{name}</text>\
         <line x1=\"{LEFT}\" y1=\"{foot}\" x2=\"{RIGHT}\" y2=\"{foot}\" stroke=\"#888\"/>\
         <line x1=\"{LEFT}\" y1=\"{head}\" x2=\"{RIGHT}\" y2=\"{head}\" stroke=\"#ddd\"/>\
         <text x=\"{beside}\" y=\"{head}\" text-anchor=\"end\" dominant-baseline=\"middle\">{label}</text>\
         <text x=\"{beside}\" y=\"{foot}\" text-anchor=\"end\" dominant-baseline=\"middle\">0</text>\
         <polyline points=\"{points}\" fill=\"none\" stroke=\"#1b6ca8\" stroke-width=\"2\"/>",
        title = top + 18.0,
        beside = LEFT - 8.0,
        points = line.join(" "),
    );
}
