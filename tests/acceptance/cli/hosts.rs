//! Hosts and the private Postgres: how they end, where they are.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Stdio};
use std::sync::Arc;

use super::{NOWHERE, has, path};
use crate::support::Database;
use crate::support::program::{run, wed};

/// Lines of a host's log.
type Lines = std::io::Lines<BufReader<ChildStderr>>;

#[harness::test]
fn the_private_database_tells_where_it_is() {
    let home = tempfile::tempdir().expect("a folder");
    let status = |words: &[&str]| run(wed(NOWHERE).env("WEDFLOW_HOME", home.path()).args(words)).done();
    let document = status(&["db", "status", "--json"]).json();
    has(&document, &["running", "port", "home", "version"]);
    assert_eq!(document["running"], false);
    assert_eq!(document["home"], path(home.path()));
    let text = status(&["db", "status"]).out;
    assert!(text.contains("is not running") && text.contains(path(home.path())), "{text}");
    // Asking makes nothing.
    let entries = std::fs::read_dir(home.path()).expect("the folder").count();
    assert_eq!(entries, 0);
}

/// Starts a flow whose transition asks a server that never answers, and a host for it. Returns the host with what it
/// says, and the connection by which the transition asks: it is running now.
fn host_with_a_running_transition(database: &Arc<Database>) -> (Child, Lines, TcpStream) {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = silent.local_addr().expect("its address").to_string();
    database.upload("hostile", crate::host::guests::hostile());
    let definition = format!(
        "name = 'asks'\nfinal = \"a1 <> 'new'\"\n\
         attribute = [{{ name = 'a1', default = 'new' }}, {{ name = 'n', type = 'integer' }}, \
         {{ name = 'tags', type = 'text[]' }}]\n\
         [[trigger]]\nname = 't'\nwhen = \"a1 = 'new'\"\ntransition = 'fetch'\ntimeout = '10 minutes'\n\
         [transition.fetch]\ncomponent = 'hostile'\nhttp = ['{place}']\n"
    );
    let flow = database.define(&toml::from_str(&definition).expect("a definition"));
    flow.session().run(&format!("INSERT INTO wed_flow (tags) VALUES (ARRAY['GET', 'http://{place}/', ''])"));
    let mut host = wed(&database.url())
        .args(["serve", "--lanes", "1", "--allow-http", &place])
        .stderr(Stdio::piped())
        .spawn()
        .expect("wed runs");
    let said = BufReader::new(host.stderr.take().expect("its log")).lines();
    let (asked, _) = silent.accept().expect("a request");
    (host, said, asked)
}

/// Sends a signal to a process.
fn signal(process: &Child, name: &str) {
    run(std::process::Command::new("kill").args([name, &process.id().to_string()])).done();
}

#[harness::test]
fn a_second_signal_ends_a_host_at_once() {
    for (name, code) in [("-TERM", 143), ("-INT", 130)] {
        let database = Database::new();
        let (mut host, mut said, _asked) = host_with_a_running_transition(&database);
        signal(&host, name);
        // The first signal lets attempts in flight continue for some seconds.
        assert!(said.any(|line| line.expect("a line").contains("finishing what is running")), "{name}");
        signal(&host, name);
        assert_eq!(host.wait().expect("it ends").code(), Some(code), "{name}");
    }
}

#[harness::test]
fn one_signal_ends_a_host_within_its_grace_and_gives_its_jobs_back() {
    let database = Database::new();
    let (mut host, said, _asked) = host_with_a_running_transition(&database);
    signal(&host, "-TERM");
    assert_eq!(host.wait().expect("it ends").code(), Some(0));
    drop(said);
    let mut owner = database.owner();
    assert_eq!(owner.number("SELECT count(*) FROM wed.host"), 0);
    let given_back = "SELECT count(*) FROM wed.job WHERE host_id IS NULL";
    assert_eq!(owner.number(given_back), 1);
}

#[harness::test]
fn taken_port_of_metrics_leaves_no_host() {
    let database = Database::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = taken.local_addr().expect("its address").to_string();
    let answer = run(wed(&database.url()).args(["serve", "--metrics", &place])).exits(1);
    assert!(answer.err.contains(&place) && answer.err.contains("hint: Choose another one"), "{answer:?}");
    assert_eq!(database.owner().number("SELECT count(*) FROM wed.host"), 0, "no lease is left");
}
