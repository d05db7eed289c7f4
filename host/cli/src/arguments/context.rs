//! Arguments of `wed login`, `wed context` and `wed config`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct LoginArguments {
    /// Name of the context; the server's host when absent.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// List the contexts.
    List,
    /// Use a context from now on; `local` for the database.
    Use {
        /// The context.
        name: String,
    },
    /// Delete a context with its token. The token stays valid: `wed token delete` ends it.
    #[command(alias = "remove")]
    Delete {
        /// The context.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OwnConfigCommand {
    /// Show the settings in force.
    Show {
        /// Say where each comes from.
        #[arg(long)]
        origin: bool,
    },
}
