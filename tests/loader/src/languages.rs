//! The guests in each language: what builds them, and their components, kept by their inputs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

/// The repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A language that has an SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Rust.
    Rust,
    /// C.
    C,
    /// Go.
    Go,
    /// JavaScript.
    JavaScript,
    /// Python.
    Python,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 5] = [Language::Rust, Language::C, Language::Go, Language::JavaScript, Language::Python];

    /// Returns its name in tests, in folders and in a manifest's `sdk`.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::C => "c",
            Language::Go => "go",
            Language::JavaScript => "js",
            Language::Python => "python",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Types that an attribute may have, without arrays.
const ATTRIBUTE_TYPES: [&str; 12] = [
    "text",
    "enum(new,paid)",
    "integer",
    "bigint",
    "numeric",
    "float",
    "boolean",
    "timestamptz",
    "date",
    "interval",
    "uuid",
    "jsonb",
];

/// Lists the attributes of the conformance guest's flow, name and type: `a_…` of each type, then `l_…`, its array.
pub fn conformance_attributes() -> Vec<(String, String)> {
    let all = [("a_", ""), ("l_", "[]")].into_iter();
    all.flat_map(|(prefix, suffix)| {
        ATTRIBUTE_TYPES.map(|kind| {
            let name = kind.split('(').next().unwrap_or(kind);
            (format!("{prefix}{name}"), format!("{kind}{suffix}"))
        })
    })
    .collect()
}

/// The kind of a language's guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Of `tests/guests/conformance`.
    Conformance,
    /// Of `tests/guests/outside`.
    Outside,
}

impl Which {
    /// Returns its name, in folders and files.
    fn name(self) -> &'static str {
        match self {
            Which::Conformance => "conformance",
            Which::Outside => "outside",
        }
    }

    fn folder(self, language: Language) -> PathBuf {
        Path::new(ROOT).join("tests/guests").join(self.name()).join(language.name())
    }
}

/// A built guest.
#[derive(Debug, Clone)]
pub struct Guest {
    /// The component.
    pub bytes: Vec<u8>,
    /// The time that building took, if it was built.
    pub built: Duration,
}

/// Why there is no guest.
#[derive(Debug, Clone)]
pub enum Absent {
    /// A tool for building is not on this machine; its name, and the way to get it.
    Tool(String),
    /// The guest does not build.
    Broken(String),
}

/// Returns what is missing to build a language's guest; none when nothing is.
pub fn missing(language: Language) -> Option<String> {
    let runs = |program: &Path, argument: &str| {
        Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
    };
    let sdk = |path: &str| Path::new(ROOT).join("guest-sdk").join(path);
    match language {
        Language::Rust => (!Path::new(ROOT).join("tests/guests/conformance/rust").exists()).then(|| "its guest".into()),
        Language::C => {
            let there = runs(Path::new("clang"), "--version") && runs(Path::new("wasm-ld"), "--version");
            (!there).then(|| "clang and lld (apt-get install clang lld)".into())
        }
        Language::Go => (!runs(&go(), "version")).then(|| "Go 1.24 or later".into()),
        Language::JavaScript => (!sdk("js/node_modules/.package-lock.json").exists()
            || !runs(Path::new("node"), "--version"))
        .then(|| "node and the packages of guest-sdk/js (npm ci in that folder)".into()),
        Language::Python => (!runs(&python(), "--version") || !componentize_py()).then(|| {
            "componentize-py (python3 -m venv guest-sdk/python/.venv, then its pip install -r \
                guest-sdk/python/requirements.txt)"
                .into()
        }),
    }
}

/// Returns what a language's component is built with, for people.
pub fn tool(language: Language) -> String {
    let said = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        let text = output.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
        text.lines().next().unwrap_or_default().to_owned()
    };
    let python_version = "import importlib.metadata as m; print('componentize-py', m.version('componentize-py'))";
    match language {
        Language::Rust => said(Path::new("rustc"), &["--version"]),
        Language::C => said(Path::new("clang"), &["--version"]),
        Language::Go => said(&go(), &["version"]),
        Language::JavaScript => "componentize-js 0.23.0".to_owned(),
        Language::Python => said(&python(), &["-c", python_version]),
    }
}

/// The interpreter that has componentize-py.
fn python() -> PathBuf {
    Path::new(ROOT).join("guest-sdk/python/.venv/bin/python")
}

fn componentize_py() -> bool {
    Command::new(python()).args(["-c", "import componentize_py"]).output().is_ok_and(|output| output.status.success())
}

fn go() -> PathBuf {
    let usual = Path::new("/usr/local/go/bin/go");
    if usual.exists() { usual.into() } else { "go".into() }
}

