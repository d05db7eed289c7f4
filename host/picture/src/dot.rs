//! The graph in the language of Graphviz.

use std::fmt::Write;

use wedflow_documents::Graph;

use crate::edges::drawn;

/// Writes a graph in the language of Graphviz.
pub fn dot(name: &str, graph: &Graph) -> String {
    let mut text = format!("digraph {} {{\n  node [shape=box];\n", quoted(name));
    for (at, trigger) in graph.triggers.iter().enumerate() {
        let label = format!("{}\n{}", trigger.trigger, trigger.condition);
        let shape = if trigger.r#final { ", peripheries=2" } else { "" };
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  n{at} [label={}{shape}];", quoted(&label));
    }
    for edge in drawn(graph) {
        let from = edge.from.map_or("start".to_owned(), |from| format!("n{from}"));
        let label = quoted(&edge.edge.attributes.join(", "));
        let style = if edge.edge.number > 0 { "solid" } else { "dashed" };
        let _ = writeln!(text, "  {from} -> n{} [label={label}, style={style}];", edge.to);
    }
    text.push_str("}\n");
    text
}

/// Quotes a text.
fn quoted(text: &str) -> String {
    let inner = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{inner}\"")
}
