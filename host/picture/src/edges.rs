//! Choice of the edges that are drawn.

use std::collections::BTreeSet;

use wedflow_documents::{Graph, GraphEdge};

/// Edges for each trigger above which those are left out that the trace does not show.
const EDGES_PER_TRIGGER_MAX: usize = 2;

/// An edge that is drawn, by the indexes of its triggers; without `from` it begins at the start of an instance.
#[derive(Debug, Clone)]
pub(crate) struct Drawn<'a> {
    pub(crate) from: Option<usize>,
    pub(crate) to: usize,
    pub(crate) edge: &'a GraphEdge,
}

/// Chooses the edges to draw. A trigger whose own attribute ends its condition is no loop unless the trace shows one;
/// of a dense graph, what the trace does not show is drawn only for triggers that would have no edge.
pub(crate) fn drawn(graph: &Graph) -> Vec<Drawn<'_>> {
    let index = |name: &str| graph.triggers.iter().position(|one| one.trigger == name);
    let mut all: Vec<Drawn<'_>> = (graph.edges.iter())
        .filter_map(|edge| {
            let from = match &edge.from {
                Some(name) => Some(index(name)?),
                None => None,
            };
            let to = index(&edge.to)?;
            Some(Drawn { from, to, edge })
        })
        .filter(|one| one.from != Some(one.to) || one.edge.number > 0)
        .collect();
    if all.len() > graph.triggers.len() * EDGES_PER_TRIGGER_MAX {
        let seen = |one: &Drawn<'_>| one.edge.number > 0;
        let left: BTreeSet<usize> = all.iter().filter(|one| seen(one)).filter_map(|one| one.from).collect();
        let entered: BTreeSet<usize> = all.iter().filter(|one| seen(one)).map(|one| one.to).collect();
        all.retain(|one| {
            let is_alone = |from: usize| !left.contains(&from) && !entered.contains(&one.to);
            seen(one) || one.from.is_some_and(is_alone)
        });
        if all.is_empty() {
            return drawn_sparsely(graph);
        }
    }
    all
}

/// Chooses edges of a dense graph of which no trace shows anything: those forward in the order of the definition.
fn drawn_sparsely(graph: &Graph) -> Vec<Drawn<'_>> {
    let index = |name: &str| graph.triggers.iter().position(|one| one.trigger == name);
    let mut entered = vec![0_usize; graph.triggers.len()];
    let mut chosen = Vec::new();
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (edge.from.as_deref().and_then(index), index(&edge.to)) else {
            continue;
        };
        if from < to && entered.get(to).is_some_and(|count| *count < EDGES_PER_TRIGGER_MAX) {
            entered[to] += 1;
            let from = Some(from);
            chosen.push(Drawn { from, to, edge });
        }
    }
    chosen
}
