//! The baselines: what plain SQL does on the same server, driven by Postgres's own pgbench.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use anyhow::{Context, Result, bail};
use tokio::process::Command;

use crate::processors::ProcessorTime;
use crate::scenario::Measured;

/// Connections of the baselines.
const CLIENTS: u32 = 8;

/// The program pgbench, where it is installed.
pub(crate) struct Pgbench {
    program: PathBuf,
    /// The server's process, where it runs on this machine.
    server: Option<u32>,
}

impl Pgbench {
    /// Looks in the PATH and where Debian puts it.
    pub(crate) fn find(server: Option<u32>) -> Option<Self> {
        let mut folders: Vec<PathBuf> =
            std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
        if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
            folders.extend(versions.flatten().map(|version| version.path().join("bin")));
        }
        folders
            .into_iter()
            .map(|folder| folder.join("pgbench"))
            .find(|path| path.is_file())
            .map(|program| Pgbench { program, server })
    }

    /// Measures the four statements of a transition, pipelined in one transaction; `first` creates the tables.
    pub(crate) async fn bare(&self, url: &str, seconds: u64, first: bool) -> Result<Measured> {
        if first {
            let setup = include_str!("../sql/bare-setup.sql");
            self.run(url, Some(setup), &["-t", "1"]).await?;
        }
        self.rate(url, Some(include_str!("../sql/bare.sql")), CLIENTS, seconds).await
    }

    /// Measures `pgbench -N`; `first` creates its tables.
    pub(crate) async fn plain(&self, url: &str, seconds: u64, first: bool) -> Result<Measured> {
        if first {
            let mut made = Command::new(&self.program);
            made.args(["-i", "-q", "-s", "10", url]);
            checked(made.output().await)?;
        }
        self.rate(url, None, CLIENTS, seconds).await
    }

    /// Measures a worker that follows the papers' protocol, on one connection.
    pub(crate) async fn external(&self, url: &str, seconds: u64) -> Result<Measured> {
        self.rate(url, Some(include_str!("../sql/external.sql")), 1, seconds).await
    }

    async fn rate(&self, url: &str, script: Option<&str>, clients: u32, seconds: u64) -> Result<Measured> {
        let (clients, threads) = (clients.to_string(), clients.min(2).to_string());
        let time = seconds.to_string();
        let mut options = vec!["-M", "prepared", "-c", &clients, "-j", &threads, "-T", &time];
        if script.is_none() {
            options.push("-N");
        }
        let before = ProcessorTime::now(self.server);
        let answer = self.run(url, script, &options).await?;
        let used = before.elapsed(self.server);
        let rate = answer.lines().find_map(|line| {
            let rate = line.strip_prefix("tps = ")?.split_whitespace().next()?;
            rate.parse::<f64>().ok()
        });
        let Some(per_s) = rate else {
            bail!("pgbench printed no rate: {answer}");
        };
        Ok(Measured { per_s, server_us: used.server.map(|us| us / (per_s * seconds as f64)), ..Measured::default() })
    }

    /// Runs pgbench with a script, or with its own.
    async fn run(&self, url: &str, script: Option<&str>, options: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.arg("-n").args(options).stdin(Stdio::null());
        let mut file = tempfile::NamedTempFile::new().context("a file for pgbench's script")?;
        if let Some(script) = script {
            file.write_all(script.as_bytes()).context("pgbench's script")?;
            command.arg("-f").arg(file.path());
        }
        checked(command.arg(url).output().await)
    }
}

fn checked(output: std::io::Result<Output>) -> Result<String> {
    let output = output.context("pgbench could not be started")?;
    if !output.status.success() {
        bail!("pgbench failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
