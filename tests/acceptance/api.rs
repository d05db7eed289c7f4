//! The HTTP API: what it answers, what it refuses, and how it says so.

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::support::database::{TENANT, one_lane, sample_component};
use crate::support::http::{Api, Client};
use crate::support::program::{run, wed, wed_path};
use crate::support::{Database, eventually, on};

/// Defines a flow with one attribute that one transition raises.
fn steps(name: &str) -> Json {
    json!({
        "name": name,
        "final": "n >= 3",
        "attribute": [{ "name": "n", "type": "integer", "default": "0" }, { "name": "remark" }],
        "trigger": [{ "name": "t", "when": "n < 3", "transition": "step" }],
    })
}

fn served() -> (Api, Client) {
    let api = Api::of(&Database::new());
    let client = api.user(TENANT, "ann", "developer");
    (api, client)
}

fn with_steps() -> (Api, Client) {
    let (api, client) = served();
    client
        .json("PUT", "/v1/flows/steps", &steps("steps"))
        .is(201);
    (api, client)
}

#[harness::test]
fn a_flow_from_its_definition_to_its_end() {
    let (api, client) = served();
    let made = client
        .json("PUT", "/v1/flows/steps", &steps("steps"))
        .is(201)
        .json();
    assert_eq!(made["attributes_added"], json!(["n", "remark"]));
    let again = client
        .json("PUT", "/v1/flows/steps", &steps("steps"))
        .is(200);
    assert_eq!(again.json()["created"], false);
    let flow = client.get("/v1/flows/steps").is(200).json();
    assert_eq!(
        flow["attributes"][0],
        json!({ "name": "n", "type": "integer" })
    );
    assert_eq!(flow["triggers"][0]["when"], "n < 3");

    let started = client
        .json(
            "POST",
            "/v1/flows/steps/instances",
            &json!({ "state": { "n": 2 } }),
        )
        .is(201);
    assert_eq!(
        started.header("location"),
        Some("/v1/flows/steps/instances/1")
    );
    let wid = started.json()["wid"].as_i64().expect("a number");
    let instance = client.get("/v1/flows/steps/instances/1").is(200).json();
    assert_eq!(
        (
            &instance["status"],
            &instance["state"],
            &instance["pending"]
        ),
        (
            &json!("regular"),
            &json!({ "n": 2, "remark": null }),
            &json!(["step"])
        )
    );
    let job = client
        .get("/v1/flows/steps/instances/1/jobs/t")
        .is(200)
        .json();
    assert_eq!(
        (&job["transition"], &job["running"]),
        (&json!("step"), &json!(false))
    );
    assert_eq!(
        client.get("/v1/flows/steps/jobs").is(200).json()["items"],
        json!([job])
    );

    // Plain SQL works at the same time.
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    crate::support::Session::on(&api.database, &url).finish(wid, "step", "n = n + 1");
    let instance = client.get("/v1/flows/steps/instances/1").is(200).json();
    assert_eq!(instance["status"], "final");
    let trace = client
        .get("/v1/flows/steps/instances/1/trace")
        .is(200)
        .json();
    assert_eq!(trace["items"][1]["transition"], "step");
    let rest = client
        .get("/v1/flows/steps/instances/1/trace?after=1")
        .is(200)
        .json();
    assert_eq!(rest["items"], json!([trace["items"][1]]));
    client
        .get("/v1/flows/steps/instances/1/jobs/t")
        .problem(404, "not_found");

    client.delete("/v1/flows/steps").is(204);
    client.get("/v1/flows/steps").problem(404, "not_found");
    assert_eq!(
        client.get("/v1/flows").is(200).json(),
        json!({ "items": [] })
    );
}

#[harness::test]
fn a_definition_may_be_sent_as_toml() {
    let (_api, client) = served();
    let toml = [("content-type", "application/toml")];
    let text = "name = \"own\"\nfinal = \"a = 'x'\"\n[[attribute]]\nname = \"a\"\n";
    client
        .send("PUT", "/v1/flows/own", &toml, text.as_bytes())
        .is(201);
    let wrong = client.send("PUT", "/v1/flows/own", &toml, b"name = own");
    let problem = wrong.problem(422, "invalid_document");
    assert!(
        problem["detail"]
            .as_str()
            .is_some_and(|text| text.contains("line 1")),
        "{problem}"
    );
}

