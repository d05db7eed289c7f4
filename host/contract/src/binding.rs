//! Binding of a transition's declaration to a flow: names become positions, once.

use std::fmt;

use serde::{Deserialize, Serialize};
use wedflow_model::AttributeType;

use crate::{Declaration, DeclaredAttribute, DeclaredKind};

/// An attribute of a flow as a bound transition uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundAttribute {
    /// The name in the flow.
    pub name: String,
    /// The position among the flow's attributes, from 0.
    pub position: usize,
    /// The type in the flow.
    pub kind: AttributeType,
}

/// A transition resolved against one version of a flow's attributes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    transition: String,
    reads: Vec<BoundAttribute>,
    writes: Option<Vec<BoundAttribute>>,
    /// Places in `reads` in the order of the flow's attributes, which is that of a payload's keys: they are
    /// found by walking along.
    by_position: Vec<usize>,
    /// Places in `reads` by name, each with its place in `by_position`.
    by_name: Vec<(usize, usize)>,
}

impl Binding {
    /// The transition's name.
    pub fn transition(&self) -> &str {
        &self.transition
    }

    /// The attributes it is handed, in order.
    pub fn reads(&self) -> &[BoundAttribute] {
        &self.reads
    }

    /// The attributes it may set, by the position that an assignment names; none when it may only
    /// return a SET clause.
    pub fn writes(&self) -> Option<&[BoundAttribute]> {
        self.writes.as_deref()
    }

    /// Returns where `key` stands in [`Binding::reads`], if anywhere. `cursor` begins at 0 and is carried
    /// from key to key: as long as the keys come in the order of the flow's attributes, each is found at once;
    /// in any other order, by binary search.
    pub fn position(&self, key: &str, cursor: &mut usize) -> Option<usize> {
        if let Some(&at) = self.by_position.get(*cursor)
            && self.reads[at].name == key
        {
            *cursor += 1;
            return Some(at);
        }
        let found = self.by_name.binary_search_by(|&(at, _)| self.reads[at].name.as_str().cmp(key)).ok()?;
        let (at, place) = self.by_name[found];
        *cursor = place + 1;
        Some(at)
    }
}

/// An attribute that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// `reads` or `writes`.
    pub list: &'static str,
    /// The attribute's name.
    pub attribute: String,
    /// The type that the transition declares.
    pub declared: DeclaredKind,
    /// The flow's type; none when the flow has no such attribute.
    pub actual: Option<AttributeType>,
    /// The name in the flow that differs in case only, where there is no exact one.
    pub similar: Option<String>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfit { list, attribute, declared, actual, similar } = self;
        match (actual, similar) {
            (Some(actual), _) => write!(f, "it {list} `{attribute}` as {declared}, which is {actual} in the flow"),
            (None, Some(similar)) => {
                write!(f, "it {list} `{attribute}` ({declared}), which the flow calls `{similar}`")
            }
            (None, None) => write!(f, "it {list} `{attribute}` ({declared}), which the flow does not have"),
        }
    }
}

/// A transition that does not fit a flow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("transition `{transition}` does not fit the flow: {}", list(.misfits))]
pub struct BindError {
    /// The transition.
    pub transition: String,
    /// Every attribute that does not fit; at least one.
    pub misfits: Vec<Misfit>,
}

fn list(misfits: &[Misfit]) -> String {
    let mut texts: Vec<String> = misfits.iter().take(10).map(ToString::to_string).collect();
    if misfits.len() > texts.len() {
        texts.push(format!("and {} more", misfits.len() - texts.len()));
    }
    texts.join("; ")
}

