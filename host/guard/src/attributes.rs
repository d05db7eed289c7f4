//! The attributes a fragment may speak of.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use pg_query::protobuf::{KeywordKind, Token};
use wedflow_model::{AttributeDefinition, AttributeType};

/// The attributes of one flow: names and types, in the flow's order.
#[derive(Debug, Clone)]
pub struct FlowAttributes {
    list: Vec<Attribute>,
    by_name: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub(crate) name: Arc<str>,
    pub(crate) kind: AttributeType,
    /// Name as SQL writes it, quoted if needed.
    pub(crate) quoted: Arc<str>,
}

impl FlowAttributes {
    /// The attributes with these names and types. Of two with the same name the first counts.
    pub fn new<N: Into<String>>(attributes: impl IntoIterator<Item = (N, AttributeType)>) -> Self {
        let mut found = FlowAttributes { list: Vec::new(), by_name: HashMap::new() };
        for (name, kind) in attributes {
            let name = name.into();
            if !found.by_name.contains_key(&name) {
                found.by_name.insert(name.clone(), found.list.len());
                found.list.push(Attribute { quoted: quote(&name).into(), name: name.into(), kind });
            }
        }
        found
    }

    /// The attributes of a flow's definition.
    pub fn of(definitions: &[AttributeDefinition]) -> Self {
        Self::new(definitions.iter().map(|attribute| (attribute.name.clone(), attribute.kind.clone())))
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|attribute| &*attribute.name)
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn get(&self, index: usize) -> &Attribute {
        &self.list[index]
    }

    /// Suggests an attribute where `name` is none: the one that may have been meant, or all of them.
    pub(crate) fn suggest(&self, name: &str) -> String {
        let near = self
            .names()
            .map(|known| (strsim::levenshtein(known, name), known))
            .filter(|(distance, known)| *distance <= 2 && *distance < known.chars().count())
            .min();
        if let Some((_, known)) = near {
            return format!("did you mean `{known}`? Text stands in single quotes: '{name}'");
        }
        let mut names: Vec<&str> = self.names().take(12).collect();
        if self.list.len() > names.len() {
            names.push("…");
        }
        if names.is_empty() {
            return "the flow has no attributes".to_owned();
        }
        format!("the attributes are {}; text stands in single quotes", names.join(", "))
    }
}

/// Writes a name as SQL does. Only what the lexer takes for a plain name goes without quotes.
fn quote(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && pg_query::scan_tokens(name).is_ok_and(|tokens| {
            matches!(tokens.as_slice(), [token]
                if token.token == Token::Ident as i32
                && token.keyword_kind == KeywordKind::NoKeyword as i32)
        });
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_need_be() {
        for (name, quoted) in [
            ("a1", "a1"),
            ("_x", "_x"),
            ("Order", "\"Order\""),
            ("order", "\"order\""),
            ("timestamp", "\"timestamp\""),
            ("name", "\"name\""),
            ("größe", "\"größe\""),
            ("a\"b", "\"a\"\"b\""),
            ("1a", "\"1a\""),
        ] {
            assert_eq!(quote(name), quoted);
        }
    }
}
