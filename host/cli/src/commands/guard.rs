//! `wed guard`: tries SQL fragments against the guard, without a database.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::json;
use wedflow_guard::{CheckedPredicate, CheckedSetClause, FlowAttributes, Refusal};
use wedflow_model::AttributeType;

use crate::arguments::{FragmentKind, GuardCommand};
use crate::problem::{FragmentPlace, Problem};
use crate::terminal::Terminal;

/// The longest line that is read, in bytes. A fragment in it may have 16 KiB, and each of its characters
/// may be written as `\u0000`.
const LONGEST_LINE: u64 = 1 << 20;

/// The answer to one line.
#[derive(Debug, Serialize)]
struct Verdict<'a> {
    verdict: &'static str,
    code: Option<&'a str>,
    message: Option<&'a str>,
    /// The character of the fragment, counted from 1.
    position: Option<usize>,
    token: Option<&'a str>,
    /// Advice on mending it, if there is any.
    hint: Option<&'a str>,
}

impl<'a> Verdict<'a> {
    fn of(refusal: Option<&'a Refusal>) -> Self {
        Verdict {
            verdict: if refusal.is_none() { "accept" } else { "reject" },
            code: refusal.map(|r| r.code.as_str()),
            message: refusal.map(|r| r.message.as_str()),
            position: refusal.map(|r| r.position),
            token: refusal.map(|r| r.token.as_str()),
            hint: refusal.map(|r| r.hint.as_str()).filter(|hint| !hint.is_empty()),
        }
    }

    /// A line in which there is no fragment.
    fn unreadable(code: &'a str, message: &'a str) -> Self {
        Verdict {
            verdict: "reject",
            code: Some(code),
            message: Some(message),
            position: Some(1),
            token: Some(""),
            hint: Some("one line for each fragment: {\"text\": \"a1='ready'\"}"),
        }
    }
}

pub(crate) fn run(command: &GuardCommand, terminal: &Terminal) -> Result<(), Problem> {
    let GuardCommand::Check { kind, attrs, jsonl, input } = command;
    let attributes = attributes(attrs)?;
    if *jsonl {
        let unreadable =
            |source: io::Error, name: &str| Problem::new(format!("{name} cannot be read")).exit(3).because(source);
        return match input.as_deref().filter(|input| *input != "-") {
            Some(file) => {
                let opened = File::open(Path::new(file)).map_err(|e| unreadable(e, file))?;
                lines(*kind, &attributes, BufReader::new(opened)).map_err(|source| unreadable(source, file))
            }
            None => {
                lines(*kind, &attributes, io::stdin().lock()).map_err(|source| unreadable(source, "standard input"))
            }
        };
    }
    let Some(text) = input else {
        return Err(Problem::usage("the fragment is missing")
            .hint("Give it as the last argument, in quotes; or --jsonl and lines of {\"text\": …}."));
    };
    let checked = check(*kind, text, &attributes).map_err(|refusal| {
        let mut problem = Problem::new(refusal.message)
            .code(refusal.code.as_str())
            .exit(4)
            .place(FragmentPlace { fragment: text.clone(), position: refusal.position });
        if !refusal.hint.is_empty() {
            problem = problem.hint(refusal.hint);
        }
        problem
    })?;
    let Checked { sql, run } = checked;
    terminal.answer(&json!({ "verdict": "accept", "sql": sql, "run": run }), || {
        terminal.line(&format!("Accepted; it is run as: {run}"));
    });
    Ok(())
}

