//! `wed bench growth`: whether throughput holds as work grows; a table and a curve.

use std::fmt::Write;

use serde::Serialize;

use super::scenario::{Ready, Scenario};
use crate::arguments::GrowthArguments;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// A measured point.
#[derive(Debug, Serialize)]
struct Point {
    /// What grows.
    series: &'static str,
    /// How large it is.
    size: usize,
    /// Transitions per second.
    per_s: f64,
    /// That of the series' first point, measured in turn with this one (beside an open transaction: the rate
    /// without it), divided by this one's: 1 is flat, 2 is half as fast.
    slowdown: f64,
}

/// A series whose points are compared with the same run alone, not with its first.
const HELD: &str = "instances, a transaction open";

/// How often a point and the first of its series are measured, in turn.
const ROUNDS: u32 = 2;

/// What grows, to which sizes, and how a size is made.
type Series = (&'static str, Vec<usize>, fn(usize) -> Scenario);

pub(super) async fn run(
    url: &str,
    options: &GrowthArguments,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let upto = |sizes: &[usize], most: usize| -> Vec<usize> {
        sizes.iter().copied().filter(|size| *size <= most).collect()
    };
    let series: [Series; 6] = [
        (
            "instances",
            upto(&[1_000, 10_000, 100_000, 1_000_000], options.instances),
            |instances| Scenario {
                instances,
                ..Scenario::default()
            },
        ),
        (
            "triggers",
            upto(&[10, 100, 1_000], options.triggers),
            |triggers| Scenario {
                triggers,
                ..Scenario::default()
            },
        ),
        (
            "flows",
            upto(&[1, 10, 100, 1_000], options.flows),
            |flows| Scenario {
                flows,
                instances: 1_000_usize.div_ceil(flows),
                ..Scenario::default()
            },
        ),
        (
            "rows of history",
            upto(&[10_000, 100_000, 1_000_000, 10_000_000], options.trace),
            |history| Scenario {
                history,
                ..Scenario::default()
            },
        ),
        (
            HELD,
            upto(&[1_000, 100_000], options.instances),
            |instances| Scenario {
                instances,
                ..Scenario::default()
            },
        ),
        (
            "payload bytes",
            upto(&[0, 1_000, 10_000, 100_000], options.payload),
            |ballast| Scenario {
                ballast,
                instances: 200,
                ..Scenario::default()
            },
        ),
    ];
    let mut points: Vec<Point> = Vec::new();
    for (name, sizes, scenario) in series {
        let mut first: Option<Ready> = None;
        let mut failed = None;
        for size in sizes {
            let spinner = terminal.spinner(&format!("{name}: {size}"));
            let ready = match scenario(size).prepare(url).await {
                Ok(ready) => ready,
                Err(problem) => {
                    failed = Some(problem);
                    break;
                }
            };
            let measured = match name {
                HELD => beside_open(&ready, options).await,
                _ => in_turn(first.as_ref(), &ready, options).await,
            };
            // The first stays, to be measured beside the others.
            if first.is_none() && name != HELD {
                first = Some(ready);
            } else {
                ready.remove().await;
            }
            spinner.finish_and_clear();
            match measured {
                Ok((base, per_s)) => {
                    let slowdown = base / per_s.max(1.0);
                    // At once: all of it takes a quarter of an hour.
                    terminal.say(&format!(
                        "{name}: {size}: {per_s:.0} a second, {slowdown:.2}"
                    ));
                    points.push(Point {
                        series: name,
                        size,
                        per_s,
                        slowdown,
                    });
                }
                Err(problem) => {
                    failed = Some(problem);
                    break;
                }
            }
        }
        if let Some(first) = first {
            first.remove().await;
        }
        if let Some(problem) = failed {
            return Err(problem);
        }
    }
    if let Some(file) = &options.svg {
        std::fs::write(file, svg(&points)).map_err(|source| {
            Problem::new(format!("{} cannot be written", file.display())).because(source)
        })?;
        terminal.say(&format!("the curve is in {}", file.display()));
    }
    terminal.answer(&points, || {
        terminal.table(
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
    });
    Ok(())
}

/// The rates of the series' first point and of this one, measured in turn: a machine that is faster at one time
/// than at another is so for both.
async fn in_turn(
    first: Option<&Ready>,
    ready: &Ready,
    options: &GrowthArguments,
) -> Result<(f64, f64), Problem> {
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

/// The rates alone, and beside a transaction that nobody ends, when it has been open for a while of work.
async fn beside_open(ready: &Ready, options: &GrowthArguments) -> Result<(f64, f64), Problem> {
    let alone = ready.measure(options.seconds).await?.per_s;
    let held = ready.store.hold_snapshot().await?;
    ready.measure(options.held).await?;
    let measured = ready.measure(options.seconds).await?;
    drop(held);
    Ok((alone, measured.per_s))
}

/// A curve for each series, both axes logarithmic: size to the right, slowdown upwards.
fn svg(points: &[Point]) -> String {
    const WIDTH: f64 = 780.0;
    /// Where the curves end, and what they are called begins.
    const RIGHT: f64 = 540.0;
    /// The least slowdown that is drawn: twice as fast.
    const LEAST: f64 = 0.5;
    const HEIGHT: f64 = 360.0;
    const COLOURS: [&str; 6] = [
        "#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b7791f", "#555555",
    ];
    let most = points
        .iter()
        .map(|point| point.slowdown)
        .fold(2.0, f64::max);
    let x = |size: usize| 60.0 + (size.max(1) as f64).log10() / 7.0 * (RIGHT - 60.0);
    let y = |slowdown: f64| {
        let up = (slowdown.max(LEAST) / LEAST).ln() / (most / LEAST).ln();
        HEIGHT - 40.0 - up * (HEIGHT - 80.0)
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\
         <text x=\"60\" y=\"20\" font-size=\"14\">Slowdown as work grows (1 is flat)</text>"
    );
    let mut series: Vec<&str> = Vec::new();
    for point in points {
        if !series.contains(&point.series) {
            series.push(point.series);
        }
    }
    // Writing to a String cannot fail.
    for power in 0..=7 {
        let at = x(10_usize.pow(power));
        let _ = write!(
            out,
            "<line x1=\"{at:.1}\" y1=\"40\" x2=\"{at:.1}\" y2=\"{0}\" stroke=\"#ddd\"/>\
             <text x=\"{at:.1}\" y=\"{1}\" text-anchor=\"middle\">10^{power}</text>",
            HEIGHT - 40.0,
            HEIGHT - 20.0
        );
    }
    let steps = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
    for step in steps.into_iter().filter(|step| *step <= most) {
        let at = y(step);
        let colour = if step == 1.0 { "#888" } else { "#ddd" };
        let _ = write!(
            out,
            "<line x1=\"60\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\" stroke=\"{colour}\"/>\
             <text x=\"50\" y=\"{at:.1}\" text-anchor=\"end\" dominant-baseline=\"middle\">{step}</text>"
        );
    }
    for (at, name) in series.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let of: Vec<&Point> = points
            .iter()
            .filter(|point| point.series == *name)
            .collect();
        let line: Vec<String> = of
            .iter()
            .map(|point| format!("{:.1},{:.1}", x(point.size), y(point.slowdown)))
            .collect();
        let _ = write!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            line.join(" ")
        );
        for point in of {
            let _ = write!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                x(point.size),
                y(point.slowdown)
            );
        }
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}</text>",
            RIGHT + 10.0,
            60 + 18 * at,
            name
        );
    }
    out.push_str("</svg>\n");
    out
}
