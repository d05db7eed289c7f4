//! The log that an operator reads: a line for each event, in our words, and repeated ones counted.

mod repeated;

use std::fmt;
use std::io::{self, IsTerminal, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{FilterExt, LevelFilter, Targets};
use tracing_subscriber::fmt::format::{Format, Json, JsonFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

use self::repeated::Repeated;
use crate::printable::printable;
use crate::problem::Problem;

/// Characters of a statement that are logged.
const STATEMENT: usize = 80;

/// Starts logging to standard error. Of the driver's own events it logs only slow statements.
pub(crate) fn start(long_running: bool, json: bool) -> Result<(), Problem> {
    let targets = targets(long_running)?;
    let lines =
        tracing_subscriber::fmt::layer().with_ansi(io::stderr().is_terminal()).with_writer(|| OneLine(io::stderr()));
    let lines = match json {
        true => lines.fmt_fields(JsonFields::new()).event_format(InOurWords(Format::default().json())).boxed(),
        false => lines.event_format(InOurWords(Format::default().with_target(false))).boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(targets.and(Repeated::new(json)))).init();
    Ok(())
}

/// Chooses what is logged: as the environment asks, or what its reader needs.
fn targets(long_running: bool) -> Result<Targets, Problem> {
    let (least, statements) = match long_running {
        true => (LevelFilter::INFO, LevelFilter::WARN),
        false => (LevelFilter::WARN, LevelFilter::OFF),
    };
    let asked = std::env::var("WEDFLOW_LOG").unwrap_or_default();
    if asked.is_empty() {
        return Ok(Targets::new()
            .with_default(least)
            .with_target("sqlx", LevelFilter::OFF)
            .with_target("sqlx::query", statements));
    }
    // A word that is no level would be taken for the only part of the program that is to log.
    let wrong = asked.split(',').find(|part| {
        let (target, level) = part.split_once('=').unwrap_or(("-", part));
        target.is_empty() || level.parse::<LevelFilter>().is_err()
    });
    let refused = |part: &str| {
        Problem::usage(format!("WEDFLOW_LOG: `{part}` says no level")).hint(
            "Write off, error, warn, info, debug or trace, also for a part: info,wedflow_worker=debug. `--json` \
                   writes the log as JSON.",
        )
    };
    match (wrong, asked.parse()) {
        (None, Ok(targets)) => Ok(targets),
        (wrong, _) => Err(refused(wrong.unwrap_or(&asked))),
    }
}

/// Writes an event, which ends with a line end, on one line.
struct OneLine<W>(W);

impl<W: Write> Write for OneLine<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let event = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let mut line: Vec<u8> = Vec::with_capacity(bytes.len());
        for byte in event {
            match byte {
                b'\n' => line.extend_from_slice(b" | "),
                b'\r' => {}
                byte => line.push(*byte),
            }
        }
        line.extend_from_slice(&bytes[event.len()..]);
        self.0.write_all(printable(&String::from_utf8_lossy(&line)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Format that words the driver's slow statements as we do.
struct InOurWords<F>(F);

/// The driver's report about a statement.
#[derive(Default)]
struct Slow {
    summary: String,
    seconds: f64,
}

impl Visit for Slow {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "summary" {
            self.summary = format!("{value:?}");
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "summary" {
            value.clone_into(&mut self.summary);
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "elapsed_secs" {
            self.seconds = value;
        }
    }
}

impl Slow {
    fn told(&self) -> String {
        let words: Vec<&str> = self.summary.split_whitespace().collect();
        let statement: String = words.join(" ").chars().take(STATEMENT).collect();
        format!(
            "a statement took {:.1} s: {statement}; `wed status` tells whether locks or a long queue are the reason",
            self.seconds
        )
    }
}

fn slow(event: &Event<'_>) -> Option<Slow> {
    let metadata = event.metadata();
    let is_slow = metadata.target().starts_with("sqlx") && *metadata.level() == Level::WARN;
    is_slow.then(|| {
        let mut slow = Slow::default();
        event.record(&mut slow);
        slow
    })
}

impl<S, N> FormatEvent<S, N> for InOurWords<Format>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        match slow(event) {
            Some(slow) => writeln!(writer, "{} WARN {}", now(), slow.told()),
            None => self.0.format_event(context, writer, event),
        }
    }
}

impl<S, N> FormatEvent<S, N> for InOurWords<Format<Json>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let Some(slow) = slow(event) else {
            return self.0.format_event(context, writer, event);
        };
        let line = serde_json::json!({ "timestamp": now(), "level": "WARN", "fields": { "message": slow.told() } });
        writeln!(writer, "{line}")
    }
}

/// The time as the other lines tell it.
fn now() -> String {
    format!("{:.6}", jiff::Timestamp::now())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("unlocked").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_event_is_a_line_and_the_driver_speaks_in_our_words() {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || OneLine(writer.clone()))
            .event_format(InOurWords(Format::default().with_target(false)))
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(
                target: "sqlx::query",
                summary = "SELECT wed.claim($1,\n $2)",
                db.statement = "\n\nSELECT\n  wed.claim($1, $2)\n",
                elapsed_secs = 2.34,
                "slow statement: execution time exceeded alert threshold"
            );
            let error = "one\ntwo";
            tracing::warn!(%error, "could not sweep");
        });
        let text = String::from_utf8(kept.0.lock().expect("unlocked").clone()).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("WARN a statement took 2.3 s: SELECT wed.claim($1, $2); `wed status`"), "{text}");
        assert!(lines[1].contains("one | two"), "{text}");
    }
}
