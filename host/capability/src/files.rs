//! A private folder for each instance, on the host's disk or on one that hosts share.
//!
//! Names are flat: no folders, no links, nothing but ordinary files; so there is no way out. What an attempt
//! writes goes into a draft; it takes the place of the files only when the attempt's result is about to be
//! committed ([`Draft::keep`]), file by file, each whole. A draft that is dropped leaves nothing.
//!
//! On disk: `FLOW/WID/NAME`, and `FLOW/.drafts/WID-RANDOM/NAME`, where `FLOW` is a name that no other flow of
//! any database has; and `.mark`, which tells the folder from those of other hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, File, OpenOptions, OpenOptionsExt};

/// Files of one instance.
pub const MAX_FILES: usize = 64;
/// Bytes of one file.
pub const MAX_FILE: u64 = 1 << 20;
/// Bytes of all files of one instance.
pub const MAX_BYTES: u64 = 16 << 20;
/// Bytes of a name.
pub const MAX_NAME: usize = 128;
/// Bytes that one attempt may write, also over what it wrote before.
pub const MAX_WRITTEN: u64 = 64 << 20;

/// The folder of unfinished drafts.
const DRAFTS: &str = ".drafts";
/// The file by which a host's folder is known.
const MARK: &str = ".mark";
/// Maximum age of a draft; an older one was left behind by a host, and is removed.
const DRAFT_AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a file is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A name that no file can have.
    #[error(
        "`{0}` is no name of a file; names have letters, digits, `-`, `_` and `.`, not in the beginning, and at \
         most {MAX_NAME} bytes"
    )]
    Name(String),
    /// Too large, or too many.
    #[error("{0}")]
    NoRoom(String),
    /// The disk's own failure.
    #[error("the files are unavailable: {0}")]
    Disk(#[from] io::Error),
}

/// Files of a host: a folder.
#[derive(Debug, Clone)]
pub struct Files {
    root: Arc<Dir>,
}

