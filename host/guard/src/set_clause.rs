//! The clause a transition returns.

use std::fmt;
use std::sync::Arc;

use pg_query::protobuf::{AConst, BoolExprType, MultiAssignRef, RangeVar, ResTarget, Token, UpdateStmt, a_const::Val};
use pg_query::{Node, NodeEnum};
use wedflow_model::{Assignment, AttributeType};

use crate::attributes::Attribute;
use crate::expression::Walk;
use crate::fragment::Fragment;
use crate::kind::{Base, Context, Kind};
use crate::literal::{Constant, small_integer, write_text};
use crate::node::{text_constant, unknown};
use crate::refusal::{ByteRefusal, Refusal, RefusalCode};
use crate::weight::{Seen, Size};
use crate::{FlowAttributes, MAX_BYTES, MAX_NODES};

const WRAPPER: &str = "UPDATE wed_flow SET ";

/// A `SET` clause that may go to the database: every attribute is one of the flow's, is set once,
/// and its value is a constant to be bound or an expression written anew from checked nodes.
///
/// `Display` gives it as SQL, which parses to an equal clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedSetClause {
    assignments: Vec<CheckedAssignment>,
}

/// An `attribute = value` of a checked clause.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedAssignment {
    /// The attribute's name, unquoted.
    pub attribute: Arc<str>,
    /// Name as SQL writes it, with the subscripts of an element: `doc['a']`.
    pub quoted: Arc<str>,
    /// New value.
    pub value: CheckedValue,
}

/// The right side of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckedValue {
    /// A constant in Postgres's input notation, or nothing for null: to be bound as text and cast to
    /// the attribute's type.
    Literal(Option<String>),
    /// An expression over the flow's attributes.
    Expression {
        /// Clause as SQL.
        sql: String,
        /// As SQL to be run: values that could take too long are refused by functions of the schema
        /// `wed_bounded`.
        guarded: String,
    },
    /// The attribute's default value.
    Default,
}

impl CheckedSetClause {
    /// Checks the clause a transition returned, without the word `SET`.
    ///
    /// # Errors
    /// A [`Refusal`] that says what is wrong and where.
    pub fn parse(text: &str, attributes: &FlowAttributes) -> Result<Self, Refusal> {
        if let Some(clause) = constants_only(text, attributes) {
            return Ok(clause);
        }
        let fragment = Fragment::new(WRAPPER, text)?;
        checked(&fragment, attributes).map_err(|refusal| fragment.reject(refusal))
    }

    /// Makes a clause of a transition's typed result. All its values are literals.
    ///
    /// # Errors
    /// A [`Refusal`] when an attribute is unknown or set twice, or when there are none. There being
    /// no text, its position is the number of the assignment, counted from 1.
    pub fn from_assignments(assignments: &[Assignment], attributes: &FlowAttributes) -> Result<Self, Refusal> {
        let at = |index: usize, token: &str, refusal: ByteRefusal| Refusal {
            code: refusal.code,
            message: refusal.message,
            position: index + 1,
            token: token.to_owned(),
            hint: refusal.hint,
        };
        let mut builder = Builder::new(attributes);
        for (index, assignment) in assignments.iter().enumerate() {
            let name = assignment.attribute.as_str();
            let value = CheckedValue::Literal(assignment.value.to_literal());
            builder
                .target(name)
                .and_then(|target| builder.set(target, value))
                .map_err(|refusal| at(index, name, refusal))?;
        }
        if assignments.is_empty() {
            let refusal = ByteRefusal::new(RefusalCode::Empty, "no attribute is set");
            return Err(at(0, "", refusal));
        }
        Ok(builder.finish())
    }

    /// The assignments, in the order of the flow's attributes.
    pub fn assignments(&self) -> &[CheckedAssignment] {
        &self.assignments
    }

    /// The attributes that are set, in the order of the flow's attributes.
    pub fn attributes_written(&self) -> impl Iterator<Item = &str> {
        self.assignments.iter().map(|assignment| &*assignment.attribute)
    }

    /// The clause as SQL to be run: values that could take too long are refused by functions of the
    /// schema `wed_bounded`.
    pub fn guarded(&self) -> String {
        self.written(true)
    }

