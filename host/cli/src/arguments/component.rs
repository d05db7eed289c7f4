//! Arguments of `wed component`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct PushArguments {
    /// The .wasm files.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The name to store it under; the one in its manifest when absent, else the file's.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Bind its transitions in this flow as well: all it declares, or those given.
    #[arg(long, value_name = "FLOW")]
    pub(crate) flow: Option<String>,
    /// With --flow: bind only this transition (may be given several times).
    #[arg(long, value_name = "NAME", requires = "flow")]
    pub(crate) transition: Vec<String>,
    /// Use the new version although a flow that fits the version before does not fit it.
    #[arg(long)]
    pub(crate) activate: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ComponentCommand {
    /// Make a component of the core module that a C or Go compiler wrote; needs no server.
    Encode {
        /// The core module. It exports the contract's functions by the canonical ABI, as the SDKs see to.
        module: PathBuf,
        /// The component to write.
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
    },
    /// Check, compile and store components: all, or none when one is refused. A name that exists gets a new version.
    Push(PushArguments),
    /// List the components, newest version first, and which flows use them.
    List,
    /// Put a version into use, for what is fired from now on.
    Activate {
        /// The component.
        name: String,
        /// The version.
        version: i32,
    },
    /// Go back to the version before the one in use.
    Rollback {
        /// The component.
        name: String,
    },
    /// Remove versions that are not in use.
    Gc {
        /// Number of the newest versions of each component that stay, for going back.
        #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(i32).range(0..=10_000))]
        keep: i32,
    },
    /// Show what a component declares and which flows use it.
    Show {
        /// The component.
        name: String,
    },
}
