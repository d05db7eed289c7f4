//! The disk of the database's server in `wed status`.

use super::field::{OwnServer, ServerKind};
use crate::support::Database;
use crate::support::program::{run, wed};

#[harness::test]
fn status_tells_free_space_and_a_full_disk() {
    // None where this machine lets nobody mount a small disk.
    let Some(own) = OwnServer::start(ServerKind::SmallDisk) else {
        return;
    };
    let database = Database::at(own.server());
    // It fails, as no host runs.
    let status = || run(wed(&database.url()).args(["--json", "status"])).exits(1).json();
    let codes = |status: &serde_json::Value| {
        let problems = status["problems"].as_array().expect("a list");
        problems.iter().map(|problem| problem["code"].to_string()).collect::<Vec<_>>()
    };
    let free = status();
    assert_eq!(free["disk"]["writable"], true);
    assert!(free["disk"]["free_bytes"].as_u64() > Some(1 << 20), "{free}");
    assert_eq!(codes(&free), ["\"no_host\""]);
    let filling = own.disk.as_ref().expect("a small disk").fill();
    let full = status();
    assert_eq!(full["disk"]["writable"], false);
    assert_eq!(codes(&full)[0], "\"disk_full\"", "{full}");
    std::fs::remove_file(filling).expect("removed");
    assert_eq!(codes(&status()), ["\"no_host\""]);
}