    fn written(&self, run: bool) -> String {
        let mut text = String::new();
        for (at, assignment) in self.assignments.iter().enumerate() {
            if at > 0 {
                text.push_str(", ");
            }
            text.push_str(&assignment.quoted);
            text.push_str(" = ");
            match &assignment.value {
                CheckedValue::Literal(None) => text.push_str("NULL"),
                CheckedValue::Literal(Some(literal)) => write_text(&mut text, literal),
                CheckedValue::Expression { guarded, .. } if run => text.push_str(guarded),
                CheckedValue::Expression { sql, .. } => text.push_str(sql),
                CheckedValue::Default => text.push_str("DEFAULT"),
            }
        }
        text
    }

    /// Takes the assignments out, in the order of the flow's attributes.
    pub fn into_assignments(self) -> Vec<CheckedAssignment> {
        self.assignments
    }

    /// The literals, in the order of their assignments.
    pub fn literals(&self) -> impl Iterator<Item = Option<&str>> {
        self.assignments.iter().filter_map(|assignment| match &assignment.value {
            CheckedValue::Literal(literal) => Some(literal.as_deref()),
            CheckedValue::Expression { .. } | CheckedValue::Default => None,
        })
    }
}

impl fmt::Display for CheckedSetClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(false))
    }
}

/// Collects assignments, one slot for each attribute.
struct Builder<'a> {
    attributes: &'a FlowAttributes,
    slots: Vec<Slot>,
}

/// Attribute and its new value.
struct Slot {
    target: usize,
    /// The subscripts of its element that is set; empty for the attribute itself.
    element: String,
    value: CheckedValue,
}

impl<'a> Builder<'a> {
    fn new(attributes: &'a FlowAttributes) -> Self {
        Builder { attributes, slots: Vec::new() }
    }

    fn target(&self, name: &str) -> Result<usize, ByteRefusal> {
        self.attributes.find(name).ok_or_else(|| unknown(self.attributes, name))
    }

    fn set(&mut self, target: usize, value: CheckedValue) -> Result<(), ByteRefusal> {
        self.set_element(target, String::new(), value)
    }

    fn set_element(&mut self, target: usize, element: String, value: CheckedValue) -> Result<(), ByteRefusal> {
        if self.slots.iter().any(|slot| slot.target == target) {
            let name = &self.attributes.get(target).name;
            return Err(ByteRefusal::new(
                RefusalCode::DuplicateAttribute,
                format!("the attribute `{name}` is set twice"),
            ));
        }
        self.slots.push(Slot { target, element, value });
        Ok(())
    }

    fn finish(mut self) -> CheckedSetClause {
        self.slots.sort_by_key(|slot| slot.target);
        let assignments = (self.slots.into_iter())
            .map(|slot| {
                let attribute = self.attributes.get(slot.target);
                CheckedAssignment {
                    attribute: attribute.name.clone(),
                    quoted: match slot.element.is_empty() {
                        true => attribute.quoted.clone(),
                        false => format!("{}{}", attribute.quoted, slot.element).into(),
                    },
                    value: slot.value,
                }
            })
            .collect();
        CheckedSetClause { assignments }
    }
}

