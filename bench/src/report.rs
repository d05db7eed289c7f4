//! Output of a benchmark: a table on standard output for people, one JSON document for machines.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use comfy_table::{ContentArrangement, Table, presets};
use indicatif::ProgressBar;
use serde::Serialize;

/// Destination of results and progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    json: bool,
}

impl Report {
    pub(crate) fn new(json: bool) -> Self {
        Report { json }
    }

    /// Prints `document` for machines, or what `people` makes of it.
    pub(crate) fn answer<T: Serialize>(&self, document: &T, people: impl FnOnce() -> String) {
        let text = if self.json {
            serde_json::to_string_pretty(document).unwrap_or_else(|error| error.to_string())
        } else {
            people()
        };
        // A reader that went away has seen what it wanted.
        let _ = writeln!(std::io::stdout(), "{text}");
    }

    /// Tells people how far the benchmark is.
    pub(crate) fn say(&self, text: &str) {
        if !self.json {
            eprintln!("{text}");
        }
    }

    /// Starts a spinner with `text`; on something that is no terminal, prints the text once.
    pub(crate) fn spinner(&self, text: &str) -> ProgressBar {
        if self.json || !std::io::stderr().is_terminal() {
            self.say(text);
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new_spinner().with_message(text.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }
}

/// Lays out a table.
pub(crate) fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    if std::io::stdout().is_terminal() {
        table.load_style(presets::UTF8_FULL_CONDENSED);
    } else {
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    }
    table.set_header(head.to_vec());
    table.add_rows(rows);
    table.to_string()
}

/// Returns the median; 0 of no values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
