//! `wed usage`: what was used, by day, tenant, flow and transition; limits.

use wedflow_documents::{List, Receipt, ReceiptFilter, Usage};

use crate::arguments::UsageArguments;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Columns of the receipts, in CSV as in the table.
const HEAD: [&str; 12] = [
    "day",
    "tenant",
    "flow",
    "transition",
    "commits",
    "failures",
    "fuel",
    "elapsed_us",
    "memory_max_bytes",
    "memory_byte_seconds",
    "written_bytes",
    "stored_bytes",
];
/// Receipts that are asked for at once.
const PART: i64 = 500;

/// Shows the receipts of a tenant or of all, or the limits of a tenant.
pub(crate) async fn run(asked: &UsageArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    if asked.limits {
        let limits = door.usage().await?;
        terminal.answer(&limits, || show_limits(&limits, terminal));
        return Ok(());
    }
    let mut printer = Printer::new(asked, terminal);
    let mut filter =
        ReceiptFilter { since: asked.since.clone(), until: asked.until.clone(), cursor: None, limit: Some(PART) };
    loop {
        let List { items, next } = match asked.all {
            true => door.all_receipts(&filter).await?,
            false => door.receipts(&filter).await?,
        };
        printer.take(items);
        match next {
            Some(next) => filter.cursor = Some(next),
            None => break,
        }
    }
    printer.end();
    Ok(())
}

/// Prints receipts: CSV part by part, all else at the end.
struct Printer<'a> {
    csv: bool,
    kept: Vec<Receipt>,
    terminal: &'a Terminal,
}

impl<'a> Printer<'a> {
    fn new(asked: &UsageArguments, terminal: &'a Terminal) -> Self {
        if asked.csv {
            terminal.line(&HEAD.join(","));
        }
        Printer { csv: asked.csv, kept: Vec::new(), terminal }
    }

    fn take(&mut self, receipts: Vec<Receipt>) {
        match self.csv {
            true => (receipts.iter()).for_each(|one| self.terminal.line(&csv(&row(one)))),
            false => self.kept.extend(receipts),
        }
    }

    fn end(self) {
        if !self.csv {
            self.terminal.answer(&self.kept, || {
                self.terminal.table(&HEAD, self.kept.iter().map(row));
            });
        }
    }
}

fn row(one: &Receipt) -> Vec<String> {
    let figures = [
        one.commits,
        one.failures,
        one.fuel,
        one.elapsed_us,
        one.memory_max_bytes,
        one.memory_byte_seconds,
        one.written_bytes,
    ];
    let mut row =
        vec![one.day.clone(), one.tenant.clone(), one.flow.clone(), one.transition.clone().unwrap_or_default()];
    row.extend(figures.map(|figure| figure.to_string()));
    row.push(one.stored_bytes.map(|bytes| bytes.to_string()).unwrap_or_default());
    row
}

/// Writes a line of comma-separated values (RFC 4180).
fn csv(fields: &[String]) -> String {
    let quoted = |field: &String| match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.clone(),
    };
    fields.iter().map(quoted).collect::<Vec<_>>().join(",")
}

fn show_limits(limits: &[Usage], terminal: &Terminal) {
    let figure = |figure: Option<i64>| figure.map_or("-".to_owned(), |figure| figure.to_string());
    let row = |one: &Usage| {
        let (used, allowed) = (figure(one.used), figure(one.allowed));
        vec![one.name.clone(), used, allowed, one.unit.clone()]
    };
    terminal.table(&["name", "used", "allowed", "unit"], limits.iter().map(row));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_marks_are_quoted() {
        let fields = ["a", "b,c", "say \"x\""].map(str::to_owned);
        assert_eq!(csv(&fields), "a,\"b,c\",\"say \"\"x\"\"\"");
    }
}
