//! Casts and their types.

use std::ops::RangeInclusive;

use pg_query::protobuf::{AConst, TypeCast, TypeName, a_const::Val};
use pg_query::{Node, NodeEnum};

use crate::allowed;
use crate::expression::{Checked, Done, Walk};
use crate::kind::{Base, Context, Kind};
use crate::literal::small_integer;
use crate::node::{text_constant, text_of};
use crate::refusal::{ByteRefusal, RefusalCode};
use crate::weight::{self, Seen};

/// The longest that `varchar(n)` may be said to be, as Postgres has it.
const MAX_VARCHAR: i32 = 10_485_760;
/// The longest that `char(n)` pads to.
const MAX_PADDED: i32 = 1000;

/// The parts of an interval, by Postgres's numbers for them.
const FIELDS: [(i64, &str); 13] = [
    (1 << 2, " year"),
    (1 << 1, " month"),
    (1 << 3, " day"),
    (1 << 10, " hour"),
    (1 << 11, " minute"),
    (1 << 12, " second"),
    (1 << 2 | 1 << 1, " year to month"),
    (1 << 3 | 1 << 10, " day to hour"),
    (1 << 3 | 1 << 10 | 1 << 11, " day to minute"),
    (1 << 3 | 1 << 10 | 1 << 11 | 1 << 12, " day to second"),
    (1 << 10 | 1 << 11, " hour to minute"),
    (1 << 10 | 1 << 11 | 1 << 12, " hour to second"),
    (1 << 11 | 1 << 12, " minute to second"),
];
/// All of them, where only a precision is given.
const ALL_FIELDS: i64 = 0x7FFF;

/// Writes what follows the word `interval`: its parts, and the number of digits of its seconds.
fn interval_fields(typmods: &[Node]) -> Option<String> {
    let fields_of = |node| small_integer(node, ALL_FIELDS);
    let (fields, digits) = match typmods {
        [fields] => (fields_of(fields)?, String::new()),
        [fields, digits] => {
            let digits = small_integer(digits, 6).filter(|digits| *digits >= 0)?;
            (fields_of(fields)?, format!("({digits})"))
        }
        _ => return None,
    };
    if fields == ALL_FIELDS {
        return Some(digits);
    }
    let (_, words) = FIELDS.iter().find(|(number, _)| *number == fields)?;
    (digits.is_empty() || words.ends_with("second")).then(|| format!("{words}{digits}"))
}

