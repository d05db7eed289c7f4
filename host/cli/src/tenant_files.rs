//! Files of a tenant's instances on their way: from the folder of one installation's hosts to that of another's, or
//! into a tenant's file and out of it. What has arrived is read again and compared by digest.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wedflow_capability::files::{Draft, FileError, Files};
use wedflow_store::FlowFolder;

use crate::arguments::TravelArguments;
use crate::problem::Problem;

/// Beginning of the names of files of instances in a tenant's file.
pub(crate) const FILES: &str = "files/";
/// Further tries to copy files that change meanwhile: attempts that were in flight at the fence may end.
const TRIES_MAX: u32 = 3;

/// Count and digest of a tenant's files, whatever their folder is called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSum {
    /// Number of files.
    pub(crate) files: u64,
    /// Bytes of all.
    pub(crate) bytes: u64,
    /// SHA-256 over names and contents.
    pub(crate) sha256: String,
}

/// Sum that is being made.
#[derive(Default)]
pub(crate) struct Summing {
    files: u64,
    bytes: u64,
    digest: Sha256,
}

impl Summing {
    /// Adds a file by its path, which names flow, instance and file.
    pub(crate) fn add(&mut self, path: &str, content: &[u8]) {
        self.files += 1;
        self.bytes += content.len() as u64;
        self.digest.update(path.as_bytes());
        self.digest.update([0]);
        self.digest.update(Sha256::digest(content));
    }

    pub(crate) fn end(self) -> FileSum {
        FileSum { files: self.files, bytes: self.bytes, sha256: HEXLOWER.encode(&self.digest.finalize()) }
    }
}

/// Files of a tenant at one end of its way.
pub(crate) struct TenantFiles {
    files: Files,
    /// Folders of the flows by the flows' names.
    folders: BTreeMap<String, String>,
}

/// Opens the files of a tenant; none where they stay behind, or there are none.
///
/// # Errors
/// Flows keep files and no option names their folder or leaves them behind; a folder that cannot be opened.
pub(crate) fn opened(
    travel: &TravelArguments,
    folder: Option<&Path>,
    flows: &[FlowFolder],
) -> Result<Option<TenantFiles>, Problem> {
    let Some(folder) = folder else {
        let keeping = flows.iter().filter(|flow| flow.keeps_files);
        let keeping: Vec<&str> = keeping.map(|flow| flow.flow.as_str()).collect();
        return match travel.without_files || keeping.is_empty() {
            true => Ok(None),
            false => Err(Problem::usage(format!("instances may have files, of flows {}", keeping.join(", "))).hint(
                "Say --files FOLDER, the folder that hosts have with `wed serve --files`; or --without-files, and copy \
                 them yourself while the tenant rests.",
            )),
        };
    };
    let files = Files::open(folder).map_err(|error| {
        Problem::new(format!("{} cannot be opened", folder.display()))
            .because(error)
            .exit(3)
            .hint("Name the folder that hosts have with `wed serve --files`.")
    })?;
    Ok(Some(TenantFiles::new(files, flows)))
}

impl TenantFiles {
    fn new(files: Files, flows: &[FlowFolder]) -> Self {
        let folders = flows.iter().map(|one| (one.flow.clone(), one.folder.clone()));
        TenantFiles { files, folders: folders.collect() }
    }

    /// Returns the files with the folders of other flows: those that the tenant has where it arrives.
    pub(crate) fn of_flows(self, flows: &[FlowFolder]) -> Self {
        TenantFiles::new(self.files, flows)
    }

    /// Reads all files, by flow, instance and name.
    pub(crate) fn each(&self, mut act: impl FnMut(&str, &[u8]) -> io::Result<()>) -> Result<(), FileError> {
        for (flow, folder) in &self.folders {
            for wid in self.files.instances_of(folder)? {
                let draft = self.files.draft(folder, wid);
                for (name, _) in draft.list()? {
                    // It may be gone by now.
                    if let Some(content) = draft.read(&name)? {
                        act(&format!("{flow}/{wid}/{name}"), &content)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn sum(&self) -> Result<FileSum, FileError> {
        let mut summing = Summing::default();
        self.each(|path, content| {
            summing.add(path, content);
            Ok(())
        })?;
        Ok(summing.end())
    }

    /// Removes what an earlier try has left.
    fn clear(&self) -> io::Result<()> {
        for folder in self.folders.values() {
            for wid in self.files.instances_of(folder)? {
                self.files.forget(folder, wid)?;
            }
        }
        Ok(())
    }

    /// Begins to put files here, in the place of those that are here.
    pub(crate) fn putting(&self) -> io::Result<Putting<'_>> {
        self.clear()?;
        Ok(Putting { to: self, instance: None })
    }

    /// Compares what is here with what was meant to come.
    pub(crate) fn check(&self, expected: &FileSum) -> Result<(), FileError> {
        match self.sum()? == *expected {
            true => Ok(()),
            false => Err(io::Error::other("what has arrived differs from what was read").into()),
        }
    }
}

/// Files on their way into folders, instance by instance.
pub(crate) struct Putting<'a> {
    to: &'a TenantFiles,
    instance: Option<(String, Draft)>,
}

impl Putting<'_> {
    /// Puts a file at its path. Files of an instance come one after the other.
    pub(crate) fn put(&mut self, path: &str, content: &[u8]) -> Result<(), FileError> {
        let parts = path.rsplit_once('/');
        let parts = parts.and_then(|(instance, name)| Some((instance, instance.rsplit_once('/')?, name)));
        let found = parts.and_then(|(instance, (flow, wid), name)| {
            Some((instance, self.to.folders.get(flow)?, wid.parse().ok()?, name))
        });
        let Some((instance, folder, wid, name)) = found else {
            return Err(io::Error::other(format!("{path} is a file of no instance")).into());
        };
        if self.instance.as_ref().is_none_or(|(known, _)| known != instance) {
            self.keep()?;
            self.instance = Some((instance.to_owned(), self.to.files.draft(folder, wid)));
        }
        match &mut self.instance {
            Some((_, draft)) => draft.write(name, content),
            None => Ok(()),
        }
    }

    fn keep(&mut self) -> io::Result<()> {
        match self.instance.take() {
            Some((_, draft)) => draft.keep(),
            None => Ok(()),
        }
    }

    /// Ends with what was put last.
    pub(crate) fn end(mut self) -> io::Result<()> {
        self.keep()
    }
}

/// Copies the files of a tenant, and compares both ends.
pub(crate) fn copy(from: &TenantFiles, to: &TenantFiles) -> Result<FileSum, Problem> {
    let mut tries = 0;
    loop {
        let copied = copy_once(from, to).and_then(|()| Ok((from.sum()?, to.sum()?)));
        match copied {
            Ok((here, there)) if here == there => return Ok(there),
            Ok(_) if tries < TRIES_MAX => tries += 1,
            Ok(_) => {
                return Err(Problem::new("the files of the tenant change while they are copied")
                    .hint("Look who writes to the folder; then run the same again."));
            }
            Err(error) => {
                return Err(Problem::new("the files of the tenant could not be copied").because(error));
            }
        }
    }
}

fn copy_once(from: &TenantFiles, to: &TenantFiles) -> Result<(), FileError> {
    let mut putting = to.putting()?;
    from.each(|path, content| (putting.put(path, content)).map_err(io::Error::other))?;
    Ok(putting.end()?)
}