impl Files {
    /// Opens the folder that the operator gives; it must be there.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(folder: &Path) -> io::Result<Self> {
        Ok(Files { root: Arc::new(Dir::open_ambient_dir(folder, ambient_authority())?) })
    }

    /// The files of an instance, for one attempt. Touches nothing yet.
    pub fn draft(&self, flow: &str, wid: i32) -> Draft {
        Draft::new(Storage::Disk { root: Arc::clone(&self.root), flow: flow.to_owned(), wid, draft: None })
    }

    /// The instances that have files: flow and number.
    ///
    /// # Errors
    /// The disk's own.
    pub fn instances(&self) -> io::Result<Vec<(String, i32)>> {
        let mut found = Vec::new();
        for flow in self.root.entries()? {
            let flow = flow?;
            let (true, Ok(name)) = (flow.file_type()?.is_dir(), flow.file_name().into_string()) else {
                continue;
            };
            let wids = self.instances_of(&name)?.into_iter();
            found.extend(wids.map(|wid| (name.clone(), wid)));
        }
        Ok(found)
    }

    /// The instances of a flow that have files, in order.
    ///
    /// # Errors
    /// The disk's own.
    pub fn instances_of(&self, flow: &str) -> io::Result<Vec<i32>> {
        let folder = match self.root.open_dir_nofollow_path(flow) {
            Ok(folder) => folder,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut wids = Vec::new();
        for instance in folder.entries()? {
            let wid = instance?.file_name();
            wids.extend(wid.to_str().and_then(|name| name.parse::<i32>().ok()));
        }
        wids.sort_unstable();
        Ok(wids)
    }

    /// Adds up the bytes of the files of a flow's instances.
    ///
    /// # Errors
    /// The disk's own.
    pub fn bytes_of(&self, flow: &str) -> io::Result<u64> {
        let mut bytes = 0;
        for wid in self.instances_of(flow)? {
            let folder = match self.root.open_dir(format!("{flow}/{wid}")) {
                Ok(folder) => folder,
                // It has ended meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for file in folder.entries()? {
                bytes += file?.metadata().map_or(0, |found| found.len());
            }
        }
        Ok(bytes)
    }

    /// Returns the mark by which this folder is known, whichever host opens it; makes one if `is_new` lets it.
    ///
    /// # Errors
    /// The disk's own.
    pub fn mark(&self, is_new: bool) -> io::Result<Option<String>> {
        let marked = || match self.root.read_to_string(MARK) {
            Ok(mark) => Ok(Some(mark).filter(|mark| !mark.is_empty())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        if let (None, true) = (marked()?, is_new) {
            self.root.write(MARK, format!("{:032x}", rand::random::<u128>()))?;
        }
        // Of two hosts that write it at once, both have what the later one wrote.
        marked()
    }

    /// Removes the files of an instance.
    ///
    /// # Errors
    /// The disk's own.
    pub fn forget(&self, flow: &str, wid: i32) -> io::Result<()> {
        let folder = match self.root.open_dir_nofollow_path(flow) {
            Ok(folder) => folder,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        gone(folder.remove_dir_all(wid.to_string()))?;
        // The flow's own folder, when this was the last; else it is refused.
        if folder.entries()?.all(|entry| entry.is_ok_and(|entry| entry.file_name() == DRAFTS)) {
            let _ = folder.remove_dir(DRAFTS);
            let _ = self.root.remove_dir(flow);
        }
        Ok(())
    }

    /// Removes drafts that hosts left behind when they were killed.
    ///
    /// # Errors
    /// The disk's own.
    pub fn tidy(&self) -> io::Result<()> {
        for flow in self.root.entries()? {
            let flow = flow?;
            if !flow.file_type()?.is_dir() {
                continue;
            }
            let Ok(drafts) = flow.open_dir()?.open_dir(DRAFTS) else {
                continue;
            };
            for draft in drafts.entries()? {
                let draft = draft?;
                let age = draft.metadata()?.modified()?.into_std().elapsed();
                if age.is_ok_and(|age| age > DRAFT_AGE_MAX) {
                    gone(drafts.remove_dir_all(draft.file_name()))?;
                }
            }
        }
        Ok(())
    }
}

/// Opening a folder of one name without following a link.
trait OpenNoFollow {
    fn open_dir_nofollow_path(&self, name: &str) -> io::Result<Dir>;
}

impl OpenNoFollow for Dir {
    fn open_dir_nofollow_path(&self, name: &str) -> io::Result<Dir> {
        if self.symlink_metadata(name)?.is_dir() {
            // cap-std itself never leaves the folder, whatever is put in its place meanwhile.
            self.open_dir(name)
        } else {
            Err(io::Error::new(ErrorKind::NotADirectory, "not a folder"))
        }
    }
}

/// Accepts that a file is gone already.
fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Storage of a draft's files.
#[derive(Debug)]
enum Storage {
    Disk {
        root: Arc<Dir>,
        flow: String,
        wid: i32,
        /// The folder of what is written, once something is.
        draft: Option<(Dir, String)>,
    },
    Memory {
        before: BTreeMap<String, Vec<u8>>,
        written: BTreeMap<String, Vec<u8>>,
    },
}

/// The files of an instance as one attempt sees them.
#[derive(Debug)]
pub struct Draft {
    storage: Storage,
    /// Files written, with their sizes.
    written: BTreeMap<String, u64>,
    removed: BTreeSet<String>,
    left: u64,
}

impl Draft {
    fn new(storage: Storage) -> Self {
        Draft { storage, written: BTreeMap::new(), removed: BTreeSet::new(), left: MAX_WRITTEN }
    }

    /// Files that are nowhere but in memory, for a test.
    pub fn in_memory(before: BTreeMap<String, Vec<u8>>) -> Self {
        Draft::new(Storage::Memory { before, written: BTreeMap::new() })
    }

    /// A file's content; none when there is no such file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, FileError> {
        checked(name)?;
        if self.removed.contains(name) {
            return Ok(None);
        }
        let drafted = self.written.contains_key(name);
        match &self.storage {
            Storage::Memory { before, written } => Ok(if drafted { written } else { before }.get(name).cloned()),
            Storage::Disk { draft: Some((draft, _)), .. } if drafted => content(draft, name),
            Storage::Disk { root, flow, wid, .. } => match folder(root, flow, *wid)? {
                Some(folder) => content(&folder, name),
                None => Ok(None),
            },
        }
    }

    /// Puts a content in the place of a file's, or makes the file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn write(&mut self, name: &str, content: &[u8]) -> Result<(), FileError> {
        checked(name)?;
        self.room(name, content.len() as u64)?;
        match &mut self.storage {
            Storage::Memory { written, .. } => {
                written.insert(name.to_owned(), content.to_vec());
            }
            Storage::Disk { root, flow, wid, draft } => {
                let (draft, _) = match draft {
                    Some(draft) => draft,
                    None => draft.insert(begun(root, flow, *wid)?),
                };
                let mut file =
                    draft.open_with(name, OpenOptions::new().write(true).create(true).truncate(true).mode(0o600))?;
                file.write_all(content)?;
            }
        }
        self.removed.remove(name);
        self.written.insert(name.to_owned(), content.len() as u64);
        self.left -= content.len() as u64;
        Ok(())
    }

    /// Puts more behind a file's content, or makes the file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn append(&mut self, name: &str, more: &[u8]) -> Result<(), FileError> {
        let mut content = self.read(name)?.unwrap_or_default();
        content.extend_from_slice(more);
        self.write(name, &content)
    }

    /// Removes a file; whether there was one.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn remove(&mut self, name: &str) -> Result<bool, FileError> {
        checked(name)?;
        let was = self.list()?.iter().any(|(known, _)| known == name);
        self.written.remove(name);
        self.removed.insert(name.to_owned());
        Ok(was)
    }

    /// The files by name, with their sizes in bytes.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn list(&self) -> Result<Vec<(String, u64)>, FileError> {
        let mut all = BTreeMap::new();
        match &self.storage {
            Storage::Memory { before, .. } => {
                all.extend(before.iter().map(|(name, content)| (name.clone(), content.len() as u64)));
            }
            Storage::Disk { root, flow, wid, .. } => {
                if let Some(folder) = folder(root, flow, *wid)? {
                    for entry in folder.entries()? {
                        let entry = entry?;
                        let about = entry.metadata()?;
                        if let (true, Ok(name)) = (about.is_file(), entry.file_name().into_string()) {
                            all.insert(name, about.len());
                        }
                    }
                }
            }
        }
        all.retain(|name, _| !self.removed.contains(name) && checked(name).is_ok());
        all.extend(self.written.iter().map(|(name, size)| (name.clone(), *size)));
        Ok(all.into_iter().collect())
    }

    /// Returns whether nothing was written or removed.
    pub fn is_unchanged(&self) -> bool {
        self.written.is_empty() && self.removed.is_empty()
    }

    /// Returns what was written, by name, and what was removed: for a test to look at.
    pub fn changes(&self) -> (Vec<&str>, Vec<&str>) {
        (self.written.keys().map(String::as_str).collect(), self.removed.iter().map(String::as_str).collect())
    }

    /// Puts what was written in the place of what was there. Each file is whole at any time; when the
    /// process ends meanwhile, some are old and some new.
    ///
    /// # Errors
    /// The disk's own; what was not put in place yet is lost.
    pub fn keep(mut self) -> io::Result<()> {
        let Storage::Disk { root, flow, wid, draft } = &self.storage else {
            return Ok(());
        };
        if self.is_unchanged() {
            return Ok(());
        }
        let parent = made(root, flow)?;
        let target = made(&parent, &wid.to_string())?;
        if let Some((draft, _)) = draft {
            for name in self.written.keys() {
                draft.open(name)?.sync_all()?;
                draft.rename(name, &target, name)?;
            }
        }
        for name in &self.removed {
            gone(target.remove_file(name))?;
        }
        // A folder synced is a folder whose new names are on disk.
        target.open(".").and_then(|folder: File| folder.sync_all())?;
        self.written.clear();
        Ok(())
    }

    /// Returns whether there is room for a file of this size.
    fn room(&self, name: &str, size: u64) -> Result<(), FileError> {
        if size > MAX_FILE {
            return Err(FileError::NoRoom(format!("the file has {size} bytes where {MAX_FILE} are allowed")));
        }
        if size > self.left {
            return Err(FileError::NoRoom(format!(
                "the attempt has written {} bytes, of {MAX_WRITTEN} allowed",
                MAX_WRITTEN - self.left
            )));
        }
        let others = self.list()?;
        let others = others.iter().filter(|(known, _)| known != name);
        let (count, bytes) = others.fold((0, 0), |(count, bytes), (_, size)| (count + 1, bytes + size));
        if count >= MAX_FILES {
            return Err(FileError::NoRoom(format!("the instance has {count} files where {MAX_FILES} are allowed")));
        }
        if bytes + size > MAX_BYTES {
            return Err(FileError::NoRoom(format!(
                "the instance's files would have {} bytes where {MAX_BYTES} are allowed",
                bytes + size
            )));
        }
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Storage::Disk { root, flow, draft: Some((_, name)), .. } = &self.storage
            && let Ok(drafts) = root.open_dir(Path::new(flow).join(DRAFTS))
        {
            // What is left is found by `tidy`.
            let _ = drafts.remove_dir_all(name);
        }
    }
}

