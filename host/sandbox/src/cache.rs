//! Compiled code on disk, so that a host that starts anew need not compile again.
//!
//! Compiled code is trusted as this program's own, so nothing may get in there but what our own compiler
//! made: the folder is this user's alone, and each file carries a code of authentication by a key that
//! never leaves it. What does not fit is compiled anew.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Files that are kept; the oldest go first.
const KEPT: usize = 512;
/// Bytes of all files that are kept.
const KEPT_BYTES: u64 = 4 << 30;
/// Bytes of a key, and of a code of authentication.
const KEY: usize = 32;

/// A folder of compiled components.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
    key: [u8; KEY],
}

impl Cache {
    /// Opens the folder, making it and its key when they are not there.
    ///
    /// # Errors
    /// When it cannot be made, or is not this user's alone.
    pub(crate) fn open(folder: &Path) -> io::Result<Cache> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let found = fs::metadata(folder)?;
        let own = rustix::process::geteuid().as_raw();
        if found.uid() != own {
            return Err(io::Error::other("the folder is another user's"));
        }
        if found.permissions().mode() & 0o077 != 0 {
            return Err(io::Error::other("others may reach into the folder; chmod 700"));
        }
        Ok(Cache { key: key(&folder.join("key"))?, folder: folder.to_owned() })
    }

    /// The code of that name, when it is there and our own.
    pub(crate) fn get(&self, name: &str) -> Option<Vec<u8>> {
        let mut sealed = Vec::new();
        File::open(self.folder.join(name)).ok()?.read_to_end(&mut sealed).ok()?;
        let at = sealed.len().checked_sub(KEY)?;
        let (code, seal) = sealed.split_at(at);
        self.mac(name, code)?.verify_slice(seal).ok()?;
        sealed.truncate(at);
        Some(sealed)
    }

    /// Keeps code under a name. That it cannot be kept is no harm.
    pub(crate) fn put(&self, name: &str, code: &[u8]) -> io::Result<()> {
        let seal = self.mac(name, code).ok_or_else(|| io::Error::other("no key"))?.finalize().into_bytes();
        // Another process may write the same at this moment: whole files only take the name.
        let unfinished = self.folder.join(format!("{name}.{}.{:x}", std::process::id(), rand::random::<u64>()));
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
            file.write_all(code)?;
            file.write_all(&seal)?;
            fs::rename(&unfinished, self.folder.join(name))
        })();
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        self.forget_oldest();
        written
    }

    fn mac(&self, name: &str, code: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        mac.update(name.as_bytes());
        mac.update(&[0]);
        mac.update(code);
        Some(mac)
    }

    fn forget_oldest(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut files: Vec<_> = entries
            .flatten()
            .filter(|entry| entry.file_name() != "key")
            .filter_map(|entry| {
                let found = entry.metadata().ok()?;
                Some((found.modified().ok()?, entry.path(), found.len()))
            })
            .collect();
        files.sort();
        let mut bytes = 0_u64;
        for (at, (_, path, length)) in files.iter().rev().enumerate() {
            bytes += length;
            if at >= KEPT || bytes > KEPT_BYTES {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// The folder's key, made when it is not there.
fn key(file: &Path) -> io::Result<[u8; KEY]> {
    if !file.exists() {
        // Written whole before it has the name, which only one process gives.
        let unfinished = file.with_extension(format!("{:x}", rand::random::<u64>()));
        let mut made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        let key: [u8; KEY] = rand::random();
        let named = made.write_all(&key).and_then(|()| fs::hard_link(&unfinished, file));
        let _ = fs::remove_file(&unfinished);
        match named {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let key = fs::read(file)?;
    key.try_into().map_err(|_| io::Error::other("the key is cut off; remove the folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_put_there_comes_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("compiled");
        let cache = Cache::open(&place).expect("opened");
        assert!(cache.get("a").is_none());
        cache.put("a", b"code").expect("kept");
        cache.put("b", b"other").expect("kept");
        let again = Cache::open(&place).expect("opened again");
        assert_eq!(again.get("a").as_deref(), Some(b"code".as_slice()));

        // Changed, cut off, under another name, sealed by another key.
        let file = place.join("a");
        let mut bytes = fs::read(&file).expect("read");
        bytes[0] ^= 1;
        fs::write(&file, &bytes).expect("written");
        assert!(again.get("a").is_none());
        fs::write(&file, &bytes[..10]).expect("written");
        assert!(again.get("a").is_none());
        fs::copy(place.join("b"), &file).expect("copied");
        assert!(again.get("a").is_none());
        fs::remove_file(place.join("key")).expect("removed");
        let other = Cache::open(&place).expect("opened");
        assert!(other.get("b").is_none());
    }

    #[test]
    fn a_folder_that_others_reach_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("set");
        assert!(Cache::open(folder.path()).is_err());
    }

    #[test]
    fn those_who_open_at_once_have_one_key_and_a_crash_leaves_none_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("compiled");
        DirBuilder::new().mode(0o700).create(&place).expect("made");
        // What a process leaves that ends while it writes a key.
        fs::write(place.join("key.5a"), b"cut off").expect("written");
        let opened: Vec<Cache> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(|| Cache::open(&place).expect("opened"))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        opened[0].put("a", b"code").expect("kept");
        for cache in &opened {
            assert_eq!(cache.get("a").as_deref(), Some(b"code".as_slice()));
        }
    }
}
