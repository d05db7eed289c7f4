//! The order's first step, in Rust, and the one that undoes the others when one of them failed.

#![no_std]

extern crate alloc;

use wedflow_guest::prelude::*;

/// The checked part of an order.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Order {
    /// The ordered article.
    pub item: Option<String>,
    /// The number.
    pub quantity: i32,
}

/// Accepts an order that names an item and a quantity, and computes its total; rejects any other.
#[transition(name = "validate", writes = [status: text, total: numeric])]
pub fn validate(order: Order) -> Change {
    match order.item {
        Some(item) if !item.is_empty() && (1..=1_000).contains(&order.quantity) => {
            // The price is a numeric: Postgres multiplies it, to the digit.
            set! { status = "valid", total = sql!("price * quantity") }
        }
        _ => {
            warn!("the order names no item, or no quantity that can be sold");
            set! { status = "rejected" }
        }
    }
}

/// Results of the parallel steps.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Steps {
    /// `reserved` and where, or `none`.
    pub reservation: String,
    /// `paid` and how, or `declined`.
    pub payment: String,
}

/// Gives back what was reserved and what was paid, since the order cannot be fulfilled.
#[transition(name = "compensate", writes = [status: text, reservation: text, payment: text])]
pub fn compensate(steps: Steps) -> Change {
    let reservation = match steps.reservation.as_str() {
        "none" => "none",
        _ => "released",
    };
    let payment = match steps.payment.as_str() {
        "declined" => "declined",
        _ => "refunded",
    };
    info!("compensates"; reservation = reservation, payment = payment);
    set! { status = "cancelled", reservation = reservation, payment = payment }
}

wedflow_guest::export!(validate, compensate);

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn an_order_without_an_item_is_rejected() {
        let answer = testing::call::<validate>().with("quantity", 1).run();
        assert_eq!(answer, Ok(set! { status = "rejected" }));
    }

    #[test]
    fn only_what_was_done_is_undone() {
        let answer =
            testing::call::<compensate>().with_text("reservation", "shelf 3").with_text("payment", "declined").run();
        assert_eq!(answer, Ok(set! { status = "cancelled", reservation = "released", payment = "declined" }));
    }
}
