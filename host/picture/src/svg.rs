//! The graph as SVG.

use maud::{Markup, PreEscaped, html};
use wedflow_documents::{Graph, GraphTrigger};

use crate::edges::{Drawn, drawn};
use crate::layout::{Positions, Rectangle, place};

/// Width of a character of a name, and of one of a condition.
const NAME_CHARACTER: f64 = 8.0;
const CONDITION_CHARACTER: f64 = 6.8;
/// Most characters of a line in a box.
const LINE_MAX: usize = 36;
/// Height of a line, and space between the text and the border of its box.
const LINE: f64 = 18.0;
const INSET: f64 = 10.0;
/// Width of the narrowest box.
const BOX_WIDTH_MIN: f64 = 110.0;
/// Diameter of the mark where an instance starts.
const START: f64 = 22.0;
/// Space around the whole.
const MARGIN: f64 = 16.0;
/// Width of the widest arrow.
const ARROW_WIDTH_MAX: f64 = 4.0;

/// Colours of a picture that stands by itself; in a page they are the page's.
const STYLE: &str = "svg{--ink:#1d2430;--soft:#5b6472;--line:#8a94a6;--box:#fff;--edge:#c3cad6;--good:#1f7a4d;\
--bad:#b3261e;--busy:#8a5a00;background:#f7f8fa}\
@media(prefers-color-scheme:dark){svg{--ink:#e6e9ef;--soft:#a4adbb;--line:#7c8698;--box:#1d2330;--edge:#3b4454;\
--good:#5fcf97;--bad:#ff8a80;--busy:#f2c063;background:#12161f}}\
text{font:12px ui-sans-serif,system-ui,sans-serif;fill:var(--ink)}.name{font-weight:600;font-size:13px}\
.when{font:11px ui-monospace,monospace;fill:var(--soft)}.box{fill:var(--box);stroke:var(--edge);stroke-width:1.5}\
.final .box{stroke:var(--good)}.off{opacity:.5}.way{fill:none;stroke:var(--line)}.unseen{stroke-dasharray:4 4}\
.head{fill:var(--line)}.start{fill:var(--line)}.failed .box{stroke:var(--bad)}.failed .count{fill:var(--bad)}\
.count{fill:var(--busy);font-weight:600}";

/// Place where a picture is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// A file by itself, with its own colours.
    File,
    /// Within a page that has the colours. Each box leads to this address, with its trigger's name added.
    Page(&'a str),
    /// The designer of this workflow, next to its text: each box is a task that can be chosen.
    Editor(&'a str),
}

/// Draws the graph of a flow. `title` is read out by those who cannot see it.
pub fn svg(title: &str, graph: &Graph, shown_in: Place<'_>) -> String {
    let edges = drawn(graph);
    let has_start = edges.iter().any(|edge| edge.from.is_none());
    let start = graph.triggers.len();
    let mut sizes: Vec<(f64, f64)> = graph.triggers.iter().map(size_of).collect();
    if has_start {
        sizes.push((START, START));
    }
    let arrows: Vec<(usize, usize)> = (edges.iter()).map(|edge| (edge.from.unwrap_or(start), edge.to)).collect();
    let positions = place(&sizes, &arrows);
    let (width, height) = (positions.width + MARGIN, positions.height + MARGIN);
    let view = format!("0 0 {width:.0} {height:.0}");
    // What leads elsewhere is no image.
    let role = if shown_in == Place::File { "img" } else { "group" };
    let drawing = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(view) width=(format!("{width:.0}"))
            height=(format!("{height:.0}")) role=(role) aria-label=(title) class="graph" {
            title { (title) }
            @if shown_in == Place::File { style { (PreEscaped(STYLE)) } }
            defs {
                marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"
                    markerUnits="userSpaceOnUse" orient="auto-start-reverse" {
                    path d="M0,0 L8,4 L0,8 z" class="head" {}
                }
            }
            @for (at, edge) in edges.iter().enumerate() { (arrow(at, edge, graph, &positions, most(&edges))) }
            @if let (true, Some(place)) = (has_start, positions.boxes.get(start)) {
                circle class="start" cx=(round(place.x + START / 2.0)) cy=(round(place.y + START / 2.0))
                    r=(round(START / 2.0 - 4.0)) { title { "a new instance" } }
            }
            @for (trigger, place) in graph.triggers.iter().zip(&positions.boxes) {
                @match shown_in {
                    Place::File => (node(trigger, place)),
                    Place::Editor(workflow) if trigger.transition.is_some() => a href="#tasks" class="task"
                        data-task=(trigger.trigger) data-workflow=(workflow) { (node(trigger, place)) },
                    Place::Editor(_) => (node(trigger, place)),
                    Place::Page(address) => a href=(format!("{address}{}", encoded(&trigger.trigger))) { (node(trigger, place)) },
                }
            }
        }
    };
    drawing.into_string()
}

/// Writes a name as a part of an address.
fn encoded(name: &str) -> percent_encoding::PercentEncode<'_> {
    percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC)
}

