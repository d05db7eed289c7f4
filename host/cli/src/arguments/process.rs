//! Arguments of `wed flow fmt` and `wed flow check`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `wed flow fmt`.
#[derive(Debug, Args)]
pub(crate) struct FmtArguments {
    /// Files, x.pdl; - reads the source from standard input and prints it.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Change nothing: fail if a file is printed otherwise.
    #[arg(long)]
    pub(crate) check: bool,
}

/// Arguments of `wed flow check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A file, x.pdl.
    pub(crate) file: PathBuf,
}
