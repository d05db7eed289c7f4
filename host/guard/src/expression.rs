//! The walk over an expression's tree. What it knows it writes anew, what it does not know it
//! refuses: so nothing can be accepted and not written, or written and not checked.

use pg_query::protobuf::{
    AArrayExpr, AConst, AExprKind, AIndirection, BoolExpr, BoolExprType, BoolTestType, BooleanTest, CaseExpr,
    CollateClause, ColumnRef, MinMaxExpr, MinMaxOp, NullTest, NullTestType, SqlValueFunction, SqlValueFunctionOp,
    a_const::Val,
};
use pg_query::{Node, NodeEnum};

use crate::advice::way;
use crate::fragment::{Fragment, too_deep};
use crate::kind::{Base, Context, Kind};
use crate::literal::{is_bounded, plain_number, write_text};
use crate::node::{foreign, location, text_constant, text_of, unknown};
use crate::refusal::{ByteRefusal, RefusalCode};
use crate::resolve::{Resolved, common};
use crate::weight::{self, MAX_WEIGHT, Operands, Seen, Size};
use crate::written::Written;
use crate::{FlowAttributes, MAX_DEPTH, MAX_NODES};

/// Result of a walk over an expression.
pub(crate) type Checked = Result<Seen, ByteRefusal>;
/// A check whose only result is a refusal.
pub(crate) type Done = Result<(), ByteRefusal>;

/// The most dimensions of an array, as Postgres has it.
const MAX_SUBSCRIPTS: usize = 6;
/// The collations that every server has, whatever libraries it was built with.
const COLLATIONS: [&str; 4] = ["C", "POSIX", "default", "ucs_basic"];

