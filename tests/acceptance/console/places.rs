//! Each page of the console in one table, and a tenant that has something on each: tests about every page take theirs
//! from here.

use serde_json::json;
use wedflow_console::Links;

use super::{MARKUP, break_instance, page, served, with_exception};
use crate::support::database::{TENANT, sample_component};
use crate::support::http::{Api, Client};
use crate::support::{on, repository};

/// Kind of an address of the console.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A page of whoever is signed in.
    Page,
    /// A page of the installation's operators.
    Operators,
    /// A page of nobody in particular, which holds nothing of anybody.
    Nobody,
    /// A part of a page, which its script asks for.
    Part,
    /// Not a page: a document for scripts, or a file.
    Data,
    /// Leads to a page, or to another server's.
    Onward,
}

/// An address of the console, of what [`with_everything`] makes.
pub(super) struct Place {
    /// Name, of which those of pictures are made.
    pub(super) name: &'static str,
    /// Path with its query.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
}

const fn of(kind: Kind, name: &'static str, path: &'static str) -> Place {
    Place { name, path, kind }
}

/// Addresses of all pages. The work item is the first of its database.
pub(super) const PLACES: [Place; 55] = [
    of(Kind::Page, "overview", "/console"),
    of(Kind::Part, "live", "/console/live"),
    of(Kind::Page, "last-hour", "/console/last-hour"),
    of(Kind::Part, "last-hour-live", "/console/last-hour/live"),
    of(Kind::Data, "asset", "/console/assets/any/console.css"),
    of(Kind::Nobody, "sign-in", "/console/sign-in"),
    of(Kind::Onward, "enter", "/console/enter?code=guess"),
    of(Kind::Page, "flows", "/console/flows"),
    of(Kind::Page, "flow", "/console/flows/f"),
    of(Kind::Page, "definition", "/console/flows/f/definition"),
    of(Kind::Page, "versions", "/console/flows/f/versions"),
    of(Kind::Page, "difference", "/console/flows/f/versions?old=1&new=2"),
    of(Kind::Page, "settings", "/console/flows/f/settings"),
    of(Kind::Page, "condition", "/console/flows/f/condition?trigger=t2"),
    of(Kind::Page, "sql", "/console/flows/f/sql"),
    of(Kind::Page, "flow-design", "/console/flows/f/design"),
    of(Kind::Page, "design", "/console/design"),
    of(Kind::Page, "instances", "/console/flows/f/instances"),
    of(Kind::Page, "instances-found", "/console/flows/f/instances?status=exception"),
    of(Kind::Page, "start", "/console/flows/f/start"),
    of(Kind::Page, "flow-exceptions", "/console/flows/f/exceptions"),
    of(Kind::Page, "instance", "/console/flows/f/instances/2"),
    of(Kind::Part, "instance-live", "/console/flows/f/instances/2/live"),
    of(Kind::Part, "instance-reservations", "/console/flows/f/instances/2/reservations"),
    of(Kind::Page, "why", "/console/flows/f/instances/2/why"),
    of(Kind::Page, "why-past", "/console/flows/f/instances/2/why?seq=1"),
    of(Kind::Page, "what-if", "/console/flows/f/instances/2/what-if"),
    of(Kind::Page, "exceptions", "/console/exceptions"),
    of(Kind::Page, "jobs", "/console/jobs"),
    of(Kind::Page, "schedules", "/console/schedules"),
    of(Kind::Page, "webhooks", "/console/webhooks"),
    of(Kind::Page, "components", "/console/components"),
    of(Kind::Page, "component", "/console/components/of/pack"),
    of(Kind::Page, "reservations", "/console/reservations"),
    of(Kind::Page, "people", "/console/people"),
    of(Kind::Page, "audit", "/console/audit"),
    of(Kind::Page, "usage", "/console/usage"),
    of(Kind::Page, "usage-now", "/console/usage?today=yes"),
    of(Kind::Part, "usage-today", "/console/usage/today"),
    of(Kind::Page, "hosts", "/console/hosts"),
    of(Kind::Operators, "tenants", "/console/tenants"),
    of(Kind::Page, "inbox", "/console/work"),
    of(Kind::Part, "inbox-live", "/console/work/live?order=own"),
    of(Kind::Part, "news", "/console/work/news"),
    of(Kind::Page, "messages", "/console/work/messages"),
    of(Kind::Page, "begin", "/console/work/start?flow=errands"),
    of(Kind::Page, "item", "/console/work/items/1"),
    of(Kind::Data, "item-kept", "/console/work/items/1/kept"),
    of(Kind::Data, "item-file", "/console/work/items/1/files/1"),
    of(Kind::Data, "relay", "/console/work/api/items"),
    of(Kind::Data, "me", "/console/work/me"),
    of(Kind::Nobody, "away", "/console/work/away"),
    of(Kind::Data, "worker", "/console/work/worker.js"),
    of(Kind::Data, "manifest", "/console/work/manifest.json"),
    of(Kind::Onward, "root", "/"),
];

