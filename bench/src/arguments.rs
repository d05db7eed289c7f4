//! Arguments of `wed-bench`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Measures a host on throw-away databases, against plain SQL on the same server.
#[derive(Debug, Parser)]
#[command(name = "wed-bench", version)]
pub(crate) struct Arguments {
    /// Server to measure on; the private Postgres when absent. The role must be allowed to create databases.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, global = true, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// Print one JSON document.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Benchmark {
    /// Compare a host with hand-written SQL on the same server, interleaved, in several rounds.
    Commit(CommitArguments),
    /// Measure throughput as instances, triggers, flows, history and payloads grow.
    Growth(GrowthArguments),
    /// Start instances of a flow of three steps and time them until all are final. Other durable
    /// executors are compared by this figure (`make bench-peers`).
    Steps(StepsArguments),
    /// Time a quiet tenant's jobs, alone and while another tenant has very many jobs: light ones, ones
    /// that compute for milliseconds, ones that never end.
    Fairness(FairnessArguments),
    /// Run a host under full load for long, and note each minute its rate, its memory, the sizes of tables and
    /// indexes, and what a quiet tenant waits.
    Soak(SoakArguments),
    /// Time lists, claims and notices with many people and open work items.
    Worklist(WorklistArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SoakArguments {
    /// Minutes.
    #[arg(long, default_value_t = 60, value_name = "N")]
    pub(crate) minutes: u64,
    /// Write a line of JSON for each minute into this file.
    #[arg(long, default_value = "soak.jsonl", value_name = "FILE")]
    pub(crate) jsonl: PathBuf,
    /// Draw the minutes into this file.
    #[arg(long, default_value = "soak.svg", value_name = "FILE")]
    pub(crate) svg: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct WorklistArguments {
    /// People.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub(crate) people: usize,
    /// Open work items.
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub(crate) items: usize,
    /// Roles that people and items are spread over, 1 to 500.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) roles: usize,
    /// Lists and claims that are timed.
    #[arg(long, default_value_t = 2_000, value_name = "N")]
    pub(crate) times: usize,
}

#[derive(Debug, Args)]
pub(crate) struct CommitArguments {
    /// Seconds of each measurement.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) seconds: u64,
    /// Rounds; their medians are printed.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) rounds: u32,
    /// Flows of the row "many flows".
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub(crate) flows: usize,
    /// Measure only rows whose name contains this, for example `--only "10 triggers" --only bare`.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
}

impl CommitArguments {
    /// Reports whether a row is asked for.
    pub(crate) fn measures(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| row.contains(text.as_str()))
    }
}

#[derive(Debug, Args)]
pub(crate) struct StepsArguments {
    /// Instances.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub(crate) instances: usize,
}

#[derive(Debug, Args)]
pub(crate) struct FairnessArguments {
    /// Jobs of the busy tenant that wait.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub(crate) jobs: usize,
    /// Jobs of the quiet tenant in each measurement.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub(crate) starts: usize,
    /// Rounds; their medians are printed.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) rounds: u32,
}

#[derive(Debug, Args)]
pub(crate) struct GrowthArguments {
    /// Seconds of each measurement.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) seconds: u64,
    /// Maximum number of instances.
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub(crate) instances: usize,
    /// Maximum number of triggers.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub(crate) triggers: usize,
    /// Maximum number of flows.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub(crate) flows: usize,
    /// Maximum number of trace rows.
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    pub(crate) trace: usize,
    /// Seconds of work while a transaction is held open.
    #[arg(long, default_value_t = 120, value_name = "N")]
    pub(crate) held: u64,
    /// Maximum number of bytes of a payload.
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub(crate) payload: usize,
    /// Maximum number of instances that want one key.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub(crate) waiting: usize,
    /// Measure only what contains this, for example `--only "one key"`.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// Draw the curves into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

impl GrowthArguments {
    /// Reports whether a series is asked for.
    pub(crate) fn measures(&self, series: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| series.contains(text.as_str()))
    }
}
