//! Display of answers: tables and lines for people, documents for machines. `answer.rs` words what all commands show.

use std::collections::HashMap;
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use wedflow_authoring::Provided;

use crate::in_force::with_options;
use crate::printable::printable;
use crate::problem::{FragmentPlace, Problem};
use crate::table::{laid_out, terminal_width};

/// Texts that no answer of this process may show.
static HIDDEN: OnceLock<Provided> = OnceLock::new();

/// An answer could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Masks secrets in whatever is printed from now on.
pub(crate) fn hide(secrets: HashMap<String, String>) {
    // One command hides once.
    let _ = HIDDEN.set(Provided::new(HashMap::new(), secrets));
}

/// Output of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    json: bool,
    quiet: bool,
}

impl Terminal {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Terminal { json, quiet }
    }

    /// Returns true if machines read the output.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Answers: the document for machines, else what `people` prints.
    pub(crate) fn answer<T: Serialize>(&self, document: &T, people: impl FnOnce()) {
        if self.json {
            self.document(document);
        } else {
            people();
        }
    }

    /// Prints one JSON document.
    pub(crate) fn document<T: Serialize>(&self, document: &T) {
        let text = serde_json::to_string_pretty(document).unwrap_or_else(|error| format!("\"{error}\""));
        self.line(&text);
    }

    /// Prints one JSON document on one line.
    pub(crate) fn document_line<T: Serialize>(&self, document: &T) {
        self.line(&serde_json::to_string(document).unwrap_or_else(|error| format!("\"{error}\"")));
    }

    /// Returns true when a full screen can be shown: input and output are terminals.
    pub(crate) fn has_screen(&self) -> bool {
        !self.json && std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
    }

    /// Returns true when an answer could not be written.
    pub(crate) fn has_lost(&self) -> bool {
        LOST.load(Ordering::Acquire)
    }

    /// Prints a line. A reader that went away is no error of ours; what cannot be written is one, of the whole command.
    pub(crate) fn line(&self, text: &str) {
        self.write(&printable(text));
    }

    /// Prints a text that programs read on, such as a setting's value: as it is, unless a person looks.
    pub(crate) fn verbatim(&self, text: &str) {
        match std::io::stdout().is_terminal() {
            true => self.line(text),
            false => self.write(text),
        }
    }

    fn write(&self, text: &str) {
        let text = HIDDEN.get().map_or_else(|| text.into(), |hidden| hidden.mask(text));
        let mut out = anstream::stdout();
        if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            LOST.store(true, Ordering::Release);
        }
    }

    /// Says what is being done, on standard error, for people only.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            let dim = Style::new().dimmed();
            let text = with_options(text);
            let _ = writeln!(anstream::stderr(), "{dim}{}{dim:#}", printable(&text));
        }
    }

    /// Says what is being done to a machine: one JSON document on one line of standard error.
    pub(crate) fn note<T: Serialize>(&self, document: &T) {
        if !self.quiet && self.json {
            let text = serde_json::to_string(document).unwrap_or_default();
            let _ = writeln!(std::io::stderr(), "{}", printable(&text));
        }
    }

    /// A spinner for what takes more than a moment; nothing where nobody looks.
    pub(crate) fn spinner(&self, text: &str) -> ProgressBar {
        if self.quiet || self.json || !std::io::stderr().is_terminal() {
            self.say(text);
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new_spinner().with_message(printable(text).into_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }

    /// A spinner for what may take a moment; prints nothing unless standard error is a terminal.
    pub(crate) fn spinner_if_slow(&self, text: &str) -> ProgressBar {
        if self.quiet || self.json || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        self.spinner(text)
    }

    /// Asks whether something that cannot be undone is meant.
    pub(crate) fn confirmed(&self, question: &str) -> Result<bool, Problem> {
        if !std::io::stdin().is_terminal() {
            return Err(Problem::usage("nobody is there to confirm this").hint("Say --yes."));
        }
        let _ = write!(std::io::stderr(), "{} [y/N] ", printable(question));
        let mut answer = String::new();
        std::io::stdin()
            .lock()
            .read_line(&mut answer)
            .map_err(|source| Problem::new("the answer could not be read").because(source))?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    /// Prints a problem and gives its exit code.
    pub(crate) fn problem(&self, problem: &Problem) -> ExitCode {
        let mut out = anstream::stderr();
        let hint = problem.hint.as_deref().map(with_options);
        if self.json {
            let mut text = serde_json::json!({ "error": **problem });
            if let Some(hint) = hint {
                text["error"]["hint"] = hint.into();
            }
            let _ = writeln!(out, "{}", printable(&text.to_string()));
            return ExitCode::from(problem.exit_code);
        }
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        let _ = writeln!(out, "{red}error:{red:#} {}", printable(&problem.message));
        if let Some(FragmentPlace { fragment, position }) = &problem.place {
            let (line, column) = line_and_column(fragment, *position);
            let _ = writeln!(out, "  {cyan}|{cyan:#} {}", printable(&line));
            let _ = writeln!(out, "  {cyan}|{cyan:#} {}{red}^{red:#} character {position}", " ".repeat(column));
        }
        for detail in &problem.details {
            let _ = writeln!(out, "  {}", printable(detail));
        }
        if let Some(hint) = hint {
            let _ = writeln!(out, "{cyan}hint:{cyan:#} {}", printable(&hint));
        }
        ExitCode::from(problem.exit_code)
    }

    /// Prints a table.
    pub(crate) fn table(&self, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let rows: Vec<Vec<String>> = rows.into_iter().collect();
        match rows.is_empty() {
            true => self.say("none"),
            false => self.line(&laid_out(head, &rows, terminal_width(), |_, _| None)),
        }
    }
}

/// The line of a text that a character (counted from 1) stands in, and the characters before it there.
fn line_and_column(text: &str, position: usize) -> (String, usize) {
    let mut left = position.saturating_sub(1);
    for line in text.split('\n') {
        let length = line.chars().count();
        if left <= length {
            return (line.to_owned(), left);
        }
        left -= length + 1;
    }
    (text.lines().last().unwrap_or_default().to_owned(), 0)
}
