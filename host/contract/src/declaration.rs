//! What a component says of itself when it is uploaded.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use wedflow_model::{AttributeType, ValueError};

/// Transitions that one component may declare.
pub const MAX_DECLARATIONS: usize = 256;

/// Attributes that one transition may declare to read, and to write.
pub const MAX_ATTRIBUTES: usize = 1_600;

/// Bytes of a declared name.
pub const MAX_NAME_BYTES: usize = 255;

/// Bytes of a description.
pub const MAX_DESCRIPTION_BYTES: usize = 4_096;

/// One WED-transition that a component can perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Its name, as in `wed_trig.trname`.
    pub transition: String,
    /// What it is for, in a sentence; may be empty.
    pub description: String,
    /// The attributes it reads, in the order in which it is handed them; none means every attribute
    /// of the flow, in the flow's order.
    pub reads: Option<Vec<DeclaredAttribute>>,
    /// The attributes it may set; none means that it may return a SET clause over any attribute.
    pub writes: Option<Vec<DeclaredAttribute>>,
}

/// An attribute that a transition declares to read or to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredAttribute {
    /// Its name in the flow.
    pub name: String,
    /// The type it must have there.
    pub kind: DeclaredKind,
}

/// The type that an attribute must have in a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeclaredKind {
    /// Whatever the flow has (`any`).
    Any,
    /// This one. `text` also accepts an `enum`, which travels as text.
    Type(AttributeType),
}

impl DeclaredKind {
    /// Whether an attribute of the flow fits.
    pub fn accepts(&self, actual: &AttributeType) -> bool {
        use wedflow_model::ScalarType::{Enum, Text};
        match self {
            DeclaredKind::Any => true,
            DeclaredKind::Type(declared) => {
                declared == actual
                    || (declared.array == actual.array
                        && matches!((&declared.scalar, &actual.scalar), (Text, Enum(_))))
            }
        }
    }
}

impl fmt::Display for DeclaredKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeclaredKind::Any => f.write_str("any"),
            DeclaredKind::Type(kind) => kind.fmt(f),
        }
    }
}

impl FromStr for DeclaredKind {
    type Err = ValueError;

    /// Reads `any` or a type's name as in `wed_attr.atype`.
    ///
    /// # Errors
    /// [`ValueError::UnknownType`] for any other text.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        if text.trim().eq_ignore_ascii_case("any") {
            Ok(DeclaredKind::Any)
        } else {
            text.parse().map(DeclaredKind::Type)
        }
    }
}

/// What is wrong with what a component says of itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// It declares no transition.
    #[error("`describe` returned no transition; declare at least one")]
    Nothing,
    /// It declares too many transitions, or too many attributes for one.
    #[error("`describe` returned {found} {what} where {limit} are allowed")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// A name is empty, too long, or holds a control character.
    #[error(
        "`describe` returned the {what} name {name:?}; a name has 1 to {MAX_NAME_BYTES} bytes and \
         no control characters"
    )]
    Name {
        /// What the name is of.
        what: &'static str,
        /// The name, shortened.
        name: String,
    },
    /// A description is too long.
    #[error(
        "the description of transition `{transition}` has {found} bytes where \
         {MAX_DESCRIPTION_BYTES} are allowed"
    )]
    Description {
        /// The transition.
        transition: String,
        /// The description's size in bytes.
        found: usize,
    },
    /// Two transitions of one name.
    #[error("`describe` returned the transition `{transition}` twice")]
    Duplicate {
        /// The transition.
        transition: String,
    },
    /// One attribute named twice in one list.
    #[error("transition `{transition}` names the attribute `{attribute}` twice in its {list}")]
    DuplicateAttribute {
        /// The transition.
        transition: String,
        /// The attribute.
        attribute: String,
        /// `reads` or `writes`.
        list: &'static str,
    },
    /// An attribute of an unknown type.
    #[error("transition `{transition}` declares the attribute `{attribute}` wrongly: {error}")]
    Kind {
        /// The transition.
        transition: String,
        /// The attribute.
        attribute: String,
        /// Why the type cannot be read.
        error: ValueError,
    },
}

/// Checks what a component says of itself: names, sizes, nothing twice.
///
/// # Errors
/// The first [`DeclarationError`] found.
pub fn check_declarations(declarations: &[Declaration]) -> Result<(), DeclarationError> {
    if declarations.is_empty() {
        return Err(DeclarationError::Nothing);
    }
    at_most("transitions", declarations.len(), MAX_DECLARATIONS)?;
    let mut seen = HashSet::new();
    for declaration in declarations {
        let transition = &declaration.transition;
        check_name("transition", transition)?;
        if declaration.description.len() > MAX_DESCRIPTION_BYTES {
            return Err(DeclarationError::Description {
                transition: transition.clone(),
                found: declaration.description.len(),
            });
        }
        if !seen.insert(transition) {
            return Err(DeclarationError::Duplicate {
                transition: transition.clone(),
            });
        }
        for (list, attributes) in [
            ("reads", &declaration.reads),
            ("writes", &declaration.writes),
        ] {
            let attributes = attributes.as_deref().unwrap_or_default();
            at_most("attributes", attributes.len(), MAX_ATTRIBUTES)?;
            let mut seen = HashSet::new();
            for attribute in attributes {
                check_name("attribute", &attribute.name)?;
                if !seen.insert(&attribute.name) {
                    return Err(DeclarationError::DuplicateAttribute {
                        transition: transition.clone(),
                        attribute: attribute.name.clone(),
                        list,
                    });
                }
            }
        }
    }
    Ok(())
}

fn at_most(what: &'static str, found: usize, limit: usize) -> Result<(), DeclarationError> {
    if found > limit {
        return Err(DeclarationError::TooMany { what, found, limit });
    }
    Ok(())
}

fn check_name(what: &'static str, name: &str) -> Result<(), DeclarationError> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        return Err(DeclarationError::Name {
            what,
            name: name.chars().take(80).collect(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declaration(transition: &str, reads: &[&str]) -> Declaration {
        Declaration {
            transition: transition.into(),
            description: String::new(),
            reads: Some(
                reads
                    .iter()
                    .map(|name| DeclaredAttribute {
                        name: (*name).into(),
                        kind: DeclaredKind::Any,
                    })
                    .collect(),
            ),
            writes: None,
        }
    }

    #[test]
    fn declarations_are_checked_by_name() {
        let good = [declaration("a", &["x", "y"]), declaration("b", &["x"])];
        assert_eq!(check_declarations(&good), Ok(()));
        for (bad, part) in [
            (vec![], "no transition"),
            (vec![declaration("", &[])], "transition name"),
            (vec![declaration("a\n", &[])], "control"),
            (
                vec![declaration("a", &[]), declaration("a", &[])],
                "`a` twice",
            ),
            (
                vec![declaration("a", &["x", "x"])],
                "attribute `x` twice in its reads",
            ),
        ] {
            let error = check_declarations(&bad).expect_err(part);
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn any_and_text_accept_what_they_say() {
        let kind = |text: &str| text.parse::<DeclaredKind>().expect("kind");
        let actual = |text: &str| text.parse::<AttributeType>().expect("type");
        assert!(kind("any").accepts(&actual("numeric[]")));
        assert!(kind("text").accepts(&actual("enum(a,b)")));
        assert!(kind("text[]").accepts(&actual("enum(a,b)[]")));
        assert!(!kind("text").accepts(&actual("enum(a,b)[]")));
        assert!(!kind("enum(a,b)").accepts(&actual("text")));
        assert!(!kind("integer").accepts(&actual("bigint")));
        assert!("varchar".parse::<DeclaredKind>().is_err());
    }
}
