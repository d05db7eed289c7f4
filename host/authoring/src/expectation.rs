//! The expected result of a call, and differences from it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wedflow_guard::{CheckedSetClause, FlowAttributes};
use wedflow_model::{Assignment, AttributeType, Outcome, Value};

use crate::call::{Called, Verdict, sql_of};
use crate::values::{json_of, read_duration};

/// The character that ends a shortened message.
const GOES_ON: char = '…';

/// The resources that a fixture allows a call; beyond it the fixture fails (for time: is warned of).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budget {
    /// wasmtime fuel.
    pub fuel: Option<u64>,
    /// Linear memory in bytes.
    pub memory: Option<u64>,
    /// Wall-clock time.
    pub time: Option<Duration>,
}

/// The expected result of a call; exactly one of `set`, `clause`, `abort`, `fail` and `outcome` is given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The change: SQL without the word SET, or a table of attributes and values. Compared by meaning,
    /// attribute by attribute.
    set: Option<toml::Value>,
    /// The SET clause that was returned, byte for byte.
    clause: Option<String>,
    /// The reason of an abort; it begins so when it ends in `…`.
    abort: Option<String>,
    /// Pause that an `abort` asks for before the next attempt, such as `30s`.
    after: Option<String>,
    /// The message of a failure; it begins so when it ends in `…`.
    fail: Option<String>,
    /// True if another attempt may succeed after `fail`.
    retry: Option<bool>,
    /// The outcome's name: `trapped:unreachable`, `timed_out`, `out_of_fuel`, `refused`, …
    outcome: Option<String>,
}

/// A thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The subject: an attribute, `outcome`, `fuel`, …
    pub what: String,
    /// Expected value; absent where nothing is expected.
    pub expected: Option<String>,
    /// Actual value; absent where there is none.
    pub actual: Option<String>,
}

impl Difference {
    pub(crate) fn new(what: &str, expected: Option<String>, actual: Option<String>) -> Self {
        Difference { what: what.to_owned(), expected, actual }
    }
}

