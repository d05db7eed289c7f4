//! Guests of tests, and samples: each has a test that names it, so that none is built for nothing. They are found in
//! their folders.

use std::path::{Path, PathBuf};

use crate::support::repository;

/// Folder of the guests.
const GUESTS: &str = "tests/guests";

/// Folder of the samples.
const SAMPLES: &str = "sample-transitions";

/// Folders whose Rust sources hold tests of guests.
const TESTED_IN: [&str; 4] = ["tests/acceptance", "tests/conformance", "host", "bench"];

/// Lists the folders in a folder of the repository, without hidden ones and build output.
fn folders(folder: &str) -> Vec<PathBuf> {
    let mut found = children(&repository(folder));
    found.retain(|path| {
        let name = name_of(path);
        path.is_dir() && name != "target" && !name.starts_with('.')
    });
    found.sort();
    found
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Returns the last part of a path, without its extension.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or_default().to_owned()
}

/// Appends the Rust sources below `folder`, build output left out.
fn collect_sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in children(folder) {
        if path.is_dir() {
            if !path.ends_with("target") {
                collect_sources(&path, found);
            }
        } else if path.extension().is_some_and(|one| one == "rs") {
            found.push(path);
        }
    }
}

/// Returns the source of all tests, this file left out.
fn tests() -> String {
    let mut sources = Vec::new();
    for folder in TESTED_IN {
        collect_sources(&repository(folder), &mut sources);
    }
    sources.retain(|path| !path.ends_with("acceptance/guests.rs"));
    let texts = sources.into_iter().map(std::fs::read_to_string);
    texts.map(|text| text.expect("a source file")).collect()
}

fn assert_named(what: &str, names: &[String]) {
    let tests = tests();
    let unnamed: Vec<&String> = names.iter().filter(|name| !tests.contains(&format!("\"{name}\""))).collect();
    assert!(!names.is_empty(), "no {what} found");
    assert!(unnamed.is_empty(), "{what} without a test: {unnamed:?}");
}

/// Lists the arms of a guest's matches on the transition's name: `"a" => …`, `"a" | "b" => …`.
fn arms_of(source: &Path) -> Vec<String> {
    let source = std::fs::read_to_string(source).expect("the guest");
    let mut names = Vec::new();
    // Indent of the arms, inside of such a match.
    let mut indent = None;
    for line in source.lines() {
        let column = line.len() - line.trim_start().len();
        if line.contains("match payload.transition.as_str() {") {
            indent = Some(column + 4);
        } else if !line.is_empty() && indent.is_some_and(|indent| column < indent) {
            indent = None;
        } else if indent == Some(column)
            && let Some((arm, _)) = line.split_once(" =>")
        {
            let arms = arm.split('|').map(str::trim);
            let quoted = arms.filter(|name| name.starts_with('"'));
            names.extend(quoted.map(|name| name.trim_matches('"').to_owned()));
        }
    }
    names
}

/// Lists the transitions that the table of a description names: the first column of its first table.
fn described_in(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("the description");
    let table = text.lines().skip_while(|line| !line.starts_with("| --- ")).skip(1);
    let rows = table.map_while(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).map(str::to_owned).collect()
}

/// Lists the names of a guests' folder that tests must name: core modules in text, the transitions of a crate, or those
/// that a guest in every language has.
fn names_in(folder: &Path) -> Vec<String> {
    let source = folder.join("src/lib.rs");
    let described = folder.join("BEHAVIOURS.md");
    if source.is_file() {
        return arms_of(&source);
    }
    if described.is_file() {
        return described_in(&described);
    }
    let modules = children(folder).into_iter();
    modules.filter(|path| path.extension().is_some_and(|end| end == "wat")).map(|path| name_of(&path)).collect()
}

#[harness::test]
fn each_guest_has_a_test() {
    let folders = folders(GUESTS);
    assert!(folders.len() >= 5, "{folders:?}");
    for folder in folders {
        assert_named(&format!("of {}", folder.display()), &names_in(&folder));
    }
}

#[harness::test]
fn each_sample_has_a_test() {
    let names: Vec<String> = folders(SAMPLES)
        .iter()
        .map(|folder| name_of(folder))
        // The crate that reads expected.toml is no sample.
        .filter(|name| name != "expected")
        .collect();
    assert_named("samples", &names);
    let steps = std::fs::read_to_string(repository(SAMPLES).join("order/components.toml"));
    let steps: toml::Table = toml::from_str(&steps.expect("the components")).expect("TOML");
    let names = steps["component"].as_array().expect("components").iter();
    let names: Vec<String> =
        names.filter_map(|one| one["name"].as_str()?.strip_prefix("order_")).map(str::to_owned).collect();
    assert_named("steps of the sample order", &names);
}
