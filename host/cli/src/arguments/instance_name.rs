//! Names of an instance: its number in the flow, or the business key that it runs under.

use std::str::FromStr;

use serde::Deserialize;
use wedflow_model::Wid;

/// Instance of a flow, as a person names it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum InstanceName {
    /// Number in the flow.
    Number(Wid),
    /// Business key.
    Key(String),
}

impl TryFrom<String> for InstanceName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for InstanceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(key) = text.strip_prefix("key:") {
            return match key.is_empty() {
                true => Err("the key is empty".to_owned()),
                false => Ok(InstanceName::Key(key.to_owned())),
            };
        }
        let number = text.parse().map(InstanceName::Number);
        number.map_err(|_| "neither a number nor a key, such as key:order-17".to_owned())
    }
}
