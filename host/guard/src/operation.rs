//! Operators: which are allowed, on what types, and what is searched for.

use pg_query::protobuf::{AExpr, AExprKind, List, RowExpr, TypeCast, a_const::Val};
use pg_query::{Node, NodeEnum};
use wedflow_model::{AttributeType, ScalarType};

use crate::allowed::{BINARY, COMPARISON, MATCHING, PREFIX, QUANTIFIED};
use crate::call::{function_name, is_number, power_cost};
use crate::catalog;
use crate::containment::{made_here, made_range};
use crate::expression::{Checked, Done, Seen, Walk};
use crate::kind::{Base, Context, Kind};
use crate::node::{constant_length, constant_text, foreign, text_constant, text_of, written_text};
use crate::pattern::{self, Objection};
use crate::rejection::{Fault, RejectionCode};
use crate::resolve::{self, Resolved};
use crate::type_name::as_text;
use crate::written::Guard;

/// The most that is searched for, all of a fragment together, in bytes: each is held against every byte of a
/// long text.
const MAX_SOUGHT: usize = 1024;
/// What something searched for counts that is no constant: a text, and an array or document.
const SOUGHT: usize = 128;
const SOUGHT_WIDE: usize = 256;
/// What a path into a document counts that is a chain of names: each takes a look at each value at most.
const PLAIN_PATH: usize = 24;
/// The longest text that is made of constants when it is run; what is no constant is held to it then.
pub(crate) const MAX_SHORT: usize = 256;
/// The most characters of a set, as those of `translate` and `btrim`, and how often each counts.
const MAX_SET: usize = 64;
const SET_WEIGHT: usize = 4;
/// What ILIKE counts besides its pattern, as it makes all of the text anew.
const ILIKE: usize = 8;
/// The most values of a list that are no constants: each is a level to Postgres.
const MAX_LISTED: usize = 100;
/// The longest document that is looked for in another one.
const MAX_DOCUMENT: u64 = 2 << 10;

/// What is done with something that is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// Looked for in a text, as a whole.
    Text,
    /// The same without regard to case.
    AnyCase,
    /// An array or document whose parts are looked for.
    Parts,
    /// A set of characters.
    Set,
}

/// The most conversions of documents and arrays: taking text out of a document counts one, making another of one
/// counts two, writing or reading all of one counts four.
const MAX_CONVERSIONS: usize = 64;
pub(crate) const CONVERSION: usize = 4;

/// The largest exponent that needs no look at the base when it is run, and the largest that may be written.
pub(crate) const SMALL_POWER: i64 = 16;
const MAX_POWER: i64 = 1000;
/// The most that the sizes of a fragment's regular expressions come to.
const MAX_PATTERNS: usize = 1600;

/// An operand: what was written, and what it is.
pub(crate) type Operand<'n> = (Option<&'n Node>, Kind);

