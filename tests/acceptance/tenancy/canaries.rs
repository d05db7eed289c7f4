//! Two tenants whose secrets, values and names are canaries, on a host that logs all it can: whatever one of them
//! tries, by every endpoint that the API describes and every verb that `wed` has, none of the other's is heard; and
//! nobody's secret is heard anywhere.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Child, Stdio};
use std::sync::Arc;

use postgres::fallible_iterator::FallibleIterator;
use serde_json::{Value as Json, json};

use crate::host::guests;
use crate::support::http::{Answered, Client};
use crate::support::program::{Answer, run, wed, wed_path};
use crate::support::{Database, Session, eventually, on};

/// A flow's secret, an instance's value, a setting: none of them is ever said to anybody else.
const SECRET: &str = "canary-secret-5f1c7d0e";
const VALUE: &str = "canary-value-9b31c2aa";
const SETTING: &str = "canary-setting-44aa01ff";
/// The secret of the tenant that listens: no more to be found in logs and answers than another's.
const OWN_SECRET: &str = "canary-own-77fe20b1";

/// Names of the second tenant.
const FLOW: &str = "canary-flow";
const COMPONENT: &str = "canary-component";
const USER: &str = "canary-user";
const TRIGGER: &str = "canary_trigger";
const NAMES: [&str; 9] = [
    FLOW,
    COMPONENT,
    USER,
    TRIGGER,
    "canary_step",
    "canary_attribute",
    "canary_config",
    "canary_description",
    "canary-token",
];

/// Verbs of the operator, who names tenants and databases, or of no tenant at all: there is nothing of another
/// tenant's to ask for by them.
const OPERATORS: [&str; 12] =
    ["dev", "serve", "migrate", "db", "guard", "new", "build", "test", "run", "tenant", "demo", "component encode"];

struct Aviary {
    database: Arc<Database>,
    server: Child,
    log: tempfile::NamedTempFile,
    alpha: Client,
    beta: Client,
    /// A token of the second tenant: its id and its secret.
    token: (String, String),
    /// Passwords and tokens of this run, which must appear nowhere.
    hidden: Vec<String>,
}

impl Drop for Aviary {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Aviary {
    fn new() -> Self {
        let database = Database::new();
        let url = database.url();
        for tenant in ["alpha", "beta"] {
            on(database.store.create_tenant(tenant, "")).expect("a tenant");
        }
        database.owner().run("UPDATE wed.quota SET requests_per_second = NULL");
        let log = tempfile::NamedTempFile::new().expect("a file");
        let server = std::process::Command::new(wed_path())
            .args(["serve", "--listen", "127.0.0.1:0", "--lanes", "1"])
            .env("DATABASE_URL", &url)
            .env("WEDFLOW_SECRET_KEY", "5a".repeat(32))
            .env("WEDFLOW_LOG", "trace")
            .stderr(log.reopen().expect("the file"))
            .spawn()
            .expect("wed runs");
        let address = eventually("the address", || {
            let said = std::fs::read_to_string(log.path()).ok()?;
            let rest = said.split("the API is at http://").nth(1)?;
            rest.split(';').next()?.parse().ok()
        });
        let mut hidden = Vec::new();
        let mut user = |tenant: &str, name: &str| {
            let create = ["--tenant", tenant, "user", "create", name, "--role", "admin"];
            run(wed(&url).args(create)).done();
            let token = run(wed(&url).args(["--json", "--tenant", tenant, "token", "create", name]));
            let secret = token.done().json()["secret"].as_str().expect("a secret").to_owned();
            hidden.push(secret.clone());
            Client::at(address, &secret)
        };
        let (alpha, beta) = (user("alpha", "ann"), user("beta", USER));
        let made =
            beta.json("POST", "/v1/tokens", &json!({ "name": "canary-token", "scopes": ["read"] })).is(201).json();
        let word = |name: &str| made[name].as_str().expect(name).to_owned();
        let token = (word("id"), word("secret"));
        hidden.push(token.1.clone());
        Aviary { database, server, log, alpha, beta, token, hidden }
    }

