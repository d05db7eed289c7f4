//! Embeds the samples that `wed demo` plays without the source's folder, and names the build for `wed --version`.
//!
//! A sample whose component is not built is left out; `make samples` builds them, and then this runs again.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Samples of one small component each. The sample `order` has interpreters of 30 MB in its components.
const SAMPLES: [&str; 6] = ["paper", "counters", "random-walk", "patterns", "travel", "book-sale"];

/// Folder of built components below the samples' folder.
const BUILT: &str = "target/wasm32-wasip2/release";

fn main() -> Result<(), Box<dyn Error>> {
    let version = std::env::var("CARGO_PKG_VERSION")?;
    let commit = std::env::var("WED_COMMIT").unwrap_or_default();
    let build = match commit.is_empty() {
        true => version,
        false => format!("{version} ({commit})"),
    };
    println!("cargo:rustc-env=WED_BUILD={build}");
    println!("cargo:rerun-if-env-changed=WED_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");

    let samples =
        PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../sample-transitions").canonicalize()?;
    let mut list = String::from("&[\n");
    for sample in SAMPLES {
        let component = format!("{BUILT}/{}.wasm", sample.replace('-', "_"));
        if !samples.join(&component).is_file() {
            // Runs again once something is built.
            println!("cargo:rerun-if-changed={}", samples.display());
            continue;
        }
        let mut files = vec![component];
        definitions(&samples, Path::new(sample), &mut files)?;
        for file in files {
            let path = samples.join(&file);
            println!("cargo:rerun-if-changed={}", path.display());
            writeln!(list, "    ({file:?}, include_bytes!({path:?})),")?;
        }
    }
    list.push(']');
    let output = PathBuf::from(std::env::var("OUT_DIR")?).join("samples.rs");
    std::fs::write(output, list)?;
    Ok(())
}

/// Collects the definitions and expectations of a sample, relative to the samples' folder.
fn definitions(samples: &Path, folder: &Path, files: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(samples.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            definitions(samples, &path, files)?;
        } else if path.extension().is_some_and(|end| end == "toml") && !path.ends_with("Cargo.toml") {
            files.push(path.to_string_lossy().into_owned());
        }
    }
    files.sort();
    Ok(())
}
