//! Reservations, stock of resources, the order of tasks.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use wedflow_model::Wid;

/// A key that an instance holds, or waits for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Reservation {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Transition.
    pub transition: String,
    /// The resource that flows share; none: the flow's own.
    pub resource: Option<String>,
    /// Key.
    pub key: String,
    /// Quantity; none: exclusive.
    pub amount: Option<String>,
    /// False: it waits, and holds nothing of what it asked for.
    pub held: bool,
    /// Keys or tasks that are waited for, with their holders.
    pub waits_for: Option<String>,
    /// Time at which it was requested.
    pub asked_at: String,
}

/// Stock of a key that is reserved by quantity.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Resource {
    /// The resource that flows share; none: the flow's own.
    pub resource: Option<String>,
    /// Key.
    pub key: String,
    /// Stock.
    pub capacity: String,
    /// Minimum that is always left.
    pub minimum: String,
    /// Quantity held.
    pub held: String,
}

/// New stock of a key.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetResource {
    /// The resource that flows share; the flow's own when absent.
    pub resource: Option<String>,
    /// Key.
    pub key: String,
    /// A number, or its digits as a text.
    #[schema(value_type = f64)]
    #[serde(deserialize_with = "digits")]
    pub capacity: String,
    /// Minimum that is always left; 0 when absent.
    #[schema(value_type = Option<f64>)]
    #[serde(default, deserialize_with = "digits_if_any")]
    pub minimum: Option<String>,
}

/// An order of tasks.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct TaskOrder {
    /// The trigger that waits: its name, or its transition's.
    pub trigger: String,
    /// The triggers that come first, with AND, OR and parentheses.
    pub after: String,
    /// Only of this instance; of all when absent.
    #[schema(value_type = Option<i32>)]
    pub wid: Option<Wid>,
    /// Actor who added it; in answers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// Reads a number as it is written, however many digits it has; or a text.
fn digits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) => Ok(text),
        _ => Err(D::Error::custom("expected a number")),
    }
}

/// Reads a number that may be absent.
fn digits_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Option::<Value>::deserialize(deserializer)? {
        None | Some(Value::Null) => Ok(None),
        Some(value) => digits(value).map(Some).map_err(D::Error::custom),
    }
}

/// A finding of a look at a flow's definition.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Finding {
    /// Kind of the finding, a word.
    pub code: String,
    /// Trigger or triggers it is about.
    pub place: String,
    /// Explanation for a person.
    pub text: String,
    /// A way to mend it.
    pub hint: String,
    /// A state that shows it, where there is one.
    #[schema(value_type = Option<Object>)]
    pub state: Option<Value>,
    /// True if it follows from the declarations, or from all states that the conditions distinguish.
    pub certain: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_keeps_all_its_digits() {
        let text = r#"{"key":"k","capacity":12345678901234567890.25,"minimum":"7"}"#;
        let stock: SetResource = serde_json::from_str(text).expect("a document");
        assert_eq!(stock.capacity, "12345678901234567890.25");
        assert_eq!(stock.minimum.as_deref(), Some("7"));
    }
}