    /// Gives a tenant a flow whose transition tells its secret in every way it can, and one for external workers; all
    /// of it named after the bird, or after its owner.
    fn flow(&mut self, client: &Client, tenant: &str, bird: &str, secret: &str, setting: &str) {
        let (flow, component) = (format!("{bird}-flow"), format!("{bird}-component"));
        client.upload(&component, guests::hostile(), &[]).is(201);
        let definition = json!({
            "name": flow, "description": format!("{bird}_description"),
            "final": "a1 = 'logged'",
            "attribute": [
                { "name": "a1", "default": "log" }, { "name": "n", "type": "integer" },
                { "name": "tags", "type": "text[]" }, { "name": format!("{bird}_attribute") }],
            "trigger": [
                { "name": format!("{bird}_trigger"), "when": "a1 <> 'logged'", "transition": "leak", "attempts": 1 },
                { "name": "outside", "when": "n = 1", "transition": format!("{bird}_step") }],
            "transition": { "leak": { "component": component } },
        });
        client.json("PUT", &format!("/v1/flows/{flow}"), &definition).is(201);
        let url = self.database.url();
        let words = ["--tenant", tenant, "flow", "secret", "set", &flow, "key", "--grant", "leak"];
        let mut child = wed(&url)
            .args(words)
            .env("WEDFLOW_SECRET_KEY", "5a".repeat(32))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("wed runs");
        let mut input = child.stdin.take().expect("standard input");
        input.write_all(secret.as_bytes()).expect("written");
        drop(input);
        assert!(child.wait().expect("it ends").success());
        let key = format!("{bird}_config");
        run(wed(&url).args(["--tenant", tenant, "flow", "config", "set", &flow, &key, setting])).done();
        let flow_url = on(self.database.store.flow_url(tenant, &flow)).expect("its URL");
        let password = flow_url.split(['@', ':']).nth(2).expect("a password");
        self.hidden.push(password.to_owned());
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.log.path()).expect("the log")
    }

    /// Lists the words that a tenant must not hear of the other.
    fn unheard(&self) -> Vec<&str> {
        let mut all = vec![SECRET, OWN_SECRET, VALUE, SETTING, self.token.1.as_str()];
        all.extend(self.hidden.iter().map(String::as_str));
        all
    }

    /// Asserts that nothing of the second tenant's is in what was said to the first, but for the names it gave.
    fn silent(&self, what: &str, said: &str, given: &str) {
        for canary in self.unheard().into_iter().chain(NAMES) {
            let own = NAMES.contains(&canary) && given.contains(canary);
            assert!(own || !said.contains(canary), "{canary} in the answer to {what}: {said}");
        }
    }
}

