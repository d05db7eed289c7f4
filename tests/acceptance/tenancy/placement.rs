//! Several clusters at one address: each tenant is served where the directory says that it is, and nowhere else.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use tokio::sync::watch;
use wedflow_api::{ServedDatabase, Server, ServerSettings};
use wedflow_console::Links;
use wedflow_store::{Directory, Store, TenantExport};
use wedflow_tenancy::issue_operator;

use crate::console::{form, page, pages_of};
use crate::host::traces::{receiver, resources};
use crate::support::database::sample_component;
use crate::support::http::{Answered, Client};
use crate::support::program::{Answer, run, wed, wed_path};
use crate::support::{Database, eventually, on};

/// A database at which nobody listens.
const NOWHERE: &str = "postgres://nobody:none@127.0.0.1:1/none";

/// A directory, and the databases of the clusters `one` and `two`.
struct Clusters {
    one: Arc<Database>,
    two: Arc<Database>,
    directory: Directory,
    home: Arc<Database>,
}

/// Server of both at one address, stopped with the value.
struct Served {
    server: Option<Server>,
    address: SocketAddr,
    clusters: watch::Sender<Vec<Arc<ServedDatabase>>>,
}

/// A cluster to serve.
fn cluster(name: &str, url: &str) -> Arc<ServedDatabase> {
    Arc::new(ServedDatabase {
        name: name.to_owned(),
        store: Store::at(url).expect("a URL"),
        replica: None,
        tracer: None,
    })
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            on(server.stop());
        }
    }
}

impl Drop for Clusters {
    fn drop(&mut self) {
        on(self.directory.close());
    }
}

impl Clusters {
    fn new() -> Self {
        let (one, two) = (Database::new(), Database::new());
        let home = Database::restored("SELECT 1");
        let directory = on(Directory::open(&home.url(), 2)).expect("a directory");
        for (name, database) in [("one", &one), ("two", &two)] {
            on(directory.add_cluster(name, (&database.url(), None), false)).expect("added");
        }
        Clusters { one, two, directory, home }
    }

    /// Serves both, or `two` at another address.
    fn serve(&self, two: &str) -> Served {
        let mut settings = ServerSettings::at(SocketAddr::from(([127, 0, 0, 1], 0)));
        settings.database_connections = 2;
        settings.pages = Some(pages_of(&Links::default()));
        let all = vec![cluster("one", &self.one.url()), cluster("two", two)];
        let (clusters, served) = watch::channel(all);
        let server = on(Server::start_placed(&self.directory, served, &settings));
        let server = server.expect("served");
        Served { address: server.address(), server: Some(server), clusters }
    }

    /// Runs `wed` with the directory.
    fn wed(&self, arguments: &[&str]) -> Answer {
        run(wed("").env("WEDFLOW_DIRECTORY", self.home.url()).args(arguments))
    }

    /// An operator whose token the second cluster keeps.
    fn operator(&self, served: &Served) -> Client {
        let secret = on(issue_operator(&self.two.store, "portal", true, 1)).expect("a token");
        Client::at(served.address, secret.reveal())
    }

    fn place(&self, tenant: &str) -> Option<String> {
        let place = on(self.directory.place(tenant)).expect("an answer");
        place.map(|place| place.cluster)
    }
}

/// Makes a tenant; its admin.
fn make(operator: &Client, served: &Served, new: &Json) -> (Client, Json) {
    let made = operator.json("POST", "/v1/installation/tenants", new);
    let made = made.is(201).json();
    let token = made["admin_token"].as_str().expect("a token");
    (Client::at(served.address, token), made)
}

/// Defines a flow that is worked on by hand, and starts an instance.
fn start(client: &Client) -> Answered {
    let flow = json!({ "name": "hand", "final": "n >= 3",
        "attribute": [{ "name": "n", "type": "integer", "default": "0" }],
        "trigger": [{ "name": "t", "when": "n < 3", "transition": "step" }] });
    client.json("PUT", "/v1/flows/hand", &flow);
    client.json("POST", "/v1/flows/hand/instances", &json!({}))
}

fn instances(database: &Arc<Database>) -> i64 {
    (database.owner()).number("SELECT count(*) FROM wed.instance")
}

