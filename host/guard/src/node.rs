//! Positions of a tree's nodes, and reasons for their refusal.

use pg_query::protobuf::{AConst, a_const::Val};
use pg_query::{Node, NodeEnum};

use crate::FlowAttributes;
use crate::refusal::{ByteRefusal, RefusalCode, shorten};

/// A node that is on no list.
pub(crate) fn foreign(node: &NodeEnum) -> ByteRefusal {
    let (code, message, hint) = match node {
        NodeEnum::SubLink(_) => {
            (RefusalCode::Subquery, "sub-selects are not allowed", "a fragment sees its own instance only")
        }
        NodeEnum::ParamRef(_) => {
            (RefusalCode::Parameter, "there are no parameters here", "write the value itself, text in single quotes")
        }
        NodeEnum::SetToDefault(_) => (RefusalCode::Default, "DEFAULT stands alone on the right of =", ""),
        NodeEnum::MultiAssignRef(_) => {
            (RefusalCode::Construct, "rows are not allowed", "write attribute=value for each attribute")
        }
        NodeEnum::RowExpr(_) => (
            RefusalCode::Construct,
            "a row of values is not allowed here",
            "rows of the same length stand on both sides of =, <>, <, <=, > or >=, or before IS NULL and IN",
        ),
        NodeEnum::NamedArgExpr(_) => (RefusalCode::Function, "only make_interval takes arguments by name", ""),
        NodeEnum::XmlExpr(_) | NodeEnum::XmlSerialize(_) => (RefusalCode::Construct, "XML is not allowed", "use jsonb"),
        NodeEnum::JsonIsPredicate(_) => (
            RefusalCode::Construct,
            "IS JSON is not allowed, as older servers do not know it",
            "keep documents in attributes of type jsonb; jsonb_typeof(doc) tells what one is",
        ),
        NodeEnum::JsonObjectConstructor(_)
        | NodeEnum::JsonArrayConstructor(_)
        | NodeEnum::JsonFuncExpr(_)
        | NodeEnum::JsonParseExpr(_)
        | NodeEnum::JsonScalarExpr(_)
        | NodeEnum::JsonSerializeExpr(_) => (
            RefusalCode::Construct,
            "this JSON syntax is not allowed",
            "use jsonb_build_object, jsonb_build_array, -> and ->>",
        ),
        NodeEnum::GroupingFunc(_) => {
            (RefusalCode::Aggregate, "aggregates and windows are not allowed here", "a fragment sees one instance only")
        }
        _ => (RefusalCode::Construct, "this part of SQL is not allowed here", ""),
    };
    ByteRefusal::new(code, message).hint(hint)
}

/// The refusal of a name that is no attribute.
pub(crate) fn unknown(attributes: &FlowAttributes, name: &str) -> ByteRefusal {
    let shown = shorten(name, 60);
    if name == "wid" {
        return ByteRefusal::new(RefusalCode::Wid, "`wid` is the instance's identity, not an attribute");
    }
    // What cannot be seen, or looks like a sign, is part of a name to Postgres.
    if let Some(c) = name.chars().find(|c| is_hidden(*c)) {
        let shown: String = shown
            .chars()
            .map(|c| match is_hidden(c) {
                true => c.escape_unicode().to_string(),
                false => c.to_string(),
            })
            .collect();
        let message = format!("the flow has no attribute `{shown}`");
        let code = u32::from(c);
        return ByteRefusal::new(RefusalCode::UnknownAttribute, message)
            .hint(format!("it holds the character U+{code:04X}, which is not seen; write a space, or nothing"));
    }
    let hint = name.chars().find_map(lookalike).map_or_else(|| attributes.suggest(&shown), str::to_owned);
    ByteRefusal::new(RefusalCode::UnknownAttribute, format!("the flow has no attribute `{shown}`")).hint(hint)
}

/// Returns true for white space that Postgres does not know as such, and for invisible characters.
fn is_hidden(c: char) -> bool {
    !c.is_ascii() && c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// Returns the sign to write instead of one that Postgres does not know.
pub(crate) fn lookalike(c: char) -> Option<&'static str> {
    Some(match c {
        '≥' => "write >=",
        '≤' => "write <=",
        '≠' => "write <>",
        '×' => "write *",
        '÷' => "write /",
        '−' | '–' | '—' => "write the minus sign of the keyboard: -",
        '‘' | '’' | '‚' | '“' | '”' | '„' | '«' | '»' | '′' | '″' | '´' => {
            "text stands in straight single quotes: 'x'"
        }
        '∧' => "write AND",
        '∨' => "write OR",
        '¬' => "write NOT",
        _ => return None,
    })
}

