//! A fixture: a file that says what a transition is called with and what it should answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use toml_edit::DocumentMut;
use wedflow_model::{AttributeType, Wid};
use wedflow_sandbox::{Answer, AnswersFrom, Content, Exchange, HttpAnswer};

use crate::call::{Call, Called};
use crate::expectation::{Budget, Expectation};
use crate::values::{json_of, read_duration, time_of, time_text, write_duration};

/// The time that a fixture's clock shows when it does not say: 2026-01-01T00:00:00Z.
pub const DEFAULT_NOW: i64 = 1_767_225_600_000_000;

/// A fixture that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    /// The file or folder cannot be read or written.
    #[error("{} cannot be {what}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// The file says something wrong.
    #[error("{} is no fixture: {reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The reason, and the place.
        reason: String,
    },
}

/// A fixture.
#[derive(Debug, Clone)]
pub struct Fixture {
    /// The file.
    pub path: PathBuf,
    /// The file's name without its end.
    pub name: String,
    /// The input of the call.
    pub call: Call,
    /// The expected answer, if one is given.
    pub expectation: Option<Expectation>,
    /// The resources that the call may use.
    pub budget: Budget,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    #[serde(rename = "description")]
    _description: Option<String>,
    transition: Option<String>,
    flow: Option<String>,
    wid: Option<Wid>,
    trigger: Option<String>,
    attempt: Option<u32>,
    now: Option<toml::Value>,
    seed: Option<u64>,
    timeout: Option<String>,
    deadline: Option<i64>,
    answers: Option<String>,
    #[serde(default)]
    types: BTreeMap<String, String>,
    state: Option<toml::Value>,
    #[serde(default)]
    config: BTreeMap<String, String>,
    #[serde(default)]
    secrets: BTreeMap<String, String>,
    files: Option<BTreeMap<String, String>>,
    http: Option<Vec<ExchangeBody>>,
    expect: Option<Expectation>,
    #[serde(default)]
    budget: BudgetBody,
}

/// A request that is expected, and its answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExchangeBody {
    #[serde(default = "get")]
    method: String,
    url: String,
    body: Option<String>,
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    answer: String,
    /// Instead of an answer: the kind of failure.
    error: Option<String>,
}

fn get() -> String {
    "GET".to_owned()
}

/// The kinds of failure of the contract's `http`.
const FETCH_ERRORS: [&str; 5] = ["denied", "invalid", "too-large", "unreachable", "timed-out"];

impl ExchangeBody {
    fn read(self) -> Result<Exchange, String> {
        let answer = match self.error {
            Some(kind) if !FETCH_ERRORS.contains(&kind.as_str()) => {
                return Err(format!("error is none of {}", FETCH_ERRORS.join(", ")));
            }
            Some(_) if self.status.is_some() || !self.headers.is_empty() => {
                return Err("there is an error, or there is a status and headers".to_owned());
            }
            Some(kind) => HttpAnswer::Refused(kind, self.answer),
            None => HttpAnswer::Answered {
                status: self.status.unwrap_or(200),
                headers: self.headers.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect(),
                body: Content(self.answer.into_bytes()),
            },
        };
        Ok(Exchange { method: self.method, url: self.url, body: self.body.map(String::into_bytes), answer })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetBody {
    fuel: Option<u64>,
    memory: Option<u64>,
    time: Option<String>,
}

impl Fixture {
    /// Reads all `*.toml` of a folder, by name. A folder that is not there holds none.
    ///
    /// # Errors
    /// [`FixtureError`] of the first that cannot be read.
    pub fn all_in(folder: &Path) -> Result<Vec<Fixture>, FixtureError> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(FixtureError::File { path: folder.to_owned(), what: "read", source });
            }
        };
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "toml"))
            .collect();
        files.sort();
        files.iter().map(|file| Fixture::read(file)).collect()
    }

    /// Reads one.
    ///
    /// # Errors
    /// [`FixtureError`] when the file cannot be read, or says something wrong.
    pub fn read(path: &Path) -> Result<Fixture, FixtureError> {
        let text = std::fs::read_to_string(path).map_err(|source| FixtureError::File {
            path: path.to_owned(),
            what: "read",
            source,
        })?;
        Fixture::parse(path, text)
    }

    fn parse(path: &Path, text: String) -> Result<Fixture, FixtureError> {
        let wrong = |reason: String| FixtureError::Wrong { path: path.to_owned(), reason };
        let body: Body = toml::from_str(&text).map_err(|error| wrong(error.to_string().trim().to_owned()))?;
        let state = match &body.state {
            None => Map::new(),
            Some(value) => state_of(value).map_err(wrong)?,
        };
        let types = types_of(&body).map_err(wrong)?;
        let span = |what: &str, text: &Option<String>| {
            text.as_deref().map(read_duration).transpose().map_err(|reason| wrong(format!("{what}: {reason}")))
        };
        let answers = answers_of(&body).map_err(wrong)?;
        let http = body
            .http
            .map(|list| list.into_iter().map(ExchangeBody::read).collect())
            .transpose()
            .map_err(|reason| wrong(format!("http: {reason}")))?;
        let bytes_of = |(name, text): (String, String)| (name, text.into_bytes());
        let files = (body.files).map(|files| files.into_iter().map(bytes_of).collect());
        let call = Call {
            transition: body.transition,
            types,
            state,
            attempt: body.attempt.unwrap_or(1),
            timeout: span("timeout", &body.timeout)?,
            deadline: body.deadline,
            config: body.config,
            secrets: body.secrets,
            answers,
            files,
            http,
            ..Call::default()
        };
        let call = Call {
            flow: body.flow.unwrap_or(call.flow),
            wid: body.wid.unwrap_or(call.wid),
            trigger: body.trigger.unwrap_or(call.trigger),
            ..call
        };
        if let Some(expectation) = &body.expect {
            expectation.check().map_err(|reason| wrong(format!("expect: {reason}")))?;
        }
        Ok(Fixture {
            name: path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
            path: path.to_owned(),
            call,
            expectation: body.expect,
            budget: Budget {
                fuel: body.budget.fuel,
                memory: body.budget.memory,
                time: span("budget.time", &body.budget.time)?,
            },
            text,
        })
    }

    /// Writes into the file that what the call came to is what is expected. The rest of the file,
    /// comments included, stays as it is.
    ///
    /// # Errors
    /// [`FixtureError::File`] when it cannot be written.
    pub fn expect(&self, called: &Called) -> Result<(), FixtureError> {
        let wrong = |reason: String| FixtureError::Wrong { path: self.path.clone(), reason };
        let mut document: DocumentMut = self.text.parse().map_err(|error| wrong(format!("{error}")))?;
        let mut table = toml_edit::Table::new();
        for (key, value) in Expectation::of(called).entries() {
            table.insert(key, toml_edit::value(value));
        }
        match document.get_mut("expect").and_then(|item| item.as_table_mut()) {
            Some(old) => {
                old.clear();
                for (key, value) in table {
                    old.insert(&key, value);
                }
            }
            None => {
                document.insert("expect", toml_edit::Item::Table(table));
            }
        }
        write(&self.path, &document.to_string())
    }
}

