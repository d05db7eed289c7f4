//! The description of the interface. Its paths come from the routes themselves; what holds for all of them is added
//! here.

use serde_json::{Map, Value, json};
use utoipa::OpenApi;

use crate::body::LONGEST_KEY;

/// The methods of a path that are operations.
const METHODS: [&str; 5] = ["get", "put", "post", "patch", "delete"];

/// Refusals that any operation may answer: status, and when.
const REFUSALS: [(&str, &str); 13] = [
    ("400", "The request cannot be read"),
    ("401", "There is no token, or it is not valid"),
    ("403", "The token, a quota or the state of the tenant does not allow it"),
    ("404", "There is nothing of that name"),
    ("408", "The body did not come in time"),
    ("409", "Something is in the way: another change, a lock, a rule"),
    ("413", "The body is too large"),
    ("415", "The body is not of a type that is served here"),
    ("422", "The document, a value or a name is refused"),
    ("429", "Too much at once; `Retry-After` says how long to wait"),
    ("500", "The server failed"),
    ("503", "The database does not answer; `Retry-After` says how long to wait"),
    ("504", "It took longer than a request may"),
];

/// The document's parts that the routes do not state.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Wedflow",
        description = "Flows, instances, components, users and tokens of one tenant: that of the token. Problems are \
            application/problem+json (RFC 9457) with a stable `code` and a `hint`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(crate::documents::Definition, crate::problem::Problem)),
    security(("token" = []))
)]
pub(crate) struct Description;

/// Adds to the routes' own description what holds for all of them.
pub(crate) fn completed(routes: &utoipa::openapi::OpenApi) -> Value {
    let mut document = serde_json::to_value(routes).unwrap_or_default();
    document["servers"] = json!([{ "url": "/", "description": "The server that answers this document" }]);
    document["components"]["securitySchemes"] = json!({
        "token": { "type": "http", "scheme": "bearer", "description": "A token that `wed token create` made: `wed_…`" }
    });
    document["components"]["schemas"]["FlowDefinition"] = crate::documents::definition_schema();
    let paths = document["paths"].as_object_mut();
    for (path, item) in paths.into_iter().flatten() {
        for method in METHODS {
            if let Some(operation) = item.get_mut(method).and_then(Value::as_object_mut) {
                complete(path, operation);
            }
        }
    }
    document
}

/// Completes an operation: a name that no other has, parameters with their bounds, all that it may answer.
fn complete(path: &str, operation: &mut Map<String, Value>) {
    let tag = operation["tags"][0].as_str().unwrap_or_default().to_owned();
    let name = operation["operationId"].as_str().unwrap_or_default();
    operation.insert("operationId".to_owned(), format!("{tag}_{name}").into());
    for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
        bound(parameter);
    }
    let has_body = operation.contains_key("requestBody");
    if let Some(body) = operation.get_mut("requestBody") {
        as_bytes(body);
        as_absent(body);
    }
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else {
        return;
    };
    if path.starts_with("/v1/") {
        for (status, when) in REFUSALS {
            // What is not sent cannot be wrong.
            if !has_body && ["408", "413", "415"].contains(&status) {
                continue;
            }
            responses.entry(status).or_insert_with(|| json!({ "description": when }));
        }
    }
    for (status, response) in responses.iter_mut() {
        as_bytes(response);
        if response["description"].as_str().is_none_or(str::is_empty) {
            let refusal = REFUSALS.iter().find(|(known, _)| known == status);
            response["description"] = refusal.map_or("Done", |(_, when)| *when).into();
        }
        if status.starts_with(['4', '5']) {
            response["content"] = json!({
                "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } }
            });
        }
    }
}

/// Says of a component that it is bytes, and no list of numbers.
fn as_bytes(of: &mut Value) {
    if let Some(content) = of.pointer_mut("/content/application~1wasm") {
        content["schema"] = json!({ "type": "string", "format": "binary" });
    }
}

/// Says of a body that may be absent that it is an object where there is one, never `null`.
fn as_absent(body: &mut Value) {
    let schema = body.pointer_mut("/content/application~1json/schema");
    let Some(schema) = schema else { return };
    let one = schema["oneOf"].as_array().and_then(|all| {
        let mut objects = all.iter().filter(|one| one["type"] != "null");
        objects.next().cloned()
    });
    if let Some(one) = one {
        *schema = one;
        body["required"] = false.into();
    }
}

/// Says of a parameter what it may be, where the code that reads it says no more than its type.
fn bound(parameter: &mut Value) {
    let name = parameter["name"].as_str().unwrap_or_default().to_owned();
    let bounds = match (parameter["in"].as_str(), name.as_str()) {
        (Some("header"), "Idempotency-Key") => {
            json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$",
                "examples": ["0b5a2f0e-8f5c-4c5e-9d0b-6a1f6f0c2d11"] })
        }
        (Some("header"), "Last-Event-ID") if parameter["schema"]["format"] == "int32" => {
            json!({ "type": "integer", "format": "int32", "minimum": 0 })
        }
        (Some("header"), "Content-Digest") => {
            json!({ "type": "string", "pattern": "^sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:$",
                "examples": ["sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"] })
        }
        (Some("header"), "If-None-Match")
            if parameter["description"].as_str().is_some_and(|said| said.starts_with("`*`")) =>
        {
            json!({ "type": "string", "pattern": "^\\*$", "examples": ["*"] })
        }
        (Some("header"), "If-Match") => {
            json!({ "type": "string", "pattern": "^(\\*|\"[0-9a-f]{1,64}\")$", "examples": ["\"5f3a09c1\""] })
        }
        (Some("path"), "flow" | "component") => {
            json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,62}$" })
        }
        (Some("query"), "changed_since") => json!({ "type": "string", "format": "date-time" }),
        (Some("query"), "cursor") => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]+$" }),
        (Some("path"), "wid") => {
            json!({ "anyOf": [{ "type": "integer", "format": "int32", "minimum": 1 },
                { "type": "string", "pattern": "^key:.{1,255}$" }] })
        }
        (Some("path"), "item") => {
            json!({ "type": "integer", "format": "int32", "minimum": 1 })
        }
        (Some("path"), "version") => json!({ "type": "integer", "format": "int32", "minimum": 1 }),
        (Some("path"), _) => json!({ "type": "string", "minLength": 1 }),
        _ => return,
    };
    parameter["schema"] = bounds;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_operation_has_its_own_name_and_says_all_it_answers() {
        let document = crate::routes::description();
        let mut names = BTreeSet::new();
        let paths = document["paths"].as_object().expect("paths");
        for (path, item) in paths {
            for method in METHODS {
                let Some(operation) = item.get(method) else {
                    continue;
                };
                let name = operation["operationId"].as_str().expect("a name");
                assert!(names.insert(name.to_owned()), "{name} is there twice");
                let responses = operation["responses"].as_object().expect("responses");
                for (status, response) in responses {
                    let said = response["description"].as_str().unwrap_or_default();
                    assert!(!said.is_empty(), "{method} {path}: {status} says nothing");
                }
                let refused = responses.contains_key("401") && responses.contains_key("503");
                assert!(refused || !path.starts_with("/v1/"), "{method} {path}");
            }
        }
    }
}
