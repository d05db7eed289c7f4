//! Databases, hosts, programs and waiting, as all tests use them.

pub(crate) mod database;
pub(crate) mod flows;
pub(crate) mod harness;
pub(crate) mod http;
pub(crate) mod program;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod wait;

use wedflow_store::{ChoreKind, Store};

pub(crate) use database::{Database, Flow};
pub(crate) use server::on;
pub(crate) use session::Session;
pub(crate) use wait::{GENEROUS, eventually};

/// Does the chores that look after jobs and workers. Returns what was done of each kind: jobs freed, workers counted,
/// jobs without attempts ended, stale jobs skipped.
pub(crate) fn sweep(store: &Store) -> [usize; 4] {
    let done = [ChoreKind::Abandoned, ChoreKind::Overdue, ChoreKind::Exhausted, ChoreKind::Stale]
        .map(|kind| on(store.do_chores(kind)).expect("done").len());
    on(store.sweep()).expect("swept");
    done
}

/// Does the chores that time brings to instances, reservations and worklists.
pub(crate) fn recover(store: &Store) {
    for kind in [
        ChoreKind::Pauses,
        ChoreKind::Late,
        ChoreKind::Back,
        ChoreKind::Reservations,
        ChoreKind::Circles,
        ChoreKind::Numbers,
        ChoreKind::Work,
    ] {
        on(store.do_chores(kind)).expect("done");
    }
}

/// A file or folder of the repository.
pub(crate) fn repository(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}
