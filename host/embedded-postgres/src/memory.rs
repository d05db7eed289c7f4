//! The limit on each server process's memory: a session that needs too much is refused it, and the machine keeps
//! working.

use std::ffi::OsStr;
use std::process::Command;

/// The least that a process may map, in bytes: 2 GiB, of which a session with its caches needs a tenth.
const PROCESS_BYTES_MIN: u64 = 2 << 30;
/// The part of the machine's memory that one process may map.
const PROCESS_PART: u64 = 4;

/// Sets the limit and becomes the program that follows. The limit is set by the process that starts the server, since
/// nobody may be allowed to change it in a process of another account. Where a nearer one holds already, it stays.
const LIMITED: &str = "ulimit -S -v \"$0\" 2>/dev/null; exec \"$@\"";

/// A command that runs a program whose address space, and that of every process that it starts, is at most a quarter
/// of the machine's memory and 2 GiB at least.
pub(crate) fn limited(program: &OsStr) -> Command {
    let mut command = Command::new("/bin/sh");
    let kibibytes = process_bytes() / 1_024;
    command.args(["-c", LIMITED, &kibibytes.to_string()]).arg(program);
    command
}

/// Returns how much one process may map, in bytes.
fn process_bytes() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let system = rustix::system::sysinfo();
        let all = system.totalram.saturating_mul(u64::from(system.mem_unit));
        (all / PROCESS_PART).max(PROCESS_BYTES_MIN)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        PROCESS_BYTES_MIN
    }
}
