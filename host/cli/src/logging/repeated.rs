//! Repeated warnings: a database that is gone for a while makes each part of a host say the same many times a second.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Filter};

/// Time in which a warning is logged once.
const ONCE_IN: Duration = Duration::from_secs(10);
/// Most warnings that are remembered.
const KNOWN_MAX: usize = 1_000;

/// Filter that tells a warning or an error once in ten seconds, and how often it was left out meanwhile.
pub(super) struct Repeated {
    json: bool,
    told: Mutex<HashMap<u64, Told>>,
}

/// A warning that was told.
struct Told {
    at: Instant,
    /// Count of the same that were left out since.
    left_out: u64,
}

impl Repeated {
    pub(super) fn new(json: bool) -> Self {
        Repeated { json, told: Mutex::default() }
    }

    /// Returns the count of the same that were left out before, if a warning is to be told now.
    fn tell(&self, warning: u64, now: Instant) -> Option<u64> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = told.get_mut(&warning)
            && now.duration_since(before.at) < ONCE_IN
        {
            before.left_out += 1;
            return None;
        }
        if told.len() >= KNOWN_MAX {
            told.retain(|_, before| now.duration_since(before.at) < ONCE_IN);
        }
        if told.len() >= KNOWN_MAX {
            return Some(0);
        }
        let before = told.insert(warning, Told { at: now, left_out: 0 });
        Some(before.map_or(0, |before| before.left_out))
    }

    fn line(&self, left_out: u64) -> String {
        let message = format!("left out {left_out} times what the next line says");
        let now = super::now();
        match self.json {
            true => {
                serde_json::json!({ "timestamp": now, "level": "WARN", "fields": { "message": message } }).to_string()
            }
            false => format!("{now}  WARN {message}"),
        }
    }
}

impl<S: Subscriber> Filter<S> for Repeated {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        if *event.metadata().level() > Level::WARN {
            return true;
        }
        match self.tell(identity(event), Instant::now()) {
            None => false,
            Some(0) => true,
            Some(left_out) => {
                // A log that cannot be written to loses this line as any other.
                let _ = writeln!(io::stderr(), "{}", self.line(left_out));
                true
            }
        }
    }
}

/// Returns what tells a warning from others: its place in the program, and all that it says.
fn identity(event: &Event<'_>) -> u64 {
    let mut words = Words(String::new());
    event.record(&mut words);
    let mut hasher = DefaultHasher::new();
    event.metadata().callsite().hash(&mut hasher);
    words.0.hash(&mut hasher);
    hasher.finish()
}

/// All that an event says.
struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, "{}={value:?};", field.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_is_told_once_in_a_while_and_counted() {
        let repeated = Repeated::new(false);
        let begin = Instant::now();
        assert_eq!(repeated.tell(1, begin), Some(0));
        assert_eq!(repeated.tell(2, begin), Some(0));
        for _ in 0..3 {
            assert_eq!(repeated.tell(1, begin + ONCE_IN / 2), None);
        }
        assert_eq!(repeated.tell(1, begin + ONCE_IN), Some(3));
        assert_eq!(repeated.tell(1, begin + ONCE_IN), None);
    }

    #[test]
    fn warnings_that_are_remembered_are_bounded() {
        let repeated = Repeated::new(false);
        let begin = Instant::now();
        for warning in 0..2 * KNOWN_MAX as u64 {
            assert_eq!(repeated.tell(warning, begin), Some(0));
        }
        assert!(repeated.told.lock().expect("unlocked").len() <= KNOWN_MAX);
    }
}
