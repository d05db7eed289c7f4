//! Lists are read from a replica while it is near, and from the database itself while it is behind or gone.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use wedflow_api::{ReplicaSettings, ServedDatabase, Server, ServerSettings};
use wedflow_store::{Directory, Store};

use super::installed::InstalledServer;
use crate::support::flows::STEPS;
use crate::support::http::{Answered, Api, Client};
use crate::support::{Database, Session, eventually, on};

const STALENESS: &str = "wedflow-staleness";

/// Asserts that a server of the clusters of a directory reads from the replica of one.
fn assert_placed_reads(database: &Arc<Database>, replica_url: &str, token: &str) {
    let home = Database::restored("SELECT 1");
    let directory = on(Directory::open(&home.url(), 2)).expect("a directory");
    on(directory.add_cluster("one", (&database.url(), None), false)).expect("added");
    let one = ServedDatabase {
        name: "one".to_owned(),
        store: Store::at(&database.url()).expect("a URL"),
        replica: Some(ReplicaSettings {
            store: Store::replica(replica_url, 2, Duration::from_secs(5)).expect("a URL"),
            staleness_max: Duration::from_secs(3),
        }),
        tracer: None,
    };
    let (_clusters, served) = watch::channel(vec![Arc::new(one)]);
    let settings = ServerSettings::at(SocketAddr::from(([127, 0, 0, 1], 0)));
    let server = on(Server::start_placed(&directory, served, &settings)).expect("served");
    let client = Client::at(server.address(), token);
    eventually("an answer of the cluster's replica", || {
        let answer = client.get("/v1/flows/trial/instances").is(200);
        answer.header(STALENESS).map(|_| ())
    });
    on(server.stop());
    on(directory.close());
}

#[harness::test]
fn lists_come_from_a_replica_while_it_is_near() {
    let Some(primary) = InstalledServer::start(false) else {
        println!("no Postgres with its tools below /usr/lib/postgresql: not tried");
        return;
    };
    let database = Database::at(&primary.url());
    let flow = database.flow("trial");
    flow.session().run(STEPS);
    let replica = primary.replica();
    let replica_url = database.url().replace(&primary.url(), &replica.url());
    let api = Api::with(&database, |settings| {
        settings.replica = Some(ReplicaSettings {
            store: Store::replica(&replica_url, 2, Duration::from_secs(5)).expect("a URL"),
            staleness_max: Duration::from_secs(3),
        });
    });
    let client = api.user("default", "admin", "admin");
    let list = || client.get("/v1/flows/trial/instances").is(200);
    let count = |answer: &Answered| answer.json()["items"].as_array().map_or(0, Vec::len);
    client.json("POST", "/v1/flows/trial/instances", &json!({})).is(201);
    eventually("an answer of the replica with the instance", || {
        let answer = list();
        let staleness = answer.header(STALENESS)?;
        let seconds: f64 = staleness.parse().expect("seconds");
        (count(&answer) == 1 && seconds < 6.0).then_some(())
    });
    // What is looked at to decide something is never the replica's, nor what somebody wants as it is now.
    for path in ["/v1/flows/trial", "/v1/flows/trial/instances/1"] {
        assert_eq!(client.get(path).is(200).header(STALENESS), None);
    }

    // So they do at one address for several clusters, where the directory names the replica.
    assert_placed_reads(&database, &replica_url, client.token.as_deref().expect("a token"));

    // A replica that does not come along is left after the time that an answer may be old.
    Session::open(&replica_url).run("SELECT pg_wal_replay_pause()");
    client.json("POST", "/v1/flows/trial/instances", &json!({})).is(201);
    eventually("an answer of the primary", || {
        let answer = list();
        (answer.header(STALENESS).is_none() && count(&answer) == 2).then_some(())
    });
    // The replica has no such trace yet: the primary is asked.
    assert_eq!(client.get("/v1/flows/trial/instances/2/trace").is(200).header(STALENESS), None);
    Session::open(&replica_url).run("SELECT pg_wal_replay_resume()");
    eventually("the replica again", || {
        let answer = list();
        (answer.header(STALENESS).is_some() && count(&answer) == 2).then_some(())
    });
    drop(replica);
    assert_eq!(count(&list()), 2);
    eventually("that nobody asks the replica", || list().header(STALENESS).is_none().then_some(()));
}
