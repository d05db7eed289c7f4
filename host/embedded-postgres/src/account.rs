//! Under which account the server runs, and whether that account can reach its files.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown, lchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::PostgresError;

/// An account without privileges. Only ever chosen as root: anyone else runs the server as
/// themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    uid: u32,
    gid: u32,
}

impl Account {
    /// The account to run the server under, or nothing when this process is not root.
    ///
    /// `server` is the folder the server writes to: an existing one keeps its owner.
    pub(crate) fn choose(wanted: Option<&str>, server: &Path) -> Result<Option<Self>, PostgresError> {
        let me = rustix::process::geteuid().as_raw();
        let owner = fs::metadata(server).ok().map(|found| found.uid());
        if me != 0 {
            return match owner {
                Some(owner) if owner != me => Err(PostgresError::NotOwner { path: server.to_owned(), owner }),
                _ => Ok(None),
            };
        }
        let passwd = Path::new("/etc/passwd");
        let accounts = fs::read_to_string(passwd).map_err(|e| PostgresError::io("read", passwd, e))?;
        let named = |name: &str| find(&accounts, |account| account.name == name);
        let account = match (owner.filter(|uid| *uid != 0), wanted) {
            (Some(uid), _) => find(&accounts, |account| account.uid == uid)
                .ok_or(PostgresError::NoAccount { name: format!("with uid {uid}") })?,
            (None, Some(name)) => named(name).ok_or_else(|| PostgresError::NoAccount { name: name.to_owned() })?,
            (None, None) => named("wedflow")
                .or_else(|| named("nobody"))
                .ok_or_else(|| PostgresError::NoAccount { name: "wedflow".to_owned() })?,
        };
        if account.uid == 0 {
            return Err(PostgresError::NoAccount { name: "wedflow".to_owned() });
        }
        Ok(Some(account))
    }

    /// Lets `command` run as this account, without supplementary groups.
    pub(crate) fn apply(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }

    /// Gives a folder to this account.
    pub(crate) fn own(&self, path: &Path) -> Result<(), PostgresError> {
        lchown(path, Some(self.uid), Some(self.gid)).map_err(|e| PostgresError::io("change the owner of", path, e))
    }

    /// Gives an open file to this account. By its name it would not be safe: in a folder of the
    /// account's, the name may by then stand for another file.
    pub(crate) fn own_file(&self, file: &fs::File) -> std::io::Result<()> {
        fchown(file, Some(self.uid), Some(self.gid))
    }

    /// Checks that every folder down to `path` lets this account through.
    pub(crate) fn check_reach(&self, path: &Path) -> Result<(), PostgresError> {
        for folder in path.ancestors() {
            let Ok(found) = fs::metadata(folder) else {
                continue;
            };
            let mode = found.permissions().mode();
            let search = if found.uid() == self.uid {
                0o100
            } else if found.gid() == self.gid {
                0o010
            } else {
                0o001
            };
            if mode & search == 0 {
                return Err(PostgresError::Unreachable {
                    account: self.name.clone(),
                    path: path.to_owned(),
                    blocked: folder.to_owned(),
                });
            }
        }
        Ok(())
    }
}

fn find(passwd: &str, wanted: impl Fn(&Account) -> bool) -> Option<Account> {
    passwd
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?.to_owned();
            let uid = fields.nth(1)?.parse().ok()?;
            let gid = fields.next()?.parse().ok()?;
            Some(Account { name, uid, gid })
        })
        .find(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_and_damaged_lines_skipped() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbroken\n+::::::\nnobody:x:65534:65533:n:/:/x\n";
        let nobody = find(passwd, |account| account.name == "nobody");
        assert_eq!(nobody, Some(Account { name: "nobody".into(), uid: 65534, gid: 65533 }));
        assert_eq!(find(passwd, |account| account.name == "broken"), None);
    }

    #[test]
    fn a_closed_folder_on_the_way_is_named() {
        let parent = tempfile::tempdir().expect("folder");
        let closed = parent.path().join("closed");
        fs::create_dir(&closed).expect("folder");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("mode");
        let stranger = Account { name: "stranger".into(), uid: 4_000_000, gid: 4_000_000 };
        assert!(matches!(stranger.check_reach(&closed.join("home")), Err(PostgresError::Unreachable { .. })));
    }
}