/// The common case, a clause of nothing but plain names and plain constants, which can mean one thing only; all else,
/// errors included, is left to the parser.
fn constants_only(text: &str, attributes: &FlowAttributes) -> Option<CheckedSetClause> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut builder = Builder::new(attributes);
    let mut tokens = crate::plain::tokens(text)?.into_iter();
    loop {
        let (Token::Ident, name) = tokens.next()? else {
            return None;
        };
        let target = builder.target(name).ok()?;
        let Attribute { kind, quoted, .. } = attributes.get(target);
        // A keyword, and a name that Postgres would cut off.
        if **quoted != *name || name.len() >= 63 {
            return None;
        }
        let (Token::Ascii61, _) = tokens.next()? else {
            return None;
        };
        let first = tokens.next()?;
        let (negative, (token, written)) = match first.0 {
            Token::Ascii45 => (true, tokens.next()?),
            _ => (false, first),
        };
        let owned = match token {
            Token::Sconst if !negative => unquote(written)?,
            Token::Iconst | Token::Fconst if negative => format!("-{written}"),
            Token::Iconst | Token::Fconst => written.to_owned(),
            Token::NullP | Token::TrueP | Token::FalseP if !negative => String::new(),
            _ => return None,
        };
        let constant = match token {
            Token::NullP => Constant::Null,
            Token::TrueP => Constant::Boolean(true),
            Token::FalseP => Constant::Boolean(false),
            Token::Iconst => Constant::Integer(&owned),
            Token::Fconst => Constant::Number(&owned),
            _ => Constant::Text(&owned),
        };
        if let Constant::Integer(digits) | Constant::Number(digits) = constant
            && !crate::literal::is_bounded(digits)
        {
            return None;
        }
        if let Constant::Text(text) = constant {
            crate::value::fits(text, Kind::of(kind)).ok()?;
        }
        holds(name, kind, constant).ok()?;
        let literal = constant.bound(kind)?;
        builder.set(target, CheckedValue::Literal(literal)).ok()?;
        if builder.slots.len() > MAX_NODES {
            return None;
        }
        match tokens.next() {
            None => return Some(builder.finish()),
            Some((Token::Ascii44, _)) => {}
            Some(_) => return None,
        }
    }
}

/// The text of a constant in plain quotes; nothing for any other form of text, and for two constants
/// on two lines, which SQL joins.
fn unquote(written: &str) -> Option<String> {
    let inner = written.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        text.push(c);
        if c == '\'' && chars.next() != Some('\'') {
            return None;
        }
    }
    Some(text)
}

/// The general case, by the parser.
fn checked(fragment: &Fragment<'_>, attributes: &FlowAttributes) -> Result<CheckedSetClause, ByteRefusal> {
    let NodeEnum::UpdateStmt(statement) = fragment.parse()? else {
        return Err(ByteRefusal::new(RefusalCode::Construct, "not a SET clause"));
    };
    let UpdateStmt { relation, target_list, where_clause, from_clause, returning_clause, with_clause } = *statement;
    if !is_wrapper(relation.as_ref())
        || where_clause.is_some()
        || !from_clause.is_empty()
        || returning_clause.is_some()
        || with_clause.is_some()
    {
        let refusal = ByteRefusal::new(RefusalCode::ExtraClause, "only assignments are allowed here")
            .hint("end the clause there: which instance is changed is not for it to say");
        let words = [Token::Where, Token::From, Token::Returning, Token::With];
        return Err(match fragment.find_word(&words) {
            Some(at) => refusal.at(at),
            None => refusal,
        });
    }
    let mut builder = Builder::new(attributes);
    let mut walk = Walk::new(fragment, attributes, true);
    for target in &target_list {
        let Some(NodeEnum::ResTarget(target)) = &target.node else {
            return Err(ByteRefusal::new(RefusalCode::Target, "not an assignment"));
        };
        assign(&mut builder, &mut walk, target).map_err(|refusal| match refusal.at {
            Some(_) => refusal,
            None => ByteRefusal { at: fragment.offset(target.location), ..refusal },
        })?;
    }
    Ok(builder.finish())
}

fn assign(builder: &mut Builder<'_>, walk: &mut Walk<'_>, target: &ResTarget) -> Result<(), ByteRefusal> {
    let ResTarget { name, indirection, val, location: _ } = target;
    let value = match val.as_deref() {
        Some(node) => node,
        None => return Err(ByteRefusal::new(RefusalCode::Target, "a value is missing")),
    };
    let value = match &value.node {
        Some(NodeEnum::MultiAssignRef(part)) => one_of_row(part)?,
        _ => value,
    };
    let subscripts = |step: &Node| matches!(step.node, Some(NodeEnum::AIndices(_)));
    if !indirection.iter().all(subscripts) {
        let message = "only attributes and their elements can be set";
        return Err(ByteRefusal::new(RefusalCode::Target, message)
            .hint("name the attribute alone, without table or field; of a document write doc['a'] = …"));
    }
    let index = builder.target(name)?;
    if !indirection.is_empty() {
        let (element, value) = element(walk, index, indirection, value)?;
        return builder.set_element(index, element, value);
    }
    let joined = joined_by_and(value);
    let attribute = builder.attributes.get(index);
    let value = value_of(walk, value, name, &attribute.kind).map_err(|refusal| {
        if joined {
            return refusal.hint("assignments are separated by commas: a1 = 'x', a2 = 'y'");
        }
        refusal
    })?;
    builder.set(index, value)
}

