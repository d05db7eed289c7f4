//! Commands that wait, when their server is lost.

use std::process::Stdio;

use super::field::{OwnServer, ServerKind};
use crate::support::flows::PAPER;
use crate::support::program::{Answer, wed};
use crate::support::{Database, eventually};

#[harness::test]
fn commands_that_wait_end_with_5_when_their_server_is_lost() {
    let own = OwnServer::start(ServerKind::Ordinary).expect("a server");
    let database = Database::at(own.server());
    let flow = database.flow("trial");
    let mut session = flow.session();
    session.run(PAPER);
    let wid = session.start().to_string();
    let waiting =
        [vec!["instance", "watch", "trial", wid.as_str()], vec!["job", "logs", "--follow", "trial", wid.as_str()]];
    let mut owner = database.owner();
    let looks = "SELECT count(DISTINCT pid) FROM pg_stat_activity WHERE datname = current_database() AND \
                 application_name = 'wedflow'";
    let before = owner.number(looks);
    let started = waiting.map(|arguments| {
        let mut command = wed(&database.url());
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        piped.arg("--json").args(arguments).spawn().expect("wed")
    });
    eventually("they look", || (owner.number(looks) >= before + 2).then_some(()));
    own.signal_all("-QUIT");
    for command in started {
        let answer = Answer::from(command.wait_with_output().expect("its end"));
        let answer = answer.exits(5);
        let last = answer.err.lines().next_back().unwrap_or_default();
        assert!(last.contains("\"hint\""), "{answer:?}");
    }
}