#[harness::test]
fn lists_come_in_parts() {
    let (_api, client) = with_steps();
    for n in 0..5 {
        let state = json!({ "state": { "n": n % 3 } });
        client
            .json("POST", "/v1/flows/steps/instances", &state)
            .is(201);
    }
    for (list, key) in [("instances", "wid"), ("jobs", "wid")] {
        let (mut seen, mut next) = (Vec::new(), String::new());
        loop {
            let part = client
                .get(&format!("/v1/flows/steps/{list}?limit=2{next}"))
                .is(200)
                .json();
            let items = part["items"].as_array().expect("entries").clone();
            assert!(items.len() <= 2);
            seen.extend(items.iter().filter_map(|item| item[key].as_i64()));
            match part["next"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => break,
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3, 4, 5], "{list}");
    }
    let finals = client
        .get("/v1/flows/steps/instances?status=final")
        .is(200)
        .json();
    assert_eq!(finals["items"], json!([]));
    client
        .get("/v1/flows/steps/instances?limit=0")
        .problem(400, "invalid_query");
    client
        .get("/v1/flows/steps/instances?cursor=nonsense")
        .problem(400, "invalid_cursor");
    client
        .get("/v1/flows/steps/instances?colour=red")
        .problem(400, "invalid_query");
}

#[harness::test]
fn a_key_starts_one_instance() {
    let (api, client) = with_steps();
    let start = |client: &Client, n: i32| {
        let body = json!({ "state": { "n": n } }).to_string();
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", "k-1"),
        ];
        client.send(
            "POST",
            "/v1/flows/steps/instances",
            &headers,
            body.as_bytes(),
        )
    };
    // Side by side, and once more.
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| start(&client, 1).is(201)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("answered"))
            .collect()
    });
    assert!(
        answers.iter().all(|answer| answer.json()["wid"] == 1),
        "{answers:?}"
    );
    let new = answers
        .iter()
        .filter(|answer| answer.header("idempotency-replayed").is_none());
    assert_eq!(new.count(), 1);
    start(&client, 2).problem(422, "idempotency_key_reused");
    // Another user's key is another key.
    let other = api.user(TENANT, "bob", "participant");
    assert_eq!(start(&other, 2).is(201).json()["wid"], 2);
    // A start that was refused leaves the key free.
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k-2"),
    ];
    let path = "/v1/flows/steps/instances";
    client
        .send("POST", path, &headers, br#"{"state":{"no":1}}"#)
        .problem(422, "42703");
    client
        .send("POST", path, &headers, br#"{"state":{"n":1}}"#)
        .is(201);
    let listed = client.get(path).is(200).json();
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(3));
}

