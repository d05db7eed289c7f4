//! A ring of ten steps that never ends, for `wed-bench`: what a small transition of a user's looks
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

/// Moves the ring one step, as a SET clause.
#[transition(name = "advance", writes = [step: integer, note: text])]
pub fn advance(ring: Ring, job: &Job) -> Change {
    let next = (ring.step + 1) % 10;
    let note = format!("step {} of {} for {}", ring.step, job.wid, ring.customer);
    set!("step = {next}, note = {note}")
}

/// Moves the ring one step, as typed assignments.
#[transition(name = "advance_typed", writes = [step: integer, note: text])]
pub fn advance_typed(ring: Ring, job: &Job) -> Change {
    let note = format!("step {} of {} for {}", ring.step, job.wid, ring.customer);
    set! { step = (ring.step + 1) % 10, note = note }
}

/// Moves the ring one step, after some milliseconds of computing.
#[transition(name = "advance_heavily", writes = [step: integer])]
pub fn advance_heavily(ring: Ring, job: &Job) -> Change {
    let mut seed = u64::from(job.attempt) | 1;
    for _ in 0..5_000_000 {
        seed = core::hint::black_box(seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
    set! { step = (ring.step + 1) % 10 }
}

/// No step: it computes until it is ended.
#[transition(name = "advance_never", writes = [step: integer])]
pub fn advance_never(ring: Ring, _: &Job) -> Change {
    let mut step = ring.step;
    while core::hint::black_box(true) {
        step = core::hint::black_box(step.wrapping_add(1));
    }
    set! { step = step }
}

wedflow_guest::export!(advance, advance_typed, advance_heavily, advance_never);

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
