//! `wed status`: hosts, leases, queue, history, and what is wrong with how to mend it.

use serde_json::Value as Json;

use crate::answer::{bytes, counted};
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Prints the state of the installation; fails when something is wrong. It waits for no lock.
pub(crate) async fn run(door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let status = door.installation().await?;
    if !status["problems"].is_array() {
        return Err(Problem::new(format!("{} answered, and not as Wedflow does", door.server()))
            .exit(5)
            .hint("Look whether the address is that of a server of Wedflow, and what stands before it."));
    }
    terminal.answer(&status, || print(&status, terminal));
    match status["problems"].as_array().map_or(0, Vec::len) {
        0 => Ok(()),
        count => Err(Problem::new(counted(count, "problem")).hint("See above how to mend it.")),
    }
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(
        || {
            if value.is_null() { String::new() } else { value.to_string() }
        },
        str::to_owned,
    )
}

fn size(value: &Json) -> String {
    bytes(value.as_u64().unwrap_or(0))
}

/// Prints the clusters of a directory.
fn print_clusters(status: &Json, terminal: &Terminal) {
    let clusters = status["clusters"].as_array().into_iter().flatten();
    terminal.table(
        &["cluster", "state", "tenants", "answers", "Postgres", "size"],
        clusters.map(|cluster| {
            vec![
                text(&cluster["name"]),
                text(&cluster["state"]),
                text(&cluster["tenants"]),
                text(&cluster["answers"]),
                text(&cluster["server"]),
                size(&cluster["database_bytes"]),
            ]
        }),
    );
}

/// Prints the server of the one database.
fn print_server(status: &Json, terminal: &Terminal) {
    terminal.line(&match &status["database_bytes"] {
        Json::Null => format!("Postgres {}", text(&status["server"])),
        size_of_all => format!("Postgres {}, database of {}", text(&status["server"]), size(size_of_all)),
    });
    let disk = &status["disk"];
    if !disk["free_bytes"].is_null() {
        terminal.line(&format!("Disk: {} of {} free", size(&disk["free_bytes"]), size(&disk["total_bytes"])));
    }
}

fn print(status: &Json, terminal: &Terminal) {
    if status["clusters"].is_array() {
        print_clusters(status, terminal);
    } else {
        print_server(status, terminal);
    }
    let hosts = status["hosts"].as_array().map_or(&[][..], Vec::as_slice);
    if !hosts.is_empty() {
        // Each cluster numbers its own hosts.
        let columns: &[(&str, &str)] = &[
            ("cluster", "cluster"),
            ("host", "host_id"),
            ("name", "name"),
            ("version", "version"),
            ("jobs", "jobs"),
            ("lease (ms)", "lease_ms"),
            ("started", "started"),
        ];
        let columns = &columns[usize::from(!status["clusters"].is_array())..];
        let titles: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
        terminal.table(&titles, (hosts.iter()).map(|host| columns.iter().map(|(_, key)| text(&host[*key])).collect()));
    }
    let queue = &status["queue"];
    if !queue.is_null() {
        terminal.line(&format!(
            "Jobs: {} in flight, {} ready (oldest {} s), {} later, {} paused, {} for people, {} for external \
             workers, {} without their component, {}",
            queue["in_flight"],
            queue["ready"],
            queue["ready_age_s"],
            queue["later"],
            queue["paused"],
            queue["people"],
            queue["external"],
            queue["no_component"],
            counted(&queue["exceptions"], "exception"),
        ));
    }
    terminal.table(
        &["partition of the trace", "size"],
        status["partitions"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|part| vec![text(&part["name"]), size(&part["bytes"])]),
    );
    for problem in status["problems"].as_array().into_iter().flatten() {
        let cluster = match &problem["cluster"] {
            Json::String(cluster) => format!("cluster {cluster}, "),
            _ => String::new(),
        };
        terminal.line(&format!(
            "{cluster}{}: {}\n  {}",
            text(&problem["code"]),
            text(&problem["text"]),
            text(&problem["hint"])
        ));
    }
}
