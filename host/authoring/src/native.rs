//! Native tests of a project, run by its language's own tool: no component is built, no sandbox is set up.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::build::{BuildError, Tool, absolute, check_tools, go_program};
use crate::project::{Language, Project};

/// Native tests that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeTests {
    /// Output of the language's tool.
    pub output: String,
    /// Duration.
    pub took: Duration,
}

/// Runs a project's native tests. `say` hears the tool line by line.
///
/// # Errors
/// [`BuildError::Failed`] when a test fails, [`BuildError::Missing`] when the language has no native tests here.
pub fn test_native(project: &Project, say: &mut dyn FnMut(&str)) -> Result<NativeTests, BuildError> {
    let begun = Instant::now();
    let folder = &project.folder;
    check_tools(project.language, false)?;
    let output = match project.language {
        Language::Rust => Tool::new("cargo", folder, say).args(["test", "--quiet"]).run(),
        Language::Python => python(folder, say),
        Language::Js => {
            link_sdk(folder)?;
            Tool::new("node", folder, say).args(["--test"]).run()
        }
        Language::Go => Tool::new(go_program()?, folder, say).args(["test", "-mod=mod", "./..."]).run(),
        Language::C => Err(BuildError::Missing {
            what: "a native test, which C has no tool for,".to_owned(),
            how: "Write fixtures; `wed test` runs them in the sandbox.".to_owned(),
            installable: false,
        }),
    }?;
    Ok(NativeTests { output, took: begun.elapsed() })
}

/// Runs tests of Python's own library, in the project's environment if it has one.
fn python(folder: &Path, say: &mut dyn FnMut(&str)) -> Result<String, BuildError> {
    let own = absolute(&folder.join(".venv/bin/python"));
    let python = match own.is_file() {
        true => own,
        false => "python3".into(),
    };
    Tool::new(python, folder, say)
        .env("PYTHONPATH", absolute(&folder.join("vendor/wedflow/guest-sdk/python")))
        .args(["-m", "unittest", "discover", "--quiet"])
        .run()
}

/// Links the SDK where Node looks for it, unless a package manager has put it there.
fn link_sdk(folder: &Path) -> Result<(), BuildError> {
    let link = folder.join("node_modules/@wedflow/guest");
    if link.exists() {
        return Ok(());
    }
    let parent = link.parent().map_or(Ok(()), std::fs::create_dir_all);
    let target = "../../vendor/wedflow/guest-sdk/js";
    parent
        .and_then(|()| std::os::unix::fs::symlink(target, &link))
        .map_err(|source| BuildError::System { what: format!("{} cannot be made", link.display()), source })
}