/// The state of one walk; one per fragment, so that the bounds hold for all of it.
pub(crate) struct Walk<'a> {
    fragment: &'a Fragment<'a>,
    pub(crate) attributes: &'a FlowAttributes,
    /// True if functions are allowed that give another result each time.
    pub(crate) volatile: bool,
    /// Number of times that an attribute is read.
    pub(crate) reads: usize,
    pub(crate) out: Written,
    nodes: usize,
    depth: usize,
    pub(crate) weight: u64,
    /// Values of lists around the current node, each of which is a level to Postgres.
    pub(crate) listed: usize,
    /// The collation that it names.
    collation: Option<String>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(fragment: &'a Fragment<'a>, attributes: &'a FlowAttributes, volatile: bool) -> Self {
        Walk {
            fragment,
            attributes,
            volatile,
            reads: 0,
            out: Written::default(),
            nodes: 0,
            depth: 0,
            weight: 0,
            listed: 0,
            collation: None,
        }
    }

    /// Checks a whole expression that is to be of a type, and gives it written anew.
    pub(crate) fn check(
        &mut self,
        node: &Node,
        wanted: Kind,
        context: Context,
    ) -> Result<(Written, Seen), ByteRefusal> {
        self.out = Written::default();
        let found = self.expression(node)?;
        self.fits(node, found.kind, wanted, context)?;
        // An assignment casts by itself.
        let seen = match weight::cast(found.kind, wanted) {
            Some(makes) => self.made(makes, wanted, &[found]).map_err(|refusal| self.at_node(refusal, node))?,
            None => found,
        };
        Ok((std::mem::take(&mut self.out), seen))
    }

    /// Refuses a value that Postgres would not take for one of the wanted type.
    pub(crate) fn fits(&self, node: &Node, found: Kind, wanted: Kind, context: Context) -> Done {
        if let Some(text) = text_constant(node)
            && found.is_unknown()
            && let Err(refusal) = crate::value::fits(text, wanted)
        {
            return Err(self.at_node(refusal, node));
        }
        if found.becomes(wanted, context) {
            return Ok(());
        }
        let message = format!("{found} where {wanted} is needed");
        let refusal = ByteRefusal::new(RefusalCode::Type, message).hint(way(found, wanted));
        Err(self.at_node(refusal, node))
    }

    /// Returns the refusal with the location of a node, if it has none.
    pub(crate) fn at_node(&self, refusal: ByteRefusal, node: &Node) -> ByteRefusal {
        let at = node.node.as_ref().and_then(location);
        match at.and_then(|at| self.fragment.offset(at)) {
            Some(at) if refusal.at.is_none() => refusal.at(at),
            _ => refusal,
        }
    }

    /// Makes a value from others, as the table says.
    pub(crate) fn made(&mut self, makes: &str, kind: Kind, of: &[Seen]) -> Checked {
        let constant = of.iter().all(|seen| seen.constant);
        self.weighed(Operands::of(of).made(makes, kind), kind, constant)
    }

    /// Makes the result of an operator from its operands.
    pub(crate) fn operated(&mut self, resolved: &Resolved, operands: &[Seen]) -> Checked {
        let taken = self.taken(operands, &resolved.arguments)?;
        self.made(resolved.signature.makes, resolved.result, &taken)
    }

    /// The operands as a call takes them.
    pub(crate) fn taken(&mut self, operands: &[Seen], wanted: &[Kind]) -> Result<Vec<Seen>, ByteRefusal> {
        let mut taken = operands.to_vec();
        for (seen, wanted) in taken.iter_mut().zip(wanted) {
            *seen = self.coerced(*seen, *wanted)?;
        }
        Ok(taken)
    }

    /// A value as one of another type that Postgres takes it for by itself: `char(n)` becomes text by a copy, an array
    /// element by element.
    fn coerced(&mut self, seen: Seen, wanted: Kind) -> Checked {
        let is_of_text = |kind: Kind| kind.category() == 'S';
        match (seen.kind, wanted) {
            (Kind { base: Base::Bpchar, array: false }, wanted)
                if matches!(wanted.base, Base::Text | Base::Varchar) && !wanted.array =>
            {
                self.made("copy", wanted, &[seen])
            }
            (kind, wanted) if kind != wanted && kind.array && wanted.array && is_of_text(wanted.element()) => {
                self.made("make", wanted, &[seen])
            }
            (kind, wanted) if kind != wanted && is_of_text(kind) && is_of_text(wanted) => {
                Ok(Seen { kind: wanted, limit: None, ..seen })
            }
            _ => Ok(seen),
        }
    }

    /// Counts a weight again, for what Postgres writes out several times.
    pub(crate) fn again(&mut self, weight: u64, times: usize) -> Done {
        let weight = weight.saturating_mul(times as u64);
        self.weighed((weight, Size::default()), Kind::BOOL, false)?;
        Ok(())
    }

    /// Counts what a value weighs.
    pub(crate) fn weighed(&mut self, (weight, size): (u64, Size), kind: Kind, constant: bool) -> Checked {
        self.weight = self.weight.saturating_add(weight);
        if self.weight > MAX_WEIGHT {
            let message = format!("it makes too many large values: it weighs more than {MAX_WEIGHT}");
            return Err(ByteRefusal::new(RefusalCode::TooComplex, message).hint(
                "a text that is made counts 1, one in another case 8, a document as text or made anew 96, text as a \
                 document 192; compare parts of a document by @> or ->>, or make several conditions",
            ));
        }
        Ok(Seen { kind, size, constant, limit: None })
    }

    pub(crate) fn refuse(&self, code: RefusalCode, message: impl Into<String>, location: i32) -> ByteRefusal {
        self.at_location(ByteRefusal::new(code, message), location)
    }

    /// Returns the refusal with a location of the parser.
    pub(crate) fn at_location(&self, refusal: ByteRefusal, location: i32) -> ByteRefusal {
        match self.fragment.offset(location) {
            Some(at) => refusal.at(at),
            None => refusal,
        }
    }

    /// An expression where any expression may stand: between commas, in parentheses.
    pub(crate) fn expression(&mut self, node: &Node) -> Checked {
        let node =
            node.node.as_ref().ok_or_else(|| ByteRefusal::new(RefusalCode::Construct, "something is missing"))?;
        let checked = self.as_node(|walk| walk.construct(node));
        checked.map_err(|refusal| match (refusal.at, location(node)) {
            // The innermost node that has a place gives it.
            (None, Some(found)) => ByteRefusal { at: self.fragment.offset(found), ..refusal },
            _ => refusal,
        })
    }

    /// Counts a node, and a level, around what is in it.
    pub(crate) fn as_node<T>(
        &mut self,
        check: impl FnOnce(&mut Self) -> Result<T, ByteRefusal>,
    ) -> Result<T, ByteRefusal> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("more than {MAX_NODES} parts");
            return Err(ByteRefusal::new(RefusalCode::TooComplex, message));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let checked = check(self);
        self.depth -= 1;
        checked
    }

    fn construct(&mut self, node: &NodeEnum) -> Checked {
        match node {
            NodeEnum::AConst(constant) => self.constant(constant),
            NodeEnum::ColumnRef(column) => self.column(column),
            NodeEnum::AExpr(operation) => self.operation(operation),
            NodeEnum::BoolExpr(logic) => self.logic(logic),
            NodeEnum::NullTest(test) => self.null_test(test),
            NodeEnum::BooleanTest(test) => self.truth_test(test),
            NodeEnum::FuncCall(call) => self.call(call),
            NodeEnum::TypeCast(cast) => self.cast(cast),
            NodeEnum::CaseExpr(case) => self.case(case),
            NodeEnum::CoalesceExpr(first) => self.alike("COALESCE(", &first.args, false),
            NodeEnum::MinMaxExpr(extreme) => self.extreme(extreme),
            NodeEnum::AArrayExpr(AArrayExpr { elements, .. }) => self.array(elements),
            NodeEnum::AIndirection(access) => self.subscript(access),
            NodeEnum::SqlvalueFunction(value) => self.value_function(value),
            NodeEnum::CollateClause(clause) => self.collate(clause),
            other => Err(foreign(other)),
        }
    }

    /// An expression as part of another: in parentheses, unless it holds together by itself.
    pub(crate) fn operand(&mut self, node: &Node) -> Checked {
        if holds_together(node) {
            return self.expression(node);
        }
        self.out.push('(');
        let seen = self.expression(node)?;
        self.out.push(')');
        Ok(seen)
    }

    pub(crate) fn required<'n>(&self, node: Option<&'n Node>) -> Result<&'n Node, ByteRefusal> {
        node.ok_or_else(|| ByteRefusal::new(RefusalCode::Construct, "an operand is missing"))
    }

    pub(crate) fn part(&mut self, node: Option<&Node>) -> Checked {
        let node = self.required(node)?;
        self.operand(node)
    }

    /// An operand that must be a truth value.
    fn truth(&mut self, node: Option<&Node>) -> Done {
        let node = self.required(node)?;
        let found = self.operand(node)?;
        self.fits(node, found.kind, Kind::BOOL, Context::Implicit)
    }

    /// Expressions between commas.
    pub(crate) fn list(&mut self, open: &str, nodes: &[Node], close: &str) -> Result<Vec<Seen>, ByteRefusal> {
        self.out.push_str(open);
        let mut seen = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            seen.push(self.expression(node)?);
        }
        self.out.push_str(close);
        Ok(seen)
    }

    /// The type that several expressions have in common.
    pub(crate) fn agree(&self, nodes: &[&Node], seen: &[Seen]) -> Result<Kind, ByteRefusal> {
        let kinds: Vec<Kind> = seen.iter().map(|seen| seen.kind).collect();
        let Some(kind) = common(&kinds) else {
            let known: Vec<String> = kinds.iter().filter(|kind| !kind.is_unknown()).map(Kind::to_string).collect();
            let message = format!("{} have no type in common", known.join(" and "));
            let refusal = ByteRefusal::new(RefusalCode::Type, message).hint("cast them to one type");
            return Err(match nodes.first() {
                Some(node) => self.at_node(refusal, node),
                None => refusal,
            });
        };
        for (node, kind_of) in nodes.iter().zip(&kinds) {
            self.fits(node, *kind_of, kind, Context::Implicit)?;
        }
        Ok(kind)
    }

    /// Checks a call whose arguments and result all have one type, and which may compare them.
    fn alike(&mut self, open: &str, nodes: &[Node], compares: bool) -> Checked {
        let seen = self.list(open, nodes, ")")?;
        let kind = self.agree(&nodes.iter().collect::<Vec<_>>(), &seen)?;
        let seen = self.coerced_all(&seen, kind)?;
        if compares {
            self.made("compare", Kind::BOOL, &seen)?;
        }
        Ok(self.one_of(kind, &seen))
    }

    /// The values as ones of the type that they have in common.
    pub(crate) fn coerced_all(&mut self, seen: &[Seen], kind: Kind) -> Result<Vec<Seen>, ByteRefusal> {
        seen.iter().map(|seen| self.coerced(*seen, kind)).collect()
    }

    /// The value is one of these.
    pub(crate) fn one_of(&self, kind: Kind, seen: &[Seen]) -> Seen {
        Seen {
            kind,
            size: Size::largest(kind, seen),
            constant: seen.iter().all(|seen| seen.constant),
            limit: common_limit(kind, seen),
        }
    }

    fn array(&mut self, elements: &[Node]) -> Checked {
        let (kind, seen) = self.elements(elements)?;
        let each = if seen.iter().any(|seen| seen.kind.array) { kind } else { kind.element() };
        let seen = self.coerced_all(&seen, each)?;
        let limit = common_limit(each, &seen);
        Ok(Seen { limit, ..self.made("copy", kind, &seen)? })
    }

    /// The elements of an array that is written there, and its type.
    pub(crate) fn elements(&mut self, elements: &[Node]) -> Result<(Kind, Vec<Seen>), ByteRefusal> {
        let seen = self.list("ARRAY[", elements, "]")?;
        if seen.is_empty() {
            let message = "an empty array has no type";
            return Err(ByteRefusal::new(RefusalCode::Type, message).hint("say which: ARRAY[]::text[]"));
        }
        let kind = self.agree(&elements.iter().collect::<Vec<_>>(), &seen)?;
        // An array of arrays is one of more dimensions, of the same type.
        Ok((Kind::many(kind.base), seen))
    }

    fn constant(&mut self, constant: &AConst) -> Checked {
        let AConst { isnull, location, val } = constant;
        let kind = match val {
            None if *isnull => {
                self.out.push_str("NULL");
                Kind::UNKNOWN
            }
            Some(Val::Boolval(value)) => {
                self.out.push_str(if value.boolval { "true" } else { "false" });
                Kind::BOOL
            }
            Some(Val::Ival(value)) => {
                self.out.push_str(&value.ival.to_string());
                Kind::one(Base::Int4)
            }
            Some(Val::Sval(value)) => {
                self.text(&value.sval);
                Kind::UNKNOWN
            }
            Some(Val::Fval(value)) => {
                let number = &value.fval;
                let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
                if !number.chars().all(known) {
                    return Err(self.refuse(RefusalCode::Construct, "no number", *location));
                }
                self.bounded(number, *location)?;
                let plain = plain_number(number);
                self.bounded(&plain, *location)?;
                self.out.push_str(&plain);
                Kind::one(crate::literal::kind_of_number(number))
            }
            Some(Val::Bsval(_)) | None => {
                return Err(self
                    .refuse(RefusalCode::Construct, "bit strings are not allowed", *location)
                    .hint("write a number or text"));
            }
        };
        Ok(Seen::narrow(kind, true))
    }

    /// Writes a text constant.
    pub(crate) fn text(&mut self, text: &str) {
        let mut written = String::new();
        write_text(&mut written, text);
        self.out.push_str(&written);
    }

    /// Refuses a number of too many digits.
    pub(crate) fn bounded(&self, number: &str, location: i32) -> Done {
        if is_bounded(number) {
            return Ok(());
        }
        let message = format!("a number of more than {} digits", crate::MAX_DIGITS);
        Err(self
            .refuse(RefusalCode::TooLarge, message, location)
            .hint("to compare with double precision write it in quotes: '1e308'"))
    }

    fn column(&mut self, column: &ColumnRef) -> Checked {
        let ColumnRef { fields, location } = column;
        let name = match fields.as_slice() {
            [Node { node: Some(NodeEnum::String(name)) }] => &name.sval,
            // The table's own name says nothing more.
            [table, name] if text_of(table) == Some("wed_flow") && text_of(name).is_some() => {
                text_of(name).unwrap_or_default()
            }
            [Node { node: Some(NodeEnum::AStar(_)) }] => {
                let message = "`*` stands for no value here";
                return Err(self.refuse(RefusalCode::Construct, message, *location));
            }
            _ => {
                return Err(self
                    .refuse(RefusalCode::QualifiedName, "attributes are named without a table or schema", *location)
                    .hint("write the attribute's name alone; -> and ->> read parts of jsonb"));
            }
        };
        let Some(index) = self.attributes.find(name) else {
            return Err(unknown(self.attributes, name).at(self.fragment.offset(*location).unwrap_or(0)));
        };
        self.reads += 1;
        let attribute = self.attributes.get(index);
        self.out.push_str(&attribute.quoted);
        Ok(Seen::of_attribute(Kind::of(&attribute.kind)))
    }

    fn logic(&mut self, logic: &BoolExpr) -> Checked {
        let BoolExpr { xpr: _, boolop, args, location } = logic;
        let word = match (BoolExprType::try_from(*boolop), args.as_slice()) {
            (Ok(BoolExprType::NotExpr), [negated]) => {
                self.out.push_str("NOT ");
                self.truth(Some(negated))?;
                return Ok(Seen::truth());
            }
            (Ok(BoolExprType::AndExpr), [_, ..]) => "AND",
            (Ok(BoolExprType::OrExpr), [_, ..]) => "OR",
            _ => {
                return Err(self.refuse(RefusalCode::Construct, "unknown logic", *location));
            }
        };
        for (at, part) in args.iter().enumerate() {
            if at > 0 {
                self.word(word);
            }
            self.truth(Some(part))?;
        }
        Ok(Seen::truth())
    }

    fn null_test(&mut self, test: &NullTest) -> Checked {
        let NullTest { xpr: _, arg, nulltesttype, argisrow: _, location } = test;
        let word = match NullTestType::try_from(*nulltesttype) {
            Ok(NullTestType::IsNull) => " IS NULL",
            Ok(NullTestType::IsNotNull) => " IS NOT NULL",
            _ => return Err(self.refuse(RefusalCode::Construct, "unknown test", *location)),
        };
        // A row is null when all its values are.
        match arg.as_deref().and_then(|arg| arg.node.as_ref()) {
            Some(NodeEnum::RowExpr(row)) if !row.args.is_empty() => {
                self.row(row)?;
            }
            _ => {
                self.part(arg.as_deref())?;
            }
        }
        self.out.push_str(word);
        Ok(Seen::truth())
    }

    /// A collation that every server has and that depends on no version: one for all of a fragment, as Postgres
    /// compares no two texts that are each said to have another.
    fn collate(&mut self, clause: &CollateClause) -> Checked {
        let CollateClause { arg, collname, location } = clause;
        let names: Vec<&str> = collname.iter().filter_map(text_of).collect();
        let name = match names.as_slice() {
            [name] | ["pg_catalog", name] => *name,
            _ => "",
        };
        if !COLLATIONS.contains(&name) {
            let message = "this collation is not allowed here";
            return Err(self
                .refuse(RefusalCode::Construct, message, *location)
                .hint("write COLLATE \"C\" for the order of bytes; lower(…) compares without regard to case"));
        }
        if self.collation.as_deref().is_some_and(|other| other != name) {
            let message = "a fragment names one collation";
            return Err(self.refuse(RefusalCode::Construct, message, *location));
        }
        self.collation = Some(name.to_owned());
        let value = self.required(arg.as_deref())?;
        let found = self.operand(value)?;
        let kind = found.kind;
        if !kind.is_unknown() && kind.element().category() != 'S' {
            let message = format!("{kind} has no collation");
            return Err(self.refuse(RefusalCode::Type, message, *location).hint("only text is sorted by a collation"));
        }
        self.out.push_str(" COLLATE \"");
        self.out.push_str(name);
        self.out.push('"');
        Ok(self.one_of(kind, &[found]))
    }

    fn truth_test(&mut self, test: &BooleanTest) -> Checked {
        let BooleanTest { xpr: _, arg, booltesttype, location } = test;
        let word = match BoolTestType::try_from(*booltesttype) {
            Ok(BoolTestType::IsTrue) => " IS TRUE",
            Ok(BoolTestType::IsNotTrue) => " IS NOT TRUE",
            Ok(BoolTestType::IsFalse) => " IS FALSE",
            Ok(BoolTestType::IsNotFalse) => " IS NOT FALSE",
            Ok(BoolTestType::IsUnknown) => " IS UNKNOWN",
            Ok(BoolTestType::IsNotUnknown) => " IS NOT UNKNOWN",
            _ => return Err(self.refuse(RefusalCode::Construct, "unknown test", *location)),
        };
        self.truth(arg.as_deref())?;
        self.out.push_str(word);
        Ok(Seen::truth())
    }

    fn case(&mut self, case: &CaseExpr) -> Checked {
        let CaseExpr { xpr: _, casetype: _, casecollid: _, arg, args, defresult, location } = case;
        self.out.push_str("CASE");
        let subject = match arg.as_deref() {
            Some(subject) => {
                self.out.push(' ');
                Some(self.operand(subject)?)
            }
            None => None,
        };
        let mut nodes = Vec::new();
        let mut seen = Vec::new();
        for branch in args {
            let Some(NodeEnum::CaseWhen(branch)) = &branch.node else {
                return Err(self.refuse(RefusalCode::Construct, "not a branch", *location));
            };
            self.out.push_str(" WHEN ");
            let test = self.required(branch.expr.as_deref())?;
            match subject {
                None => self.truth(Some(test))?,
                Some(subject) => {
                    let value = self.operand(test)?;
                    // A subject without a type is text.
                    let kind = match subject.kind.is_unknown() {
                        true => Kind::TEXT,
                        false => subject.kind,
                    };
                    let resolved = self.compare("=", (None, kind), (Some(test), value.kind))?;
                    // The subject is evaluated once, and stands there as a value.
                    self.operated(&resolved, &[Seen::narrow(kind, false), value])?;
                }
            }
            self.out.push_str(" THEN ");
            let result = self.required(branch.result.as_deref())?;
            seen.push(self.operand(result)?);
            nodes.push(result);
        }
        if let Some(otherwise) = defresult.as_deref() {
            self.out.push_str(" ELSE ");
            // Postgres looks at this one first.
            seen.insert(0, self.operand(otherwise)?);
            nodes.insert(0, otherwise);
        }
        self.out.push_str(" END");
        let kind = self.agree(&nodes, &seen)?;
        let mut seen = self.coerced_all(&seen, kind)?;
        // Without ELSE it is NULL, which has no length.
        let limit = defresult.as_ref().and_then(|_| common_limit(kind, &seen));
        seen.extend(subject);
        Ok(Seen { constant: false, limit, ..self.one_of(kind, &seen) })
    }

    fn extreme(&mut self, extreme: &MinMaxExpr) -> Checked {
        let open = match MinMaxOp::try_from(extreme.op) {
            Ok(MinMaxOp::IsGreatest) => "GREATEST(",
            Ok(MinMaxOp::IsLeast) => "LEAST(",
            _ => {
                return Err(ByteRefusal::new(RefusalCode::Construct, "an unknown function"));
            }
        };
        self.alike(open, &extreme.args, true)
    }

    fn subscript(&mut self, access: &AIndirection) -> Checked {
        let AIndirection { arg, indirection } = access;
        let base = self.required(arg.as_deref())?;
        let found = if matches!(base.node, Some(NodeEnum::ColumnRef(_))) {
            self.expression(base)?
        } else {
            self.out.push('(');
            let found = self.expression(base)?;
            self.out.push(')');
            found
        };
        let jsonb = found.kind == Kind::one(Base::Jsonb);
        if indirection.iter().all(|step| matches!(step.node, Some(NodeEnum::AIndices(_))))
            && !jsonb
            && !found.kind.array
        {
            let message = format!("{} has no elements", found.kind);
            let refusal = ByteRefusal::new(RefusalCode::Type, message);
            return Err(self.at_node(refusal, base));
        }
        if indirection.len() > MAX_SUBSCRIPTS && !jsonb {
            let message = format!("more than {MAX_SUBSCRIPTS} subscripts");
            let refusal = ByteRefusal::new(RefusalCode::TooComplex, message);
            return Err(self.at_node(refusal, base));
        }
        let mut slice = false;
        let mut operands = vec![found];
        for step in indirection {
            let Some(NodeEnum::AIndices(step)) = &step.node else {
                return Err(ByteRefusal::new(
                    RefusalCode::QualifiedName,
                    "only elements can be taken out of a value, not fields",
                )
                .hint("-> and ->> read parts of jsonb"));
            };
            self.out.push('[');
            if let Some(lower) = step.lidx.as_deref() {
                operands.push(self.index(lower, jsonb)?);
            }
            if step.is_slice {
                slice = true;
                self.out.push_str(" : ");
            }
            if let Some(upper) = step.uidx.as_deref() {
                operands.push(self.index(upper, jsonb)?);
            }
            self.out.push(']');
        }
        if jsonb && slice {
            let message = "jsonb has no slices";
            let refusal = ByteRefusal::new(RefusalCode::Type, message);
            return Err(self.at_node(refusal, base));
        }
        let kind = match found.kind {
            kind if jsonb || slice => kind,
            kind => kind.element(),
        };
        let constant = operands.iter().all(|seen| seen.constant);
        Ok(Seen { limit: found.limit, ..self.weighed(Operands::of(&operands).part(kind), kind, constant)? })
    }

    /// A subscript: a number, for jsonb also the name of a field.
    fn index(&mut self, node: &Node, jsonb: bool) -> Checked {
        let found = self.expression(node)?;
        if let Some(NodeEnum::AConst(AConst { val: Some(Val::Fval(_)), .. })) = &node.node {
            let refusal = ByteRefusal::new(RefusalCode::Type, "a subscript is an integer");
            return Err(self.at_node(refusal, node));
        }
        if jsonb && (found.kind.category() == 'S' || found.kind.is_unknown()) {
            return Ok(found);
        }
        // As if assigned: a bigint will do.
        self.fits(node, found.kind, Kind::one(Base::Int4), Context::Assignment)?;
        Ok(found)
    }

    fn value_function(&mut self, value: &SqlValueFunction) -> Checked {
        use SqlValueFunctionOp as Op;
        let (word, digits, base) = match Op::try_from(value.op) {
            Ok(Op::SvfopCurrentDate) => ("CURRENT_DATE", false, Base::Date),
            Ok(Op::SvfopCurrentTime) => ("CURRENT_TIME", false, Base::Timetz),
            Ok(Op::SvfopCurrentTimeN) => ("CURRENT_TIME", true, Base::Timetz),
            Ok(Op::SvfopCurrentTimestamp) => ("CURRENT_TIMESTAMP", false, Base::Timestamptz),
            Ok(Op::SvfopCurrentTimestampN) => ("CURRENT_TIMESTAMP", true, Base::Timestamptz),
            Ok(Op::SvfopLocaltime) => ("LOCALTIME", false, Base::Time),
            Ok(Op::SvfopLocaltimeN) => ("LOCALTIME", true, Base::Time),
            Ok(Op::SvfopLocaltimestamp) => ("LOCALTIMESTAMP", false, Base::Timestamp),
            Ok(Op::SvfopLocaltimestampN) => ("LOCALTIMESTAMP", true, Base::Timestamp),
            _ => {
                let message = "this word of SQL asks who runs the fragment, and where";
                let hint = "an attribute of that name is written in double quotes";
                return Err(self.refuse(RefusalCode::Function, message, value.location).hint(hint));
            }
        };
        self.out.push_str(word);
        if digits {
            self.out.push_str(&format!("({})", value.typmod));
        }
        Ok(Seen::narrow(Kind::one(base), true))
    }
}

/// The length that all of these say for their type, if they say the same.
fn common_limit(kind: Kind, seen: &[Seen]) -> Option<i64> {
    let first = seen.first()?.limit;
    let same = seen.iter().all(|seen| seen.kind == kind && seen.limit == first);
    first.filter(|_| same)
}

/// Returns true if a node is written so that no surrounding syntax can split it.
fn holds_together(node: &Node) -> bool {
    match &node.node {
        Some(NodeEnum::AConst(constant)) => match &constant.val {
            Some(Val::Ival(value)) => value.ival >= 0,
            Some(Val::Fval(value)) => !value.fval.starts_with('-'),
            _ => true,
        },
        Some(NodeEnum::AExpr(operation)) => operation.kind == AExprKind::AexprNullif as i32,
        Some(
            NodeEnum::ColumnRef(_)
            | NodeEnum::FuncCall(_)
            | NodeEnum::TypeCast(_)
            | NodeEnum::CaseExpr(_)
            | NodeEnum::CoalesceExpr(_)
            | NodeEnum::MinMaxExpr(_)
            | NodeEnum::AArrayExpr(_)
            | NodeEnum::AIndirection(_)
            | NodeEnum::SqlvalueFunction(_),
        ) => true,
        _ => false,
    }
}
