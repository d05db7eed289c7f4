//! Acceptance tests: the product from outside, on a real Postgres.
//!
//! One binary starts one throw-away server (or uses the one that `WEDFLOW_TEST_DATABASE_URL` names, whose
//! role must be a superuser's), gives each test a database of its own, and stops the server at the end.
//! A function with `#[harness::test]` is a test; no list names it.
//!
//! - `samples`: every sample through a real host, and `wed demo`
//! - `guard`: both guards, hostile values, random fragments
//! - `gate`: algorithm 1 and every way to write, as the flow's own role
//! - `defects`: the defects of the papers' reference implementation, each a test
//! - `race`: many workers at once
//! - `host`: hosts, leases, failing guests
//! - `external`: a Python worker, psql and a host on one flow
//! - `authoring`: new, build, test, run, job, replay
//! - `compiling`: components in a child process, compiled code on disk
//! - `book`: the blocks of the pages, run
//! - `cli`: the command line
//! - `api`: the HTTP API
//! - `interface`: its description, by a validator, a generator of clients and a fuzzer
//! - `tenancy`: tenants do not see each other; tokens, roles, the audit log
//! - `fairness`: tenants' shares of the hosts, limits, versions of components, removal
//! - `hostile`: components with one fault each, next to a tenant that works
//! - `guests`: guests of tests, each of which a test names
//! - `reference`: the reference pages against the code
//! - `recovery`: operators, reasons for waiting, schedules, backups
//! - `worklist`: people's work, connected or not
//! - `console`: explanations, pictures, pages, sessions, a browser
//! - `constraints`: reservations, the order of tasks, numbers, the requisition
//! - `process`: processes in the process language
//! - `logs`: what an operator reads in the logs of hosts and of the server
//! - `layers`: what the source itself must look like

mod api;
mod authoring;
mod book;
mod cli;
mod compiling;
mod console;
mod constraints;
mod defects;
mod external;
mod fairness;
mod gate;
mod guard;
mod guests;
mod host;
mod hostile;
mod interface;
mod layers;
mod logs;
mod process;
mod race;
mod recipes;
mod recovery;
mod reference;
mod samples;
mod support;
mod tenancy;
mod worklist;

use std::process::ExitCode;

use libtest_mimic::Arguments;

/// Number of tests at the same time unless `--test-threads` says otherwise; they wait more than they compute.
const PARALLEL_TESTS: usize = 6;

fn main() -> ExitCode {
    wedflow_sandbox::plant(host::exploit::exploit);
    if let Some(ended) = wedflow_worker::serve_as_child() {
        return ended;
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(PARALLEL_TESTS);
    support::harness::watch();
    let conclusion = libtest_mimic::run(&arguments, support::harness::tests());
    // A test that panicked has unwound by now, so that the server stops after failures too.
    support::database::drop_template();
    support::server::stop();
    eprint!("{}", support::harness::slowest());
    conclusion.exit_code()
}
