//! The curves of `wed-bench growth` as SVG: both axes logarithmic, size to the right, slowdown upwards.

use std::fmt::Write;

use serde::Serialize;

use crate::origin::Origin;

const WIDTH: f64 = 780.0;
const HEIGHT: f64 = 360.0;
/// Left and right end of the curves; their names stand to the right.
const LEFT: f64 = 60.0;
const RIGHT: f64 = 540.0;
/// Smallest slowdown on the axis: twice as fast.
const LEAST: f64 = 0.5;
/// Largest power of ten on the horizontal axis.
const POWER_MAX: u32 = 7;
/// Lines across, those above the largest slowdown left out.
const STEPS: [f64; 9] = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
const COLOURS: [&str; 7] = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b7791f", "#555555", "#00838f"];

/// A measured point.
#[derive(Debug, Serialize)]
pub(crate) struct Point {
    /// Name of the thing that grows.
    pub(crate) series: &'static str,
    /// Size of the thing that grows.
    pub(crate) size: usize,
    /// Transitions per second.
    pub(crate) per_s: f64,
    /// Rate of the series' first point divided by this one's, both measured alternately; with an open transaction,
    /// the rate without it divided by the rate with it. 1 is flat, 2 is half as fast.
    pub(crate) slowdown: f64,
    #[serde(flatten)]
    pub(crate) origin: Origin,
}

/// Draws a curve for each series.
pub(crate) fn svg(points: &[Point]) -> String {
    let slowest = points.iter().map(|point| point.slowdown).fold(2.0, f64::max);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>\
         <text x=\"60\" y=\"20\" font-size=\"14\">Slowdown as work grows (1 is flat)</text>"
    );
    grid(&mut out, slowest);
    let mut series: Vec<&str> = Vec::new();
    for point in points {
        if !series.contains(&point.series) {
            series.push(point.series);
        }
    }
    for (at, name) in series.iter().enumerate() {
        let of: Vec<&Point> = points.iter().filter(|point| point.series == *name).collect();
        curve(&mut out, at, name, &of, slowest);
    }
    out.push_str("</svg>\n");
    out
}

fn x(size: usize) -> f64 {
    LEFT + (size.max(1) as f64).log10() / f64::from(POWER_MAX) * (RIGHT - LEFT)
}

fn y(slowdown: f64, slowest: f64) -> f64 {
    let up = (slowdown.max(LEAST) / LEAST).ln() / (slowest / LEAST).ln();
    HEIGHT - 40.0 - up * (HEIGHT - 80.0)
}

// Writing to a String cannot fail.
fn grid(out: &mut String, slowest: f64) {
    let (foot, label) = (HEIGHT - 40.0, HEIGHT - 20.0);
    for power in 0..=POWER_MAX {
        let at = x(10_usize.pow(power));
        let _ = write!(
            out,
            "<line x1=\"{at:.1}\" y1=\"40\" x2=\"{at:.1}\" y2=\"{foot}\" stroke=\"#ddd\"/>\
             <text x=\"{at:.1}\" y=\"{label}\" text-anchor=\"middle\">10^{power}</text>"
        );
    }
    for step in STEPS.into_iter().filter(|step| *step <= slowest) {
        let at = y(step, slowest);
        let colour = if step == 1.0 { "#888" } else { "#ddd" };
        let _ = write!(
            out,
            "<line x1=\"60\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\" stroke=\"{colour}\"/>\
             <text x=\"50\" y=\"{at:.1}\" text-anchor=\"end\" dominant-baseline=\"middle\">{step}</text>"
        );
    }
}

fn curve(out: &mut String, at: usize, name: &str, points: &[&Point], slowest: f64) {
    let colour = COLOURS[at % COLOURS.len()];
    let place = |point: &Point| (x(point.size), y(point.slowdown, slowest));
    let line: Vec<String> = points.iter().map(|point| place(point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ =
        write!(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>", line.join(" "));
    for point in points {
        let (x, y) = place(point);
        let _ = write!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }
    let (left, top) = (RIGHT + 10.0, 60 + 18 * at);
    let _ = write!(out, "<text x=\"{left}\" y=\"{top}\" fill=\"{colour}\">{name}</text>");
}
