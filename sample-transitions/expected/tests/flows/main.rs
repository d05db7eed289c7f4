//! Every sample's flow, played in the orders in which its transitions may commit, against its
//! `expected.toml`; and every transition's declaration against the flows that use it.
//!
//! The server's rules are played by a small model (`model.rs`), with SQLite for the conditions and the
//! clauses. The server has tests of its own with the same expectations.

mod model;
mod transitions;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::Model;
use sample_expectations::Expected;
use transitions::{Sample, samples};
use wedflow_model::{AttributeType, FlowDefinition, ScalarType};

/// Complete orders of commits that are tried for a run.
const ORDERS: usize = 1_000;

fn directory(sample: &Sample) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(sample.directory)
}

fn flow(path: &Path) -> FlowDefinition {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn flows(sample: &Sample) -> Vec<(PathBuf, FlowDefinition)> {
    let directory = directory(sample);
    let mut paths: Vec<PathBuf> = match fs::read_dir(directory.join("flows")) {
        Ok(entries) => entries.map(|entry| entry.expect("entry").path()).collect(),
        Err(_) => vec![directory.join("flow.toml")],
    };
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let flow = flow(&path);
            (path, flow)
        })
        .collect()
}

fn expected(sample: &Sample) -> Expected {
    let path = directory(sample).join("expected.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    Expected::read(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

#[test]
fn every_sample_of_one_component_is_played() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = fs::read_dir(workspace).expect("the samples");
    let folders = folders.map(|entry| entry.expect("an entry").path());
    let expecting: BTreeSet<String> = folders
        .filter(|folder| folder.join("expected.toml").is_file())
        .filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned()))
        // Its steps are components in five languages: tests/acceptance/samples.rs plays it.
        .filter(|name| name != "order")
        .collect();
    let played = samples().iter().map(|sample| sample.directory.to_owned()).collect();
    assert_eq!(expecting, played);
}

#[test]
fn every_order_of_commits_gives_what_is_expected() {
    for sample in samples() {
        for run in expected(&sample).runs {
            let flow = flow(&directory(&sample).join(&run.flow));
            let model = Model::new(&flow, &sample);
            let mut orders = 0;
            model.play(&run.insert, ORDERS, |rows, order| {
                orders += 1;
                let complaints = run.complaints(rows);
                assert!(
                    complaints.is_empty(),
                    "{}, {:?}, order {order:?}:\n{}\n{rows:#?}",
                    sample.directory,
                    run.name,
                    complaints.join("\n"),
                );
            });
            assert!(orders > 0);
        }
    }
}

#[test]
fn names_of_runs_are_unique_and_every_flow_has_one() {
    for sample in samples() {
        let expected = expected(&sample);
        let names: BTreeSet<&str> = expected.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names.len(), expected.runs.len(), "{}", sample.directory);
        let run: BTreeSet<PathBuf> = expected.runs.iter().map(|run| directory(&sample).join(&run.flow)).collect();
        let written: BTreeSet<PathBuf> = flows(&sample).into_iter().map(|(path, _)| path).collect();
        assert_eq!(run, written, "{}", sample.directory);
    }
}

#[test]
fn declarations_fit_the_flows() {
    for sample in samples() {
        let mut used = BTreeSet::new();
        for (path, flow) in flows(&sample) {
            let kind = |name: &str| {
                flow.attributes
                    .iter()
                    .find(|attribute| attribute.name == name)
                    .map(|attribute| &attribute.kind)
                    .unwrap_or_else(|| panic!("{path:?} has no attribute {name}"))
            };
            for trigger in &flow.triggers {
                let name = trigger.transition.as_str();
                let component = flow.transitions[name].component.as_deref();
                assert_eq!(component, Some(sample.component), "{path:?}, {name}");
                let transition = sample
                    .transitions
                    .iter()
                    .find(|transition| transition.declaration.transition == name)
                    .unwrap_or_else(|| panic!("{path:?}: {} has no {name}", sample.component));
                used.insert(name.to_owned());
                let declaration = &transition.declaration;
                assert!(!declaration.description.is_empty(), "{name}");
                let reads = declaration.reads.as_ref().expect("declared reads");
                let writes = declaration.writes.as_ref().expect("declared writes");
                for attribute in reads.iter().chain(writes) {
                    assert!(
                        accepts(&attribute.kind, kind(&attribute.name)),
                        "{path:?}: {name} takes {} for {}",
                        attribute.name,
                        attribute.kind
                    );
                }
                if let Some(allowed) = &trigger.writes {
                    let declared: BTreeSet<&str> = writes.iter().map(|write| write.name.as_str()).collect();
                    let allowed: BTreeSet<&str> = allowed.iter().map(String::as_str).collect();
                    assert_eq!(allowed, declared, "{path:?}: {name}");
                }
            }
            for name in flow.transitions.keys() {
                assert!(flow.triggers.iter().any(|t| t.transition == *name), "{path:?}: nothing fires {name}");
            }
        }
        let declared: BTreeSet<String> =
            sample.transitions.iter().map(|transition| transition.declaration.transition.clone()).collect();
        assert_eq!(used, declared, "{}", sample.directory);
    }
}

/// Returns whether a declared type fits an attribute's: `text` also accepts an enum.
fn accepts(declared: &str, actual: &AttributeType) -> bool {
    let declared: AttributeType = declared.parse().expect("a type");
    declared == *actual
        || (declared.array == actual.array
            && declared.scalar == ScalarType::Text
            && matches!(actual.scalar, ScalarType::Enum(_)))
}
