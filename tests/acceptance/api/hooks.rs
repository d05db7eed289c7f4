//! Inbound hooks: events of others that start instances and set attributes.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};

use super::served;
use crate::support::Session;
use crate::support::database::TENANT;
use crate::support::http::{Answered, Api, Client};

const SECRET: &str = "correct horse battery";

/// Sender of signed messages; the database computes its digests.
struct Sender {
    client: Client,
    owner: Session,
    path: String,
}

impl Sender {
    /// Makes a hook of the flow, and its sender.
    fn new(api: &Api, client: &Client, scheme: &str, acts: &str) -> Self {
        let hook = json!({
            "scheme": scheme, "acts": acts, "key": "/data/order", "secret": SECRET,
            "attributes": { "paid": "/data/paid", "qty": "/data/qty" },
        });
        let path = format!("/v1/flows/orders/hooks/{scheme}");
        let set = client.json("PUT", &path, &hook).is(200).json();
        assert_eq!(set["secret"], Json::Null, "the sender's own is not told");
        Sender {
            client: client.without_token(),
            owner: api.database.owner(),
            path: set["path"].as_str().expect("a path").to_owned(),
        }
    }

    fn sha256(&mut self, bytes: &[u8]) -> Vec<u8> {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let sql = format!("SELECT encode(sha256(decode('{hex}', 'hex')), 'hex')");
        let digest = self.owner.line(&sql);
        let byte = |at| u8::from_str_radix(&digest[at..at + 2], 16).expect("hex");
        (0..digest.len()).step_by(2).map(byte).collect()
    }

