//! The limit on each server process's memory: a session that needs too much is refused it, and the machine keeps
//! working.

use rustix::process::{Pid, Resource, Rlimit};

/// The least that a process may map, in bytes: 2 GiB, of which a session with its caches needs a tenth.
const PROCESS_BYTES_MIN: u64 = 2 << 30;
/// The part of the machine's memory that one process may map.
const PROCESS_PART: u64 = 4;

/// Limits the address space of the server's main process, and so of every session that it starts from now on, to a
/// quarter of the machine's memory and 2 GiB at least. Where the system has no such call the server runs without
/// it.
pub(crate) fn limit(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else {
        return;
    };
    let limit = Rlimit {
        current: Some(process_bytes()),
        maximum: None,
    };
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if rustix::process::prlimit(Some(pid), Resource::As, limit).is_err() {
        // Of another account; its sessions are limited by that account's own limits.
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (pid, limit, Resource::As);
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
