//! The program, as far as it can be started anew as a child of itself.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Argument that makes a compiler of the program.
pub(crate) const AS_COMPILER: &str = "__compile-component";

/// Argument that makes a guest process of the program.
pub(crate) const AS_GUEST: &str = "__run-guests";

/// The program that can be started as a child: this one, when it said so.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Says that this program serves as a child.
pub(crate) fn serves() {
    // Still the same program when the file has been replaced meanwhile.
    let own = PathBuf::from("/proc/self/exe");
    let program = if own.exists() { Some(own) } else { std::env::current_exe().ok() };
    if let Some(program) = program {
        let _ = PROGRAM.set(program);
    }
}

/// The program to start; none where it cannot be a child.
pub(crate) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}
