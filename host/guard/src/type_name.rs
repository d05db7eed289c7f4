//! Casts and their types.

use pg_query::NodeEnum;
use pg_query::protobuf::{AConst, TypeCast, TypeName, a_const::Val};

use crate::allowed;
use crate::expression::{Checked, Walk};
use crate::node::text_of;
use crate::rejection::{Fault, RejectionCode};

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
        let written = self.type_name(name)?;
        let value = self.required(arg.as_deref())?;
        if let Some(NodeEnum::AConst(AConst {
            val: Some(Val::Sval(text)),
            location,
            ..
        })) = &value.node
            && written.starts_with("numeric")
        {
            self.bounded(&text.sval, *location)?;
        }
        self.operand(value)?;
        self.out.push_str("::");
        self.out.push_str(&written);
        Ok(())
    }

    /// The type, written anew.
    fn type_name(&self, kind: &TypeName) -> Result<String, Fault> {
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
        Ok(written)
    }
}
