//! The files of the instance, where the operator and the flow grant them: a private folder, the same for all
//! transitions of the instance, gone when it is final. What an attempt writes stays only if its result is
//! committed.

use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

#[cfg(target_family = "wasm")]
use crate::bindings::wed::flow::files as server;
#[cfg(not(target_family = "wasm"))]
use crate::stand::files as server;

pub use crate::bindings::wed::flow::files::{File, FileErrorKind};

/// The content of a file; nothing when there is no such file.
///
/// # Errors
/// [`FileError`], which says why not.
pub fn read(name: &str) -> Result<Option<Vec<u8>>, FileError> {
    Ok(server::read(name)?)
}

/// The same as text; what is no UTF-8 is replaced.
///
/// # Errors
/// As of [`read`].
pub fn read_text(name: &str) -> Result<Option<String>, FileError> {
    Ok(read(name)?.map(|content| String::from_utf8_lossy(&content).into_owned()))
}

/// Makes a file, or replaces its content: at most 1 MiB.
///
/// # Errors
/// As of [`read`].
pub fn write(name: &str, content: impl AsRef<[u8]>) -> Result<(), FileError> {
    Ok(server::write(name, content.as_ref())?)
}

/// Puts more behind a file's content, or makes the file.
///
/// # Errors
/// As of [`read`].
pub fn append(name: &str, content: impl AsRef<[u8]>) -> Result<(), FileError> {
    Ok(server::append(name, content.as_ref())?)
}

/// Removes a file; whether there was one.
///
/// # Errors
/// As of [`read`].
pub fn remove(name: &str) -> Result<bool, FileError> {
    Ok(server::remove(name)?)
}

/// All files, by name.
///
/// # Errors
/// As of [`read`].
pub fn all() -> Result<Vec<File>, FileError> {
    Ok(server::all()?)
}

/// Why a file is not read or written. `?` makes a fatal [`Failure`](crate::Failure) of it; where another
/// attempt may help, `map_err(|error| Failure::retry(error.to_string()))`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The kind of failure.
    pub kind: FileErrorKind,
    /// For a person.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for FileError {}

impl From<crate::bindings::wed::flow::files::FileError> for FileError {
    fn from(error: crate::bindings::wed::flow::files::FileError) -> Self {
        FileError { kind: error.kind, message: error.message }
    }
}