#[harness::test]
fn canaries_are_heard_nowhere() {
    let mut aviary = Aviary::new();
    let (alpha, beta) = (aviary.alpha.clone(), aviary.beta.clone());
    let mut ears = ears(&aviary);
    aviary.flow(&beta, "beta", "canary", SECRET, SETTING);
    aviary.flow(&alpha, "alpha", "own", OWN_SECRET, "https://own");
    // Both tell their secrets: into the log, as a reason, in a clause, as a value, in an error.
    for (client, bird, value) in [(&beta, "canary", VALUE), (&alpha, "own", "x")] {
        let flow = format!("{bird}-flow");
        let path = format!("/v1/flows/{flow}/instances");
        for way in ["log", "abort", "clause", "value", "fail"] {
            let state = json!({ "state": { "a1": way, "n": 1, format!("{bird}_attribute"): value } });
            let started = client.json("POST", &path, &state).is(201).json();
            let instance = format!("{path}/{}", started["wid"]);
            eventually("what comes of its secret", || {
                let jobs = client.get(&instance).is(200).text;
                let trace = client.get(&format!("{instance}/trace")).is(200).text;
                assert!(!jobs.contains(SECRET) && !trace.contains(SECRET), "{jobs} {trace}");
                let said = aviary.database.owner().number(&format!(
                    "SELECT (SELECT count(*) FROM wed.attempt a JOIN wed.flow f USING (flow_id) WHERE f.name = \
                     '{flow}' AND wid = {0})
                          + (SELECT count(*) FROM wed.log l JOIN wed.flow f USING (flow_id) WHERE f.name = '{flow}' \
                          AND wid = {0})",
                    started["wid"]
                ));
                (said > 0).then_some(())
            });
        }
    }
    let asked = endpoints(&aviary);
    let verbs = verbs(&aviary);
    tables(&aviary);
    let heard = heard(&mut ears);
    println!("{asked} requests, {verbs} verbs, {heard} notifications");
    assert!(asked >= 50 && verbs >= 30 && heard > 0, "{asked} {verbs} {heard}");
    // All of it is still there, so that there was something to hear.
    beta.get("/v1/flows/canary-flow/instances/1").is(200);
    let shown = beta.get("/v1/flows/canary-flow/instances/1").text;
    assert!(shown.contains(VALUE), "{shown}");
    let log = aviary.log();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "the log says little");
    let mut found = BTreeSet::new();
    for canary in aviary.unheard() {
        for line in log.lines().filter(|line| line.contains(canary)) {
            found.insert(line.chars().take(400).collect::<String>());
        }
    }
    assert!(found.is_empty(), "in the log:\n{}", found.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Sessions that listen to all notifications: the hosts' channel, and those of transitions.
fn ears(aviary: &Aviary) -> Session {
    let mut session = aviary.database.owner();
    let told = session.lines(
        "SELECT DISTINCT m[1] FROM pg_proc p, regexp_matches(p.prosrc, 'pg_notify\\(([^,]+),', 'g') m
         WHERE p.pronamespace IN ('wed'::regnamespace, 'wed_bounded'::regnamespace)",
    );
    // A new channel must be listened to here.
    for channel in &told {
        assert!(
            ["'wed_jobs'", "'wed_exception'", "'wed_work'", "trname", "t.trname", "_job.trname", "_step.trname"]
                .contains(&channel.as_str()),
            "{told:?}"
        );
    }
    session.run("LISTEN wed_jobs; LISTEN wed_exception; LISTEN wed_work; LISTEN canary_step; LISTEN leak");
    session
}

/// Counts the notifications that a session got, which hold numbers only.
fn heard(session: &mut Session) -> usize {
    // Those that are under way are read with the answer.
    session.run("SELECT 1");
    let mut notifications = session.notifications();
    let mut count = 0;
    while let Ok(Some(told)) = notifications.iter().next() {
        count += 1;
        let payload = told.payload();
        let numbers = payload.chars().all(|c| c.is_ascii_digit() || "{}\":,widtg".contains(c));
        assert!(numbers, "{} was told {payload}", told.channel());
    }
    count
}

/// Every endpoint that is described, with the second tenant's names, asked by the first and by nobody.
fn endpoints(aviary: &Aviary) -> usize {
    let description = aviary.alpha.get("/openapi.json").is(200).json();
    let names = [
        ("flow", FLOW),
        ("wid", "1"),
        ("trigger", TRIGGER),
        ("component", COMPONENT),
        ("version", "1"),
        ("user", USER),
        ("token", &aviary.token.0),
        ("schedule", "canary-schedule"),
        ("item", "1"),
        ("act", "select"),
        ("key", "absent_key"),
        ("secret", "absent_secret"),
        ("attachment", "1"),
        ("attempt", "1"),
        ("calendar", "absent-calendar"),
        ("role", "absent-role"),
        ("tenant", "absent-tenant"),
        ("cluster", "absent-cluster"),
        ("webhook", "wh_absent"),
        ("hook", "absent-hook"),
        ("address", "hk_absent"),
    ];
    let nobody = aviary.alpha.with_token("wed_absent00_0000000000");
    let mut asked = 0;
    for (path, methods) in description["paths"].as_object().expect("paths") {
        let mut concrete = path.clone();
        for (name, value) in names {
            concrete = concrete.replace(&format!("{{{name}}}"), value);
        }
        // A parameter that is not known here would go untried.
        assert!(!concrete.contains('{'), "{concrete}");
        for method in methods.as_object().expect("methods").keys() {
            let method = method.to_uppercase();
            for client in [&aviary.alpha, &nobody] {
                for (given, answer) in ask(client, &method, &concrete) {
                    asked += 1;
                    assert!(answer.status < 500, "{method} {concrete}: {answer:?}");
                    let mut said = answer.text.clone();
                    for (name, value) in &answer.headers {
                        said.push_str(&format!("\n{name}: {value}"));
                    }
                    aviary.silent(&format!("{method} {given}"), &said, &given);
                }
            }
        }
    }
    for path in ["/metrics", "/v1/metrics", "/", "/console", "/health", "/v1/../v1/flows"] {
        for client in [&aviary.alpha, &nobody] {
            let answer = client.get(path);
            asked += 1;
            aviary.silent(path, &format!("{answer:?}"), path);
        }
    }
    asked
}

/// A request with the documents that might do something, or show something, if the thing were there; what was given,
/// and what was answered. None of them makes something of that name, which then would be the asker's own.
fn ask(client: &Client, method: &str, path: &str) -> Vec<(String, Answered)> {
    if method == "GET" || method == "DELETE" {
        return ["", "?limit=1000", "?user=canary-user", "?cursor=AAAA"]
            .iter()
            .map(|query| {
                let path = format!("{path}{query}");
                let answer = client.send(method, &path, &[], b"");
                (path, answer)
            })
            .collect();
    }
    let documents = [
        json!({}),
        json!({ "name": FLOW, "trigger": [{ "name": "t", "when": "canary_attribute = 'x'", "transition": "leak" }] }),
        json!({ "name": FLOW, "attribute": [{ "name": "a", "type": "nothing" }],
                "transition": { "leak": { "component": COMPONENT } } }),
        json!({ "role": "viewer" }),
        json!({ "version": 1 }),
        json!({ "name": "x", "user": USER, "scopes": ["read"] }),
        json!({ "state": { "canary_attribute": "x" } }),
        Json::Null,
    ];
    documents
        .iter()
        .map(|document| {
            let answer = client.json(method, path, document);
            (format!("{path} {document}"), answer)
        })
        .collect()
}

/// Returns a value for a placeholder of a command's usage: the name of a thing of the second tenant's, where it names
/// one.
fn value_of<'a>(
    place: &'a str,
    words: &[String],
    aviary: &'a Aviary,
    definition: &'a std::path::Path,
) -> Option<&'a str> {
    Some(match place.trim_end_matches("...").trim_matches(['[', ']']) {
        "OPTIONS" => return None,
        // What is made is the first's own.
        "<NAME>" if words[1] == "create" => "third",
        "<NAME>" => match words[0].as_str() {
            "flow" if words[1] == "secret" => "key",
            "flow" if words[1] == "schedule" => "canary_schedule",
            "instance" => "leak",
            "flow" => FLOW,
            "component" => COMPONENT,
            "user" => USER,
            _ => "canary_name",
        },
        "<FLOW>" => FLOW,
        "<WID>" | "WID" | "<VERSION>" => "1",
        "<TRANSITION>" | "TRANSITION" | "TRANSITIONS" => "leak",
        "<COMPONENT>" => COMPONENT,
        "<KEY>" => "canary_config",
        "<VALUE>" => "x",
        "ATTRIBUTE=VALUE" => "a1=log",
        "<FLOW/WID#SEQ>" => "canary-flow/1",
        "<FILE>" => definition.to_str().expect("a path"),
        "<FILES>" => definition.to_str().expect("a path"),
        "<ROLE>" => "viewer",
        option if option.starts_with("--") => option,
        "<TEXT>" | "OLD" | "NEW" | "VERSION" | "<SEQ>" => "1",
        "<PATTERN>" => "0 0 * * *",
        "<TIME>" => "2026-01-01T00:00:00Z",
        "<USER>" => USER,
        "<ID>" => &aviary.token.0,
        // An item, a person, a number: one of the second tenant's would be 1 as well.
        _ => "1",
    })
}

