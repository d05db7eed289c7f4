//! Commands of an author on their own machine, also with recordings of a host: new, build, test, run, job, replay.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::console::{Docs, driver, form, page, picture_folder, proof};
use crate::host::guests;
use crate::support::database::{one_lane, sample_component};
use crate::support::http::Client;
use crate::support::program::{Answer, Serving, run, token_of, wed};
use crate::support::{Database, Flow, Session, on, repository};

/// Address that answers no request: none of these commands may need a database.
const NOWHERE: &str = "postgres://nobody@127.0.0.1:1/nothing";

/// `wed` in a folder, with nothing to talk to.
fn alone(folder: &Path, arguments: &[&str]) -> Answer {
    run(wed(NOWHERE).args(arguments).current_dir(folder))
}

/// A component in a folder, with fixtures next to it.
fn component(folder: &Path, bytes: &[u8], fixtures: &[(&str, &str)]) -> PathBuf {
    let file = folder.join("component.wasm");
    std::fs::write(&file, bytes).expect("written");
    std::fs::create_dir_all(folder.join("fixtures")).expect("a folder");
    for (name, text) in fixtures {
        std::fs::write(folder.join("fixtures").join(name), text).expect("written");
    }
    file
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[harness::test]
fn a_new_project_builds_and_passes_its_own_tests() {
    let place = folder();
    alone(place.path(), &["new", "transition", "--lang", "rust", "greet-first"]).done();
    // A name of its own: Cargo puts what projects of one name make at one place in a folder they share.
    let project = place.path().join("greet-first");
    // What the samples are built of is built already.
    let built = run(wed(NOWHERE)
        .args(["build", "--json"])
        .env("CARGO_TARGET_DIR", repository("sample-transitions/target"))
        .current_dir(&project))
    .done()
    .json();
    assert!(built["bytes"].as_u64().is_some_and(|bytes| bytes > 1_000));
    let tested = alone(&project, &["test", "--properties", "50", "--json"]).done().json();
    assert_eq!((&tested["passed"], &tested["failed"]), (&3.into(), &0.into()));
    let call = &tested["fixtures"][0]["call"];
    assert_eq!(call["outcome"], "returned");
    assert!(call["used"]["fuel"].as_u64().is_some_and(|fuel| fuel > 100));
    let taken = alone(place.path(), &["new", "transition", "--lang", "rust", "greet-first"]);
    assert!(taken.exits(2).err.contains("not empty"));
}

#[harness::test]
fn every_language_has_a_project() {
    let place = folder();
    for language in ["rust", "python", "js", "go", "c"] {
        let name = format!("in-{language}");
        let made = alone(place.path(), &["new", "transition", "--lang", language, &name, "--json"]);
        assert_eq!(made.done().json()["language"], language);
        assert!(place.path().join(name).join("wedflow.toml").is_file());
    }
    let unknown = alone(place.path(), &["new", "transition", "--lang", "cobol", "x"]);
    assert!(unknown.exits(2).err.contains("cobol"));
    let nowhere = alone(place.path(), &["build", "nowhere"]).exits(3);
    assert!(nowhere.err.contains("wed new transition"), "{nowhere:?}");
}

/// Makes a project and lends it the tools that this machine has, so that nothing is fetched; none, with a
/// word, where the language's tool is not here.
fn project_in(place: &Path, language: &str) -> Option<PathBuf> {
    let tool = match language {
        "python" => repository("guest-sdk/python/.venv/bin/python"),
        "js" => repository("guest-sdk/js/node_modules"),
        "go" => [PathBuf::from("/usr/local/go/bin/go"), in_path("go")]
            .into_iter()
            .find(|path| path.exists())
            .unwrap_or_default(),
        _ => PathBuf::from("/"),
    };
    if !tool.exists() {
        eprintln!("{language}: its tool is not here (scripts/setup.sh test); left out");
        return None;
    }
    alone(place, &["new", "transition", "--lang", language, "say-hello"]).done();
    let project = place.join("say-hello");
    if language == "js" {
        let modules = project.join("vendor/wedflow/guest-sdk/js/node_modules");
        std::os::unix::fs::symlink(tool, modules).expect("a link");
    }
    Some(project)
}

fn in_path(program: &str) -> PathBuf {
    std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file()))
        .unwrap_or_default()
}