#[harness::test]
fn tenants_are_made_where_there_is_room_and_served_where_they_are() {
    let clusters = Clusters::new();
    let served = clusters.serve(&clusters.two.url());
    let operator = clusters.operator(&served);
    // The first has the tenant that each database begins with.
    let (ann, made) = make(&operator, &served, &json!({ "name": "acme", "admin": "ann" }));
    assert_eq!(made["tenant"]["cluster"], "two", "{made}");
    let terms = json!({ "name": "other", "admin": "bob", "cluster": "one" });
    let (bob, _) = make(&operator, &served, &terms);
    start(&ann).is(201);
    assert_eq!((instances(&clusters.one), instances(&clusters.two)), (0, 1));
    bob.get("/v1/flows/hand").problem(404, "not_found");
    start(&bob).is(201);
    assert_eq!((instances(&clusters.one), instances(&clusters.two)), (1, 1));
    assert_eq!(bob.get("/v1/me").is(200).json()["tenant"], "other");

    let list = |path: &str| -> Vec<(Json, Json)> {
        let (mut all, mut next) = (Vec::new(), String::new());
        loop {
            let part = operator.get(&format!("/v1/installation/{path}?limit=1{next}"));
            let part = part.is(200).json();
            for item in part["items"].as_array().into_iter().flatten() {
                all.push((item["name"].clone(), item["cluster"].clone()));
            }
            match part["next"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => return all,
            }
        }
    };
    let placed = |name: &str, cluster: &str| (json!(name), json!(cluster));
    let expected = [placed("default", "one"), placed("other", "one"), placed("acme", "two")];
    assert_eq!(list("tenants"), expected);
    let shown = operator.get("/v1/installation/tenants/acme").is(200).json();
    assert_eq!(shown["cluster"], "two");
    let status = operator.get("/v1/installation").is(200).json();
    assert_eq!(status["clusters"].as_array().map(Vec::len), Some(2), "{status}");
}

#[harness::test]
fn pages_show_each_person_the_tenant_where_it_is() {
    let clusters = Clusters::new();
    let served = clusters.serve(&clusters.two.url());
    let operator = clusters.operator(&served);
    let new = |name: &str, admin: &str, cluster: &str| {
        let new = json!({ "name": name, "admin": admin, "cluster": cluster });
        make(&operator, &served, &new).0
    };
    let (ann, bob) = (new("acme", "ann", "one"), new("other", "bob", "two"));
    start(&ann).is(201);
    for (database, tenant, name) in [(&clusters.one, "acme", "ann"), (&clusters.two, "other", "bob")] {
        let made = format!("SELECT wed.create_person('{tenant}', '{name}', '{{clerk}}')");
        database.owner().run(&made);
    }
    let sign_in = |who: &Client| {
        let token = format!("token={}", who.token.as_deref().expect("a token"));
        let entered = form(&who.without_token(), "/console/sign-in", &[], &token).is(200);
        entered.header("set-cookie").expect("a cookie").to_owned()
    };
    for who in [&ann, &bob, &operator] {
        assert!(sign_in(who).contains(who.token.as_deref().expect("a token")));
    }
    for path in ["/console", "/console/flows", "/console/last-hour", "/console/audit", "/console/work"] {
        for (who, own, other) in [(&ann, "acme · ann", "other"), (&bob, "other · bob", "acme")] {
            let text = page(who, path).is(200).text;
            assert!(text.contains(own) && !text.contains(&format!("{other} · ")), "{path}: {text}");
        }
    }
    let instance = "/console/flows/hand/instances/1";
    assert!(page(&ann, instance).is(200).text.contains("step"));
    page(&bob, instance).is(404);
    let tenants = page(&operator, "/console/tenants").is(200).text;
    assert!(tenants.contains("acme") && tenants.contains("other"), "{tenants}");
}

