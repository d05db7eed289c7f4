//! Write Wedflow transitions in Rust.
//!
//! A transition is an ordinary function. It is handed the attributes it names, as a struct, and
//! answers with what to set:
//!
//! ```
//! #![no_std]
//! use wedflow_guest::prelude::*;
//!
//! #[derive(State)]
//! struct Order {
//!     customer: String,
//!     quantity: i32,
//!     note: Option<String>,
//! }
//!
//! /// Confirms an order.
//! #[transition(name = "tr_confirm", writes = [status: text, quantity: integer])]
//! fn confirm(order: Order, job: &Job) -> Result<Change, Failure> {
//!     if order.quantity < 1 {
//!         fail!("order {} is empty", job.wid);
//!     }
//!     info!("confirmed"; customer = order.customer);
//!     Ok(set! { status = "confirmed", quantity = sql!("quantity - {}", 1) })
//! }
//!
//! wedflow_guest::export!(confirm);
//! # fn main() {}
//! ```
//!
//! Built with `cargo build --release --target wasm32-wasip2` from a crate of type `cdylib`, that is
//! a component which the server accepts. `#[test]`s of the same functions run natively; see
//! [`testing`].
//!
//! # Without the standard library
//! A component that imports no WASI is instantiated faster, so by default the SDK brings what `core`
//! and `alloc` need: an allocator that hands out memory in order and takes none back (each call has
//! an instance of its own, which is dropped after it), and a panic handler that logs the message and
//! traps. Begin the crate with `#![no_std]`; [`prelude`] has `String`, `Vec`, `format!` and the
//! like. A transition that needs `std`, or that allocates and frees so much that it needs a real
//! allocator, enables the feature `std` and leaves `#![no_std]` out.
//!
//! # Errors
//! Return a [`Failure`]. A panic becomes a trap, which costs the caller the message's structure and
//! you the choice of whether to retry.

#![no_std]

extern crate alloc;

#[doc(hidden)]
pub mod bindings;
#[cfg(any(test, all(target_family = "wasm", not(feature = "std"))))]
mod bump;
mod change;
mod failure;
pub mod files;
mod host;
pub mod http;
mod job;
#[cfg(all(target_family = "wasm", not(feature = "std")))]
mod runtime;
#[cfg(not(target_family = "wasm"))]
mod stand;
mod state;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod transition;
mod types;
mod value;

pub use change::{Change, New, Sql, quote_identifier, quote_literal};
pub use failure::Failure;
pub use host::{Field, Severity, config, log, now, random, random_below, secret, sleep};
pub use job::Job;
pub use state::{Declared, Row, State, Values};
pub use transition::{Answer, Transition};
pub use types::{Date, Interval, Json, Numeric, ParseError, Timestamp, Uuid};
pub use value::{Attribute, Element, Mismatch, Null, Scalar, Value};
pub use wedflow_guest_macros::{State, sql, transition};

/// Names that a transition's module usually needs: `use wedflow_guest::prelude::*;`
pub mod prelude {
    pub use crate::{
        Change, Date, Failure, Interval, Job, Json, Null, Numeric, Row, State, Timestamp, Uuid, Value, abort, config,
        debug, error, fail, files, http, info, now, random, random_below, retry, secret, set, sleep, sql, transition,
        warn,
    };
    pub use alloc::borrow::ToOwned;
    pub use alloc::boxed::Box;
    pub use alloc::format;
    pub use alloc::string::{String, ToString};
    pub use alloc::vec;
    pub use alloc::vec::Vec;
    pub use core::time::Duration;
}

#[doc(hidden)]
pub mod __private {
    pub use crate::bindings::{Guest, Manifest, Outcome, Payload};
    pub use crate::change::push_literal;
    pub use crate::transition::{declare, distinct, manifest, perform, unknown};
    pub use alloc::format;
    pub use alloc::string::{String, ToString};
    pub use alloc::vec;
    pub use alloc::vec::Vec;
}

