//! The types of expressions, and which of them Postgres takes for which.

use std::fmt;

use wedflow_model::{AttributeType, ScalarType};

macro_rules! bases {
    ($($base:ident $category:literal $name:literal $shown:literal,)*) => {
        /// A type without its modifiers: that of a value, or of an array's elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Base { $($base,)* }

        /// Each type with Postgres's letter of its category, its name in the catalog, and as people write it.
        const BASES: &[(Base, char, &str, &str)] = &[$((Base::$base, $category, $name, $shown),)*];
    };
}

// Unknown is a constant in quotes, or NULL: whatever its place asks for. Those that begin with Any are what signatures
// say instead of a type.
bases! {
    Unknown 'X' "unknown" "unknown",
    Bool 'B' "bool" "boolean",
    Int2 'N' "int2" "smallint",
    Int4 'N' "int4" "integer",
    Int8 'N' "int8" "bigint",
    Numeric 'N' "numeric" "numeric",
    Float4 'N' "float4" "real",
    Float8 'N' "float8" "double precision",
    Text 'S' "text" "text",
    Varchar 'S' "varchar" "varchar",
    Bpchar 'S' "bpchar" "character",
    Date 'D' "date" "date",
    Time 'D' "time" "time",
    Timetz 'D' "timetz" "timetz",
    Timestamp 'D' "timestamp" "timestamp",
    Timestamptz 'D' "timestamptz" "timestamptz",
    Interval 'T' "interval" "interval",
    Uuid 'U' "uuid" "uuid",
    Jsonb 'U' "jsonb" "jsonb",
    Json 'U' "json" "json",
    Bytea 'U' "bytea" "bytea",
    Jsonpath 'U' "jsonpath" "jsonpath",
    Int4range 'R' "int4range" "int4range",
    Int8range 'R' "int8range" "int8range",
    Numrange 'R' "numrange" "numrange",
    Daterange 'R' "daterange" "daterange",
    Tsrange 'R' "tsrange" "tsrange",
    Tstzrange 'R' "tstzrange" "tstzrange",
    Any 'P' "any" "any",
    AnyArray 'P' "anyarray" "anyarray",
    AnyElement 'P' "anyelement" "anyelement",
    AnyNonArray 'P' "anynonarray" "anynonarray",
    AnyCompatible 'P' "anycompatible" "anycompatible",
    AnyCompatibleArray 'P' "anycompatiblearray" "anycompatiblearray",
    AnyCompatibleNonArray 'P' "anycompatiblenonarray" "anycompatiblenonarray",
    AnyRange 'P' "anyrange" "anyrange",
}

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    pub(crate) base: Base,
    pub(crate) array: bool,
}

/// Contexts of a conversion, in the order of what they allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Context {
    /// Conversion of an operand or argument.
    Implicit,
    /// Conversion to an attribute's new value.
    Assignment,
    /// Conversion by a cast.
    Explicit,
}

impl Kind {
    pub(crate) const UNKNOWN: Kind = Kind::one(Base::Unknown);
    pub(crate) const BOOL: Kind = Kind::one(Base::Bool);
    pub(crate) const TEXT: Kind = Kind::one(Base::Text);

    pub(crate) const fn one(base: Base) -> Kind {
        Kind { base, array: false }
    }

    pub(crate) const fn many(base: Base) -> Kind {
        Kind { base, array: true }
    }

    /// The type of this name in the catalog; arrays begin with an underscore.
    pub(crate) fn named(name: &str) -> Option<Kind> {
        let (array, name) = match name.strip_prefix('_') {
            Some(element) => (true, element),
            None => (false, name),
        };
        let (base, ..) = BASES.iter().find(|(_, _, known, _)| *known == name)?;
        Some(Kind { base: *base, array })
    }

    /// The name in the catalog.
    pub(crate) fn name(self) -> String {
        let (_, _, name, _) = BASES[self.base as usize];
        format!("{}{name}", if self.array { "_" } else { "" })
    }

    /// The type of an attribute's column.
    pub(crate) fn of(attribute: &AttributeType) -> Kind {
        let base = match attribute.scalar {
            ScalarType::Text | ScalarType::Enum(_) => Base::Text,
            ScalarType::Integer => Base::Int4,
            ScalarType::Bigint => Base::Int8,
            ScalarType::Numeric => Base::Numeric,
            ScalarType::Float => Base::Float8,
            ScalarType::Boolean => Base::Bool,
            ScalarType::Timestamptz => Base::Timestamptz,
            ScalarType::Date => Base::Date,
            ScalarType::Interval => Base::Interval,
            ScalarType::Uuid => Base::Uuid,
            ScalarType::Jsonb => Base::Jsonb,
        };
        Kind { base, array: attribute.array }
    }