/// Resolves a transition's declaration against a flow's attributes, in the flow's order.
///
/// # Errors
/// [`BindError`] with every attribute that the flow lacks or has with another type.
pub fn bind(declaration: &Declaration, attributes: &[(String, AttributeType)]) -> Result<Binding, BindError> {
    let mut misfits = Vec::new();
    let mut resolve = |list: &'static str, declared: &[DeclaredAttribute]| -> Vec<BoundAttribute> {
        let mut bound = Vec::with_capacity(declared.len());
        for attribute in declared {
            let position = attributes.iter().position(|(name, _)| *name == attribute.name);
            match position {
                Some(position) if attribute.kind.accepts(&attributes[position].1) => {
                    bound.push(bound_at(position, attributes));
                }
                _ => misfits.push(Misfit {
                    list,
                    attribute: attribute.name.clone(),
                    declared: attribute.kind.clone(),
                    actual: position.map(|position| attributes[position].1.clone()),
                    similar: attributes
                        .iter()
                        .map(|(name, _)| name)
                        .find(|name| name.to_lowercase() == attribute.name.to_lowercase())
                        .cloned(),
                }),
            }
        }
        bound
    };
    let reads = match &declaration.reads {
        Some(declared) => resolve("reads", declared),
        None => (0..attributes.len()).map(|position| bound_at(position, attributes)).collect(),
    };
    let writes = declaration.writes.as_deref().map(|declared| resolve("writes", declared));
    if !misfits.is_empty() {
        return Err(BindError { transition: declaration.transition.clone(), misfits });
    }
    let mut by_position: Vec<usize> = (0..reads.len()).collect();
    by_position.sort_by_key(|&at| reads[at].position);
    let mut by_name: Vec<(usize, usize)> = (by_position.iter().enumerate()).map(|(place, &at)| (at, place)).collect();
    by_name.sort_by(|&(a, _), &(b, _)| reads[a].name.cmp(&reads[b].name));
    Ok(Binding { transition: declaration.transition.clone(), reads, writes, by_position, by_name })
}

fn bound_at(position: usize, attributes: &[(String, AttributeType)]) -> BoundAttribute {
    let (name, kind) = &attributes[position];
    BoundAttribute { name: name.clone(), position, kind: kind.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(attributes: &[(&str, &str)]) -> Vec<(String, AttributeType)> {
        attributes.iter().map(|(name, kind)| ((*name).into(), kind.parse().expect("type"))).collect()
    }

    fn declared(attributes: &[(&str, &str)]) -> Option<Vec<DeclaredAttribute>> {
        Some(
            attributes
                .iter()
                .map(|(name, kind)| DeclaredAttribute { name: (*name).into(), kind: kind.parse().expect("kind") })
                .collect(),
        )
    }

    #[test]
    fn names_become_positions() {
        let flow = flow(&[("bb", "text"), ("a", "integer"), ("ccc", "jsonb")]);
        let declaration = Declaration {
            transition: "t".into(),
            reads: declared(&[("ccc", "any"), ("a", "integer")]),
            writes: declared(&[("bb", "text")]),
            ..Declaration::default()
        };
        let binding = bind(&declaration, &flow).expect("fits");
        let positions: Vec<usize> = binding.reads().iter().map(|read| read.position).collect();
        assert_eq!(positions, [2, 1]);
        assert_eq!(binding.writes().expect("writes")[0].position, 0);

        // In the flow's order, in that of a jsonb, backwards; with a key that nobody reads.
        for keys in [["bb", "a", "ccc"], ["a", "bb", "ccc"], ["ccc", "bb", "a"]] {
            let mut cursor = 0;
            let found: Vec<_> = keys.iter().map(|key| binding.position(key, &mut cursor)).collect();
            for (key, found) in keys.iter().zip(found) {
                let expected = binding.reads().iter().position(|read| read.name == *key);
                assert_eq!(found, expected, "{key}");
            }
        }
    }

    #[test]
    fn nothing_declared_reads_everything() {
        let flow = flow(&[("b", "text"), ("a", "integer")]);
        let declaration = Declaration { transition: "t".into(), reads: None, writes: None, ..Declaration::default() };
        let binding = bind(&declaration, &flow).expect("fits");
        let names: Vec<&str> = binding.reads().iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        assert_eq!(binding.writes(), None);
    }

    #[test]
    fn every_misfit_is_named() {
        let flow = flow(&[("Total", "numeric"), ("state", "enum(new,paid)")]);
        let declaration = Declaration {
            transition: "t".into(),
            reads: declared(&[("total", "numeric"), ("state", "integer"), ("x", "any")]),
            writes: declared(&[("state", "text")]),
            ..Declaration::default()
        };
        let error = bind(&declaration, &flow).expect_err("does not fit");
        assert_eq!(
            error.to_string(),
            "transition `t` does not fit the flow: it reads `total` (numeric), which the flow \
             calls `Total`; it reads `state` as integer, which is enum(new,paid) in the flow; it \
             reads `x` (any), which the flow does not have"
        );
    }
}
