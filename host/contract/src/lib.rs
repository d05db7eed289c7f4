//! The contract between Wedflow and a WED-transition, as far as it can be judged without running
//! anything: what an uploaded component must look like ([`inspect`]), what it says of itself
//! ([`Manifest`]), and how that fits a flow ([`bind`]).
//!
//! The contract itself is `wit/transition.wit`. Nothing here compiles or executes a component, and
//! nothing here does I/O: the sandbox is the sole user of a WebAssembly runtime.

mod binding;
mod declaration;
mod digest;
mod inspect;
mod refusal;
mod weight;
mod world;

pub use binding::{BindError, Binding, BoundAttribute, Misfit, bind};
pub use declaration::{
    Declaration, DeclarationError, DeclaredAttribute, DeclaredKind, MAX_ATTRIBUTES, MAX_CONDITION_BYTES,
    MAX_DECLARATIONS, MAX_DESCRIPTION_BYTES, MAX_NAME_BYTES, MAX_TIMEOUT, Manifest, check_manifest,
};
pub use digest::{Digest, NoDigest};
pub use inspect::{Inspection, MAX_NESTING, inspect};
pub use refusal::{Form, Quantity, Refusal};
pub use weight::MAX_COMPONENT_INSTANCES;
pub use weight::{MODULE_MEMORIES, MODULE_TABLES};

/// The interface that a component may call, with its version.
pub const HOST_INTERFACE: &str = "wed:flow/host@0.1.0";

/// The interfaces that hold the contract's types; a component imports them for the types alone.
pub const TYPE_INTERFACES: [&str; 2] = ["wed:flow/types@0.1.0", "wed:flow/values@0.1.0"];

/// The functions of [`HOST_INTERFACE`].
pub const HOST_FUNCTIONS: [&str; 8] = ["log", "panicked", "now", "random", "sleep", "config", "secret", "attributes"];

/// The interface of an instance's files, served where operator and flow grant it.
pub const FILES_INTERFACE: &str = "wed:flow/files@0.1.0";

/// The functions of [`FILES_INTERFACE`].
pub const FILES_FUNCTIONS: [&str; 5] = ["read", "write", "append", "remove", "all"];

/// The interface of outbound HTTP, served where operator and flow grant it.
pub const HTTP_INTERFACE: &str = "wed:flow/http@0.1.0";

/// The functions of [`HTTP_INTERFACE`].
pub const HTTP_FUNCTIONS: [&str; 2] = ["fetch", "key"];

/// The prefix of the interfaces that a component may import although hardly any is served: what a
/// standard library drags in, and traps when it is called.
pub const WASI_PREFIX: &str = "wasi:";
