//! Digest of a project's sources, by which a component that need not be built again is known.

use std::path::{Path, PathBuf};

use wedflow_contract::Digest;

use crate::project::{MADE, Project};

/// Folder of a project whose files are no sources.
const FIXTURES: &str = "fixtures";

/// Lists a project's files, but for those that tools made, in order.
pub(crate) fn files(project: &Project) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![project.folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if MADE.iter().any(|made| name == *made) || name == FIXTURES {
                continue;
            }
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    files
}

/// Returns the digest of a project's sources and of this program's version; none where one cannot be read.
pub(crate) fn digest(project: &Project) -> Option<String> {
    let mut text = format!("{}\n", env!("CARGO_PKG_VERSION"));
    for file in files(project) {
        let bytes = std::fs::read(&file).ok()?;
        text.push_str(&format!("{} {}\n", file.display(), Digest::of(&bytes)));
    }
    Some(Digest::of(text.as_bytes()).to_string())
}

/// Returns true if a project's component was built of sources with this digest, and is as it was built.
pub(crate) fn made_component(project: &Project, digest: &str) -> bool {
    let stamp = std::fs::read_to_string(stamp(project));
    let component = std::fs::read(project.component());
    match (stamp, component) {
        (Ok(stamp), Ok(component)) => stamp == stamp_of(digest, &component),
        _ => false,
    }
}

/// Notes that a project's component was built of sources with this digest. Without the note it is built again.
pub(crate) fn note(project: &Project, digest: &str) {
    if let Ok(component) = std::fs::read(project.component()) {
        let _ = std::fs::write(stamp(project), stamp_of(digest, &component));
    }
}

fn stamp(project: &Project) -> PathBuf {
    project.component().with_extension("sources")
}

fn stamp_of(digest: &str, component: &[u8]) -> String {
    format!("{digest} {}\n", Digest::of(component))
}

/// Lists the sources with one of these endings, relative to the project's folder.
pub(crate) fn with_ending(project: &Project, endings: &[&str]) -> Vec<PathBuf> {
    let has_ending = |file: &Path| {
        let ending = file.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| endings.contains(&ending))
    };
    let relative = |file: PathBuf| match file.strip_prefix(&project.folder) {
        Ok(relative) => relative.to_owned(),
        Err(_) => file,
    };
    let files = files(project).into_iter();
    files.filter(|file| has_ending(file)).map(relative).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Language;

    #[test]
    fn component_is_known_until_a_source_or_the_component_changes() {
        let folder = std::env::temp_dir().join(format!("wedflow-sources-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("build")).expect("folders");
        let project = Project { name: "known".to_owned(), language: Language::Python, folder: folder.clone() };
        let source = folder.join("known.py");
        std::fs::write(&source, "a = 1").expect("written");
        std::fs::write(project.component(), "component").expect("written");
        let first = digest(&project).expect("a digest");
        assert!(!made_component(&project, &first));
        note(&project, &first);
        assert!(made_component(&project, &first));
        assert_eq!(with_ending(&project, &["py"]), [Path::new("known.py")]);
        std::fs::write(&source, "a = 2").expect("written");
        let second = digest(&project).expect("a digest");
        assert!(!made_component(&project, &second));
        std::fs::write(&source, "a = 1").expect("written");
        std::fs::write(project.component(), "another").expect("written");
        assert!(!made_component(&project, &first));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
