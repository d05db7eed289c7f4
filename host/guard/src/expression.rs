//! The walk over an expression's tree. What it knows it writes anew, what it does not know it
//! refuses: so nothing can be accepted and not written, or written and not checked.

use std::collections::BTreeSet;

use pg_query::protobuf::{
    AArrayExpr, AConst, AExpr, AExprKind, AIndirection, BoolExpr, BoolExprType, BoolTestType,
    BooleanTest, CaseExpr, ColumnRef, List, MinMaxExpr, MinMaxOp, NullTest, NullTestType,
    SqlValueFunction, SqlValueFunctionOp, a_const::Val,
};
use pg_query::{Node, NodeEnum};

use crate::allowed::{BINARY, COMPARISON, PREFIX};
use crate::call::function_name;
use crate::fragment::{Fragment, too_deep};
use crate::literal::{is_bounded, write_text};
use crate::node::{foreign, location, unknown};
use crate::rejection::{Fault, RejectionCode};
use crate::{FlowAttributes, MAX_DEPTH, MAX_NODES};

pub(crate) type Checked = Result<(), Fault>;

/// The state of one walk; one per fragment, so that the bounds hold for all of it.
pub(crate) struct Walk<'a> {
    fragment: &'a Fragment<'a>,
    pub(crate) attributes: &'a FlowAttributes,
    /// Whether functions that give another result each time are allowed.
    pub(crate) volatile: bool,
    /// The attributes that are read, by index.
    pub(crate) read: BTreeSet<usize>,
    pub(crate) out: String,
    nodes: usize,
    depth: usize,
    /// How much larger the functions around the current node may make it.
    pub(crate) growth: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        fragment: &'a Fragment<'a>,
        attributes: &'a FlowAttributes,
        volatile: bool,
    ) -> Self {
        Walk {
            fragment,
            attributes,
            volatile,
            read: BTreeSet::new(),
            out: String::new(),
            nodes: 0,
            depth: 0,
            growth: 1,
        }
    }

    /// Checks a whole expression and gives it written anew.
    pub(crate) fn check(&mut self, node: &Node) -> Result<String, Fault> {
        self.out.clear();
        self.expression(node)?;
        Ok(std::mem::take(&mut self.out))
    }

    pub(crate) fn refuse(
        &self,
        code: RejectionCode,
        message: impl Into<String>,
        location: i32,
    ) -> Fault {
        let fault = Fault::new(code, message);
        match self.fragment.offset(location) {
            Some(at) => fault.at(at),
            None => fault,
        }
    }

    /// An expression where any expression may stand: between commas, in parentheses.
    pub(crate) fn expression(&mut self, node: &Node) -> Checked {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("more than {MAX_NODES} parts");
            return Err(Fault::new(RejectionCode::TooComplex, message));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let node = node
            .node
            .as_ref()
            .ok_or_else(|| Fault::new(RejectionCode::Construct, "something is missing"))?;
        let checked = match node {
            NodeEnum::AConst(constant) => self.constant(constant),
            NodeEnum::ColumnRef(column) => self.column(column),
            NodeEnum::AExpr(operation) => self.operation(operation),
            NodeEnum::BoolExpr(logic) => self.logic(logic),
            NodeEnum::NullTest(test) => self.null_test(test),
            NodeEnum::BooleanTest(test) => self.truth_test(test),
            NodeEnum::FuncCall(call) => self.call(call),
            NodeEnum::TypeCast(cast) => self.cast(cast),
            NodeEnum::CaseExpr(case) => self.case(case),
            NodeEnum::CoalesceExpr(first) => self.list("COALESCE(", &first.args, ")"),
            NodeEnum::MinMaxExpr(extreme) => self.extreme(extreme),
            NodeEnum::AArrayExpr(AArrayExpr { elements, .. }) => self.list("ARRAY[", elements, "]"),
            NodeEnum::AIndirection(access) => self.subscript(access),
            NodeEnum::SqlvalueFunction(value) => self.value_function(value),
            other => Err(foreign(other)),
        };
        self.depth -= 1;
        checked.map_err(|fault| match (fault.at, location(node)) {
            // The innermost node that has a place gives it.
            (None, Some(found)) => Fault {
                at: self.fragment.offset(found),
                ..fault
            },
            _ => fault,
        })
    }

    /// An expression as part of another: in parentheses, unless it holds together by itself.
    pub(crate) fn operand(&mut self, node: &Node) -> Checked {
        if holds_together(node) {
            return self.expression(node);
        }
        self.out.push('(');
        self.expression(node)?;
        self.out.push(')');
        Ok(())
    }

    pub(crate) fn required<'n>(&self, node: Option<&'n Node>) -> Result<&'n Node, Fault> {
        node.ok_or_else(|| Fault::new(RejectionCode::Construct, "an operand is missing"))
    }

    fn part(&mut self, node: Option<&Node>) -> Checked {
        let node = self.required(node)?;
        self.operand(node)
    }

    pub(crate) fn list(&mut self, open: &str, nodes: &[Node], close: &str) -> Checked {
        self.out.push_str(open);
        for (at, node) in nodes.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.expression(node)?;
        }
        self.out.push_str(close);
        Ok(())
    }

    fn constant(&mut self, constant: &AConst) -> Checked {
        let AConst {
            isnull,
            location,
            val,
        } = constant;
        match val {
            None if *isnull => self.out.push_str("NULL"),
            Some(Val::Boolval(value)) => {
                self.out
                    .push_str(if value.boolval { "true" } else { "false" });
            }
            Some(Val::Ival(value)) => self.out.push_str(&value.ival.to_string()),
            Some(Val::Sval(value)) => write_text(&mut self.out, &value.sval),
            Some(Val::Fval(value)) => {
                let number = &value.fval;
                let known =
                    |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
                if !number.chars().all(known) {
                    return Err(self.refuse(RejectionCode::Construct, "no number", *location));
                }
                self.bounded(number, *location)?;
                self.out.push_str(number);
            }
            Some(Val::Bsval(_)) | None => {
                return Err(self
                    .refuse(
                        RejectionCode::Construct,
                        "bit strings are not allowed",
                        *location,
                    )
                    .hint("write a number or text"));
            }
        }
        Ok(())
    }

    /// Refuses a number of too many digits.
    pub(crate) fn bounded(&self, number: &str, location: i32) -> Checked {
        if is_bounded(number) {
            return Ok(());
        }
        let message = format!("a number of more than {} digits", crate::MAX_DIGITS);
        Err(self.refuse(RejectionCode::TooLarge, message, location))
    }

    fn column(&mut self, column: &ColumnRef) -> Checked {
        let ColumnRef { fields, location } = column;
        let name = match fields.as_slice() {
            [
                Node {
                    node: Some(NodeEnum::String(name)),
                },
            ] => &name.sval,
            [
                Node {
                    node: Some(NodeEnum::AStar(_)),
                },
            ] => {
                let message = "`*` stands for no value here";
                return Err(self.refuse(RejectionCode::Construct, message, *location));
            }
            _ => {
                return Err(self
                    .refuse(
                        RejectionCode::QualifiedName,
                        "attributes are named without a table or schema",
                        *location,
                    )
                    .hint(
                        "write the attribute's name alone; jsonb is taken apart with -> and ->>",
                    ));
            }
        };
        let Some(index) = self.attributes.find(name) else {
            return Err(
                unknown(self.attributes, name).at(self.fragment.offset(*location).unwrap_or(0))
            );
        };
        self.read.insert(index);
        self.out.push_str(&self.attributes.get(index).quoted);
        Ok(())
    }

    fn operation(&mut self, operation: &AExpr) -> Checked {
        let AExpr {
            kind,
            name,
            lexpr,
            rexpr,
            rexpr_list_start: _,
            rexpr_list_end: _,
            location,
        } = operation;
        let [
            Node {
                node: Some(NodeEnum::String(name)),
            },
        ] = name.as_slice()
        else {
            return Err(self
                .refuse(
                    RejectionCode::Operator,
                    "operators are written without a schema",
                    *location,
                )
                .hint("write the operator's sign alone"));
        };
        let name = name.sval.as_str();
        let (left, right) = (lexpr.as_deref(), rexpr.as_deref());
        let kind = AExprKind::try_from(*kind).unwrap_or(AExprKind::Undefined);
        match kind {
            AExprKind::AexprOp => {
                let allowed: &[&str] = if left.is_some() { &BINARY } else { &PREFIX };
                let sign = self.sign(name, allowed, *location)?;
                if left.is_some() {
                    self.part(left)?;
                    self.word(sign);
                } else {
                    self.out.push_str(sign);
                    self.out.push(' ');
                }
                self.part(right)
            }
            AExprKind::AexprOpAny | AExprKind::AexprOpAll => {
                let sign = self.sign(name, &COMPARISON, *location)?;
                self.part(left)?;
                self.word(sign);
                let any = kind == AExprKind::AexprOpAny;
                self.out.push_str(if any { "ANY (" } else { "ALL (" });
                self.expression(self.required(right)?)?;
                self.out.push(')');
                Ok(())
            }
            AExprKind::AexprDistinct => self.between_parts(left, "IS DISTINCT FROM", right),
            AExprKind::AexprNotDistinct => self.between_parts(left, "IS NOT DISTINCT FROM", right),
            AExprKind::AexprNullif => {
                self.out.push_str("NULLIF(");
                self.expression(self.required(left)?)?;
                self.out.push_str(", ");
                self.expression(self.required(right)?)?;
                self.out.push(')');
                Ok(())
            }
            AExprKind::AexprIn => {
                self.part(left)?;
                self.word(if name == "<>" { "NOT IN" } else { "IN" });
                let items = self.items(right, *location)?;
                self.list("(", items, ")")
            }
            AExprKind::AexprLike | AExprKind::AexprIlike => {
                self.part(left)?;
                self.word(match (kind, name.starts_with('!')) {
                    (AExprKind::AexprLike, false) => "LIKE",
                    (AExprKind::AexprLike, true) => "NOT LIKE",
                    (_, false) => "ILIKE",
                    (_, true) => "NOT ILIKE",
                });
                self.pattern(self.required(right)?)
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
                self.part(left)?;
                self.word(word);
                self.operand(low)?;
                self.word("AND");
                self.operand(high)
            }
            AExprKind::AexprSimilar => Err(self
                .refuse(
                    RejectionCode::Operator,
                    "SIMILAR TO is not allowed",
                    *location,
                )
                .hint("use LIKE or ILIKE")),
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
            "~" | "~*" | "!~" | "!~*" => fault.hint("use LIKE or ILIKE"),
            "==" => fault.hint("write ="),
            "&&" => fault.hint("write AND"),
            "^" => fault.hint("multiply instead"),
            _ => fault.hint(format!("allowed are {}", allowed.join(" "))),
        })
    }

    fn word(&mut self, word: &str) {
        self.out.push(' ');
        self.out.push_str(word);
        self.out.push(' ');
    }

    fn between_parts(&mut self, left: Option<&Node>, word: &str, right: Option<&Node>) -> Checked {
        self.part(left)?;
        self.word(word);
        self.part(right)
    }

    fn items<'n>(&self, node: Option<&'n Node>, location: i32) -> Result<&'n [Node], Fault> {
        match self.required(node)?.node.as_ref() {
            Some(NodeEnum::List(List { items })) => Ok(items),
            Some(other) => Err(foreign(other)),
            None => Err(self.refuse(RejectionCode::Construct, "a list is missing", location)),
        }
    }

    /// What follows LIKE: `ESCAPE` hides in a function of the grammar's own making.
    fn pattern(&mut self, node: &Node) -> Checked {
        if let Some(NodeEnum::FuncCall(call)) = node.node.as_ref()
            && function_name(call) == Some("like_escape")
            && let [pattern, escape] = call.args.as_slice()
        {
            self.plain(call)?;
            self.operand(pattern)?;
            self.word("ESCAPE");
            return self.operand(escape);
        }
        self.operand(node)
    }

    fn logic(&mut self, logic: &BoolExpr) -> Checked {
        let BoolExpr {
            xpr: _,
            boolop,
            args,
            location,
        } = logic;
        let word = match (BoolExprType::try_from(*boolop), args.as_slice()) {
            (Ok(BoolExprType::NotExpr), [negated]) => {
                self.out.push_str("NOT ");
                return self.operand(negated);
            }
            (Ok(BoolExprType::AndExpr), [_, ..]) => "AND",
            (Ok(BoolExprType::OrExpr), [_, ..]) => "OR",
            _ => {
                return Err(self.refuse(RejectionCode::Construct, "unknown logic", *location));
            }
        };
        for (at, part) in args.iter().enumerate() {
            if at > 0 {
                self.word(word);
            }
            self.operand(part)?;
        }
        Ok(())
    }

    fn null_test(&mut self, test: &NullTest) -> Checked {
        let NullTest {
            xpr: _,
            arg,
            nulltesttype,
            argisrow: _,
            location,
        } = test;
        let word = match NullTestType::try_from(*nulltesttype) {
            Ok(NullTestType::IsNull) => " IS NULL",
            Ok(NullTestType::IsNotNull) => " IS NOT NULL",
            _ => return Err(self.refuse(RejectionCode::Construct, "unknown test", *location)),
        };
        self.part(arg.as_deref())?;
        self.out.push_str(word);
        Ok(())
    }

    fn truth_test(&mut self, test: &BooleanTest) -> Checked {
        let BooleanTest {
            xpr: _,
            arg,
            booltesttype,
            location,
        } = test;
        let word = match BoolTestType::try_from(*booltesttype) {
            Ok(BoolTestType::IsTrue) => " IS TRUE",
            Ok(BoolTestType::IsNotTrue) => " IS NOT TRUE",
            Ok(BoolTestType::IsFalse) => " IS FALSE",
            Ok(BoolTestType::IsNotFalse) => " IS NOT FALSE",
            Ok(BoolTestType::IsUnknown) => " IS UNKNOWN",
            Ok(BoolTestType::IsNotUnknown) => " IS NOT UNKNOWN",
            _ => return Err(self.refuse(RejectionCode::Construct, "unknown test", *location)),
        };
        self.part(arg.as_deref())?;
        self.out.push_str(word);
        Ok(())
    }

    fn case(&mut self, case: &CaseExpr) -> Checked {
        let CaseExpr {
            xpr: _,
            casetype: _,
            casecollid: _,
            arg,
            args,
            defresult,
            location,
        } = case;
        self.out.push_str("CASE");
        if let Some(subject) = arg {
            self.out.push(' ');
            self.operand(subject)?;
        }
        for branch in args {
            let Some(NodeEnum::CaseWhen(branch)) = &branch.node else {
                return Err(self.refuse(RejectionCode::Construct, "not a branch", *location));
            };
            self.out.push_str(" WHEN ");
            self.part(branch.expr.as_deref())?;
            self.out.push_str(" THEN ");
            self.part(branch.result.as_deref())?;
        }
        if let Some(otherwise) = defresult {
            self.out.push_str(" ELSE ");
            self.operand(otherwise)?;
        }
        self.out.push_str(" END");
        Ok(())
    }

    fn extreme(&mut self, extreme: &MinMaxExpr) -> Checked {
        match MinMaxOp::try_from(extreme.op) {
            Ok(MinMaxOp::IsGreatest) => self.list("GREATEST(", &extreme.args, ")"),
            Ok(MinMaxOp::IsLeast) => self.list("LEAST(", &extreme.args, ")"),
            _ => Err(Fault::new(RejectionCode::Construct, "an unknown function")),
        }
    }

    fn subscript(&mut self, access: &AIndirection) -> Checked {
        let AIndirection { arg, indirection } = access;
        let base = self.required(arg.as_deref())?;
        if matches!(base.node, Some(NodeEnum::ColumnRef(_))) {
            self.expression(base)?;
        } else {
            self.out.push('(');
            self.expression(base)?;
            self.out.push(')');
        }
        for step in indirection {
            let Some(NodeEnum::AIndices(step)) = &step.node else {
                return Err(Fault::new(
                    RejectionCode::QualifiedName,
                    "only elements can be taken out of a value, not fields",
                )
                .hint("jsonb is taken apart with -> and ->>"));
            };
            self.out.push('[');
            if let Some(lower) = &step.lidx {
                self.expression(lower)?;
            }
            if step.is_slice {
                self.out.push_str(" : ");
            }
            if let Some(upper) = &step.uidx {
                self.expression(upper)?;
            }
            self.out.push(']');
        }
        Ok(())
    }

    fn value_function(&mut self, value: &SqlValueFunction) -> Checked {
        use SqlValueFunctionOp as Op;
        let (word, digits) = match Op::try_from(value.op) {
            Ok(Op::SvfopCurrentDate) => ("CURRENT_DATE", false),
            Ok(Op::SvfopCurrentTime) => ("CURRENT_TIME", false),
            Ok(Op::SvfopCurrentTimeN) => ("CURRENT_TIME", true),
            Ok(Op::SvfopCurrentTimestamp) => ("CURRENT_TIMESTAMP", false),
            Ok(Op::SvfopCurrentTimestampN) => ("CURRENT_TIMESTAMP", true),
            Ok(Op::SvfopLocaltime) => ("LOCALTIME", false),
            Ok(Op::SvfopLocaltimeN) => ("LOCALTIME", true),
            Ok(Op::SvfopLocaltimestamp) => ("LOCALTIMESTAMP", false),
            Ok(Op::SvfopLocaltimestampN) => ("LOCALTIMESTAMP", true),
            _ => {
                let message = "who runs this, and where, is not for fragments to see";
                return Err(self.refuse(RejectionCode::Function, message, value.location));
            }
        };
        self.out.push_str(word);
        if digits {
            self.out.push_str(&format!("({})", value.typmod));
        }
        Ok(())
    }
}

/// Whether a node is written so that nothing around it can take it apart.
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