#[harness::test]
fn components_are_uploaded_and_listed() {
    let (api, client) = served();
    let paper = sample_component("paper");
    let first = client.upload("paper", paper, &[]).is(201);
    assert_eq!(
        first.header("location"),
        Some("/v1/components/paper/versions/1")
    );
    let uploaded = first.json();
    assert_eq!(uploaded["version"], 1);
    // The same bytes are the same version.
    assert_eq!(client.upload("paper", paper, &[]).is(201).json(), uploaded);
    let listed = client.get("/v1/components").is(200).json();
    assert_eq!(listed["items"][0]["digest"], uploaded["digest"]);
    assert_eq!(
        client.get("/v1/components/paper/versions/1").is(200).json(),
        listed["items"][0]
    );
    client
        .get("/v1/components/paper/versions/2")
        .problem(404, "not_found");
    client.get("/v1/components/none").problem(404, "not_found");

    // And it runs.
    let flow: Json = {
        let file = crate::support::repository("sample-transitions/paper/flow.toml");
        let text = std::fs::read_to_string(file).expect("the sample's definition");
        toml::from_str(&text).expect("a definition")
    };
    client.json("PUT", "/v1/flows/paper", &flow).is(201);
    client
        .json("POST", "/v1/flows/paper/instances", &json!({}))
        .is(201);
    let host = api.database.host(one_lane("api"));
    eventually("the end of the instance", || {
        let instance = client.get("/v1/flows/paper/instances/1").is(200).json();
        (instance["status"] == "final").then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn an_upload_is_bounded() {
    let (_api, client) = served();
    let paper = sample_component("paper");
    let refused = |name: &str, bytes: &[u8], headers: &[(&str, &str)], status, code| {
        client.upload(name, bytes, headers).problem(status, code)
    };
    refused("x", b"\0asm\x01\0\0\0", &[], 422, "component_refused");
    refused("x", b"not a component", &[], 422, "component_refused");
    refused(
        "x",
        &paper[..paper.len() / 2],
        &[],
        422,
        "component_refused",
    );
    refused(
        "x",
        paper,
        &[("content-encoding", "gzip")],
        415,
        "content_encoding",
    );
    refused(
        "No Name".replace(' ', "%20").as_str(),
        paper,
        &[],
        422,
        "23514",
    );
    let wrong = [("content-digest", "sha-256=:AAAA:")];
    refused("x", paper, &wrong, 422, "digest");
    let text = [("content-type", "text/plain")];
    client
        .send("POST", "/v1/components/x", &text, paper)
        .problem(415, "content_type");
    // Announced, and not announced: neither is read to its end.
    let much = 33 << 20;
    let head = client.head("POST /v1/components/x");
    let announced = client.raw(
        &format!("{head}content-type: application/wasm\r\ncontent-length: {much}\r\n\r\n"),
        |answer| answer.contains("\"too_large\""),
    );
    assert!(announced.starts_with("HTTP/1.1 413"), "{announced}");
    assert_eq!(
        client.get("/v1/components").is(200).json()["items"],
        json!([])
    );
    let key = [("idempotency-key", "up")];
    client.upload("paper", paper, &key).is(201);
    let again = client.upload("paper", paper, &key).is(201);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    refused("other", paper, &key, 422, "idempotency_key_reused");
}

#[harness::test]
fn a_body_that_does_not_come_is_given_up() {
    let api = Api::with(&Database::new(), |settings| {
        settings.idle = Duration::from_millis(300);
    });
    let client = api.user(TENANT, "ann", "developer");
    let head = client.head("POST /v1/components/x");
    let answer = client.raw(
        &format!("{head}content-type: application/wasm\r\ncontent-length: 1000\r\n\r\nabc"),
        |answer| answer.contains("too_slow"),
    );
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[harness::test]
fn a_head_that_does_not_come_is_given_up() {
    let api = Api::with(&Database::new(), |settings| {
        settings.head = Duration::from_millis(300);
    });
    // The server closes the connection; otherwise the client waits for a generous while and fails.
    let began = std::time::Instant::now();
    api.nobody()
        .raw("GET /v1/flows HTTP/1.1\r\nhost:", |_| false);
    assert!(began.elapsed() < crate::support::GENEROUS / 2);
}

#[harness::test]
fn what_is_wrong_with_a_request_is_said() {
    let (api, client) = with_steps();
    let nobody = api.nobody();
    let refused = nobody.get("/v1/flows");
    refused.problem(401, "no_token");
    assert!(refused.header("www-authenticate").is_some());
    nobody
        .with_token("wed_nonsense")
        .get("/v1/flows")
        .problem(401, "invalid_token");
    client.get("/v1/nothing").problem(404, "not_found");
    client
        .send("PATCH", "/v1/flows", &[], b"")
        .problem(405, "method");
    let start = "/v1/flows/steps/instances";
    let wrong = client
        .json("POST", start, &json!({ "sate": {} }))
        .problem(422, "invalid_document");
    assert!(
        wrong["detail"]
            .as_str()
            .is_some_and(|text| text.contains("sate")),
        "{wrong}"
    );
    let wrong = client
        .json("POST", start, &json!({ "state": { "n": true } }))
        .problem(422, "22P02");
    assert!(
        wrong["detail"]
            .as_str()
            .is_some_and(|text| text.contains("\"n\"")),
        "{wrong}"
    );
    client
        .json("POST", start, &json!({ "state": { "n": "x" } }))
        .problem(422, "22P02");
    let none = client
        .json("POST", start, &json!({ "state": { "n": null } }))
        .problem(422, "WF001");
    assert!(
        none["hint"]
            .as_str()
            .is_some_and(|text| text.contains("fire")),
        "{none}"
    );
    let json = [("content-type", "application/json")];
    client
        .send("POST", start, &json, b"{\"state\": ")
        .problem(400, "invalid_json");
    client
        .send("POST", start, &[], b"{}")
        .problem(415, "content_type");
    let big = format!("{{\"state\":{{\"remark\":\"{}\"}}}}", "x".repeat(2 << 20));
    client
        .send("POST", start, &json, big.as_bytes())
        .problem(413, "too_large");
    for wid in ["0", "-1", "99", "x", "99999999999", "1%00", "%FF"] {
        client
            .get(&format!("{start}/{wid}"))
            .problem(404, "not_found");
    }
    let other = client
        .json("PUT", "/v1/flows/other", &steps("steps"))
        .problem(422, "invalid_document");
    assert_eq!(other["at"], "name");
    // Its number is in the header as well.
    let missing = client.get("/v1/flows/none");
    let problem = missing.problem(404, "not_found");
    let id = missing.header("x-request-id").expect("a number");
    assert_eq!(problem["instance"], format!("urn:wedflow:request:{id}"));
}

#[harness::test]
fn what_is_wrong_with_a_condition_is_pointed_at() {
    let (_api, client) = served();
    let mut flow = steps("steps");
    flow["trigger"][0]["when"] = "n < three".into();
    let problem = client
        .json("PUT", "/v1/flows/steps", &flow)
        .problem(422, "42703");
    assert_eq!(
        problem["place"],
        json!({ "fragment": "n < three", "position": 5 })
    );
    // What `wed guard check` refuses is no condition, whatever the database would say of it.
    flow["trigger"][0]["when"] = "n::numeric(500) > 1".into();
    let problem = client
        .json("PUT", "/v1/flows/steps", &flow)
        .problem(422, "42804");
    assert_eq!(problem["place"]["position"], 4, "{problem}");
    // And nothing of it is there.
    client.get("/v1/flows/steps").problem(404, "not_found");
}

#[harness::test]
fn a_watcher_hears_of_each_state() {
    let (api, client) = with_steps();
    client
        .json("POST", "/v1/flows/steps/instances", &json!({}))
        .is(201);
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    let watcher = client.clone();
    let watching = std::thread::spawn(move || {
        let head = watcher.head("GET /v1/flows/steps/instances/1/events");
        watcher.raw(&format!("{head}\r\n"), |heard| {
            heard.contains("\r\n0\r\n\r\n")
        })
    });
    let mut session = crate::support::Session::on(&api.database, &url);
    for _ in 0..3 {
        session.finish(1, "step", "n = n + 1");
    }
    let heard = watching.join().expect("heard");
    assert!(heard.contains("text/event-stream"), "{heard}");
    for seq in 1..=4 {
        assert!(
            heard.contains(&format!("id: {seq}\n")),
            "{seq} is missing in {heard}"
        );
    }
    assert!(heard.contains("\"status\":\"final\""), "{heard}");
    // A client that reconnects continues after the last event it got.
    let head = client.head("GET /v1/flows/steps/instances/1/events");
    let rest = client.raw(&format!("{head}last-event-id: 3\r\n\r\n"), |heard| {
        heard.contains("\r\n0\r\n\r\n")
    });
    assert!(
        rest.contains("id: 4\n") && !rest.contains("id: 3\n"),
        "{rest}"
    );
    client
        .get("/v1/flows/steps/instances/9/events")
        .problem(404, "not_found");
}

#[harness::test]
fn too_many_requests_are_told_when_to_come_back() {
    let database = Database::new();
    let api = Api::of(&database);
    on(database.store.create_tenant("busy", "")).expect("a tenant");
    database
        .owner()
        .run("UPDATE wed.quota SET requests_per_second = 4 WHERE tenant_id = (SELECT tenant_id FROM wed.tenant \
         WHERE name = 'busy')");
    let client = api.user("busy", "ann", "viewer");
    let answers: Vec<_> = (0..20).map(|_| client.get("/v1/me")).collect();
    let refused = answers
        .iter()
        .find(|answer| answer.status == 429)
        .expect("one too many");
    let problem = refused.problem(429, "rate_limited");
    assert_eq!(problem["limit"]["name"], "requests_per_second");
    let wait: u64 = refused
        .header("retry-after")
        .and_then(|text| text.parse().ok())
        .expect("a number of seconds");
    assert!((1..=2).contains(&wait));
    assert_eq!(refused.header("ratelimit"), Some("\"token\";r=0;t=1"));
    assert_eq!(
        answers[0].header("ratelimit-policy"),
        Some("\"token\";q=2;w=1")
    );
    // The others are not disturbed.
    let other = api.user(TENANT, "bob", "viewer");
    for _ in 0..20 {
        other.get("/v1/me").is(200);
    }
}

#[harness::test]
fn the_description_describes_what_there_is() {
    let (api, client) = with_steps();
    let nobody = api.nobody();
    assert_eq!(
        nobody.get("/health/live").is(200).json(),
        json!({ "live": true })
    );
    assert_eq!(
        nobody.get("/health/ready").is(200).json(),
        json!({ "ready": true })
    );
    let description = nobody.get("/openapi.json").is(200).json();
    let paths = description["paths"].as_object().expect("paths");
    assert!(paths.len() >= 18, "{}", paths.len());
    for (path, methods) in paths.iter().filter(|(path, _)| path.starts_with("/v1")) {
        for method in methods.as_object().expect("methods").keys() {
            // Each is there, and lets nobody in without a token.
            let concrete = path.replace(['{', '}'], "");
            let answer = nobody.send(&method.to_uppercase(), &concrete, &[], b"");
            answer.problem(401, "no_token");
            if method == "get" && !concrete.ends_with("events") {
                let status = client.get(&concrete).status;
                assert!([200, 403, 404].contains(&status), "{concrete}: {status}");
            }
        }
    }
    let me = client.get("/v1/me").is(200).json();
    assert_eq!(
        (&me["tenant"], &me["role"]),
        (&json!("default"), &json!("developer"))
    );
    assert!(
        me["may"]
            .as_array()
            .is_some_and(|may| may.contains(&json!("flows:write")))
    );
}

#[harness::test]
fn a_served_api_is_found_and_stopped() {
    let database = Database::new();
    let url = database.url();
    run(wed(&url).args(["user", "create", "ann", "--role", "viewer"])).done();
    let token = run(wed(&url).args(["--json", "token", "create", "ann"]))
        .done()
        .json();
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
    assert!(
        !said.contains(token["secret"].as_str().expect("a secret")),
        "{said}"
    );
}

#[harness::test]
fn who_heard_all_of_a_final_instance_is_told_not_to_come_back() {
    let (_api, client) = with_steps();
    let events = "/v1/flows/steps/instances/1/events";
    let final_at_once = json!({ "state": { "n": 3 } });
    client
        .json("POST", "/v1/flows/steps/instances", &final_at_once)
        .is(201);
    for _ in 0..40 {
        client
            .send("GET", events, &[("last-event-id", "1")], b"")
            .is(204);
    }
}

#[harness::test]
fn a_tenant_that_waits_for_locks_does_not_keep_others_waiting() {
    let api = Api::of(&Database::new());
    let client = api.user(TENANT, "ann", "developer");
    client
        .json("PUT", "/v1/flows/steps", &steps("steps"))
        .is(201);
    on(api.database.store.create_tenant("other", "")).expect("a tenant");
    let other = api.user("other", "bob", "viewer");
    let url = on(api.database.store.flow_url(TENANT, "steps")).expect("its URL");
    let mut holder = crate::support::Session::on(&api.database, &url);
    holder.run("BEGIN");
    holder.run("LOCK TABLE wed_flow");
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| client.json("POST", "/v1/flows/steps/instances", &json!({}))))
            .collect();
        for _ in 0..5 {
            other.get("/v1/flows").is(200);
            other.get("/health/ready").is(200);
        }
        for answer in waiting {
            let answer = answer.join().expect("answered");
            answer.problem(409, "locked");
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
    });
    holder.run("ROLLBACK");
}

#[harness::test]
fn a_body_that_trickles_is_given_up() {
    let api = Api::with(&Database::new(), |settings| {
        settings.idle = Duration::from_millis(300);
    });
    let client = api.user(TENANT, "ann", "developer");
    let head = client.head("POST /v1/components/x");
    let mut stream = std::net::TcpStream::connect(api.address).expect("connected");
    let head = format!("{head}content-type: application/wasm\r\ncontent-length: 1000\r\n\r\n");
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("sent");
    // A byte comes every 50 ms: never late, and always too slow.
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(50));
        if std::io::Write::write_all(&mut stream, b"x").is_err() {
            return;
        }
    }
    panic!("the body is read for as long as it comes");
}

