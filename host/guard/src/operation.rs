//! Operators: which are allowed, on what types, and what is searched for.

use std::sync::LazyLock;

use pg_query::protobuf::{AExpr, AExprKind, List, RowExpr, TypeCast, a_const::Val};
use pg_query::{Node, NodeEnum};
use wedflow_model::{AttributeType, ScalarType};

use crate::advice::no_operator;
use crate::allowed::{COMPARISON, MATCHING, QUANTIFIED};
use crate::call::{function_name, is_number};
use crate::catalog;
use crate::expression::{Checked, Done, Walk};
use crate::kind::{Context, Kind};
use crate::node::{constant_text, foreign, is_constant, text_constant, text_of};
use crate::pattern;
use crate::refusal::{ByteRefusal, RefusalCode};
use crate::resolve::{self, Resolved};
use crate::weight::Seen;
use crate::written::Offset;

/// The most values of a list that are no constants: each is a level to Postgres.
const MAX_LISTED: usize = 100;
/// The largest exponent that may be written.
const MAX_POWER: i64 = 1000;

/// Signs of the operators before one operand, and between two. (`!=` is `<>` by the time it gets here.)
static SIGNS: LazyLock<[Vec<&str>; 2]> = LazyLock::new(|| [1, 2].map(catalog::signs));

/// An operand: what was written, and what it is.
pub(crate) type Operand<'n> = (Option<&'n Node>, Kind);