/// The text of a name's part.
pub(crate) fn text_of(node: &Node) -> Option<&str> {
    match &node.node {
        Some(NodeEnum::String(text)) => Some(&text.sval),
        _ => None,
    }
}

/// The text of a text constant.
pub(crate) fn text_constant(node: &Node) -> Option<&str> {
    match &node.node {
        Some(NodeEnum::AConst(AConst { val: Some(Val::Sval(text)), .. })) => Some(&text.sval),
        _ => None,
    }
}

/// The text of a text constant, also with an explicit cast to text.
pub(crate) fn constant_text(node: &Node) -> Option<&str> {
    match &node.node {
        Some(NodeEnum::TypeCast(cast)) => {
            let kind = cast.type_name.as_ref()?;
            let name = kind.names.last().and_then(text_of)?;
            let plain = kind.array_bounds.is_empty() && !kind.setof && !kind.pct_type;
            (name == "text" && plain).then(|| text_constant(cast.arg.as_deref()?)).flatten()
        }
        _ => text_constant(node),
    }
}

/// The text of a constant, whatever it is cast to.
pub(crate) fn written_text(node: &Node) -> Option<&str> {
    match &node.node {
        Some(NodeEnum::TypeCast(cast)) => written_text(cast.arg.as_deref()?),
        Some(NodeEnum::CollateClause(clause)) => written_text(clause.arg.as_deref()?),
        _ => text_constant(node),
    }
}

/// Returns true for an expression of constants alone.
pub(crate) fn is_constant(node: &Node) -> bool {
    let is = |node: &Option<Box<Node>>| node.as_deref().is_some_and(is_constant);
    match &node.node {
        Some(NodeEnum::AConst(_)) => true,
        Some(NodeEnum::TypeCast(cast)) => is(&cast.arg),
        Some(NodeEnum::CollateClause(clause)) => is(&clause.arg),
        Some(NodeEnum::AExpr(operation)) => is(&operation.rexpr) && (operation.lexpr.is_none() || is(&operation.lexpr)),
        Some(NodeEnum::AArrayExpr(list)) => list.elements.iter().all(is_constant),
        _ => false,
    }
}

/// Returns the position of a node that carries one.
pub(crate) fn location(node: &NodeEnum) -> Option<i32> {
    Some(match node {
        NodeEnum::AConst(node) => node.location,
        NodeEnum::AIndirection(node) => {
            return node.arg.as_deref().and_then(|arg| arg.node.as_ref()).and_then(location);
        }
        NodeEnum::ColumnRef(node) => node.location,
        NodeEnum::ParamRef(node) => node.location,
        NodeEnum::AExpr(node) => node.location,
        NodeEnum::BoolExpr(node) => node.location,
        NodeEnum::NullTest(node) => node.location,
        NodeEnum::BooleanTest(node) => node.location,
        NodeEnum::FuncCall(node) => node.location,
        NodeEnum::TypeCast(node) => node.location,
        NodeEnum::CaseExpr(node) => node.location,
        NodeEnum::CoalesceExpr(node) => node.location,
        NodeEnum::MinMaxExpr(node) => node.location,
        NodeEnum::AArrayExpr(node) => node.location,
        NodeEnum::SqlvalueFunction(node) => node.location,
        NodeEnum::SubLink(node) => node.location,
        NodeEnum::RowExpr(node) => node.location,
        NodeEnum::CollateClause(node) => node.location,
        NodeEnum::SetToDefault(node) => node.location,
        NodeEnum::NamedArgExpr(node) => node.location,
        NodeEnum::XmlExpr(node) => node.location,
        NodeEnum::XmlSerialize(node) => node.location,
        NodeEnum::GroupingFunc(node) => node.location,
        NodeEnum::JsonIsPredicate(node) => node.location,
        NodeEnum::JsonObjectConstructor(node) => node.location,
        NodeEnum::JsonArrayConstructor(node) => node.location,
        NodeEnum::JsonFuncExpr(node) => node.location,
        NodeEnum::JsonParseExpr(node) => node.location,
        NodeEnum::JsonScalarExpr(node) => node.location,
        NodeEnum::JsonSerializeExpr(node) => node.location,
        _ => return None,
    })
}
