//! Go, by its ordinary toolchain.

use std::path::PathBuf;

use super::{BuildError, Tool, core_module, encoded, is_there};
use crate::project::Project;

/// The folder where Go's own archive installs it, which is not always in the path.
const USUAL: &str = "/usr/local/go/bin/go";

/// Finds Go's tool.
pub(super) fn check_tools() -> Result<&'static str, BuildError> {
    let go = if is_there("go") { "go" } else { USUAL };
    if go == USUAL && !PathBuf::from(USUAL).is_file() {
        return Err(BuildError::Missing {
            what: "Go".to_owned(),
            how: "Install Go 1.24 or later: https://go.dev/dl".to_owned(),
            installable: false,
        });
    }
    Ok(go)
}

pub(super) fn build(project: &Project, say: &mut dyn FnMut(&str)) -> Result<PathBuf, BuildError> {
    let go = check_tools()?;
    let core = core_module(project)?;
    Tool::new(go, &project.folder, say)
        .env("GOOS", "wasip1")
        .env("GOARCH", "wasm")
        // `vendor` holds the SDK, not what Go means by a folder of that name.
        .args(["build", "-mod=mod", "-buildmode=c-shared", "-ldflags=-s -w", "-o"])
        .args([&core])
        .args(["."])
        .run()?;
    encoded(project, &core)
}
