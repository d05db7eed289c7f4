//! A journey: a hotel and a ticket are booked side by side. When one of the two is unavailable, the
//! other is cancelled again.

#![no_std]

use wedflow_guest::prelude::*;

/// The checked part of a request.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Request {
    /// The traveller.
    pub customer: Option<String>,
}

/// Accepts the request, or rejects it when nobody is named.
#[transition(name = "validate", writes = [request: text])]
pub fn validate(request: Request) -> Change {
    match request.customer {
        Some(name) if !name.trim().is_empty() => set! { request = "validated" },
        _ => set! { request = "rejected" },
    }
}

/// The fault of this journey, for the sake of the demonstration: `none`, `hotel`, `ticket`,
/// `both`, or `hotel busy`.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Fate {
    /// The fault.
    pub fault: String,
}

/// Books the hotel.
#[transition(name = "book_hotel", writes = [hotel: text])]
pub fn book_hotel(fate: Fate, job: &Job) -> Result<Change, Failure> {
    // Stands for the time that the hotel takes to answer; the server's thread is free meanwhile.
    sleep(Duration::from_millis(5));
    Ok(match fate.fault.as_str() {
        // A failure of the attempt: nothing is committed, and the trigger says how often and when
        // it is tried again.
        "hotel busy" if job.attempt == 1 => retry!("the hotel does not answer"),
        // A result of the business, from which the flow continues.
        "hotel" | "both" => set! { hotel = "failed" },
        _ => set! { hotel = "booked" },
    })
}

/// Books the ticket.
#[transition(name = "book_ticket", writes = [ticket: text])]
pub fn book_ticket(fate: Fate) -> Change {
    match fate.fault.as_str() {
        "ticket" | "both" => set! { ticket = "failed" },
        _ => set! { ticket = "booked" },
    }
}

/// Compensates the hotel.
#[transition(name = "cancel_hotel", writes = [hotel: text])]
pub fn cancel_hotel() -> Change {
    set! { hotel = "cancelled" }
}

/// Compensates the ticket.
#[transition(name = "cancel_ticket", writes = [ticket: text])]
pub fn cancel_ticket() -> Change {
    set! { ticket = "cancelled" }
}

/// Closes the request: everything is booked.
#[transition(name = "close", writes = [request: text])]
pub fn close() -> Change {
    set! { request = "closed" }
}

/// Cancels the request: nothing is booked any more.
#[transition(name = "give_up", writes = [request: text])]
pub fn give_up() -> Change {
    set! { request = "cancelled" }
}

wedflow_guest::export!(validate, book_hotel, book_ticket, cancel_hotel, cancel_ticket, close, give_up,);

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn a_request_without_a_customer_is_rejected() {
        let named = testing::call::<validate>().with_text("customer", "Ada");
        assert_eq!(named.run(), Ok(set! { request = "validated" }));
        let blank = testing::call::<validate>().with_text("customer", " ");
        assert_eq!(blank.run(), Ok(set! { request = "rejected" }));
        let unnamed = testing::call::<validate>();
        assert_eq!(unnamed.run(), Ok(set! { request = "rejected" }));
    }

    #[test]
    fn a_booking_that_fails_is_a_result() {
        for (fault, hotel, ticket) in [
            ("none", "booked", "booked"),
            ("hotel", "failed", "booked"),
            ("ticket", "booked", "failed"),
            ("both", "failed", "failed"),
        ] {
            let answer = testing::call::<book_hotel>().with_text("fault", fault);
            assert_eq!(answer.run(), Ok(set! { hotel = hotel }), "{fault}");
            let answer = testing::call::<book_ticket>().with_text("fault", fault);
            assert_eq!(answer.run(), Ok(set! { ticket = ticket }), "{fault}");
        }
    }

    #[test]
    fn a_hotel_that_does_not_answer_is_asked_again() {
        let server = testing::Server::new();
        let call = || testing::call::<book_hotel>().with_text("fault", "hotel busy");
        assert_eq!(call().run(), Err(Failure::retry("the hotel does not answer")));
        assert_eq!(call().attempt(2).run(), Ok(set! { hotel = "booked" }));
        assert_eq!(server.slept(), Duration::from_millis(10));
    }

    #[test]
    fn compensation_and_end_depend_on_nothing() {
        assert_eq!(testing::call::<cancel_hotel>().run(), Ok(set! { hotel = "cancelled" }));
        assert_eq!(testing::call::<cancel_ticket>().run(), Ok(set! { ticket = "cancelled" }));
        assert_eq!(testing::call::<close>().run(), Ok(set! { request = "closed" }));
        assert_eq!(testing::call::<give_up>().run(), Ok(set! { request = "cancelled" }));
    }
}