/// Every verb of the program, as its help lists them, with the second tenant's names, for the first tenant.
fn verbs(aviary: &Aviary) -> usize {
    let url = aviary.database.url();
    let mut count = 0;
    let mut nouns = vec![Vec::<String>::new()];
    let definition = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
    let text = format!(
        "name = \"third-flow\"\n[[attribute]]\nname = \"a\"\n[[trigger]]\nname = \"t\"\nwhen = \"a IS NULL\"\n\
         transition = \"leak\"\n[transition.leak]\ncomponent = \"{COMPONENT}\"\n"
    );
    std::fs::write(definition.path(), &text).expect("written");
    while let Some(words) = nouns.pop() {
        let help = run(wed(&url).args(&words).arg("--help")).done().out;
        if let Some((_, commands)) = help.split_once("Commands:") {
            let commands = commands.split("Options:").next().expect("commands");
            for line in commands.lines() {
                let verb = line.strip_prefix("  ").and_then(|rest| rest.split(' ').next());
                let Some(verb) = verb.filter(|verb| !verb.is_empty() && *verb != "help") else {
                    continue;
                };
                let mut next = words.clone();
                next.push(verb.to_owned());
                if !OPERATORS.contains(&next.join(" ").as_str()) {
                    nouns.push(next);
                }
            }
            continue;
        }
        let usage = help.lines().find_map(|line| line.strip_prefix("Usage: wed ")).expect("a usage");
        let mut arguments: Vec<String> = words.clone();
        for place in usage.split(' ').skip(words.len()) {
            if let Some(value) = value_of(place, &words, aviary, definition.path()) {
                arguments.push(value.to_owned());
            }
        }
        if words == ["flow", "drop"] {
            arguments.push("--yes".to_owned());
        }
        // In every form of answer, with the names that stand for another tenant's.
        for form in [&["--json"][..], &[]] {
            let answer: Answer = run(wed(&url)
                .args(["--tenant", "alpha"])
                .args(form)
                .args(&arguments)
                .env("WEDFLOW_SECRET_KEY", "5a".repeat(32))
                .env("WEDFLOW_LOG", "trace")
                .stdin(Stdio::null()));
            let given = format!("{} {text}", arguments.join(" "));
            for said in [&answer.out, &answer.err] {
                // The operator's own program logs the statements it makes, with the names that it was given.
                aviary.silent(&format!("wed {}", arguments.join(" ")), said, &given);
            }
            count += 1;
        }
    }
    count
}

