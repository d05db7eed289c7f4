//! The baselines: what plain SQL does on the same server, driven by Postgres's own pgbench.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::Command;

use super::scenario::{Measured, Processors};
use crate::problem::Problem;

/// pgbench, where it is installed.
pub(super) struct Pgbench {
    program: PathBuf,
    /// The server's process, where it runs on this machine.
    server: Option<u32>,
}

impl Pgbench {
    /// Looks in the PATH and where Debian puts it.
    pub(super) fn find(server: Option<u32>) -> Option<Self> {
        let mut folders: Vec<PathBuf> = std::env::var_os("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default();
        if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
            folders.extend(versions.flatten().map(|version| version.path().join("bin")));
        }
        folders
            .into_iter()
            .map(|folder| folder.join("pgbench"))
            .find(|path| path.is_file())
            .map(|program| Pgbench { program, server })
    }

    /// The four statements of a transition, pipelined in one transaction, on 8 connections.
    pub(super) async fn bare(
        &self,
        url: &str,
        seconds: u64,
        first: bool,
    ) -> Result<Measured, Problem> {
        if first {
            self.run(
                url,
                include_str!("../../../bench/bare-setup.sql"),
                &["-t", "1"],
            )
            .await?;
        }
        self.rate(
            url,
            Some(include_str!("../../../bench/bare.sql")),
            8,
            seconds,
        )
        .await
    }

    /// `pgbench -N`, on 8 connections.
    pub(super) async fn plain(
        &self,
        url: &str,
        seconds: u64,
        first: bool,
    ) -> Result<Measured, Problem> {
        if first {
            let made = Command::new(&self.program)
                .args(["-i", "-q", "-s", "10", url])
                .output()
                .await;
            checked(made)?;
        }
        self.rate(url, None, 8, seconds).await
    }

    /// A worker that follows the papers' protocol, on one connection.
    pub(super) async fn external(&self, url: &str, seconds: u64) -> Result<Measured, Problem> {
        self.rate(
            url,
            Some(include_str!("../../../bench/external.sql")),
            1,
            seconds,
        )
        .await
    }

    async fn rate(
        &self,
        url: &str,
        script: Option<&str>,
        clients: u32,
        seconds: u64,
    ) -> Result<Measured, Problem> {
        let (clients, seconds) = (clients.to_string(), seconds.to_string());
        let mut options = vec!["-M", "prepared", "-c", &clients, "-j", "2", "-T", &seconds];
        if clients == "1" {
            options[5] = "1";
        }
        let before = Processors::now(self.server);
        let answer = match script {
            Some(script) => self.run(url, script, &options).await?,
            None => {
                options.extend(["-N", url]);
                checked(
                    Command::new(&self.program)
                        .arg("-n")
                        .args(&options)
                        .stdin(Stdio::null())
                        .output()
                        .await,
                )?
            }
        };
        let used = before.since(self.server);
        let per_s = answer
            .lines()
            .find_map(|line| {
                line.strip_prefix("tps = ")?
                    .split_whitespace()
                    .next()?
                    .parse::<f64>()
                    .ok()
            })
            .ok_or_else(|| {
                Problem::new("pgbench said nothing of its rate")
                    .because(std::io::Error::other(answer))
            })?;
        let count = per_s * seconds.parse::<f64>().unwrap_or(1.0);
        Ok(Measured {
            per_s,
            server_us: used.server.map(|us| us / count),
            ..Measured::default()
        })
    }

    async fn run(&self, url: &str, script: &str, options: &[&str]) -> Result<String, Problem> {
        let file =
            std::env::temp_dir().join(format!("wed-bench-{}-{:p}.sql", std::process::id(), script));
        let unwritable =
            |source| Problem::new(format!("{} cannot be written", file.display())).because(source);
        std::fs::write(&file, script).map_err(unwritable)?;
        let output = Command::new(&self.program)
            .arg("-n")
            .args(options)
            .arg("-f")
            .arg(&file)
            .arg(url)
            .stdin(Stdio::null())
            .output()
            .await;
        let _ = std::fs::remove_file(&file);
        checked(output)
    }
}

fn checked(output: std::io::Result<std::process::Output>) -> Result<String, Problem> {
    let output =
        output.map_err(|source| Problem::new("pgbench could not be started").because(source))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Problem::new("pgbench failed").because(std::io::Error::other(said)))
}