#[harness::test]
fn tenant_is_made_on_an_open_cluster_or_refused() {
    let clusters = Clusters::new();
    let served = clusters.serve(&clusters.two.url());
    let operator = clusters.operator(&served);
    let (ann, _) = make(&operator, &served, &json!({ "name": "acme", "admin": "ann", "cluster": "two" }));
    // A name is one tenant's; a cluster that is draining takes none, and serves those on it.
    let again = json!({ "name": "acme", "cluster": "one" });
    let tenants = "/v1/installation/tenants";
    operator.json("POST", tenants, &again).problem(409, "23505");
    let wrong = json!({ "name": "x", "cluster": "nine" });
    operator.json("POST", tenants, &wrong).problem(404, "not_found");
    let wrong = json!({ "name": "No Name" });
    assert!(operator.json("POST", tenants, &wrong).status >= 400);
    assert_eq!(clusters.place("No Name"), None);
    let drain = json!({ "draining": true });
    for cluster in ["one", "two"] {
        let path = format!("/v1/installation/clusters/{cluster}");
        operator.json("PATCH", &path, &drain).is(200);
        operator.delete(&path).problem(409, "WF028");
    }
    operator.json("POST", tenants, &json!({ "name": "late" })).problem(409, "WF028");
    start(&ann).is(201);
    // What is asked about the installation is for operators alone.
    ann.get("/v1/installation/clusters").problem(401, "invalid_token");
    ann.without_token().get("/v1/flows").problem(401, "no_token");
    operator.delete("/v1/installation/tenants/acme").is(204);
    assert_eq!(clusters.place("acme"), None);
    ann.get("/v1/me").problem(401, "invalid_token");
}

#[harness::test]
fn stale_place_is_corrected_by_the_refusal_of_the_old_one() {
    let clusters = Clusters::new();
    let served = clusters.serve(&clusters.two.url());
    let operator = clusters.operator(&served);
    let new = json!({ "name": "acme", "admin": "ann", "cluster": "one" });
    let (ann, _) = make(&operator, &served, &new);
    start(&ann).is(201);
    let hook = json!({ "scheme": "standard", "acts": "start", "attributes": {} });
    let hook = ann.json("PUT", "/v1/flows/hand/hooks/orders", &hook).is(200).json();
    let path = hook["path"].as_str().expect("a path");
    let post = || ann.without_token().json("POST", path, &json!({}));
    post().problem(401, "not_signed");
    on(clusters.one.store.fence_tenant("acme")).expect("fenced");
    post().problem(503, "tenant_moving");
    let waits = start(&ann);
    waits.problem(503, "tenant_moving");
    assert_eq!(waits.header("retry-after"), Some("1"));
    let moved = clusters.wed(&["--json", "tenant", "move", "acme", "--to-cluster", "two"]);
    assert_eq!(moved.done().json()["checksum"]["instances"]["rows"], 1);
    // The server has the old place, and sends the request on.
    ann.json("POST", "/v1/flows/hand/instances", &json!({})).is(201);
    assert_eq!((instances(&clusters.one), instances(&clusters.two)), (1, 2));
    // Its hook has the same address and secret there.
    post().problem(401, "not_signed");
    let secret = "SELECT address || ' ' || secret FROM wed.hook";
    assert_eq!(clusters.one.owner().line(secret), clusters.two.owner().line(secret));
    let alone = crate::support::http::Api::of(&clusters.one);
    let token = ann.token.clone().expect("a token");
    Client::at(alone.address, &token).get("/v1/me").problem(421, "tenant_moved");
    // What is left behind is removed at the old cluster alone, and it may come back then.
    clusters.wed(&["tenant", "delete", "acme", "--left-at", "two", "--yes"]).exits(4);
    clusters.wed(&["tenant", "delete", "acme", "--left-at", "one", "--yes"]).done();
    clusters.wed(&["tenant", "move", "acme", "--to-cluster", "one"]).done();
    start(&ann).is(201);
    assert_eq!((instances(&clusters.one), clusters.place("acme").as_deref()), (3, Some("one")));
}

/// Reads acme out of one database and into another, as a move does, and stops there.
fn copy(from: &Database, to: &Database) {
    let wanted = TenantExport { with_secrets: true, fenced: true };
    let (sender, receiver) = tokio::sync::mpsc::channel(4);
    let staged = on(to.store.stage_tenant()).expect("staged");
    let (exported, imported) = on(async {
        tokio::join!(
            from.store.export_tenant("acme", wanted, sender),
            to.store.import_tenant(staged, None, receiver, &|_, _, _| None)
        )
    });
    exported.expect("exported");
    imported.expect("imported");
}

