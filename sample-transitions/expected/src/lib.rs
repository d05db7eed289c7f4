//! The expected traces of a sample: the format of `expected.toml`, described in
//! `../EXPECTED.md`, and its evaluation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// A whole `expected.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The instances to start, each with its expected end.
    #[serde(rename = "run")]
    pub runs: Vec<Run>,
}

/// Instance to start, and its expected end.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The subject of the run, unique in its file.
    pub name: String,
    /// The flow's file, next to `expected.toml`.
    #[serde(default = "default_flow")]
    pub flow: PathBuf,
    /// The attributes to INSERT; the others take their defaults.
    #[serde(default)]
    pub insert: BTreeMap<String, toml::Value>,
    /// The status of the last row.
    pub status: Status,
    /// Values in the last row's state.
    #[serde(default)]
    pub state: BTreeMap<String, toml::Value>,
    /// Like `state`, but one of several: each a set of values that may hold together.
    #[serde(default)]
    pub state_one_of: Vec<BTreeMap<String, toml::Value>>,
    /// Attributes that are null in the last row's state.
    #[serde(default)]
    pub null: BTreeSet<String>,
    /// Triggers that the first state fires, in any order.
    pub first: BTreeSet<String>,
    /// The number of rows that each transition writes; no other transition writes any.
    #[serde(default)]
    pub wrote: BTreeMap<String, Count>,
    /// The required order of transitions.
    #[serde(default)]
    pub order: Vec<Order>,
    /// The whole trace, as one of several; each row is `trw -> trf …`.
    #[serde(default)]
    pub sequences: Vec<Vec<String>>,
}

fn default_flow() -> PathBuf {
    "flow.toml".into()
}

/// The ending of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Status {
    /// In a final state.
    F,
    /// In an exception.
    E,
}

/// The number.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// Exactly this number.
    Exactly(u64),
    /// This number or more.
    AtLeast {
        /// The least number.
        min: u64,
    },
}

/// Before the first row that `then` writes, transitions of `of` have written at least `after` rows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The number of rows.
    #[serde(default = "one")]
    pub after: usize,
    /// Written by any of these.
    pub of: BTreeSet<String>,
    /// The transition that comes after them.
    pub then: String,
}

fn one() -> usize {
    1
}

/// A row of a trace as the server shows it. Other columns are ignored.
#[derive(Debug, Clone, Deserialize)]
pub struct TraceRow {
    /// The instance.
    pub wid: i64,
    /// The row's number in its instance.
    pub seq: i64,
    /// The transition that wrote the state; none for the first.
    pub trw: Option<String>,
    /// The transitions that the state fired.
    pub trf: Vec<String>,
    /// `R`, `F` or `E`.
    pub status: String,
    /// The state.
    pub state: Map<String, Json>,
}

impl Expected {
    /// Reads an `expected.toml`.
    ///
    /// # Errors
    /// What TOML or the format does not allow, with its place.
    pub fn read(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

/// Returns whether a name is the server's own mark (`_EVENT`, `_SKIP`, `_EXCPT`, …) rather than a transition.
fn is_mark(name: &str) -> bool {
    name.starts_with('_')
}

impl Run {
    /// Holds the trace of an instance that has come to its end against what is expected, and says
    /// everything that differs. Rows may come in any order.
    pub fn complaints(&self, rows: &[TraceRow]) -> Vec<String> {
        let mut rows: Vec<&TraceRow> = rows.iter().collect();
        rows.sort_by_key(|row| row.seq);
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return vec!["there is no trace".into()];
        };
        let mut complaints = Vec::new();
        let mut complain = |text: String| complaints.push(text);

        if let Some(trw) = &first.trw {
            complain(format!("the first row was written by {trw}"));
        }
        let fired: BTreeSet<String> = first.trf.iter().cloned().collect();
        if fired != self.first {
            complain(format!("the first state fired {fired:?} and not {:?}", self.first));
        }
        for row in &rows {
            let expected = if row.seq == last.seq { format!("{:?}", self.status) } else { "R".into() };
            if row.status != expected {
                complain(format!("row {} has status {} and not {expected}", row.seq, row.status));
            }
        }
        self.compare_state(last, &mut complain);

        let writers: Vec<&str> =
            rows.iter().filter_map(|row| row.trw.as_deref()).filter(|name| !is_mark(name)).collect();
        self.compare_writers(&rows, &writers, &mut complain);
        for Order { after, of, then } in &self.order {
            let before = writers.iter().take_while(|name| *name != then).filter(|name| of.contains(**name)).count();
            if writers.contains(&then.as_str()) && before < *after {
                complain(format!("{then} came after {before} rows of {of:?} and not after {after}"));
            }
        }
        if !self.sequences.is_empty() {
            let trace: Vec<String> = rows.iter().map(|row| line(row)).collect();
            if !self.sequences.contains(&trace) {
                complain(format!("the trace is none of those expected: {trace:?}"));
            }
        }
        complaints
    }

    /// Compares how often each transition wrote with what is expected, and with how often it was fired.
    fn compare_writers(&self, rows: &[&TraceRow], writers: &[&str], complain: &mut impl FnMut(String)) {
        let wrote = count(writers);
        for (name, times) in &wrote {
            if !self.wrote.contains_key(*name) {
                complain(format!("{name} wrote {times} rows, and is not expected"));
            }
        }
        for (name, expected) in &self.wrote {
            let times = wrote.get(name.as_str()).copied().unwrap_or(0);
            let right = match expected {
                Count::Exactly(n) => times == *n,
                Count::AtLeast { min } => times >= *min,
            };
            if !right {
                complain(format!("{name} wrote {times} rows and not {expected:?}"));
            }
        }
        if self.status == Status::F {
            let fired: Vec<&str> =
                rows.iter().flat_map(|row| row.trf.iter().map(String::as_str)).filter(|name| !is_mark(name)).collect();
            let fired = count(&fired);
            if fired != wrote {
                complain(format!("{fired:?} were fired, and {wrote:?} written"));
            }
        }
    }

    fn compare_state(&self, last: &TraceRow, complain: &mut impl FnMut(String)) {
        let differs = |(name, expected): (&String, &toml::Value)| {
            let actual = last.state.get(name).unwrap_or(&Json::Null);
            (!same(expected, actual)).then(|| format!("{name} is {actual} and not {expected}"))
        };
        self.state.iter().filter_map(differs).for_each(&mut *complain);
        let one_of = &self.state_one_of;
        if !one_of.is_empty() && one_of.iter().all(|set| set.iter().any(|v| differs(v).is_some())) {
            complain(format!("the last state {:?} is none of {one_of:?}", last.state));
        }
        for name in &self.null {
            if last.state.get(name).is_some_and(|value| !value.is_null()) {
                complain(format!("{name} is {} and not null", last.state[name]));
            }
        }
    }
}

fn count<'a>(names: &[&'a str]) -> BTreeMap<&'a str, u64> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(*name).or_default() += 1;
    }
    counts
}

