//! C, by clang and lld.

use std::path::PathBuf;

use super::{BuildError, Tool, absolute, core_module, encoded, is_there};
use crate::project::Project;

/// The SDK's header in a project.
const HEADERS: &str = "vendor/wedflow/guest-sdk/c/include";

/// Checks that the compiler and the linker are installed.
pub(super) fn check_tools() -> Result<(), BuildError> {
    for program in ["clang", "wasm-ld"] {
        if !is_there(program) {
            return Err(BuildError::Missing {
                what: program.to_owned(),
                how: "Run `apt-get install clang lld`.".to_owned(),
                installable: false,
            });
        }
    }
    Ok(())
}

pub(super) fn build(project: &Project, say: &mut dyn FnMut(&str)) -> Result<PathBuf, BuildError> {
    check_tools()?;
    let source = project.folder.join("src");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&source)
        .map_err(|error| BuildError::System { what: format!("{} cannot be read", source.display()), source: error })?
        .flatten()
        .map(|entry| absolute(&entry.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "c"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(BuildError::NoComponent(format!("there is no .c file in {}", source.display())));
    }
    let core = core_module(project)?;
    Tool::new("clang", &project.folder, say)
        .args(["--target=wasm32", "-std=c11", "-Wall", "-Wextra", "-O2", "-nostdlib"])
        .args([format!("-I{HEADERS}")])
        .args(["-Wl,--no-entry", "-Wl,--stack-first", "-Wl,-z,stack-size=65536", "-o"])
        .args([&core])
        .args(&files)
        .run()?;
    encoded(project, &core)
}
