//! Origin of a figure: commit, machine, date, load.

use std::process::Command;

use serde::Serialize;

/// Place and time of a measurement, and the version of the program that was measured.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Origin {
    /// Day of the measurement, in UTC.
    pub(crate) date: String,
    /// Commit of the working folder; with `+` where files differ from it.
    pub(crate) commit: String,
    /// Model of the processor.
    pub(crate) machine: String,
    pub(crate) cores: usize,
    /// Processes that wanted a processor at the beginning, over the minute before: above 1, others used the machine.
    pub(crate) load: Option<f64>,
}

impl Origin {
    /// Looks at the working folder and the machine.
    pub(crate) fn now() -> Self {
        let changed = output("git", &["status", "--porcelain", "--untracked-files=no"]);
        let mark = if changed.is_some_and(|files| !files.is_empty()) { "+" } else { "" };
        let commit = output("git", &["rev-parse", "--short", "HEAD"])
            .map_or_else(|| "unknown".to_owned(), |commit| commit + mark);
        Origin {
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            commit,
            machine: processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            load: load(),
        }
    }

    /// Returns the line that stands above a table.
    pub(crate) fn line(&self) -> String {
        let load = self.load.map_or_else(String::new, |load| format!(", load {load:.1}"));
        format!("{}, commit {}, {} cores ({}){load}", self.date, self.commit, self.cores, self.machine)
    }
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
