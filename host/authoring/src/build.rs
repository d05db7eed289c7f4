//! Building a component: each language's own tool, driven; what is missing is named, or installed.

mod c;
mod go;
mod js;
mod python;
mod rust;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::encode::{EncodeError, encode};
use crate::project::{Language, Project};
use crate::sources;

/// A build that did not come to a component.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A tool is missing.
    #[error("{what} is missing")]
    Missing {
        /// The tool.
        what: String,
        /// The way to install it.
        how: String,
        /// True if `--install` does it.
        installable: bool,
    },
    /// A tool failed.
    #[error("`{command}` failed")]
    Failed {
        /// The command line.
        command: String,
        /// The program's output.
        output: String,
    },
    /// A tool could not be started, or a file not be copied.
    #[error("{what}: {source}")]
    System {
        /// The action that failed.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The tool was content, but made no component.
    #[error("{0}")]
    NoComponent(String),
    /// The compiler's output is no module that a component can be made of.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// A component that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The file.
    pub component: PathBuf,
    /// The size in bytes.
    pub bytes: u64,
    /// The duration.
    pub took: Duration,
}

/// Builds a project's component into [`Project::component`]. `install`: what is missing may be
/// installed. `say` hears what is being done, line by line.
///
/// # Errors
/// [`BuildError`], which says what is missing or what the tool said.
pub fn build(project: &Project, install: bool, say: &mut dyn FnMut(&str)) -> Result<Built, BuildError> {
    let begun = Instant::now();
    // Two thirds of such a build compile an interpreter that never changes; the other tools see for themselves.
    let slow = matches!(project.language, Language::Python | Language::Js);
    let digest = slow.then(|| sources::digest(project)).flatten();
    if let Some(digest) = &digest
        && sources::made_component(project, digest)
    {
        return built(project, begun);
    }
    let made = match project.language {
        Language::Rust => rust::build(project, install, say)?,
        Language::Python => python::build(project, install, say)?,
        Language::Js => js::build(project, install, say)?,
        Language::Go => go::build(project, say)?,
        Language::C => c::build(project, say)?,
    };
    let component = project.component();
    if made != absolute(&component) {
        let copied =
            component.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::copy(&made, &component));
        copied.map_err(|source| BuildError::System {
            what: format!("{} cannot be written", component.display()),
            source,
        })?;
    }
    if let Some(digest) = &digest {
        sources::note(project, digest);
    }
    built(project, begun)
}

/// Tells of the component of a project, built since `begun`.
fn built(project: &Project, begun: Instant) -> Result<Built, BuildError> {
    let component = project.component();
    let file = std::fs::metadata(&component)
        .map_err(|source| BuildError::System { what: format!("{} cannot be read", component.display()), source })?;
    Ok(Built { component, bytes: file.len(), took: begun.elapsed() })
}

/// Checks that a language's tools are on this machine, as far as no project is needed; `install` as in [`build`].
///
/// # Errors
/// [`BuildError::Missing`] names what is missing.
pub fn check_tools(language: Language, install: bool) -> Result<(), BuildError> {
    match language {
        Language::Rust => rust::check_tools(Path::new("."), install, &mut |_| {}),
        Language::Python => python::check_tools(),
        Language::Js => js::check_tools(),
        Language::Go => go::check_tools().map(drop),
        Language::C => c::check_tools(),
    }
}

/// Returns where a compiler puts the core module of the component; creates its folder.
fn core_module(project: &Project) -> Result<PathBuf, BuildError> {
    let folder = project.folder.join("build");
    std::fs::create_dir_all(&folder)
        .map_err(|source| BuildError::System { what: format!("{} cannot be made", folder.display()), source })?;
    let core = folder.join(format!("{}.core.wasm", project.name));
    Ok(std::path::absolute(&core).unwrap_or(core))
}

/// Makes the project's component of the core module that a compiler wrote.
fn encoded(project: &Project, core: &Path) -> Result<PathBuf, BuildError> {
    let unreadable = |source| BuildError::System { what: format!("{} cannot be read", core.display()), source };
    let component = encode(&std::fs::read(core).map_err(unreadable)?)?;
    let made = absolute(&project.component());
    std::fs::write(&made, component)
        .map_err(|source| BuildError::System { what: format!("{} cannot be written", made.display()), source })?;
    Ok(made)
}

/// Finds Go's tool.
pub(crate) fn go_program() -> Result<&'static str, BuildError> {
    go::check_tools()
}

/// A call of a tool.
pub(crate) struct Tool<'a> {
    command: Command,
    say: &'a mut dyn FnMut(&str),
}

impl<'a> Tool<'a> {
    /// A tool that will run in a folder.
    pub(crate) fn new(program: impl AsRef<OsStr>, folder: &Path, say: &'a mut dyn FnMut(&str)) -> Self {
        let mut command = Command::new(program);
        command.current_dir(folder).stdin(Stdio::null());
        Tool { command, say }
    }

    /// With these arguments.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Adds a variable to its environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it to its end and returns its standard output. Its standard error is reported line by line.
    pub(crate) fn run(mut self) -> Result<String, BuildError> {
        let shown = shown(&self.command);
        let system = |source| BuildError::System { what: format!("`{shown}` could not be run"), source };
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(system)?;
        // Two pipes: one is read by a thread of its own, so that neither fills up.
        let out = child.stdout.take();
        let reader = std::thread::spawn(move || out.map(std::io::read_to_string).unwrap_or_else(|| Ok(String::new())));
        let mut said = String::new();
        if let Some(err) = child.stderr.take() {
            for line in BufReader::new(err).split(b'\n') {
                let Ok(line) = line else { break };
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                if !line.is_empty() {
                    (self.say)(&line);
                }
                said.push_str(&line);
                said.push('\n');
            }
        }
        let status = child.wait().map_err(system)?;
        let printed = reader.join().unwrap_or_else(|_| Ok(String::new())).unwrap_or_default();
        if status.success() {
            return Ok(printed);
        }
        // Some tools complain on standard output; machines' lines are not for people.
        let complaint: String =
            printed.lines().filter(|line| !line.starts_with('{')).map(|line| format!("{line}\n")).collect();
        Err(BuildError::Failed { command: shown, output: format!("{complaint}{said}").trim_end().to_owned() })
    }
}

fn shown(command: &Command) -> String {
    let mut text =
        Path::new(command.get_program()).file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

/// A path that holds in another working folder as well.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns whether a program is in the path.
fn is_there(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
