//! Values that a flow provides to its transitions besides the state: settings and secrets.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::mask::Masks;

/// The settings and secrets that one transition of a flow may ask for. Its `Debug` shows no value.
#[derive(Default)]
pub struct Provided {
    settings: Arc<HashMap<String, String>>,
    secrets: HashMap<String, String>,
    /// Names of secrets that are put into headers only.
    sent: HashSet<String>,
    /// The texts to look for when masking.
    masks: Option<Masks>,
}

impl Provided {
    /// The flow's settings by key, and those of its secrets that are granted to the transition, by
    /// name.
    pub fn new(settings: impl Into<Arc<HashMap<String, String>>>, secrets: HashMap<String, String>) -> Self {
        let mut masked: Vec<String> = secrets
            .values()
            .filter(|secret| !secret.is_empty())
            .flat_map(|secret| {
                // Verbatim, as written in a SQL literal, and as written in JSON.
                let json = serde_json::Value::from(secret.as_str()).to_string();
                [secret.clone(), secret.replace('\'', "''"), json[1..json.len() - 1].to_owned()]
            })
            .collect();
        masked.sort_unstable();
        masked.dedup();
        Provided { settings: settings.into(), secrets, sent: HashSet::new(), masks: Masks::of(&masked) }
    }

    /// The same, where these of the secrets are put into headers of requests only: the transition cannot read them.
    #[must_use]
    pub fn only_sent(self, sent: HashSet<String>) -> Self {
        Provided { sent, ..self }
    }

    /// A setting, by key.
    pub fn config(&self, key: &str) -> Option<&str> {
        self.settings.get(key).map(String::as_str)
    }

    /// The settings, by key.
    pub(crate) fn settings(&self) -> &HashMap<String, String> {
        &self.settings
    }

    /// The secrets that the transition may read, by name.
    pub(crate) fn readable(&self) -> HashMap<String, String> {
        (self.secrets.iter())
            .filter(|(name, _)| !self.sent.contains(*name))
            .map(|(name, secret)| (name.clone(), secret.clone()))
            .collect()
    }

    /// A secret, by name, for the transition to read.
    pub fn secret(&self, name: &str) -> Option<&str> {
        self.secrets.get(name).filter(|_| !self.sent.contains(name)).map(String::as_str)
    }

    /// A secret, by name, to be sent in a header.
    pub fn secret_to_send(&self, name: &str) -> Option<&str> {
        self.secrets.get(name).map(String::as_str)
    }

    /// The text with `***` in place of every secret that stands in it.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.masks {
            Some(masks) => masks.mask_text(text),
            None => Cow::Borrowed(text),
        }
    }

    /// The same for bytes, whether they are text or not.
    pub(crate) fn mask_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let masked = self.masks.as_ref().and_then(|masks| masks.mask(&bytes));
        masked.unwrap_or(bytes)
    }

    /// The same for a text that is replaced.
    pub(crate) fn mask_in(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.mask(text) {
            *text = masked;
        }
    }

    /// The bytes of the longest text to mask.
    pub(crate) fn longest(&self) -> usize {
        self.masks.as_ref().map_or(0, Masks::longest)
    }

    /// Bytes of memory that it takes besides the settings, which a flow's transitions share.
    pub fn memory(&self) -> usize {
        let secrets = self.secrets.iter().map(|(name, secret)| name.len() + secret.len());
        secrets.sum::<usize>() + self.masks.as_ref().map_or(0, Masks::memory)
    }

    /// Returns true if there is a secret to mask.
    pub(crate) fn masks(&self) -> bool {
        self.masks.is_some()
    }
}

impl fmt::Debug for Provided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provided")
            .field("settings", &self.settings.len())
            .field("secrets", &self.secrets.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provided(secrets: &[(&str, &str)]) -> Provided {
        let secrets = secrets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Provided::new(HashMap::new(), secrets.collect())
    }

    #[test]
    fn secrets_are_masked_in_every_notation() {
        let provided = provided(&[("a", "o'hara\"7"), ("b", "o'hara"), ("none", "")]);
        for (text, masked) in [
            ("plain", "plain"),
            ("key o'hara\"7.", "key ***."),
            ("a1 = 'o''hara\"7'", "a1 = '***'"),
            (r#"{"a": "o'hara\"7"}"#, r#"{"a": "***"}"#),
            ("o'hara and o'hara", "*** and ***"),
        ] {
            assert_eq!(provided.mask(text), masked);
        }
        let bytes = provided.mask_bytes(b"\xffo'hara, o'hara!".to_vec());
        assert_eq!(bytes, b"\xff***, ***!");
        assert_eq!(provided.secret("b"), Some("o'hara"));
        assert_eq!(provided.secret("c"), None);
        let provided = provided.only_sent(["b".to_owned()].into());
        assert_eq!(provided.secret("b"), None);
        assert_eq!(provided.secret_to_send("b"), Some("o'hara"));
        assert_eq!(provided.secret_to_send("c"), None);
        assert_eq!(provided.mask("by o'hara"), "by ***");
        assert!(!format!("{provided:?}").contains("hara"));
    }
}
