//! Display of a call of a transition: answer, log, resources used, differences.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value as Json, json};
use wedflow_authoring::{Called, Difference, Verdict};
use wedflow_model::{Outcome, Severity};

use crate::answer::{bytes, duration, thousands};
use crate::terminal::Terminal;

/// Characters of a value that a line shows.
const SHOWN: usize = 2_000;

/// A colour for words that say how something went.
pub(crate) fn colour(colour: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(colour.into()))
}

/// Prints the answer: the change as SQL, or why there is none.
pub(crate) fn print_answer(called: &Called, terminal: &Terminal) {
    let (green, yellow, red) = (colour(AnsiColor::Green), colour(AnsiColor::Yellow), colour(AnsiColor::Red));
    match (&called.verdict, &called.outcome) {
        (Verdict::Change(_), _) => {
            let set = called.set().unwrap_or_default();
            terminal.line(&format!("{green}SET{green:#} {}", shortened(&set)));
        }
        (Verdict::Refused(reason), _) => {
            terminal.line(&format!("{red}refused{red:#} {}", shortened(reason)));
        }
        (_, Outcome::Aborted { reason, after }) => {
            let again = after.map_or_else(
                || "again as the trigger says".to_owned(),
                |after| format!("again after {}", duration(after)),
            );
            terminal.line(&format!("{yellow}aborted{yellow:#} {reason} ({again})"));
        }
        (_, Outcome::Failed { message, retry }) => {
            let again =
                if *retry { "another attempt may succeed" } else { "for good: the instance becomes an exception" };
            terminal.line(&format!("{yellow}failed{yellow:#} {message} ({again})"));
        }
        _ => terminal.line(&format!(
            "{red}{}{red:#} {}",
            called.name(),
            called.account.strip_prefix(&format!("{}: ", called.name())).unwrap_or(&called.account)
        )),
    }
}

/// Prints what was logged, each line behind `indent`.
pub(crate) fn print_logs(called: &Called, indent: &str, terminal: &Terminal) {
    for line in &called.logs.lines {
        let fields: Vec<(&str, &str)> = line.fields.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        terminal.line(&format!("{indent}{}", log_line(severity_word(line.severity), &line.message, &fields)));
    }
    if called.logs.dropped > 0 {
        terminal.line(&format!("{indent}({} more lines were dropped)", called.logs.dropped));
    }
}

/// A line of a log.
pub(crate) fn log_line(severity: &str, message: &str, fields: &[(&str, &str)]) -> String {
    let style = match severity {
        "error" => colour(AnsiColor::Red),
        "warn" => colour(AnsiColor::Yellow),
        "info" => colour(AnsiColor::Cyan),
        _ => Style::new().dimmed(),
    };
    let dim = Style::new().dimmed();
    // Further lines of a message stand below the first.
    let message = message.trim_end().replace('\n', "\n        ");
    let mut text = format!("{style}{severity:<5}{style:#} {message}");
    for (key, value) in fields {
        text.push_str(&format!(" {dim}{key}={dim:#}{value}"));
    }
    text
}

/// Describes the resources that a call used, in a few words.
pub(crate) fn used(called: &Called) -> String {
    format!(
        "{} fuel, {}, {}",
        thousands(called.measure.fuel),
        bytes(called.measure.memory_bytes),
        duration(Duration::from_micros(called.measure.elapsed_us))
    )
}

/// Describes the resources that a call used, each with its limit.
pub(crate) fn used_of(called: &Called) -> String {
    format!(
        "{} fuel of {}, {} of {}, {} of {}",
        thousands(called.measure.fuel),
        thousands(called.limits.fuel),
        bytes(called.measure.memory_bytes),
        bytes(called.limits.memory_bytes),
        duration(Duration::from_micros(called.measure.elapsed_us)),
        duration(called.timeout)
    )
}

/// Prints differences: what was expected above what is.
pub(crate) fn print_differences(differences: &[Difference], names: (&str, &str), indent: &str, terminal: &Terminal) {
    let width = differences.iter().map(|difference| difference.what.chars().count()).max().unwrap_or(0);
    let label = names.0.len().max(names.1.len());
    let (green, red) =
        (Style::new().fg_color(Some(AnsiColor::Green.into())), Style::new().fg_color(Some(AnsiColor::Red.into())));
    for difference in differences {
        let mut what = difference.what.as_str();
        for (name, side, style) in [(names.0, &difference.expected, green), (names.1, &difference.actual, red)] {
            let text = side.as_deref().map_or("(not set)".to_owned(), shortened);
            let mut lines = text.lines();
            terminal.line(&format!(
                "{indent}{what:<width$}  {name:<label$}  {style}{}{style:#}",
                lines.next().unwrap_or_default()
            ));
            for line in lines {
                terminal.line(&format!("{indent}{:<width$}  {:<label$}  {style}{line}{style:#}", "", ""));
            }
            what = "";
        }
    }
}

/// A call as a document.
pub(crate) fn document(called: &Called) -> Json {
    let logs: Vec<Json> = called
        .logs
        .lines
        .iter()
        .map(|line| {
            let fields: Map<String, Json> =
                line.fields.iter().map(|(key, value)| (key.clone(), Json::from(value.as_str()))).collect();
            json!({
                "severity": severity_word(line.severity),
                "message": line.message,
                "fields": fields,
            })
        })
        .collect();
    let (retry, after) = match &called.outcome {
        Outcome::Failed { retry, .. } => (Some(*retry), None),
        Outcome::Aborted { after, .. } => {
            (None, after.map(|after| u64::try_from(after.as_micros()).unwrap_or(u64::MAX)))
        }
        _ => (None, None),
    };
    json!({
        "transition": called.transition,
        "outcome": called.name(),
        "set": called.set(),
        "clause": match &called.outcome { Outcome::Clause(text) => Some(text), _ => None },
        "message": match &called.verdict {
            Verdict::Refused(reason) => Some(reason.as_str()),
            Verdict::Nothing => Some(called.account.as_str()),
            Verdict::Change(_) => None,
        },
        "retry": retry,
        "after_us": after,
        "logs": logs,
        "log_lines_dropped": called.logs.dropped,
        "used": called.measure,
        "limits": {
            "fuel": called.limits.fuel,
            "memory_bytes": called.limits.memory_bytes,
            "timeout_us": u64::try_from(called.timeout.as_micros()).unwrap_or(u64::MAX),
        },
    })
}

pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Debug => "debug",
        Severity::Info => "info",
        Severity::Warn => "warn",
        Severity::Error => "error",
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
