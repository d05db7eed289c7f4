//! A ring of ten steps that never ends, for `wed bench`: what a small transition of a user's looks
//! like, once as a SET clause and once as typed assignments.

#![no_std]

use wedflow_guest::prelude::*;

/// The state, as wide as a small business flow's.
#[derive(State, Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fillers, as a flow has them")]
pub struct Ring {
    pub step: i32,
    pub note: Option<String>,
    pub customer: String,
    pub product: String,
    pub quantity: i32,
    pub price: Option<String>,
    pub paid: bool,
    pub city: String,
    pub street: String,
    pub remark: Option<String>,
}

/// One step of the ring, as a SET clause.
#[transition(name = "advance", writes = [step: integer, note: text])]
pub fn advance(ring: Ring, job: &Job) -> Change {
    let next = (ring.step + 1) % 10;
    let note = format!("step {} of {} for {}", ring.step, job.wid, ring.customer);
    set!("step = {next}, note = {note}")
}

/// One step of the ring, as typed assignments.
#[transition(name = "advance_typed", writes = [step: integer, note: text])]
pub fn advance_typed(ring: Ring, job: &Job) -> Change {
    let note = format!("step {} of {} for {}", ring.step, job.wid, ring.customer);
    set! { step = (ring.step + 1) % 10, note = note }
}

wedflow_guest::export!(advance, advance_typed);

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn the_ring_closes() {
        let answer = testing::call::<advance>()
            .with("step", 9)
            .with_text("customer", "ann")
            .with_text("product", "tea")
            .with("quantity", 1)
            .with("paid", false)
            .with_text("city", "x")
            .with_text("street", "y")
            .run();
        assert!(format!("{answer:?}").contains("step = 0"), "{answer:?}");
    }
}
