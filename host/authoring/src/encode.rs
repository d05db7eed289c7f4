//! Encodes the core module that a C or Go compiler makes as a component of the contract.

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wasmparser::{Parser, Payload};
use wedflow_sandbox::{InitialiseError, initialised};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::segments::without_passive;

/// The contract that components are made for.
const CONTRACT: &str = include_str!("../../../wit/transition.wit");

/// WASI for a module of the Go SDK, and what that one imports of it beyond WASI.
const PREVIEW1: &str = include_str!("preview1.wat");
const OURS: &str = "wedflow_begin";

/// The section in which a toolchain says what the module's world is.
const TYPE_SECTION: &str = "component-type";

/// A core module of which no component can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The file is a component already.
    #[error("it is a component already; it needs no encoding")]
    Component,
    /// The file is no WebAssembly, or damaged.
    #[error("it is no WebAssembly module: {0}; give the file that the compiler wrote")]
    NoModule(String),
    /// The module imports or exports what the contract does not have, or lacks what it demands.
    #[error("it does not fit the contract: {0}; use an SDK, or export `run`, `describe` and `cabi_realloc`")]
    DoesNotFit(String),
    /// The start of a Go module, which is performed while it is built, failed.
    #[error("Go's start (package variables and `init` functions) is performed while it is built: {0}")]
    Start(#[from] InitialiseError),
}

/// Makes a component of a core module that exports the functions of the contract's world by the
/// canonical ABI. What the module wants of WASI preview 1, an adapter gives it: one of ours where the Go
/// SDK asks for it, else the usual one.
///
/// A module that says its own world (as `wit-bindgen` has it) keeps it.
///
/// # Errors
/// [`EncodeError`], which says what is wrong and how to mend it.
pub fn encode(module: &[u8]) -> Result<Vec<u8>, EncodeError> {
    if Parser::is_component(module) {
        return Err(EncodeError::Component);
    }
    let (mut wasi, mut ours, mut typed) = (false, false, false);
    for payload in Parser::new(0).parse_all(module) {
        match payload.map_err(|error| EncodeError::NoModule(error.to_string()))? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import.map_err(|error| EncodeError::NoModule(error.to_string()))?;
                    if import.module == WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME {
                        wasi = true;
                        ours |= import.name == OURS;
                    }
                }
            }
            Payload::CustomSection(section) => typed |= section.name().starts_with(TYPE_SECTION),
            _ => {}
        }
    }
    let mut module = if ours {
        let module = initialised(module)?;
        without_passive(&module).map_err(|error| EncodeError::NoModule(error.to_string()))?
    } else {
        module.to_vec()
    };
    if !typed {
        embed(&mut module, "transition", "")?;
    }
    let mut encoder = ComponentEncoder::default().validate(true);
    if ours {
        encoder = encoder.adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, &adapter()?).map_err(unfit)?;
    } else if wasi {
        encoder = encoder
            // The adapter's own memory comes from `memory.grow`: the module's `cabi_realloc` may not be
            // ready for it before the module has begun.
            .realloc_via_memory_grow(true)
            .adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER)
            .map_err(unfit)?;
    }
    encoder.module(&module).map_err(unfit)?.encode().map_err(unfit)
}

/// Writes into a module which world of the contract it is made for; `more` is added to the contract.
fn embed(module: &mut Vec<u8>, world: &str, more: &str) -> Result<(), EncodeError> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("transition.wit", &format!("{CONTRACT}{more}")).map_err(unfit)?;
    let world = resolve.select_world(&[package], Some(world)).map_err(unfit)?;
    embed_component_metadata(module, &resolve, world, StringEncoding::UTF8).map_err(unfit)
}

/// Our own WASI, on the contract's host.
fn adapter() -> Result<Vec<u8>, EncodeError> {
    let mut module = wat::parse_str(PREVIEW1).map_err(unfit)?;
    embed(&mut module, "preview1", "\nworld preview1 { import host; }\n")?;
    Ok(module)
}

fn unfit(error: impl std::fmt::Display) -> EncodeError {
    EncodeError::DoesNotFit(format!("{error:#}"))
}
