//! Scopes of a token, within its user's role.

use std::fmt;
use std::str::FromStr;

use crate::{Action, Area, Verb};

/// A permission of a token: an area or all of them, to read or to write (which includes to read).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// The area; every one when absent.
    area: Option<Area>,
    verb: Verb,
}

/// A text that is no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no scope")]
pub struct ScopeError(String);

impl ScopeError {
    /// Returns an example of a scope.
    pub fn hint() -> String {
        format!(
            "Use read or write for everything that the role may, or AREA:read or AREA:write with one of {}.",
            Area::ALL.iter().copied().map(Area::name).collect::<Vec<_>>().join(", ")
        )
    }
}

impl Scope {
    /// Scope of all that the role may do.
    pub const ALL: Scope = Scope { area: None, verb: Verb::Write };

    /// Returns whether it allows this.
    pub fn allows(self, action: Action) -> bool {
        self.area.is_none_or(|area| area == action.area) && self.verb >= action.verb
    }

    /// Returns whether it allows nothing that `other` does not.
    pub fn is_within(self, other: Scope) -> bool {
        (other.area.is_none() || other.area == self.area) && other.verb >= self.verb
    }
}

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        let wrong = || ScopeError(text.chars().take(80).collect());
        let (area, verb) = match text.split_once(':') {
            None => (None, text),
            Some((name, verb)) => {
                let area = Area::ALL.iter().copied().find(|area| area.name() == name);
                (Some(area.ok_or_else(wrong)?), verb)
            }
        };
        let verb = match verb {
            "read" => Verb::Read,
            "write" => Verb::Write,
            _ => return Err(wrong()),
        };
        Ok(Scope { area, verb })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(area) = self.area {
            write!(f, "{}:", area.name())?;
        }
        f.write_str(match self.verb {
            Verb::Read => "read",
            Verb::Write => "write",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(text: &str) -> Scope {
        text.parse().expect("a scope")
    }

    #[test]
    fn scopes_are_read_back() {
        for text in ["read", "write", "flows:read", "all-tokens:write"] {
            assert_eq!(scope(text).to_string(), text);
        }
        for text in ["", ":", "all", "flows", "flows:", "flow:read", "Read", "read "] {
            assert!(text.parse::<Scope>().is_err(), "{text}");
        }
    }

    #[test]
    fn writing_includes_reading_and_nothing_of_other_areas() {
        let flows = scope("flows:write");
        assert!(flows.allows(Action::read(Area::Flows)));
        assert!(flows.allows(Action::write(Area::Flows)));
        assert!(!flows.allows(Action::read(Area::Jobs)));
        assert!(!scope("read").allows(Action::write(Area::Flows)));
        assert!(scope("read").allows(Action::read(Area::Audit)));
    }

    #[test]
    fn within_means_that_nothing_more_is_allowed() {
        let all: Vec<Scope> = Area::ALL
            .iter()
            .copied()
            .map(Some)
            .chain([None])
            .flat_map(|area| [Verb::Read, Verb::Write].map(|verb| Scope { area, verb }))
            .collect();
        let actions: Vec<Action> =
            Area::ALL.iter().copied().flat_map(|area| [Action::read(area), Action::write(area)]).collect();
        for one in &all {
            for other in &all {
                let nothing_more = actions.iter().all(|action| !one.allows(*action) || other.allows(*action));
                assert_eq!(one.is_within(*other), nothing_more, "{one} within {other}");
            }
        }
    }
}
