//! The API's description against the one that is kept: changes that break a client are named.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use serde_json::{Value as Json, json};

use crate::support::repository;

/// The description that clients were made from; `WEDFLOW_KEEP_API=1` keeps the present one in its place.
const KEPT: &str = "tests/acceptance/data/openapi-0.1.json.gz";

/// Direction in which a document goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From a client: the server must take what it took.
    Sent,
    /// To a client: the server must answer with what it answered with.
    Answered,
}

/// Two descriptions, and the changes found that break a client of the older one.
struct Comparison<'a> {
    old: &'a Json,
    new: &'a Json,
    breaks: Vec<String>,
    seen: BTreeSet<(String, String, bool)>,
}

/// Names the changes that break a client of `old`.
fn breaking_changes(old: &Json, new: &Json) -> Vec<String> {
    let mut comparison = Comparison { old, new, breaks: Vec::new(), seen: BTreeSet::new() };
    for (path, item) in members(&old["paths"]) {
        for (method, operation) in members(item).filter(|(name, _)| *name != "parameters") {
            let at = format!("{} {path}", method.to_uppercase());
            match new["paths"][path].get(method) {
                Some(other) => comparison.operation(&at, operation, other),
                None => comparison.breaks.push(format!("{at}: was removed")),
            }
        }
    }
    comparison.breaks
}

fn members(object: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let members = object.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

fn items(array: &Json) -> impl Iterator<Item = &Json> {
    array.as_array().into_iter().flatten()
}

/// Texts of an array, or the one text that stands for it.
fn words(value: &Json) -> BTreeSet<&str> {
    items(value).chain(Some(value)).filter_map(Json::as_str).collect()
}

/// Follows a reference; returns its name too.
fn resolved<'a>(description: &'a Json, schema: &'a Json) -> (&'a str, &'a Json) {
    match schema["$ref"].as_str() {
        Some(name) => {
            let found = description.pointer(name.trim_start_matches('#'));
            (name, found.unwrap_or(&Json::Null))
        }
        None => ("", schema),
    }
}

impl Comparison<'_> {
    fn operation(&mut self, at: &str, old: &Json, new: &Json) {
        let key = |one: &Json| (one["in"].clone(), one["name"].clone());
        for one in items(&old["parameters"]) {
            let at = format!("{at}: parameter {}", one["name"]);
            match items(&new["parameters"]).find(|other| key(other) == key(one)) {
                None => self.breaks.push(format!("{at} was removed")),
                Some(other) => self.schema(&at, &one["schema"], &other["schema"], Way::Sent),
            }
        }
        for one in items(&new["parameters"]).filter(|one| one["required"] == true) {
            let before = items(&old["parameters"]).find(|other| key(other) == key(one));
            if before.is_none_or(|before| before["required"] != true) {
                let name = &one["name"];
                self.breaks.push(format!("{at}: parameter {name} is required now"));
            }
        }
        let (body, other) = (&old["requestBody"], &new["requestBody"]);
        if body["required"] != true && other["required"] == true {
            self.breaks.push(format!("{at}: a document is required now"));
        }
        self.contents(&format!("{at}: sent"), body, other, Way::Sent);
        for (status, answer) in members(&old["responses"]).filter(|(s, _)| s.starts_with('2')) {
            match new["responses"].get(status) {
                None => self.breaks.push(format!("{at}: {status} is answered no more")),
                Some(other) => {
                    let at = format!("{at}: answered {status}");
                    self.contents(&at, answer, other, Way::Answered);
                }
            }
        }
    }

    fn contents(&mut self, at: &str, old: &Json, new: &Json, way: Way) {
        for (kind, content) in members(&old["content"]) {
            match new["content"].get(kind) {
                None => self.breaks.push(format!("{at}: {kind} was removed")),
                Some(other) => self.schema(at, &content["schema"], &other["schema"], way),
            }
        }
    }

    fn schema(&mut self, at: &str, old: &Json, new: &Json, way: Way) {
        let ((name, old), (other, new)) = (resolved(self.old, old), resolved(self.new, new));
        let is_sent = way == Way::Sent;
        if !name.is_empty() && !self.seen.insert((name.into(), other.into(), is_sent)) {
            return;
        }
        let (before, after) = (words(&old["type"]), words(&new["type"]));
        // Without a type, it may be anything.
        let is_within =
            |one: &BTreeSet<&str>, other: &BTreeSet<&str>| other.is_empty() || !one.is_empty() && one.is_subset(other);
        let fits = match way {
            Way::Sent => is_within(&before, &after),
            Way::Answered => is_within(&after, &before),
        };
        if !fits {
            self.breaks.push(format!("{at}: {before:?} became {after:?}"));
        }
        let (values, others) = (words(&old["enum"]), words(&new["enum"]));
        if is_sent && !others.is_empty() && !values.is_subset(&others) {
            self.breaks.push(format!("{at}: of {values:?}, {others:?} are left"));
        }
        self.members(at, old, new, way);
        for part in ["items", "additionalProperties"] {
            if old[part].is_object() && new[part].is_object() {
                self.schema(&format!("{at}[]"), &old[part], &new[part], way);
            }
        }
        for part in ["oneOf", "anyOf", "allOf"] {
            let pairs = items(&old[part]).zip(items(&new[part]));
            for (old, new) in pairs.collect::<Vec<_>>() {
                self.schema(at, old, new, way);
            }
            if is_sent && items(&new[part]).count() < items(&old[part]).count() {
                self.breaks.push(format!("{at}: a form of it was removed"));
            }
        }
    }

    /// Compares the members of objects, and which of them are always there.
    fn members(&mut self, at: &str, old: &Json, new: &Json, way: Way) {
        for (name, member) in members(&old["properties"]) {
            let at = format!("{at}.{name}");
            match new["properties"].get(name) {
                Some(other) => self.schema(&at, member, other, way),
                None => self.breaks.push(format!("{at} was removed")),
            }
        }
        let (before, after) = (words(&old["required"]), words(&new["required"]));
        let changed = match way {
            Way::Sent => after.difference(&before),
            Way::Answered => before.difference(&after),
        };
        let said = match way {
            Way::Sent => "is required now",
            Way::Answered => "may be absent now",
        };
        // A member that is gone was said above.
        for name in changed.filter(|name| new["properties"].get(name).is_some()) {
            self.breaks.push(format!("{at}.{name} {said}"));
        }
    }
}