/// Addresses of a tenant: pages and their parts.
pub(super) fn of_tenant() -> impl Iterator<Item = &'static str> {
    let of_tenant = |place: &&Place| matches!(place.kind, Kind::Page | Kind::Part);
    PLACES.iter().filter(of_tenant).map(|place| place.path)
}

/// A task for people whose texts hold markup where they may.
fn errands() -> wedflow_model::FlowDefinition {
    let titled = json!({ "type": ["string", "null"], "title": MARKUP, "description": MARKUP });
    let definition = json!({
        "name": "errands",
        "description": MARKUP,
        "final": "fetched = 'SUCCEEDED'",
        "attribute": [{ "name": "wish", "default": MARKUP }, { "name": "fetched", "default": "NOT_READY" }],
        "trigger": [{
            "name": "fetch", "transition": "fetch", "when": "fetched = 'NOT_READY'",
            "work": {
                "task": "fetch", "role": "clerk", "description": MARKUP, "state": "fetched", "deadline": "12 hours",
                "disconnected": true, "inputs": ["wish"], "outputs": ["wish"],
                "form": { "properties": { "wish": titled } },
            },
        }],
    });
    serde_json::from_value(definition).expect("a definition")
}

/// A console with something on each page: a flow `f` of two versions whose second instance is an exception, a component
/// of two versions, a webhook, a schedule, a work item that `ann` holds, who is an admin and a person.
pub(super) fn with_everything() -> (Api, Client, Links) {
    let links = Links::default();
    let api = served(&links);
    let client = api.user(TENANT, "ann", "admin");
    with_exception(&client, "f", 3);
    break_instance(&client, "f", 2);
    let mut changed = super::definition("f");
    changed["trigger"][1]["delay"] = json!("1 second");
    client.json("PUT", "/v1/flows/f", &changed).is(200);
    for (path, document) in [
        ("/v1/flows/f/resources", json!({ "key": MARKUP, "capacity": 10 })),
        ("/v1/flows/f/schedules/nightly", json!({ "cron": "0 3 * * *", "state": {} })),
        ("/v1/webhooks", json!({ "url": "https://example.com/hook" })),
    ] {
        let answer = client.json("PUT", path, &document);
        assert!(answer.status < 300, "{path}: {}", answer.text);
    }
    for component in ["counters", "paper"] {
        api.database.upload("pack", sample_component(component));
    }
    let errands = api.database.define(&errands());
    let mut owner = api.database.owner();
    owner.run("SELECT wed.create_person('default', 'ann', '{clerk}'), wed.connect_person('default', 'ann')");
    errands.session().start();
    let said = MARKUP.replace('\'', "''");
    owner.run(&format!(
        "SELECT wed.lock_work('default', 'ann', 1);
         SELECT wed.add_work_note('default', 'ann', 1, '{said}', 'plan.txt', 'a plan');
         SELECT wed.send_message(ARRAY(SELECT person_id FROM wed.person), 'task_delegated', 'ann', '{said}', 1, now())"
    ));
    (api, client, links)
}

/// Signs in at another tenant as `bob`, an admin and a person there too.
pub(super) fn elsewhere(api: &Api) -> Client {
    on(api.database.store.create_tenant("other", "")).expect("a tenant");
    let bob = api.user("other", "bob", "admin");
    let mut owner = api.database.owner();
    owner.run("SELECT wed.create_person('other', 'bob', '{clerk}'), wed.connect_person('other', 'bob')");
    bob
}

