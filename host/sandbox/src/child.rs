//! The program as a child of itself: started anew with a hidden argument, it compiles a component or runs guests.

use std::ffi::OsStr;
use std::process::ExitCode;

use crate::program::{AS_COMPILER, AS_GUEST};
use crate::{compiler, guest, program};

/// To be called first of all in `main`. When the process was started to compile a component or to run guests, does that
/// and returns how it is to exit; otherwise the program serves as its own child from now on, and nothing is
/// returned. Without this call components are compiled, and guests run, in the process itself.
pub fn serve_as_child() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some(OsStr::new(AS_COMPILER)) {
        return Some(compiler::child(arguments));
    }
    if first.as_deref() == Some(OsStr::new(AS_GUEST)) {
        let settings = arguments.next().unwrap_or_default();
        guest::serve(&settings.to_string_lossy());
    }
    program::serves();
    None
}
