//! Arguments about files of instances of a tenant that leaves or arrives.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct TravelArguments {
    /// Folder of the files of instances, as hosts have it with `wed serve --files`: they go along, and are compared
    /// where they arrive.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) files: Option<PathBuf>,
    /// Leave the files of instances behind.
    #[arg(long, conflicts_with = "files")]
    pub(crate) without_files: bool,
}
