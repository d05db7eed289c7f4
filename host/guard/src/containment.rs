//! What is held against what by `@>`, `<@` and `&&`: how many parts each side has.

use pg_query::{Node, NodeEnum};

use crate::call::function_name;
use crate::expression::{Done, Seen, Walk};
use crate::kind::{Base, Kind};
use crate::node::text_of;
use crate::rejection::{Fault, RejectionCode};

/// The longest array that may be held against another one.
const MAX_LIST: u64 = 32 << 10;
/// The most attributes in an array that is held against another one.
const MAX_ARRAYS: usize = 4;

impl Walk<'_> {
    /// An array that is held against another one, element by element: an attribute's, which has not so many,
    /// or what is made of few.
    pub(crate) fn list_against_list(&self, node: &Node, seen: Seen) -> Done {
        if seen.size <= MAX_LIST || (self.few_elements(node) && self.arrays(node) <= MAX_ARRAYS) {
            return Ok(());
        }
        let message = "arrays of any length are held against each other";
        let fault = Fault::new(RejectionCode::TooLarge, message)
            .hint("compare attributes that are arrays, or split a part of a text: string_to_array(left(a1, 1000), ',')");
        Err(self.placed(fault, node))
    }

    /// The type of an attribute that is named.
    pub(crate) fn column_kind(&self, node: &Node) -> Option<Kind> {
        let Some(NodeEnum::ColumnRef(column)) = &node.node else {
            return None;
        };
        let name = column.fields.last().and_then(text_of)?;
        let index = self.attributes.find(name)?;
        Some(Kind::of(&self.attributes.get(index).kind))
    }

    /// Whether a document holds no others, and so no more parts than are written there.
    pub(crate) fn of_scalars(&self, node: &Node) -> bool {
        let Some(NodeEnum::FuncCall(call)) = &node.node else {
            return false;
        };
        let made = ["to_jsonb", "jsonb_build_object", "jsonb_build_array"];
        function_name(call).is_some_and(|name| made.contains(&name))
            && call.args.iter().all(|arg| match &arg.node {
                Some(NodeEnum::AConst(_)) => true,
                Some(NodeEnum::ColumnRef(_)) => self
                    .column_kind(arg)
                    .is_some_and(|kind| !kind.array && kind.base != Base::Jsonb),
                _ => self.of_scalars(arg),
            })
    }

    /// How many attributes that are arrays an expression names.
    fn arrays(&self, node: &Node) -> usize {
        let sum = |nodes: &[Node]| nodes.iter().map(|node| self.arrays(node)).sum();
        let of = |node: &Option<Box<Node>>| node.as_deref().map_or(0, |node| self.arrays(node));
        match &node.node {
            Some(NodeEnum::ColumnRef(_)) => {
                usize::from(self.column_kind(node).is_some_and(|kind| kind.array))
            }
            Some(NodeEnum::AArrayExpr(list)) => sum(&list.elements),
            Some(NodeEnum::AIndirection(part)) => of(&part.arg),
            Some(NodeEnum::TypeCast(cast)) => of(&cast.arg),
            Some(NodeEnum::AExpr(operation)) => of(&operation.lexpr) + of(&operation.rexpr),
            Some(NodeEnum::CoalesceExpr(first)) => sum(&first.args),
            Some(NodeEnum::FuncCall(call)) => sum(&call.args),
            _ => 0,
        }
    }

    /// Whether something that is cast is plainly an array, or written there.
    fn is_array(&self, node: &Node) -> bool {
        match &node.node {
            Some(NodeEnum::ColumnRef(_)) => self.column_kind(node).is_some_and(|kind| kind.array),
            Some(NodeEnum::AArrayExpr(_) | NodeEnum::AConst(_)) => true,
            Some(NodeEnum::TypeCast(cast)) => {
                (cast.type_name.as_ref()).is_some_and(|kind| !kind.array_bounds.is_empty())
            }
            Some(NodeEnum::AExpr(operation)) => [&operation.lexpr, &operation.rexpr]
                .into_iter()
                .flatten()
                .any(|side| !matches!(side.node, Some(NodeEnum::AConst(_))) && self.is_array(side)),
            Some(NodeEnum::CoalesceExpr(first)) => first.args.iter().all(|arg| self.is_array(arg)),
            Some(NodeEnum::FuncCall(call)) => {
                function_name(call).is_some_and(|name| name.starts_with("array_"))
            }
            _ => false,
        }
    }

    /// Whether an array has not many more elements than an attribute may have.
    fn few_elements(&self, node: &Node) -> bool {
        match &node.node {
            Some(NodeEnum::ColumnRef(_) | NodeEnum::AArrayExpr(_) | NodeEnum::AConst(_)) => true,
            Some(NodeEnum::AIndirection(part)) => part
                .arg
                .as_deref()
                .is_some_and(|arg| self.few_elements(arg)),
            // Text that is read as an array may hold any number.
            Some(NodeEnum::TypeCast(cast)) => (cast.arg.as_deref())
                .is_some_and(|arg| self.is_array(arg) && self.few_elements(arg)),
            Some(NodeEnum::AExpr(operation)) => [&operation.lexpr, &operation.rexpr]
                .into_iter()
                .all(|side| side.as_deref().is_some_and(|side| self.few_elements(side))),
            Some(NodeEnum::CoalesceExpr(first)) => {
                first.args.iter().all(|arg| self.few_elements(arg))
            }
            Some(NodeEnum::FuncCall(call)) => {
                function_name(call).is_some_and(|name| {
                    matches!(
                        name,
                        "array_append"
                            | "array_prepend"
                            | "array_cat"
                            | "array_remove"
                            | "array_replace"
                            | "trim_array"
                    )
                }) && call.args.iter().all(|arg| self.few_elements(arg))
            }
            _ => false,
        }
    }
}

/// Whether it is a range that is made of its bounds.
pub(crate) fn made_range(node: &Node) -> bool {
    match &node.node {
        Some(NodeEnum::FuncCall(call)) => {
            function_name(call).is_some_and(|name| name.ends_with("range"))
        }
        _ => false,
    }
}

/// Whether a list or document has no more parts than are written there.
pub(crate) fn made_here(node: &Node) -> bool {
    match &node.node {
        Some(NodeEnum::AArrayExpr(_)) => true,
        Some(NodeEnum::FuncCall(call)) => function_name(call)
            .is_some_and(|name| matches!(name, "jsonb_build_object" | "jsonb_build_array")),
        _ => false,
    }
}