impl Walk<'_> {
    pub(crate) fn operation(&mut self, operation: &AExpr) -> Checked {
        let AExpr {
            kind,
            name,
            lexpr,
            rexpr,
            rexpr_list_start: _,
            rexpr_list_end: _,
            location,
        } = operation;
        let name = match name.as_slice() {
            [name] => text_of(name).unwrap_or_default(),
            // All operators that are allowed are of this schema.
            [schema, name] if text_of(schema) == Some("pg_catalog") => {
                text_of(name).unwrap_or_default()
            }
            _ => {
                return Err(self
                    .refuse(
                        RejectionCode::Operator,
                        "operators are those of the schema pg_catalog",
                        *location,
                    )
                    .hint("write the operator's sign alone"));
            }
        };
        let (left, right) = (lexpr.as_deref(), rexpr.as_deref());
        let kind = AExprKind::try_from(*kind).unwrap_or(AExprKind::Undefined);
        match kind {
            AExprKind::AexprOp => match (row(left), row(right)) {
                (Some(one), Some(other)) => {
                    let sign = self.sign(name, &COMPARISON, *location)?;
                    self.rows(one, sign, sign, other, *location)
                }
                _ if left.is_some() => self.infix(name, left, right, *location),
                _ => {
                    let sign = self.sign(name, &PREFIX, *location)?;
                    self.out.push_str(sign);
                    self.out.push(' ');
                    let node = self.required(right)?;
                    let found = self.operand(node)?;
                    let list = catalog::operators(sign, 1);
                    let resolved = resolve::select(&list, &[found.kind])
                        .map_err(|why| self.no_operator(sign, &[found.kind], why, *location))?;
                    self.fits(node, found.kind, resolved.arguments[0], Context::Implicit)?;
                    self.made(resolved.result, found.size, found.constant)
                }
            },
            AExprKind::AexprOpAny | AExprKind::AexprOpAll => {
                self.any_of(kind, name, left, right, *location)
            }
            AExprKind::AexprDistinct => self.distinct(left, "IS DISTINCT FROM", right, *location),
            AExprKind::AexprNotDistinct => {
                self.distinct(left, "IS NOT DISTINCT FROM", right, *location)
            }
            AExprKind::AexprNullif => {
                self.out.push_str("NULLIF(");
                let (one, other) = (self.required(left)?, self.required(right)?);
                let found = self.expression(one)?;
                self.out.push_str(", ");
                let by = self.expression(other)?;
                self.out.push(')');
                let resolved =
                    self.compare("=", (Some(one), found.kind), (Some(other), by.kind))?;
                Ok(Seen {
                    kind: if found.kind.is_unknown() {
                        resolved.arguments[0]
                    } else {
                        found.kind
                    },
                    ..found
                })
            }
            AExprKind::AexprIn => self.among(name, left, right, *location),
            AExprKind::AexprLike | AExprKind::AexprIlike => {
                let (word, sign) = match (kind, name.starts_with('!')) {
                    (AExprKind::AexprLike, false) => ("LIKE", "~~"),
                    (AExprKind::AexprLike, true) => ("NOT LIKE", "!~~"),
                    (_, false) => ("ILIKE", "~~*"),
                    (_, true) => ("NOT ILIKE", "!~~*"),
                };
                let one = self.required(left)?;
                let text = self.operand(one)?;
                self.word(word);
                let how = match kind {
                    AExprKind::AexprLike => Sought::Text,
                    _ => Sought::AnyCase,
                };
                let (pattern, found) = self.pattern(self.required(right)?, how)?;
                self.resolved(sign, (Some(one), text.kind), (pattern, found), *location)?;
                Ok(Seen::truth())
            }
            AExprKind::AexprBetween
            | AExprKind::AexprNotBetween
            | AExprKind::AexprBetweenSym
            | AExprKind::AexprNotBetweenSym => {
                let [low, high] = self.items(right, *location)? else {
                    let message = "BETWEEN takes two bounds";
                    return Err(self.refuse(RejectionCode::Construct, message, *location));
                };
                let word = match kind {
                    AExprKind::AexprBetween => "BETWEEN",
                    AExprKind::AexprNotBetween => "NOT BETWEEN",
                    AExprKind::AexprBetweenSym => "BETWEEN SYMMETRIC",
                    _ => "NOT BETWEEN SYMMETRIC",
                };
                let value = self.required(left)?;
                let found = self.operand(value)?;
                self.word(word);
                for (at, (sign, bound)) in [(">=", low), ("<=", high)].into_iter().enumerate() {
                    if at > 0 {
                        self.word("AND");
                    }
                    let limit = self.operand(bound)?;
                    let limit = (Some(bound), limit.kind);
                    self.resolved(sign, (Some(value), found.kind), limit, *location)?;
                }
                Ok(Seen::truth())
            }
            AExprKind::AexprSimilar => {
                let one = self.required(left)?;
                let text = self.matched(one, false)?;
                self.word(if name == "!~" {
                    "NOT SIMILAR TO"
                } else {
                    "SIMILAR TO"
                });
                let pattern = match self.required(right)?.node.as_ref() {
                    Some(NodeEnum::FuncCall(call))
                        if function_name(call) == Some("similar_to_escape") =>
                    {
                        self.plain(call)?;
                        match call.args.as_slice() {
                            [pattern] => pattern,
                            _ => {
                                let message = "SIMILAR TO is written without ESCAPE";
                                return Err(self
                                    .refuse(RejectionCode::Construct, message, *location)
                                    .hint("the escape character is the backslash"));
                            }
                        }
                    }
                    _ => self.required(right)?,
                };
                self.pattern_size(pattern, 1)?;
                if let Some(text) = constant_text(pattern) {
                    pattern::similar(text).map_err(|objection| {
                        self.objection(RejectionCode::TooComplex, objection, pattern)
                    })?;
                }
                let found = self.operand(pattern)?;
                self.fits(pattern, found.kind, Kind::TEXT, Context::Implicit)?;
                self.resolved("~", (Some(one), text.kind), (None, Kind::TEXT), *location)?;
                Ok(Seen::truth())
            }
            AExprKind::Undefined => {
                Err(self.refuse(RejectionCode::Operator, "an unknown operation", *location))
            }
        }
    }

    /// The operator's sign as our own text, when it is on the list.
    fn sign(
        &self,
        name: &str,
        allowed: &[&'static str],
        location: i32,
    ) -> Result<&'static str, Fault> {
        if let Some(sign) = allowed.iter().find(|sign| **sign == name) {
            return Ok(sign);
        }
        let fault = self.refuse(
            RejectionCode::Operator,
            format!("the operator `{name}` is not allowed here"),
            location,
        );
        Err(match name {
            "~" | "~*" | "!~" | "!~*" => {
                fault.hint("join several conditions by OR, or write one regular expression with |")
            }
            "==" => fault.hint("write ="),
            "!" => fault.hint("write NOT"),
            "!==" | "=!" => fault.hint("write <>"),
            "=~" => fault.hint("write ~ for a regular expression, LIKE for a pattern"),
            "<=>" => fault.hint("write IS NOT DISTINCT FROM"),
            "**" => fault.hint("write ^"),
            name if name.contains('`') => {
                fault.hint("names stand alone or in double quotes, text in single quotes")
            }
            _ => fault.hint(format!("allowed are {}", allowed.join(" "))),
        })
    }

    fn infix(
        &mut self,
        name: &str,
        left: Option<&Node>,
        right: Option<&Node>,
        location: i32,
    ) -> Checked {
        let sign = self.sign(name, &BINARY, location)?;
        let (one, other) = (self.required(left)?, self.required(right)?);
        if COMPARISON.contains(&sign) {
            self.labels(sign, one, other)?;
            self.labels(sign, other, one)?;
        }
        if let "@?" | "@@" = sign {
            // Of a search of words, that it is none of the functions or types is said first.
            for side in [one, other] {
                match &side.node {
                    Some(NodeEnum::FuncCall(call))
                        if function_name(call).is_some_and(|name| name.contains("_ts")) =>
                    {
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
            return self.matching(sign, one, other, location);
        }
        let mut power = None;
        if sign == "^" {
            self.small_power(other, location)?;
            power = crate::literal::small_integer(other, SMALL_POWER);
        }
        let raised = sign == "^" && power.is_none();
        if raised {
            self.out.guard(Guard::Power);
        }
        let found = self.operand(one)?;
        if raised {
            self.out.guard(Guard::Raised);
            self.out.push(' ');
        } else {
            self.word(sign);
        }
        let searches = match sign {
            // The longer of two takes the product of their lengths.
            "@>" | "<@" | "&&" if made_range(one) || made_range(other) => None,
            "@>" | "<@" | "&&" | "?|" | "?&" if !found.constant => Some(Sought::Parts),
            "-" if found.kind == Kind::one(Base::Jsonb) => Some(Sought::Parts),
            "~~" | "!~~" => Some(Sought::Text),
            "~~*" | "!~~*" => Some(Sought::AnyCase),
            _ => None,
        };
        let by = match searches {
            Some(how) => self.sought_for(other, how)?,
            None => self.operand(other)?,
        };
        if let ("@>" | "<@" | "&&", Some(_)) = (sign, searches)
            && found.kind.array
            && !by.constant
        {
            self.list_against_list(one, found)?;
            self.list_against_list(other, by)?;
        }
        if let "?|" | "?&" = sign
            && !by.constant
        {
            self.list_against_list(other, by)?;
        }
        // Of two documents each part of the one is looked for in the other.
        let contained = match sign {
            "@>" => Some((other, by)),
            "<@" => Some((one, found)),
            _ => None,
        };
        if let Some((part, seen)) = contained
            && found.kind == Kind::one(Base::Jsonb)
            && by.kind == found.kind
            && !(found.constant || by.constant || made_here(part) || seen.size <= MAX_DOCUMENT)
            && !self.of_scalars(part)
            && !self.of_scalars(if sign == "@>" { one } else { other })
        {
            let message = "documents of any length are held against each other";
            let fault = Fault::new(RejectionCode::TooLarge, message)
                .hint("write what is looked for: doc @> jsonb_build_object('a', a1)");
            return Err(self.placed(fault, part));
        }
        if let "->>" | "#>>" = sign {
            self.converted(1)?;
        }
        // In the constant on the left it is what is searched for.
        if let "@>" | "<@" | "&&" = sign
            && found.constant
            && !by.constant
            && !(made_range(one) || made_range(other))
        {
            self.count_sought(constant_length(one).unwrap_or(SOUGHT_WIDE), one)?;
        }
        if raised {
            self.out.guard(Guard::End);
        }
        // To an array, a constant without a type is another one.
        let same = |kind: Kind, other: Kind| match sign == "||" && other.array && kind.is_unknown()
        {
            true => other,
            false => kind,
        };
        let left_kind = same(found.kind, by.kind);
        let right_kind = same(by.kind, found.kind);
        for (node, kind, was) in [(one, left_kind, found.kind), (other, right_kind, by.kind)] {
            if kind != was {
                self.fits(node, was, kind, Context::Implicit)
                    .map_err(|fault| {
                        fault.hint("to append an element say its type: tags || 'x'::text")
                    })?;
            }
        }
        let resolved = self.resolved(
            sign,
            (Some(one), left_kind),
            (Some(other), right_kind),
            location,
        )?;
        let decimal = resolved.arguments.contains(&Kind::one(Base::Numeric));
        match sign {
            "*" | "/" | "%" if decimal => self.multiplied(1)?,
            "^" if decimal => self.multiplied(power_cost(power))?,
            _ => {}
        }
        if let "||" | "-" | "#-" = sign
            && resolved.result == Kind::one(Base::Jsonb)
            && !(found.constant && by.constant)
        {
            self.converted(2)?;
            self.remade(self.documents(one) + self.documents(other))?;
        }
        let text = sign == "||" && resolved.result == Kind::TEXT;
        if text {
            self.converted(self.written_anew(one, found) + self.written_anew(other, by))?;
        }
        // Text is taken out of a document as it is written in JSON.
        let size = match sign {
            "->>" | "#>>" => found.size.saturating_mul(6),
            _ if text => as_text(found).saturating_add(as_text(by)),
            _ => found.size.saturating_add(by.size),
        };
        self.made(resolved.result, size, found.constant && by.constant)
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
            let fault = Fault::new(RejectionCode::Type, message)
                .hint(format!("the labels are {shown}, in single quotes"));
            return Err(self.placed(fault, other));
        }
        if !matches!(sign, "=" | "<>") {
            let message = "the labels of an enum are in no order";
            let fault = Fault::new(RejectionCode::Type, message)
                .hint(format!("compare with IN (…); the labels are {shown}"));
            return Err(self.placed(fault, attribute));
        }
        match text_constant(other) {
            Some(text) if !labels.iter().any(|label| label == text) => {
                let text = crate::rejection::shorten(text, 40);
                let message = format!("'{text}' is no label of `{name}`");
                let fault = Fault::new(RejectionCode::Type, message)
                    .hint(format!("the labels are {shown}"));
                Err(self.placed(fault, other))
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
            AttributeType {
                scalar: ScalarType::Enum(labels),
                array: false,
            } => Some(labels),
            _ => None,
        }
    }

    /// A text held against a regular expression.
    fn matching(&mut self, sign: &str, one: &Node, other: &Node, location: i32) -> Checked {
        self.pattern_size(other, 1)?;
        let text = self.matched(one, false)?;
        self.word(sign);
        let by = self.operand(other)?;
        self.resolved(
            sign,
            (Some(one), text.kind),
            (Some(other), by.kind),
            location,
        )?;
        Ok(Seen::truth())
    }

    /// A text that a regular expression is held against, `often` when for all matches.
    pub(crate) fn matched(&mut self, node: &Node, often: bool) -> Checked {
        let guard = text_constant(node).is_none();
        if guard {
            self.out.guard(if often {
                Guard::MatchedOften
            } else {
                Guard::Matched
            });
        }
        let found = self.operand(node)?;
        if guard {
            self.out.guard(Guard::End);
        }
        Ok(found)
    }

    /// A regular expression must be written there, and small.
    pub(crate) fn pattern_size(&mut self, node: &Node, times: usize) -> Done {
        let Some(text) = constant_text(node) else {
            let message = "a regular expression is text in quotes";
            let fault = Fault::new(RejectionCode::Operator, message)
                .hint("write it itself; for a pattern in an attribute use LIKE");
            return Err(self.placed(fault, node));
        };
        let size = pattern::size(text)
            .map_err(|objection| self.objection(pattern::code_of(&objection), objection, node))?;
        self.patterns += size * times;
        if self.patterns > MAX_PATTERNS {
            let message = "its regular expressions together could take very long";
            let fault = Fault::new(RejectionCode::TooComplex, message)
                .hint("use fewer or shorter ones; LIKE and IN (…) cost less");
            return Err(self.placed(fault, node));
        }
        Ok(())
    }

    /// A path into a document must be written there, and take the time of one look at all of it.
    pub(crate) fn path(&mut self, node: &Node, location: i32) -> Done {
        let text = match &node.node {
            Some(NodeEnum::TypeCast(cast)) => cast.arg.as_deref().and_then(text_constant),
            _ => text_constant(node),
        };
        let Some(text) = text else {
            let message = "a path into a document is text in quotes";
            return Err(self
                .refuse(RejectionCode::Function, message, location)
                .hint("write it itself; with a key in an attribute use -> and ->>"));
        };
        pattern::path(text)
            .map_err(|objection| self.objection(pattern::code_of(&objection), objection, node))?;
        let cost = match pattern::is_plain_path(text) {
            true => PLAIN_PATH,
            false => SOUGHT,
        };
        self.count_sought(cost, node).map_err(|fault| Fault {
            message: format!(
                "its paths into documents, and what else it searches for, count more than {MAX_SOUGHT}"
            ),
            hint: format!(
                "a path of names alone counts {PLAIN_PATH}, any other {SOUGHT}; take values out with -> and ->>, or make several conditions"
            ),
            ..fault
        })
    }

    /// What is said against something written in a string, at its place.
    pub(crate) fn objection(
        &self,
        code: RejectionCode,
        (message, hint): Objection,
        node: &Node,
    ) -> Fault {
        self.placed(Fault::new(code, message).hint(hint), node)
    }

    /// The operator that Postgres would take, and its operands fit for it.
    fn resolved(
        &self,
        sign: &str,
        left: Operand<'_>,
        right: Operand<'_>,
        location: i32,
    ) -> Result<Resolved, Fault> {
        let list = catalog::operators(sign, 2);
        let resolved = resolve::binary(&list, left.1, right.1)
            .map_err(|why| self.no_operator(sign, &[left.1, right.1], why, location))?;
        if COMPARISON.contains(&sign)
            && let Some(kind) = resolved.arguments.first()
        {
            self.documents_compared(*kind, 1)?;
        }
        for ((node, kind), wanted) in [left, right].into_iter().zip(&resolved.arguments) {
            if let Some(node) = node {
                self.fits(node, kind, *wanted, Context::Implicit)?;
            }
        }
        Ok(resolved)
    }

    /// A comparison that is not written by its sign.
    pub(crate) fn compare(
        &self,
        sign: &str,
        left: Operand<'_>,
        right: Operand<'_>,
    ) -> Result<Resolved, Fault> {
        self.resolved(sign, left, right, -1)
            .map_err(|fault| match right.0.or(left.0) {
                Some(node) => self.placed(fault, node),
                None => fault,
            })
    }

    pub(crate) fn word(&mut self, word: &str) {
        self.out.push(' ');
        self.out.push_str(word);
        self.out.push(' ');
    }

    fn distinct(
        &mut self,
        left: Option<&Node>,
        word: &str,
        right: Option<&Node>,
        location: i32,
    ) -> Checked {
        if let (Some(one), Some(other)) = (row(left), row(right)) {
            return self.rows(one, word, "=", other, location);
        }
        let (one, other) = (self.required(left)?, self.required(right)?);
        let found = self.operand(one)?;
        self.word(word);
        let by = self.operand(other)?;
        // With NULL it is a test for null, of any type.
        if found.kind.is_unknown() || by.kind.is_unknown() {
            let kind = if found.kind.is_unknown() {
                by.kind
            } else {
                found.kind
            };
            let null = |node: &Node| text_constant(node).is_none();
            if (found.kind.is_unknown() && null(one)) || (by.kind.is_unknown() && null(other)) {
                return Ok(Seen::truth());
            }
            self.resolved("=", (Some(one), kind), (Some(other), by.kind), location)?;
        }
        self.resolved(
            "=",
            (Some(one), found.kind),
            (Some(other), by.kind),
            location,
        )?;
        Ok(Seen::truth())
    }

    fn among(
        &mut self,
        name: &str,
        left: Option<&Node>,
        right: Option<&Node>,
        location: i32,
    ) -> Checked {
        let word = if name == "<>" { "NOT IN" } else { "IN" };
        let sign = if name == "<>" { "<>" } else { "=" };
        let items = self.items(right, location)?;
        let before = self.listed;
        let varying = |item: &&Node| row(Some(item)).is_some() || constant_length(item).is_none();
        self.listed += items.iter().filter(varying).count();
        if self.listed > MAX_LISTED {
            let rows = row(left).is_some();
            let (message, hint) = match rows {
                true => (
                    format!("a list of more than {MAX_LISTED} rows"),
                    "join several lists by OR, or compare one text: a1 || '/' || a2 IN ('x/y', …)",
                ),
                false => (
                    format!("a list of more than {MAX_LISTED} values that are no constants"),
                    "write = ANY (ARRAY[…])",
                ),
            };
            return Err(self
                .refuse(RejectionCode::TooDeep, message, location)
                .hint(hint));
        }
        if let Some(one) = row(left) {
            let kinds = self.row(one)?;
            self.word(word);
            self.out.push('(');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    self.out.push_str(", ");
                }
                let Some(other) = row(Some(item)) else {
                    let message = "rows are compared with rows";
                    return Err(self.refuse(RejectionCode::Construct, message, location));
                };
                let others = self.row(other)?;
                self.pairs(sign, &one.args, &kinds, &other.args, &others, location)?;
            }
            self.out.push(')');
            self.listed = before;
            return Ok(Seen::truth());
        }
        let value = self.required(left)?;
        let found = self.operand(value)?;
        self.word(word);
        let seen = self.list("(", items, ")")?;
        self.listed = before;
        for item in items {
            self.labels("=", value, item)?;
        }
        // Constants become one array of the type they have in common with the value.
        let mut kinds = vec![found.kind];
        kinds.extend(seen.iter().map(|seen| seen.kind));
        let same = resolve::common(&kinds);
        for (item, seen) in items.iter().zip(&seen) {
            let (found, item_kind) = match same {
                Some(kind) => {
                    self.fits(item, seen.kind, kind, Context::Implicit)?;
                    (kind, kind)
                }
                None => (found.kind, seen.kind),
            };
            self.compare(sign, (Some(value), found), (Some(item), item_kind))?;
        }
        Ok(Seen::truth())
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
        let patterns = !COMPARISON.contains(&sign);
        if patterns {
            self.patterns_of(array, sign.ends_with('*'))?;
        }
        let found = self.operand(value)?;
        self.word(sign);
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
            let fault = Fault::new(RejectionCode::Type, message)
                .hint("write ARRAY[…], or IN (…) for a list of values");
            return Err(self.placed(fault, array));
        };
        let resolved = self.resolved(sign, (Some(value), found.kind), (None, element), location)?;
        if let Some(NodeEnum::AArrayExpr(written)) = &array.node {
            self.documents_compared(element, written.elements.len())?;
        }
        if list.kind.is_unknown() {
            let wanted = Kind::many(resolved.arguments[1].base);
            self.fits(array, Kind::UNKNOWN, wanted, Context::Implicit)?;
        }
        Ok(Seen::truth())
    }

    /// The patterns of LIKE ANY: written there, and counted as what is searched for.
    fn patterns_of(&mut self, array: &Node, any_case: bool) -> Done {
        let written = match &array.node {
            Some(NodeEnum::TypeCast(cast)) => cast.arg.as_deref().unwrap_or(array),
            _ => array,
        };
        let least = if any_case { ILIKE } else { 1 };
        let length = match &written.node {
            Some(NodeEnum::AArrayExpr(list)) => list.elements.iter().try_fold(0, |sum, one| {
                let text = constant_text(one)?;
                // Each is looked for by itself.
                (text.chars().rev().take_while(|c| *c == '\\').count() % 2 == 0)
                    .then_some(sum + text.len() + least)
            }),
            _ => text_constant(written)
                .filter(|text| !text.contains('\\'))
                .map(|text| text.len() + (text.matches(',').count() + 1) * least),
        };
        let Some(length) = length else {
            let message = "the patterns of LIKE ANY are written there, as text in quotes";
            let fault = Fault::new(RejectionCode::Operator, message)
                .hint("write LIKE ANY (ARRAY['…', '…']), or several LIKE joined by OR");
            return Err(self.placed(fault, array));
        };
        self.count_sought(length, array)
    }

    /// Counts bytes that are searched for.
    fn count_sought(&mut self, bytes: usize, node: &Node) -> Done {
        self.sought = self.sought.saturating_add(bytes);
        match self.sought > MAX_SOUGHT {
            true => Err(self.placed(too_much_sought(), node)),
            false => Ok(()),
        }
    }

    /// Two rows of as many values, compared one by one.
    fn rows(
        &mut self,
        one: &RowExpr,
        word: &str,
        sign: &str,
        other: &RowExpr,
        location: i32,
    ) -> Checked {
        let kinds = self.row(one)?;
        self.word(word);
        let others = self.row(other)?;
        self.pairs(sign, &one.args, &kinds, &other.args, &others, location)?;
        Ok(Seen::truth())
    }

    pub(crate) fn row(&mut self, row: &RowExpr) -> Result<Vec<Seen>, Fault> {
        let open = if row.args.len() < 2 { "ROW(" } else { "(" };
        self.list(open, &row.args, ")")
    }

    fn pairs(
        &self,
        sign: &str,
        ones: &[Node],
        kinds: &[Seen],
        others: &[Node],
        other_kinds: &[Seen],
        location: i32,
    ) -> Done {
        if ones.len() != others.len() || ones.is_empty() {
            let message = "the rows have different numbers of values";
            return Err(self.refuse(RejectionCode::Construct, message, location));
        }
        for (((one, kind), other), other_kind) in
            ones.iter().zip(kinds).zip(others).zip(other_kinds)
        {
            self.resolved(
                sign,
                (Some(one), kind.kind),
                (Some(other), other_kind.kind),
                location,
            )?;
        }
        Ok(())
    }

    fn items<'n>(&self, node: Option<&'n Node>, location: i32) -> Result<&'n [Node], Fault> {
        match self.required(node)?.node.as_ref() {
            Some(NodeEnum::List(List { items })) => Ok(items),
            Some(other) => Err(foreign(other)),
            None => Err(self.refuse(RejectionCode::Construct, "a list is missing", location)),
        }
    }

    /// What follows LIKE: `ESCAPE` hides in a function of the grammar's own making.
    fn pattern<'n>(&mut self, node: &'n Node, how: Sought) -> Result<Operand<'n>, Fault> {
        if let Some(NodeEnum::FuncCall(call)) = node.node.as_ref()
            && function_name(call) == Some("like_escape")
            && let [pattern, escape] = call.args.as_slice()
        {
            self.plain(call)?;
            let found = self.sought_for(pattern, how)?;
            self.fits(pattern, found.kind, Kind::TEXT, Context::Implicit)?;
            self.word("ESCAPE");
            let found = self.operand(escape)?;
            self.fits(escape, found.kind, Kind::TEXT, Context::Implicit)?;
            if text_constant(escape).is_none_or(|text| text.chars().count() > 1) {
                let message = "ESCAPE takes one character";
                return Err(self.refuse(RejectionCode::Construct, message, call.location));
            }
            return Ok((None, Kind::TEXT));
        }
        let found = self.sought_for(node, how)?;
        if let Some(text) = text_constant(node) {
            let slashes = text.chars().rev().take_while(|c| *c == '\\').count();
            if slashes % 2 == 1 {
                let message = "the pattern ends with its escape character";
                let fault = Fault::new(RejectionCode::Construct, message)
                    .hint("write \\\\ for a backslash itself");
                return Err(self.placed(fault, node));
            }
        }
        Ok((Some(node), found.kind))
    }

    /// Something that a text or array is searched for: searching takes the product of both lengths. What is
    /// no constant is held to its length when it is run.
    pub(crate) fn sought_for(&mut self, node: &Node, how: Sought) -> Checked {
        let text = written_text(node);
        let guard = text.is_none();
        if guard {
            self.out.guard(match how {
                Sought::Set => Guard::Few,
                _ => Guard::Short,
            });
        }
        let found = self.operand(node)?;
        if guard {
            self.out.guard(Guard::End);
        }
        let length = constant_length(node);
        let characters = text.map_or(length, |text| Some(text.chars().count()));
        if how == Sought::Set && characters.is_some_and(|count| count > MAX_SET) {
            let message = format!("a set of more than {MAX_SET} characters");
            let fault = Fault::new(RejectionCode::TooLarge, message)
                .hint("each character of the text is looked for in it; name fewer, or use a regular expression");
            return Err(self.placed(fault, node));
        }
        let made_here = made_here(node);
        let counted = match (how, length) {
            (_, Some(length)) if guard && !made_here && length > MAX_SHORT => {
                return Err(self.placed(too_much_sought(), node));
            }
            (Sought::Set, Some(_)) => characters.unwrap_or_default() * SET_WEIGHT,
            (Sought::Text, Some(length)) => length + 1,
            (Sought::AnyCase, Some(length)) => length + ILIKE,
            (Sought::Parts, Some(length)) => length,
            (Sought::Parts, None) if !made_here => SOUGHT_WIDE,
            (Sought::Set, None) => MAX_SET * SET_WEIGHT,
            (_, None) => SOUGHT,
        };
        self.count_sought(counted, node).map_err(|fault| match (how, length) {
            (Sought::Parts, None) => Fault {
                message: format!(
                    "the arrays and documents that it searches for count more than {MAX_SOUGHT}"
                ),
                hint: format!(
                    "each that is no constant counts {SOUGHT_WIDE}; write what is searched for, or make several conditions"
                ),
                ..fault
            },
            _ => fault,
        })?;
        Ok(found)
    }

    /// Counts values that are written anew in another notation, as documents and arrays as text.
    pub(crate) fn converted(&mut self, parts: usize) -> Done {
        self.conversions += parts;
        if self.conversions > MAX_CONVERSIONS {
            let message = "it makes too many documents, or text of documents and arrays";
            return Err(Fault::new(RejectionCode::TooComplex, message)
                .hint("compare parts of a document by @>, or in several conditions"));
        }
        Ok(())
    }

    /// The exponent of a power: where it is written there, no large number. What else it may come to is looked
    /// at when it is run.
    pub(crate) fn small_power(&self, exponent: &Node, location: i32) -> Done {
        let size = |number: &str| {
            number
                .parse::<f64>()
                .is_ok_and(|size| size.abs() > MAX_POWER as f64)
        };
        let large = match literal_number(exponent) {
            Some(number) => size(&number),
            None => false,
        };
        if !large {
            return Ok(());
        }
        let message = format!("a power's exponent is at most {MAX_POWER}");
        let fault = self.refuse(RejectionCode::TooLarge, message, location);
        Err(fault.hint("multiply instead"))
    }
}

fn too_much_sought() -> Fault {
    let message = format!("more than {MAX_SOUGHT} bytes to search for");
    Fault::new(RejectionCode::TooLarge, message)
        .hint("search for less; compare whole values with IN (…)")
}

/// Whether it is a cast to a type of words that are searched for.
fn is_of_words(cast: &TypeCast) -> bool {
    let name = cast.type_name.as_ref().and_then(|kind| kind.names.last());
    name.and_then(text_of)
        .is_some_and(|name| name.starts_with("ts"))
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