/// Reads the types of attributes that a fixture names.
fn types_of(body: &Body) -> Result<BTreeMap<String, AttributeType>, String> {
    let types = body.types.iter().map(|(name, kind)| {
        kind.parse::<AttributeType>().map(|kind| (name.clone(), kind)).map_err(|error| format!("types.{name}: {error}"))
    });
    types.collect()
}

/// Reads where the answers of the host come from: a clock and a seed, or a recording.
fn answers_of(body: &Body) -> Result<AnswersFrom, String> {
    if let Some(text) = &body.answers {
        return serde_json::from_str(text)
            .map(AnswersFrom::Recording)
            .map_err(|error| format!("answers is no record: {error}"));
    }
    let now = match &body.now {
        None => DEFAULT_NOW,
        Some(value) => time_of(value).map_err(|reason| format!("now: {reason}"))?,
    };
    Ok(AnswersFrom::Test { now, seed: body.seed.unwrap_or(0) })
}

/// Writes a new fixture: what a transition was called with, and what it answered. Values for which
/// `masked` holds are left out of state and expectation alike by the caller.
///
/// # Errors
/// [`FixtureError::File`] when it cannot be written.
pub fn write_fixture(path: &Path, description: &str, call: &Call, called: Option<&Called>) -> Result<(), FixtureError> {
    let mut document = DocumentMut::new();
    document.insert("description", toml_edit::value(description));
    let transition = called.map(|called| called.transition.clone()).or_else(|| call.transition.clone());
    if let Some(transition) = transition {
        document.insert("transition", toml_edit::value(transition));
    }
    insert_call(&mut document, call);
    insert_answers(&mut document, &call.answers);
    document.insert("state", toml_edit::value(Json::Object(call.state.clone()).to_string()));
    let types = match &call.flow_attributes {
        Some(attributes) => attributes.iter().map(|(name, kind)| (name.clone(), kind.clone())).collect(),
        None => call.types.clone(),
    };
    let strings = |map: &BTreeMap<String, String>| {
        let mut table = toml_edit::Table::new();
        for (key, value) in map {
            table.insert(key, toml_edit::value(value.as_str()));
        }
        toml_edit::Item::Table(table)
    };
    for (name, map) in [
        ("types", &types.iter().map(|(name, kind)| (name.clone(), kind.to_string())).collect()),
        ("config", &call.config),
        ("secrets", &call.secrets),
    ] {
        if !map.is_empty() {
            document.insert(name, strings(map));
        }
    }
    if let Some(called) = called {
        let mut table = toml_edit::Table::new();
        for (key, value) in Expectation::of(called).entries() {
            table.insert(key, toml_edit::value(value));
        }
        document.insert("expect", toml_edit::Item::Table(table));
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|source| FixtureError::File {
            path: folder.to_owned(),
            what: "written",
            source,
        })?;
    }
    write(path, &document.to_string())
}