/// Makes a [`Change`].
///
/// ```
/// use wedflow_guest::prelude::*;
///
/// let name = String::from("O'Neil");
/// // Values by attribute; an expression of the current state is `sql!`.
/// let change = set! { customer = name.as_str(), n = sql!("n + 1"), "Odd Name" = Null };
/// assert_eq!(change.to_string(), r#""customer" = 'O''Neil', "n" = n + 1, "Odd Name" = NULL"#);
/// // A whole clause; what is in braces is written as a SQL literal.
/// let change = set!("customer = {name}, n = n + {}", 2);
/// assert_eq!(change.to_string(), "customer = 'O''Neil', n = n + 2");
/// ```
#[macro_export]
macro_rules! set {
    ($clause:literal $(, $argument:expr)* $(,)?) => {
        $crate::Change::clause($crate::sql!($clause $(, $argument)*))
    };
    ($($attribute:tt = $value:expr),+ $(,)?) => {
        $crate::Change::new()$(.set($crate::__attribute!($attribute), $value))+
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __attribute {
    ($name:ident) => {
        ::core::stringify!($name)
    };
    ($name:literal) => {
        $name
    };
}

/// Returns with [`Failure::abort`]: commit nothing, try again later. Takes a format string, with
/// `after = …;` before it where the trigger's backoff is not what is wanted
/// ([`Failure::abort_after`]): `abort!(after = Duration::from_secs(3600); "{shop} is closed")`.
#[macro_export]
macro_rules! abort {
    (after = $after:expr; $($message:tt)*) => {
        return ::core::result::Result::Err(
            $crate::Failure::abort_after($after, $crate::__private::format!($($message)*)).into(),
        )
    };
    ($($message:tt)*) => {
        return ::core::result::Result::Err($crate::Failure::abort($crate::__private::format!($($message)*)).into())
    };
}

/// Returns with [`Failure::fatal`]: the instance becomes an exception. Takes a format string.
#[macro_export]
macro_rules! fail {
    ($($message:tt)*) => {
        return ::core::result::Result::Err($crate::Failure::fatal($crate::__private::format!($($message)*)).into())
    };
}

/// Returns with [`Failure::retry`]: it failed, and another attempt may succeed. Takes a format
/// string.
#[macro_export]
macro_rules! retry {
    ($($message:tt)*) => {
        return ::core::result::Result::Err($crate::Failure::retry($crate::__private::format!($($message)*)).into())
    };
}

/// Makes the crate a component with the given transitions, once in a crate:
/// `wedflow_guest::export!(set_a2, set_a3);`
///
/// The component wants to be stored under the crate's name; another is given first:
/// `wedflow_guest::export!(name = "orders"; set_a2, set_a3);`
///
/// Names must differ:
///
/// ```compile_fail,E0080
/// # fn main() {}
/// use wedflow_guest::prelude::*;
///
/// #[transition(name = "tr_a2")]
/// fn one() -> Change {
///     set! { a2 = "done" }
/// }
///
/// #[transition(name = "tr_a2")]
/// fn two() -> Change {
///     set! { a2 = "done" }
/// }
///
/// wedflow_guest::export!(one, two);
/// ```
#[macro_export]
macro_rules! export {
    ($($transition:path),+ $(,)?) => {
        $crate::export!(name = ::core::env!("CARGO_PKG_NAME"); $($transition),+);
    };
    (name = $name:expr; $($transition:path),+ $(,)?) => {
        const _: () = {
            ::core::assert!(
                $crate::__private::distinct(&[
                    $(<$transition as $crate::Transition>::NAME),+
                ]),
                "two transitions of this component have the same name",
            );

            #[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
            struct Component;

            impl $crate::__private::Guest for Component {
                fn describe() -> $crate::__private::Manifest {
                    $crate::__private::manifest(
                        $name,
                        $crate::__private::vec![$($crate::__private::declare::<$transition>()),+],
                    )
                }

                fn run(payload: $crate::__private::Payload) -> $crate::__private::Outcome {
                    $(
                        if payload.transition == <$transition as $crate::Transition>::NAME {
                            return $crate::__private::perform::<$transition>(payload);
                        }
                    )+
                    $crate::__private::unknown(&payload.transition)
                }
            }

            // The exported symbols mean something to the server only.
            #[cfg(target_family = "wasm")]
            $crate::bindings::export!(Component with_types_in $crate::bindings);
        };
    };
}
