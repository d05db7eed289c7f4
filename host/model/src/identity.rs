//! Identities: one type for each kind of number that names a thing, so that none is taken for another.
//!
//! Each is transparent: JSON and the database see the number alone. With the feature `sqlx`, each is a parameter
//! and a column of Postgres.

use serde::{Deserialize, Serialize};

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident($number:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "sqlx", derive(sqlx::Type), sqlx(transparent))]
        pub struct $name($number);

        impl $name {
            /// Takes `number` for the identity.
            #[must_use]
            pub const fn new(number: $number) -> Self {
                $name(number)
            }

            /// Returns the number.
            #[must_use]
            pub const fn get(self) -> $number {
                self.0
            }
        }

        impl From<$number> for $name {
            fn from(number: $number) -> Self {
                $name(number)
            }
        }

        impl From<$name> for $number {
            fn from(identity: $name) -> Self {
                identity.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map($name)
            }
        }
    };
}

identity! {
    /// A tenant, in one database.
    TenantId(i32)
}

impl TenantId {
    /// Owner of what no tenant owns: calls of the host itself, and flows that are not known.
    pub const NOBODY: Self = TenantId(0);
}

identity! {
    /// A flow, in one database.
    FlowId(i32)
}
identity! {
    /// An instance, within its flow: the papers' `wid`.
    Wid(i32)
}
identity! {
    /// A trigger, in one database: the papers' `tgid`.
    TriggerId(i32)
}
identity! {
    /// A host while it is entered, in one database.
    HostId(i32)
}
identity! {
    /// A version of a component, in one database.
    ComponentId(i32)
}
identity! {
    /// Number of one claim of one job: a commit is accepted only with the present one.
    LeaseToken(i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_transparent_in_json_and_text() {
        let wid: Wid = "17".parse().expect("a number");
        assert_eq!(wid, Wid::new(17));
        assert_eq!(wid.to_string(), "17");
        assert_eq!(serde_json::to_string(&wid).expect("JSON"), "17");
        assert_eq!(serde_json::from_str::<Wid>("17").expect("a number"), wid);
    }
}