/// Returns whether a file can have this name.
fn checked(name: &str) -> Result<(), FileError> {
    let good = !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    if good { Ok(()) } else { Err(FileError::Name(name.to_owned())) }
}

/// A folder within another, made when it is not there.
fn made(parent: &Dir, name: &str) -> io::Result<Dir> {
    let mut builder = DirBuilder::new();
    match parent.create_dir_with(name, builder.mode(0o700)) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    parent.open_dir_nofollow_path(name)
}

/// An instance's folder, if it is there.
fn folder(root: &Dir, flow: &str, wid: i32) -> io::Result<Option<Dir>> {
    let open = || root.open_dir_nofollow_path(flow)?.open_dir_nofollow_path(&wid.to_string());
    match open() {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A new folder for what an attempt writes, and its name.
fn begun(root: &Dir, flow: &str, wid: i32) -> io::Result<(Dir, String)> {
    let drafts = made(&made(root, flow)?, DRAFTS)?;
    let name = format!("{wid}-{:016x}", rand::random::<u64>());
    Ok((made(&drafts, &name)?, name))
}

/// An ordinary file's content.
fn content(folder: &Dir, name: &str) -> Result<Option<Vec<u8>>, FileError> {
    match folder.symlink_metadata(name) {
        Ok(about) if about.is_file() => {}
        // Whatever else stands there (only the operator can have put it) is none of the instance's files.
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let mut bytes = Vec::new();
    folder.open(name)?.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> (tempfile::TempDir, Files) {
        let folder = tempfile::tempdir().expect("a folder");
        let files = Files::open(folder.path()).expect("opened");
        (folder, files)
    }

    #[test]
    fn folder_is_known_by_its_mark_to_all_who_open_it() {
        let (folder, files) = files();
        assert_eq!(files.mark(false).expect("looked"), None);
        let mark = files.mark(true).expect("marked").expect("a mark");
        let again = Files::open(folder.path()).expect("opened");
        assert_eq!(again.mark(true).expect("looked").as_deref(), Some(mark.as_str()));
        assert_eq!(files.instances().expect("listed"), []);
        assert_ne!(self::files().1.mark(true).expect("marked"), Some(mark));
    }

    #[test]
    fn a_draft_is_kept_or_leaves_nothing() {
        let (folder, files) = files();
        let mut draft = files.draft("flow", 1);
        assert_eq!(draft.read("a").expect("read"), None);
        draft.write("a", b"one").expect("written");
        draft.append("a", b" two").expect("appended");
        draft.write("b", b"x").expect("written");
        assert_eq!(draft.read("a").expect("read").as_deref(), Some(&b"one two"[..]));
        assert_eq!(files.draft("flow", 1).list().expect("listed"), []);
        draft.keep().expect("kept");
        let mut draft = files.draft("flow", 1);
        assert_eq!(draft.list().expect("listed"), [("a".to_owned(), 7), ("b".to_owned(), 1)]);
        assert!(draft.remove("b").expect("removed"));
        assert!(!draft.remove("b").expect("removed"));
        draft.write("a", b"other").expect("written");
        assert_eq!(draft.list().expect("listed"), [("a".to_owned(), 5)]);
        drop(draft);
        assert_eq!(files.draft("flow", 1).list().expect("listed").len(), 2);
        let drafts = folder.path().join("flow/.drafts");
        assert_eq!(std::fs::read_dir(drafts).expect("the drafts").count(), 0);
        let mut draft = files.draft("flow", 1);
        draft.remove("b").expect("removed");
        draft.keep().expect("kept");
        assert_eq!(files.draft("flow", 1).list().expect("listed").len(), 1);
        // Another instance, another flow: nothing.
        for (flow, wid) in [("flow", 2), ("other", 1)] {
            assert_eq!(files.draft(flow, wid).read("a").expect("read"), None);
        }
        assert_eq!(files.instances().expect("listed"), [("flow".to_owned(), 1)]);
        files.tidy().expect("tidied");
        files.forget("flow", 1).expect("forgotten");
        files.forget("flow", 1).expect("forgotten");
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }

    #[test]
    fn no_name_leads_out() {
        let (folder, files) = files();
        let mut draft = files.draft("flow", 1);
        let long = "x".repeat(MAX_NAME + 1);
        for name in ["", ".", "..", "../2/a", "/etc/passwd", "a/b", ".drafts", "a\0b", "a b", "ä", &long] {
            assert!(matches!(draft.read(name), Err(FileError::Name(_))), "{name}");
            assert!(matches!(draft.write(name, b""), Err(FileError::Name(_))), "{name}");
            assert!(matches!(draft.append(name, b""), Err(FileError::Name(_))), "{name}");
            assert!(matches!(draft.remove(name), Err(FileError::Name(_))), "{name}");
        }
        // What somebody else put there is no file of the instance.
        draft.write("a", b"mine").expect("written");
        draft.keep().expect("kept");
        let own = folder.path().join("flow/1");
        std::os::unix::fs::symlink("/etc/passwd", own.join("link")).expect("a link");
        let mut draft = files.draft("flow", 1);
        assert_eq!(draft.read("link").expect("read"), None);
        assert_eq!(draft.list().expect("listed").len(), 1);
        draft.write("link", b"ours").expect("written");
        draft.keep().expect("kept");
        assert!(!std::fs::read("/etc/passwd").expect("read").starts_with(b"ours"));
        assert_eq!(files.draft("flow", 1).read("link").expect("read").as_deref(), Some(&b"ours"[..]));
        // A link in place of an instance's or a flow's folder is not followed.
        std::os::unix::fs::symlink(&own, folder.path().join("flow/2")).expect("a link");
        assert!(files.draft("flow", 2).read("a").is_err());
    }

    #[test]
    fn there_is_only_so_much_room() {
        let (_folder, files) = files();
        let mut draft = files.draft("flow", 1);
        let most = vec![0; usize::try_from(MAX_FILE).expect("a size")];
        let full = |result: Result<(), FileError>| assert!(matches!(result, Err(FileError::NoRoom(_))));
        draft.write("a", &most).expect("written");
        full(draft.append("a", b"x"));
        for n in 1..MAX_BYTES / MAX_FILE {
            draft.write(&format!("a{n}"), &most).expect("written");
        }
        full(draft.write("b", b"x"));
        draft.remove("a").expect("removed");
        for n in 0..MAX_FILES - 15 {
            draft.write(&format!("b{n}"), b"x").expect("written");
        }
        full(draft.write("c", b"x"));
        // Over and over again is bounded too.
        let mut draft = files.draft("flow", 2);
        for _ in 0..MAX_WRITTEN / MAX_FILE {
            draft.write("a", &most).expect("written");
        }
        full(draft.write("a", b"x"));
    }
}