    /// HMAC-SHA256 in hexadecimal.
    fn mac(&mut self, message: &[u8]) -> String {
        let pad = |with: u8| {
            let mut key = SECRET.as_bytes().to_vec();
            key.resize(64, 0);
            key.iter_mut().for_each(|byte| *byte ^= with);
            key
        };
        let inner = self.sha256(&[&pad(0x36), message].concat());
        let outer = self.sha256(&[pad(0x5c), inner].concat());
        outer.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Posts a message signed as GitHub does.
    fn github(&mut self, id: &str, body: &str, more: &[(&str, &str)]) -> Answered {
        let signature = format!("sha256={}", self.mac(body.as_bytes()));
        let headers =
            [("content-type", "application/json"), ("x-github-delivery", id), ("x-hub-signature-256", &signature)];
        let headers = [more, &headers].concat();
        self.client.send("POST", &self.path, &headers, body.as_bytes())
    }

    /// Posts a message signed as Standard Webhooks specify, `ago` seconds ago.
    fn standard(&mut self, id: &str, ago: u64, kind: &str, body: &str) -> Answered {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time");
        let at = (now.as_secs() - ago).to_string();
        let mac = self.mac(format!("{id}.{at}.{body}").as_bytes());
        let sql = format!("SELECT encode(decode('{mac}', 'hex'), 'base64')");
        let signature = format!("v1,{}", self.owner.line(&sql));
        let headers =
            [("content-type", kind), ("webhook-id", id), ("webhook-timestamp", &at), ("webhook-signature", &signature)];
        self.client.send("POST", &self.path, &headers, body.as_bytes())
    }
}

/// A flow whose attribute `paid` events may set.
fn with_orders() -> (Api, Client) {
    let (api, client) = served();
    let flow = json!({
        "name": "orders",
        "final": "shipped",
        "attribute": [
            { "name": "paid", "type": "boolean", "default": "false", "open": true },
            { "name": "qty", "type": "integer", "default": "1", "open": true },
            { "name": "shipped", "type": "boolean", "default": "false" },
        ],
        "trigger": [
            { "name": "remind", "when": "NOT paid", "transition": "remind" },
            { "name": "ship", "when": "paid AND NOT shipped", "transition": "ship" },
        ],
    });
    client.json("PUT", "/v1/flows/orders", &flow).is(201);
    (api, client)
}

fn order(client: &Client, key: &str) -> Json {
    let path = format!("/v1/flows/orders/instances/key:{key}");
    client.get(&path).is(200).json()
}

#[harness::test]
fn signed_event_starts_an_instance_and_the_next_one_sets_its_attributes() {
    let (api, client) = with_orders();
    let mut sender = Sender::new(&api, &client, "github", "both");
    let made = r#"{"data": {"order": "o-1", "qty": 3}}"#;
    let taken = sender.github("d-1", made, &[]).is(200).json();
    assert_eq!(taken, json!({ "wid": 1, "did": "started", "repeated": false }));
    let again = sender.github("d-1", made, &[]).is(200).json();
    assert_eq!(again, json!({ "wid": 1, "did": "started", "repeated": true }));
    assert_eq!(order(&client, "o-1")["state"]["qty"], 3);
    // As a CloudEvent in binary form, whose document has the body in `data`.
    let headers = [("ce-specversion", "1.0"), ("ce-id", "7"), ("ce-source", "/shop")];
    let event = r#"{"order": "o-1", "qty": 4}"#;
    let taken = sender.github("d-2", event, &headers).is(200).json();
    assert_eq!(taken["did"], "set");
    // Neither its number nor the event's is signed: the same body is the same event.
    let others = [("ce-specversion", "1.0"), ("ce-id", "8"), ("ce-source", "/shop")];
    let again = sender.github("d-3", event, &others).is(200).json();
    assert_eq!(again["repeated"], true, "what is signed counts");
    let order = order(&client, "o-1");
    assert_eq!((&order["state"]["qty"], &order["status"]), (&json!(4), &json!("regular")));
    let trace = client.get("/v1/flows/orders/instances/1/trace").is(200).json();
    assert_eq!(trace["items"].as_array().map(Vec::len), Some(2), "{trace}");
    assert_eq!(trace["items"][1]["writer"], "hook:orders/github");
}

#[harness::test]
fn standard_webhook_pays_a_running_order() {
    let (api, client) = with_orders();
    let mut sender = Sender::new(&api, &client, "standard", "set");
    let cloud = "application/cloudevents+json";
    let paid = |id: &str, order: &str| {
        json!({ "specversion": "1.0", "id": id, "source": "/pay", "type": "paid",
            "data": { "order": order, "paid": true } })
        .to_string()
    };
    sender.standard("m-1", 0, cloud, &paid("1", "o-1")).problem(404, "WF040");
    client.json("POST", "/v1/flows/orders/instances", &json!({ "key": "o-1" })).is(201);
    // What was refused may be sent again under its number.
    sender.standard("m-2", 400, cloud, &paid("1", "o-1")).problem(401, "not_signed");
    let taken = sender.standard("m-1", 0, cloud, &paid("1", "o-1")).is(200).json();
    assert_eq!(taken["did"], "set");
    assert_eq!(order(&client, "o-1")["state"]["paid"], true);
    let listed = client.get("/v1/flows/orders/hooks").is(200);
    assert!(!listed.text.contains(SECRET), "{listed:?}");
    client.delete("/v1/flows/orders/hooks/standard").is(204);
    sender.standard("m-3", 0, cloud, &paid("3", "o-1")).problem(404, "not_found");
}

#[harness::test]
fn hook_believes_nobody_without_the_secret() {
    let (api, client) = with_orders();
    let mut sender = Sender::new(&api, &client, "github", "both");
    let body = br#"{"data": {"order": "o-1"}}"#;
    let send = |sender: &Sender, headers: &[(&str, &str)], body: &[u8]| {
        let headers = [&[("content-type", "application/json")], headers].concat();
        sender.client.send("POST", &sender.path, &headers, body)
    };
    send(&sender, &[], body).problem(401, "not_signed");
    let zeros = format!("sha256={}", "0".repeat(64));
    for wrong in ["", "sha256=", "sha256=zz", zeros.as_str()] {
        let headers = [("x-hub-signature-256", wrong), ("x-github-delivery", "1")];
        send(&sender, &headers, body).problem(401, "not_signed");
    }
    let signature = format!("sha256={}", sender.mac(body));
    let signed = [("x-hub-signature-256", signature.as_str())];
    send(&sender, &signed, br#"{"data": {"order": "o-2"}}"#).problem(401, "not_signed");
    sender.github("1", "{", &[]).problem(400, "invalid_json");
    sender.github("1", r#"{"data": {}}"#, &[]).problem(422, "invalid_document");
    let unfit = r#"{"data": {"order": "o-1", "qty": "many"}}"#;
    sender.github("1", unfit, &[]).problem(422, "22P02");
    let huge = format!("{{\"data\": \"{}\"}}", "x".repeat(300 << 10));
    sender.github("1", &huge, &[]).problem(413, "too_large");
    let instances = client.get("/v1/flows/orders/instances").is(200).json();
    assert_eq!(instances["items"], json!([]));
    // Who makes hooks, and what of.
    let participant = api.user(TENANT, "bob", "participant");
    let path = "/v1/flows/orders/hooks/x";
    let hook = |more: Json| {
        let mut hook = json!({ "scheme": "github", "acts": "start", "attributes": {} });
        hook.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        hook
    };
    participant.json("PUT", path, &hook(json!({}))).problem(403, "not_permitted");
    for refused in [json!({ "secret": "short" }), json!({ "attributes": { "qty": "qty" } }), json!({ "key": "order" })]
    {
        client.json("PUT", path, &hook(refused)).problem(422, "invalid_document");
    }
    client.json("PUT", path, &hook(json!({ "attributes": { "none": "/x" } }))).problem(422, "42703");
    client.json("PUT", path, &hook(json!({ "acts": "set" }))).problem(422, "22023");
    let made = client.json("PUT", path, &hook(json!({}))).is(200).json();
    assert!(made["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")), "{made}");
}

#[harness::test]
fn old_secret_of_a_hook_is_taken_until_its_overlap_ends() {
    let (api, client) = with_orders();
    let mut sender = Sender::new(&api, &client, "github", "start");
    let rotate = format!("{}/rotate", "/v1/flows/orders/hooks/github");
    let body = |qty: i32| json!({ "data": { "order": format!("o-{qty}"), "qty": qty } }).to_string();
    let set = client.json("POST", &rotate, &json!({})).is(200).json();
    assert!((set["secret"].as_str()).is_some_and(|secret| secret.starts_with("whsec_")), "{set}");
    sender.github("1", &body(1), &[]).is(200);
    let end = "UPDATE wed.hook SET old_until = clock_timestamp() - interval '1 second'";
    api.database.owner().run(end);
    sender.github("2", &body(2), &[]).problem(401, "not_signed");
    // The sender's own secret again, from now on and alone.
    let own = json!({ "secret": SECRET, "overlap_hours": 0 });
    let set = client.json("POST", &rotate, &own).is(200).json();
    assert_eq!(set["secret"], Json::Null, "the sender's own is not told");
    sender.github("2", &body(2), &[]).is(200);
    for (wrong, status, code) in
        [(json!({ "overlap_hours": 721 }), 422, "22023"), (json!({ "secret": "short" }), 422, "invalid_document")]
    {
        client.json("POST", &rotate, &wrong).problem(status, code);
    }
    client.json("POST", "/v1/flows/orders/hooks/none/rotate", &json!({})).problem(404, "not_found");
}

#[harness::test]
fn of_events_side_by_side_one_starts_and_the_others_set() {
    let (api, client) = with_orders();
    let mut sender = Sender::new(&api, &client, "github", "both");
    let bodies: Vec<String> =
        (1..=6).map(|qty| json!({ "data": { "order": "o-1", "qty": qty } }).to_string()).collect();
    let signed: Vec<(String, &String)> =
        bodies.iter().map(|body| (format!("sha256={}", sender.mac(body.as_bytes())), body)).collect();
    let (post, path) = (&sender.client, &sender.path);
    let answers: Vec<Json> = std::thread::scope(|scope| {
        let send = |(signature, body): &(String, &String)| {
            let headers = [("content-type", "application/json"), ("x-hub-signature-256", signature)];
            post.send("POST", path, &headers, body.as_bytes()).is(200).json()
        };
        let threads: Vec<_> = signed.iter().map(|one| scope.spawn(move || send(one))).collect();
        threads.into_iter().map(|thread| thread.join().expect("answered")).collect()
    });
    let started = answers.iter().filter(|answer| answer["did"] == "started");
    assert_eq!(started.count(), 1, "{answers:?}");
    // One that began at the same time may have used up a number.
    assert!(answers.iter().all(|answer| answer["wid"] == answers[0]["wid"]), "{answers:?}");
    // A message that has none of the values changes nothing, and is no error.
    let nothing = sender.github("7", r#"{"data": {"order": "o-1"}}"#, &[]).is(200).json();
    assert_eq!(nothing["did"], "nothing", "{nothing}");
}

#[harness::test]
fn hook_that_sets_what_is_not_open_is_refused() {
    let (_api, client) = with_orders();
    let put = |acts: &str| {
        let hook = json!({ "scheme": "github", "acts": acts, "key": "/k", "attributes": { "shipped": "/x" } });
        client.json("PUT", "/v1/flows/orders/hooks/x", &hook)
    };
    put("both").problem(422, "WF003");
    put("set").problem(422, "WF003");
    // It may be what an instance begins with.
    put("start").is(200);
}