/// Returns the highest number of an edge.
fn most(edges: &[Drawn<'_>]) -> i64 {
    edges.iter().map(|edge| edge.edge.number).max().unwrap_or(0)
}

/// Returns the size of a trigger's box.
fn size_of(trigger: &GraphTrigger) -> (f64, f64) {
    let length = |text: &str| f64::from(u32::try_from(shown(text).chars().count()).unwrap_or(0));
    let name = length(&trigger.trigger) * NAME_CHARACTER;
    let condition = length(&trigger.condition) * CONDITION_CHARACTER;
    let counts = length(&counts(trigger)) * CONDITION_CHARACTER;
    let lines = if counts > 0.0 { 3.0 } else { 2.0 };
    let width = name.max(condition).max(counts) + 2.0 * INSET;
    (width.max(BOX_WIDTH_MIN), lines * LINE + INSET)
}

/// Cuts a text that is too long for a line.
fn shown(text: &str) -> String {
    if text.chars().count() <= LINE_MAX {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(LINE_MAX - 1).collect();
    cut.push('…');
    cut
}

/// Returns the figures of a trigger that are not 0.
fn counts(trigger: &GraphTrigger) -> String {
    let some = |number: i64, word: &str| (number > 0).then(|| format!("{number} {word}"));
    let parts = [
        some(trigger.jobs, "pending"),
        some(trigger.exceptions, if trigger.exceptions == 1 { "exception" } else { "exceptions" }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Draws a trigger.
fn node(trigger: &GraphTrigger, place: &Rectangle) -> Markup {
    let class = match trigger {
        GraphTrigger { enabled: false, .. } => "node off",
        GraphTrigger { r#final: true, .. } => "node final",
        GraphTrigger { exceptions, .. } if *exceptions > 0 => "node failed",
        _ => "node",
    };
    let performer = match (&trigger.component, trigger.performer.as_str()) {
        (Some(component), _) => format!("component {component}"),
        (None, performer) => performer.to_owned(),
    };
    let words = format!(
        "{}: {} ({performer}); reads {}; writes {}",
        trigger.trigger,
        trigger.condition,
        trigger.reads.join(", "),
        trigger.writes.join(", "),
    );
    let x = place.x + INSET;
    let counts = counts(trigger);
    html! {
        g class=(class) {
            title { (words) }
            rect class="box" x=(round(place.x)) y=(round(place.y)) width=(round(place.width))
                height=(round(place.height)) rx=(if trigger.r#final { "14" } else { "6" }) {}
            text class="name" x=(round(x)) y=(round(place.y + LINE)) { (shown(&trigger.trigger)) }
            text class="when" x=(round(x)) y=(round(place.y + 2.0 * LINE)) { (shown(&trigger.condition)) }
            @if !counts.is_empty() {
                text class="count" x=(round(x)) y=(round(place.y + 3.0 * LINE)) { (counts) }
            }
        }
    }
}

/// Draws an edge: wider, the more often the trace shows it; dashed where it shows none.
fn arrow(at: usize, edge: &Drawn<'_>, graph: &Graph, positions: &Positions, most: i64) -> Markup {
    let name = |at: usize| graph.triggers.get(at).map_or("", |one| &one.trigger);
    let (from, to) = (edge.from.map_or("a new instance", name), name(edge.to));
    let times = match graph.rows {
        0 => String::new(),
        _ => format!("; {} times", edge.edge.number),
    };
    let words = match edge.edge.attributes.join(", ") {
        none if none.is_empty() => format!("{from} → {to}{times}"),
        attributes => format!("{from} writes {attributes}, read by {to}{times}"),
    };
    let Some(way) = positions.ways.get(at) else {
        return html! {};
    };
    let data = match (edge.from == Some(edge.to), positions.boxes.get(edge.to)) {
        (true, Some(place)) => turn(place),
        _ => way.data.clone(),
    };
    #[expect(clippy::cast_precision_loss, reason = "a width")]
    let share = if most > 0 { edge.edge.number as f64 / most as f64 } else { 0.0 };
    let width = format!("{:.1}", 1.0 + share * (ARROW_WIDTH_MAX - 1.0));
    let class = if edge.edge.number > 0 { "way" } else { "way unseen" };
    let head = "url(#head)";
    html! {
        path class=(class) d=(data) stroke-width=(width) marker-start=[way.is_turned.then_some(head)]
            marker-end=[(!way.is_turned).then_some(head)] { title { (words) } }
    }
}

/// Draws the way of a trigger that fires itself: a loop at the right side of its box.
fn turn(place: &Rectangle) -> String {
    let (x, y) = (place.x + place.width, place.y + place.height / 2.0);
    format!(
        "M{x:.0},{:.0} C{:.0},{:.0} {:.0},{:.0} {x:.0},{:.0}",
        y - 9.0,
        x + 26.0,
        y - 20.0,
        x + 26.0,
        y + 20.0,
        y + 9.0
    )
}

/// Writes a coordinate.
fn round(value: f64) -> String {
    format!("{value:.0}")
}
