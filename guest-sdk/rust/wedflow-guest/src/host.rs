//! Functions by which a transition asks the server.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

#[cfg(target_family = "wasm")]
use crate::bindings::wed::flow::host as server;
#[cfg(not(target_family = "wasm"))]
use crate::stand::host as server;
use crate::{Timestamp, Uuid};

pub use crate::bindings::wed::flow::host::{Field, Severity};

impl Uuid {
    /// A random one (version 4), from the server's randomness.
    pub fn random() -> Self {
        let high = random() & !0xf000 | 0x4000;
        let low = random() & (u64::MAX >> 2) | 1 << 63;
        Uuid::from_server(format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        ))
    }
}

/// Writes a log line, which is kept with the attempt. The macros [`debug!`](crate::debug),
/// [`info!`](crate::info), [`warn!`](crate::warn) and [`error!`](crate::error) are shorter.
pub fn log(severity: Severity, message: &str, fields: &[Field]) {
    server::log(severity, message, fields);
}

/// The server's time.
pub fn now() -> Timestamp {
    Timestamp::from_micros(server::now())
}

/// 64 random bits.
pub fn random() -> u64 {
    server::random()
}

/// A random number below `bound`, each equally likely; 0 when `bound` is 0.
pub fn random_below(bound: u64) -> u64 {
    // The upper half of the product is uniform once the few draws are thrown away whose lower half
    // falls into the remainder of 2^64 / bound.
    let remainder = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
    loop {
        let product = u128::from(random()) * u128::from(bound);
        if product as u64 >= remainder {
            return (product >> 64) as u64;
        }
    }
}

/// Waits. The server uses its thread for others meanwhile; the time counts against the trigger's
/// timeout.
pub fn sleep(span: Duration) {
    server::sleep(u64::try_from(span.as_micros()).unwrap_or(u64::MAX));
}

/// A setting of the flow, by key; nothing when it has not been set. Settings are the same for every
/// instance and are set with `wed flow config set`.
pub fn config(key: &str) -> Option<String> {
    server::config(key)
}

/// A secret of the flow, by name; nothing when the flow has none of that name or has not granted it
/// to this transition (`wed flow secret set`, `wed flow secret grant`). Keep it out of the state and
/// the log: the server masks it where it sees it, and cannot see everything.
pub fn secret(name: &str) -> Option<String> {
    server::secret(name)
}

/// The names of the attributes in the state, in its order.
pub(crate) fn attributes() -> Vec<String> {
    server::attributes()
}

/// Logs at level debug: `debug!("at {cell}")`, or with fields: `debug!("moved"; from = a, to = b)`.
#[macro_export]
macro_rules! debug { ($($line:tt)*) => { $crate::__log!(Debug, $($line)*) } }

/// Logs at level info: `info!("at {cell}")`, or with fields: `info!("moved"; from = a, to = b)`.
#[macro_export]
macro_rules! info { ($($line:tt)*) => { $crate::__log!(Info, $($line)*) } }

/// Logs at level warn: `warn!("at {cell}")`, or with fields: `warn!("moved"; from = a, to = b)`.
#[macro_export]
macro_rules! warn { ($($line:tt)*) => { $crate::__log!(Warn, $($line)*) } }

/// Logs at level error: `error!("at {cell}")`, or with fields: `error!("moved"; from = a, to = b)`.
#[macro_export]
macro_rules! error { ($($line:tt)*) => { $crate::__log!(Error, $($line)*) } }

#[doc(hidden)]
#[macro_export]
macro_rules! __log {
    ($severity:ident, $format:literal $(, $argument:expr)* $(,)?) => {
        $crate::log(
            $crate::Severity::$severity,
            &$crate::__private::format!($format $(, $argument)*),
            &[],
        )
    };
    ($severity:ident, $format:literal $(, $argument:expr)* ; $($key:ident = $value:expr),+ $(,)?) => {
        $crate::log(
            $crate::Severity::$severity,
            &$crate::__private::format!($format $(, $argument)*),
            &[$($crate::Field {
                key: $crate::__private::String::from(::core::stringify!($key)),
                value: $crate::__private::ToString::to_string(&$value),
            }),+],
        )
    };
}