#[harness::test]
fn the_last_admin_stays() {
    let api = Api::of(&Database::new());
    let admin = api.user(TENANT, "ann", "admin");
    let viewer = json!({ "role": "viewer" });
    admin
        .json("PATCH", "/v1/users/ann", &viewer)
        .problem(409, "last_admin");
    admin.delete("/v1/users/ann").problem(409, "last_admin");
    admin
        .json(
            "POST",
            "/v1/users",
            &json!({ "name": "bob", "role": "admin" }),
        )
        .is(201);
    admin.json("PATCH", "/v1/users/ann", &viewer).is(200);
}

#[harness::test]
fn descriptions_and_the_audit_log_are_bounded() {
    let api = Api::of(&Database::new());
    let admin = api.user(TENANT, "ann", "admin");
    let long = json!({ "description": "é".repeat(2_001) });
    admin
        .json("PATCH", "/v1/settings", &long)
        .problem(422, "WF023");
    let most = json!({ "description": "é".repeat(2_000) });
    admin.json("PATCH", "/v1/settings", &most).is(200);
    let mut flow = steps("steps");
    flow["description"] = "x".repeat(2_001).into();
    admin
        .json("PUT", "/v1/flows/steps", &flow)
        .problem(422, "WF023");
    let longest = api
        .database
        .owner()
        .line("SELECT octet_length(wed.short_detail(jsonb_build_object('a', repeat('x', 100000)))::text) < 4097");
    assert_eq!(longest, "t");
}

