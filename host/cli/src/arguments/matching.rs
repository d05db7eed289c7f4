//! Instances of a flow that are meant together, and what is done to them.

use clap::{Args, ValueEnum};
use wedflow_documents::Act;

use super::StatusArgument;

/// Instances of a flow; all where nothing narrows them.
#[derive(Debug, Args)]
pub(crate) struct Matching {
    /// Only those of this status.
    #[arg(long)]
    pub(crate) status: Option<StatusArgument>,
    /// Only those whose attribute has this value; may be repeated.
    #[arg(long = "where", value_name = "ATTRIBUTE=VALUE")]
    pub(crate) holding: Vec<String>,
    /// Only those whose state fulfils this condition, as in a trigger: "qty > 3 AND item = 'tea'".
    #[arg(long, value_name = "CONDITION")]
    pub(crate) condition: Option<String>,
    /// Only those with a pending job of this transition; `batch skip` needs it.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) transition: Option<String>,
    /// Only those whose status changed since this time (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub(crate) changed_since: Option<String>,
    /// Only those that were started before this time (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub(crate) started_before: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BatchArguments {
    /// The flow.
    pub(crate) flow: String,
    /// The action.
    pub(crate) act: ActArgument,
    #[command(flatten)]
    pub(crate) matching: Matching,
    /// Open attribute that `send` sets, with its value; may be repeated.
    #[arg(long, value_name = "ATTRIBUTE=VALUE")]
    pub(crate) set: Vec<String>,
    /// Why; kept in the trace and in the audit log.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
    /// Do it.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ActArgument {
    /// Retry exceptions; waiting jobs are due now.
    Retry,
    /// End them.
    Cancel,
    /// Pause them.
    Pause,
    /// Resume them.
    Resume,
    /// Drop their pending job of a transition.
    Skip,
    /// Send them an event: set open attributes.
    Send,
    /// Remove final ones with all that is recorded of them, but for the audit log.
    Delete,
}

impl From<ActArgument> for Act {
    fn from(argument: ActArgument) -> Self {
        match argument {
            ActArgument::Retry => Act::Retry,
            ActArgument::Cancel => Act::Cancel,
            ActArgument::Pause => Act::Pause,
            ActArgument::Resume => Act::Resume,
            ActArgument::Skip => Act::Skip,
            ActArgument::Send => Act::Send,
            ActArgument::Delete => Act::Delete,
        }
    }
}