/// The most steps into a document.
const MAX_STEPS: usize = 6;
/// The largest number of an element: Postgres fills up with nulls to it.
const MAX_ELEMENT: i64 = 1000;

/// Weight of setting an element of an array, whatever the number of its first one: Postgres fills up with nulls
/// from 1, of which it has 2^27 at most, one bit each, twice over.
const GAP_WEIGHT: u64 = 256;

/// An element that is set: its subscripts, which are written there, and its value. It makes the attribute anew, as
/// `jsonb_set` does, and what else was in it stays.
fn element(
    walk: &mut Walk<'_>,
    index: usize,
    steps: &[Node],
    value: &Node,
) -> Result<(String, CheckedValue), ByteRefusal> {
    let attributes = walk.attributes;
    let Attribute { name, kind, .. } = attributes.get(index);
    let whole = Kind::of(kind);
    let document = whole == Kind::one(Base::Jsonb);
    if !document && !whole.array {
        let message = format!("`{name}` is {whole}, which has no elements");
        return Err(ByteRefusal::new(RefusalCode::Target, message).hint("set all of it"));
    }
    if whole.base == Base::Numeric {
        // Each number of such an array is measured, the nulls that fill it up too.
        let message = format!("no element of `{name}` is set alone, since its numbers are `numeric`");
        return Err(
            ByteRefusal::new(RefusalCode::Target, message).hint("set all of it: array_append, array_replace, ARRAY[…]")
        );
    }
    let written = subscripts(name, steps, document)?;
    if let Some(NodeEnum::SetToDefault(_)) = &value.node {
        let message = "an element has no default value";
        return Err(ByteRefusal::new(RefusalCode::Default, message));
    }
    let (sql, seen) = walk.check(value, whole.element(), Context::Assignment)?;
    let one = AttributeType { scalar: kind.scalar.clone(), array: false };
    if let Some(text) = text_constant(value) {
        holds(name, &one, Constant::Text(text)).map_err(|refusal| walk.at_node(refusal, value))?;
    }
    if document {
        walk.made("make", whole, &[Seen::of_attribute(whole), seen])?;
    } else {
        walk.weighed((GAP_WEIGHT, Size::of_attribute(whole)), whole, false)?;
    }
    let value = CheckedValue::Expression { guarded: sql.guarded(), sql: sql.to_string() };
    Ok((written, value))
}

/// Writes which element is set: keys and small numbers, written there.
fn subscripts(name: &str, steps: &[Node], document: bool) -> Result<String, ByteRefusal> {
    if steps.len() > if document { MAX_STEPS } else { 1 } {
        let message = format!("too many subscripts of `{name}`");
        return Err(ByteRefusal::new(RefusalCode::Target, message)
            .hint(format!("at most {MAX_STEPS} of a document, one of an array")));
    }
    let mut written = String::new();
    for step in steps {
        let Some(NodeEnum::AIndices(step)) = &step.node else {
            return Err(ByteRefusal::new(RefusalCode::Target, "not an element"));
        };
        let at = step.uidx.as_deref().filter(|_| !step.is_slice);
        let number = at.and_then(|at| small_integer(at, MAX_ELEMENT));
        written.push('[');
        match (at.and_then(text_constant), number) {
            (Some(key), _) if document && !is_far(key) => write_text(&mut written, key),
            (_, Some(number)) if number >= i64::from(!document) => {
                written.push_str(&number.to_string());
            }
            _ => {
                let message = "which element is set is written there";
                return Err(ByteRefusal::new(RefusalCode::Target, message).hint(match document {
                    true => "write doc['a'][0]: keys in single quotes, numbers from 0 to 1000",
                    false => "write tags[1]: a number from 1 to 1000",
                }));
            }
        }
        written.push(']');
    }
    Ok(written)
}