#[harness::test]
fn a_part_of_a_list_is_bounded_in_bytes() {
    let (_api, client) = with_steps();
    for _ in 0..24 {
        let state = json!({ "state": { "remark": "x".repeat(200_000) } });
        client
            .json("POST", "/v1/flows/steps/instances", &state)
            .is(201);
    }
    let path = "/v1/flows/steps/instances?limit=500";
    let first = client.get(path).is(200);
    assert!(first.text.len() < 5 << 20, "{}", first.text.len());
    let first = first.json();
    let next = first["next"].as_str().expect("there is more");
    let rest = client.get(&format!("{path}&cursor={next}")).is(200).json();
    let count = |part: &Json| part["items"].as_array().map_or(0, Vec::len);
    assert_eq!(count(&first) + count(&rest), 24);
}

#[harness::test]
fn documents_are_objects_without_doubt() {
    let (_api, client) = with_steps();
    let json = [("content-type", "application/json")];
    for body in [
        "[]",
        "[{\"n\":1}]",
        "{\"state\":{\"n\":1,\"n\":2}}",
        "{\"state\":{\"remark\":\"\\u0000\"}}",
    ] {
        client
            .send("POST", "/v1/flows/steps/instances", &json, body.as_bytes())
            .problem(422, "invalid_document");
    }
}

