//! Draws the graph of a flow: its triggers as boxes, an arrow where the one writes what the other's condition reads.
//!
//! - [`svg`]: a picture whose colours follow the reader's, by itself or within a page
//! - [`dot`]: the same graph in the language of Graphviz
//! - `edges`: which edges are drawn, so that a picture stays readable
//! - `layout`: positions, by the crate layout-rs

mod dot;
mod edges;
mod layout;
mod svg;

pub use dot::dot;
pub use svg::{Place, svg};
