//! The manifest that a component declares when it is uploaded.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wedflow_model::{AttributeType, ValueError};

/// Transitions that one component may declare.
pub const MAX_DECLARATIONS: usize = 256;

/// Attributes that one transition may declare to read, and to write.
pub const MAX_ATTRIBUTES: usize = 1_600;

/// Bytes of a declared name.
pub const MAX_NAME_BYTES: usize = 255;

/// Bytes of a description.
pub const MAX_DESCRIPTION_BYTES: usize = 4_096;

/// Bytes of a suggested condition: as many as `wed_trig.cpred` takes.
pub const MAX_CONDITION_BYTES: usize = 10_000;

/// The longest time limit that can be suggested.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// A component's manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name under which it wants to be stored; empty when it does not care.
    pub name: String,
    /// The SDK it was made with and its version; empty when it was made without.
    pub sdk: String,
    /// The declared transitions.
    pub transitions: Vec<Declaration>,
}

impl Manifest {
    /// The transition of that name.
    pub fn transition(&self, name: &str) -> Option<&Declaration> {
        self.transitions.iter().find(|declaration| declaration.transition == name)
    }
}

/// A WED-transition that a component can perform.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// The name, as in `wed_trig.trname`.
    pub transition: String,
    /// The purpose, in a sentence; may be empty.
    pub description: String,
    /// The attributes it reads, in the order in which it is handed them; none means every attribute
    /// of the flow, in the flow's order.
    pub reads: Option<Vec<DeclaredAttribute>>,
    /// The attributes it may set; none means that it may return a SET clause over any attribute.
    pub writes: Option<Vec<DeclaredAttribute>>,
    /// A WED-condition that its author suggests: a predicate, not yet checked as SQL.
    pub condition: Option<String>,
    /// The time limit that its author suggests.
    pub timeout: Option<Duration>,
    /// The most fuel that a call needs, in its author's opinion; a lower limit than the host's holds.
    pub fuel: Option<u64>,
    /// The most bytes of memory that a call needs, in its author's opinion; a lower limit than the
    /// host's holds.
    pub memory: Option<u64>,
}

/// An attribute that a transition declares to read or to write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredAttribute {
    /// The name in the flow.
    pub name: String,
    /// The type it must have there.
    pub kind: DeclaredKind,
}

/// The type that an attribute must have in a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeclaredKind {
    /// Whatever the flow has (`any`).
    Any,
    /// Exactly this type; `text` also accepts an `enum`, which travels as text.
    Type(AttributeType),
}

impl DeclaredKind {
    /// Returns whether an attribute of the flow fits.
    pub fn accepts(&self, actual: &AttributeType) -> bool {
        use wedflow_model::ScalarType::{Enum, Text};
        match self {
            DeclaredKind::Any => true,
            DeclaredKind::Type(declared) => {
                declared == actual
                    || (declared.array == actual.array && matches!((&declared.scalar, &actual.scalar), (Text, Enum(_))))
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

/// The reason why a manifest is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// The manifest declares no transition.
    #[error("`describe` returned no transition; declare at least one")]
    Nothing,
    /// The manifest declares too many transitions, or too many attributes for one.
    #[error("`describe` returned {found} {what} where {limit} are allowed")]
    TooMany {
        /// The things that are too many.
        what: &'static str,
        /// The number found.
        found: usize,
        /// The number allowed.
        limit: usize,
    },
    /// A name is empty, too long, or holds a control character.
    #[error(
        "`describe` returned the {what} name {name:?}; a name has 1 to {MAX_NAME_BYTES} bytes and \
         no control characters"
    )]
    Name {
        /// The kind of thing that has the name.
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
    /// A suggested condition is empty or too long.
    #[error(
        "the condition of transition `{transition}` has {found} bytes where 1 to \
         {MAX_CONDITION_BYTES} are allowed; leave it out to suggest none"
    )]
    Condition {
        /// The transition.
        transition: String,
        /// The condition's size in bytes.
        found: usize,
    },
    /// A suggested limit is zero, or longer than a year.
    #[error(
        "transition `{transition}` suggests a {limit} of {found}, which is {wrong}; leave it out to \
         suggest none"
    )]
    Limit {
        /// The transition.
        transition: String,
        /// `timeout`, `fuel` or `memory`.
        limit: &'static str,
        /// The limit, with its unit.
        found: String,
        /// The reason.
        wrong: &'static str,
    },
    /// Two transitions of one name.
    #[error("`describe` returned the transition `{transition}` twice")]
    Duplicate {
        /// The transition.
        transition: String,
    },
    /// An attribute named twice in one list.
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

