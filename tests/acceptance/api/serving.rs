//! The service itself: its description, its start and end.

use serde_json::json;

use super::with_steps;
use crate::support::http::Client;
use crate::support::program::{run, wed, wed_path};
use crate::support::{Database, eventually};

#[harness::test]
fn the_description_describes_what_there_is() {
    let (api, client) = with_steps();
    let nobody = api.nobody();
    assert_eq!(nobody.get("/health/live").is(200).json(), json!({ "live": true }));
    assert_eq!(nobody.get("/health/ready").is(200).json(), json!({ "ready": true, "writes": true }));
    let description = nobody.get("/openapi.json").is(200).json();
    let paths = description["paths"].as_object().expect("paths");
    assert!(paths.len() >= 18, "{}", paths.len());
    for (path, methods) in paths.iter().filter(|(path, _)| path.starts_with("/v1")) {
        for method in methods.as_object().expect("methods").keys() {
            // Each is there, and lets nobody in without a token; a hook looks at signatures.
            let concrete = path.replace(['{', '}'], "");
            let answer = nobody.send(&method.to_uppercase(), &concrete, &[], b"");
            if path == "/v1/hooks/{address}" {
                answer.problem(404, "not_found");
                continue;
            }
            answer.problem(401, "no_token");
            if method == "get" && !concrete.ends_with("events") {
                let status = client.get(&concrete).status;
                // A tenant's token is none of an operator of the installation.
                let installation = concrete.starts_with("/v1/installation");
                assert!([200, 403, 404].contains(&status) || installation && status == 401, "{concrete}: {status}");
            }
        }
    }
    let me = client.get("/v1/me").is(200).json();
    assert_eq!((&me["tenant"], &me["role"]), (&json!("default"), &json!("developer")));
    assert!(me["may"].as_array().is_some_and(|may| may.contains(&json!("flows:write"))));
}

#[harness::test]
fn a_served_api_is_found_and_stopped() {
    let database = Database::new();
    let url = database.url();
    run(wed(&url).args(["user", "create", "ann", "--role", "viewer"])).done();
    let token = run(wed(&url).args(["--json", "token", "create", "ann"])).done().json();
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut server = std::process::Command::new(wed_path())
        .args(["serve", "--listen", "127.0.0.1:0", "--lanes", "1"])
        .env("DATABASE_URL", &url)
        .stderr(log.reopen().expect("the file"))
        .spawn()
        .expect("wed runs");
    let address = eventually("the address", || {
        let said = std::fs::read_to_string(log.path()).ok()?;
        let rest = said.split("the API is at http://").nth(1)?;
        rest.split(';').next()?.parse().ok()
    });
    let client = Client::at(address, token["secret"].as_str().expect("a secret"));
    assert_eq!(client.get("/v1/me").is(200).json()["user"], "ann");
    let id = server.id().to_string();
    run(std::process::Command::new("kill").arg(id)).done();
    assert!(server.wait().expect("it ends").success());
    // The secret is in no log.
    let said = std::fs::read_to_string(log.path()).expect("the log");
    assert!(!said.contains(token["secret"].as_str().expect("a secret")), "{said}");
}