/// Every table and view that a flow's role of the first tenant can read, and all tables, for what is to be nowhere.
fn tables(aviary: &Aviary) {
    let own = on(aviary.database.store.flow_url("alpha", "own-flow")).expect("its URL");
    let relations = "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_table_privilege(c.oid, 'SELECT') AND n.nspname <> \
        'pg_toast'
          AND has_schema_privilege(n.oid, 'USAGE')";
    let search = |session: &mut Session, what: &str, canaries: &[&str]| {
        let relations = session.lines(relations);
        assert!(relations.len() > 20, "{relations:?}");
        for relation in relations {
            let found = session.query_opt(
                &format!("SELECT c FROM {relation} AS _t, unnest($1::text[]) c WHERE strpos(_t::text, c) > 0 LIMIT 1"),
                &[&canaries],
            );
            // Some views of Postgres's own are not for everybody.
            if let Ok(Some(row)) = found {
                let canary: String = row.get(0);
                panic!("{what}: {canary} in {relation}");
            }
        }
    };
    let mut session = Session::on(&aviary.database, &own);
    let unheard = aviary.unheard();
    search(&mut session, "the flow's role", &unheard);
    // Not even the owner of the database finds a secret or a token. Passwords of flows it keeps, to give them out.
    let tokens = aviary.hidden.iter().filter(|secret| secret.starts_with("wed_"));
    let secrets: Vec<&str> = [SECRET, OWN_SECRET].into_iter().chain(tokens.map(String::as_str)).collect();
    assert!(secrets.len() >= 5, "{secrets:?}");
    search(&mut aviary.database.owner(), "the owner", &secrets);
}
