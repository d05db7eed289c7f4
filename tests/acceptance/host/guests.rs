//! The guests of `tests/guests`, built when they are first asked for.

use std::process::Command;
use std::sync::LazyLock;

use crate::support::repository;

/// Transitions that misbehave, one each, and small ones that do not. The flow they fit is [`super::flow`].
pub(crate) fn hostile() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| built("hostile"));
    &BYTES
}

/// A guest with the standard library, whose transition `clause` sets what it does not declare to write.
pub(crate) fn ordinary() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| built("ordinary"));
    &BYTES
}

fn built(name: &str) -> Vec<u8> {
    let guests = repository("tests/guests");
    let output = Command::new(env!("CARGO"))
        .args([
            "build",
            "--release",
            "--locked",
            "--target",
            "wasm32-wasip2",
            "-p",
            name,
        ])
        .current_dir(&guests)
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "the guest `{name}` does not build (is its target there? `rustup target add wasm32-wasip2`):\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let file = guests.join(format!("target/wasm32-wasip2/release/{name}.wasm"));
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
