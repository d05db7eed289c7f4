//! The command line: what it answers, what it refuses, and how it says so.

mod answers;
mod assistant;
mod components;
mod connecting;
mod exits;
mod flows;
mod hosts;
mod instances;
mod missing;
mod natural;
mod paused;
mod refusals;
mod scheduling;
mod statements;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::support::database::sample_component;
use crate::support::program::{Answer, run, wed};
use crate::support::{Database, Session, on, repository};

/// A database address at which no server answers.
const NOWHERE: &str = "postgres://nobody@127.0.0.1:1/nothing";

/// Definition file with one attribute that one transition raises.
const STEPS: &str = r#"
name = "steps"
description = "Raises a number"
final = "n >= 3"
[[attribute]]
name = "n"
type = "integer"
default = "0"
[[attribute]]
name = "remark"
[[trigger]]
name = "t"
when = "n < 3"
transition = "step"
"#;

/// `wed` on a database of its own, and files for it.
struct Cli {
    database: Arc<Database>,
    files: tempfile::TempDir,
}

impl Cli {
    fn new() -> Self {
        Cli { database: Database::new(), files: tempfile::tempdir().expect("a folder") }
    }

    /// With the flow `steps`.
    fn with_steps() -> Self {
        let cli = Cli::new();
        let file = cli.file("flow.toml", STEPS.as_bytes());
        cli.run(&["flow", "apply", path(&file)]).done();
        cli
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let file = self.files.path().join(name);
        std::fs::write(&file, bytes).expect("written");
        file
    }

    fn run(&self, words: &[&str]) -> Answer {
        run(wed(&self.database.url()).args(words))
    }

    /// The answer for machines.
    #[track_caller]
    fn json(&self, words: &[&str]) -> Json {
        let answer = self.run(&[&["--json"], words].concat()).done();
        let document = answer.json();
        // And people get something else.
        assert!(answer.err.is_empty(), "{words:?}: {answer:?}");
        document
    }

    /// Asserts an exit code, and that people and machines get the same error.
    #[track_caller]
    fn fails(&self, code: i32, words: &[&str]) -> Json {
        let people = self.run(words).exits(code);
        assert!(people.out.is_empty(), "{words:?}: {people:?}");
        says_error(&people);
        let error = self.run(&[&["--json"], words].concat()).exits(code).error();
        assert_eq!(error["exit_code"], code, "{words:?}: {error}");
        let message = error["message"].as_str().expect("a message");
        assert!(people.err.contains(message), "{words:?}: {people:?}");
        // How to mend it, or, in a fragment of SQL, where.
        match error["hint"].as_str() {
            Some(hint) => assert!(people.err.contains(&format!("hint: {hint}")), "{people:?}"),
            None => assert!(error["place"].is_object(), "no hint for {words:?}: {error}"),
        }
        error
    }

    fn flow(&self, name: &str) -> Session {
        let url = on(self.database.store.flow_url("default", name)).expect("its URL");
        Session::on(&self.database, &url)
    }
}

fn path(file: &Path) -> &str {
    file.to_str().expect("a path in UTF-8")
}

fn paper() -> PathBuf {
    sample_component("paper");
    repository("sample-transitions/target/wasm32-wasip2/release/paper.wasm")
}

/// Checks that the answer ends with an error; progress may precede it.
#[track_caller]
fn says_error(answer: &Answer) {
    let said = answer.err.lines().any(|line| line.starts_with("error: "));
    assert!(said, "{answer:?}");
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

/// The document has these keys.
#[track_caller]
fn has(document: &Json, keys: &[&str]) {
    for key in keys {
        assert!(document.get(key).is_some(), "{key} is missing in {document}");
    }
}