/// A language's guest, built once a process, and not at all when nothing has changed since.
///
/// # Errors
/// [`Absent`] when a tool is missing, or the guest does not build.
pub fn guest(language: Language, which: Which) -> Result<Guest, Absent> {
    type Built = Mutex<Vec<((Language, Which), Result<Guest, Absent>)>>;
    static GUESTS: OnceLock<Built> = OnceLock::new();
    // One at a time: each takes every processor.
    let mut guests = GUESTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = guests.iter().find(|(one, _)| *one == (language, which)) {
        return known.clone();
    }
    let made = match missing(language) {
        Some(what) => Err(Absent::Tool(what)),
        None => kept(language, which).map_err(Absent::Broken),
    };
    guests.push(((language, which), made.clone()));
    made
}

fn kept(language: Language, which: Which) -> Result<Guest, String> {
    let store = &Path::new(ROOT).join("target/tmp");
    let digest = inputs(language, which)?;
    let file = store.join(format!("{}-{language}-{digest}.wasm", which.name()));
    let time = file.with_extension("ms");
    if let Ok(bytes) = std::fs::read(&file) {
        let millis = std::fs::read_to_string(&time).ok().and_then(|text| text.parse().ok());
        return Ok(Guest { bytes, built: Duration::from_millis(millis.unwrap_or_default()) });
    }
    let begun = Instant::now();
    let bytes = build(language, which)?;
    let built = begun.elapsed();
    let write = |path: &Path, content: &[u8]| {
        std::fs::create_dir_all(store)
            .and_then(|()| std::fs::write(path, content))
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    write(&time, built.as_millis().to_string().as_bytes())?;
    write(&file, &bytes)?;
    Ok(Guest { bytes, built })
}

/// Returns a digest of all source files of the guest.
fn inputs(language: Language, which: Which) -> Result<String, String> {
    let mut files = [
        "wit/transition.wit",
        "host/authoring/src/encode.rs",
        "host/authoring/src/segments.rs",
        "host/sandbox/src/initialise.rs",
        "host/authoring/src/preview1.wat",
    ]
    .map(|file| Path::new(ROOT).join(file))
    .to_vec();
    for folder in [Path::new(ROOT).join("guest-sdk").join(language.name()), which.folder(language)] {
        walk(&folder, &mut files).map_err(|error| error.to_string())?;
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        hash.update(file.to_string_lossy().as_bytes());
        hash.update(std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?);
    }
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    /// Folders that are generated.
    const MADE: [&str; 6] = ["target", "dist", "node_modules", ".venv", "__pycache__", ".pytest_cache"];
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| MADE.iter().any(|made| name == *made)) {
            continue;
        }
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn build(language: Language, which: Which) -> Result<Vec<u8>, String> {
    let (source, name) = (which.folder(language), which.name());
    let work = tempfile::tempdir().map_err(|error| error.to_string())?;
    let out = work.path().join("made.wasm");
    match language {
        Language::Rust => {
            let target = "wasm32-wasip2";
            run(Command::new(env!("CARGO"))
                .args(["build", "--release", "--locked", "--target", target, "--target-dir"])
                .arg(source.join("target"))
                .current_dir(&source)
                .env_remove("CARGO_ENCODED_RUSTFLAGS")
                .env_remove("RUSTFLAGS"))?;
            return read(&source.join("target").join(target).join(format!("release/{name}.wasm")));
        }
        Language::C => {
            run(Command::new("clang")
                .args(["--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-Wl,-z,stack-size=65536", "-I"])
                .arg(Path::new(ROOT).join("guest-sdk/c/include"))
                .arg(source.join(format!("{name}.c")))
                .arg("-o")
                .arg(&out))?;
            return encode(&read(&out)?);
        }
        Language::Go => {
            run(Command::new(go())
                .args(["build", "-buildmode=c-shared", "-ldflags=-s -w", "-o"])
                .arg(&out)
                .arg(".")
                .env("GOOS", "wasip1")
                .env("GOARCH", "wasm")
                .current_dir(&source))?;
            return encode(&read(&out)?);
        }
        Language::JavaScript => run(Command::new("node")
            .arg(Path::new(ROOT).join("guest-sdk/js/bin/wedflow-build.js"))
            .arg(&source)
            .arg("--output")
            .arg(&out))?,
        Language::Python => run(Command::new(python())
            .args(["-m", "wedflow.build"])
            .arg(&source)
            .arg("--output")
            .arg(&out)
            .env("PYTHONPATH", Path::new(ROOT).join("guest-sdk/python")))?,
    }
    read(&out)
}

fn encode(module: &[u8]) -> Result<Vec<u8>, String> {
    wedflow_authoring::encode(module).map_err(|error| error.to_string())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{command:?} ended with {}:\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}
