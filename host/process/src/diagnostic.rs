//! Errors and warnings of a source, with their place and a picture of the line.

use std::fmt::Write as _;
use std::ops::Range;

use serde::Serialize;

/// Characters of a source line that a picture shows.
const PICTURE_WIDTH: usize = 110;

/// The weight of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The source is refused.
    Error,
    /// The source is accepted; a person should know.
    Warning,
}

/// An error or a warning about a part of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The weight.
    pub severity: Severity,
    /// Bytes of the source that it is about.
    pub span: Range<usize>,
    /// The message, in a line.
    pub message: String,
    /// The text under the picture: what is there.
    pub found: Option<String>,
    /// The tokens or clauses that may stand there.
    pub expected: Vec<String>,
    /// The way to mend it.
    pub hint: Option<String>,
}

/// Line and column in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Line, counted from 1.
    pub line: usize,
    /// Character in the line, counted from 1.
    pub column: usize,
}

impl Diagnostic {
    pub(crate) fn error(span: Range<usize>, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            span,
            message: message.into(),
            found: None,
            expected: Vec::new(),
            hint: None,
        }
    }

    pub(crate) fn warning(span: Range<usize>, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns true if the source is refused because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Computes line and column of its beginning.
    pub fn position(&self, source: &str) -> Position {
        position_of(source, self.span.start)
    }

    /// Renders it with a picture of its line: message, place, line, marks, hint.
    pub fn render(&self, file: &str, source: &str) -> String {
        let place = self.position(source);
        let start = boundary(source, self.span.start);
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = source[line_start..].lines().next().unwrap_or_default();
        let line_end = line_start + line.len();
        let end = boundary(source, self.span.end.clamp(start, line_end.max(start)));
        let marks = source[start..end].chars().count().max(1);
        // A window around the place, where the line is long.
        let skipped = place.column.saturating_sub(1).saturating_sub(PICTURE_WIDTH / 2);
        let shown: String =
            line.chars().skip(skipped).take(PICTURE_WIDTH).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let before = place.column - 1 - skipped;
        let marks = marks.min(PICTURE_WIDTH - before);
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let number = place.line.to_string();
        let gutter = " ".repeat(number.len());
        let mut out = format!(
            "{word}: {}\n{gutter}--> {file}:{}:{}\n{gutter} |\n{number} | {shown}\n{gutter} | {}{}",
            self.message,
            place.line,
            place.column,
            " ".repeat(before),
            "^".repeat(marks),
        );
        if let Some(found) = &self.found {
            let _ = write!(out, " {found}");
        }
        if let Some(hint) = &self.hint {
            let _ = write!(out, "\n{gutter} = {hint}");
        }
        out
    }
}

fn position_of(source: &str, offset: usize) -> Position {
    let before = &source[..boundary(source, offset)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}

/// Moves an offset back to where a character begins.
fn boundary(source: &str, offset: usize) -> usize {
    let mut at = offset.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Lists words for a sentence: `a`, `a or b`, `a, b or c`.
pub(crate) fn alternatives(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Finds the word that somebody may have meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|one| (strsim::damerau_levenshtein(&word, &one.to_lowercase()), one))
        .filter(|(distance, one)| *distance <= one.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_shows_the_line_and_marks_the_place() {
        let source = "WORKFLOW A {\n  ROLÊ x;\n}\n";
        let at = source.find('x').expect("an x");
        let diagnostic = Diagnostic::error(at..at + 1, "no").hint("mend it");
        assert_eq!(
            diagnostic.render("a.pdl", source),
            "error: no\n --> a.pdl:2:8\n  |\n2 |   ROLÊ x;\n  |        ^\n  = mend it"
        );
    }

    #[test]
    fn picture_at_the_end_of_an_empty_source() {
        let diagnostic = Diagnostic::error(0..0, "no");
        assert!(diagnostic.render("a.pdl", "").contains("a.pdl:1:1"));
    }
}
