//! A new project: templates and the SDK's sources, both embedded in the program, so that nothing has to
//! be fetched to make one.

use std::path::{Path, PathBuf};

use rust_embed::RustEmbed;

use crate::project::{Language, Project, ProjectError, check_name};

/// Templates that take the author's names: a folder for each language, `any` for all.
#[derive(RustEmbed)]
#[folder = "templates/"]
struct Templates;

/// The contract.
#[derive(RustEmbed)]
#[folder = "../../wit/"]
struct Contract;

#[derive(RustEmbed)]
#[folder = "../../guest-sdk/rust/wedflow-guest/"]
struct RustGuest;

#[derive(RustEmbed)]
#[folder = "../../guest-sdk/rust/wedflow-guest-macros/"]
struct RustMacros;

#[derive(RustEmbed)]
#[folder = "../../guest-sdk/python/wedflow/"]
struct PythonGuest;

#[derive(RustEmbed)]
#[folder = "../../guest-sdk/js/src/"]
struct JsGuest;

#[derive(RustEmbed)]
#[folder = "../../guest-sdk/go/"]
struct GoGuest;

#[derive(RustEmbed)]
#[folder = "../../guest-sdk/c/include/"]
struct CGuest;

const PYTHON_PROJECT: &str = include_str!("../../../guest-sdk/python/pyproject.toml");
const JS_PROGRAM: &str = include_str!("../../../guest-sdk/js/bin/wedflow-build.js");
const JS_PROJECT: &str = include_str!("../../../guest-sdk/js/package.json");
const JS_LOCK: &str = include_str!("../../../guest-sdk/js/package-lock.json");
const JS_SETTINGS: &str = include_str!("../../../guest-sdk/js/.npmrc");
const CONTRACT: &str = include_str!("../../../wit/transition.wit");

const RUST_WORKSPACE: &str = include_str!("../../../guest-sdk/rust/Cargo.toml");
const RUST_LOCK: &str = include_str!("../../../guest-sdk/rust/Cargo.lock");

/// Words that a language keeps for itself, so that no function can have them for a name.
const KEPT_WORDS: [&str; 60] = [
    "abstract",
    "and",
    "as",
    "async",
    "auto",
    "await",
    "box",
    "break",
    "case",
    "catch",
    "chan",
    "class",
    "const",
    "continue",
    "crate",
    "def",
    "default",
    "defer",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "go",
    "if",
    "import",
    "in",
    "int",
    "interface",
    "lambda",
    "let",
    "loop",
    "main",
    "map",
    "match",
    "mod",
    "move",
    "new",
    "not",
    "null",
    "package",
    "pass",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "test",
    "true",
    "type",
    "while",
    "with",
];

/// A file of a new project: where, and what is in it.
type File = (PathBuf, Vec<u8>);

/// The languages that a project can be made for.
pub fn languages() -> Vec<Language> {
    Language::ALL.into_iter().filter(|language| source_of(*language).is_some()).collect()
}

/// Makes a project in a folder, which must be empty or not there.
///
/// # Errors
/// [`ProjectError`] when the name will not do, the folder is taken, or cannot be written.
pub fn new_project(name: &str, language: Language, folder: &Path) -> Result<Project, ProjectError> {
    check_name(name)?;
    let ident = name.replace('-', "_");
    if KEPT_WORDS.contains(&ident.as_str()) {
        return Err(ProjectError::KeptWord(name.to_owned()));
    }
    let taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if taken {
        return Err(ProjectError::Taken(folder.to_owned()));
    }
    let Some(source) = source_of(language) else {
        return Err(ProjectError::NoTemplate(language));
    };
    let fill = |text: &str| {
        text.replace("{{source}}", source)
            .replace("{{name}}", name)
            .replace("{{ident}}", &ident)
            .replace("{{language}}", language.name())
            .replace("{{title}}", title_of(language))
            // A flow's name may not end in `_`, and is not the component's.
            .replace("{{flow}}", &format!("{name}-flow"))
    };
    let mut files: Vec<File> = Vec::new();
    for set in ["any", language.name()] {
        let prefix = format!("{set}/");
        for path in Templates::iter() {
            let Some(inner) = path.strip_prefix(&prefix).and_then(|inner| inner.strip_suffix(".in")) else {
                continue;
            };
            if let Some(file) = Templates::get(&path) {
                let text = String::from_utf8_lossy(&file.data);
                files.push((PathBuf::from(fill(inner)), fill(&text).into_bytes()));
            }
        }
    }
    files.extend(sdk_of(language));
    let written = (files.iter()).try_for_each(|(path, content)| write(&folder.join(path), content));
    if let Err(error) = written {
        // Half a project would be in the way of the next try. The folder was empty or not there.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
        }
        return Err(error);
    }
    Project::open(folder)
}

/// Returns whether a project's copy of the contract is that of this program; none if the project has no copy.
pub fn contract_is_current(project: &Project) -> Option<bool> {
    let copy = project.folder.join("vendor/wedflow/wit/transition.wit");
    let text = std::fs::read_to_string(copy).ok()?;
    Some(text == CONTRACT)
}

