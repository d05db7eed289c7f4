//! The difference of two versions of a definition, bounded in time and in what is answered.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use wedflow_store::{StoreError, Version, definition_of};

/// Maximum time for the comparison; what is not matched by then counts as changed.
const COMPARISON_TIME_MAX: Duration = Duration::from_secs(1);
/// Maximum number of lines that are answered.
const LINES_MAX: usize = 2_000;
/// Maximum bytes of all lines that are answered.
const ANSWER_BYTES_MAX: usize = 512 << 10;
/// Maximum bytes of a line that is answered.
const LINE_BYTES_MAX: usize = 2_000;

/// Lines that only one of two definitions has.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Lines of TOML with `-` or `+` and the attribute, trigger or transition in front; long ones end in `…`.
    pub lines: Vec<String>,
    /// Number of further lines, which are left out.
    pub left_out: usize,
}

/// Compares two versions of a definition on a thread for blocking work.
///
/// # Errors
/// [`StoreError::Other`] when this program cannot read one of them.
pub async fn compare(old: Version, new: Version) -> Result<Difference, StoreError> {
    let compared = tokio::task::spawn_blocking(move || Ok(differing(&text_of(&old)?, &text_of(&new)?)));
    compared.await.map_err(StoreError::unreadable)?
}

fn text_of(version: &Version) -> Result<String, StoreError> {
    toml::to_string(&definition_of(version)?).map_err(StoreError::unreadable)
}

/// Line of a definition in TOML: the number of its part, and the text.
type Line<'a> = (usize, &'a str);

/// Names of the parts of definitions, and a number for each different line. Lines are compared by their numbers, so
/// that long lines and long names cost once.
#[derive(Default)]
struct Numbers<'a> {
    parts: Vec<String>,
    part_of_name: HashMap<String, usize>,
    lines: Vec<Line<'a>>,
    number_of_line: HashMap<Line<'a>, usize>,
}

impl<'a> Numbers<'a> {
    fn part(&mut self, name: String) -> usize {
        let next = self.parts.len();
        *self.part_of_name.entry(name).or_insert_with_key(|name| {
            self.parts.push(name.clone());
            next
        })
    }

    fn line(&mut self, line: Line<'a>) -> usize {
        let next = self.lines.len();
        *self.number_of_line.entry(line).or_insert_with(|| {
            self.lines.push(line);
            next
        })
    }

    /// Numbers the lines of a definition in TOML, each with the attribute, trigger or transition that it belongs to.
    fn read(&mut self, text: &'a str) -> Vec<usize> {
        let (mut owner, mut inner) = (String::new(), String::new());
        let mut part = self.part(String::new());
        let mut numbers = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(header) = line.strip_prefix('[') {
                let header = header.trim_matches(['[', ']']);
                // A table of the trigger that is being told of, such as [trigger.work].
                match header.strip_prefix("trigger.") {
                    Some(table) => inner = format!("{table}."),
                    None => (owner, inner) = (header.replacen('.', " ", 1), String::new()),
                }
                part = self.part(prefix(&owner, &inner));
                continue;
            }
            if let Some(name) = line.strip_prefix("name = ")
                && inner.is_empty()
                && matches!(owner.as_str(), "attribute" | "trigger")
            {
                owner = format!("{owner} {}", name.trim_matches('"'));
                part = self.part(prefix(&owner, &inner));
            }
            numbers.push(self.line((part, line)));
        }
        numbers
    }

    /// Writes a line for a person, cut where it is long.
    fn told(&self, sign: char, number: usize) -> String {
        let (part, text) = self.lines[number];
        let part = &self.parts[part];
        let mut told = format!("{sign} {}{}", short(part), short(text));
        if told.len() > LINE_BYTES_MAX {
            told.truncate(told.floor_char_boundary(LINE_BYTES_MAX));
            told.push('…');
        }
        told
    }
}

fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(LINE_BYTES_MAX)]
}

