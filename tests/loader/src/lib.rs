//! Guests of tests, from source to component: crates of `tests/guests`, core modules in text, and, in `languages`, the
//! guests that are written in every language.
#![expect(clippy::expect_used, clippy::missing_panics_doc, reason = "for tests: what does not work fails them")]

pub mod languages;

use std::path::{Path, PathBuf};
use std::process::Command;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, WorldId};

/// The target of Rust guests.
const TARGET: &str = "wasm32-wasip2";

/// A file or folder of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// Builds one of the crates in `tests/guests` and reads the component.
pub fn built(name: &str) -> Vec<u8> {
    let guests = repository("tests/guests");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--target", TARGET, "-p", name])
        .current_dir(&guests)
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "the guest `{name}` does not build (is its target there? `rustup target add {TARGET}`):\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let file = guests.join(format!("target/{TARGET}/release/{name}.wasm"));
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The contract of the repository.
pub fn contract() -> String {
    std::fs::read_to_string(repository("wit/transition.wit")).expect("the contract")
}

/// Makes a component of a core module in text, whose exports are those of the contract's world.
pub fn component(contract: &str, core: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("transition.wit", contract).expect("the contract");
    let world = resolve.select_world(&[package], Some("transition")).expect("the world");
    let module = wat::parse_str(core).unwrap_or_else(|error| panic!("{error}"));
    encoded(&resolve, world, module)
}

/// Makes a component of a core module whose exports are those of a world.
pub fn encoded(resolve: &Resolve, world: WorldId, mut module: Vec<u8>) -> Vec<u8> {
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8).expect("metadata");
    ComponentEncoder::default().module(&module).expect("module").encode().expect("component")
}