/// Returns true if a numeric key is beyond what may be set: for a list it is an element's number, as C's `strtol`
/// reads it.
fn is_far(key: &str) -> bool {
    let space = |c: char| c.is_ascii_whitespace() || c == '\x0b';
    let number = key.trim_start_matches(space);
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    !digits.is_empty()
        && digits.bytes().all(|digit| digit.is_ascii_digit())
        && !digits.parse().is_ok_and(|number: i64| number <= MAX_ELEMENT)
}

/// Returns true if a value looks like several assignments with AND between them.
fn joined_by_and(value: &Node) -> bool {
    let Some(NodeEnum::BoolExpr(logic)) = &value.node else {
        return false;
    };
    logic.boolop == BoolExprType::AndExpr as i32
        && logic.args.iter().skip(1).any(|arg| match &arg.node {
            Some(NodeEnum::AExpr(equal)) => {
                equal.name.first().and_then(crate::node::text_of) == Some("=")
                    && matches!(
                        equal.lexpr.as_deref().and_then(|left| left.node.as_ref()),
                        Some(NodeEnum::ColumnRef(_))
                    )
            }
            _ => false,
        })
}

/// The value of one attribute in `(a, b) = (…, …)`, which is as many assignments.
fn one_of_row(part: &MultiAssignRef) -> Result<&Node, ByteRefusal> {
    let refusal =
        |message: &str| ByteRefusal::new(RefusalCode::Target, message).hint("write attribute=value for each attribute");
    let source = part.source.as_deref().ok_or_else(|| refusal("a value is missing"))?;
    let column = usize::try_from(part.colno - 1).unwrap_or_default();
    match &source.node {
        Some(NodeEnum::RowExpr(row)) => {
            if usize::try_from(part.ncolumns).ok() != Some(row.args.len()) {
                return Err(refusal("there are not as many values as attributes"));
            }
            row.args.get(column).ok_or_else(|| refusal("a value is missing"))
        }
        Some(other @ NodeEnum::SubLink(_)) => Err(crate::node::foreign(other)),
        _ if part.ncolumns == 1 => Ok(source),
        _ => Err(refusal("there are not as many values as attributes")),
    }
}

fn value_of(
    walk: &mut Walk<'_>,
    node: &Node,
    name: &str,
    kind: &wedflow_model::AttributeType,
) -> Result<CheckedValue, ByteRefusal> {
    if let Some(NodeEnum::SetToDefault(_)) = &node.node {
        return Ok(CheckedValue::Default);
    }
    // Checked as any other expression first, so that the bounds hold for constants too.
    let (written, _) = walk.check(node, Kind::of(kind), Context::Assignment)?;
    let text = written.to_string();
    let constant = match &node.node {
        Some(NodeEnum::AConst(AConst { isnull, val, .. })) => match val {
            None if *isnull => Some(Constant::Null),
            Some(Val::Boolval(value)) => Some(Constant::Boolean(value.boolval)),
            Some(Val::Ival(_)) => Some(Constant::Integer(&text)),
            Some(Val::Fval(_)) => Some(Constant::Number(&text)),
            Some(Val::Sval(value)) => Some(Constant::Text(&value.sval)),
            Some(Val::Bsval(_)) | None => None,
        },
        _ => None,
    };
    if let Some(constant) = constant {
        holds(name, kind, constant).map_err(|refusal| walk.at_node(refusal, node))?;
    }
    Ok(match constant.and_then(|constant| constant.bound(kind)) {
        Some(literal) => CheckedValue::Literal(literal),
        None => CheckedValue::Expression { guarded: written.guarded(), sql: text },
    })
}

/// Refuses a constant that the attribute cannot hold.
fn holds(name: &str, kind: &wedflow_model::AttributeType, constant: Constant<'_>) -> Result<(), ByteRefusal> {
    use wedflow_model::ScalarType;
    if kind.array {
        return Ok(());
    }
    match (&kind.scalar, constant) {
        (ScalarType::Integer | ScalarType::Bigint, Constant::Integer(number) | Constant::Number(number))
            if number.bytes().all(|c| c.is_ascii_digit() || c == b'-') =>
        {
            crate::value::fits(number, Kind::of(kind))
        }
        (ScalarType::Enum(labels), Constant::Text(text)) if !labels.iter().any(|label| label == text) => {
            let text = crate::refusal::shorten(text, 40);
            let message = format!("'{text}' is no label of `{name}`");
            let refusal = ByteRefusal::new(RefusalCode::Type, message);
            Err(refusal.hint(format!("the labels are {}", labels.join(", "))))
        }
        _ => Ok(()),
    }
}

