//! A walk over a row of cells, one of which holds a 1. Two implementations of the same transition
//! compete, one moving it to the left and one to the right, and chance decides which of them acts.

#![no_std]

use wedflow_guest::prelude::*;

/// The attributes that are the cells, from left to right.
pub const CELLS: [&str; 7] = ["a1", "a2", "a3", "a4", "a5", "a6", "a7"];

/// The row of cells.
#[derive(State, Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "cells, from left to right")]
pub struct Row {
    pub a1: String,
    pub a2: String,
    pub a3: String,
    pub a4: String,
    pub a5: String,
    pub a6: String,
    pub a7: String,
}

impl Row {
    /// Returns where the 1 is, from 0.
    fn position(&self) -> Option<usize> {
        let Row { a1, a2, a3, a4, a5, a6, a7 } = self;
        [a1, a2, a3, a4, a5, a6, a7].into_iter().position(|cell| cell == "1")
    }
}

/// Moves the 1 by one cell, to the left or to the right.
#[transition(name = "tr_move", writes = [
    a1: text, a2: text, a3: text, a4: text, a5: text, a6: text, a7: text,
])]
pub fn step(row: Row) -> Result<Change, Failure> {
    let Some(from) = row.position() else {
        fail!("no cell holds a 1");
    };
    let mover = if random_below(2) == 0 { left } else { right };
    let Some(to) = mover(from) else {
        fail!("the walk already is at its end, {}", CELLS[from]);
    };
    info!("moves"; from = CELLS[from], to = CELLS[to]);
    // No other transition of the instance is pending, so the state that fired this one is current
    // and may be computed with.
    Ok(Change::new().set(CELLS[from], "0").set(CELLS[to], "1"))
}

/// The implementation that moves to the left.
fn left(from: usize) -> Option<usize> {
    from.checked_sub(1)
}

/// The implementation that moves to the right.
fn right(from: usize) -> Option<usize> {
    Some(from + 1).filter(|to| *to < CELLS.len())
}

wedflow_guest::export!(step);

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing::{self, Call};

    fn at(position: &str) -> Call<step> {
        CELLS
            .into_iter()
            .fold(testing::call(), |call, cell| call.with_text(cell, if cell == position { "1" } else { "0" }))
    }

    #[test]
    fn chance_decides_who_moves() {
        let server = testing::Server::new().random([0, u64::MAX]);
        assert_eq!(at("a4").run(), Ok(set! { a4 = "0", a3 = "1" }));
        assert_eq!(at("a4").run(), Ok(set! { a4 = "0", a5 = "1" }));
        assert_eq!(server.logs(), ["info: moves from=a4 to=a3", "info: moves from=a4 to=a5"]);
    }

    #[test]
    fn it_does_not_walk_off_the_row() {
        let _server = testing::Server::new().random([0, u64::MAX]);
        assert!(at("a1").run().is_err());
        assert!(at("a7").run().is_err());
        assert!(at("nowhere").run().is_err());
    }
}
