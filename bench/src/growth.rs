//! `wed-bench growth`: whether throughput holds as work grows; a table and a chart.

use anyhow::{Context, Result};

use crate::arguments::GrowthArguments;
use crate::chart::{self, Point};
use crate::origin::Origin;
use crate::report::{Report, table};
use crate::scenario::{Ready, Reserves, Scenario};

/// Number of alternate measurements of a point and the first of its series.
const ROUNDS: u32 = 2;

/// Quantity that grows, its sizes, and the scenario of a size.
struct Series {
    name: &'static str,
    sizes: Vec<usize>,
    scenario: fn(usize) -> Scenario,
    /// Compares each size with itself without an open transaction, instead of with the first size.
    holds_transaction: bool,
}

pub(crate) async fn run(url: &str, options: &GrowthArguments, report: &Report) -> Result<()> {
    let mut points: Vec<Point> = Vec::new();
    for series in series(options) {
        points.extend(measure_series(url, &series, options, report).await?);
    }
    if let Some(file) = &options.svg {
        std::fs::write(file, chart::svg(&points)).with_context(|| format!("{} cannot be written", file.display()))?;
        report.say(&format!("the chart is in {}", file.display()));
    }
    report.answer(&points, || {
        let origin = points.first().map(|point| point.origin.line());
        let table = table(
            &["what grows", "to", "transitions/s", "slowdown"],
            points.iter().map(|point| {
                vec![
                    point.series.to_owned(),
                    point.size.to_string(),
                    format!("{:.0}", point.per_s),
                    format!("{:.2}", point.slowdown),
                ]
            }),
        );
        format!("{}\n{table}", origin.unwrap_or_default())
    });
    Ok(())
}

fn series(options: &GrowthArguments) -> Vec<Series> {
    let one = Series::up_to;
    let instances: fn(usize) -> Scenario = |instances| Scenario { instances, ..Scenario::default() };
    let mut all = vec![
        one("instances", &[1_000, 10_000, 100_000, 1_000_000], options.instances, instances),
        one("triggers", &[10, 100, 1_000], options.triggers, |triggers| Scenario { triggers, ..Scenario::default() }),
        one("flows", &[1, 10, 100, 1_000], options.flows, |flows| Scenario {
            flows,
            instances: 1_000_usize.div_ceil(flows),
            ..Scenario::default()
        }),
        one("rows of history", &[10_000, 100_000, 1_000_000, 10_000_000], options.trace, |history| Scenario {
            history,
            ..Scenario::default()
        }),
        Series {
            holds_transaction: true,
            ..one("instances, a transaction open", &[1_000, 100_000], options.instances, instances)
        },
        one("payload bytes", &[0, 1_000, 10_000, 100_000], options.payload, |ballast| Scenario {
            ballast,
            instances: 200,
            ..Scenario::default()
        }),
        waiting_for_one_key(options.waiting),
    ];
    all.retain(|series| options.measures(series.name));
    all
}

/// The series of instances that want one key.
fn waiting_for_one_key(most: usize) -> Series {
    let scenario = |instances| Scenario { instances, reserves: Reserves::OneForAll, ..Scenario::default() };
    Series::up_to("instances that want one key", &[2, 10, 100, 1_000], most, scenario)
}

impl Series {
    /// A series of the sizes that are not above `most`.
    fn up_to(name: &'static str, sizes: &[usize], most: usize, scenario: fn(usize) -> Scenario) -> Series {
        Series {
            name,
            sizes: sizes.iter().copied().filter(|size| *size <= most).collect(),
            scenario,
            holds_transaction: false,
        }
    }
}

/// Measures all sizes of a series. The first size's database stays until the end, to be compared with.
async fn measure_series(url: &str, series: &Series, options: &GrowthArguments, report: &Report) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    let origin = Origin::now();
    let mut first: Option<Ready> = None;
    let mut result = Ok(());
    for &size in &series.sizes {
        let spinner = report.spinner(&format!("{}: {size}", series.name));
        let ready = match (series.scenario)(size).prepare(url).await {
            Ok(ready) => ready,
            Err(error) => {
                result = Err(error);
                break;
            }
        };
        let measured = if series.holds_transaction {
            with_open_transaction(&ready, options).await
        } else {
            alternately(first.as_ref(), &ready, options).await
        };
        if first.is_none() && !series.holds_transaction {
            first = Some(ready);
        } else {
            ready.remove().await;
        }
        spinner.finish_and_clear();
        match measured {
            Ok((base, per_s)) => {
                let slowdown = base / per_s.max(1.0);
                // A whole run takes a quarter of an hour: each point is printed when it is known.
                report.say(&format!("{}: {size}: {per_s:.0} a second, {slowdown:.2}", series.name));
                points.push(Point { series: series.name, size, per_s, slowdown, origin: origin.clone() });
            }
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    if let Some(first) = first {
        first.remove().await;
    }
    result.map(|()| points)
}

/// Returns the rates of the series' first point and of this one, measured alternately, so that a machine whose
/// speed varies does so for both.
async fn alternately(first: Option<&Ready>, ready: &Ready, options: &GrowthArguments) -> Result<(f64, f64)> {
    let mut rates = (0.0, 0.0);
    for _ in 0..ROUNDS {
        if let Some(first) = first {
            rates.0 += first.measure(options.seconds).await?.per_s / f64::from(ROUNDS);
        }
        rates.1 += ready.measure(options.seconds).await?.per_s / f64::from(ROUNDS);
    }
    if first.is_none() {
        rates.0 = rates.1;
    }
    Ok(rates)
}

/// Returns the rates before a transaction is opened and after it has been open for a while of work.
async fn with_open_transaction(ready: &Ready, options: &GrowthArguments) -> Result<(f64, f64)> {
    let alone = ready.measure(options.seconds).await?.per_s;
    let held = ready.database.hold_snapshot().await?;
    ready.measure(options.held).await?;
    let measured = ready.measure(options.seconds).await?;
    drop(held);
    Ok((alone, measured.per_s))
}