impl Expectation {
    /// Checks that exactly one thing is expected.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub(crate) fn check(&self) -> Result<(), String> {
        let given = [
            self.set.is_some(),
            self.clause.is_some(),
            self.abort.is_some(),
            self.fail.is_some(),
            self.outcome.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err("give one of set, clause, abort, fail and outcome".to_owned());
        }
        if self.after.is_some() && self.abort.is_none() {
            return Err("`after` belongs to `abort`".to_owned());
        }
        if self.retry.is_some() && self.fail.is_none() {
            return Err("`retry` belongs to `fail`".to_owned());
        }
        Ok(())
    }

    /// The expectation that a call fulfils.
    pub(crate) fn of(called: &Called) -> Self {
        let mut expectation = Expectation::default();
        match (&called.verdict, &called.outcome) {
            (Verdict::Change(clause), _) => {
                expectation.set = Some(sql_of(clause, &called.attributes).into());
            }
            (_, Outcome::Aborted { reason, after }) => {
                expectation.abort = Some(first_line(reason));
                expectation.after = after.map(|after| {
                    jiff::SignedDuration::try_from(after).map_or_else(|_| "1h".to_owned(), |after| format!("{after:#}"))
                });
            }
            (_, Outcome::Failed { message, retry }) => {
                expectation.fail = Some(first_line(message));
                expectation.retry = Some(*retry);
            }
            _ => expectation.outcome = Some(called.name().to_owned()),
        }
        expectation
    }

    /// The keys and values as they stand in a file.
    pub(crate) fn entries(self) -> Vec<(&'static str, toml_edit::Value)> {
        let text = |text: Option<String>| text.map(toml_edit::Value::from);
        let set = self.set.and_then(|set| match set {
            toml::Value::String(text) => Some(toml_edit::Value::from(text)),
            _ => None,
        });
        [
            ("set", set),
            ("clause", text(self.clause)),
            ("abort", text(self.abort)),
            ("after", text(self.after)),
            ("fail", text(self.fail)),
            ("retry", self.retry.map(toml_edit::Value::from)),
            ("outcome", text(self.outcome)),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
    }

    /// Tells how a call differs from what is expected.
    pub(crate) fn differences(&self, called: &Called) -> Vec<Difference> {
        if let Some(set) = &self.set {
            return self.changed(set, called);
        }
        let actual = Some(told(called));
        if let Some(clause) = &self.clause {
            let expected = format!("SET {clause}");
            let same = matches!((&called.outcome, &called.verdict),
                (Outcome::Clause(text), Verdict::Change(_)) if text == clause);
            return differing(same, "answer", expected, actual);
        }
        if let Some(reason) = &self.abort {
            let Outcome::Aborted { reason: said, after } = &called.outcome else {
                return differing(false, "answer", format!("aborted: {reason}"), actual);
            };
            let mut found = differing(begins(said, reason), "reason", reason.clone(), Some(said.clone()));
            if let Some(expected) = &self.after {
                let wanted = read_duration(expected).ok();
                found.extend(differing(
                    wanted.is_some() && wanted == *after,
                    "after",
                    expected.clone(),
                    Some(after.map_or_else(|| "none".to_owned(), |after| format!("{after:?}"))),
                ));
            }
            return found;
        }
        if let Some(message) = &self.fail {
            let Outcome::Failed { message: said, retry } = &called.outcome else {
                return differing(false, "answer", format!("failed: {message}"), actual);
            };
            let mut found = differing(begins(said, message), "message", message.clone(), Some(said.clone()));
            if let Some(expected) = self.retry {
                found.extend(differing(expected == *retry, "retry", expected.to_string(), Some(retry.to_string())));
            }
            return found;
        }
        let name = self.outcome.clone().unwrap_or_default();
        differing(called.name() == name || called.outcome.name() == name, "outcome", name, actual)
    }

    fn changed(&self, set: &toml::Value, called: &Called) -> Vec<Difference> {
        let attributes = FlowAttributes::new(called.attributes.iter().cloned());
        let expected = match clause_of(set, &called.attributes, &attributes) {
            Ok(clause) => clause,
            Err(reason) => {
                return vec![Difference::new("set", Some(format!("(cannot be read: {reason})")), Some(told(called)))];
            }
        };
        let shown = sql_of(&expected, &called.attributes);
        let Verdict::Change(actual) = &called.verdict else {
            return differing(false, "answer", format!("SET {shown}"), Some(told(called)));
        };
        // Both by the same way, so that a literal and an equal constant are one.
        let again = CheckedSetClause::parse(&sql_of(actual, &called.attributes), &attributes);
        let actual = again.as_ref().unwrap_or(actual);
        let mut names: Vec<&str> = expected.attributes_written().collect();
        names.extend(
            actual.attributes_written().filter(|name| expected.attributes_written().all(|known| known != *name)),
        );
        names
            .into_iter()
            .filter_map(|name| {
                let expected = value_in(&expected, name, &called.attributes);
                let actual = value_in(actual, name, &called.attributes);
                (expected != actual).then(|| Difference::new(name, expected, actual))
            })
            .collect()
    }
}

/// Tells how a call goes beyond its budget: what fails it, and what is warned of.
pub(crate) fn beyond(budget: &Budget, called: &Called) -> (Vec<Difference>, Vec<String>) {
    let mut failed = Vec::new();
    for (what, limit, used) in
        [("fuel", budget.fuel, called.measure.fuel), ("memory", budget.memory, called.measure.memory_bytes)]
    {
        if let Some(limit) = limit.filter(|limit| used > *limit) {
            failed.push(Difference::new(what, Some(format!("at most {limit}")), Some(used.to_string())));
        }
    }
    let used = std::time::Duration::from_micros(called.measure.elapsed_us);
    let warned = budget
        .time
        .filter(|limit| used > *limit)
        .map(|limit| format!("took {used:?}, more than its budget of {limit:?}"));
    (failed, warned.into_iter().collect())
}

