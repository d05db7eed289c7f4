//! The attributes that a call has, when no flow is there to say: what the transition declares, what the
//! author adds, and, failing both, what the values look like.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};
use wedflow_contract::{Declaration, DeclaredAttribute, DeclaredKind};
use wedflow_model::{AttributeType, ScalarType, Value};

/// A state that does not fit the transition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// An attribute that nobody knows.
    #[error("the state has `{name}`, which the transition neither reads nor writes; it has {known}")]
    Unknown {
        /// The attribute.
        name: String,
        /// Attributes that the flow has.
        known: String,
    },
    /// A value that is not of its attribute's type.
    #[error("`{name}` is {kind} in this transition: {reason}")]
    Value {
        /// The attribute.
        name: String,
        /// The type.
        kind: String,
        /// The reason why the value does not fit.
        reason: String,
    },
    /// A type that contradicts the component's.
    #[error("`{name}` is declared as {declared} by the component, not as {given}")]
    Type {
        /// The attribute.
        name: String,
        /// The component's type.
        declared: String,
        /// The type that was given.
        given: String,
    },
}

/// The attributes of a call, in order: those that are read, then those that are only written, then what
/// else was given. Where the component says `any`, or reads whatever the flow has, `given` says the type;
/// where that is silent too, the value in `state` does, and what has no value is text.
///
/// # Errors
/// [`StateError`] when the state has an attribute or a value that does not fit.
pub fn attributes_of(
    declaration: &Declaration,
    given: &BTreeMap<String, AttributeType>,
    state: &Map<String, Json>,
) -> Result<Vec<(String, AttributeType)>, StateError> {
    let mut attributes: Vec<(String, AttributeType)> = Vec::new();
    let listed = [&declaration.reads, &declaration.writes];
    for DeclaredAttribute { name, kind } in listed.into_iter().flatten().flatten() {
        let found = attributes.iter().position(|(known, _)| known == name);
        let chosen = match (kind, given.get(name)) {
            (DeclaredKind::Type(declared), None) => declared.clone(),
            (kind, Some(own)) if kind.accepts(own) => own.clone(),
            (declared, Some(own)) => {
                return Err(StateError::Type {
                    name: name.clone(),
                    declared: declared.to_string(),
                    given: own.to_string(),
                });
            }
            (DeclaredKind::Any, None) => looks_like(state.get(name)),
        };
        match found {
            None => attributes.push((name.clone(), chosen)),
            // Read as any, written as something: the narrower one holds.
            Some(at) if matches!(kind, DeclaredKind::Type(_)) => attributes[at].1 = chosen,
            Some(_) => {}
        }
    }
    for (name, kind) in given {
        if !attributes.iter().any(|(known, _)| known == name) {
            attributes.push((name.clone(), kind.clone()));
        }
    }
    let open = declaration.reads.is_none() || declaration.writes.is_none();
    for (name, value) in state {
        if attributes.iter().any(|(known, _)| known == name) {
            continue;
        }
        if !open {
            return Err(StateError::Unknown {
                name: name.clone(),
                known: attributes.iter().map(|(known, _)| known.as_str()).collect::<Vec<_>>().join(", "),
            });
        }
        attributes.push((name.clone(), looks_like(Some(value))));
    }
    for (name, kind) in &attributes {
        if let Some(value) = state.get(name) {
            Value::from_json(kind, value).map_err(|error| StateError::Value {
                name: name.clone(),
                kind: kind.to_string(),
                reason: error.to_string(),
            })?;
        }
    }
    Ok(attributes)
}

/// Reads `name:type,name:type`; commas within an enum's parentheses do not separate.
///
/// # Errors
/// What is wrong, for a person.
pub fn read_types(text: &str) -> Result<BTreeMap<String, AttributeType>, String> {
    let mut types = BTreeMap::new();
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    for part in parts.filter(|part| !part.trim().is_empty()) {
        let (name, kind) =
            part.split_once(':').ok_or_else(|| format!("`{}` is not of the form name:type", part.trim()))?;
        let kind = kind.parse().map_err(|error| format!("{error}"))?;
        types.insert(name.trim().to_owned(), kind);
    }
    Ok(types)
}

/// The type that a value without one is taken for.
fn looks_like(value: Option<&Json>) -> AttributeType {
    let (scalar, array) = match value {
        Some(Json::Array(elements)) => (scalar_like(elements.iter().find(|element| !element.is_null())), true),
        other => (scalar_like(other), false),
    };
    AttributeType { scalar, array }
}

fn scalar_like(value: Option<&Json>) -> ScalarType {
    match value {
        Some(Json::Bool(_)) => ScalarType::Boolean,
        Some(Json::Number(n)) => match n.as_i64() {
            Some(n) if i32::try_from(n).is_ok() => ScalarType::Integer,
            Some(_) => ScalarType::Bigint,
            None => ScalarType::Numeric,
        },
        Some(Json::Object(_) | Json::Array(_)) => ScalarType::Jsonb,
        Some(Json::Null | Json::String(_)) | None => ScalarType::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn declared(list: &[(&str, &str)]) -> Option<Vec<DeclaredAttribute>> {
        Some(
            list.iter()
                .map(|(name, kind)| DeclaredAttribute { name: (*name).into(), kind: kind.parse().expect("kind") })
                .collect(),
        )
    }

    fn told(
        reads: Option<Vec<DeclaredAttribute>>,
        writes: Option<Vec<DeclaredAttribute>>,
        given: &str,
        state: Json,
    ) -> Result<String, String> {
        let declaration = Declaration { transition: "t".into(), reads, writes, ..Declaration::default() };
        let state = state.as_object().expect("an object").clone();
        attributes_of(&declaration, &read_types(given).expect("types"), &state)
            .map(|list| list.iter().map(|(name, kind)| format!("{name}:{kind}")).collect::<Vec<_>>().join(" "))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn types_are_declared_given_or_guessed() {
        let reads = || declared(&[("qty", "integer"), ("note", "any")]);
        let writes = || declared(&[("sent", "date"), ("note", "text")]);
        assert_eq!(told(reads(), writes(), "", json!({"qty": 1})).as_deref(), Ok("qty:integer note:text sent:date"));
        assert_eq!(
            told(None, None, "e:enum(a,b),u:uuid", json!({"n": 5, "b": true, "l": [1.5], "o": {}})).as_deref(),
            Ok("e:enum(a,b) u:uuid n:integer b:boolean l:numeric[] o:jsonb")
        );
        for (result, part) in [
            (told(reads(), writes(), "", json!({"qyt": 1})), "`qyt`"),
            (told(reads(), writes(), "", json!({"qty": "x"})), "`qty` is integer"),
            (told(reads(), writes(), "qty:text", json!({})), "declared as integer"),
        ] {
            let error = result.expect_err(part);
            assert!(error.contains(part), "{error}");
        }
        assert!(read_types("a").is_err() && read_types("a:varchar").is_err());
    }
}
