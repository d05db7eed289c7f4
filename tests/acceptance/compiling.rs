//! Components are compiled in a child of this very program, within limits.

use wedflow_model::Limits;
use wedflow_sandbox::{Sandbox, Settings, UploadError};

use crate::support::database::sample_component;
use crate::support::trials;

trials![
    a_component_that_takes_too_much_to_compile_is_refused_by_name,
    what_was_compiled_is_loaded_the_next_time,
];

fn sandbox(cache: Option<std::path::PathBuf>) -> Sandbox {
    Sandbox::new(Settings {
        concurrent: 4,
        cache,
        ..Settings::fast()
    })
    .expect("a sandbox")
}

fn a_component_that_takes_too_much_to_compile_is_refused_by_name() {
    let sandbox = sandbox(None);
    let bytes = sample_component("travel");
    let little = Limits {
        compile_memory_bytes: 48 << 20,
        ..Limits::default()
    };
    let refused = sandbox.compile(bytes, &little).expect_err("no memory");
    assert!(
        matches!(refused, UploadError::CompileMemory { bytes } if bytes == 48 << 20),
        "{refused}"
    );
    let short = Limits {
        compile_seconds: 0,
        ..Limits::default()
    };
    let refused = sandbox.compile(bytes, &short).expect_err("no time");
    assert!(
        matches!(refused, UploadError::CompileTime { seconds: 0 }),
        "{refused}"
    );
    // And then as ever.
    sandbox
        .compile(bytes, &Limits::default())
        .expect("compiled");
}

fn what_was_compiled_is_loaded_the_next_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("compiled");
    let bytes = sample_component("paper");
    sandbox(Some(cache.clone()))
        .compile(bytes, &Limits::default())
        .expect("compiled");
    // Where nothing may be compiled any more, it is there all the same.
    let none = Limits {
        compile_seconds: 0,
        compile_memory_bytes: 0,
        ..Limits::default()
    };
    sandbox(Some(cache.clone()))
        .compile(bytes, &none)
        .expect("loaded");
    // Changed by whomever, it is compiled anew.
    let code = std::fs::read_dir(&cache)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.file_name().is_some_and(|name| name != "key"))
        .expect("the code");
    let mut changed = std::fs::read(&code).expect("read");
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    std::fs::write(&code, changed).expect("written");
    sandbox(Some(cache.clone()))
        .compile(bytes, &none)
        .expect_err("not loaded");
    sandbox(Some(cache))
        .compile(bytes, &Limits::default())
        .expect("compiled anew");
}
