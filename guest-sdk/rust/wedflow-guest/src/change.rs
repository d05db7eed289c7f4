//! The change that a transition makes to the state.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::bindings;
use crate::value::fit;
use crate::{Attribute, Declared, Failure, Null, Scalar, Value};

/// The values that a transition sets. Made by [`set!`](crate::set), or step by step:
///
/// ```
/// use wedflow_guest::prelude::*;
///
/// let change = Change::new().set("a2", "done").set("n", sql!("n + {}", 5));
/// assert_eq!(change, set! { a2 = "done", n = sql!("n + 5") });
/// ```
///
/// Attributes that are not mentioned keep their value. Where the transition declares what it writes
/// and no expression is among the new values, the server gets the values themselves; otherwise they
/// are written as SQL literals into a `SET` clause.
#[derive(Debug, Clone, PartialEq)]
pub struct Change(Form);

#[derive(Debug, Clone, PartialEq)]
enum Form {
    Clause(String),
    Assignments(Vec<(Cow<'static, str>, New)>),
}

/// The new value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct New(Source);

#[derive(Debug, Clone, PartialEq)]
enum Source {
    Value(Value),
    Expression(Sql),
}

/// A piece of SQL. Made by [`sql!`](crate::sql), which writes Rust values into it as literals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sql(String);

impl Sql {
    /// SQL, used verbatim. Nothing in it is quoted: never build the text from attributes' values;
    /// [`sql!`](crate::sql) does that safely.
    pub fn verbatim(text: impl Into<String>) -> Self {
        Sql(text.into())
    }

    /// The SQL text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Sql> for String {
    fn from(sql: Sql) -> String {
        sql.0
    }
}

macro_rules! new_values {
    ($(impl<$($parameter:ident)?> $type:ty, $value:ident => $source:expr;)*) => {$(
        impl<$($parameter: Attribute)?> From<$type> for New {
            fn from($value: $type) -> New {
                New($source)
            }
        }
    )*};
}

new_values! {
    impl<T> T, value => Source::Value(value.into_value());
    impl<> Sql, sql => Source::Expression(sql);
    impl<> Null, _null => Source::Value(Value::NULL);
    impl<> &str, text => Source::Value(Value::Scalar(Scalar::Text(text.into())));
    impl<> &String, text => Source::Value(Value::Scalar(Scalar::Text(text.clone())));
}

impl Change {
    /// Sets nothing yet. A transition that returns it like this fails: a state in which nothing
    /// changed would fire it again.
    pub fn new() -> Self {
        Change(Form::Assignments(Vec::new()))
    }

    /// A SQL `SET` clause, without the word `SET`: `Change::clause(sql!("a2 = {text}, n = n + 1"))`.
    pub fn clause(clause: Sql) -> Self {
        Change(Form::Clause(clause.0))
    }

    /// Sets one more attribute; a second value for the same attribute replaces the first.
    ///
    /// On a change made from a raw clause, the assignment is appended to the clause.
    #[must_use]
    pub fn set(mut self, attribute: impl Into<Cow<'static, str>>, value: impl Into<New>) -> Self {
        let (attribute, value) = (attribute.into(), value.into());
        match &mut self.0 {
            Form::Clause(clause) => push_assignment(clause, &attribute, &value),
            Form::Assignments(list) => match list.iter_mut().find(|(name, _)| *name == attribute) {
                Some(existing) => existing.1 = value,
                None => list.push((attribute, value)),
            },
        }
        self
    }

    /// Returns what the server is answered.
    pub(crate) fn into_outcome(self, writes: Option<&[Declared]>) -> Result<bindings::Outcome, Failure> {
        let nul = || Failure::fatal("a text holds a NUL character, which Postgres cannot store");
        let list = match self.0 {
            Form::Clause(clause) if clause.trim().is_empty() => return Err(sets_nothing()),
            Form::Clause(clause) if clause.contains('\0') => return Err(nul()),
            Form::Clause(clause) => return Ok(bindings::Outcome::SetClause(clause)),
            Form::Assignments(list) if list.is_empty() => return Err(sets_nothing()),
            Form::Assignments(list) => list,
        };
        let mut fitted = Vec::with_capacity(list.len());
        for (name, New(source)) in list {
            let at = match writes {
                None => None,
                Some(writes) => Some(position(writes, &name)?),
            };
            let source = match source {
                Source::Value(value) => {
                    if holds_nul(&value) {
                        return Err(nul());
                    }
                    Source::Value(match at {
                        None => value,
                        Some((_, declared)) => fit(value, declared.kind).map_err(|found| {
                            Failure::fatal(format!(
                                "attribute `{name}` is declared as {} and was assigned {found}",
                                declared.kind
                            ))
                        })?,
                    })
                }
                expression => expression,
            };
            fitted.push((name, at.map(|(at, _)| at), New(source)));
        }
        let typed = fitted.iter().all(|(_, at, New(source))| at.is_some() && matches!(source, Source::Value(_)));
        if !typed {
            let mut clause = String::new();
            for (name, _, value) in &fitted {
                push_assignment(&mut clause, name, value);
            }
            return if clause.contains('\0') { Err(nul()) } else { Ok(bindings::Outcome::SetClause(clause)) };
        }
        Ok(bindings::Outcome::Assignments(
            fitted
                .into_iter()
                .filter_map(|assignment| match assignment {
                    (_, Some(attribute), New(Source::Value(value))) => {
                        Some(bindings::wed::flow::types::Assignment { attribute, value })
                    }
                    _ => None,
                })
                .collect(),
        ))
    }
}

fn sets_nothing() -> Failure {
    Failure::fatal("the transition set nothing; to commit nothing, abort")
}

fn position<'a>(writes: &'a [Declared], name: &str) -> Result<(u32, &'a Declared), Failure> {
    (0..).zip(writes).find(|(_, declared)| declared.name == name).ok_or_else(|| {
        let mut known = String::new();
        for declared in writes {
            known.push_str(if known.is_empty() { "" } else { ", " });
            known.push_str(declared.name);
        }
        Failure::fatal(format!("attribute `{name}` is not among those the transition declares to write ({known})"))
    })
}

fn holds_nul(value: &Value) -> bool {
    let in_scalar = |scalar: &Scalar| match scalar {
        Scalar::Text(text)
        | Scalar::Numeric(text)
        | Scalar::Interval(text)
        | Scalar::Uuid(text)
        | Scalar::Jsonb(text) => text.contains('\0'),
        _ => false,
    };
    match value {
        Value::Scalar(scalar) => in_scalar(scalar),
        Value::List(elements) => elements.iter().any(in_scalar),
    }
}

impl Default for Change {
    fn default() -> Self {
        Change::new()
    }
}

impl From<Sql> for Change {
    fn from(clause: Sql) -> Self {
        Change::clause(clause)
    }
}

/// The change as a `SET` clause, without the word `SET`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Clause(clause) => f.write_str(clause),
            Form::Assignments(list) => {
                let mut clause = String::new();
                for (name, value) in list {
                    push_assignment(&mut clause, name, value);
                }
                f.write_str(&clause)
            }
        }
    }
}

