//! A tenant's file: a compressed tar with `manifest.json`, the parts in chunks, files of instances, and `end.json` with
//! a digest of each part and the checksum of all. It is written and read in the memory of one chunk.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::{Receiver, Sender};
use wedflow_store::{TenantManifest, TenantPiece};

use crate::problem::Problem;
use crate::tenant_files::{FILES, FileSum, Summing, TenantFiles};

/// Name of the file's head.
const MANIFEST: &str = "manifest.json";
/// Name of the file's end.
const END: &str = "end.json";
/// Largest entry that is read, in bytes: a chunk ends with a whole row, and a row holds a component at most.
const ENTRY_BYTES_MAX: u64 = 1 << 30;

/// End of a file.
#[derive(Debug, Serialize, Deserialize)]
struct End {
    /// SHA-256 of each part.
    digests: Vec<String>,
    /// Checksum of the tenant.
    checksum: Json,
    /// Sum of the files of instances, where they are in it.
    #[serde(default)]
    files: Option<FileSum>,
}

/// A file that is being written, under another name until it is whole.
pub(crate) struct Draft {
    file: File,
    draft: PathBuf,
    to: PathBuf,
}

/// Begins a file, which must not be there.
pub(crate) fn begin(to: &Path) -> Result<Draft, Problem> {
    let failed = |source| {
        Problem::new(format!("{} cannot be written", to.display()))
            .because(source)
            .exit(3)
            .hint("Name a file that does not exist yet, in a folder that does.")
    };
    if to.exists() {
        return Err(failed(io::Error::from(io::ErrorKind::AlreadyExists)));
    }
    let mut name = to.as_os_str().to_owned();
    name.push(".part");
    let draft = PathBuf::from(name);
    let file = (OpenOptions::new().write(true).create(true).truncate(true)).mode(0o600).open(&draft).map_err(failed)?;
    let to = to.to_owned();
    Ok(Draft { file, draft, to })
}

impl Draft {
    /// Writes all pieces and the files of instances, and gives the file its name. Returns its size in bytes, and the
    /// sum of those files.
    pub(crate) fn write(
        self,
        pieces: Receiver<TenantPiece>,
        files: Option<&TenantFiles>,
    ) -> Result<(u64, Option<FileSum>), Problem> {
        let written = (self.write_pieces(pieces, files)).and_then(|written| {
            std::fs::rename(&self.draft, &self.to)?;
            Ok(written)
        });
        written.map_err(|source| {
            Problem::new(format!("{} could not be written", self.to.display()))
                .because(source)
                .hint("Nothing of it was kept. The tenant is as it was: run the same again, or resume it.")
        })
    }

    fn write_pieces(
        &self,
        mut pieces: Receiver<TenantPiece>,
        files: Option<&TenantFiles>,
    ) -> io::Result<(u64, Option<FileSum>)> {
        let encoder = GzEncoder::new(BufWriter::new(&self.file), Compression::fast());
        let mut archive = tar::Builder::new(encoder);
        let mut digests: Vec<Sha256> = Vec::new();
        let mut number = 0_u64;
        while let Some(piece) = pieces.blocking_recv() {
            match piece {
                TenantPiece::Begin(manifest) => {
                    digests = vec![Sha256::new(); manifest.parts.len()];
                    append(&mut archive, MANIFEST, &serde_json::to_vec_pretty(&manifest)?)?;
                }
                TenantPiece::Chunk { part, bytes } => {
                    if let Some(digest) = digests.get_mut(part) {
                        digest.update(&bytes);
                    }
                    number += 1;
                    append(&mut archive, &format!("{part:05}/{number:08}"), &bytes)?;
                }
                TenantPiece::Complete => {}
                TenantPiece::End(checksum) => {
                    let end = End {
                        digests: digests.drain(..).map(hex).collect(),
                        checksum,
                        files: files.map(|files| append_files(&mut archive, files)).transpose()?,
                    };
                    append(&mut archive, END, &serde_json::to_vec_pretty(&end)?)?;
                    let mut file = archive.into_inner()?.finish()?;
                    file.flush()?;
                    self.file.sync_all()?;
                    return Ok((self.file.metadata()?.len(), end.files));
                }
            }
        }
        Err(io::Error::from(io::ErrorKind::UnexpectedEof))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // One that is whole has its own name.
        let _ = std::fs::remove_file(&self.draft);
    }
}

fn append(archive: &mut tar::Builder<impl Write>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o600);
    archive.append_data(&mut header, name, bytes)
}

