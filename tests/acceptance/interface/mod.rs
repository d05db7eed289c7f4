//! The description of the HTTP API, held against tools that others wrote: a validator, a generator of clients, a
//! fuzzer.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::support::database::{TENANT, sample_component};
use crate::support::http::Api;
use crate::support::program::run;
use crate::support::{Database, repository};

/// Seconds that the fuzzer has; without it, the fuzzer makes few tries at each operation, the same in each run.
const SECONDS: &str = "WEDFLOW_FUZZ_API_SECONDS";

/// A program of the tests' Python environment.
fn tool(name: &str) -> Command {
    let program = repository(".venv/bin").join(name);
    assert!(
        program.exists(),
        "{} is missing: `make setup-test` installs what scripts/requirements.txt lists",
        program.display()
    );
    Command::new(program)
}

/// The description, in a file of its own folder.
fn described(api: &Api) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("openapi.json");
    let description = api.nobody().get("/openapi.json").is(200);
    std::fs::write(&file, description.text).expect("written");
    (folder, file)
}

#[harness::test]
fn the_description_is_valid() {
    let api = Api::of(&Database::new());
    let (_folder, file) = described(&api);
    run(tool("openapi-spec-validator").arg(&file)).done();
}

#[harness::test]
fn clients_for_python_and_typescript_are_generated_and_work() {
    let api = Api::of(&Database::new());
    let user = api.user(TENANT, "ann", "developer");
    let (folder, file) = described(&api);
    let settings = folder.path().join("settings.yaml");
    let names = "project_name_override: wedflow-client\npackage_name_override: wedflow_client\npost_hooks: []\n\
        content_type_overrides:\n  application/wasm: application/octet-stream\n  \
        application/toml: application/octet-stream\n";
    std::fs::write(&settings, names).expect("written");
    let made = run(tool("openapi-python-client")
        .args(["generate", "--fail-on-warning", "--path"])
        .arg(&file)
        .arg("--config")
        .arg(&settings)
        .arg("--output-path")
        .arg(folder.path().join("client")))
    .done();
    assert!(!made.err.contains("WARNING"), "{made:?}");
    let (address, token) = (format!("http://{}", api.address), user.token.expect("a token"));
    run(tool("python")
        .arg(repository("tests/acceptance/interface/client.py"))
        .args([&address, &token])
        .env("PYTHONPATH", folder.path().join("client")))
    .done();
    typescript(folder.path(), &file, &[&address, &token]);
}

/// Makes types for TypeScript from the description, and runs a program that is held against them.
fn typescript(folder: &Path, description: &Path, arguments: &[&str]) {
    let packages = repository("tests/browser/node_modules");
    let program = |name: &str| {
        let program = packages.join(".bin").join(name);
        assert!(program.exists(), "{} is missing: `make setup-test` installs it", program.display());
        let mut command = Command::new(program);
        command.current_dir(folder);
        command
    };
    run(program("openapi-typescript").arg(description).args(["--empty-objects-unknown", "--output", "schema.d.ts"]))
        .done();
    let source = repository("tests/acceptance/interface/client.ts");
    std::fs::copy(source, folder.join("client.ts")).expect("copied");
    std::os::unix::fs::symlink(&packages, folder.join("node_modules")).expect("linked");
    std::fs::write(folder.join("package.json"), r#"{ "type": "module" }"#).expect("written");
    let strictly = ["--strict", "--target", "es2022", "--module", "nodenext", "client.ts"];
    let checked = run(program("tsc").args(strictly).args(["--lib", "es2022,dom"]));
    assert_eq!(checked.code, Some(0), "{checked:?}");
    run(Command::new("node").arg("client.js").args(arguments).current_dir(folder)).done();
}

/// Serves an API with a flow, final instances of it, and a component.
fn with_things() -> (Api, String) {
    fn key() -> Option<wedflow_worker::SecretKey> {
        wedflow_worker::SecretKey::from_hex(&"5a".repeat(32)).ok()
    }
    let api = Api::with(&Database::new(), |settings| {
        settings.find_secret_key = Some(key);
        // Streams of events end within the fuzzer's time limit.
        settings.watching = Duration::from_secs(2);
    });
    let admin = api.user(TENANT, "an-admin-of-the-fuzzed-tenant", "admin");
    let flow = json!({
        "name": "fuzz",
        "final": "n >= 3",
        "attribute": [{ "name": "n", "type": "integer", "default": "3", "open": true }],
        "trigger": [{ "name": "t", "when": "n < 3", "transition": "step" }],
    });
    admin.json("PUT", "/v1/flows/fuzz", &flow).is(201);
    for _ in 0..4 {
        admin.json("POST", "/v1/flows/fuzz/instances", &json!({})).is(201);
    }
    let running = json!({ "state": { "n": 0 } });
    for _ in 0..4 {
        admin.json("POST", "/v1/flows/fuzz/instances", &running).is(201);
    }
    admin.upload("fuzz", sample_component("paper"), &[]).is(201);
    let token = admin.token.clone().expect("a token");
    (api, token)
}

#[harness::test]
fn a_fuzzer_finds_no_violation() {
    let (api, token) = with_things();
    let (folder, file) = described(&api);
    let component = folder.path().join("fuzz.wasm");
    std::fs::write(&component, sample_component("paper")).expect("written");
    // 422 is for what a schema cannot say: names that are taken, conditions that cannot be read, rules of a flow.
    let settings = "[checks.positive_data_acceptance]\n\
        expected-statuses = [\"2xx\", \"401\", \"403\", \"404\", \"409\", \"412\", \"422\", \"429\"]\n";
    let auth = format!("[auth.openapi.token]\nbearer = \"{token}\"\n");
    std::fs::write(folder.path().join("schemathesis.toml"), format!("{settings}{auth}")).expect("written");
    let mut command = tool("schemathesis");
    command
        .arg("run")
        .arg(&file)
        .args(["--url", &format!("http://{}", api.address)])
        .args(["--request-timeout", "30", "--continue-on-failure", "--no-color"])
        .args(["--suppress-health-check", "all", "--warnings", "off"])
        .env("SCHEMATHESIS_HOOKS", repository("tests/acceptance/interface/hooks.py"))
        .env("FUZZ_COMPONENT", &component)
        .current_dir(folder.path());
    match std::env::var(SECONDS) {
        Ok(seconds) => command.args(["--max-time", &seconds, "--max-examples", "1000"]),
        Err(_) => {
            command.args(["--generation-deterministic", "--max-examples", "3", "--phases", "examples,coverage,fuzzing"])
        }
    };
    let found = run(&mut command);
    println!("{}", found.out);
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
}