/// Inserts what of a call is not as usual.
fn insert_call(document: &mut DocumentMut, call: &Call) {
    let usual = Call::default();
    if call.flow != usual.flow {
        document.insert("flow", toml_edit::value(call.flow.as_str()));
    }
    if call.wid != usual.wid {
        document.insert("wid", toml_edit::value(i64::from(call.wid.get())));
    }
    if call.trigger != usual.trigger {
        document.insert("trigger", toml_edit::value(call.trigger.as_str()));
    }
    if call.attempt != usual.attempt {
        document.insert("attempt", toml_edit::value(i64::from(call.attempt)));
    }
    if let Some(timeout) = call.timeout {
        document.insert("timeout", toml_edit::value(write_duration(timeout)));
    }
    if let Some(deadline) = call.deadline {
        document.insert("deadline", toml_edit::value(deadline));
    }
}

/// Inserts where the answers of the host come from.
fn insert_answers(document: &mut DocumentMut, answers: &AnswersFrom) {
    match answers {
        AnswersFrom::Host => {}
        AnswersFrom::Test { now, seed } => {
            if *now != DEFAULT_NOW {
                document.insert("now", toml_edit::value(time_text(*now)));
            }
            if *seed != 0 {
                document.insert("seed", toml_edit::value(i64::try_from(*seed).unwrap_or(i64::MAX)));
            }
        }
        AnswersFrom::Recording(answers) => {
            document.insert("answers", toml_edit::value(answers_text(answers)));
        }
    }
}

fn answers_text(answers: &[Answer]) -> String {
    serde_json::to_string(answers).unwrap_or_default()
}

fn write(path: &Path, text: &str) -> Result<(), FixtureError> {
    std::fs::write(path, text).map_err(|source| FixtureError::File { path: path.to_owned(), what: "written", source })
}

/// A state from a table, or from a text that holds a JSON object (for null, and for numbers of many
/// digits).
fn state_of(value: &toml::Value) -> Result<Map<String, Json>, String> {
    match value {
        toml::Value::String(text) => {
            serde_json::from_str(text).map_err(|error| format!("state is no JSON object: {error}"))
        }
        toml::Value::Table(table) => table.iter().map(|(name, value)| Ok((name.clone(), json_of(value)?))).collect(),
        _ => Err("state is neither a table nor a text with a JSON object".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::values::read_time;

    fn parsed(text: &str) -> Result<Fixture, String> {
        Fixture::parse(Path::new("fixtures/a.toml"), text.to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_fixture_says_what_a_call_is_made_with() {
        let fixture = parsed(
            r#"
            transition = "pack"
            now = 2026-01-31T12:00:00Z
            seed = 7
            attempt = 2
            timeout = "250ms"
            state = { qty = 3, tags = ["a"], at = 2026-02-01 }
            config = { rate = "3" }
            [types]
            tags = "text[]"
            [expect]
            set = "packed = true"
            [budget]
            fuel = 1000
            time = "1ms"
            "#,
        )
        .expect("a fixture");
        let call = &fixture.call;
        assert_eq!(call.state["at"], "2026-02-01");
        assert_eq!(call.timeout, Some(Duration::from_millis(250)));
        assert_eq!(call.answers, AnswersFrom::Test { now: 1_769_860_800_000_000, seed: 7 });
        assert_eq!(fixture.budget.time, Some(Duration::from_millis(1)));
        assert_eq!(read_time("2026-01-01"), Ok(DEFAULT_NOW));
        let json = parsed(r#"state = '{"n": null}'"#).expect("a fixture");
        assert_eq!(json.call.state["n"], Json::Null);
        for (text, part) in [
            ("stat = 1", "unknown field `stat`"),
            ("state = 1", "neither a table"),
            ("now = 'soon'", "soon"),
            ("timeout = 'long'", "long"),
            ("[types]\na = 'varchar'", "types.a"),
            ("[expect]\nset = 'a = 1'\nabort = 'x'", "one of"),
        ] {
            let error = parsed(text).expect_err(part);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = std::env::temp_dir().join(format!("wedflow-fixture-{}", std::process::id()));
        let path = folder.join("deep").join("one.toml");
        let call = Call {
            wid: Wid::new(7),
            attempt: 3,
            timeout: Some(Duration::from_millis(1_500)),
            deadline: Some(5),
            state: serde_json::from_str(r#"{"a": null, "n": 12345678901234567890.5, "t": "x\"'y\n"}"#)
                .expect("a state"),
            types: [("a".to_owned(), "enum(a,b)".parse().expect("type"))].into(),
            answers: AnswersFrom::Recording(vec![Answer::Now(3), Answer::Random(u64::MAX)]),
            ..Call::default()
        };
        write_fixture(&path, "as it was", &call, None).expect("written");
        let read = Fixture::read(&path).expect("read").call;
        assert_eq!(
            (read.wid, read.attempt, read.timeout, read.deadline),
            (call.wid, call.attempt, call.timeout, call.deadline)
        );
        assert_eq!((read.state, read.types, read.answers), (call.state, call.types, call.answers));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