/// Checks what a component says of itself: names, sizes, limits, nothing twice. Whether a condition is
/// SQL, and one that is allowed, is not checked here.
///
/// # Errors
/// The first [`DeclarationError`] found.
pub fn check_manifest(manifest: &Manifest) -> Result<(), DeclarationError> {
    for (what, text) in [("component", &manifest.name), ("SDK", &manifest.sdk)] {
        // Both may be empty: nobody has to give one.
        if !text.is_empty() {
            check_name(what, text)?;
        }
    }
    let declarations = &manifest.transitions;
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
        if let Some(condition) = &declaration.condition
            && (condition.trim().is_empty() || condition.len() > MAX_CONDITION_BYTES)
        {
            return Err(DeclarationError::Condition { transition: transition.clone(), found: condition.len() });
        }
        check_limits(declaration)?;
        if !seen.insert(transition) {
            return Err(DeclarationError::Duplicate { transition: transition.clone() });
        }
        for (list, attributes) in [("reads", &declaration.reads), ("writes", &declaration.writes)] {
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

fn check_limits(declaration: &Declaration) -> Result<(), DeclarationError> {
    let refused = |limit, found: String, wrong| {
        Err(DeclarationError::Limit { transition: declaration.transition.clone(), limit, found, wrong })
    };
    match declaration.timeout {
        Some(Duration::ZERO) => return refused("timeout", "0 ms".into(), "no time at all"),
        Some(timeout) if timeout > MAX_TIMEOUT => {
            let found = format!("{} ms", timeout.as_millis());
            return refused("timeout", found, "longer than a year");
        }
        _ => {}
    }
    for (limit, value) in [("fuel", declaration.fuel), ("memory", declaration.memory)] {
        if value == Some(0) {
            return refused(limit, "0".into(), "nothing at all");
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
        return Err(DeclarationError::Name { what, name: name.chars().take(80).collect() });
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
                reads.iter().map(|name| DeclaredAttribute { name: (*name).into(), kind: DeclaredKind::Any }).collect(),
            ),
            ..Declaration::default()
        }
    }

    fn manifest(transitions: Vec<Declaration>) -> Manifest {
        Manifest { transitions, ..Manifest::default() }
    }

    #[test]
    fn declarations_are_checked_by_name() {
        let good = vec![declaration("a", &["x", "y"]), declaration("b", &["x"])];
        assert_eq!(check_manifest(&manifest(good)), Ok(()));
        for (bad, part) in [
            (vec![], "no transition"),
            (vec![declaration("", &[])], "transition name"),
            (vec![declaration("a\n", &[])], "control"),
            (vec![declaration("a", &[]), declaration("a", &[])], "`a` twice"),
            (vec![declaration("a", &["x", "x"])], "attribute `x` twice in its reads"),
        ] {
            let error = check_manifest(&manifest(bad)).expect_err(part);
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn names_and_suggestions_are_checked() {
        let full = Manifest {
            name: "orders".into(),
            sdk: "rust 0.1.0".into(),
            transitions: vec![Declaration {
                condition: Some("a1 = 'ready'".into()),
                timeout: Some(Duration::from_millis(1)),
                fuel: Some(1),
                memory: Some(1),
                ..declaration("a", &[])
            }],
        };
        assert_eq!(check_manifest(&full), Ok(()));
        let with = |change: &dyn Fn(&mut Manifest)| {
            let mut manifest = full.clone();
            change(&mut manifest);
            check_manifest(&manifest).map_err(|error| error.to_string()).expect_err("refused")
        };
        for (text, part) in [
            (with(&|m| m.name = "a\nb".into()), "component name"),
            (with(&|m| m.sdk = "x".repeat(256)), "SDK name"),
            (with(&|m| m.transitions[0].condition = Some("x".repeat(10_001))), "10001 bytes"),
            (with(&|m| m.transitions[0].condition = Some(" ".into())), "condition of transition `a`"),
            (with(&|m| m.transitions[0].timeout = Some(Duration::ZERO)), "timeout of 0 ms"),
            (with(&|m| m.transitions[0].timeout = Some(Duration::from_millis(u64::MAX))), "longer than a year"),
            (with(&|m| m.transitions[0].fuel = Some(0)), "fuel of 0"),
            (with(&|m| m.transitions[0].memory = Some(0)), "memory of 0"),
        ] {
            assert!(text.contains(part), "{text}");
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