/// The SDK's sources, below `vendor/wedflow` as they lie in the repository.
fn sdk_of(language: Language) -> Vec<File> {
    let mut files = embedded::<Contract>("wit");
    match language {
        Language::Rust => {
            files.extend(embedded::<RustGuest>("guest-sdk/rust/wedflow-guest"));
            files.extend(embedded::<RustMacros>("guest-sdk/rust/wedflow-guest-macros"));
            files.push((PathBuf::from("guest-sdk/rust/Cargo.toml"), rust_workspace().into_bytes()));
        }
        Language::Python => {
            files.extend(embedded::<PythonGuest>("guest-sdk/python/wedflow"));
            files.extend(texts(&[
                ("guest-sdk/python/pyproject.toml", PYTHON_PROJECT),
                // In the repository a link.
                ("guest-sdk/python/wedflow/transition.wit", CONTRACT),
            ]));
        }
        Language::Js => {
            files.extend(embedded::<JsGuest>("guest-sdk/js/src"));
            files.extend(texts(&[
                ("guest-sdk/js/bin/wedflow-build.js", JS_PROGRAM),
                ("guest-sdk/js/package.json", JS_PROJECT),
                ("guest-sdk/js/package-lock.json", JS_LOCK),
                ("guest-sdk/js/.npmrc", JS_SETTINGS),
                ("guest-sdk/js/transition.wit", CONTRACT),
            ]));
        }
        Language::Go => files.extend(embedded::<GoGuest>("guest-sdk/go")),
        Language::C => files.extend(embedded::<CGuest>("guest-sdk/c/include")),
    }
    let mut files: Vec<File> =
        files.into_iter().map(|(path, content)| (Path::new("vendor/wedflow").join(path), content)).collect();
    if language == Language::Rust {
        // The versions that the SDK was tested with; cargo adds the project to them.
        files.push((PathBuf::from("Cargo.lock"), RUST_LOCK.into()));
    }
    files
}

/// The SDK's workspace, with the two crates of it that a project needs.
fn rust_workspace() -> String {
    let mut document: toml_edit::DocumentMut = match RUST_WORKSPACE.parse() {
        Ok(document) => document,
        // It is a part of the program, and a test reads it.
        Err(_) => return RUST_WORKSPACE.to_owned(),
    };
    let members: toml_edit::Array = ["wedflow-guest", "wedflow-guest-macros"].into_iter().collect();
    document["workspace"]["members"] = toml_edit::value(members);
    document.to_string()
}

/// The files of a folder that a project needs: neither the SDK's own tests nor what an interpreter left there.
fn embedded<E: RustEmbed>(folder: &str) -> Vec<File> {
    let is_needed = |path: &str| !path.starts_with("tests/") && !path.ends_with("_test.go") && !path.ends_with(".pyc");
    E::iter()
        .filter(|path| is_needed(path))
        .filter_map(|path| {
            let file = E::get(&path)?;
            Some((Path::new(folder).join(path.as_ref()), file.data.into_owned()))
        })
        .collect()
}

fn texts(list: &[(&str, &str)]) -> Vec<File> {
    list.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())).collect()
}

fn title_of(language: Language) -> &'static str {
    match language {
        Language::Rust => "Rust",
        Language::Python => "Python",
        Language::Js => "JavaScript",
        Language::Go => "Go",
        Language::C => "C",
    }
}

/// Returns where a project's source is; none while there is no template.
fn source_of(language: Language) -> Option<&'static str> {
    match language {
        Language::Rust => Some("src/lib.rs"),
        Language::Python => Some("{{ident}}.py"),
        Language::Js => Some("src/index.js"),
        Language::Go => Some("main.go"),
        Language::C => Some("src/{{ident}}.c"),
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), ProjectError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ProjectError::File { path, what: "written", source }
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
    }
    std::fs::write(path, content).map_err(failed(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fixture;

    #[test]
    fn a_new_project_is_complete() {
        for language in languages() {
            let folder = std::env::temp_dir().join(format!("wedflow-new-{}-{language}", std::process::id()));
            let project = new_project("say-hello", language, &folder).expect("made");
            assert_eq!((project.name.as_str(), project.language), ("say-hello", language));
            let fixtures = Fixture::all_in(&project.fixtures()).expect("fixtures");
            assert_eq!(fixtures.len(), 2);
            let source = source_of(language).expect("a source").replace("{{ident}}", "say_hello");
            let text = std::fs::read_to_string(folder.join(source)).expect("the source");
            assert!(text.contains("say_hello") && !text.contains("{{"), "{text}");
            assert!(folder.join("vendor/wedflow/wit/transition.wit").is_file());
            let settings = folder.join(".cargo/config.toml").is_file();
            assert_eq!(settings, language == Language::Rust);
            let again = new_project("say-hello", language, &folder).expect_err("taken");
            assert!(matches!(again, ProjectError::Taken(_)), "{again}");
            std::fs::remove_dir_all(&folder).expect("removed");
        }
        assert!(!rust_workspace().contains("examples"));
    }

    #[test]
    fn names_that_no_function_can_have_are_refused() {
        for name in ["match", "Upper", "a b", "", "1st", "../x"] {
            assert!(new_project(name, Language::Rust, Path::new("/nonexistent/x")).is_err());
        }
    }
}
