//! The one permission matrix: which role may do what.

use std::fmt;
use std::str::FromStr;

use strum::{IntoStaticStr, VariantArray};

/// A user's role in a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Role {
    /// May do everything in the tenant.
    Admin,
    /// Makes flows and components, starts instances.
    Developer,
    /// Starts instances, looks after them and after which component runs.
    Operator,
    /// Takes part: starts instances and looks at them.
    Participant,
    /// Looks.
    Viewer,
}

/// The area that an action is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Area {
    /// Flows and their definitions.
    Flows,
    /// Instances, their states and history.
    Instances,
    /// Pending jobs; to write is what operators do: retry, cancel, pause, skip, set by hand.
    Jobs,
    /// Jobs in the hands of workers over HTTP: claimed, completed, failed.
    Workers,
    /// Components.
    Components,
    /// The choice of a component's active version.
    Activation,
    /// The user's own tokens.
    Tokens,
    /// Everybody's tokens.
    AllTokens,
    /// Users and their roles.
    Users,
    /// The tenant's settings.
    Settings,
    /// Quotas, and what is used of them.
    Usage,
    /// The audit log.
    Audit,
}

/// True if an action changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// The action only reads.
    Read,
    /// The action changes something.
    Write,
}

/// An action that somebody asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action {
    /// To what.
    pub area: Area,
    /// Changing it or not.
    pub verb: Verb,
}

impl Action {
    /// Looking at something.
    pub const fn read(area: Area) -> Self {
        Action { area, verb: Verb::Read }
    }

    /// Changing something.
    pub const fn write(area: Area) -> Self {
        Action { area, verb: Verb::Write }
    }
}

/// Levels of a permission: none, read, read and write.
const NO: u8 = 0;
const R: u8 = 1;
const RW: u8 = 2;

/// The matrix: an area in a line, a role in a column, in the order of [`Role::ALL`].
#[rustfmt::skip]
const MATRIX: [(Area, [u8; 5]); 12] = [
    //                 admin  developer  operator  participant  viewer
    (Area::Flows,      [RW,   RW,        R,        R,           R]),
    (Area::Instances,  [RW,   RW,        RW,       RW,          R]),
    (Area::Jobs,       [RW,   RW,        RW,       R,           R]),
    (Area::Workers,    [RW,   RW,        RW,       NO,          NO]),
    (Area::Components, [RW,   RW,        R,        NO,          R]),
    (Area::Activation, [RW,   RW,        RW,       NO,          R]),
    (Area::Tokens,     [RW,   RW,        RW,       RW,          RW]),
    (Area::AllTokens,  [RW,   NO,        NO,       NO,          NO]),
    (Area::Users,      [RW,   R,         R,        NO,          NO]),
    (Area::Settings,   [RW,   R,         R,        R,           R]),
    (Area::Usage,      [R,    R,         R,        NO,          R]),
    (Area::Audit,      [R,    NO,        NO,       NO,          NO]),
];

impl Role {
    /// All roles.
    pub const ALL: &[Role] = Role::VARIANTS;

    /// The role's name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether the role may do this.
    pub fn may(self, action: Action) -> bool {
        let row = MATRIX.iter().find(|(area, _)| *area == action.area);
        let column = Role::ALL.iter().position(|role| *role == self);
        let level = row.zip(column).map_or(NO, |((_, levels), column)| levels[column]);
        match action.verb {
            Verb::Read => level >= R,
            Verb::Write => level >= RW,
        }
    }
}

impl Area {
    /// All areas.
    pub const ALL: &[Area] = Area::VARIANTS;

    /// The area's name in scopes.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Role::ALL.iter().copied().find(|role| role.name() == text).ok_or_else(|| {
            format!(
                "there is no role \"{text}\"; there are {}",
                Role::ALL.iter().copied().map(Role::name).collect::<Vec<_>>().join(", ")
            )
        })
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.verb {
            Verb::Read => "read",
            Verb::Write => "write",
        };
        write!(f, "{}:{verb}", self.area.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole matrix once more, the other way round: what each role may do, in words.
    const SAID: [(Role, &str); 5] = [
        (
            Role::Admin,
            "flows:read flows:write instances:read instances:write jobs:read jobs:write workers:read \
             workers:write components:read components:write activation:read activation:write tokens:read tokens:write \
             all-tokens:read all-tokens:write users:read users:write settings:read settings:write usage:read \
             audit:read",
        ),
        (
            Role::Developer,
            "flows:read flows:write instances:read instances:write jobs:read jobs:write workers:read \
             workers:write components:read components:write activation:read activation:write tokens:read tokens:write \
             users:read settings:read usage:read",
        ),
        (
            Role::Operator,
            "flows:read instances:read instances:write jobs:read jobs:write workers:read workers:write \
             components:read activation:read activation:write tokens:read tokens:write users:read settings:read \
             usage:read",
        ),
        (
            Role::Participant,
            "flows:read instances:read instances:write jobs:read tokens:read tokens:write settings:read",
        ),
        (
            Role::Viewer,
            "flows:read instances:read jobs:read components:read activation:read tokens:read tokens:write \
             settings:read usage:read",
        ),
    ];

    #[test]
    fn each_role_may_do_what_is_said_and_nothing_else() {
        for (role, said) in SAID {
            let mut may = Vec::new();
            for &area in Area::ALL {
                for action in [Action::read(area), Action::write(area)] {
                    if role.may(action) {
                        may.push(action.to_string());
                    }
                }
            }
            assert_eq!(may.join(" "), said, "{role}");
        }
    }

    #[test]
    fn every_area_stands_in_the_matrix_once() {
        let areas = MATRIX.map(|(area, _)| area);
        assert_eq!(areas, Area::ALL);
    }

    #[test]
    fn names_are_read_back() {
        for &role in Role::ALL {
            assert_eq!(role.name().parse(), Ok(role));
        }
        let error = "root".parse::<Role>().expect_err("no role");
        assert!(error.contains("admin, developer"), "{error}");
    }
}