/// A route: its path below the root, and the text of what answers.
fn routes() -> Vec<(String, String)> {
    let source = std::fs::read_to_string(repository("host/console/src/pages.rs")).expect("the routes");
    let mut found = Vec::new();
    for route in source.split(".route(").skip(1) {
        let route = route.trim_start();
        let (path, rest) = match route.strip_prefix('"') {
            Some(rest) => rest.split_once('"').expect("a path"),
            None if route.starts_with("tenants::PLACE") => ("/tenants", route),
            // The root with a stroke at its end.
            None if route.starts_with("&format!(\"{ROOT}/\")") => continue,
            None => panic!("a route that this test cannot read: {route}"),
        };
        let answers = rest.split(".merge(").next().unwrap_or_default();
        found.push((path.to_owned(), answers.to_owned()));
    }
    found
}

/// True for a path that a route leads to.
fn leads(route: &str, path: &str) -> bool {
    let path = path.strip_prefix("/console").unwrap_or(path);
    let path = path.split('?').next().unwrap_or_default();
    let parts = |text: &str| -> Vec<String> {
        let parts = text.split('/').filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (route, path) = (parts(route), parts(path));
    let is_open = route.last().is_some_and(|part| part.starts_with("{*"));
    let fits = |(of_route, of_path): (&String, &String)| of_route.starts_with('{') || of_route == of_path;
    (route.len() == path.len() || is_open && path.len() >= route.len()) && route.iter().zip(&path).all(fits)
}

#[harness::test]
fn every_page_and_form_is_in_the_table_of_those_that_are_tested() {
    let routes = routes();
    assert!(routes.len() > 50, "{}", routes.len());
    let answers_get = |answers: &str| answers.contains("get(") || answers.contains("any(");
    let missing = routes.iter().filter(|(route, answers)| {
        let is_shown = PLACES.iter().any(|place| leads(route, place.path));
        let is_sent = super::pages::forms().any(|path| leads(route, path));
        answers_get(answers) && !is_shown || answers.contains("post(") && !is_sent
    });
    assert_eq!(missing.map(|(route, _)| route).collect::<Vec<_>>(), Vec::<&String>::new());
    let is_route = |place: &&Place| !routes.iter().any(|(route, _)| leads(route, place.path));
    assert_eq!(PLACES.iter().filter(is_route).map(|place| place.path).collect::<Vec<_>>(), Vec::<&str>::new());
}

/// Scripts of a file of ours: those that it imports, and what they import.
fn imports(client: &Client, folder: &str, name: &str, found: &mut std::collections::BTreeMap<String, String>) {
    if found.contains_key(name) {
        return;
    }
    let text = client.get(&format!("{folder}/{name}")).is(200).text;
    let imported: Vec<String> =
        (text.split(" from './").skip(1)).filter_map(|rest| rest.split('\'').next().map(str::to_owned)).collect();
    found.insert(name.to_owned(), text);
    for name in imported {
        imports(client, folder, &name, found);
    }
}

#[harness::test]
fn scripts_of_each_page_are_under_thirty_kilobytes_compressed() {
    let (_api, client, _) = with_everything();
    let mut most = 0;
    for place in PLACES.iter().filter(|place| matches!(place.kind, Kind::Page | Kind::Nobody)) {
        let shown = page(&client, place.path).is(200).text;
        let mut scripts = std::collections::BTreeMap::new();
        for script in shown.split("<script src=\"").skip(1) {
            let address = script.split('"').next().unwrap_or_default();
            let (folder, name) = address.rsplit_once('/').expect("an address");
            imports(&client, folder, name, &mut scripts);
        }
        assert!(scripts.contains_key("console.js"), "{}", place.path);
        let bytes: usize = scripts.values().map(|text| compressed(text)).sum();
        assert!(bytes < 30_000, "{}: {bytes} bytes of {:?}", place.path, scripts.keys());
        most = most.max(bytes);
    }
    // The pages of work have most of them, and their service worker besides.
    let worker = page(&client, "/console/work/worker.js").is(200).text;
    assert!(most > 5_000 && most + compressed(&worker) < 30_000, "{most}");
}

fn compressed(text: &str) -> usize {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).expect("compressed");
    encoder.finish().expect("compressed").len()
}