#[harness::test]
fn whole_lists_come_in_parts_too() {
    let (_api, client) = with_steps();
    client.json("PUT", "/v1/flows/more", &steps("more")).is(201);
    let first = client.get("/v1/flows?limit=1").is(200).json();
    assert_eq!(first["items"][0]["name"], "more");
    let next = first["next"].as_str().expect("there is more");
    let rest = client
        .get(&format!("/v1/flows?cursor={next}"))
        .is(200)
        .json();
    assert_eq!(rest["items"][0]["name"], "steps");
    client.get("/v1/me?tenant=x").problem(400, "invalid_query");
}

#[harness::test]
fn a_definition_is_read_back_as_it_was_put() {
    let (_api, client) = served();
    let put = json!({
        "name": "whole",
        "description": "all of it",
        "final": "n >= 3",
        "attribute": [
            { "name": "n", "type": "integer", "default": "0" },
            { "name": "paid", "type": "boolean", "default": "false", "open": true },
        ],
        "trigger": [{
            "name": "t", "transition": "step", "when": "n < 3", "condition": "small", "timeout": "PT10M", "attempts": 5,
            "backoff": "PT2S", "delay": "PT1S", "priority": 7, "recheck": false, "writes": ["n"],
            "compensation": "undo", "deadline": "P1D", "reserves": "'k'", "holds": "instance",
        }],
        "transition": { "step": { "component": "c", "http": ["example.com:443"] } },
    });
    client.json("PUT", "/v1/flows/whole", &put).is(201);
    let got = client.get("/v1/flows/whole").is(200);
    let definition = &got.json()["definition"];
    for (name, value) in put.as_object().expect("an object") {
        assert_eq!(&definition[name], value, "{name}");
    }
    // What is read back changes nothing when it is put.
    let again = client.json("PUT", "/v1/flows/whole", definition).is(200);
    assert_eq!(again.json()["triggers_changed"], json!([]));
    assert_eq!(again.header("etag"), got.header("etag"));
    assert_eq!(
        &client.get("/v1/flows/whole").is(200).json()["definition"],
        definition
    );
}

