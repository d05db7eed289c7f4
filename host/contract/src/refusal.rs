//! Why an upload is refused before anything is compiled: what is wrong, where, how to mend it.

use std::fmt;

use crate::{FILES_INTERFACE, HOST_INTERFACE, HTTP_INTERFACE, TYPE_INTERFACES};

/// The form of an uploaded file that is not a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// No bytes at all.
    Empty,
    /// A core WebAssembly module.
    CoreModule,
    /// WebAssembly text (WAT).
    WasmText,
    /// Some other text.
    OtherText,
    /// An ELF, Mach-O or Windows executable; also what a runtime's compiled code looks like.
    NativeCode,
    /// Compressed by gzip.
    Gzip,
    /// Compressed by zstd.
    Zstd,
    /// Compressed by xz.
    Xz,
    /// Compressed by bzip2.
    Bzip2,
    /// A zip archive.
    Zip,
    /// Any other form.
    Unknown,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Empty => "the file is empty; upload the component that your build produced (a .wasm file)",
            Form::CoreModule => {
                "this is a core WebAssembly module, not a component; build for a component target \
                 (Rust: `cargo build --release --target wasm32-wasip2`) or wrap the module with \
                 `wed component encode`"
            }
            Form::WasmText => {
                "this is WebAssembly text, not binary; assemble it first (`wasm-tools parse -o \
                 component.wasm component.wat`)"
            }
            Form::OtherText => {
                "this is a text file, not a component; upload the .wasm file that your build \
                 produced, not its source"
            }
            Form::NativeCode => {
                "this is native or precompiled code; such code is never accepted from outside: \
                 upload the component it was compiled from (a .wasm file)"
            }
            Form::Gzip => "this is compressed by gzip; upload it uncompressed (`gunzip`)",
            Form::Zstd => "this is compressed by zstd; upload it uncompressed (`unzstd`)",
            Form::Xz => "this is compressed by xz; upload it uncompressed (`unxz`)",
            Form::Bzip2 => "this is compressed by bzip2; upload it uncompressed (`bunzip2`)",
            Form::Zip => "this is a zip archive; upload the .wasm file inside it",
            Form::Unknown => {
                "this is no WebAssembly component: one begins with the bytes 00 61 73 6d 0d 00 01 \
                 00; upload the .wasm file that your build produced"
            }
        })
    }
}

/// A quantity that is held against a limit at upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes of the file.
    Bytes,
    /// Functions defined in all modules of the component together.
    Functions,
    /// Core module instances that one instance of the component makes.
    Instances,
    /// Component instances that one instance of the component makes.
    ComponentInstances,
    /// Linear memories of one instance of the component.
    Memories,
    /// Tables of one instance of the component.
    Tables,
    /// Bytes of linear memory that one instance of the component begins with.
    MemoryBytes,
    /// Table elements that one instance of the component begins with.
    TableElements,
    /// Linear memories that one module defines.
    ModuleMemories,
    /// Tables that one module defines.
    ModuleTables,
    /// Levels of components inside components.
    Nesting,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantity::Bytes => "bytes",
            Quantity::Functions => "functions",
            Quantity::Instances => "core module instances",
            Quantity::ComponentInstances => "component instances",
            Quantity::Memories => "linear memories",
            Quantity::Tables => "tables",
            Quantity::MemoryBytes => "bytes of initial linear memory",
            Quantity::TableElements => "initial table elements",
            Quantity::ModuleMemories => "linear memories in one module",
            Quantity::ModuleTables => "tables in one module",
            Quantity::Nesting => "levels of nested components",
        })
    }
}

impl Quantity {
    fn remedy(self) -> &'static str {
        match self {
            Quantity::Bytes => "strip debug information (Rust: `strip = true`) and build for size",
            Quantity::Functions => "leave out libraries it does not need",
            Quantity::MemoryBytes => "reserve less memory in the linker's settings",
            _ => "compose it of fewer parts",
        }
    }
}

/// Why an upload is refused. The text names what is wrong, where it is, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The file is something other than a component.
    #[error("{0}")]
    NotAComponent(Form),
    /// The file ends too early.
    #[error(
        "the component is cut off: it ends at byte {at} in the middle of a part; upload the whole \
         file again"
    )]
    Truncated {
        /// Bytes from the start of the file.
        at: usize,
    },
    /// The component is not valid, or needs a proposal of WebAssembly that is not served.
    #[error(
        "the component is not valid at byte {at}: {what}; rebuild it with a current toolchain, \
         without proposals beyond WebAssembly 2.0"
    )]
    Invalid {
        /// Bytes from the start of the file.
        at: usize,
        /// The validator's own words.
        what: String,
    },
    /// A limit is exceeded.
    #[error("the component has {found} {quantity} where {limit} are allowed; {}", quantity.remedy())]
    TooLarge {
        /// The thing that is counted.
        quantity: Quantity,
        /// The number found.
        found: u64,
        /// The number allowed.
        limit: u64,
    },
    /// An import that nothing serves.
    #[error(
        "the component imports `{import}`, which is not served; allowed are `{HOST_INTERFACE}`, \
         `{FILES_INTERFACE}`, `{HTTP_INTERFACE}`, the types `{}` and `{}`, and interfaces of `wasi:` (they trap \
         when called); remove what \
         uses it",
        TYPE_INTERFACES[0],
        TYPE_INTERFACES[1]
    )]
    UnknownImport {
        /// The import's name; where only an item of an allowed interface is unknown, the
        /// interface's name, `#` and the item's.
        import: String,
    },
    /// A part of the component takes code as a parameter.
    #[error(
        "the component passes modules or components between its parts (at byte {at}), which is \
         not served; compose it statically (for example with `wac plug`)"
    )]
    CodeAsValue {
        /// Bytes from the start of the file.
        at: usize,
    },
    /// An export that the contract demands is missing.
    #[error("the component does not export the function `{export}`{}; build it for the world `transition` of \
     `wed:flow@0.1.0`", found_note(.exports))]
    MissingExport {
        /// The function.
        export: &'static str,
        /// The component's exports.
        exports: Vec<String>,
    },
    /// An export is there but of another type.
    #[error(
        "the export `{export}` has another type than in the world `transition` of \
         `wed:flow@0.1.0`: there it is `…{expected}`, here `…{found}`; build against the same \
         version of the contract"
    )]
    WrongExport {
        /// The function.
        export: &'static str,
        /// The contract's text, from the first difference on, shortened.
        expected: String,
        /// The component's text, from the first difference on, shortened.
        found: String,
    },
}

fn found_note(exports: &[String]) -> String {
    if exports.is_empty() {
        String::from(" (it exports nothing)")
    } else if exports.iter().any(|name| name.starts_with("wasi:cli/run")) {
        String::from(
            " (it is a program with a `main`; a transition is a library, in Rust of \
             `crate-type = [\"cdylib\"]`)",
        )
    } else {
        format!(" (it exports {})", exports.join(", "))
    }
}