impl Walk<'_> {
    /// A cast, always in the short form.
    pub(crate) fn cast(&mut self, cast: &TypeCast) -> Checked {
        let TypeCast { arg, type_name, location } = cast;
        let name = type_name.as_ref().ok_or_else(|| self.refuse(RefusalCode::Type, "a type is missing", *location))?;
        let (written, kind) = self.type_name(name)?;
        let value = self.required(arg.as_deref())?;
        self.written_there(value, kind, (*location, name.location))?;
        let at = self.out.offset();
        let mut elements = None;
        let found = match &value.node {
            Some(NodeEnum::AArrayExpr(list)) if list.elements.is_empty() => {
                self.out.push_str("ARRAY[]");
                Seen::narrow(Kind::many(Base::Unknown), true)
            }
            Some(NodeEnum::AArrayExpr(list)) if kind.array => {
                let (found, seen) = self.as_node(|walk| walk.elements(&list.elements))?;
                let constant = seen.iter().all(|seen| seen.constant);
                elements = Some(seen);
                Seen::narrow(found, constant)
            }
            _ => self.operand(value)?,
        };
        if let Some(guard) = bounded_cast(found.kind, kind)
            && !found.constant
        {
            self.out.bound_call(at, guard);
            self.out.close_call();
        }
        let empty = found.kind == Kind::many(Base::Unknown);
        if empty && !kind.array {
            let message = format!("an array is no {kind}");
            return Err(self.refuse(RefusalCode::Type, message, *location));
        }
        if !empty {
            self.fits(value, found.kind, kind, Context::Explicit)?;
        }
        if found.kind.element().base == Base::Bytea && kind.category() == 'S' {
            let message = "how bytes are shown is a setting of the session";
            return Err(self
                .refuse(RefusalCode::Type, message, *location)
                .hint("write encode(…, 'hex') or encode(…, 'base64')"));
        }
        self.out.push_str("::");
        self.out.push_str(&written);
        let is_of_text = matches!(kind.base, Base::Varchar | Base::Bpchar);
        let limit = name.typmods.first().filter(|_| is_of_text);
        let limit = limit.and_then(|limit| small_integer(limit, MAX_VARCHAR.into()));
        let Some(elements) = elements else {
            return self.converted(found, kind, limit);
        };
        // Postgres casts each element, then makes the array.
        let mut made = Vec::with_capacity(elements.len());
        for seen in elements {
            let each = if seen.kind.array { kind } else { kind.element() };
            made.push(self.converted(seen, each, limit)?);
        }
        Ok(Seen { limit, ..self.made("copy", kind, &made)? })
    }

    /// Weighs a cast; to a text of a limited length that it does not have yet it is a copy more.
    fn converted(&mut self, found: Seen, kind: Kind, limit: Option<i64>) -> Checked {
        if limit.is_some() && (found.kind, found.limit) == (kind, limit) {
            return Ok(found);
        }
        let seen = match weight::cast(found.kind, kind) {
            Some(makes) => self.made(makes, kind, &[found])?,
            None => Seen { kind, size: weight::kept(found.size, kind), ..found },
        };
        let seen = match (limit.is_some(), kind.array) {
            (true, false) => self.made("copy", kind, &[seen])?,
            (true, true) if found.kind == kind => self.made("make", kind, &[seen])?,
            _ => seen,
        };
        Ok(Seen { limit, ..seen })
    }

    /// Requires text in quotes where it becomes a path or a range.
    fn written_there(&mut self, value: &Node, kind: Kind, (at, of_type): (i32, i32)) -> Done {
        if kind.base == Base::Jsonpath {
            if kind.array || text_constant(value).is_none() {
                let message = "a path into a document is text in quotes";
                return Err(self.refuse(RefusalCode::Type, message, at));
            }
            self.path(value, at)?;
        }
        if kind.bounds().is_some() && text_constant(value).is_none() {
            let message = format!("text that is cast to {kind} is written there, in quotes");
            return Err(self
                .refuse(RefusalCode::Type, message, of_type)
                .hint(format!("make a range of its bounds: {kind}(from, to, '[]')")));
        }
        Ok(())
    }

    /// The type, written anew.
    fn type_name(&self, kind: &TypeName) -> Result<(String, Kind), ByteRefusal> {
        let TypeName { names, type_oid: _, setof, pct_type, typmods, typemod: _, array_bounds, location } = kind;
        let parts: Vec<&str> = names.iter().filter_map(text_of).collect();
        let refused = |name: &str| {
            self.refuse(RefusalCode::Type, format!("the type `{name}` is not allowed here"), *location).hint(match name
            {
                "char" | "name" => "use text",
                _ => {
                    "allowed are text, varchar, smallint, integer, bigint, numeric, real, double precision, \
                 boolean, date, time, timetz, timestamp, timestamptz, interval, uuid, jsonb, json, bytea, char, and \
                 arrays of these; int4range, int8range, numrange, daterange, tsrange, tstzrange of text in quotes"
                }
            })
        };
        let name = match parts.as_slice() {
            [name] | ["pg_catalog", name] if parts.len() == names.len() => *name,
            _ => return Err(refused(&parts.join("."))),
        };
        let found = allowed::find_type(name)
            .filter(|_| !setof && !pct_type && array_bounds.len() <= 1)
            .filter(|_| array_bounds.is_empty() || !name.ends_with("range"))
            .ok_or_else(|| refused(name))?;
        let (found, most_modifiers) = found;
        let mut written = found.to_owned();
        if name == "bpchar" && typmods.is_empty() {
            written = name.to_owned();
        }
        if name == "interval" && !typmods.is_empty() {
            let fields = interval_fields(typmods).ok_or_else(|| {
                let message = "`interval` does not take this";
                self.refuse(RefusalCode::Type, message, *location)
            })?;
            written.push_str(&fields);
        }
        if name != "interval" {
            let most = |at| (at < most_modifiers).then(|| most_of(name, at));
            written.push_str(&self.modifiers(found, typmods, most, *location)?);
        }
        if !array_bounds.is_empty() {
            written.push_str("[]");
        }
        let base = Kind::named(name).map_or(Base::Text, |kind| kind.base);
        let array = !array_bounds.is_empty();
        Ok((written, Kind { base, array }))
    }

    /// Writes what stands in parentheses behind a type: small numbers.
    fn modifiers(
        &self,
        of: &str,
        modifiers: &[Node],
        most: impl Fn(usize) -> Option<RangeInclusive<i32>>,
        location: i32,
    ) -> Result<String, ByteRefusal> {
        let mut written = Vec::new();
        for (at, modifier) in modifiers.iter().enumerate() {
            match &modifier.node {
                Some(NodeEnum::AConst(AConst { val: Some(Val::Ival(value)), .. }))
                    if most(at).is_some_and(|most| most.contains(&value.ival)) =>
                {
                    written.push(value.ival.to_string())
                }
                _ => {
                    let message = format!("`{of}` does not take this in parentheses");
                    return Err(self.refuse(RefusalCode::Type, message, location));
                }
            }
        }
        Ok(match written.is_empty() {
            true => String::new(),
            false => format!("({})", written.join(", ")),
        })
    }
}

/// Numbers that may stand in parentheses behind a type, at a place.
fn most_of(name: &str, at: usize) -> RangeInclusive<i32> {
    match (name, at) {
        ("varchar", _) => 1..=MAX_VARCHAR,
        ("bpchar", _) => 1..=MAX_PADDED,
        ("numeric", 0) => 1..=38,
        _ => i32::MIN..=38,
    }
}

/// The bounded function that a value passes before it is cast.
fn bounded_cast(found: Kind, kind: Kind) -> Option<&'static str> {
    let texts = found.element().category() == 'S';
    match kind.base {
        Base::Numeric if texts || found.base == Base::Jsonb => Some("number("),
        Base::Timestamptz | Base::Timetz | Base::Timestamp | Base::Date | Base::Time if texts => Some("moment("),
        Base::Jsonb if texts => Some("document("),
        _ => None,
    }
}
