//! Conversion between Rust values and WED-attributes.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::bindings::wed::flow::values;
use crate::{Date, Failure, Interval, Json, Numeric, Timestamp, Uuid};

pub use values::{Scalar, Value};

impl Value {
    /// SQL null.
    pub const NULL: Value = Value::Scalar(Scalar::Null);

    /// Returns whether it is null. An array of nulls is not.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Scalar(Scalar::Null))
    }
}

impl Scalar {
    /// The name of its type as in `wed_attr.atype`; `null` for null.
    pub fn kind(&self) -> &'static str {
        match self {
            Scalar::Null => "null",
            Scalar::Text(_) => "text",
            Scalar::Integer(_) => "integer",
            Scalar::Bigint(_) => "bigint",
            Scalar::Numeric(_) => "numeric",
            Scalar::Float(_) => "float",
            Scalar::Boolean(_) => "boolean",
            Scalar::Timestamptz(_) => "timestamptz",
            Scalar::Date(_) => "date",
            Scalar::Interval(_) => "interval",
            Scalar::Uuid(_) => "uuid",
            Scalar::Jsonb(_) => "jsonb",
        }
    }
}

/// SQL null, to be assigned: `set! { a2 = Null }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Null;

/// A value that does not fit the Rust type it is read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The kind that was expected.
    pub expected: &'static str,
    /// The kind that was found; `null` for null.
    pub found: &'static str,
}

impl Mismatch {
    /// Says it of an attribute.
    pub fn of(self, attribute: &str) -> Failure {
        let Mismatch { expected, found } = self;
        Failure::fatal(match found {
            "null" => format!(
                "attribute `{attribute}` is null and is read as {expected}; make the field an Option if it may be null"
            ),
            _ => format!("attribute `{attribute}` holds {found} and is read as {expected}"),
        })
    }
}

/// A type that can be an element of an array, or an attribute by itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a WED-attribute",
    label = "no attribute type",
    note = "use String, i32, i64, f64, bool, Numeric, Timestamp, Date, Interval, Uuid or Json, an Option or a Vec \
     of one, or Value"
)]
pub trait Element: Sized {
    /// The type's name as in `wed_attr.atype`.
    const KIND: &'static str;
    /// The name of an array of it.
    const LIST_KIND: &'static str;

    /// Reads it.
    ///
    /// # Errors
    /// [`Mismatch`] when the scalar is null or of another kind.
    fn from_scalar(scalar: Scalar) -> Result<Self, Mismatch>;

    /// Makes a scalar of it.
    fn into_scalar(self) -> Scalar;
}

/// A type that a field of a state can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a WED-attribute",
    label = "no attribute type",
    note = "use String, i32, i64, f64, bool, Numeric, Timestamp, Date, Interval, Uuid or Json, an Option or a Vec \
     of one, or Value"
)]
pub trait Attribute: Sized {
    /// The type's name as in `wed_attr.atype`.
    const KIND: &'static str;

    /// Reads it.
    ///
    /// # Errors
    /// [`Mismatch`] when the value is null or of another kind.
    fn from_value(value: Value) -> Result<Self, Mismatch>;

    /// Makes a value of it.
    fn into_value(self) -> Value;
}

macro_rules! elements {
    ($($type:ty: $kind:literal, $scalar:ident($inner:ident) => $read:expr, $write:expr;)*) => {$(
        impl Element for $type {
            const KIND: &'static str = $kind;
            const LIST_KIND: &'static str = concat!($kind, "[]");

            fn from_scalar(scalar: Scalar) -> Result<Self, Mismatch> {
                match scalar {
                    Scalar::$scalar($inner) => Ok($read),
                    other => Err(Mismatch { expected: $kind, found: other.kind() }),
                }
            }

            fn into_scalar(self) -> Scalar {
                let $inner = self;
                Scalar::$scalar($write)
            }
        }
    )*};
}

