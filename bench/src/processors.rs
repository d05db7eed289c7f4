//! Processor time of the host and of the server, as `/proc` tells it.

/// Microseconds of one tick of `/proc/PID/stat`.
const TICK_US: f64 = 10_000.0;

/// Processor time, in microseconds; none where `/proc` has no answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessorTime {
    /// Processor time of this process.
    pub(crate) host: Option<f64>,
    /// Processor time of the server's processes.
    pub(crate) server: Option<f64>,
}

impl ProcessorTime {
    /// Reads the time used so far. `server` is the parent of the server's processes, none on another machine.
    pub(crate) fn now(server: Option<u32>) -> Self {
        ProcessorTime { host: parent_and_time("self").map(|(_, us)| us), server: server.and_then(of_children) }
    }

    /// Returns the time used since `self` was read.
    pub(crate) fn elapsed(self, server: Option<u32>) -> Self {
        let now = ProcessorTime::now(server);
        let since = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        ProcessorTime { host: since(now.host, self.host), server: since(now.server, self.server) }
    }
}

/// Returns the parent of `backend` if it is a Postgres process of this machine.
pub(crate) fn postmaster_of(backend: i32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{backend}/stat")).ok()?;
    let (head, tail) = stat.rsplit_once(')')?;
    let parent = tail.split_whitespace().nth(1)?.parse().ok()?;
    head.ends_with("(postgres").then_some(parent)
}

fn of_children(server: u32) -> Option<f64> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let used: f64 = processes
        .filter_map(|process| parent_and_time(process.file_name().to_str()?))
        .filter_map(|(parent, us)| (parent == server).then_some(us))
        .sum();
    Some(used + parent_and_time(&server.to_string())?.1)
}

/// Reads a process's parent, and the time of the process and of children that it waited for.
fn parent_and_time(process: &str) -> Option<(u32, f64)> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, tail) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let ticks: f64 = fields.get(11..15)?.iter().filter_map(|field| field.parse::<f64>().ok()).sum();
    Some((fields.get(1)?.parse().ok()?, ticks * TICK_US))
}
