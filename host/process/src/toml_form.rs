//! Prints a flow definition as a flow.toml.

use serde_json::Value as Json;
use wedflow_model::FlowDefinition;

/// Prints a definition as a flow.toml that says the same.
pub fn write_toml(flow: &FlowDefinition) -> String {
    let document = serde_json::to_value(flow).unwrap_or_default();
    toml_of(document).and_then(|value| toml::to_string_pretty(&value).ok()).unwrap_or_default()
}

/// Returns a document as TOML has it; null is absent.
fn toml_of(json: Json) -> Option<toml::Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(truth) => toml::Value::Boolean(truth),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => toml::Value::Integer(whole),
            None => toml::Value::Float(number.as_f64()?),
        },
        Json::String(text) => toml::Value::String(text),
        Json::Array(items) => items.into_iter().filter_map(toml_of).collect::<Vec<_>>().into(),
        Json::Object(entries) => {
            let entries = entries.into_iter();
            let table: toml::Table = entries.filter_map(|(key, value)| Some((key, toml_of(value)?))).collect();
            toml::Value::Table(table)
        }
    })
}