#[harness::test]
fn a_change_of_what_changed_meanwhile_is_refused() {
    let (_api, client) = with_steps();
    let put = |definition: &Json, header: (&str, &str)| {
        let headers = [("content-type", "application/json"), header];
        client.send(
            "PUT",
            "/v1/flows/steps",
            &headers,
            definition.to_string().as_bytes(),
        )
    };
    let tag = client.get("/v1/flows/steps").is(200);
    let tag = tag.header("etag").expect("a tag").to_owned();
    let mut changed = steps("steps");
    changed["trigger"][0]["when"] = "n < 2".into();
    let first = put(&changed, ("if-match", &tag)).is(200);
    let new = first.header("etag").expect("a tag").to_owned();
    assert_ne!(new, tag);
    changed["trigger"][0]["when"] = "n < 1".into();
    put(&changed, ("if-match", &tag)).problem(412, "stale");
    put(&changed, ("if-none-match", "*")).problem(412, "stale");
    put(&changed, ("if-match", "nonsense")).problem(400, "invalid_header");
    put(&changed, ("if-match", &format!("\"other\", {new}"))).is(200);
    put(&changed, ("if-match", "*")).is(200);
    let json = ("content-type", "application/json");
    let more = steps("more").to_string();
    client
        .send(
            "PUT",
            "/v1/flows/more",
            &[json, ("if-match", "*")],
            more.as_bytes(),
        )
        .problem(412, "stale");
    client
        .send(
            "PUT",
            "/v1/flows/more",
            &[json, ("if-none-match", "*")],
            more.as_bytes(),
        )
        .is(201);
}

/// An attribute that events may set, and what it fires.
fn waiting_for_payment() -> (Api, Client) {
    let (api, client) = served();
    let flow = json!({
        "name": "orders",
        "final": "shipped",
        "attribute": [
            { "name": "paid", "type": "boolean", "default": "false", "open": true },
            { "name": "shipped", "type": "boolean", "default": "false" },
        ],
        "trigger": [
            { "name": "wait", "when": "NOT paid", "transition": "remind" },
            { "name": "ship", "when": "paid", "transition": "ship" },
        ],
    });
    client.json("PUT", "/v1/flows/orders", &flow).is(201);
    client
        .json("POST", "/v1/flows/orders/instances", &json!({}))
        .is(201);
    (api, client)
}

#[harness::test]
fn who_starts_or_sends_is_named_in_the_trace() {
    let (_api, client) = waiting_for_payment();
    let paid = json!({ "state": { "paid": true } });
    client
        .json("POST", "/v1/flows/orders/instances/1/event", &paid)
        .is(200);
    let trace = client.get("/v1/flows/orders/instances/1/trace").is(200);
    for row in trace.json()["items"].as_array().expect("rows") {
        assert_eq!(row["writer"], "token:ann/all", "{row}");
    }
    // A session of the flow cannot take somebody else's name.
    let url = on(_api.database.store.flow_url(TENANT, "orders")).expect("its URL");
    let mut session = crate::support::Session::on(&_api.database, &url);
    session.run("SET wed.actor = 'token:ann/all'");
    session.run("UPDATE wed_flow SET paid = false");
    let writer =
        session.line("SELECT writer = session_user FROM wed_trace ORDER BY seq DESC LIMIT 1");
    assert_eq!(writer, "t");
}

#[harness::test]
fn settings_and_secrets_are_kept_over_http() {
    fn key() -> Option<wedflow_worker::SecretKey> {
        wedflow_worker::SecretKey::from_hex(&"5a".repeat(32)).ok()
    }
    let api = Api::with(&Database::new(), |settings| {
        settings.find_secret_key = Some(key);
    });
    let client = api.user(TENANT, "ann", "admin");
    client
        .json("PUT", "/v1/flows/steps", &steps("steps"))
        .is(201);
    let setting = "/v1/flows/steps/config/url";
    client
        .json("PUT", setting, &json!({ "value": "https://a" }))
        .is(204);
    client
        .json("PUT", setting, &json!({ "value": "https://b" }))
        .is(204);
    assert_eq!(
        client.get("/v1/flows/steps/config").is(200).json()["items"],
        json!([{ "key": "url", "value": "https://b" }])
    );
    client
        .json(
            "PUT",
            "/v1/flows/steps/config/a%20b",
            &json!({ "value": "x" }),
        )
        .problem(422, "23514");
    client.delete(setting).is(204);
    client.delete(setting).problem(404, "not_found");

    let secret = "/v1/flows/steps/secrets/key";
    client
        .json("PUT", secret, &json!({ "transitions": ["step"] }))
        .problem(404, "not_found");
    client
        .json("PUT", secret, &json!({ "value": "abc" }))
        .problem(422, "invalid_document");
    let value = "canary-of-a-secret";
    client
        .json(
            "PUT",
            secret,
            &json!({ "value": value, "transitions": ["step"] }),
        )
        .is(204);
    client
        .json("PUT", secret, &json!({ "senders": ["other"] }))
        .is(204);
    let listed = client.get("/v1/flows/steps/secrets").is(200);
    assert_eq!(
        listed.json()["items"],
        json!([{ "name": "key", "transitions": ["step"], "senders": ["other"] }])
    );
    let flow = on(api.database.store.flow(TENANT, "steps")).expect("the flow");
    let sealed = on(api.database.store.secrets(flow.flow_id)).expect("secrets");
    let opened = key().expect("a key").open(flow.flow_id, &sealed[0]);
    assert_eq!(opened.as_deref(), Ok(value));
    let audit = client.get("/v1/audit").is(200);
    assert!(audit.text.contains("flow.secret.set") && audit.text.contains("flow.config.unset"));
    assert!(!audit.text.contains(value) && !audit.text.contains("https://b"));
    client.delete(secret).is(204);

    let without = Api::of(&Database::new());
    let client = without.user(TENANT, "ann", "developer");
    client
        .json("PUT", "/v1/flows/steps", &steps("steps"))
        .is(201);
    client
        .json("PUT", secret, &json!({ "value": value }))
        .problem(409, "no_secret_key");
}