/// Tells how two calls with the same input differ.
pub fn differences_between(before: &Called, after: &Called) -> Vec<Difference> {
    match (&before.verdict, &after.verdict) {
        (Verdict::Change(one), Verdict::Change(other)) => {
            let mut names: Vec<&str> = one.attributes_written().collect();
            names
                .extend(other.attributes_written().filter(|name| one.attributes_written().all(|known| known != *name)));
            names
                .into_iter()
                .filter_map(|name| {
                    let one = value_in(one, name, &before.attributes);
                    let other = value_in(other, name, &after.attributes);
                    (one != other).then(|| Difference::new(name, one, other))
                })
                .collect()
        }
        _ => differing(before.answer() == after.answer(), "answer", before.answer(), Some(after.answer())),
    }
}

fn differing(same: bool, what: &str, expected: String, actual: Option<String>) -> Vec<Difference> {
    if same { Vec::new() } else { vec![Difference::new(what, Some(expected), actual)] }
}

/// Returns what a call came to, in a line or, for a trap, several.
fn told(called: &Called) -> String {
    match &called.verdict {
        Verdict::Nothing if !called.account.is_empty() => called.account.clone(),
        _ => called.answer(),
    }
}

fn clause_of(
    set: &toml::Value,
    kinds: &[(String, AttributeType)],
    attributes: &FlowAttributes,
) -> Result<CheckedSetClause, String> {
    match set {
        toml::Value::String(text) => CheckedSetClause::parse(text, attributes).map_err(|refusal| refusal.to_string()),
        toml::Value::Table(table) => {
            let list = table
                .iter()
                .map(|(name, value)| {
                    let kind = kinds
                        .iter()
                        .find(|(known, _)| known == name)
                        .map(|(_, kind)| kind)
                        .ok_or_else(|| format!("there is no attribute `{name}`"))?;
                    let value =
                        Value::from_json(kind, &json_of(value)?).map_err(|error| format!("`{name}`: {error}"))?;
                    Ok(Assignment { attribute: name.clone(), value })
                })
                .collect::<Result<Vec<_>, String>>()?;
            let clause =
                CheckedSetClause::from_assignments(&list, attributes).map_err(|refusal| refusal.to_string())?;
            // The same way as the other notation.
            CheckedSetClause::parse(&sql_of(&clause, kinds), attributes).map_err(|refusal| refusal.to_string())
        }
        _ => Err("neither a SET clause nor a table of attributes and values".to_owned()),
    }
}

/// Returns what a clause sets an attribute to, as SQL.
fn value_in(clause: &CheckedSetClause, name: &str, attributes: &[(String, AttributeType)]) -> Option<String> {
    let sql = clause.assignments().iter().find(|assignment| *assignment.attribute == *name)?;
    let whole = crate::call::value_sql(sql, attributes);
    // An element is named by its index; a name in quotes does not end so.
    Some(match sql.quoted.ends_with(']') {
        true => format!("{} = {whole}", sql.quoted),
        false => whole,
    })
}

fn begins(said: &str, expected: &str) -> bool {
    match expected.strip_suffix(GOES_ON) {
        Some(start) => said.starts_with(start),
        None => said == expected,
    }
}

/// The first line of a message, marked where more follows: tracebacks hold what changes from build to
/// build.
fn first_line(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, _)) => format!("{first}{GOES_ON}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_that_is_set_is_told_from_another() {
        let kinds = vec![("doc".to_owned(), "jsonb".parse().expect("a type"))];
        let attributes = FlowAttributes::new(kinds.iter().cloned());
        let value = |text: &str| {
            let clause = CheckedSetClause::parse(text, &attributes).expect(text);
            value_in(&clause, "doc", &kinds)
        };
        assert_ne!(value("doc['a'] = '1'"), value("doc['b'] = '1'"));
        assert_ne!(value("doc['a'] = '1'"), value("doc = '1'"));
        assert_eq!(value("doc['a'] = '1'"), value("doc [ 'a' ]='1'"));
    }
}
