//! Reading of a state: from the payload of a call into a struct of the author.

use alloc::format;
use alloc::string::String;
use alloc::vec::{self, Vec};

use crate::{Attribute, Failure, Value, host};

/// The name and type of an attribute that a transition reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    /// The attribute's name in the flow.
    pub name: &'static str,
    /// The type as in `wed_attr.atype`, or `any`.
    pub kind: &'static str,
}

/// The attributes that a transition reads.
///
/// Derive it for a struct whose fields are named like the attributes:
///
/// ```
/// use wedflow_guest::prelude::*;
///
/// #[derive(State)]
/// struct Order {
///     a1: String,
///     /// May be null, so it is an `Option`.
///     a2: Option<String>,
///     #[state(name = "qty")]
///     quantity: i32,
///     /// An enum is read as text.
///     urgency: String,
///     /// Whatever type the flow gives it.
///     payload: Value,
/// }
/// ```
///
/// What is not a field cannot be read:
///
/// ```compile_fail,E0609
/// use wedflow_guest::prelude::*;
///
/// #[derive(State)]
/// struct Order {
///     a1: String,
/// }
///
/// #[transition]
/// fn copy(order: Order) -> Change {
///     set! { a3 = order.a2 }
/// }
/// ```
///
/// A transition that needs nothing of the state takes none, or `()`; one that must work with any
/// flow takes [`Row`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no state",
    note = "derive it: `#[derive(State)]`, or take a `Row` for whatever attributes the flow has"
)]
pub trait State: Sized {
    /// The attributes in the order in which they are handed over; nothing for all of the flow's.
    const READS: Option<&'static [Declared]>;

    /// Reads the attributes.
    ///
    /// # Errors
    /// When one is null or of another type than the field has.
    fn read(values: Values) -> Result<Self, Failure>;
}

/// The values of a state, in the order of [`State::READS`].
#[derive(Debug)]
pub struct Values(vec::IntoIter<Value>);

impl Values {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Values(values.into_iter())
    }

    /// Reads the next value, which is that of `attribute`.
    ///
    /// # Errors
    /// When there is none, it is null, or it has another type.
    pub fn next<T: Attribute>(&mut self, attribute: &str) -> Result<T, Failure> {
        let value = self
            .0
            .next()
            .ok_or_else(|| Failure::fatal(format!("the server sent no value for attribute `{attribute}`")))?;
        T::from_value(value).map_err(|mismatch| mismatch.of(attribute))
    }
}

impl State for () {
    const READS: Option<&'static [Declared]> = Some(&[]);

    fn read(_values: Values) -> Result<Self, Failure> {
        Ok(())
    }
}

/// All attributes of the flow, by name: the state of a transition that is written for any flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    names: Vec<String>,
    values: Vec<Value>,
}

impl Row {
    /// The attribute's value.
    ///
    /// # Errors
    /// When the flow has no such attribute, it is null, or it has another type.
    pub fn get<T: Attribute>(&self, attribute: &str) -> Result<T, Failure> {
        let at = self.names.iter().position(|name| name == attribute);
        let value = at
            .and_then(|at| self.values.get(at))
            .ok_or_else(|| Failure::fatal(format!("the flow has no attribute `{attribute}`")))?;
        T::from_value(value.clone()).map_err(|mismatch| mismatch.of(attribute))
    }

    /// Names and values, in the flow's order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.names.iter().map(String::as_str).zip(&self.values)
    }
}

impl State for Row {
    const READS: Option<&'static [Declared]> = None;

    fn read(values: Values) -> Result<Self, Failure> {
        Ok(Row { names: host::attributes(), values: values.0.collect() })
    }
}