elements! {
    String: "text", Text(value) => value, value;
    i32: "integer", Integer(value) => value, value;
    i64: "bigint", Bigint(value) => value, value;
    f64: "float", Float(value) => value, value;
    bool: "boolean", Boolean(value) => value, value;
    Numeric: "numeric", Numeric(value) => Numeric::from_server(value), value.into_string();
    Timestamp: "timestamptz", Timestamptz(value) => Timestamp::from_micros(value), value.as_micros();
    Date: "date", Date(value) => Date::from_days(value), value.as_days();
    Interval: "interval", Interval(value) => Interval::from_server(value), value.into_string();
    Uuid: "uuid", Uuid(value) => Uuid::from_server(value), value.into_string();
    Json: "jsonb", Jsonb(value) => Json::from_server(value), value.into_string();
}

impl<T: Element> Element for Option<T> {
    const KIND: &'static str = T::KIND;
    const LIST_KIND: &'static str = T::LIST_KIND;

    fn from_scalar(scalar: Scalar) -> Result<Self, Mismatch> {
        match scalar {
            Scalar::Null => Ok(None),
            other => T::from_scalar(other).map(Some),
        }
    }

    fn into_scalar(self) -> Scalar {
        self.map_or(Scalar::Null, T::into_scalar)
    }
}

impl<T: Element> Attribute for T {
    const KIND: &'static str = T::KIND;

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Scalar(scalar) => T::from_scalar(scalar),
            Value::List(_) => Err(Mismatch { expected: T::KIND, found: "an array" }),
        }
    }

    fn into_value(self) -> Value {
        Value::Scalar(self.into_scalar())
    }
}

impl<T: Element> Attribute for Vec<T> {
    const KIND: &'static str = T::LIST_KIND;

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::List(elements) => elements.into_iter().map(T::from_scalar).collect(),
            Value::Scalar(scalar) => Err(Mismatch { expected: T::LIST_KIND, found: scalar.kind() }),
        }
    }

    fn into_value(self) -> Value {
        Value::List(self.into_iter().map(T::into_scalar).collect())
    }
}

impl<T: Element> Attribute for Option<Vec<T>> {
    const KIND: &'static str = T::LIST_KIND;

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        if value.is_null() { Ok(None) } else { Vec::from_value(value).map(Some) }
    }

    fn into_value(self) -> Value {
        self.map_or(Value::NULL, Vec::into_value)
    }
}

/// Whatever the flow has: the attribute's type is not checked when the component is bound.
impl Attribute for Value {
    const KIND: &'static str = "any";

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        Ok(value)
    }

    fn into_value(self) -> Value {
        self
    }
}

/// Fits a value to the type that the transition declares for the attribute: null fits every type,
/// a whole number every type of number that can hold it, and text an enum.
pub(crate) fn fit(value: Value, kind: &str) -> Result<Value, String> {
    if kind == "any" || value.is_null() {
        return Ok(value);
    }
    match (value, kind.strip_suffix("[]")) {
        (Value::Scalar(scalar), None) => fit_scalar(scalar, kind).map(Value::Scalar),
        (Value::List(elements), Some(kind)) => {
            elements.into_iter().map(|element| fit_scalar(element, kind)).collect::<Result<_, _>>().map(Value::List)
        }
        (Value::Scalar(scalar), Some(_)) => Err(scalar.kind().into()),
        (Value::List(_), None) => Err("an array".into()),
    }
}

fn fit_scalar(scalar: Scalar, kind: &str) -> Result<Scalar, String> {
    let whole = match &scalar {
        Scalar::Integer(n) => Some(i64::from(*n)),
        Scalar::Bigint(n) => Some(*n),
        _ => None,
    };
    match (whole, kind) {
        (Some(n), "integer") => i32::try_from(n).map(Scalar::Integer).map_err(|_| format!("{n}, too large a number,")),
        (Some(n), "bigint") => Ok(Scalar::Bigint(n)),
        (Some(n), "numeric") => Ok(Scalar::Numeric(n.to_string())),
        (Some(n), "float") => Ok(Scalar::Float(n as f64)),
        _ if scalar.kind() == kind || scalar == Scalar::Null => Ok(scalar),
        _ if scalar.kind() == "text" && kind.starts_with("enum(") => Ok(scalar),
        _ => Err(scalar.kind().into()),
    }
}
