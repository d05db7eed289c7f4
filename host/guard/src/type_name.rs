//! Casts and their types.

use pg_query::NodeEnum;
use pg_query::protobuf::{AConst, TypeCast, TypeName, a_const::Val};

use crate::allowed;
use crate::expression::{Checked, Walk};
use crate::kind::{Base, Context, Kind};
use crate::node::text_of;
use crate::rejection::{Fault, RejectionCode};
use crate::written::Guard;

impl Walk<'_> {
    /// A cast, always in the short form.
    pub(crate) fn cast(&mut self, cast: &TypeCast) -> Checked {
        let TypeCast {
            arg,
            type_name,
            location,
        } = cast;
        let name = type_name
            .as_ref()
            .ok_or_else(|| self.refuse(RejectionCode::Type, "a type is missing", *location))?;
        let (written, kind) = self.type_name(name)?;
        let value = self.required(arg.as_deref())?;
        let before = self.out.clone();
        let found = self.operand(value)?;
        let number = kind.base == Base::Numeric
            && !found.constant
            && (found.kind.category() == 'S'
                || found.kind.base == Base::Jsonb
                || (found.kind.array && found.kind.element().category() == 'S'));
        if number {
            // Written again, with its guard around it.
            let inner = self.out.after(&before);
            self.out = before;
            self.out.guard(Guard::Number);
            self.out.push_str(&inner);
            self.out.guard(Guard::End);
        }
        let empty = found.kind == Kind::many(Base::Unknown);
        if empty && !kind.array {
            let message = format!("an array is no {kind}");
            return Err(self.refuse(RejectionCode::Type, message, *location));
        }
        if !empty {
            self.fits(value, found.kind, kind, Context::Explicit)?;
        }
        self.out.push_str("::");
        self.out.push_str(&written);
        self.made(kind, found.size, found.constant)
    }

    /// The type, written anew.
    fn type_name(&self, kind: &TypeName) -> Result<(String, Kind), Fault> {
        let TypeName {
            names,
            type_oid: _,
            setof,
            pct_type,
            typmods,
            typemod: _,
            array_bounds,
            location,
        } = kind;
        let parts: Vec<&str> = names.iter().filter_map(text_of).collect();
        let refused = |name: &str| {
            self.refuse(
                RejectionCode::Type,
                format!("the type `{name}` is not allowed here"),
                *location,
            )
            .hint(match name {
                "json" => "use jsonb",
                "bpchar" | "char" | "name" => "use text",
                _ => "allowed are text, varchar, smallint, integer, bigint, numeric, real, double precision, boolean, date, time, timestamp, timestamptz, interval, uuid, jsonb, and arrays of these",
            })
        };
        let name = match parts.as_slice() {
            [name] | ["pg_catalog", name] if parts.len() == names.len() => *name,
            _ => return Err(refused(&parts.join("."))),
        };
        let found = allowed::find_type(name)
            .filter(|_| !setof && !pct_type && array_bounds.len() <= 1)
            .ok_or_else(|| refused(name))?;
        let mut written = found.written.to_owned();
        for (at, modifier) in typmods.iter().enumerate() {
            let value = match &modifier.node {
                Some(NodeEnum::AConst(AConst {
                    val: Some(Val::Ival(value)),
                    ..
                })) if at < found.modifiers && (found.written == "varchar" || value.ival <= 38) => {
                    value.ival
                }
                _ => {
                    let message = format!("`{}` does not take this in parentheses", found.written);
                    return Err(self.refuse(RejectionCode::Type, message, *location));
                }
            };
            written.push_str(if at == 0 { "(" } else { ", " });
            written.push_str(&value.to_string());
        }
        if !typmods.is_empty() {
            written.push(')');
        }
        if !array_bounds.is_empty() {
            written.push_str("[]");
        }
        let base = Kind::named(name).map_or(Base::Text, |kind| kind.base);
        let array = !array_bounds.is_empty();
        Ok((written, Kind { base, array }))
    }
}
