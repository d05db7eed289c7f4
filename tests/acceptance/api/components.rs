//! Components: uploaded, listed, bounded.

use serde_json::{Value as Json, json};

use super::served;
use crate::support::database::{one_lane, sample_component};
use crate::support::http::{Api, Client};
use crate::support::{eventually, on};

#[harness::test]
fn components_are_uploaded_and_listed() {
    let (api, client) = served();
    let paper = sample_component("paper");
    let first = client.upload("paper", paper, &[]).is(201);
    assert_eq!(first.header("location"), Some("/v1/components/paper/versions/1"));
    let uploaded = first.json();
    assert_eq!(uploaded["version"], 1);
    // The same bytes are the same version.
    assert_eq!(client.upload("paper", paper, &[]).is(201).json(), uploaded);
    let listed = client.get("/v1/components").is(200).json();
    assert_eq!(listed["items"][0]["digest"], uploaded["digest"]);
    assert_eq!(client.get("/v1/components/paper/versions/1").is(200).json(), listed["items"][0]);
    client.get("/v1/components/paper/versions/2").problem(404, "not_found");
    client.get("/v1/components/none").problem(404, "not_found");

    // And it runs.
    let flow: Json = {
        let file = crate::support::repository("sample-transitions/paper/flow.toml");
        let text = std::fs::read_to_string(file).expect("the sample's definition");
        toml::from_str(&text).expect("a definition")
    };
    client.json("PUT", "/v1/flows/paper", &flow).is(201);
    client.json("POST", "/v1/flows/paper/instances", &json!({})).is(201);
    let host = api.database.host(one_lane("api"));
    eventually("the end of the instance", || {
        let instance = client.get("/v1/flows/paper/instances/1").is(200).json();
        (instance["status"] == "final").then_some(())
    });
    on(host.stop());
}

#[harness::test]
fn components_and_files_have_one_quota_of_bytes_together() {
    let (api, client) = served();
    let mut owner = api.database.owner();
    let paper = sample_component("paper");
    let check = client.send("POST", "/v1/components/paper?check=true", &[("content-type", "application/wasm")], paper);
    assert_eq!(check.is(200).json()["version"], 0, "nothing is stored");
    let allowed = paper.len() + 1_000;
    owner.run(&format!("UPDATE wed.quota SET storage_bytes = {allowed}"));
    client.json("PUT", "/v1/flows/steps", &super::steps("steps")).is(201);
    let files = |bytes: usize| {
        format!("SELECT wed.keep_file_bytes('one', ARRAY(SELECT shape_schema::text FROM wed.flow), '{{{bytes}}}')")
    };
    // Two hosts that share no folder: their files are added up.
    owner.run(&files(1_000));
    owner.run(&files(1).replace("'one'", "'other'"));
    assert_eq!(owner.line("SELECT file_bytes FROM wed.usage WHERE tenant_id = 1"), "1001");
    let refused = client.upload("paper", paper, &[]).problem(403, "quota");
    assert_eq!(refused["limit"]["name"], "storage_bytes", "{refused}");
    // One of them is gone with its folder.
    owner.run("UPDATE wed.file_usage SET counted_at = now() - interval '2 hours' WHERE folder = 'other'");
    owner.run(&files(1_000));
    client.upload("paper", paper, &[]).is(201);
    let used = "SELECT used FROM wed.quotas(1) WHERE name = 'storage_bytes'";
    assert_eq!(owner.line(used), allowed.to_string());
    client.json("POST", "/v1/flows/steps/instances", &json!({})).is(201);
    owner.run(&files(allowed + 1));
    let refused = client.json("POST", "/v1/flows/steps/instances", &json!({}));
    let refused = refused.problem(403, "quota");
    assert_eq!(refused["limit"]["name"], "storage_bytes", "{refused}");
}

#[harness::test]
fn rollback_of_an_unknown_component_says_that_there_is_none() {
    let (_api, client) = served();
    let missing = client.json("POST", "/v1/components/none/rollback", &json!({}));
    let missing = missing.problem(404, "not_found");
    assert!(missing["detail"].as_str().is_some_and(|text| text.starts_with("there is no component")), "{missing}");
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
    refused("x", &paper[..paper.len() / 2], &[], 422, "component_refused");
    refused("x", paper, &[("content-encoding", "gzip")], 415, "content_encoding");
    refused("No Name".replace(' ', "%20").as_str(), paper, &[], 422, "23514");
    let wrong = [("content-digest", "sha-256=:AAAA:")];
    refused("x", paper, &wrong, 422, "digest");
    let text = [("content-type", "text/plain")];
    client.send("POST", "/v1/components/x", &text, paper).problem(415, "content_type");
    // Announced, and not announced: neither is read to its end.
    let much = 33 << 20;
    let head = client.head("POST /v1/components/x");
    let announced = client
        .raw(&format!("{head}content-type: application/wasm\r\ncontent-length: {much}\r\n\r\n"), |answer| {
            answer.contains("\"too_large\"")
        });
    assert!(announced.starts_with("HTTP/1.1 413"), "{announced}");
    assert_eq!(client.get("/v1/components").is(200).json()["items"], json!([]));
    let key = [("idempotency-key", "up")];
    client.upload("paper", paper, &key).is(201);
    let again = client.upload("paper", paper, &key).is(201);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    refused("other", paper, &key, 422, "WF046");
}

#[harness::test]
fn uploads_under_one_key_are_one_upload_whichever_host_they_come_to() {
    let (api, client) = served();
    let other = Api::of(&api.database);
    let token = client.token.clone().expect("a token");
    let elsewhere = Client::at(other.address, &token);
    let (one, two) = (sample_component("paper"), sample_component("travel"));
    let key = [("idempotency-key", "the-same-for-both")];
    let answers = std::thread::scope(|scope| {
        let first = scope.spawn(|| client.upload("x", one, &key));
        let second = scope.spawn(|| elsewhere.upload("x", two, &key));
        [first, second].map(|thread| thread.join().expect("an answer"))
    });
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(made, 1, "{answers:?}");
    let refused = (answers.iter().find(|answer| answer.status != 201)).expect("one is refused");
    refused.problem(422, "WF046");
    assert_eq!(client.get("/v1/components/x/versions/2").status, 404, "one version");
    // A key of an upload that was refused is free.
    let again = [("idempotency-key", "free")];
    client.upload("y", b"no component", &again).is(422);
    eventually("the key", || (client.upload("y", one, &again).status == 201).then_some(()));
    client.upload("y", one, &again).is(201).header("idempotency-replayed").expect("the same answer");
}
