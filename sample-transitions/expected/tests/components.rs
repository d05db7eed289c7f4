//! The built components: valid, and with no import but the server's own interface.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wasmparser::{ComponentExternalKind, ComponentTypeRef, Parser, Payload, Validator, WasmFeatures};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn manifest(folder: &Path) -> toml::Table {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    text.parse().unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Names of the components: the packages that the workspace builds by default.
fn components() -> Vec<String> {
    let workspace = workspace();
    let members = &manifest(&workspace)["workspace"]["default-members"];
    let members = members.as_array().expect("members").iter();
    members
        .map(|member| {
            let folder = workspace.join(member.as_str().expect("a folder"));
            let name = manifest(&folder)["package"]["name"].clone();
            name.as_str().expect("a name").replace('-', "_")
        })
        .collect()
}

fn built() -> PathBuf {
    let workspace = workspace();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--target", "wasm32-wasip2"])
        .current_dir(&workspace)
        // Flags meant for this test, such as those for coverage, are not meant for the components.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the samples build for wasm32-wasip2");
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace.join("target"), PathBuf::from)
        .join("wasm32-wasip2/release")
}

#[test]
fn the_samples_are_components_that_import_only_the_host() {
    let directory = built();
    // `host` has the functions; the other two are the types in their signatures.
    let known = ["host", "types", "values"].map(|interface| format!("wed:flow/{interface}@0.1.0"));
    let known = BTreeSet::from(known);
    let components = components();
    assert!(components.len() > 5, "{components:?}");
    for name in components {
        let path = directory.join(&name).with_extension("wasm");
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(Parser::is_component(&bytes), "{name} is a component");
        Validator::new_with_features(WasmFeatures::default())
            .validate_all(&bytes)
            .unwrap_or_else(|error| panic!("{name}: {error}"));

        let (mut imports, mut exports) = (BTreeSet::new(), BTreeSet::new());
        let mut depth = 0;
        for payload in Parser::new(0).parse_all(&bytes) {
            match payload.expect("validated") {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth -= 1,
                Payload::ComponentImportSection(section) if depth == 0 => {
                    for import in section {
                        let import = import.expect("validated");
                        // The types that the world names are imported too; they bring no code.
                        if !matches!(import.ty, ComponentTypeRef::Type(_)) {
                            imports.insert(import.name.name.to_owned());
                        }
                    }
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        let export = export.expect("validated");
                        if export.kind == ComponentExternalKind::Func {
                            exports.insert(export.name.name.to_owned());
                        }
                    }
                }
                _ => {}
            }
        }
        let others: Vec<&String> = imports.difference(&known).collect();
        assert!(others.is_empty(), "{name} imports {others:?}");
        assert_eq!(exports, BTreeSet::from(["describe".into(), "run".into()]), "{name}");
    }
}