/// Returns true if the relation is the wrapper's own, untouched by the fragment.
pub(crate) fn is_wrapper(relation: Option<&RangeVar>) -> bool {
    relation.is_some_and(|relation| {
        let RangeVar { catalogname, schemaname, relname, inh: _, relpersistence: _, alias, location: _ } = relation;
        catalogname.is_empty() && schemaname.is_empty() && relname == "wed_flow" && alias.is_none()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn attributes() -> FlowAttributes {
        let attribute = |(name, kind): (&'static str, &str)| (name, kind.parse().expect("type"));
        FlowAttributes::new(
            [
                ("a1", "text"),
                ("d2", "integer"),
                ("n3", "numeric"),
                ("ok", "boolean"),
                ("tags", "text[]"),
                ("order", "text"),
                ("e", "text"),
                ("_4", "bigint"),
            ]
            .map(attribute),
        )
    }

    /// Pieces of which clauses are made, and some that make another of one.
    fn text() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec!["a1", "d2", "n3", "ok", "tags", "order", "e", "_4", "A1", "\"a1\"", "x"]);
        let value = prop::sample::select(vec![
            "5",
            "-5",
            "- 5",
            "--5",
            "0",
            "-0",
            "007",
            "1.50",
            "1.",
            ".5",
            "1e5",
            "5e",
            "1_000",
            "0x1F",
            "2147483648",
            "99999999999999999999",
            "null",
            "NULL",
            "True",
            "false",
            "null'x'",
            "'x'",
            "'it''s'",
            "''",
            "'''",
            "E'a'",
            "e'a'",
            "'a'\n'b'",
            "'a' 'b'",
            "'{a,b}'",
            "'a\\'",
            "'\u{e9}\u{b}'",
            "x",
            "$1",
            "default",
            "5::text",
            "/* c */ 5",
            "+5",
            "-'5'",
            "-null",
            "'NaN'",
            "1.5.2",
        ]);
        let gap = || prop::sample::select(vec!["", "", "", " ", " ", "\n", "\u{b}", "\u{a0}", "/**/", "--\n"]);
        let between = prop::sample::select(vec![",", ",", ",", " ", ",,", ";", " and "]);
        let assignment = (name, gap(), gap(), value, gap(), between)
            .prop_map(|(name, a, b, value, c, between)| [name, a, "=", b, value, c, between].concat());
        (prop::collection::vec(assignment, 1..4), any::<bool>()).prop_map(|(list, ends)| {
            let text = list.concat();
            if ends { text.trim_end_matches([',', ' ', ';']).to_owned() } else { text }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn what_is_read_without_the_lexer_is_what_the_parser_reads(text in text()) {
            let attributes = attributes();
            if let Some(clause) = constants_only(&text, &attributes) {
                let fragment = Fragment::new(WRAPPER, &text)
                    .map_err(|refusal| TestCaseError::fail(format!("{text:?}: {refusal}")))?;
                let parsed = checked(&fragment, &attributes);
                prop_assert_eq!(
                    parsed.map_err(|refusal| fragment.reject(refusal)),
                    Ok(clause),
                    "{:?}",
                    text
                );
            }
        }
    }

    #[test]
    fn plain_clauses_are_read_without_the_lexer() {
        for text in ["d2 = 5, a1 = 'it''s'", "ok=TRUE,a1=null", "d2 =-5\n, n3 = 1.50", "e = 'x', _4 = 99999999999"] {
            assert!(constants_only(text, &attributes()).is_some(), "{text}");
        }
        for text in ["order = 'x'", "a1 = e'x'", "d2 = 1e2", "d2 = --5\n 5", "a1 = 'a'\n'b'", "x = 1", "d2 = 5,", ""] {
            assert!(constants_only(text, &attributes()).is_none(), "{text}");
        }
    }
}
