//! Arguments of `wed job`.

use clap::{Args, Subcommand, ValueEnum};

use super::InstanceName;

#[derive(Debug, Subcommand)]
pub(crate) enum JobCommand {
    /// List pending jobs.
    List {
        /// The flow.
        flow: String,
        /// Only those of this instance: its number, or `key:NAME`.
        wid: Option<InstanceName>,
        /// Maximum number of rows.
        #[arg(long, default_value_t = 100)]
        limit: i64,
    },
    /// Print the attempts that hosts made for an instance: outcome, what was used, what was logged.
    Logs {
        /// The flow.
        flow: String,
        /// The instance: its number, or `key:NAME`.
        wid: InstanceName,
        /// Only those at this transition.
        transition: Option<String>,
        /// Follow until the instance is final.
        #[arg(long, short)]
        follow: bool,
        /// Only lines at least so serious.
        #[arg(long, value_enum, default_value = "debug")]
        level: LevelArgument,
    },
    /// Claim due jobs that no component performs, as a worker over HTTP does: each is leased for a time.
    Claim {
        /// The flow.
        flow: String,
        /// Transitions that the worker performs.
        #[arg(required = true)]
        transitions: Vec<String>,
        /// Name of the worker.
        #[arg(long, default_value = "wed")]
        worker: String,
        /// Maximum number of jobs.
        #[arg(long, default_value_t = 1)]
        jobs: i32,
        /// Seconds of the lease; the timeout of the trigger when absent.
        #[arg(long)]
        seconds: Option<i32>,
        /// Seconds to wait for a job, at most 20.
        #[arg(long, default_value_t = 0)]
        wait: u64,
    },
    /// Prolong the lease of a claimed job from now on.
    Extend {
        #[command(flatten)]
        job: LeasedArguments,
        /// Seconds of the lease; the timeout of the trigger when absent.
        #[arg(long)]
        seconds: Option<i32>,
        /// Progress, a JSON object; the next attempt gets it.
        #[arg(long, value_name = "JSON")]
        progress: Option<String>,
    },
    /// Commit the result of a claimed job: values, or a SET clause.
    Complete {
        #[command(flatten)]
        job: LeasedArguments,
        /// New values; the other attributes stay.
        #[arg(value_name = "ATTRIBUTE=VALUE")]
        values: Vec<String>,
        /// New values as a JSON object, for null, arrays and jsonb.
        #[arg(long, value_name = "JSON")]
        state: Option<String>,
        /// The right side of SET in the place of values: "qty = qty + 1".
        #[arg(long, conflicts_with_all = ["values", "state"])]
        set: Option<String>,
    },
    /// Fail an attempt at a claimed job: it is tried again as its trigger says.
    Fail {
        #[command(flatten)]
        job: LeasedArguments,
        /// Message for a person.
        message: String,
        /// Make no other attempt.
        #[arg(long)]
        last: bool,
        /// Seconds until the next attempt; the backoff of the trigger when absent.
        #[arg(long)]
        after: Option<i32>,
    },
}

/// A job that was claimed.
#[derive(Debug, Args)]
pub(crate) struct LeasedArguments {
    /// The flow.
    pub(crate) flow: String,
    /// The instance: its number, or `key:NAME`.
    pub(crate) wid: InstanceName,
    /// The trigger of the job.
    pub(crate) trigger: String,
    /// Lease token, as the claim told it.
    #[arg(long)]
    pub(crate) lease: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LevelArgument {
    /// Everything.
    Debug,
    /// Normal operation, and worse.
    Info,
    /// Something odd, and worse.
    Warn,
    /// Cause of a transition's end.
    Error,
}

impl LevelArgument {
    /// Returns true if a line of this severity is wanted.
    pub(crate) fn admits(self, severity: &str) -> bool {
        let own = match severity {
            "debug" => LevelArgument::Debug,
            "info" => LevelArgument::Info,
            "warn" => LevelArgument::Warn,
            _ => LevelArgument::Error,
        };
        own >= self
    }
}