/// Reads the description that is kept.
fn kept() -> Json {
    let file = std::fs::File::open(repository(KEPT)).expect("the description that is kept");
    let mut text = String::new();
    let read = flate2::read::GzDecoder::new(file).read_to_string(&mut text);
    read.expect("read");
    serde_json::from_str(&text).expect("JSON")
}

#[harness::test]
fn present_api_breaks_no_client_of_the_kept_description() {
    let present = wedflow_api::description();
    if std::env::var_os("WEDFLOW_KEEP_API").is_some() {
        let file = std::fs::File::create(repository(KEPT)).expect("made");
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::best());
        let text = serde_json::to_vec(&present).expect("JSON");
        packed.write_all(&text).expect("written");
        packed.finish().expect("written");
    }
    let found = breaking_changes(&kept(), &present);
    assert!(
        found.is_empty(),
        "these changes break clients: undo them, or say them in the changelog and keep the new description \
         (WEDFLOW_KEEP_API=1 with this test):\n{}",
        found.join("\n")
    );
}

/// A description of one operation that takes and answers a document.
fn described(parameters: Json, sent: Json, answered: Json) -> Json {
    let document = |schema: Json| json!({ "content": { "application/json": { "schema": schema } } });
    json!({
        "paths": { "/v1/things": { "post": {
            "parameters": parameters,
            "requestBody": document(sent),
            "responses": { "200": document(json!({ "$ref": "#/components/schemas/Thing" })) },
        } } },
        "components": { "schemas": { "Thing": answered } },
    })
}

/// A parameter in the query.
fn query(name: &str, required: bool) -> Json {
    json!({ "in": "query", "name": name, "required": required, "schema": { "type": "string" } })
}

/// A schema of objects.
fn object(members: Json, required: Json) -> Json {
    json!({ "type": "object", "properties": members, "required": required })
}

#[harness::test]
fn comparison_names_each_change_that_breaks_and_no_other() {
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let kind = |values: &[&str]| json!({ "type": "string", "enum": values });
    let old = described(
        json!([query("limit", false)]),
        object(json!({ "name": text, "kind": kind(&["a", "b"]) }), json!(["name"])),
        object(json!({ "id": number, "note": text }), json!(["id"])),
    );
    let wider = described(
        json!([query("limit", false), query("order", false)]),
        object(json!({ "name": text, "kind": kind(&["a", "b", "c"]), "at": text }), json!([])),
        object(json!({ "id": number, "note": text, "at": text }), json!(["id", "at", "note"])),
    );
    assert_eq!(breaking_changes(&old, &wider), Vec::<String>::new());
    let narrower = described(
        json!([query("order", true)]),
        object(json!({ "name": number, "kind": kind(&["a"]), "at": text }), json!(["name", "at"])),
        object(json!({ "id": number }), json!([])),
    );
    let mut found = breaking_changes(&old, &narrower);
    let expected = [
        "parameter \"limit\" was removed",
        "parameter \"order\" is required now",
        "sent.kind: of {\"a\", \"b\"}, {\"a\"} are left",
        "sent.name: {\"string\"} became {\"integer\"}",
        "sent.at is required now",
        "answered 200.note was removed",
        "answered 200.id may be absent now",
    ];
    let mut expected = expected.map(|what| format!("POST /v1/things: {what}"));
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let nothing = json!({ "paths": {} });
    assert_eq!(breaking_changes(&old, &nothing), ["POST /v1/things: was removed"]);
}