#[harness::test]
fn move_between_clusters_goes_on_wherever_it_was_interrupted() {
    let clusters = Clusters::new();
    let (one, two) = (&clusters.one, &clusters.two);
    let served = clusters.serve(&two.url());
    let operator = clusters.operator(&served);
    let new = json!({ "name": "acme", "admin": "ann", "cluster": "one" });
    let (ann, _) = make(&operator, &served, &new);
    start(&ann).is(201);
    let carry = |to: &str, more: &[&str]| {
        let arguments = ["tenant", "move", "acme", "--to-cluster", to];
        clusters.wed(&[&arguments[..], more].concat())
    };
    // Copied: it returns, and works where it was.
    on(one.store.fence_tenant("acme")).expect("fenced");
    copy(one, two);
    carry("two", &["--back"]).done();
    start(&ann).is(201);
    // Left, which the directory does not record yet: no cluster has the tenant, and requests are to be repeated.
    let move_id = on(one.store.fence_tenant("acme")).expect("fenced");
    copy(one, two);
    assert!(on(one.store.leave("acme", &move_id, "cluster two")).expect("left"));
    start(&ann).problem(503, "tenant_moving");
    carry("two", &[]).done();
    start(&ann).is(201);
    clusters.wed(&["tenant", "delete", "acme", "--left-at", "one", "--yes"]).done();
    // The directory names the new cluster, on which it has not begun.
    let move_id = on(two.store.fence_tenant("acme")).expect("fenced");
    copy(two, one);
    assert!(on(two.store.leave("acme", &move_id, "cluster one")).expect("left"));
    assert!(on(clusters.directory.switch_place("acme", "two", "one")).expect("switched"));
    start(&ann).problem(503, "tenant_moving");
    carry("one", &["--back"]).exits(4);
    carry("one", &[]).done();
    start(&ann).is(201);
    assert_eq!(instances(one), 4);
    // There is nothing left to do; elsewhere is nothing to go to.
    carry("one", &[]).done();
    carry("nine", &[]).exits(3);
    clusters.wed(&["cluster", "drain", "two"]).done();
    carry("two", &[]).exits(4);
    start(&ann).is(201);
}

#[harness::test]
fn cluster_that_is_down_stops_its_own_tenants_alone() {
    let clusters = Clusters::new();
    let whole = clusters.serve(&clusters.two.url());
    let operator = clusters.operator(&whole);
    let (ann, _) = make(&operator, &whole, &json!({ "name": "acme", "admin": "ann", "cluster": "one" }));
    let (bob, _) = make(&operator, &whole, &json!({ "name": "other", "admin": "bob", "cluster": "two" }));
    let served = clusters.serve(NOWHERE);
    let at = |client: &Client| Client::at(served.address, client.token.as_deref().expect("a token"));
    start(&at(&ann)).is(201);
    let waits = at(&bob).get("/v1/me");
    let problem = waits.problem(503, "cluster_down");
    assert!(problem["detail"].as_str().is_some_and(|text| text.contains("two")), "{problem}");
    let ready = ann.without_token().get("/health/ready").is(200).json();
    assert_eq!(ready["clusters"], json!({ "one": true, "two": true }));
    let ready = at(&ann).without_token().get("/health/ready").is(200).json();
    assert_eq!(ready["clusters"], json!({ "one": true, "two": false }));

    // Operators whose token another cluster keeps see what is left, and where.
    let secret = on(issue_operator(&clusters.one.store, "ops", true, 1)).expect("a token");
    let ops = Client::at(served.address, secret.reveal());
    let list = ops.get("/v1/installation/tenants").is(200);
    assert_eq!(list.header("wedflow-clusters-down"), Some("two"));
    let status = ops.get("/v1/installation").is(200).json();
    let problems = status["problems"].as_array().cloned().unwrap_or_default();
    assert!(problems.iter().any(|one| one["code"] == "cluster_down"), "{status}");
    let tenants = "/v1/installation/tenants";
    let named = json!({ "name": "third", "cluster": "two" });
    ops.json("POST", tenants, &named).problem(503, "cluster_down");
    assert_eq!(clusters.place("third"), None);
    let made = ops.json("POST", tenants, &json!({ "name": "third" })).is(201);
    assert_eq!(made.json()["tenant"]["cluster"], "one");
    ops.json("PATCH", "/v1/installation/retention", &json!({ "logs": null })).problem(503, "cluster_down");

    // Without its directory the server uses the places that it knows.
    on(clusters.directory.close());
    start(&at(&ann)).is(201);
    let unknown = ops.get("/v1/installation/tenants/unheard");
    unknown.problem(503, "directory_down");
    ops.json("POST", tenants, &json!({ "name": "fourth" })).problem(503, "directory_down");
}

