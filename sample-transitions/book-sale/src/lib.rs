//! A bookshop's order, from its receipt to the parcel's dispatch. Every transition declares what it
//! may set, and the flow repeats it, so none can meddle with another's attributes.

#![no_std]

use wedflow_guest::prelude::*;

/// The customer of an order.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Customer {
    /// The customer's name.
    pub customer: String,
}

/// Finds out whether the shop sells to this customer.
#[transition(writes = [customer_ok: boolean])]
pub fn check_customer(order: Customer) -> Change {
    let known = !order.customer.trim().is_empty();
    set! { customer_ok = known && order.customer != "blocked" }
}

/// The ordered article and its stock.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Stock {
    /// Copies ordered.
    pub quantity: i32,
    /// Copies on the shelf.
    pub on_shelf: i32,
}

/// Finds out whether there are enough copies.
#[transition(writes = [stock_state: text])]
pub fn check_stock(order: Stock) -> Result<Change, Failure> {
    if order.quantity < 1 {
        fail!("an order of {} copies", order.quantity);
    }
    Ok(if order.quantity <= order.on_shelf {
        set! { stock_state = "available" }
    } else {
        info!("too few copies"; ordered = order.quantity, there = order.on_shelf);
        set! { stock_state = "missing" }
    })
}

/// Computes the order's total.
#[transition(writes = [total: numeric])]
pub fn price_order() -> Change {
    // Money is computed where it is exact, in SQL.
    set!("total = price * quantity")
}

/// The payer and the sum.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Payment {
    /// The number of the card.
    pub card: String,
    /// The order's total.
    pub total: Numeric,
}

/// Has the card's issuer authorise the payment, or refuse it.
#[transition(writes = [payment: text])]
pub fn authorise_payment(order: Payment) -> Result<Change, Failure> {
    let limit: Numeric = "500".parse()?;
    Ok(if order.card.ends_with('0') || order.total > limit {
        set! { payment = "refused" }
    } else {
        set! { payment = "authorised" }
    })
}

/// Orders the missing copies from the publisher.
#[transition(writes = [stock_state: text])]
pub fn order_copies() -> Change {
    set! { stock_state = "ordered" }
}

/// The number of copies that are ordered.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Copies ordered.
    pub quantity: i32,
}

/// Takes in the publisher's delivery.
#[transition(writes = [stock_state: text, on_shelf: integer])]
pub fn receive_copies(order: Quantity) -> Change {
    set! { stock_state = "available", on_shelf = sql!("on_shelf + {}", order.quantity) }
}

/// Takes the copies off the shelf and packs them.
#[transition(writes = [parcel: text, on_shelf: integer])]
pub fn pack_parcel(order: Quantity) -> Change {
    set! { parcel = "packed", on_shelf = sql!("on_shelf - {}", order.quantity) }
}

/// Writes the invoice.
#[transition(writes = [invoice: uuid])]
pub fn issue_invoice() -> Change {
    set! { invoice = Uuid::random() }
}

/// Hands the parcel to the carrier.
#[transition(writes = [parcel: text, shipped_at: timestamptz])]
pub fn ship_parcel() -> Change {
    set! { parcel = "shipped", shipped_at = now() }
}

/// Draws the payment and closes the order.
#[transition(writes = [payment: text, order_state: text])]
pub fn close_order() -> Change {
    set! { payment = "captured", order_state = "delivered" }
}

/// The reasons to cancel an order.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Objections {
    /// True if the shop sells to the customer.
    pub customer_ok: bool,
    /// The answer of the card's issuer, if it was asked.
    pub payment: Option<String>,
}

/// Cancels the order and says why.
#[transition(writes = [order_state: text, reason: text])]
pub fn cancel_order(objections: Objections) -> Result<Change, Failure> {
    let reason = match (objections.customer_ok, objections.payment.as_deref()) {
        (false, _) => "the customer is not served",
        (true, Some("refused")) => "the payment was refused",
        (true, _) => fail!("there is no reason to cancel the order"),
    };
    Ok(set! { order_state = "cancelled", reason = reason })
}

wedflow_guest::export!(
    check_customer,
    check_stock,
    price_order,
    authorise_payment,
    order_copies,
    receive_copies,
    pack_parcel,
    issue_invoice,
    ship_parcel,
    close_order,
    cancel_order,
);

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn the_shop_does_not_serve_everybody() {
        for (customer, served) in [("Ada", true), ("blocked", false), ("", false)] {
            let answer = testing::call::<check_customer>().with_text("customer", customer);
            assert_eq!(answer.run(), Ok(set! { customer_ok = served }));
        }
    }

    #[test]
    fn stock_is_compared_with_the_order() {
        let call = |quantity: i32| testing::call::<check_stock>().with("quantity", quantity).with("on_shelf", 10);
        assert_eq!(call(10).run(), Ok(set! { stock_state = "available" }));
        assert_eq!(call(11).run(), Ok(set! { stock_state = "missing" }));
        assert_eq!(call(0).run(), Err(Failure::fatal("an order of 0 copies")));
    }

    #[test]
    fn cards_and_totals_can_be_refused() {
        for (card, total, payment) in
            [("4000-0001", "500.00", "authorised"), ("4000-0001", "500.01", "refused"), ("4000-0000", "1", "refused")]
        {
            let total: Numeric = total.parse().expect("a number");
            let answer = testing::call::<authorise_payment>().with_text("card", card).with("total", total);
            assert_eq!(answer.run(), Ok(set! { payment = payment }));
        }
    }

    #[test]
    fn copies_come_and_go_in_sql() {
        let delivered = testing::call::<receive_copies>().with("quantity", 3).run();
        assert_eq!(
            delivered.map(|change| change.to_string()),
            Ok(r#""stock_state" = 'available', "on_shelf" = on_shelf + 3"#.into())
        );
        let packed = testing::call::<pack_parcel>().with("quantity", 3).run();
        assert_eq!(
            packed.map(|change| change.to_string()),
            Ok(r#""parcel" = 'packed', "on_shelf" = on_shelf - 3"#.into())
        );
        assert_eq!(testing::call::<price_order>().run(), Ok(set!("total = price * quantity")));
    }

    #[test]
    fn the_way_out_of_the_shop() {
        let _server = testing::Server::new();
        assert_eq!(testing::call::<order_copies>().run(), Ok(set! { stock_state = "ordered" }));
        assert!(testing::call::<issue_invoice>().run().is_ok());
        assert_eq!(testing::call::<ship_parcel>().run(), Ok(set! { parcel = "shipped", shipped_at = now() }));
        assert_eq!(testing::call::<close_order>().run(), Ok(set! { payment = "captured", order_state = "delivered" }));
    }

    #[test]
    fn a_cancelled_order_has_a_reason() {
        let call = || testing::call::<cancel_order>();
        let unserved = call().with("customer_ok", false).run();
        assert_eq!(unserved, Ok(set! { order_state = "cancelled", reason = "the customer is not served" }));
        let refused = call().with("customer_ok", true).with_text("payment", "refused").run();
        assert_eq!(refused, Ok(set! { order_state = "cancelled", reason = "the payment was refused" }));
        assert!(call().with("customer_ok", true).run().is_err());
    }
}