fn push_assignment(clause: &mut String, attribute: &str, New(source): &New) {
    if !clause.is_empty() {
        clause.push_str(", ");
    }
    push_quoted(clause, '"', attribute);
    clause.push_str(" = ");
    match source {
        Source::Value(value) => push_value(clause, value),
        Source::Expression(sql) => clause.push_str(&sql.0),
    }
}

/// A name in double quotes, so that neither its case nor a reserved word matters.
pub fn quote_identifier(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len() + 2);
    push_quoted(&mut quoted, '"', name);
    quoted
}

/// A value as a SQL literal: text is quoted, everything else is written so that Postgres reads it
/// back as the same value of the same type.
pub fn quote_literal(value: impl Attribute) -> String {
    let mut literal = String::new();
    push_value(&mut literal, &value.into_value());
    literal
}

#[doc(hidden)]
pub fn push_literal(sql: &mut String, value: impl Into<New>) {
    match value.into().0 {
        Source::Value(value) => push_value(sql, &value),
        Source::Expression(inner) => {
            sql.push('(');
            sql.push_str(&inner.0);
            sql.push(')');
        }
    }
}

fn push_quoted(sql: &mut String, quote: char, text: &str) {
    sql.push(quote);
    for c in text.chars() {
        if c == quote {
            sql.push(quote);
        }
        sql.push(c);
    }
    sql.push(quote);
}

/// Tells how a scalar is written: its text, whether that needs quotes, and the type to cast to.
fn written(scalar: &Scalar) -> (Cow<'_, str>, bool, &'static str) {
    match scalar {
        Scalar::Null => (Cow::Borrowed("NULL"), false, ""),
        // No cast: a literal of unknown type also fits an enum.
        Scalar::Text(text) => (Cow::Borrowed(text), true, ""),
        Scalar::Integer(n) => (Cow::Owned(format!("{n}")), false, ""),
        Scalar::Bigint(n) => (Cow::Owned(format!("{n}")), true, "bigint"),
        Scalar::Numeric(text) => (Cow::Borrowed(text), true, "numeric"),
        Scalar::Float(n) => {
            let text = if n.is_infinite() {
                Cow::Borrowed(if *n > 0.0 { "Infinity" } else { "-Infinity" })
            } else {
                // Debug takes an exponent where that is shorter.
                Cow::Owned(format!("{n:?}"))
            };
            (text, true, "double precision")
        }
        Scalar::Boolean(truth) => (Cow::Borrowed(if *truth { "true" } else { "false" }), false, ""),
        Scalar::Timestamptz(micros) => {
            let text = format!("{}", crate::Timestamp::from_micros(*micros));
            (Cow::Owned(text), true, "timestamptz")
        }
        Scalar::Date(days) => {
            let text = format!("{}", crate::Date::from_days(*days));
            (Cow::Owned(text), true, "date")
        }
        Scalar::Interval(text) => (Cow::Borrowed(text), true, "interval"),
        Scalar::Uuid(text) => (Cow::Borrowed(text), true, "uuid"),
        Scalar::Jsonb(text) => (Cow::Borrowed(text), true, "jsonb"),
    }
}

fn push_value(sql: &mut String, value: &Value) {
    match value {
        Value::Scalar(scalar) => {
            let (text, quoted, cast) = written(scalar);
            if quoted {
                push_quoted(sql, '\'', &text);
            } else if text.starts_with('-') {
                // `n -{}` must not become a comment.
                let _ = write!(sql, "({text})");
            } else {
                sql.push_str(&text);
            }
            if !cast.is_empty() {
                sql.push_str("::");
                sql.push_str(cast);
            }
        }
        Value::List(elements) => {
            let mut array = String::from("{");
            let mut cast = "";
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    array.push(',');
                }
                if *element == Scalar::Null {
                    array.push_str("NULL");
                    continue;
                }
                let (text, _, of) = written(element);
                cast = of;
                array.push('"');
                for c in text.chars() {
                    if matches!(c, '"' | '\\') {
                        array.push('\\');
                    }
                    array.push(c);
                }
                array.push('"');
            }
            array.push('}');
            push_quoted(sql, '\'', &array);
            if !cast.is_empty() {
                let _ = write!(sql, "::{cast}[]");
            }
        }
    }
}