#[harness::test]
fn clusters_are_served_and_left_while_the_server_runs() {
    let clusters = Clusters::new();
    let served = clusters.serve(&clusters.two.url());
    let secret = on(issue_operator(&clusters.one.store, "ops", true, 1)).expect("a token");
    let ops = Client::at(served.address, secret.reveal());
    let new = json!({ "name": "acme", "admin": "ann", "cluster": "two" });
    let (ann, _) = make(&ops, &served, &new);
    start(&ann).is(201);
    let both = served.clusters.borrow().clone();
    let names = || {
        let ready = ann.without_token().get("/health/ready").is(200).json();
        let names = ready["clusters"].as_object().expect("clusters").clone();
        names.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    served.clusters.send_replace(vec![Arc::clone(&both[0])]);
    eventually("one cluster", || (names() == ["one"]).then_some(()));
    ann.get("/v1/me").problem(503, "cluster_down");
    // The one that stayed serves without a break, and the other one is taken up again.
    ops.get("/v1/installation/tenants").is(200);
    served.clusters.send_replace(both);
    eventually("both clusters", || (names() == ["one", "two"]).then_some(()));
    start(&ann).is(201);
    assert_eq!(instances(&clusters.two), 2);
}

#[harness::test]
fn clusters_are_kept_from_the_command_line() {
    let clusters = Clusters::new();
    let listed = clusters.wed(&["--json", "cluster", "list"]).done().json();
    assert_eq!((&listed[0]["name"], &listed[1]["tenants"]), (&json!("one"), &json!(0)), "{listed}");
    assert!(!listed.to_string().contains(":postgres@"), "{listed}");
    let third = Database::new();
    on(third.store.create_tenant("acme", "")).expect("a tenant");
    let add = |name: &str, url: &str, more: &[&str]| {
        let arguments = ["--json", "cluster", "add", name, "--url", url];
        clusters.wed(&[&arguments[..], more].concat())
    };
    let url = third.url();
    let preview = add("three", &url, &["--dry-run"]).done().json();
    assert_eq!(preview["taken"], json!(["acme"]), "{preview}");
    assert_eq!(preview["skipped"], json!(["default"]));
    assert_eq!(clusters.place("acme"), None);
    let replica = "postgres://reader:hidden@replica:5432/three";
    add("three", &url, &["--read-url", replica]).done();
    let listed = clusters.wed(&["--json", "cluster", "list"]).done().json();
    assert_eq!(listed[1]["read_url"], "postgres://reader:…@replica:5432/three", "{listed}");
    add("three", &url, &["--read-url", "nonsense"]).exits(5);
    add("three", &url, &[]).done();
    let listed = clusters.wed(&["--json", "cluster", "list"]).done().json();
    assert!(listed[1].get("read_url").is_none(), "{listed}");
    assert_eq!(clusters.place("acme").as_deref(), Some("three"));
    // One database is one cluster, and one name names one database.
    assert_eq!(add("four", &url, &[]).exits(4).error()["code"], "WF028");
    add("one", &url, &[]).exits(4);
    add("No Name", &Database::new().url(), &[]).exits(4);
    add("five", NOWHERE, &[]).exits(5);
    let twice = Database::new();
    on(twice.store.create_tenant("acme", "")).expect("a tenant");
    on(twice.store.create_flow("acme", "hand", "")).expect("a flow");
    let refused = add("five", &twice.url(), &[]).exits(4);
    assert!(refused.err.contains("acme"), "{refused:?}");

    // A command goes to the cluster of its tenant.
    clusters.wed(&["--tenant", "acme", "flow", "create", "orders"]).done();
    assert_eq!(third.owner().number("SELECT count(*) FROM wed.flow"), 1);
    clusters.wed(&["--tenant", "unheard", "flow", "list"]).exits(3);
    let made = clusters.wed(&["--json", "tenant", "create", "fresh", "--cluster", "two"]);
    assert_eq!(made.done().json()["cluster"], "two");
    clusters.wed(&["cluster", "delete", "two", "--yes"]).exits(4);
    clusters.wed(&["tenant", "delete", "fresh", "--yes"]).done();
    clusters.wed(&["cluster", "delete", "two", "--yes"]).done();
    clusters.wed(&["cluster", "drain", "two"]).exits(3);
    run(wed(&url).args(["cluster", "list"])).exits(2);
    run(wed(&url).args(["serve", "--clusters", "one"])).exits(2);
    clusters.wed(&["serve", "--clusters", "nine"]).exits(3);
    let refused = clusters.wed(&["serve", "--read-url", replica]).exits(2);
    assert!(refused.err.contains("wed cluster add"), "{refused:?}");
    clusters.wed(&["operator", "list"]).exits(2);
}

/// Makes a tenant on each cluster, with three instances for hosts to run.
fn give_work(clusters: &Clusters) {
    for (database, tenant) in [(&clusters.one, "acme"), (&clusters.two, "other")] {
        on(database.store.create_tenant(tenant, "")).expect("a tenant");
        on(wedflow_worker::upload(&database.store, tenant, "counters", sample_component("counters")))
            .expect("uploaded");
        let flow = crate::support::repository("sample-transitions/counters/flow.toml");
        run(wed(&database.url()).args(["--tenant", tenant, "flow", "apply"]).arg(&flow)).done();
        let url = on(database.store.flow_url(tenant, "counters")).expect("its URL");
        crate::support::Session::on(database, &url)
            .run("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, 3)");
    }
}

#[harness::test]
fn one_process_follows_the_directory_and_waits_for_a_cluster_that_is_down() {
    let clusters = Clusters::new();
    give_work(&clusters);
    // A third is in the directory, and away; the second one is added while the process runs.
    (clusters.home.owner())
        .run(&format!("INSERT INTO placement.cluster (name, url, mark) VALUES ('away', '{NOWHERE}', 'none')"));
    on(clusters.directory.remove_cluster("two")).expect("removed");
    let (collector, received) = receiver();
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut serving = std::process::Command::new(wed_path())
        .args(["serve", "--lanes", "1", "--metrics", "127.0.0.1:0"])
        .env("WEDFLOW_DIRECTORY", clusters.home.url())
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{collector}"))
        .env("OTEL_BSP_SCHEDULE_DELAY", "20")
        .env_remove("DATABASE_URL")
        .stderr(log.reopen().expect("the file"))
        .spawn()
        .expect("wed runs");
    let all_end = |database: &Arc<Database>| {
        eventually("the ends of all instances", || {
            let running = "SELECT count(*) FROM wed.instance WHERE status <> 'F'";
            (database.owner().number(running) == 0).then_some(())
        });
    };
    all_end(&clusters.one);
    let two = clusters.two.url();
    clusters.wed(&["cluster", "add", "two", "--url", &two]).done();
    all_end(&clusters.two);

    let said = std::fs::read_to_string(log.path()).expect("the log");
    let place = said.split("figures are at ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let figures = || {
        let answer = ureq::get(place.expect("an address")).call().expect("an answer");
        answer.into_body().read_to_string().expect("text")
    };
    let text = figures();
    for line in [
        "wedflow_transitions_committed_total{cluster=\"two\"}",
        "wedflow_database_up{cluster=\"one\"} 1",
        "wedflow_database_up{cluster=\"away\"} 0",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    for name in ["one", "two"] {
        eventually("spans of the cluster", || {
            resources(&received).iter().any(|one| one.contains(&format!("\"{name}\""))).then_some(())
        });
    }
    let shown = clusters.wed(&["status"]);
    let head = shown.out.lines().find(|line| line.contains("lease (ms)"));
    assert!(head.is_some_and(|head| head.trim_start().starts_with("cluster")), "{shown:?}");
    clusters.wed(&["cluster", "delete", "away", "--yes"]).done();
    eventually("its end", || (!figures().contains("away")).then_some(()));
    run(std::process::Command::new("kill").arg(serving.id().to_string())).done();
    assert!(serving.wait().expect("it ends").success());
}
