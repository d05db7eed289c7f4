//! Guests of tests: each has a test that names it, so that none is built for nothing.

use std::path::{Path, PathBuf};

use crate::support::repository;

/// Folders whose Rust sources hold tests of guests.
const TESTED_IN: [&str; 4] = ["tests/acceptance", "tests/conformance", "host", "bench"];

/// Crates whose `run` chooses by the transition's name.
const BY_NAME: [&str; 2] = [
    "tests/guests/hostile/src/lib.rs",
    "tests/guests/ordinary/src/lib.rs",
];

/// Appends the files below `folder` with this extension, build output left out.
fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if !path.ends_with("target") {
                collect(&path, extension, found);
            }
        } else if path.extension().is_some_and(|one| one == extension) {
            found.push(path);
        }
    }
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&repository(folder), extension, &mut found);
    found
}

/// Returns the source of all tests, this file left out.
fn tests() -> String {
    let sources = TESTED_IN.iter().flat_map(|folder| files(folder, "rs"));
    sources
        .filter(|path| !path.ends_with("acceptance/guests.rs"))
        .map(|path| std::fs::read_to_string(path).expect("a source file"))
        .collect()
}

fn assert_named(what: &str, names: &[String]) {
    let tests = tests();
    let unnamed: Vec<&String> = names
        .iter()
        .filter(|name| !tests.contains(&format!("\"{name}\"")))
        .collect();
    assert!(!names.is_empty(), "no {what} found");
    assert!(unnamed.is_empty(), "{what} without a test: {unnamed:?}");
}

#[harness::test]
fn each_fault_has_a_test() {
    let stem = |path: &PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let names: Vec<String> = files("tests/guests/faults", "wat")
        .iter()
        .filter_map(stem)
        .collect();
    assert_named("faults", &names);
}

#[harness::test]
fn each_transition_of_the_tests_guests_has_a_test() {
    let mut names = Vec::new();
    for file in BY_NAME {
        let source = std::fs::read_to_string(repository(file)).expect("the guest");
        let (_, run) = source.split_once("fn run(").expect("its `run`");
        let run = run.split("\n    }\n").next().unwrap_or(run);
        // Arms of the match on the transition's name: `"a" => …`, `"a" | "b" => …`.
        let arms = run
            .lines()
            .filter(|line| line.starts_with("            \""));
        for arm in arms.filter_map(|line| line.split_once(" =>")) {
            names.extend(
                arm.0
                    .split('|')
                    .map(|name| name.trim().trim_matches('"').to_owned()),
            );
        }
    }
    assert_named("transitions", &names);
}

#[harness::test]
fn each_sample_has_a_test() {
    let manifest =
        std::fs::read_to_string(repository("sample-transitions/Cargo.toml")).expect("the manifest");
    let manifest: toml::Table = toml::from_str(&manifest).expect("TOML");
    let members = manifest["workspace"]["members"]
        .as_array()
        .expect("members");
    let names: Vec<String> = members
        .iter()
        .filter_map(toml::Value::as_str)
        .filter_map(|member| member.split('/').next())
        // The crate that reads expected.toml is no sample.
        .filter(|member| *member != "expected")
        .map(str::to_owned)
        .collect();
    assert_named("samples", &names);
}
