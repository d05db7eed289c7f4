//! Detection of a server that runs over a data folder, as its `postmaster.pid` and the system tell.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::account::Account;
use crate::{PostgresError, state};

/// A process id that no system hands out (Linux ends at 2^22, others below): signals to it always
/// fail.
const NOBODYS_PID: i32 = 999_999_999;

/// The content of `postmaster.pid`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Postmaster {
    pub(crate) pid: i32,
    pub(crate) port: u16,
    /// `ready`, `starting`, `stopping`, `standby`; empty while the file is being written.
    status: String,
}

/// The server found over a data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// No `postmaster.pid`: stopped in order, or never started.
    None,
    /// The server's process is alive.
    Alive(Postmaster),
    /// The file is there and the server is not. `taken` when another process, or the dead server
    /// as a zombie, has that process id, which would keep Postgres from starting.
    Stale { taken: bool },
}

impl Postmaster {
    /// Returns whether the server accepts connections.
    pub(crate) fn is_ready(&self) -> bool {
        self.status == "ready"
    }

    /// Returns whether the server is on its way out.
    pub(crate) fn is_stopping(&self) -> bool {
        self.status == "stopping"
    }

    /// Reads the lines: pid, data folder, start time, port, socket folder, address, shared memory
    /// key, status. A server that has just begun has written only some of them.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let pid = lines.next()?.trim().parse().ok()?;
        let mut rest = lines.skip(2);
        Some(Postmaster {
            pid,
            port: rest.next().and_then(|port| port.trim().parse().ok()).unwrap_or_default(),
            status: rest.nth(3).map(|status| status.trim().to_owned()).unwrap_or_default(),
        })
    }
}

/// Looks for the server of the data folder `data`.
pub(crate) fn find(data: &Path) -> Result<Found, PostgresError> {
    let path = data.join("postmaster.pid");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Found::None),
        Err(e) => return Err(PostgresError::io("read", &path, e)),
    };
    let Some(found) = Postmaster::parse(&text) else {
        return Ok(Found::Stale { taken: false });
    };
    let exists = match Pid::from_raw(found.pid) {
        None => false,
        Some(pid) => !matches!(test_kill_process(pid), Err(Errno::SRCH)),
    };
    Ok(if !exists {
        Found::Stale { taken: false }
    } else if is_postmaster(found.pid, data) {
        Found::Alive(found)
    } else {
        Found::Stale { taken: true }
    })
}

/// Returns whether an existing process is the live server of `data`. Where the system does not say, it is
/// taken to be: a wrong yes is an error message, a wrong no could be two servers over one folder
/// (which Postgres's own check of the shared memory would still refuse).
fn is_postmaster(pid: i32, data: &Path) -> bool {
    let process = Path::new("/proc").join(pid.to_string());
    // After the name in parentheses, which may hold anything, comes the state.
    let zombie = fs::read_to_string(process.join("stat"))
        .is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X'])));
    if zombie {
        return false;
    }
    let Ok(line) = fs::read(process.join("cmdline")) else {
        return true;
    };
    let arguments: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    arguments
        .windows(2)
        .filter(|pair| pair[0] == b"-D")
        .filter_map(|pair| std::str::from_utf8(pair[1]).ok())
        .any(|folder| Path::new(folder) == data || fs::canonicalize(folder).is_ok_and(|folder| folder == data))
}

/// Makes the `postmaster.pid` of a dead server harmless when its process id now belongs to another
/// process. The file itself stays: Postgres finds in it the shared memory of the dead server, and
/// waits for that server's last processes.
pub(crate) fn disown(data: &Path, owner: Option<&Account>) -> Result<(), PostgresError> {
    let path = data.join("postmaster.pid");
    let text = fs::read_to_string(&path).map_err(|e| PostgresError::io("read", &path, e))?;
    let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    let text = format!("{NOBODYS_PID}\n{rest}");
    state::write_whole(&path, &text, 0o600, owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "77\n/d\n1700000000\n15433\n\n127.0.0.1\n  1234  5\nready   \n";

    #[test]
    fn the_pid_file_is_read_whole_and_in_part() {
        let found = Postmaster::parse(FILE).expect("a postmaster");
        assert_eq!((found.pid, found.port), (77, 15433));
        assert!(found.is_ready());
        let early = Postmaster::parse("77\n/d\n1700000000\n").expect("a postmaster");
        assert!(!early.is_ready());
        assert_eq!(Postmaster::parse(""), None);
    }

    #[test]
    fn a_process_id_that_went_to_someone_else_is_disowned() {
        let data = tempfile::tempdir().expect("folder");
        let file = data.path().join("postmaster.pid");
        assert_eq!(find(data.path()).expect("find"), Found::None);
        let me = std::process::id();
        fs::write(&file, FILE.replacen("77", &me.to_string(), 1)).expect("write");
        if cfg!(target_os = "linux") {
            let found = find(data.path()).expect("find");
            assert_eq!(found, Found::Stale { taken: true });
        }
        disown(data.path(), None).expect("disown");
        let found = find(data.path()).expect("find");
        assert_eq!(found, Found::Stale { taken: false });
        let text = fs::read_to_string(&file).expect("read");
        assert!(text.ends_with(&FILE[3..]), "{text}");
    }
}
