//! Rust, by cargo.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{BuildError, Tool, is_there};
use crate::project::Project;

/// The target that makes components.
const TARGET: &str = "wasm32-wasip2";

/// Cargo's message about a file that it made.
#[derive(Deserialize)]
struct Artifact {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// Checks that cargo and the target are installed; installs the target if asked to.
pub(super) fn check_tools(folder: &Path, install: bool, say: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
    if !is_there("cargo") {
        return Err(BuildError::Missing {
            what: "Rust's tool cargo".to_owned(),
            how: "Install Rust's stable toolchain with rustup: https://rustup.rs".to_owned(),
            installable: false,
        });
    }
    let sysroot = Tool::new("rustc", folder, say).args(["--print", "sysroot"]).run()?;
    let has_target = Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).is_dir();
    if !has_target {
        if !install || !is_there("rustup") {
            return Err(BuildError::Missing {
                what: format!("the Rust target {TARGET}"),
                how: format!("Run `rustup target add {TARGET}`."),
                installable: is_there("rustup"),
            });
        }
        say(&format!("installing the Rust target {TARGET}"));
        Tool::new("rustup", folder, say).args(["target", "add", TARGET]).run()?;
    }
    Ok(())
}

pub(super) fn build(project: &Project, install: bool, say: &mut dyn FnMut(&str)) -> Result<PathBuf, BuildError> {
    let folder = &project.folder;
    check_tools(folder, install, say)?;
    let printed = Tool::new("cargo", folder, say)
        .args(["build", "--release", "--target", TARGET])
        .args(["--message-format", "json-render-diagnostics"])
        .run()?;
    let own = folder.join("Cargo.toml");
    let own = own.canonicalize().unwrap_or(own);
    printed
        .lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
        .filter(|message| message.manifest_path.canonicalize().is_ok_and(|path| path == own))
        .flat_map(|message| message.filenames)
        .find(|file| file.extension().is_some_and(|end| end == "wasm"))
        .ok_or_else(|| {
            BuildError::NoComponent(
                "cargo made no .wasm file; Cargo.toml needs [lib] with crate-type = [\"cdylib\"]".to_owned(),
            )
        })
}