impl Walk<'_> {
    pub(crate) fn operation(&mut self, operation: &AExpr) -> Checked {
        let AExpr { kind, name, lexpr, rexpr, rexpr_list_start: _, rexpr_list_end: _, location } = operation;
        let name = self.operator_name(name, *location)?;
        let (left, right) = (lexpr.as_deref(), rexpr.as_deref());
        let kind = AExprKind::try_from(*kind).unwrap_or(AExprKind::Undefined);
        match kind {
            AExprKind::AexprOp => match (row(left), row(right)) {
                (Some(one), Some(other)) => {
                    let sign = self.sign(name, &COMPARISON, *location)?;
                    self.rows(one, sign, sign, other, *location)
                }
                _ if left.is_some() => self.infix(name, left, right, *location),
                _ => self.prefix(name, right, *location),
            },
            AExprKind::AexprOpAny | AExprKind::AexprOpAll => self.any_of(kind, name, left, right, *location),
            AExprKind::AexprDistinct => self.distinct(left, "IS DISTINCT FROM", right, *location),
            AExprKind::AexprNotDistinct => self.distinct(left, "IS NOT DISTINCT FROM", right, *location),
            AExprKind::AexprNullif => self.null_if(left, right),
            AExprKind::AexprIn => self.among(name, left, right, *location),
            AExprKind::AexprLike | AExprKind::AexprIlike => {
                let (word, sign) = match (kind, name.starts_with('!')) {
                    (AExprKind::AexprLike, false) => ("LIKE", "~~"),
                    (AExprKind::AexprLike, true) => ("NOT LIKE", "!~~"),
                    (_, false) => ("ILIKE", "~~*"),
                    (_, true) => ("NOT ILIKE", "!~~*"),
                };
                self.like(word, sign, (left, right), *location)
            }
            AExprKind::AexprBetween => self.between("BETWEEN", left, right, *location),
            AExprKind::AexprNotBetween => self.between("NOT BETWEEN", left, right, *location),
            AExprKind::AexprBetweenSym => self.between("BETWEEN SYMMETRIC", left, right, *location),
            AExprKind::AexprNotBetweenSym => self.between("NOT BETWEEN SYMMETRIC", left, right, *location),
            AExprKind::AexprSimilar => self.similar(name == "!~", (left, right), *location),
            AExprKind::Undefined => Err(self.refuse(RefusalCode::Operator, "an unknown operation", *location)),
        }
    }

    /// The name of an operator, which belongs to Postgres's own schema.
    fn operator_name<'n>(&self, name: &'n [Node], location: i32) -> Result<&'n str, ByteRefusal> {
        match name {
            [name] => Ok(text_of(name).unwrap_or_default()),
            [schema, name] if text_of(schema) == Some("pg_catalog") => Ok(text_of(name).unwrap_or_default()),
            _ => {
                let message = "operators are those of the schema pg_catalog";
                Err(self.refuse(RefusalCode::Operator, message, location).hint("write the operator's sign alone"))
            }
        }
    }

    /// An operator before its operand.
    fn prefix(&mut self, name: &str, operand: Option<&Node>, location: i32) -> Checked {
        let sign = self.sign(name, &SIGNS[0], location)?;
        self.out.push_str(sign);
        self.out.push(' ');
        let node = self.required(operand)?;
        let found = self.operand(node)?;
        let list = catalog::operators(sign, 1);
        let resolved = resolve::select(&list, &[found.kind])
            .map_err(|why| self.at_location(no_operator(sign, &[found.kind], why), location))?;
        self.fits(node, found.kind, resolved.arguments[0], Context::Implicit)?;
        self.operated(&resolved, &[found])
    }

    fn null_if(&mut self, left: Option<&Node>, right: Option<&Node>) -> Checked {
        self.out.push_str("NULLIF(");
        let (one, other) = (self.required(left)?, self.required(right)?);
        let found = self.expression(one)?;
        self.out.push_str(", ");
        let by = self.expression(other)?;
        self.out.push(')');
        let resolved = self.compare("=", (Some(one), found.kind), (Some(other), by.kind))?;
        // The result is the first operand as the comparison takes it.
        let kind = resolved.arguments[0];
        let taken = self.taken(&[found, by], &resolved.arguments)?;
        self.made(resolved.signature.makes, kind, &taken)?;
        Ok(Seen { limit: taken[0].limit.filter(|_| taken[0].kind == kind), ..self.one_of(kind, &taken) })
    }

    fn between(&mut self, word: &str, left: Option<&Node>, right: Option<&Node>, location: i32) -> Checked {
        let [low, high] = self.items(right, location)? else {
            let message = "BETWEEN takes two bounds";
            return Err(self.refuse(RefusalCode::Construct, message, location));
        };
        let value = self.required(left)?;
        // Postgres writes a comparison for each bound, and of SYMMETRIC one more with the bounds exchanged.
        let times = if word.ends_with("SYMMETRIC") { 2 } else { 1 };
        let before = self.weight;
        let found = self.operand(value)?;
        self.again(self.weight - before, 2 * times - 1)?;
        self.word(word);
        for (at, (sign, bound)) in [(">=", low), ("<=", high)].into_iter().enumerate() {
            if at > 0 {
                self.word("AND");
            }
            let before = self.weight;
            let limit = self.operand(bound)?;
            let right = (Some(bound), limit.kind);
            let resolved = self.resolved(sign, (Some(value), found.kind), right, location)?;
            self.operated(&resolved, &[found, limit])?;
            self.again(self.weight - before, times - 1)?;
        }
        Ok(Seen::truth())
    }

    /// The operator's sign as our own text, when it is on the list.
    fn sign(&self, name: &str, allowed: &[&'static str], location: i32) -> Result<&'static str, ByteRefusal> {
        if let Some(sign) = allowed.iter().find(|sign| **sign == name) {
            return Ok(sign);
        }
        let refusal =
            self.refuse(RefusalCode::Operator, format!("the operator `{name}` is not allowed here"), location);
        Err(match name {
            "~" | "~*" | "!~" | "!~*" => {
                refusal.hint("join several conditions by OR, or write one regular expression with |")
            }
            "==" => refusal.hint("write ="),
            "!" => refusal.hint("write NOT"),
            "!==" | "=!" => refusal.hint("write <>"),
            "=~" => refusal.hint("write ~ for a regular expression, LIKE for a pattern"),
            "<=>" => refusal.hint("write IS NOT DISTINCT FROM"),
            "**" => refusal.hint("write ^"),
            name if name.contains('`') => refusal.hint("names stand alone or in double quotes, text in single quotes"),
            _ => refusal.hint(format!("allowed are {}", allowed.join(" "))),
        })
    }

    fn infix(&mut self, name: &str, left: Option<&Node>, right: Option<&Node>, location: i32) -> Checked {
        let sign = self.sign(name, &SIGNS[1], location)?;
        let (one, other) = (self.required(left)?, self.required(right)?);
        if COMPARISON.contains(&sign) {
            self.labels(sign, one, other)?;
            self.labels(sign, other, one)?;
        }
        if let "@?" | "@@" = sign {
            // A search of words is refused first for being none of the functions or types.
            for side in [one, other] {
                match &side.node {
                    Some(NodeEnum::FuncCall(call)) if function_name(call).is_some_and(|name| name.contains("_ts")) => {
                        self.call(call)?;
                    }
                    Some(NodeEnum::TypeCast(cast)) if is_of_words(cast) => {
                        self.cast(cast)?;
                    }
                    _ => {}
                }
            }
            self.path(other, location)?;
        }
        if MATCHING.contains(&sign) {
            self.pattern_size(other)?;
        }
        if sign == "^" {
            self.small_power(other, location)?;
        }
        let found = self.operand(one)?;
        let (from, to) = self.word(sign);
        let by = self.operand(other)?;
        // To an array, a constant without a type is another one.
        let same = |kind: Kind, other: Kind| match sign == "||" && other.array && kind.is_unknown() {
            true => other,
            false => kind,
        };
        let left_kind = same(found.kind, by.kind);
        let right_kind = same(by.kind, found.kind);
        for (node, kind, was) in [(one, left_kind, found.kind), (other, right_kind, by.kind)] {
            if kind != was {
                self.fits(node, was, kind, Context::Implicit)
                    .map_err(|refusal| refusal.hint("to append an element say its type: tags || 'x'::text"))?;
            }
        }
        let resolved = self.resolved(sign, (Some(one), left_kind), (Some(other), right_kind), location)?;
        self.run_bounded(&resolved, &[one, other], (from, to), sign)?;
        self.operated(&resolved, &[found, by])
    }

    /// Runs the bounded operator where there is one; what is written there must be within its bounds.
    fn run_bounded(
        &mut self,
        resolved: &Resolved,
        operands: &[&Node],
        (from, to): (Offset, Offset),
        sign: &str,
    ) -> Done {
        if resolved.signature.bounded {
            self.out.bound_operator(from, to, sign);
            self.within_bounds(resolved.signature, operands)?;
        }
        Ok(())
    }

    /// `LIKE` and its like. What follows `ESCAPE` hides in a function of the grammar's own making.
    fn like(
        &mut self,
        word: &str,
        sign: &str,
        (left, right): (Option<&Node>, Option<&Node>),
        location: i32,
    ) -> Checked {
        let (one, other) = (self.required(left)?, self.required(right)?);
        let text = self.operand(one)?;
        let (from, to) = self.word(word);
        let (pattern, found) = self.pattern(other)?;
        let resolved = self.resolved(sign, (Some(one), text.kind), (pattern, found.kind), location)?;
        self.run_bounded(&resolved, &[one, other], (from, to), sign)?;
        self.operated(&resolved, &[text, found])
    }

    fn similar(&mut self, not: bool, (left, right): (Option<&Node>, Option<&Node>), location: i32) -> Checked {
        let (one, other) = (self.required(left)?, self.required(right)?);
        let (word, sign) = if not { ("NOT SIMILAR TO", "!~") } else { ("SIMILAR TO", "~") };
        let text = self.operand(one)?;
        let (from, to) = self.word(word);
        let pattern = match other.node.as_ref() {
            Some(NodeEnum::FuncCall(call)) if function_name(call) == Some("similar_to_escape") => {
                self.plain(call)?;
                let [pattern] = call.args.as_slice() else {
                    let message = "SIMILAR TO is written without ESCAPE";
                    return Err(self
                        .refuse(RefusalCode::Construct, message, location)
                        .hint("the escape character is the backslash"));
                };
                pattern
            }
            _ => other,
        };
        self.pattern_size(pattern)?;
        if let Some(text) = constant_text(pattern) {
            pattern::similar(text).map_err(|refusal| self.at_node(refusal, pattern))?;
        }
        let found = self.operand(pattern)?;
        self.fits(pattern, found.kind, Kind::TEXT, Context::Implicit)?;
        self.out.run_as_call("similar_to_escape", to, None);
        let resolved = self.resolved(sign, (Some(one), text.kind), (None, Kind::TEXT), location)?;
        self.run_bounded(&resolved, &[one, pattern], (from, to), sign)?;
        Ok(Seen::truth())
    }

    /// An attribute of a few labels is compared with one of them, and they are in no order.
    fn labels(&self, sign: &str, attribute: &Node, other: &Node) -> Done {
        let Some(labels) = self.labels_of(attribute) else {
            return Ok(());
        };
        let shown = labels.join(", ");
        let name = self.column_name(attribute).unwrap_or_default();
        if is_number(other) {
            let message = format!("`{name}` is an enum, which is text");
            let refusal =
                ByteRefusal::new(RefusalCode::Type, message).hint(format!("the labels are {shown}, in single quotes"));
            return Err(self.at_node(refusal, other));
        }
        if !matches!(sign, "=" | "<>") {
            let message = "the labels of an enum are in no order";
            let refusal = ByteRefusal::new(RefusalCode::Type, message)
                .hint(format!("compare with IN (…); the labels are {shown}"));
            return Err(self.at_node(refusal, attribute));
        }
        match text_constant(other) {
            Some(text) if !labels.iter().any(|label| label == text) => {
                let text = crate::refusal::shorten(text, 40);
                let message = format!("'{text}' is no label of `{name}`");
                let refusal = ByteRefusal::new(RefusalCode::Type, message).hint(format!("the labels are {shown}"));
                Err(self.at_node(refusal, other))
            }
            _ => Ok(()),
        }
    }

    /// The name of an attribute.
    fn column_name<'n>(&self, node: &'n Node) -> Option<&'n str> {
        match &node.node {
            Some(NodeEnum::ColumnRef(column)) => column.fields.last().and_then(text_of),
            _ => None,
        }
    }

    /// The labels of an attribute that is an enum.
    fn labels_of(&self, node: &Node) -> Option<&[String]> {
        let name = self.column_name(node)?;
        let attribute = self.attributes.get(self.attributes.find(name)?);
        match &attribute.kind {
            AttributeType { scalar: ScalarType::Enum(labels), array: false } => Some(labels),
            _ => None,
        }
    }

    /// A regular expression must be written there, and small.
    pub(crate) fn pattern_size(&self, node: &Node) -> Done {
        let Some(text) = constant_text(node) else {
            let message = "a regular expression is text in quotes";
            let refusal = ByteRefusal::new(RefusalCode::Operator, message)
                .hint("write it itself; for a pattern in an attribute use LIKE");
            return Err(self.at_node(refusal, node));
        };
        pattern::size(text).map_err(|refusal| self.at_node(refusal, node))
    }

    /// A path into a document must be written there, and take the time of one look at all of it.
    pub(crate) fn path(&self, node: &Node, location: i32) -> Done {
        let text = match &node.node {
            Some(NodeEnum::TypeCast(cast)) => cast.arg.as_deref().and_then(text_constant),
            _ => text_constant(node),
        };
        let Some(text) = text else {
            let message = "a path into a document is text in quotes";
            return Err(self
                .refuse(RefusalCode::Function, message, location)
                .hint("write it itself; with a key in an attribute use -> and ->>"));
        };
        pattern::path(text).map_err(|refusal| self.at_node(refusal, node))
    }

    /// The operator that Postgres would take, and its operands fit for it.
    fn resolved(
        &self,
        sign: &str,
        left: Operand<'_>,
        right: Operand<'_>,
        location: i32,
    ) -> Result<Resolved, ByteRefusal> {
        let list = catalog::operators(sign, 2);
        let resolved = resolve::binary(&list, left.1, right.1)
            .map_err(|why| self.at_location(no_operator(sign, &[left.1, right.1], why), location))?;
        for ((node, kind), wanted) in [left, right].into_iter().zip(&resolved.arguments) {
            if let Some(node) = node {
                self.fits(node, kind, *wanted, Context::Implicit)?;
            }
        }
        Ok(resolved)
    }

    /// A comparison that is not written by its sign.
    pub(crate) fn compare(&self, sign: &str, left: Operand<'_>, right: Operand<'_>) -> Result<Resolved, ByteRefusal> {
        self.resolved(sign, left, right, -1).map_err(|refusal| match right.0.or(left.0) {
            Some(node) => self.at_node(refusal, node),
            None => refusal,
        })
    }

    /// Writes a word or sign between its operands. Returns where it begins and ends.
    pub(crate) fn word(&mut self, word: &str) -> (Offset, Offset) {
        let from = self.out.offset();
        self.out.push(' ');
        self.out.push_str(word);
        self.out.push(' ');
        (from, self.out.offset())
    }

    fn distinct(&mut self, left: Option<&Node>, word: &str, right: Option<&Node>, location: i32) -> Checked {
        if let (Some(one), Some(other)) = (row(left), row(right)) {
            return self.rows(one, word, "=", other, location);
        }
        let (one, other) = (self.required(left)?, self.required(right)?);
        let found = self.operand(one)?;
        self.word(word);
        let by = self.operand(other)?;
        // With NULL it is a test for null, of any type.
        if found.kind.is_unknown() || by.kind.is_unknown() {
            let kind = if found.kind.is_unknown() { by.kind } else { found.kind };
            let null = |node: &Node| matches!(node.node, Some(NodeEnum::AConst(_))) && text_constant(node).is_none();
            if (found.kind.is_unknown() && null(one)) || (by.kind.is_unknown() && null(other)) {
                return Ok(Seen::truth());
            }
            self.resolved("=", (Some(one), kind), (Some(other), by.kind), location)?;
        }
        let resolved = self.resolved("=", (Some(one), found.kind), (Some(other), by.kind), location)?;
        self.operated(&resolved, &[found, by])
    }

    fn among(&mut self, name: &str, left: Option<&Node>, right: Option<&Node>, location: i32) -> Checked {
        let word = if name == "<>" { "NOT IN" } else { "IN" };
        let sign = if name == "<>" { "<>" } else { "=" };
        let items = self.items(right, location)?;
        let before = self.listed;
        self.count_listed(left, items, location)?;
        if let Some(one) = row(left) {
            self.row_among(one, (word, sign), items, location)?;
            self.listed = before;
            return Ok(Seen::truth());
        }
        let value = self.required(left)?;
        let once = self.weight;
        let found = self.operand(value)?;
        let once = self.weight - once;
        self.word(word);
        let seen = self.listed_values(items)?;
        self.listed = before;
        for item in items {
            self.labels("=", value, item)?;
        }
        // Those without attributes become one array of the type that they have in common with the value.
        let (fixed, varying): (Vec<_>, Vec<_>) = (items.iter().zip(seen)).partition(|(_, seen)| seen.constant);
        let mut kinds = vec![found.kind];
        kinds.extend(fixed.iter().map(|(_, seen)| seen.kind));
        let same = resolve::common(&kinds).filter(|kind| fixed.len() > 1 && !kind.array);
        let mut compared = varying.len() + fixed.len();
        let one_by_one = match same {
            Some(kind) => {
                compared -= fixed.len() - 1;
                self.among_fixed(sign, (value, found), &fixed, kind)?;
                varying
            }
            None => [fixed, varying].concat(),
        };
        // All others are compared one by one, each with the value written anew.
        self.again(once, compared.saturating_sub(1))?;
        for (item, seen) in one_by_one {
            let resolved = self.compare(sign, (Some(value), found.kind), (Some(item), seen.kind))?;
            self.operated(&resolved, &[found, seen])?;
        }
        Ok(Seen::truth())
    }

    /// The values of a list; constant is what reads no attribute.
    fn listed_values(&mut self, items: &[Node]) -> Result<Vec<Seen>, ByteRefusal> {
        self.out.push('(');
        let mut values = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            let before = self.reads;
            let seen = self.expression(item)?;
            let constant = self.reads == before;
            values.push(Seen { constant, ..seen });
        }
        self.out.push(')');
        Ok(values)
    }

    /// A value compared with an array that Postgres makes of constants.
    fn among_fixed(&mut self, sign: &str, (value, found): (&Node, Seen), fixed: &[(&Node, Seen)], kind: Kind) -> Done {
        for (item, seen) in fixed {
            self.fits(item, seen.kind, kind, Context::Implicit)?;
        }
        let resolved = self.compare(sign, (Some(value), found.kind), (None, kind))?;
        let elements: Vec<Seen> = fixed.iter().map(|(_, seen)| *seen).collect();
        let elements = self.coerced_all(&elements, kind)?;
        let array = self.made("copy", Kind::many(kind.base), &elements)?;
        self.operated_on_array(&resolved, found, array)?;
        Ok(())
    }

    /// Makes the result of an operator between a value and each element of an array.
    fn operated_on_array(&mut self, resolved: &Resolved, value: Seen, array: Seen) -> Checked {
        let wanted = [resolved.arguments[0], Kind::many(resolved.arguments[1].base)];
        let taken = self.taken(&[value, array], &wanted)?;
        self.made(resolved.signature.makes, Kind::BOOL, &taken)
    }

    /// Refuses too many values of a list that are no constants: each is a level to Postgres.
    fn count_listed(&mut self, left: Option<&Node>, items: &[Node], location: i32) -> Done {
        let varying = |item: &&Node| row(Some(item)).is_some() || !is_constant(item);
        self.listed += items.iter().filter(varying).count();
        if self.listed > MAX_LISTED {
            let rows = row(left).is_some();
            let (message, hint) = match rows {
                true => (
                    format!("a list of more than {MAX_LISTED} rows"),
                    "join several lists by OR, or compare one text: a1 || '/' || a2 IN ('x/y', …)",
                ),
                false => {
                    (format!("a list of more than {MAX_LISTED} values that are no constants"), "write = ANY (ARRAY[…])")
                }
            };
            return Err(self.refuse(RefusalCode::TooDeep, message, location).hint(hint));
        }
        Ok(())
    }

    fn row_among(&mut self, one: &RowExpr, (word, sign): (&str, &str), items: &[Node], location: i32) -> Done {
        let before = self.weight;
        let kinds = self.row(one)?;
        self.again(self.weight - before, items.len().saturating_sub(1))?;
        self.word(word);
        self.out.push('(');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            let Some(other) = row(Some(item)) else {
                let message = "rows are compared with rows";
                return Err(self.refuse(RefusalCode::Construct, message, location));
            };
            let others = self.row(other)?;
            self.pairs(sign, &one.args, &kinds, &other.args, &others, location)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn any_of(
        &mut self,
        kind: AExprKind,
        name: &str,
        left: Option<&Node>,
        right: Option<&Node>,
        location: i32,
    ) -> Checked {
        let sign = self.sign(name, &QUANTIFIED, location)?;
        let (value, array) = (self.required(left)?, self.required(right)?);
        let found = self.operand(value)?;
        let (from, to) = self.word(sign);
        let any = kind == AExprKind::AexprOpAny;
        self.out.push_str(if any { "ANY (" } else { "ALL (" });
        let list = self.expression(array)?;
        self.out.push(')');
        let element = if list.kind.is_unknown() {
            Kind::UNKNOWN
        } else if list.kind.array {
            list.kind.element()
        } else {
            let message = format!("{} is no array", list.kind);
            let refusal =
                ByteRefusal::new(RefusalCode::Type, message).hint("write ARRAY[…], or IN (…) for a list of values");
            return Err(self.at_node(refusal, array));
        };
        let resolved = self.resolved(sign, (Some(value), found.kind), (None, element), location)?;
        if list.kind.is_unknown() {
            let wanted = Kind::many(resolved.arguments[1].base);
            self.fits(array, Kind::UNKNOWN, wanted, Context::Implicit)?;
        }
        self.run_bounded(&resolved, &[value], (from, to), sign)?;
        self.operated_on_array(&resolved, found, list)
    }

    /// Two rows of as many values, compared one by one.
    fn rows(&mut self, one: &RowExpr, word: &str, sign: &str, other: &RowExpr, location: i32) -> Checked {
        let kinds = self.row(one)?;
        self.word(word);
        let others = self.row(other)?;
        self.pairs(sign, &one.args, &kinds, &other.args, &others, location)?;
        Ok(Seen::truth())
    }

    pub(crate) fn row(&mut self, row: &RowExpr) -> Result<Vec<Seen>, ByteRefusal> {
        let open = if row.args.len() < 2 { "ROW(" } else { "(" };
        self.list(open, &row.args, ")")
    }

    fn pairs(
        &mut self,
        sign: &str,
        ones: &[Node],
        kinds: &[Seen],
        others: &[Node],
        other_kinds: &[Seen],
        location: i32,
    ) -> Done {
        if ones.len() != others.len() || ones.is_empty() {
            let message = "the rows have different numbers of values";
            return Err(self.refuse(RefusalCode::Construct, message, location));
        }
        for (((one, kind), other), other_kind) in ones.iter().zip(kinds).zip(others).zip(other_kinds) {
            let (left, right) = ((Some(one), kind.kind), (Some(other), other_kind.kind));
            let resolved = self.resolved(sign, left, right, location)?;
            self.operated(&resolved, &[*kind, *other_kind])?;
        }
        Ok(())
    }

    fn items<'n>(&self, node: Option<&'n Node>, location: i32) -> Result<&'n [Node], ByteRefusal> {
        match self.required(node)?.node.as_ref() {
            Some(NodeEnum::List(List { items })) => Ok(items),
            Some(other) => Err(foreign(other)),
            None => Err(self.refuse(RefusalCode::Construct, "a list is missing", location)),
        }
    }

    /// Checks the pattern that follows LIKE.
    fn pattern<'n>(&mut self, node: &'n Node) -> Result<(Option<&'n Node>, Seen), ByteRefusal> {
        if let Some(NodeEnum::FuncCall(call)) = node.node.as_ref()
            && function_name(call) == Some("like_escape")
            && let [pattern, escape] = call.args.as_slice()
        {
            self.plain(call)?;
            let from = self.out.offset();
            let found = self.operand(pattern)?;
            self.fits(pattern, found.kind, Kind::TEXT, Context::Implicit)?;
            let (between, to) = self.word("ESCAPE");
            let by = self.operand(escape)?;
            let taken = self.made("copy", Kind::TEXT, &[found, by])?;
            self.fits(escape, by.kind, Kind::TEXT, Context::Implicit)?;
            if text_constant(escape).is_none_or(|text| text.chars().count() > 1) {
                let message = "ESCAPE takes one character";
                return Err(self.refuse(RefusalCode::Construct, message, call.location));
            }
            self.out.run_as_call("like_escape", from, Some((between, to)));
            return Ok((None, taken));
        }
        let found = self.operand(node)?;
        if let Some(text) = text_constant(node) {
            let slashes = text.chars().rev().take_while(|c| *c == '\\').count();
            if slashes % 2 == 1 {
                let message = "the pattern ends with its escape character";
                let refusal =
                    ByteRefusal::new(RefusalCode::Construct, message).hint("write \\\\ for a backslash itself");
                return Err(self.at_node(refusal, node));
            }
        }
        Ok((Some(node), found))
    }

    /// The exponent of a power: where it is written there, no large number. What else it may come to is looked
    /// at when it is run.
    pub(crate) fn small_power(&self, exponent: &Node, location: i32) -> Done {
        let size = |number: &str| number.parse::<f64>().is_ok_and(|size| size.abs() > MAX_POWER as f64);
        let large = match literal_number(exponent) {
            Some(number) => size(&number),
            None => false,
        };
        if !large {
            return Ok(());
        }
        let message = format!("a power's exponent is at most {MAX_POWER}");
        let refusal = self.refuse(RefusalCode::TooLarge, message, location);
        Err(refusal.hint("multiply instead"))
    }
}

/// Returns true for a cast to a type of words that are searched for.
fn is_of_words(cast: &TypeCast) -> bool {
    let name = cast.type_name.as_ref().and_then(|kind| kind.names.last());
    name.and_then(text_of).is_some_and(|name| name.starts_with("ts"))
}

/// A number that is written there, without its sign, also with a type said.
fn literal_number(node: &Node) -> Option<String> {
    match node.node.as_ref()? {
        NodeEnum::AConst(constant) => match constant.val.as_ref()? {
            Val::Ival(value) => Some(value.ival.to_string()),
            Val::Fval(value) => Some(value.fval.replace('_', "")),
            Val::Sval(text) => Some(text.sval.trim().to_owned()),
            _ => None,
        },
        NodeEnum::TypeCast(cast) => literal_number(cast.arg.as_deref()?),
        NodeEnum::AExpr(sign) if sign.lexpr.is_none() => literal_number(sign.rexpr.as_deref()?),
        _ => None,
    }
}

fn row(node: Option<&Node>) -> Option<&RowExpr> {
    match node?.node.as_ref()? {
        NodeEnum::RowExpr(row) => Some(row),
        _ => None,
    }
}
