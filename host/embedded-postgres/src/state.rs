//! Facts that a home keeps between starts: the port, the version, the password, and who is at work.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::{PostgresError, Progress};

/// `cluster.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The TCP port, for good: other programs remember it.
    pub(crate) port: u16,
    /// The version of the server that ran last.
    pub(crate) version: String,
}

impl State {
    /// Reads the file; nothing when there is none yet.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, PostgresError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(PostgresError::io("read", path, e)),
        };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|e| PostgresError::State { path: path.to_owned(), reason: e.to_string() })
    }

    /// Writes the file, whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> Result<(), PostgresError> {
        let text = serde_json::json!({ "port": self.port, "version": self.version }).to_string();
        write_whole(path, &text, 0o644, None)
    }
}

/// Replaces a file in one step, and sees to it that it survives a crash of the machine. With an
/// owner, it is that account's from the moment it has its name.
pub(crate) fn write_whole(path: &Path, text: &str, mode: u32, owner: Option<&Account>) -> Result<(), PostgresError> {
    let fail = |e| PostgresError::io("write", path, e);
    let partial = path.with_extension("partial");
    // A leftover may have another owner or mode.
    match fs::remove_file(&partial) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(fail(e)),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&partial).map_err(fail)?;
    if let Some(owner) = owner {
        owner.own_file(&file).map_err(fail)?;
    }
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&partial, path))
        .map_err(fail)
}

/// Reads the superuser's password; nothing when there is none.
pub(crate) fn read_password(path: &Path) -> Result<Option<String>, PostgresError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|password| !password.is_empty())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(PostgresError::io("read", path, e)),
    }
}

/// A new password: 192 bits from the system's generator, as 48 hexadecimal digits.
pub(crate) fn new_password() -> Result<String, PostgresError> {
    let source = Path::new("/dev/urandom");
    let mut bytes = [0_u8; 24];
    File::open(source)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|e| PostgresError::io("read", source, e))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Takes a lock among all processes; it is given back when the file is dropped, even by a crash.
pub(crate) fn lock(path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<File, PostgresError> {
    let fail = |e| PostgresError::io("lock", path, e);
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            progress(Progress::Waiting);
            file.lock().map_err(fail)?;
            Ok(file)
        }
        Err(TryLockError::Error(e)) => Err(fail(e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_survives_a_round_trip_and_damage_is_named() {
        let home = tempfile::tempdir().expect("folder");
        let path = home.path().join("cluster.json");
        assert_eq!(State::read(&path).expect("read"), None);
        let state = State { port: 15432, version: "18.6.0".into() };
        state.write(&path).expect("write");
        assert_eq!(State::read(&path).expect("read"), Some(state));
        fs::write(&path, "{").expect("write");
        assert!(matches!(State::read(&path), Err(PostgresError::State { .. })));
    }

    #[test]
    fn passwords_are_long_and_differ() {
        let (one, other) = (new_password().expect("one"), new_password().expect("other"));
        assert_eq!(one.len(), 48);
        assert_ne!(one, other);
    }
}
