//! JavaScript and TypeScript, by componentize-js.

use std::path::PathBuf;

use super::{BuildError, Tool, absolute, is_there};
use crate::project::Project;
use crate::sources;

/// The SDK in a project.
const SDK: &str = "vendor/wedflow/guest-sdk/js";

/// Checks that Node.js is installed.
pub(super) fn check_tools() -> Result<(), BuildError> {
    match is_there("node") {
        true => Ok(()),
        false => Err(BuildError::Missing {
            what: "Node.js".to_owned(),
            how: "Install Node.js 18 or later: apt-get install nodejs npm".to_owned(),
            installable: false,
        }),
    }
}

pub(super) fn build(project: &Project, install: bool, say: &mut dyn FnMut(&str)) -> Result<PathBuf, BuildError> {
    let folder = &project.folder;
    check_tools()?;
    let sdk = folder.join(SDK);
    let tool = sdk.join("node_modules/@bytecodealliance/componentize-js");
    if !tool.is_dir() {
        if !install || !is_there("npm") {
            return Err(BuildError::Missing {
                what: "componentize-js, which makes components of JavaScript,".to_owned(),
                how: if is_there("npm") {
                    format!("Run `npm ci --omit=dev` in {SDK}.")
                } else {
                    "Install npm: apt-get install npm".to_owned()
                },
                installable: is_there("npm"),
            });
        }
        say("installing componentize-js");
        Tool::new("npm", &sdk, say).args(["ci", "--omit=dev", "--no-audit", "--no-fund"]).run()?;
    }
    // TypeScript is looked at by the build itself.
    for file in sources::with_ending(project, &["js", "mjs"]) {
        Tool::new("node", folder, say).args([PathBuf::from("--check"), file]).run()?;
    }
    let made = absolute(&project.component());
    Tool::new("node", folder, say)
        .args([format!("{SDK}/bin/wedflow-build.js"), ".".to_owned()])
        .args(["--quiet", "--output"])
        .args([&made])
        .run()?;
    Ok(made)
}
