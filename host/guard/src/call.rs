//! Function calls: by name from the list, with nothing but plain arguments.

use pg_query::protobuf::{AExprKind, CoercionForm, FuncCall, NamedArgExpr, a_const::Val};
use pg_query::{Node, NodeEnum};
use wedflow_model::ScalarType;

use crate::allowed::{self, INTERVAL_PARTS};
use crate::expression::{Checked, Walk};
use crate::literal::write_text;
use crate::node::{text_constant, text_of};
use crate::rejection::RejectionCode;

/// How much larger than its input text may grow through nested replacements: unbounded, sixty of
/// them in a row double a text sixty times.
const MAX_GROWTH: usize = 1024;

impl Walk<'_> {
    /// Refuses what a call may carry beyond its arguments.
    pub(crate) fn plain(&self, call: &FuncCall) -> Checked {
        let FuncCall {
            funcname: _,
            args: _,
            agg_order,
            agg_filter,
            over,
            agg_within_group,
            agg_star,
            agg_distinct,
            func_variadic,
            funcformat: _,
            location,
        } = call;
        let aggregate = !agg_order.is_empty()
            || agg_filter.is_some()
            || over.is_some()
            || *agg_within_group
            || *agg_star
            || *agg_distinct;
        if aggregate {
            let message = "aggregates and windows are not allowed here";
            return Err(self
                .refuse(RejectionCode::Aggregate, message, *location)
                .hint("a fragment sees one instance only"));
        }
        if *func_variadic {
            let message = "VARIADIC is not allowed here";
            return Err(self.refuse(RejectionCode::Function, message, *location));
        }
        Ok(())
    }

    /// A call of a function on the list.
    pub(crate) fn call(&mut self, call: &FuncCall) -> Checked {
        self.plain(call)?;
        let place = call.location;
        let Some(name) = function_name(call) else {
            let message = "functions are named without a schema";
            return Err(self.refuse(RejectionCode::Function, message, place));
        };
        let Some(function) = allowed::find_function(name) else {
            let code = match name {
                "count" | "sum" | "avg" | "min" | "max" | "array_agg" | "string_agg"
                | "row_number" => RejectionCode::Aggregate,
                _ => RejectionCode::Function,
            };
            let message = format!("the function `{name}` is not allowed here");
            return Err(self
                .refuse(code, message, place)
                .hint(allowed::why_not(name)));
        };
        if function.volatile && !self.volatile {
            let message = format!("`{name}` gives another result each time");
            return Err(self.refuse(RejectionCode::Function, message, place).hint(
                "a condition must depend on the state; compare with now() for points in time",
            ));
        }
        let count = call.args.len();
        if count < function.least || count > function.most {
            let message = if function.least == function.most {
                format!("`{name}` takes {} arguments, not {count}", function.least)
            } else {
                format!(
                    "`{name}` takes {} to {} arguments, not {count}",
                    function.least, function.most
                )
            };
            return Err(self.refuse(RejectionCode::Function, message, place));
        }
        match (function.name, call.args.as_slice()) {
            ("extract", [field, value]) => {
                let Some(field) = text_constant(field) else {
                    let message = "the field of EXTRACT must be a word";
                    return Err(self.refuse(RejectionCode::Function, message, place));
                };
                self.out.push_str("EXTRACT(");
                write_text(&mut self.out, field);
                self.out.push_str(" FROM ");
                self.expression(value)?;
                self.out.push(')');
                Ok(())
            }
            // With a text there, it would be a regular expression.
            ("substring", [_, start, ..]) if !self.is_number(start) => {
                let message = "`substring` takes a position here, not a pattern";
                Err(self
                    .refuse(RejectionCode::Function, message, place)
                    .hint("use substr(text, start, length), split_part or LIKE"))
            }
            // POSITION(a IN b) under the name that can be called like any other.
            ("position", args) => self.list("strpos(", args, ")"),
            ("make_interval", args) => self.interval(args, place),
            ("replace", [_, _, by]) => {
                let factor = text_constant(by).map_or(MAX_GROWTH, |by| by.len().max(1));
                let before = self.growth;
                self.growth = before.saturating_mul(factor);
                if self.growth > MAX_GROWTH {
                    let message = "nested replacements could make the text far too large";
                    return Err(self
                        .refuse(RejectionCode::TooLarge, message, place)
                        .hint("replace by short constants, or compose the text with concat"));
                }
                let checked = self.list("replace(", &call.args, ")");
                self.growth = before;
                checked
            }
            (name, args) => {
                self.out.push_str(name);
                self.list("(", args, ")")
            }
        }
    }

    fn interval(&mut self, args: &[Node], place: i32) -> Checked {
        self.out.push_str("make_interval(");
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            let Some(NodeEnum::NamedArgExpr(named)) = &arg.node else {
                self.expression(arg)?;
                continue;
            };
            let NamedArgExpr { arg, name, .. } = named.as_ref();
            let Some(part) = INTERVAL_PARTS.iter().find(|part| *part == name) else {
                let message = format!("`make_interval` has no argument `{name}`");
                return Err(self
                    .refuse(RejectionCode::Function, message, place)
                    .hint(format!("its arguments are {}", INTERVAL_PARTS.join(", "))));
            };
            self.out.push_str(part);
            self.out.push_str(" => ");
            self.expression(self.required(arg.as_deref())?)?;
        }
        self.out.push(')');
        Ok(())
    }

    /// Whether an expression is surely a number, as far as can be seen without the database.
    fn is_number(&self, node: &Node) -> bool {
        match &node.node {
            Some(NodeEnum::AConst(constant)) => {
                matches!(constant.val, Some(Val::Ival(_) | Val::Fval(_)))
            }
            Some(NodeEnum::ColumnRef(column)) => match column.fields.as_slice() {
                [field] => text_of(field)
                    .and_then(|name| self.attributes.find(name))
                    .is_some_and(|index| {
                        let kind = &self.attributes.get(index).kind;
                        !kind.array && matches!(kind.scalar, ScalarType::Integer)
                    }),
                _ => false,
            },
            Some(NodeEnum::TypeCast(cast)) => cast.type_name.as_ref().is_some_and(|kind| {
                kind.array_bounds.is_empty()
                    && kind
                        .names
                        .last()
                        .and_then(text_of)
                        .is_some_and(|name| matches!(name, "int2" | "int4"))
            }),
            Some(NodeEnum::FuncCall(call)) => matches!(
                function_name(call),
                Some("length" | "char_length" | "character_length" | "strpos" | "position")
            ),
            Some(NodeEnum::AExpr(operation)) => {
                operation.kind == AExprKind::AexprOp as i32
                    && matches!(
                        operation.name.first().and_then(text_of),
                        Some("+" | "-" | "*" | "/" | "%")
                    )
                    && operation
                        .lexpr
                        .as_deref()
                        .is_none_or(|left| self.is_number(left))
                    && operation
                        .rexpr
                        .as_deref()
                        .is_some_and(|right| self.is_number(right))
            }
            _ => false,
        }
    }
}

/// The name of a function that is named alone, or in the schema of Postgres's own, which is where
/// the grammar puts what has a syntax of its own.
pub(crate) fn function_name(call: &FuncCall) -> Option<&str> {
    match call.funcname.as_slice() {
        [name] => {
            // EXTRACT, POSITION and OVERLAY are words of the grammar; a plain call of that name is
            // of a function of someone's own.
            text_of(name).filter(|name| !matches!(*name, "extract" | "position"))
        }
        [schema, name] if text_of(schema) == Some("pg_catalog") => {
            let written = CoercionForm::try_from(call.funcformat);
            let name = text_of(name)?;
            (written == Ok(CoercionForm::CoerceSqlSyntax) || name == "like_escape").then_some(name)
        }
        _ => None,
    }
}
