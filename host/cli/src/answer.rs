//! Wording of answers that several commands give: traces, values, numbers, durations. What one command says stands in
//! its file in `commands/`, what an error says where it is made (`problem.rs`).

use std::path::Path;
use std::time::Duration;

use comfy_table::Color;
use wedflow_documents::{Status, TraceRow};

use crate::table::{NARROWEST, laid_out, terminal_width};
use crate::terminal::Terminal;

impl Terminal {
    /// Prints a trace, the attributes in columns of their own and in their order; where that is too wide, only what
    /// changed.
    pub(crate) fn trace(&self, rows: &[TraceRow], order: &[String]) {
        let held = |name: &String| rows.iter().any(|row| row.state.get(name).is_some());
        let mut attributes: Vec<String> = order.iter().filter(|name| held(name)).cloned().collect();
        for name in rows.iter().flat_map(|row| names(&row.state)) {
            if !attributes.contains(name) {
                attributes.push(name.clone());
            }
        }
        let mut head = vec!["seq", "written by", "fired", "status"];
        head.extend(attributes.iter().map(String::as_str));
        head.extend(["took", "at"]);
        let mut before: Option<&TraceRow> = None;
        let narrow = is_narrow(&head, rows, &attributes);
        let (mut lines, mut changes) = (Vec::new(), Vec::new());
        for (at, row) in rows.iter().enumerate() {
            let mut cells = vec![
                row.seq.to_string(),
                row.transition.clone().unwrap_or_else(|| "(start)".to_owned()),
                row.fired.join(", "),
                match row.status {
                    Status::Regular => String::new(),
                    ended => ended.to_string(),
                },
            ];
            for name in &attributes {
                let value = row.state.get(name);
                let changed = before.is_none_or(|before| before.state.get(name) != value);
                if changed && before.is_some() {
                    changes.push((at, cells.len()));
                }
                cells.push(match value {
                    Some(value) if changed || !narrow => shown(value),
                    _ => String::new(),
                });
            }
            cells
                .push(row.elapsed_us.map_or_else(String::new, |us| duration(Duration::from_micros(us.unsigned_abs()))));
            cells.push(row.at.clone());
            lines.push(cells);
            before = Some(row);
        }
        let colour = |at: usize, column: usize| match rows[at].status {
            Status::Final if column == STATUS => Some(Color::Green),
            Status::Exception if column == STATUS => Some(Color::Red),
            _ => changes.contains(&(at, column)).then_some(Color::Yellow),
        };
        self.line(&laid_out(&head, &lines, terminal_width(), colour));
        for row in rows.iter().filter(|row| row.note.is_some()) {
            self.line(&format!("  {}: {}", row.seq, row.note.as_deref().unwrap_or_default()));
        }
    }
}

/// The column of a trace that holds the status.
const STATUS: usize = 3;

/// Returns true when a trace is shown as records, which list only changes.
fn is_narrow(head: &[&str], rows: &[TraceRow], attributes: &[String]) -> bool {
    let wide = |name: &String| {
        let values = rows.iter().filter_map(|row| row.state.get(name));
        let values = values.map(|value| shown(value).chars().count());
        let most = values.chain([name.chars().count()]).max();
        most.unwrap_or(0).min(NARROWEST)
    };
    let attributes: usize = attributes.iter().map(wide).sum();
    terminal_width().is_some_and(|width| attributes + head.len() * 3 + 60 > width)
}

/// Lists the names of a state's attributes.
fn names(state: &serde_json::Value) -> impl Iterator<Item = &String> {
    state.as_object().into_iter().flat_map(|state| state.keys())
}

/// Writes a value of a state for people: text without quotes, null as a dot, moments as elsewhere in answers.
pub(crate) fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "·".to_owned(),
        serde_json::Value::String(text) => match text.strip_suffix("+00:00") {
            Some(moment) if is_moment(moment) => format!("{moment}Z"),
            _ => text.clone(),
        },
        other => other.to_string(),
    }
}

/// Returns true for a date and a time without zone.
fn is_moment(text: &str) -> bool {
    text.contains('T') && text.parse::<jiff::civil::DateTime>().is_ok()
}

/// Writes a number with its noun: `1 job`, `2 jobs`.
pub(crate) fn counted(number: impl std::fmt::Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// Writes a number with its digits by three: `12 345 678`.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Writes bytes for people: `1.5 KiB`.
pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..1_024 => format!("{n} B"),
        1_024..1_048_576 => format!("{:.1} KiB", n as f64 / 1_024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", n as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", n as f64 / 1_073_741_824.0),
    }
    .replace(".0 ", " ")
}

/// Writes a length of time for people: `1.5 ms`.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_micros() {
        0..1_000 => format!("{} µs", time.as_micros()),
        1_000..1_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
    .replace(".0 ", " ")
}

/// Writes a path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@,".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
