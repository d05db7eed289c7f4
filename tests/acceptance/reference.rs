//! The reference pages: generated ones are what the code says, hand-written ones name all that the code has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use wedflow_model::Limits;

use crate::support::program::{run, wed};
use crate::support::repository;

/// Set by `make reference`, which writes the generated pages instead of comparing them.
const WRITE: &str = "WEDFLOW_WRITE_REFERENCE";

/// A database that no command here asks for.
const NOWHERE: &str = "postgres://nobody@127.0.0.1:1/nothing";

/// Compares a generated page with the file, or writes it.
fn generated(name: &str, text: &str) {
    let path = repository("docs/reference").join(name);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, text).expect("the page is written");
        return;
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        page == text,
        "docs/reference/{name} is not what the code says (first difference: {differs:?}); `make reference` writes it"
    );
}

#[harness::test]
fn the_page_of_commands_is_what_the_program_prints() {
    let printed = run(wed(NOWHERE).arg("reference")).done();
    generated("commands.md", &printed.out);
}

/// Compares a generated part of a repository's file with what it should be, or writes it.
fn generated_file(path: &str, text: &str) {
    let path = repository(path);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, text).expect("the file is written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        found == text,
        "{} is not what the code says (first difference: {differs:?}); `make reference` writes it",
        path.display()
    );
}

/// The guard's table is one: what the database judges by and what the page about conditions lists is written from it.
#[harness::test]
fn the_rules_of_the_database_are_those_of_the_guard() {
    use wedflow_guard::rules;
    generated_file(
        "migrations/functions/condition/allow.sql",
        &rules::allowed_calls(),
    );
    generated_file(
        "migrations/functions/bounded/table.sql",
        &rules::bounded_calls(),
    );
    let path = "docs/reference/conditions.md";
    let page = std::fs::read_to_string(repository(path)).expect("the page");
    let (begin, end) = ("<!-- lists: begin -->\n", "<!-- lists: end -->");
    let (before, rest) = page.split_once(begin).expect("the lists begin");
    let (_, after) = rest.split_once(end).expect("the lists end");
    generated_file(
        path,
        &format!("{before}{begin}{}{end}{after}", rules::reference()),
    );
}

/// The fields of a struct in a source file: name, and the doc comment as one line.
fn fields_of(source: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let mut comment = String::new();
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
        } else if let Some((name, _)) = line
            .strip_prefix("pub ")
            .and_then(|rest| rest.split_once(": "))
        {
            fields.push((name.to_owned(), comment.trim().to_owned()));
            comment.clear();
        } else {
            comment.clear();
        }
    }
    fields
}

#[harness::test]
fn the_page_of_limits_is_what_the_code_says() {
    let source =
        std::fs::read_to_string(repository("host/model/src/limits.rs")).expect("limits.rs");
    let values = serde_json::to_value(Limits::default()).expect("limits are JSON");
    let fields = fields_of(&source);
    assert_eq!(
        Some(fields.len()),
        values.as_object().map(serde_json::Map::len)
    );
    let rows = fields
        .iter()
        .map(|(name, text)| format!("| `{name}` | {} | {text} |\n", values[name.as_str()]));
    let page = format!(
        "# Limits of an attempt\n\nThis page is generated from `host/model/src/limits.rs` by `make reference`. \
         A manifest may lower `fuel` and `memory_bytes`\nfor a transition; its time limit is the trigger's `timeout`. \
         Quotas of tenants: [tenants](tenants.md#quotas).\n\n\
         | limit | default | meaning |\n| --- | ---: | --- |\n{}",
        rows.collect::<String>()
    );
    generated("limits.md", &page);
}

/// The source files below some folders of the repository.
fn sources(folders: &[&str], extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| repository(folder)).collect();
    while let Some(path) = open.pop() {
        let skipped = path
            .file_name()
            .is_some_and(|name| name == "target" || name == "tests");
        if path.is_dir() && !skipped {
            let inside = std::fs::read_dir(&path).expect("a folder");
            open.extend(inside.map(|entry| entry.expect("an entry").path()));
        } else if has_extension(&path, extensions) {
            found.push(path);
        }
    }
    found
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| extensions.contains(&extension))
}

/// The words of a text that begin so and go on with capitals, digits and `_`.
fn words_from(text: &str, beginning: &str) -> BTreeSet<String> {
    text.match_indices(beginning)
        .filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        .map(|(at, _)| {
            text[at..]
                .chars()
                .take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_')
                .collect()
        })
        .collect()
}

/// The words with this beginning in the source, each with a file that has it.
fn words_of_source(
    folders: &[&str],
    extensions: &[&str],
    beginning: &str,
) -> BTreeMap<String, PathBuf> {
    let mut words = BTreeMap::new();
    for path in sources(folders, extensions) {
        let text = std::fs::read_to_string(&path).expect("a source file");
        words.extend(
            words_from(&text, beginning)
                .into_iter()
                .map(|word| (word, path.clone())),
        );
    }
    words
}

#[harness::test]
fn each_code_of_an_error_is_on_its_page() {
    let is_code = |word: &str| word.len() == 5 && word[2..].bytes().all(|b| b.is_ascii_digit());
    let page = std::fs::read_to_string(repository("docs/reference/errors.md")).expect("the page");
    let told = words_from(&page, "WF");
    let known = words_of_source(&["migrations", "host"], &["sql", "rs"], "WF");
    for (code, file) in known.iter().filter(|(code, _)| is_code(code)) {
        assert!(
            told.contains(code),
            "{code} of {} is not in docs/reference/errors.md",
            file.display()
        );
    }
    for code in told.iter().filter(|code| is_code(code)) {
        assert!(
            known.contains_key(code),
            "{code} is in docs/reference/errors.md and nowhere else"
        );
    }
}

#[harness::test]
fn each_variable_of_the_environment_is_on_its_page() {
    let page =
        std::fs::read_to_string(repository("docs/reference/environment.md")).expect("the page");
    let told = words_from(&page, "WEDFLOW_");
    let known = words_of_source(&["host"], &["rs"], "WEDFLOW_");
    for (variable, file) in &known {
        assert!(
            told.contains(variable),
            "{variable} of {} is not in docs/reference/environment.md",
            file.display()
        );
    }
    for variable in &told {
        assert!(
            known.contains_key(variable),
            "{variable} is on the page and in no source"
        );
    }
}