    pub(crate) fn is_unknown(self) -> bool {
        self == Kind::UNKNOWN
    }

    pub(crate) fn element(self) -> Kind {
        Kind::one(self.base)
    }

    /// The type of a range's bounds; nothing when it is no range.
    pub(crate) fn bounds(self) -> Option<Kind> {
        let base = match self.base {
            _ if self.array => return None,
            Base::Int4range => Base::Int4,
            Base::Int8range => Base::Int8,
            Base::Numrange => Base::Numeric,
            Base::Daterange => Base::Date,
            Base::Tsrange => Base::Timestamp,
            Base::Tstzrange => Base::Timestamptz,
            _ => return None,
        };
        Some(Kind::one(base))
    }

    pub(crate) fn is_polymorphic(self) -> bool {
        self.base != Base::Any && BASES[self.base as usize].1 == 'P'
    }

    /// Postgres's categories of types, by its letters.
    pub(crate) fn category(self) -> char {
        match self.array {
            true => 'A',
            false => BASES[self.base as usize].1,
        }
    }

    /// The type of its category that Postgres prefers.
    pub(crate) fn is_preferred(self) -> bool {
        !self.array && matches!(self.base, Base::Bool | Base::Float8 | Base::Text | Base::Timestamptz | Base::Interval)
    }

    /// Returns true if Postgres converts this type to `to`. Polymorphic targets take any type of their form;
    /// [`crate::resolve`] checks that they agree with each other.
    pub(crate) fn becomes(self, to: Kind, context: Context) -> bool {
        use Base::{
            Any, AnyArray, AnyCompatible, AnyCompatibleArray, AnyCompatibleNonArray, AnyElement, AnyNonArray, AnyRange,
        };
        if self == to || self.is_unknown() {
            return true;
        }
        match to.base {
            Any | AnyElement | AnyCompatible => return true,
            AnyArray | AnyCompatibleArray => return self.array,
            AnyNonArray | AnyCompatibleNonArray => return !self.array,
            AnyRange => return self.bounds().is_some(),
            _ => {}
        }
        match (self.array, to.array) {
            (true, true) => self.element().becomes(to.element(), context),
            (true, false) => context > Context::Implicit && to.category() == 'S',
            (false, true) => context == Context::Explicit && self.category() == 'S',
            (false, false) => {
                cast(self.base, to.base).is_some_and(|least| context >= least)
                    || (context > Context::Implicit && to.category() == 'S')
                    || (context == Context::Explicit && self.category() == 'S')
            }
        }
    }
}

/// The least context in which the catalog casts one type to another.
fn cast(from: Base, to: Base) -> Option<Context> {
    use Base::{
        Bool, Bpchar, Date, Float4, Float8, Int2, Int4, Int8, Interval, Json, Jsonb, Numeric, Text, Time, Timestamp,
        Timestamptz, Timetz, Varchar,
    };
    use Context::{Assignment, Explicit, Implicit};
    Some(match (from, to) {
        (Int2, Int4 | Int8 | Numeric | Float4 | Float8)
        | (Int4, Int8 | Numeric | Float4 | Float8)
        | (Int8, Numeric | Float4 | Float8)
        | (Numeric, Float4 | Float8)
        | (Float4, Float8)
        | (Text | Varchar | Bpchar, Text | Varchar | Bpchar)
        | (Date, Timestamp | Timestamptz)
        | (Time, Interval | Timetz)
        | (Timestamp, Timestamptz) => Implicit,
        (Int4 | Int8, Int2)
        | (Int8, Int4)
        | (Numeric | Float4 | Float8, Int2 | Int4 | Int8)
        | (Float8, Float4)
        | (Float4 | Float8, Numeric)
        | (Bool, Text | Varchar | Bpchar)
        | (Interval | Timetz, Time)
        | (Json, Jsonb)
        | (Jsonb, Json)
        | (Timestamp, Date | Time)
        | (Timestamptz, Date | Time | Timetz | Timestamp) => Assignment,
        (Bool, Int4) | (Int4, Bool) => Explicit,
        (Jsonb, Bool | Int2 | Int4 | Int8 | Numeric | Float4 | Float8) => Explicit,
        _ => return None,
    })
}

/// The name as people write it.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, _, _, name) = BASES[self.base as usize];
        f.write_str(name)?;
        if self.array { f.write_str("[]") } else { Ok(()) }
    }
}
