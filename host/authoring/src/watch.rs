//! Waits until the author has changed something.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::project::MADE;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// An editor writes a file in several steps: how long nothing may happen before they count as done.
const QUIET: Duration = Duration::from_millis(150);

/// Watches a folder.
#[derive(Debug)]
pub struct Watch {
    _watcher: RecommendedWatcher,
    changes: Receiver<PathBuf>,
    root: PathBuf,
}

impl Watch {
    /// Begins to watch a folder and what is below.
    ///
    /// # Errors
    /// Why the system does not allow it, for a person.
    pub fn new(folder: &Path) -> Result<Self, String> {
        let (sender, changes) = channel();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            for path in event.paths {
                // Nobody listens any more when the watch is over.
                let _ = sender.send(path);
            }
        })
        .map_err(|error| error.to_string())?;
        let root = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
        watcher.watch(&root, RecursiveMode::Recursive).map_err(|error| error.to_string())?;
        Ok(Watch { _watcher: watcher, changes, root })
    }

    /// Waits for a change of what is written by hand; the files, without repetition. Blocks.
    pub fn changed(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        loop {
            let next = if files.is_empty() {
                self.changes.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                self.changes.recv_timeout(QUIET)
            };
            match next {
                Ok(path) => {
                    if self.is_written(&path) && !files.contains(&path) {
                        files.push(path);
                    }
                }
                Err(_) => {
                    // What an editor writes before it takes the file's name is gone by now.
                    if files.iter().any(|file| file.exists()) {
                        files.retain(|file| file.exists());
                    }
                    return files;
                }
            }
        }
    }

    fn is_written(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let hidden = below.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        !hidden && below.components().all(|part| MADE.iter().all(|made| part.as_os_str() != *made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_by_hand_is_noticed() {
        let folder = std::env::temp_dir().join(format!("wedflow-watch-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("target")).expect("folders");
        std::fs::create_dir_all(folder.join("src")).expect("folders");
        let watch = Watch::new(&folder).expect("watching");
        std::fs::write(folder.join("target").join("made"), "1").expect("written");
        let unfinished = folder.join("src").join("sedXYZ");
        std::fs::write(&unfinished, "1").expect("written");
        std::fs::rename(&unfinished, folder.join("src").join("lib.rs")).expect("renamed");
        let files = watch.changed();
        assert!(files.iter().any(|file| file.ends_with("src/lib.rs")), "{files:?}");
        assert!(files.iter().all(|file| !file.ends_with("made") && !file.ends_with("sedXYZ")), "{files:?}");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