#[harness::test]
fn attempts_are_told_with_what_they_logged() {
    let (api, client) = served();
    let hostile = crate::host::guests::hostile();
    client.upload("hostile", hostile, &[]).is(201);
    let flow = json!({
        "name": "orders",
        "final": "a1 = 'logged'",
        "attribute": [
            { "name": "a1", "default": "new" }, { "name": "n", "type": "integer" }, { "name": "tags", "type": "text[]" },
        ],
        "trigger": [
            { "name": "t", "when": "a1 = 'new'", "transition": "log-line", "attempts": 1 },
            { "name": "u", "when": "a1 = 'bad'", "transition": "fail", "attempts": 1 },
        ],
        "transition": { "log-line": { "component": "hostile" }, "fail": { "component": "hostile" } },
    });
    client.json("PUT", "/v1/flows/orders", &flow).is(201);
    let instances = "/v1/flows/orders/instances";
    client.json("POST", instances, &json!({})).is(201);
    client
        .json("POST", instances, &json!({ "state": { "a1": "bad" } }))
        .is(201);
    let host = api.database.host(one_lane("api"));
    eventually("the ends", || {
        let ended =
            |wid| client.get(&format!("{instances}/{wid}")).is(200).json()["status"] != "regular";
        (ended(1) && ended(2)).then_some(())
    });
    on(host.stop());
    let first = client
        .get(&format!("{instances}/1/attempts"))
        .is(200)
        .json();
    let attempt = &first["items"][0];
    assert_eq!(attempt["outcome"], "returned");
    assert_eq!(
        attempt["logs"],
        json!([{ "severity": "warn", "message": "careful", "fields": { "wid": "1" } }])
    );
    let second = client
        .get(&format!("{instances}/2/attempts?limit=1"))
        .is(200)
        .json();
    let attempt = &second["items"][0];
    assert_eq!(
        (&attempt["outcome"], &attempt["seq"], &attempt["component"]),
        (&json!("failed"), &Json::Null, &json!("hostile"))
    );
    client
        .get(&format!("{instances}/9/attempts"))
        .problem(404, "not_found");
}

#[harness::test]
fn instances_are_found_by_what_they_hold() {
    let (_api, client) = with_steps();
    for (n, remark) in [(0, "tea"), (1, "tea"), (1, "milk")] {
        let state = json!({ "state": { "n": n, "remark": remark } });
        client
            .json("POST", "/v1/flows/steps/instances", &state)
            .is(201);
    }
    let found = |filter: &str| -> Vec<i64> {
        let path = format!("/v1/flows/steps/instances?{filter}");
        let items = client.get(&path).is(200).json()["items"].clone();
        let items = items.as_array().expect("entries").clone();
        items
            .iter()
            .filter_map(|item| item["wid"].as_i64())
            .collect()
    };
    assert_eq!(found("state=%7B%22remark%22:%22tea%22%7D"), [2, 1]);
    assert_eq!(found("state=%7B%22remark%22:%22tea%22,%22n%22:1%7D"), [2]);
    assert_eq!(found("changed_since=2000-01-01T00:00:00Z"), [3, 2, 1]);
    assert_eq!(found("changed_since=2999-01-01T00:00:00Z"), [0; 0]);
    for (wrong, status, code) in [
        ("state=tea", 400, "invalid_query"),
        ("changed_since=yore", 422, "22007"),
    ] {
        client
            .get(&format!("/v1/flows/steps/instances?{wrong}"))
            .problem(status, code);
    }
}
