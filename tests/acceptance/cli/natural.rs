//! Errands of people, done twice with the same answers: over the database, and over HTTP with a token alone.

use serde_json::{Value as Json, json};

use super::{STEPS, path};
use crate::support::Database;
use crate::support::http::Api;
use crate::support::program::{Answer, run, wed};

/// Keys whose values differ from one run to the next: moments, who acts, secrets.
const DIFFERING: [&str; 16] = [
    "at",
    "since",
    "changed",
    "started",
    "due",
    "asked_at",
    "applied_at",
    "created_at",
    "next_at",
    "last_at",
    "actor",
    "secret",
    "url",
    "elapsed_us",
    "id",
    "expires_at",
];

/// A way in.
struct Door {
    api: Option<(Api, String)>,
    database: std::sync::Arc<Database>,
    files: tempfile::TempDir,
}

impl Door {
    fn over_database() -> Self {
        Door { api: None, database: Database::new(), files: tempfile::tempdir().expect("a folder") }
    }

    /// The server's address and a token are all that is known.
    fn over_http() -> Self {
        let mut door = Door::over_database();
        let url = door.database.url();
        run(wed(&url).args(["user", "create", "ann", "--role", "admin"])).done();
        let token = run(wed(&url).args(["--json", "token", "create", "ann"])).done();
        let token = token.json()["secret"].as_str().expect("a secret").to_owned();
        door.api = Some((Api::of(&door.database), token));
        door
    }

    fn run(&self, words: &[&str]) -> Answer {
        let mut command = wed(&self.database.url());
        command.env("WEDFLOW_CONFIG", self.files.path().join("config"));
        if let Some((api, token)) = &self.api {
            command
                .env_remove("DATABASE_URL")
                .env("WEDFLOW_HOME", self.files.path().join("nothing"))
                .env("WEDFLOW_SERVER", format!("http://{}", api.address))
                .env("WEDFLOW_TOKEN", token);
        }
        run(command.args(words))
    }

    /// The answer for machines, without what differs from one run to the next.
    #[track_caller]
    fn json(&self, words: &[&str]) -> Json {
        let answer = self.run(&[&["--json"], words].concat()).done();
        let mut document = answer.json();
        forget(&mut document);
        document
    }

    /// The refusal: its code, message and exit code.
    #[track_caller]
    fn refused(&self, words: &[&str]) -> Json {
        let answer = self.run(&[&["--json"], words].concat());
        let error = answer.error();
        json!([answer.code, error["code"], error["message"]])
    }
}