/// Appends the files of instances.
fn append_files(archive: &mut tar::Builder<impl Write>, files: &TenantFiles) -> io::Result<FileSum> {
    let mut summing = Summing::default();
    let appended = files.each(|path, content| {
        summing.add(path, content);
        append(archive, &format!("{FILES}{path}"), content)
    });
    appended.map_err(io::Error::other)?;
    Ok(summing.end())
}

/// Reads a file and sends its pieces. The last one is sent only if each part, and each file of an instance, is as it
/// was written. Returns the sum of the files. They are refused unless somebody has said what becomes of them.
pub(crate) fn read(path: &Path, pieces: &Sender<TenantPiece>, is_said: bool) -> Result<Option<FileSum>, Problem> {
    read_pieces(path, pieces, is_said).map_err(|source| damaged(path, source))
}

fn damaged(path: &Path, source: io::Error) -> Problem {
    Problem::new(format!("{} is no tenant's file, or damaged", path.display()))
        .because(source)
        .exit(3)
        .hint("Nothing was kept. Export the tenant again.")
}

/// Puts the files of instances that are in a file where they belong, and compares them with those that were written.
pub(crate) fn unpack(path: &Path, to: &TenantFiles, expected: &FileSum) -> Result<(), Problem> {
    let unpacked = || {
        let mut putting = to.putting()?;
        each_entry(path, |name, bytes| {
            if let Some(path) = name.strip_prefix(FILES) {
                putting.put(path, &bytes).map_err(io::Error::other)?;
            }
            Ok(name != END)
        })?;
        putting.end()?;
        to.check(expected).map_err(io::Error::other)
    };
    unpacked().map_err(|source| {
        Problem::new("the files of instances could not be put where they belong")
            .because(source)
            .hint("Nothing was kept. Look at the folder, and run the same again.")
    })
}

/// Reads the entries of a file, until one is the last.
fn each_entry(path: &Path, mut act: impl FnMut(&str, Vec<u8>) -> io::Result<bool>) -> io::Result<()> {
    let decoder = GzDecoder::new(BufReader::new(File::open(path)?));
    let mut archive = tar::Archive::new(decoder);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        let size = entry.size();
        if size > ENTRY_BYTES_MAX {
            return Err(io::Error::other(format!("{name} has {size} bytes")));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        entry.read_to_end(&mut bytes)?;
        if !act(&name, bytes)? {
            return Ok(());
        }
    }
    Err(io::Error::from(io::ErrorKind::UnexpectedEof))
}

fn read_pieces(path: &Path, pieces: &Sender<TenantPiece>, is_said: bool) -> io::Result<Option<FileSum>> {
    let mut digests: Vec<Sha256> = Vec::new();
    let (mut summing, mut files) = (Summing::default(), None);
    let mut is_taken = true;
    each_entry(path, |name, bytes| {
        if let Some(path) = name.strip_prefix(FILES) {
            if !is_said {
                return Err(io::Error::other("it has files of instances: say --files FOLDER, or --without-files"));
            }
            summing.add(path, &bytes);
            return Ok(true);
        }
        let piece = match name {
            MANIFEST => {
                let manifest: TenantManifest = serde_json::from_slice(&bytes)?;
                digests = vec![Sha256::new(); manifest.parts.len()];
                TenantPiece::Begin(manifest)
            }
            END => {
                let end: End = serde_json::from_slice(&bytes)?;
                let found: Vec<String> = digests.drain(..).map(hex).collect();
                let sum = std::mem::take(&mut summing).end();
                if found != end.digests || end.files.as_ref().is_some_and(|files| *files != sum) {
                    return Err(io::Error::other("a part differs from its digest"));
                }
                files = end.files;
                TenantPiece::End(end.checksum)
            }
            _ => {
                let part = name.split('/').next().and_then(|part| part.parse().ok());
                let digest = part.and_then(|part: usize| digests.get_mut(part));
                let (Some(part), Some(digest)) = (part, digest) else {
                    return Err(io::Error::other(format!("{name} is none of its parts")));
                };
                digest.update(&bytes);
                TenantPiece::Chunk { part, bytes }
            }
        };
        let is_end = matches!(piece, TenantPiece::End(_));
        // Whoever takes them in may have ended because of what is damaged further on.
        is_taken = is_taken && pieces.blocking_send(piece).is_ok();
        Ok(!is_end)
    })?;
    Ok(files)
}

fn hex(digest: Sha256) -> String {
    HEXLOWER.encode(&digest.finalize())
}