/// Answers each line of the input, as it comes.
fn lines(kind: FragmentKind, attributes: &FlowAttributes, mut input: impl BufRead) -> io::Result<()> {
    #[derive(serde::Deserialize)]
    struct Line {
        text: String,
    }
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let complete = line.last() == Some(&b'\n') || (read as u64) < LONGEST_LINE;
        let written = if !complete {
            skip_line(&mut input)?;
            write_line(&mut output, &Verdict::unreadable("too_long", "the line is longer than 1 MiB"))
        } else if text_of(&line).iter().all(u8::is_ascii_whitespace) {
            write_line(&mut output, &Verdict::unreadable("empty", "the line is empty"))
        } else if text_of(&line).trim_ascii_start().first() != Some(&b'{')
            && serde_json::from_slice::<serde::de::IgnoredAny>(text_of(&line)).is_ok()
        {
            write_line(&mut output, &Verdict::unreadable("not_object", "the line is no JSON object"))
        } else if std::str::from_utf8(&line).is_err() {
            write_line(&mut output, &Verdict::unreadable("not_utf8", "the line is not UTF-8"))
        } else {
            match serde_json::from_slice::<Line>(text_of(&line)) {
                Err(error) => {
                    let message = format!("no line of the form {{\"text\": …}}: {error}");
                    write_line(&mut output, &Verdict::unreadable("not_json", &message))
                }
                Ok(line) => {
                    let refusal = check(kind, &line.text, attributes).err();
                    write_line(&mut output, &Verdict::of(refusal.as_ref()))
                }
            }
        };
        match written {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            other => other?,
        }
    }
}

fn write_line(output: &mut impl Write, verdict: &Verdict<'_>) -> io::Result<()> {
    let mut text = serde_json::to_string(verdict)?;
    text.push('\n');
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// Passes over the rest of a line.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                input.consume(end + 1);
                return Ok(());
            }
            None => {
                let all = buffer.len();
                input.consume(all);
            }
        }
    }
}

/// A line without the mark that some programs put before UTF-8.
fn text_of(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
}

/// A fragment that may be run.
struct Checked {
    /// Fragment as its author would read it.
    sql: String,
    /// Fragment as it is run: functions of the schema `wed_bounded` refuse values that could take too long.
    run: String,
}

fn check(kind: FragmentKind, text: &str, attributes: &FlowAttributes) -> Result<Checked, Refusal> {
    Ok(match kind {
        FragmentKind::Set => {
            let clause = CheckedSetClause::parse(text, attributes)?;
            Checked { sql: clause.to_string(), run: clause.guarded() }
        }
        FragmentKind::Pred => {
            let predicate = CheckedPredicate::parse(text, attributes)?;
            Checked { sql: predicate.to_string(), run: predicate.guarded().to_owned() }
        }
    })
}

/// Names that the server keeps for itself.
const TAKEN: [&str; 7] = ["wid", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];

/// Reads `a1:text,qty:numeric,size:enum(s,m,l)`.
fn attributes(text: &str) -> Result<FlowAttributes, Problem> {
    let mut found: Vec<(String, AttributeType)> = Vec::new();
    let mut depth = 0_i32;
    let parts = text.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        let (name, kind) = part.split_once(':').unwrap_or((part, "text"));
        let name = name.trim();
        let good = name.starts_with(char::is_alphabetic)
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && name.len() <= 63;
        if !good {
            return Err(Problem::usage(format!("\"{name}\" is no attribute's name"))
                .hint("Begin with a letter, continue with letters, digits and underscores."));
        }
        let lower = name.to_lowercase();
        if TAKEN.contains(&lower.as_str()) {
            return Err(Problem::usage(format!("the attribute name \"{name}\" is taken by the server"))
                .hint("Leave it out: wid numbers the instances, the others are Postgres's own."));
        }
        if let Some((known, _)) = found.iter().find(|(known, _)| known.to_lowercase() == lower) {
            return Err(Problem::usage(match known == name {
                true => format!("the attribute \"{name}\" is named twice"),
                false => {
                    format!("the attribute names \"{known}\" and \"{name}\" differ only in case")
                }
            }));
        }
        let kind = kind.trim().parse::<AttributeType>().map_err(|error| Problem::usage(error.to_string()))?;
        found.push((name.to_owned(), kind));
    }
    Ok(FlowAttributes::new(found))
}
