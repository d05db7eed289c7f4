//! A project: a folder with a `wedflow.toml` that says its language and its name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The file that makes a folder a project.
pub(crate) const PROJECT_FILE: &str = "wedflow.toml";

/// Folders whose content is made or fetched, not written by the author.
pub(crate) const MADE: [&str; 8] =
    ["target", "build", "node_modules", ".venv", ".git", "vendor", "__pycache__", ".wedflow"];

/// Extensions of source files.
const SOURCE: [&str; 8] = ["rs", "py", "js", "ts", "go", "c", "h", "mjs"];

/// A language with an SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust, by cargo.
    Rust,
    /// Python, by componentize-py.
    Python,
    /// JavaScript, by componentize-js.
    Js,
    /// Go, by its ordinary toolchain.
    Go,
    /// C, by clang and wasi-libc.
    C,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 5] = [Language::Rust, Language::Python, Language::Js, Language::Go, Language::C];

    /// Returns its name in `wedflow.toml` and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Python => "python",
            Language::Js => "js",
            Language::Go => "go",
            Language::C => "c",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = ProjectError;

    /// Reads a name as [`Language::name`] gives it, and the usual other spellings.
    ///
    /// # Errors
    /// [`ProjectError::Language`] for any other text.
    fn from_str(text: &str) -> Result<Self, ProjectError> {
        match text.to_ascii_lowercase().as_str() {
            "rust" | "rs" => Ok(Language::Rust),
            "python" | "py" => Ok(Language::Python),
            "js" | "javascript" | "ts" | "typescript" => Ok(Language::Js),
            "go" | "golang" => Ok(Language::Go),
            "c" => Ok(Language::C),
            _ => Err(ProjectError::Language(text.to_owned())),
        }
    }
}

/// A project that cannot be read or made.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The folder has no project file.
    #[error("{} is no project: it holds no {PROJECT_FILE}", .0.display())]
    NoProject(PathBuf),
    /// The project file says something wrong.
    #[error("{} is wrong: {reason}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// The reason, and the place.
        reason: String,
    },
    /// A language without an SDK.
    #[error("there is no SDK for {0:?}; there is one for rust, python, js, go and c")]
    Language(String),
    /// A name that cannot be a component's.
    #[error(
        "{0:?} cannot be a component's name: it has 1 to 63 small letters, digits, - and _, and begins \
         with a letter"
    )]
    Name(String),
    /// A name that some language keeps for itself.
    #[error("{0:?} is a word that languages keep for themselves; choose another name")]
    KeptWord(String),
    /// The folder for a new project holds something.
    #[error("{} is not empty", .0.display())]
    Taken(PathBuf),
    /// A language for which no project can be made.
    #[error("there is no template for {0} yet")]
    NoTemplate(Language),
    /// A file or folder that cannot be read or written.
    #[error("{} cannot be {what}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

/// The content of a `wedflow.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectFile {
    name: String,
    language: Language,
}

/// A project on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The component's name.
    pub name: String,
    /// The language.
    pub language: Language,
    /// The folder.
    pub folder: PathBuf,
}

impl Project {
    /// Reads the project in a folder.
    ///
    /// # Errors
    /// [`ProjectError`] when there is none, or its file is wrong.
    pub fn open(folder: &Path) -> Result<Self, ProjectError> {
        let file = folder.join(PROJECT_FILE);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(ProjectError::NoProject(folder.to_owned()));
            }
            Err(source) => {
                return Err(ProjectError::File { path: file, what: "read", source });
            }
        };
        let read: ProjectFile = toml::from_str(&text)
            .map_err(|error| ProjectError::Wrong { file, reason: error.to_string().trim().to_owned() })?;
        check_name(&read.name)?;
        Ok(Project { name: read.name, language: read.language, folder: folder.to_owned() })
    }

    /// The component that building it makes.
    pub fn component(&self) -> PathBuf {
        self.folder.join("build").join(format!("{}.wasm", self.name))
    }

    /// Returns whether a source file was written after the component.
    pub fn is_older_than_sources(&self) -> bool {
        let changed = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        let Some(built) = changed(&self.component()) else {
            return false;
        };
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let made = MADE.iter().any(|made| entry.file_name() == *made);
                if path.is_dir() {
                    if !made {
                        folders.push(path);
                    }
                } else if path.extension().and_then(|end| end.to_str()).is_some_and(|end| SOURCE.contains(&end))
                    && changed(&path).is_some_and(|at| at > built)
                {
                    return true;
                }
            }
        }
        false
    }

    /// The folder of its fixtures.
    pub fn fixtures(&self) -> PathBuf {
        self.folder.join("fixtures")
    }
}

/// Checks that a text can name a component in every language.
///
/// # Errors
/// [`ProjectError::Name`] when it cannot.
pub(crate) fn check_name(name: &str) -> Result<(), ProjectError> {
    let good = name.len() <= 63
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_');
    if good { Ok(()) } else { Err(ProjectError::Name(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_what_its_file_says() {
        let folder = std::env::temp_dir().join(format!("wedflow-project-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join(PROJECT_FILE);
        assert!(matches!(Project::open(&folder), Err(ProjectError::NoProject(_))));
        std::fs::write(&file, "name = \"pack\"\nlanguage = \"go\"\n").expect("written");
        let project = Project::open(&folder).expect("a project");
        assert_eq!(project.language, Language::Go);
        assert!(project.component().ends_with("build/pack.wasm"));
        for (text, part) in [
            ("name = \"pack\"\nlanguage = \"cobol\"\n", "cobol"),
            ("name = \"pack\"\n", "language"),
            ("name = \"Pack it\"\nlanguage = \"c\"\n", "Pack it"),
        ] {
            std::fs::write(&file, text).expect("written");
            let error = Project::open(&folder).expect_err(part).to_string();
            assert!(error.contains(part), "{error}");
        }
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn languages_go_by_their_names() {
        for language in Language::ALL {
            assert_eq!(language.name().parse::<Language>().ok(), Some(language));
        }
        assert_eq!("TypeScript".parse::<Language>().ok(), Some(Language::Js));
        assert!("cobol".parse::<Language>().is_err());
    }
}
