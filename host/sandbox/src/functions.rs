//! Compiled functions of an author's earlier builds: a component that differs from the last one in its data alone, as
//! one with an interpreter does when its script changed, is put together from them instead of being compiled anew.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use redb::{Database, ReadOnlyTable, ReadableDatabase, TableDefinition};
use wasmtime::{CacheStore, Engine};

use crate::settings::Settings;

/// Machine code of a function by the digest of what it was compiled from, settings of the compiler included.
const FUNCTIONS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("functions");

/// Bytes of a file that is used again; one that is larger begins anew.
const FILE_BYTES: u64 = 512 << 20;

/// A file of functions. One process at a time has it; others compile without.
#[derive(Debug)]
struct Functions {
    file: Database,
    known: Option<ReadOnlyTable<&'static [u8], &'static [u8]>>,
    new: Mutex<HashMap<Vec<u8>, Vec<u8>>>,
}

/// Compiles a component in this process, with the functions that the file holds, and adds those that it lacks.
///
/// # Errors
/// The compiler's. A file that cannot be used is no error: all is compiled.
pub(crate) fn compile(folder: &Path, bytes: &[u8], settings: &Settings) -> wasmtime::Result<Vec<u8>> {
    let functions = Functions::open(&folder.join("functions.redb"))
        .inspect_err(|error| tracing::debug!("no function of earlier builds is used: {error}"))
        .ok()
        .map(Arc::new);
    let mut config = settings.code();
    if let Some(functions) = &functions {
        config.enable_incremental_compilation(Arc::clone(functions) as Arc<dyn CacheStore>)?;
    }
    let code = Engine::new(&config)?.precompile_component(bytes)?;
    if let Some(Err(error)) = functions.map(|functions| functions.keep()) {
        tracing::debug!("compiled functions cannot be kept: {error}");
    }
    Ok(code)
}

impl Functions {
    fn open(file: &PathBuf) -> Result<Functions, redb::Error> {
        if fs::metadata(file).is_ok_and(|found| found.len() > FILE_BYTES) {
            fs::remove_file(file)?;
        }
        let file = Database::create(file)?;
        let known = file.begin_read()?.open_table(FUNCTIONS).ok();
        Ok(Functions { file, known, new: Mutex::default() })
    }

    /// Writes the functions that the file lacks.
    fn keep(&self) -> Result<(), redb::Error> {
        let new = std::mem::take(&mut *self.new.lock().unwrap_or_else(PoisonError::into_inner));
        if new.is_empty() {
            return Ok(());
        }
        let write = self.file.begin_write()?;
        {
            let mut table = write.open_table(FUNCTIONS)?;
            for (key, code) in &new {
                table.insert(key.as_slice(), code.as_slice())?;
            }
        }
        Ok(write.commit()?)
    }
}

impl CacheStore for Functions {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        let found = self.known.as_ref()?.get(key).ok()??;
        Some(Cow::Owned(found.value().to_vec()))
    }

    fn insert(&self, key: &[u8], value: Vec<u8>) -> bool {
        let mut new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
        new.insert(key.to_vec(), value);
        true
    }
}

#[cfg(test)]
mod tests {
    use redb::ReadableTableMetadata;

    use super::*;

    /// A component with this function of addition, over a memory that begins with this text.
    fn component(data: &str, constant: u32) -> Vec<u8> {
        wat::parse_str(format!(
            r#"(component (core module
                (memory 1) (data (i32.const 8) "{data}")
                (func (export "first") (param i32) (result i32) (i32.load (local.get 0)))
                (func (export "second") (param i32) (result i32) (i32.add (local.get 0) (i32.const {constant})))))"#
        ))
        .expect("WAT")
    }

    fn number_of_functions(folder: &Path) -> u64 {
        let functions = Functions::open(&folder.join("functions.redb")).expect("opened");
        functions.known.map_or(0, |known| known.len().expect("a number"))
    }

    #[test]
    fn component_with_other_data_is_put_together_from_known_functions() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = Settings::fast();
        let build = |bytes: &[u8]| {
            let plain =
                Engine::new(&settings.code()).and_then(|engine| engine.precompile_component(bytes)).expect("compiled");
            let code = compile(folder.path(), bytes, &settings).expect("compiled");
            assert_eq!(code, plain, "the same code as without");
            number_of_functions(folder.path())
        };
        let first = build(&component("one", 1));
        assert!(first > 2);
        // The compiler now and then gives a function of its own, a trampoline, another digest.
        let second = build(&component("another", 1));
        assert!(second - first <= 1, "{second} functions after {first}");
        assert!(build(&component("another", 2)) > second);
    }

    #[test]
    fn damaged_or_occupied_file_costs_time_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("functions.redb");
        let settings = Settings::fast();
        fs::write(&file, b"no file of functions").expect("written");
        compile(folder.path(), &component("one", 1), &settings).expect("compiled");
        fs::remove_file(&file).expect("removed");
        let occupied = Functions::open(&file).expect("opened");
        compile(folder.path(), &component("one", 1), &settings).expect("compiled");
        drop(occupied);
        assert_eq!(number_of_functions(folder.path()), 0);
    }
}