/// `wed build` with what `project_in` lends.
fn built(project: &Path) {
    let mut path = vec![repository("guest-sdk/python/.venv/bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    run(wed(NOWHERE)
        .args(["build", "--json"])
        .env("PATH", std::env::join_paths(path).expect("a path"))
        .env("CARGO_TARGET_DIR", repository("sample-transitions/target"))
        .current_dir(project))
    .done();
}

#[harness::test]
fn a_new_project_passes_its_own_tests_in_every_language() {
    for language in ["c", "go", "js", "python"] {
        let place = folder();
        let Some(project) = project_in(place.path(), language) else {
            continue;
        };
        built(&project);
        let tested = alone(&project, &["test", "--properties", "50", "--json"]).done().json();
        assert_eq!((&tested["passed"], &tested["failed"]), (&3.into(), &0.into()), "{language}: {tested}");
    }
}

#[harness::test]
fn a_defect_is_found_in_every_language() {
    // What each does when a person was never here before.
    let defects = [
        ("rust", "src/lib.rs", "person.visits.unwrap_or(0)", "person.visits.unwrap()"),
        (
            "c",
            "src/say_hello.c",
            "  if (name.length == 0)",
            "  if (visits == 0) __builtin_trap();\n  if (name.length == 0)",
        ),
        ("go", "main.go", "	if p.Visits != nil {\n		visits = *p.Visits\n	}", "	visits = *p.Visits"),
        ("js", "src/index.js", "(visits ?? 0)", "visits.valueOf()"),
        ("python", "say_hello.py", "(person.visits or 0) + 1", "person.visits + 1"),
    ];
    for (language, file, sound, broken) in defects {
        let place = folder();
        let Some(project) = project_in(place.path(), language) else {
            continue;
        };
        let source = std::fs::read_to_string(project.join(file)).expect("the source");
        let planted = source.replacen(sound, broken, 1);
        assert_ne!(source, planted, "{language}");
        std::fs::write(project.join(file), planted).expect("written");
        built(&project);
        let found = alone(&project, &["test", "--properties", "200", "--json"])
            .exits(1)
            .json()["properties"][0]["counterexample"]
            .clone();
        assert!(found["state"]["visits"].is_null() && found["state"]["name"].is_string(), "{language}: {found}");
    }
}

#[harness::test]
fn a_call_needs_no_server() {
    let place = folder();
    component(place.path(), sample_component("paper"), &[]);
    let call = |arguments: &[&str]| {
        let mut all = vec!["run", "component.wasm"];
        all.extend(arguments);
        alone(place.path(), &all)
    };
    let state = "{}";
    let answer = call(&["--transition", "tr_a2", "--state", state, "--json"]).done().json();
    assert_eq!(answer["set"], "a2 = 'done'");
    assert_eq!(answer["transition"], "tr_a2");
    assert!(answer["used"]["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 0));
    let told = call(&["--transition", "tr_a2", "--state", state]).done();
    assert!(told.out.starts_with("SET a2 = 'done'"), "{told:?}");
    assert!(told.err.contains("fuel of 10 000 000 000"), "{told:?}");
    let several = call(&["--state", state]).exits(2);
    assert!(several.err.contains("tr_final"), "{several:?}");
    let typo = call(&["--transition", "tr_a2", "--state", "{1}"]).exits(2);
    assert!(typo.err.contains("--state"), "{typo:?}");
    alone(place.path(), &["run", "nothing.wasm"]).exits(3);
    std::fs::write(place.path().join("none.wasm"), "none").expect("written");
    alone(place.path(), &["run", "none.wasm"]).exits(4);
}

#[harness::test]
fn a_call_ends_by_name() {
    let place = folder();
    component(place.path(), guests::hostile(), &[]);
    let call = |transition: &str, more: &[&str]| {
        let mut all = vec!["run", "component.wasm", "--json", "--transition", transition];
        all.extend(["--attrs", "a1:text,n:integer,tags:text[]"]);
        all.extend(more);
        alone(place.path(), &all)
    };
    for (transition, more, code, outcome, part) in [
        ("trap", &[][..], 1, "trapped:unreachable", "unreachable"),
        ("loop", &["--timeout", "50ms"][..], 1, "timed_out", "timeout of 50 ms"),
        // Under a clock of its own, sleeping takes no time.
        ("sleep-forever", &["--timeout", "1h", "--seed", "1"][..], 1, "timed_out", "3600"),
        ("memory-bomb", &[][..], 1, "over_memory", "allowed"),
        ("recursion", &[][..], 1, "trapped:stack_overflow", "stack"),
        ("fail", &[][..], 0, "failed", ""),
        ("abort", &[][..], 0, "aborted", ""),
        ("bad-position", &[][..], 1, "trapped:contract", "position"),
    ] {
        let answer = call(transition, more).exits(code).json();
        assert_eq!(answer["outcome"], outcome, "{transition}");
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{transition}: {message}");
    }
    let trap = call("trap", &[]).json();
    let message = trap["message"].as_str().expect("a message");
    assert!(message.contains("\n  in "), "where it was: {message}");
    // What the guard refuses, in the server's words.
    component(place.path(), guests::ordinary(), &[]);
    let refused = call("clause", &["--state", r#"{"a1": "x"}"#]).exits(4).json();
    assert_eq!(refused["outcome"], "refused");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("a2")), "{refused}");
}

#[harness::test]
fn a_fixture_fails_with_a_difference_and_can_be_updated() {
    let place = folder();
    let right = "transition = \"tr_a2\"\n[expect]\nset = { a2 = \"done\" }\n";
    let wrong = "# kept\ntransition = \"tr_a2\"\n[expect]\nset = \"a2 = 'gone'\"\n[budget]\nfuel = 1\n";
    let unsaid = "transition = \"tr_a3\"\n";
    let fixtures = [("right.toml", right), ("unsaid.toml", unsaid), ("wrong.toml", wrong)];
    component(place.path(), sample_component("paper"), &fixtures);
    let failed = alone(place.path(), &["test", "component.wasm", "--json"]).exits(1);
    let document = failed.json();
    assert_eq!((&document["passed"], &document["failed"]), (&1.into(), &2.into()));
    let first = |what: &str| {
        let one = &document["fixtures"][2][what][0];
        format!("{} {} {}", one["what"], one["expected"], one["actual"])
    };
    assert_eq!(first("differences"), r#""a2" "'gone'" "'done'""#);
    assert!(first("over_budget").contains("at most 1"), "{document}");
    let told = alone(place.path(), &["test", "component.wasm", "--name", "wrong"]).exits(1);
    assert!(told.out.contains("expected  'gone'") && told.out.contains("actual    'done'"), "{told:?}");
    let updated = alone(place.path(), &["test", "component.wasm", "--update", "--json"]).exits(1).json();
    assert_eq!((&updated["passed"], &updated["failed"], &updated["updated"]), (&2.into(), &1.into(), &2.into()));
    let written = std::fs::read_to_string(place.path().join("fixtures/wrong.toml")).expect("read");
    assert!(written.starts_with("# kept") && written.contains("a2 = 'done'"), "{written}");
    // A budget is no expectation: it is not updated away.
    let still = alone(place.path(), &["test", "component.wasm", "--json"]).exits(1).json();
    assert_eq!((&still["passed"], &still["failed"]), (&2.into(), &1.into()));
    std::fs::write(place.path().join("fixtures/bad.toml"), "stat = 1").expect("written");
    let bad = alone(place.path(), &["test", "component.wasm"]).exits(2);
    assert!(bad.err.contains("bad.toml") && bad.err.contains("stat"), "{bad:?}");
}

#[harness::test]
fn a_fixture_has_files_and_answers_of_its_own() {
    let folder = folder();
    let fixtures = [
        (
            "files.toml",
            r#"
            transition = "files"
            types = { a1 = "text", n = "integer", tags = "text[]" }
            state = { a1 = "new", n = 0, tags = ["read a", "append a !", "read a", "all"] }
            [files]
            a = "hello"
            [expect]
            set = "a1 = 'hello|appended|hello!|a=6'"
            "#,
        ),
        (
            "http.toml",
            r#"
            transition = "fetch"
            types = { a1 = "text", n = "integer", tags = "text[]" }
            state = { a1 = "new", n = 0, tags = ["POST", "https://api.example.com/", "x"] }
            [[http]]
            method = "POST"
            url = "https://api.example.com/"
            body = "x"
            status = 201
            headers = { X-A = "b" }
            answer = "made"
            [expect]
            set = "a1 = '201 1 made'"
            "#,
        ),
    ];
    component(folder.path(), guests::hostile(), &fixtures);
    let tested = alone(folder.path(), &["test", "component.wasm", "--json"]);
    let tested = tested.json();
    let told = (&tested["passed"], &tested["failed"]);
    assert_eq!(told, (&2.into(), &0.into()), "{tested}");
}

#[harness::test]
fn random_states_find_what_traps() {
    let place = folder();
    component(place.path(), sample_component("random-walk"), &[]);
    let sound = alone(place.path(), &["test", "component.wasm", "--properties", "100", "--json"]);
    let search = sound.done().json()["properties"][0].clone();
    assert_eq!((&search["tried"], &search["counterexample"]), (&100.into(), &Json::Null));
    component(place.path(), guests::hostile(), &[]);
    let arguments = [
        "test",
        "component.wasm",
        "--properties",
        "5",
        "--transition",
        "trap",
        "--attrs",
        "a1:text,n:integer,tags:text[]",
    ];
    let mut json = arguments.to_vec();
    json.extend(["--json", "--update"]);
    let found = alone(place.path(), &json).exits(1).json()["properties"][0]["counterexample"].clone();
    assert!(found["wrong"].as_str().is_some_and(|text| text.starts_with("trapped:")), "{found}");
    // It traps whatever the state, so that the simplest state is what remains.
    let state = found["state"].as_object().expect("a state");
    assert!(state.values().all(Json::is_null), "{state:?}");
    let offered = place.path().join("fixtures/found-trap.toml");
    let again = alone(place.path(), &["test", "component.wasm", "--json"]).exits(1).json();
    assert!(offered.is_file() && again["fixtures"][0]["call"]["outcome"] == "trapped:unreachable");
}

/// A walk of chance to its end, on a host.
struct Walk {
    database: Arc<Database>,
    flow: Flow,
    wid: i64,
}

impl Walk {
    fn new() -> Self {
        let database = Database::new();
        database.upload("random_walk", sample_component("random-walk"));
        let flow = database.apply(&repository("sample-transitions/random-walk/flow.toml"));
        let host = database.host(one_lane("walk"));
        let wid = flow.session().start();
        assert_eq!(flow.end_of(wid), "F");
        on(host.stop());
        Walk { database, flow, wid }
    }

    fn wed(&self, arguments: &[&str]) -> Answer {
        run(wed(&self.database.url()).args(arguments))
    }
}

#[harness::test]
fn an_attempt_that_asked_is_run_again_byte_for_byte() {
    let walk = Walk::new();
    let mut owner = walk.database.owner();
    let steps = walk.flow.session().number("SELECT count(*) FROM wed_trace WHERE trw = 'tr_move'");
    // Each step drew a number, which is on record with the component and the state.
    assert_eq!(
        owner.number(
            "SELECT count(*) FROM wed.recording WHERE answers -> 0 ? 'random' AND component_id IS \
     NOT NULL"
        ),
        steps
    );
    let logged = walk.wed(&["job", "logs", "random-walk", &walk.wid.to_string(), "--json"]).done().json();
    let attempts = logged.as_array().expect("attempts").clone();
    assert_eq!(i64::try_from(attempts.len()).ok(), Some(steps));
    assert_eq!(attempts[0]["logs"][0]["message"], "moves");
    for attempt in &attempts {
        let id = attempt["id"].as_str().expect("an identifier");
        let replayed = walk.wed(&["replay", id, "--json"]).done().json();
        assert_eq!(replayed["same"], true, "{replayed}");
        assert_eq!(replayed["attempt"]["exact"], true);
        // What was committed is what the replay sets.
        let seq = &replayed["attempt"]["seq"];
        let state = walk.flow.session().line(&format!(
            "SELECT concat_ws(' ', state->>'a1', state->>'a2', state->>'a3', state->>'a4', state->>'a5', \
             state->>'a6', state->>'a7') FROM wed_trace WHERE seq = {seq}"
        ));
        let one = state.split(' ').position(|cell| cell == "1").expect("a 1") + 1;
        let set = replayed["replayed"]["set"].as_str().expect("a change");
        assert!(set.contains(&format!("a{one} = '1'")), "{set} but {state}");
    }
    let told = walk.wed(&["replay", "random-walk", &walk.wid.to_string()]).done();
    assert!(told.out.contains("byte for byte"), "{told:?}");
    walk.wed(&["replay", "random-walk/1#999"]).exits(3);
    walk.wed(&["replay", "random-walk/x"]).exits(2);
    // A record that says otherwise is noticed.
    owner.run("UPDATE wed.recording SET digest = repeat('0', 64)");
    walk.wed(&["replay", "random-walk", &walk.wid.to_string()]).exits(1);
}

#[harness::test]
fn a_recorded_attempt_becomes_a_fixture() {
    let walk = Walk::new();
    let place = folder();
    component(place.path(), sample_component("random-walk"), &[]);
    let file = place.path().join("fixtures/recorded.toml");
    let wid = walk.wid.to_string();
    let saved = ["replay", "random-walk", &wid, "--mask", "a7", "--fixture"];
    let mut arguments: Vec<&str> = saved.to_vec();
    arguments.push(file.to_str().expect("a path"));
    walk.wed(&arguments).done();
    let text = std::fs::read_to_string(&file).expect("written");
    assert!(text.contains("\"a7\":\"***\"") && text.contains("\"random\""), "{text}");
    alone(place.path(), &["test", "component.wasm"]).done();
}

#[harness::test]
fn another_version_is_held_against_what_was() {
    let walk = Walk::new();
    let place = folder();
    let same = component(place.path(), sample_component("random-walk"), &[]);
    let same = same.to_str().expect("a path");
    let wid = walk.wid.to_string();
    let replayed = walk.wed(&["replay", "random-walk", &wid, "--with", same, "--json"]).done().json();
    assert_eq!(replayed["differences_with"], Json::Array(Vec::new()));
    let shadow = ["replay", "random-walk", "--last", "3", "--transition", "tr_move", "--with", same, "--json"];
    let summary = walk.wed(&shadow).done().json();
    assert_eq!(summary["attempts"], summary["same"]);
    assert!(summary["same"].as_u64().is_some_and(|count| count > 0), "{summary}");
    // A record of another chance: the two components, given the same, still agree; a component without
    // the transition cannot be held against it.
    let other = place.path().join("other.wasm");
    std::fs::write(&other, sample_component("paper")).expect("written");
    let other = other.to_str().expect("a path");
    let unfit = walk.wed(&["replay", "random-walk", &wid, "--with", other]).exits(2);
    assert!(unfit.err.contains("tr_move"), "{unfit:?}");
    walk.wed(&["replay", "random-walk", "--last", "3"]).exits(2);
}

/// A component that prices a quantity, in C: `body` is what it does with it.
fn pricing(place: &Path, name: &str, body: &str) -> PathBuf {
    alone(place, &["new", "transition", "--lang", "c", name]).done();
    let project = place.join(name);
    let ident = name.replace('-', "_");
    let source = format!(
        "#include \"wedflow.h\"\n\
         static void price(wed_job *job) {{\n  int32_t quantity = wed_integer(job, \"quantity\");\n{body}\n}}\n\
         WED_COMPONENT(\"pricing\", {{.name = \"price\", .run = price,\n\
           .reads = WED_ATTRIBUTES({{\"quantity\", \"integer\"}}),\n\
           .writes = WED_ATTRIBUTES({{\"total\", \"integer\"}}, {{\"note\", \"text\"}})}});\n"
    );
    std::fs::write(project.join(format!("src/{ident}.c")), source).expect("written");
    alone(&project, &["build"]).done();
    project.join(format!("build/{name}.wasm"))
}

/// Returns a flow whose only transition prices a quantity.
fn sales() -> wedflow_model::FlowDefinition {
    let text = r#"
        name = "sales"
        final = "total IS NOT NULL"
        [[attribute]]
        name = "quantity"
        type = "integer"
        [[attribute]]
        name = "total"
        type = "integer"
        [[attribute]]
        name = "note"
        [[trigger]]
        name = "sold"
        transition = "price"
        when = "total IS NULL"
        [transition.price]
        component = "pricing"
    "#;
    toml::from_str(text).expect("a definition")
}

/// Prices eight quantities, of which one fails.
fn price(flow: &Flow, session: &mut Session) {
    for (quantity, end) in [(99, "F"), (1, "F"), (2, "F"), (4, "F"), (10, "F"), (11, "F"), (13, "E"), (3, "F")] {
        let wid = session.number(&format!("INSERT INTO wed_flow (quantity) VALUES ({quantity}) RETURNING wid"));
        assert_eq!(flow.end_of(wid), end, "{quantity}");
    }
}

/// Asserts what a shadow run of seven attempts tells: counts, outcomes, and the newest difference first.
fn assert_differs(differs: &serde_json::Value) {
    assert_eq!(
        (&differs["attempts"], &differs["same"], &differs["different"], &differs["not_replayable"]),
        (&7.into(), &3.into(), &4.into(), &serde_json::json!({})),
        "{differs}"
    );
    assert_eq!(differs["by"], serde_json::json!({"answer": 2, "note": 2, "total": 2}));
    assert_eq!(
        differs["outcomes"],
        serde_json::json!([
            {"before": "failed", "with": "returned", "attempts": 1},
            {"before": "returned", "with": "trapped:unreachable", "attempts": 1},
        ])
    );
    // The newest first, each by what it can be replayed by.
    let list = differs["differences"].as_array().expect("a list");
    let told = |at: usize| list[at].to_string();
    assert!(told(0).contains("unlucky") && told(0).contains("26"), "{}", told(0));
    assert!(told(1).contains("33") && told(1).contains("22"), "{}", told(1));
    assert!(told(3).contains("trapped:unreachable"), "{}", told(3));
}

#[harness::test]
fn a_shadow_run_says_where_a_new_version_differs() {
    let place = folder();
    let old = pricing(
        place.path(),
        "shadow-old",
        "  if (quantity == 13) wed_fail(job, wed_str(\"unlucky\"));
           wed_set_integer(job, \"total\", quantity * 3);",
    );
    // Of ten and more it is cheaper and says so, thirteen is no failure any more, and four is too much for it.
    let new = pricing(
        place.path(),
        "shadow-new",
        "  if (quantity == 4) wed_panic(wed_str(\"four\"));
           if (quantity >= 10) wed_set_text(job, \"note\", wed_str(\"cheaper\"));
           wed_set_integer(job, \"total\", quantity >= 10 ? quantity * 2 : quantity * 3);",
    );
    let database = Database::new();
    database.upload("pricing", &std::fs::read(&old).expect("built"));
    let flow = database.define(&sales());
    let host = database.host(one_lane("sales"));
    let mut session = flow.session();
    price(&flow, &mut session);
    on(host.stop());
    let mut owner = database.owner();
    let everything = "SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM \
        (SELECT to_jsonb(x) FROM wed.trace x UNION ALL SELECT to_jsonb(x) FROM wed.attempt x \
         UNION ALL SELECT to_jsonb(x) FROM wed.job x UNION ALL SELECT to_jsonb(x) - 'bytes' FROM wed.component x) t";
    let before = owner.line(everything);

    let shadow = |with: &Path, more: &[&str]| {
        run(wed(&database.url())
            .args(["replay", "sales", "--last", "7", "--transition", "price"])
            .arg("--with")
            .arg(with)
            .args(more))
    };
    let differs = shadow(&new, &["--json"]).exits(1).json();
    // The eighth, the oldest, is not looked at.
    assert_differs(&differs);
    let list = differs["differences"].as_array().expect("a list");
    let id = list[2]["id"].as_str().expect("an identifier");
    let one = run(wed(&database.url()).args(["replay", id, "--json", "--with"]).arg(&new)).exits(1).json();
    assert_eq!(one["differences_with"], list[2]["differences"]);

    let screen = shadow(&new, &[]).exits(1);
    for line in [
        "7 attempts at price: 3 the same, 4 different",
        "failed before, with it returned: 1",
        "returned before, with it trapped:unreachable: 1",
        "total: 2",
    ] {
        assert!(screen.out.contains(line), "{line}: {}", screen.out);
    }
    // The same version differs in nothing, and none of it has left anything.
    let same = shadow(&old, &["--json"]).done().json();
    assert_eq!((&same["same"], &same["different"]), (&7.into(), &0.into()));
    assert_eq!(owner.line(everything), before);
    shadow_at_the_server(&database, &std::fs::read(&new).expect("built"));
}

/// Makes the same shadow run over HTTP, and as a page once the new version was uploaded.
fn shadow_at_the_server(database: &Database, new: &[u8]) {
    let token = token_of(&database.url(), "ann", "admin");
    let serving = Serving::of(&database.url());
    let client = Client::at(serving.address, &token);
    let wasm = [("content-type", "application/wasm")];
    let ask = |asked: &str| client.send("POST", &format!("/v1/flows/sales/shadow?{asked}"), &wasm, new);
    assert_differs(&ask("transition=price&last=7").is(200).json());
    ask("last=7").is(422);
    ask("transition=price&last=51").is(422);
    client.upload("pricing", new, &[]).is(201);
    let address = "/console/components/of/pricing";
    let shown = page(&client, address).is(200).text;
    assert!(shown.contains("sales/price"), "{shown}");
    let own = proof(&shown);
    let compare = |version: i32| {
        let fields = format!("proof={own}&act=shadow&place=sales%2Fprice&version={version}&last=7");
        form(&client, address, &[], &fields).is(200).text
    };
    let differs = compare(2);
    assert!(differs.contains("unlucky") && differs.contains("trapped:unreachable"), "{differs}");
    assert!(!compare(1).contains("unlucky"));
    let docs = Docs::new();
    let asked = serde_json::json!({
        "server": format!("http://{}", serving.address), "token": token, "docs": docs.path(), "path": address,
        "pictures": picture_folder(),
    });
    run(Command::new("node").arg(driver("component.mjs")).arg(asked.to_string())).done();
    docs.hold(&["component"]);
}

#[harness::test]
fn a_failed_attempt_tells_why_and_is_run_again() {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "trap", ", attempts='1'");
    let host = database.host(one_lane("trap"));
    let wid = flow.session().start();
    assert_eq!(flow.end_of(wid), "E");
    on(host.stop());
    let wed = |arguments: &[&str]| run(wed(&database.url()).args(arguments));
    let logged = wed(&["job", "logs", "trap", &wid.to_string(), "--json"]).done().json();
    let attempt = &logged[0];
    assert_eq!(attempt["outcome"], "trapped:unreachable");
    let message = attempt["message"].as_str().expect("a message");
    assert!(message.contains("unreachable") && message.contains("\n  in "), "{message}");
    let id = attempt["id"].as_str().expect("an identifier");
    assert!(id.contains("#a"), "{id}");
    let replayed = wed(&["replay", id, "--json"]).done().json();
    assert_eq!(replayed["same"], true, "{replayed}");
    assert_eq!(replayed["replayed"]["outcome"], "trapped:unreachable");
    let pending = wed(&["job", "list", "trap", "--json"]).done().json();
    assert_eq!(pending[0]["transition"], "_EXCPT");
}

#[harness::test]
fn what_asked_for_nothing_leaves_nothing() {
    let database = Database::new();
    database.upload("paper", sample_component("paper"));
    let flow = database.apply(&repository("sample-transitions/paper/flow.toml"));
    let host = database.host(one_lane("paper"));
    let wid = flow.session().start();
    assert_eq!(flow.end_of(wid), "F");
    on(host.stop());
    assert_eq!(database.owner().number("SELECT count(*) FROM wed.recording"), 0);
    // All that it depends on is known all the same.
    let replayed = run(wed(&database.url()).args(["replay", "paper", &wid.to_string(), "--json"])).done().json();
    assert_eq!(replayed["same"], true, "{replayed}");
}

#[harness::test]
fn logs_are_committed_with_their_attempt() {
    let database = Database::new();
    let flow = crate::host::flow_of_one(&database, "log-line", "");
    let host = database.host(one_lane("log"));
    let wid = flow.session().start();
    flow.end_of(wid);
    on(host.stop());
    let mut owner = database.owner();
    assert!(owner.number("SELECT count(*) FROM wed.log") > 0);
    assert_eq!(
        owner.number(
            "SELECT count(*) FROM wed.log l WHERE NOT EXISTS (
               SELECT FROM wed.trace t WHERE t.wid = l.wid AND t.xid = l.xid AND t.tgid = l.tgid
               UNION ALL SELECT FROM wed.attempt a WHERE a.wid = l.wid AND a.xid = l.xid)"
        ),
        0
    );
}

#[harness::test]
fn what_is_unchanged_is_not_compiled_again() {
    use std::os::unix::fs::MetadataExt;
    let walk = Walk::new();
    let place = folder();
    let cache = place.path().join("cache");
    let state = "transition = \"tr_a2\"\n[expect]\nset = { a2 = \"done\" }\n";
    component(place.path(), sample_component("paper"), &[("one.toml", state)]);
    let wid = walk.wid.to_string();
    let wed = |arguments: &[&str]| {
        run(wed(&walk.database.url()).args(arguments).env("WEDFLOW_CACHE", &cache).current_dir(place.path()))
    };
    // Each file of compiled code, by what tells whether it was written anew.
    let compiled = || {
        let mut found: Vec<_> = std::fs::read_dir(&cache)
            .expect("the cache")
            .map(|entry| entry.expect("an entry"))
            .filter(|entry| entry.file_name() != "key")
            .map(|entry| (entry.file_name(), entry.metadata().expect("its data").ino()))
            .collect();
        found.sort();
        found
    };
    for words in [
        &["run", "component.wasm", "--transition", "tr_a2", "--state", "{}"][..],
        &["test", "component.wasm"],
        &["replay", "random-walk", &wid],
    ] {
        wed(words).done();
        let first = compiled();
        assert!(!first.is_empty(), "{words:?} keeps what it compiled");
        wed(words).done();
        assert_eq!(compiled(), first, "{words:?} compiled again");
    }
}

#[harness::test]
fn a_watched_project_is_built_tested_pushed_and_run_again_after_a_change() {
    let (database, place) = (Database::new(), folder());
    let Some(project) = project_in(place.path(), "c") else {
        return;
    };
    // Its expectation is that of the first source.
    std::fs::remove_file(project.join("fixtures/greets-by-name.toml")).expect("a fixture");
    built(&project);
    let with = |arguments: &[&str]| run(wed(&database.url()).args(arguments).current_dir(&project));
    with(&["component", "push", "build/say-hello.wasm"]).done();
    let flow = database.apply(&project.join("flow.toml"));
    let path = project.to_str().expect("a path");
    let _watching = Serving::by(&database.url(), &["dev", "--watch", path]);
    with(&["instance", "start", "say-hello-flow", "name=Ada", "--wait"]).done();

    let source = project.join("src/say_hello.c");
    let text = std::fs::read_to_string(&source).expect("the source");
    assert!(text.contains("Hello, %t!"));
    std::fs::write(&source, text.replace("Hello, %t!", "Welcome, %t!")).expect("written");
    let mut session = flow.session();
    crate::support::eventually("an instance that the new version greets", || {
        let greeted = session.lines("SELECT DISTINCT greeting FROM wed_flow ORDER BY 1");
        (greeted == ["Hello, Ada!", "Welcome, Ada!"]).then_some(())
    });
}
