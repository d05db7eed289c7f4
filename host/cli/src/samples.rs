//! The sample transitions: those of the source's folder, else those that are embedded, and the runs of a demo.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use tempfile::TempDir;

use crate::problem::Problem;

/// The samples, in the order in which they are listed.
pub(crate) const SAMPLES: [(&str, &str); 7] = [
    ("paper", "the papers' flow: two transitions side by side, and a third that waits for both"),
    ("counters", "three triggers that fire themselves again until their counters are full"),
    ("random-walk", "one transition with two competing implementations"),
    ("patterns", "seven workflow patterns"),
    ("travel", "a hotel and a ticket in parallel; one fails and the other is cancelled"),
    ("book-sale", "an order through eleven triggers with declared write sets"),
    ("order", "an order whose steps are in Rust, Go, Python, JavaScript and C; one that fails is compensated"),
];

/// Files of the embedded samples, by their paths below the samples' folder.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/samples.rs"));

/// A sample.
#[derive(Debug)]
pub(crate) struct Sample {
    /// Built components with their names in its flows' bindings.
    pub(crate) components: Vec<(String, PathBuf)>,
    /// Instances that its demo runs.
    pub(crate) runs: Vec<Run>,
    folder: PathBuf,
    /// Guard of the folder of an embedded sample.
    _unpacked: Option<TempDir>,
}

/// Instance of a demo.
#[derive(Debug, Deserialize)]
pub(crate) struct Run {
    /// Subject of the demo.
    pub(crate) name: String,
    /// The definition, relative to the sample's folder.
    #[serde(default = "only_flow")]
    pub(crate) flow: PathBuf,
    /// Initial values besides the defaults.
    #[serde(default)]
    pub(crate) insert: Map<String, Json>,
    /// Expected end: `F` final, `E` exception.
    status: String,
}

/// `components.toml`: the components of a sample that has several.
#[derive(Deserialize)]
struct Components {
    component: Vec<OneOfSeveral>,
}

#[derive(Deserialize)]
struct OneOfSeveral {
    name: String,
    /// Programming language.
    language: String,
    /// Tools that building takes.
    needs: String,
}

#[derive(Deserialize)]
struct Expected {
    run: Vec<Run>,
}

fn only_flow() -> PathBuf {
    PathBuf::from("flow.toml")
}

impl Sample {
    /// Opens one of the [`SAMPLES`].
    pub(crate) fn open(name: &str, folder: Option<&Path>) -> Result<Self, Problem> {
        let (samples, unpacked) = match folder.map(Path::to_owned).or_else(find) {
            Some(folder) => (folder, None),
            None => {
                let unpacked = unpack(name)?;
                (unpacked.path().to_owned(), Some(unpacked))
            }
        };
        let folder = samples.join(name);
        let components = components(&samples, name)?;
        let path = folder.join("expected.toml");
        let text = std::fs::read_to_string(&path)
            .map_err(|source| Problem::new(format!("{} cannot be read", path.display())).because(source))?;
        let Expected { mut run } = toml::from_str(&text)
            .map_err(|source| Problem::new(format!("{} is damaged", path.display())).because(source))?;
        // A demo shows how things go; how they fail is for the tests.
        run.retain(|run| run.status == "F");
        // These show one thing; their other runs are for the tests.
        if matches!(name, "paper" | "counters" | "random-walk") {
            run.truncate(1);
        }
        Ok(Sample { components, runs: run, folder, _unpacked: unpacked })
    }

    /// The path of a run's definition.
    pub(crate) fn definition(&self, run: &Run) -> PathBuf {
        self.folder.join(&run.flow)
    }
}

/// The built components of a sample, by name.
fn components(samples: &Path, name: &str) -> Result<Vec<(String, PathBuf)>, Problem> {
    let folder = samples.join(name);
    let path = folder.join("components.toml");
    let Ok(text) = std::fs::read_to_string(&path) else {
        let component = name.replace('-', "_");
        let file = samples.join("target/wasm32-wasip2/release").join(format!("{component}.wasm"));
        return if file.is_file() {
            Ok(vec![(component, file)])
        } else {
            Err(Problem::new(format!("{} is not built", file.display()))
                .exit(3)
                .hint("`make samples` builds the sample transitions."))
        };
    };
    let Components { component } = toml::from_str(&text)
        .map_err(|source| Problem::new(format!("{} is damaged", path.display())).because(source))?;
    let file = |one: &OneOfSeveral| folder.join("dist").join(format!("{}.wasm", one.name));
    let missing: Vec<_> = component.iter().filter(|one| !file(one).is_file()).collect();
    if missing.is_empty() {
        return Ok(component.iter().map(|one| (one.name.clone(), file(one))).collect());
    }
    let languages: Vec<&str> = missing.iter().map(|one| one.language.as_str()).collect();
    let needs: Vec<String> = missing.iter().map(|one| format!("{} needs {}", one.language, one.needs)).collect();
    Err(Problem::new(format!("the steps of \"{name}\" in {} are not built", languages.join(", ")))
        .exit(3)
        .hint(format!("`scripts/order.sh` builds what this machine has the languages for. {}.", needs.join("; "))))
}

/// Writes an embedded sample's files into a folder that is removed with the sample.
fn unpack(name: &str) -> Result<TempDir, Problem> {
    let component = format!("/{}.wasm", name.replace('-', "_"));
    let prefix = format!("{name}/");
    let files: Vec<_> =
        (EMBEDDED.iter()).filter(|(path, _)| path.starts_with(&prefix) || path.ends_with(&component)).collect();
    if files.is_empty() {
        return Err(Problem::new(format!("this wed was built without the sample \"{name}\""))
            .exit(3)
            .hint("`wed demo paper` is part of every package. For this sample run wed below the source's folder."));
    }
    let cannot = |source| Problem::new("the sample cannot be unpacked").because(source);
    let folder = tempfile::tempdir().map_err(cannot)?;
    for (path, bytes) in files {
        let path = folder.path().join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(cannot)?;
        }
        std::fs::write(&path, bytes).map_err(cannot)?;
    }
    Ok(folder)
}

/// The samples' folder, above the working folder or the binary.
fn find() -> Option<PathBuf> {
    let starts = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    starts.into_iter().flatten().find_map(|start| {
        start
            .ancestors()
            .map(|folder| folder.join("sample-transitions"))
            .find(|folder| folder.join("Cargo.toml").is_file())
    })
}
