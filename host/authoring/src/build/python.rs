//! Python, by componentize-py.

use std::path::{Path, PathBuf};

use super::{BuildError, Tool, absolute, is_there};
use crate::project::Project;
use crate::sources;

/// The SDK in a project.
const SDK: &str = "vendor/wedflow/guest-sdk/python";

/// Checks that Python is installed.
pub(super) fn check_tools() -> Result<(), BuildError> {
    match is_there("python3") {
        true => Ok(()),
        false => Err(BuildError::Missing {
            what: "Python".to_owned(),
            how: "Install Python 3.11 or later: apt-get install python3 python3-venv".to_owned(),
            installable: false,
        }),
    }
}

pub(super) fn build(project: &Project, install: bool, say: &mut dyn FnMut(&str)) -> Result<PathBuf, BuildError> {
    let folder = &project.folder;
    let own = absolute(&folder.join(".venv/bin/python"));
    let python = if own.is_file() {
        own.clone()
    } else {
        check_tools()?;
        PathBuf::from("python3")
    };
    let has_tool = |python: &Path, say: &mut dyn FnMut(&str)| {
        Tool::new(python, folder, say).args(["-c", "import componentize_py"]).run().is_ok()
    };
    let python = if has_tool(&python, &mut |_| {}) {
        python
    } else if install {
        if !own.is_file() {
            say("making .venv");
            Tool::new("python3", folder, say).args(["-m", "venv", ".venv"]).run()?;
        }
        say("installing componentize-py into .venv");
        Tool::new(&own, folder, say)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args([format!("./{SDK}[build]")])
            .run()?;
        own
    } else {
        return Err(BuildError::Missing {
            what: "componentize-py, which makes components of Python,".to_owned(),
            how: format!(
                "Make it available to the project: python3 -m venv .venv && .venv/bin/pip install './{SDK}[build]'."
            ),
            installable: true,
        });
    };
    check_syntax(project, &python, say)?;
    let made = absolute(&project.component());
    Tool::new(python, folder, say)
        .env("PYTHONPATH", absolute(&folder.join(SDK)))
        .args(["-m", "wedflow.build", "--quiet", ".", "--output"])
        .args([&made])
        .run()?;
    Ok(made)
}

/// Checks the syntax of the project's own files, which takes a moment where the build takes half a minute.
fn check_syntax(project: &Project, python: &Path, say: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
    let files = sources::with_ending(project, &["py"]);
    if files.is_empty() {
        return Ok(());
    }
    Tool::new(python, &project.folder, say)
        .env("PYTHONPYCACHEPREFIX", absolute(&project.folder.join("build/pycache")))
        .args(["-m", "py_compile"])
        .args(files)
        .run()
        .map(|_| ())
}