/// A row as `sequences` writes it: `trw -> trf trf`, sorted, without `trw` in the first.
fn line(row: &TraceRow) -> String {
    let mut fired = row.trf.clone();
    fired.sort();
    format!("{} -> {}", row.trw.as_deref().unwrap_or(""), fired.join(" ")).trim().into()
}

/// Numbers are compared as numbers, wherever they are written as text.
fn same(expected: &toml::Value, actual: &Json) -> bool {
    let text = match actual {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let number = || text.parse::<f64>().ok();
    match expected {
        toml::Value::String(expected) => *expected == text && !actual.is_null(),
        toml::Value::Integer(expected) => number() == Some(*expected as f64),
        toml::Value::Float(expected) => {
            number().is_some_and(|actual| (actual - expected).abs() <= 1e-9 * expected.abs())
        }
        toml::Value::Boolean(expected) => actual.as_bool() == Some(*expected),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: i64, trw: Option<&str>, trf: &[&str], status: &str, n: i64) -> TraceRow {
        TraceRow {
            wid: 1,
            seq,
            trw: trw.map(Into::into),
            trf: trf.iter().map(|name| (*name).into()).collect(),
            status: status.into(),
            state: Map::from_iter([("n".into(), n.into()), ("a".into(), Json::Null)]),
        }
    }

    fn run(more: &str) -> Run {
        let text = format!("[[run]]\nname = 'x'\nstatus = 'F'\nfirst = ['t']\n{more}");
        Expected::read(&text).expect("expectation").runs.remove(0)
    }

    #[test]
    fn a_trace_that_fits_has_no_complaint() {
        let rows = [row(2, Some("t"), &["u"], "R", 1), row(1, None, &["t"], "R", 0), row(3, Some("u"), &[], "F", 2)];
        let run = run("state = { n = 2 }\nnull = ['a']\nwrote = { t = 1, u = { min = 1 } }\n\
             order = [{ of = ['t'], then = 'u' }]\nsequences = [['-> t', 't -> u', 'u ->']]");
        assert_eq!(run.complaints(&rows), [""; 0]);
    }

    #[test]
    fn every_difference_is_said() {
        let rows = [row(1, None, &["u"], "R", 0), row(2, Some("u"), &["t"], "E", 1), row(3, Some("v"), &[], "R", 3)];
        let run = run("state = { n = 2, a = 'x' }\nnull = ['n']\n\
             state_one_of = [{ n = 1 }, { n = 2 }]\nwrote = { t = 1, u = 1 }\n\
             order = [{ after = 2, of = ['t', 'u'], then = 'v' }]\nsequences = [['-> t']]");
        let complaints = run.complaints(&rows).join("\n");
        for part in [
            "first state fired",
            "row 2 has status E",
            "row 3 has status R",
            "a is null",
            "n is 3 and not 2",
            "is none of [",
            "n is 3 and not null",
            "v wrote 1 rows",
            "t wrote 0 rows",
            "were fired",
            "v came after 1 rows",
            "the trace is none of those expected",
        ] {
            assert!(complaints.contains(part), "{part} in:\n{complaints}");
        }
    }
}