fn forget(document: &mut Json) {
    match document {
        Json::Object(fields) => {
            for (key, value) in fields {
                match DIFFERING.contains(&key.as_str()) && !value.is_null() {
                    true => *value = "…".into(),
                    false => forget(value),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(forget),
        Json::String(text) => {
            for who in ["operator:postgres", "token:ann/token"] {
                *text = text.replace(who, "who");
            }
            if text.starts_with("wh_") {
                *text = "a webhook".to_owned();
            }
            if text == "postgres" {
                *text = "who".to_owned();
            }
        }
        _ => {}
    }
}

/// A task, and what it answered.
type Task = (&'static str, Json);

/// Does all tasks through a door.
fn play(door: &Door) -> Vec<Task> {
    let mut tasks = play_instances(door);
    tasks.extend(play_changes(door));
    tasks.extend(play_batches(door));
    tasks.extend(play_tenant(door));
    tasks.extend(play_refusals(door));
    tasks
}

/// Writes the definition of `steps` with a change.
fn definition(door: &Door, name: &str, from: &str, to: &str) -> String {
    let file = door.files.path().join(name);
    std::fs::write(&file, STEPS.replace(from, to)).expect("written");
    path(&file).to_owned()
}

/// Does a task with a reason.
#[track_caller]
fn because(door: &Door, words: &[&str]) -> Json {
    door.json(&[words, &["--reason", "stocktaking"]].concat())
}

/// Starts instances, finds out about them, operates on them.
fn play_instances(door: &Door) -> Vec<Task> {
    let file = definition(door, "steps.toml", "n < 3", "n < 3");
    let start = ["instance", "start", "steps", "remark=tea", "--once", "k1"];
    let skip = ["instance", "skip", "steps", "1", "--transition", "step"];
    vec![
        ("make a flow", door.json(&["flow", "apply", &file])),
        ("list flows", door.json(&["flow", "list"])),
        ("start", door.json(&start)),
        ("start once", door.json(&start)),
        ("start another", door.json(&["instance", "start", "steps", "n=1", "remark=007"])),
        ("search by value", door.json(&["instance", "list", "steps", "--where", "remark=tea"])),
        ("why stuck", door.json(&["instance", "show", "steps", "1"])),
        ("tail logs", door.json(&["job", "logs", "steps", "1"])),
        ("list jobs", door.json(&["job", "list", "steps", "1"])),
        ("make an exception", because(door, &skip)),
        ("list exceptions", door.json(&["instance", "list", "steps", "--status", "exception"])),
        ("why not fired", door.json(&["instance", "show", "steps", "1"])),
        ("count before bulk retry", door.json(&["flow", "retry", "steps"])),
        ("bulk retry", door.json(&["flow", "retry", "steps", "--yes"])),
        ("retry one", door.json(&["instance", "retry", "steps", "1"])),
        ("pause a flow", because(door, &["flow", "pause", "steps"])),
        ("list pauses", door.json(&["flow", "pauses"])),
        ("resume it", door.json(&["flow", "resume", "steps"])),
        ("pause an instance", because(door, &["instance", "pause", "steps", "2"])),
        ("resume an instance", door.json(&["instance", "resume", "steps", "2"])),
    ]
}

/// Changes the flow, goes back, and cancels.
fn play_changes(door: &Door) -> Vec<Task> {
    let changed = definition(door, "changed.toml", "n < 3", "n < 2");
    let night = ["flow", "schedule", "set", "steps", "night", "--cron", "0 3 * * *"];
    vec![
        ("preview a condition", door.json(&["flow", "apply", &changed, "--dry-run"])),
        ("change a condition", door.json(&["flow", "apply", &changed])),
        ("compare", door.json(&["flow", "diff", "steps"])),
        ("history", door.json(&["flow", "history", "steps"])),
        ("preview rolling back", door.json(&["flow", "rollback", "steps"])),
        ("roll back", door.json(&["flow", "rollback", "steps", "--yes"])),
        ("re-match", door.json(&["flow", "rematch", "steps"])),
        ("lint", door.json(&["flow", "lint", "steps"])),
        ("why a condition holds", door.json(&["why", "steps", "1"])),
        ("what if", door.json(&["why", "steps", "1", "--if", "n=3"])),
        ("reservations", door.json(&["flow", "reservations", "steps"])),
        ("cancel", because(door, &["instance", "cancel", "steps", "2"])),
        ("history of one", door.json(&["instance", "trace", "steps", "2"])),
        ("every night", door.json(&night)),
        ("no more", door.json(&["flow", "schedule", "delete", "steps", "night"])),
    ]
}

/// Acts on all that match.
fn play_batches(door: &Door) -> Vec<Task> {
    let batch = ["instance", "batch", "steps"];
    let act = |words: &[&str]| because(door, &[&batch, words].concat());
    vec![
        ("find by a condition", door.json(&["instance", "list", "steps", "--condition", "n = 1"])),
        ("count what would be paused", act(&["pause", "--condition", "n < 3"])),
        ("pause them", act(&["pause", "--status", "regular", "--yes"])),
        ("resume them", act(&["resume", "--status", "regular", "--yes"])),
    ]
}

/// Gives the tenant settings, users, people, stock.
fn play_tenant(door: &Door) -> Vec<Task> {
    let stock = ["flow", "resource", "set", "steps", "oven", "12345678901234567890"];
    vec![
        ("webhook", door.json(&["webhook", "set", "https://example.com/hook"])),
        ("webhooks", door.json(&["webhook", "list"])),
        ("a setting", door.json(&["flow", "config", "set", "steps", "region", "eu"])),
        ("settings", door.json(&["flow", "config", "list", "steps"])),
        ("a user", door.json(&["user", "create", "bob", "--role", "operator"])),
        ("a token", door.json(&["token", "create", "bob"])),
        ("another role", door.json(&["user", "role", "bob", "viewer"])),
        ("a person", door.json(&["work", "people", "--add", "eva", "--role", "Clerk"])),
        ("roles of people", door.json(&["work", "roles"])),
        ("stock", door.json(&stock)),
        ("stocks", door.json(&["flow", "resource", "list", "steps"])),
        ("components", door.json(&["component", "list"])),
    ]
}

/// Asks for what is refused, and deletes the flow.
fn play_refusals(door: &Door) -> Vec<Task> {
    let bad = definition(door, "bad.toml", "n < 3", "n < 3 AND");
    vec![
        ("a missing flow", door.refused(&["flow", "show", "order"])),
        ("a missing instance", door.refused(&["instance", "show", "steps", "99"])),
        ("a refused start", door.refused(&["instance", "start", "steps", "n=a"])),
        ("a refused condition", door.refused(&["flow", "apply", &bad])),
        ("a refused retry", door.refused(&["instance", "retry", "steps", "2"])),
        ("delete a flow", door.json(&["flow", "delete", "steps", "--yes"])),
        ("nothing is left", door.json(&["flow", "list"])),
    ]
}

/// Manages the installation: with an operator's token over HTTP.
fn play_installation(door: &Door) -> Vec<Task> {
    let quota = ["tenant", "quota", "acme", "--flows", "3", "--jobs", "none"];
    let pause = ["tenant", "pause", "acme", "--reason", "stocktaking"];
    let status = door.run(&["--json", "status"]).json();
    let parts = status.as_object().into_iter().flatten();
    let parts: Vec<&str> = parts.map(|(name, _)| name.as_str()).collect();
    vec![
        ("status", json!(parts)),
        ("make a tenant", door.json(&["tenant", "create", "acme", "--description", "signed up"])),
        ("tenants", door.json(&["tenant", "list"])),
        ("limits", door.json(&quota)),
        ("a tenant", door.json(&["tenant", "show", "acme"])),
        ("suspend it", door.json(&["tenant", "suspend", "acme"])),
        ("suspended", door.json(&["tenant", "show", "acme"])),
        ("let it go on", door.json(&["tenant", "resume", "acme"])),
        ("pause it", door.json(&pause)),
        ("pause it twice", door.json(&pause)),
        ("a missing tenant", door.refused(&["tenant", "show", "other"])),
        ("a name that is taken", door.refused(&["tenant", "create", "acme"])),
        ("delete it", door.json(&["tenant", "delete", "acme", "--yes"])),
        ("what is left", door.json(&["tenant", "list"])),
    ]
}

#[harness::test]
fn installation_is_managed_over_http_with_the_same_answers() {
    let (direct, mut http) = (Door::over_database(), Door::over_http());
    let url = http.database.url();
    let made = run(wed(&url).args(["--json", "operator", "create", "portal"])).done();
    let secret = made.json()["secret"].as_str().map(str::to_owned);
    if let Some((_, token)) = &mut http.api {
        *token = secret.expect("a secret");
    }
    let (mut direct, mut http) = (play_installation(&direct), play_installation(&http));
    // The default tenant has a user there: the bearer of the other token.
    for (_, answer) in direct.iter_mut().chain(&mut http) {
        for tenant in answer.as_array_mut().into_iter().flatten() {
            if tenant["name"] == "default" {
                tenant["users"] = Json::Null;
            }
        }
    }
    same(&direct, &http);
}

#[harness::test]
fn natural_tasks_have_the_same_answers_over_the_database_and_over_http() {
    same(&play(&Door::over_database()), &play(&Door::over_http()));
}

/// Asserts that both doors gave the same answers.
#[track_caller]
fn same(direct: &[Task], http: &[Task]) {
    assert_eq!(direct.len(), http.len());
    let differing: Vec<String> = direct
        .iter()
        .zip(http)
        .filter(|((_, one), (_, other))| one != other)
        .map(|((task, one), (_, other))| format!("{task}:\n{one}\n{other}"))
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[harness::test]
fn login_keeps_a_token_that_only_its_owner_reads() {
    use std::os::unix::fs::PermissionsExt;
    let door = Door::over_http();
    let (api, token) = door.api.as_ref().expect("a server");
    let server = format!("http://{}", api.address);
    let config = door.files.path().join("config");
    let alone = |words: &[&str]| {
        let mut command = wed("");
        command.env("WEDFLOW_CONFIG", &config).env_remove("DATABASE_URL");
        run(command.args(words))
    };
    let login = ["--json", "login", "--server", &server, "--token", token, "--name", "acme"];
    let said = alone(&login).done().json();
    assert_eq!((&said["user"], &said["tenant"]), (&json!("ann"), &json!("default")));
    let mode = std::fs::metadata(config.join("contexts.toml")).expect("the file");
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    assert_eq!(alone(&["--json", "flow", "list"]).done().json(), json!([]));
    let me = alone(&["--json", "whoami"]).done().json();
    assert_eq!((&me["user"], &me["server"]), (&json!("ann"), &json!(server)));
    let config_said = alone(&["--json", "config", "show", "--origin"]).done().json();
    assert_eq!(config_said[0]["origin"], "context acme", "{config_said}");
    assert!(!config_said.to_string().contains(token.as_str()));
    let wrong = alone(&["--tenant", "other", "flow", "list"]).exits(2);
    assert!(wrong.err.contains("belongs to tenant default"), "{wrong:?}");
    alone(&["context", "remove", "acme"]).done();
    assert_eq!(alone(&["--json", "context", "list"]).done().json(), json!([]));
}

#[harness::test]
fn token_that_is_wrong_or_a_server_that_is_not_there_is_said_so() {
    let door = Door::over_http();
    let (api, _) = door.api.as_ref().expect("a server");
    let server = format!("http://{}", api.address);
    let with = |server: &str, token: &str| {
        let words = ["--json", "--server", server, "--token", token, "flow", "list"];
        door.run(&words)
    };
    let wrong = with(&server, "wed_wrong").exits(4).error();
    assert_eq!(wrong["code"], "invalid_token", "{wrong}");
    let nobody = with("http://127.0.0.1:1", "wed_wrong").exits(5).error();
    assert_eq!(nobody["code"], "server", "{nobody}");
    for bad in ["127.0.0.1:1", "http://127.0.0.1:1/v1", "nonsense"] {
        let error = with(bad, "wed_wrong").exits(2).error();
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("https://")), "{error}");
    }
}