fn prefix(owner: &str, inner: &str) -> String {
    match owner.is_empty() {
        true => String::new(),
        false => format!("{owner}: {inner}"),
    }
}

/// Compares two definitions in TOML in memory that grows with their length.
fn differing(old: &str, new: &str) -> Difference {
    let mut numbers = Numbers::default();
    let (old, new) = (numbers.read(old), numbers.read(new));
    let deadline = Instant::now() + COMPARISON_TIME_MAX;
    let steps = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
    let (mut difference, mut bytes) = (Difference::default(), 0);
    for step in steps.iter().filter(|step| step.tag() != DiffTag::Equal) {
        let gone = old[step.old_range()].iter().map(|number| ('-', *number));
        let came = new[step.new_range()].iter().map(|number| ('+', *number));
        for (sign, number) in gone.chain(came) {
            if difference.lines.len() >= LINES_MAX || bytes >= ANSWER_BYTES_MAX {
                difference.left_out += 1;
                continue;
            }
            let line = numbers.told(sign, number);
            bytes += line.len();
            difference.lines.push(line);
        }
    }
    difference
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    #[test]
    fn differences_are_lines_of_one_text_only() {
        let lines = |old, new| differing(old, new).lines;
        assert_eq!(lines("a\nb\nc", "a\nx\nc\nd"), ["- b", "+ x", "+ d"]);
        assert!(lines("a\nb", "a\nb").is_empty());
    }

    #[test]
    fn differences_name_what_they_are_of() {
        let old = "name = \"f\"\n\n[[attribute]]\nname = \"n\"\ntype = \"text\"\n\n[[attribute]]\nname = \"m\"\n\
                   type = \"integer\"\n\n[[trigger]]\nname = \"t\"\n\n[trigger.work]\nrole = \"a\"\n\n\
                   [transition.step]\nfiles = true\n";
        let new = old.replace("\"text\"", "\"integer\"").replace("\"a\"", "\"b\"").replace("true", "false");
        assert_eq!(
            differing(old, &new).lines,
            [
                "- attribute n: type = \"text\"",
                "+ attribute n: type = \"integer\"",
                "- trigger t: work.role = \"a\"",
                "- transition step: files = true",
                "+ trigger t: work.role = \"b\"",
                "+ transition step: files = false",
            ]
        );
    }

    #[test]
    fn numbers_of_documents_are_numbers() {
        let form = serde_json::json!({ "properties": { "note": { "maxLength": 500, "minimum": 0.5 } } });
        let flow = serde_json::json!({ "name": "f", "final": "true", "trigger": [{ "name": "t", "when": "true",
            "work": { "role": "clerk", "form": form } }] });
        let flow: wedflow_model::FlowDefinition = serde_json::from_value(flow).expect("a definition");
        let text = toml::to_string(&flow).expect("its text");
        assert!(text.contains("maxLength = 500\n") && text.contains("minimum = 0.5\n"), "{text}");
    }

    #[test]
    fn large_definitions_are_compared_in_bounded_time_and_answer() {
        let text = |side: char| {
            (0..60_000).fold(String::new(), |mut text, number| {
                let _ = writeln!(text, "{side}{number} = 1");
                text
            })
        };
        let difference = differing(&text('a'), &text('b'));
        assert_eq!(difference.lines.len() + difference.left_out, 120_000);
        assert!(difference.lines.len() <= LINES_MAX);
        // A long name in front of many lines, and one long line.
        let many = format!("[a.{}]\n{}", "n".repeat(400_000), text('c'));
        let difference = differing(&many, &format!("x = \"{}\"", "y".repeat(900_000)));
        let bytes: usize = difference.lines.iter().map(String::len).sum();
        assert!(bytes < ANSWER_BYTES_MAX + 2 * LINE_BYTES_MAX);
        assert!(difference.lines.iter().all(|line| line.len() <= LINE_BYTES_MAX + 3));
    }
}
