//! How often documents are made anew. A document takes far more memory while it is made than where it is kept: each of
//! its values is an entry of its own then, and an empty object of eight bytes takes more than six hundred.

use pg_query::protobuf::AExprKind;
use pg_query::{Node, NodeEnum};

use crate::call::function_name;
use crate::expression::{Done, Seen, Walk};
use crate::kind::{Base, Kind};
use crate::node::{constant_length, text_of};
use crate::rejection::{Fault, RejectionCode};

/// The most documents of an attribute's size that a fragment makes.
const MAX_MADE: usize = 16;
/// What text counts that is read as a document: when it is read, and what is made of it.
const READ: usize = 2;
const OF_TEXT: usize = 3;
/// The most comparisons of documents.
const MAX_COMPARED: usize = 200;

/// Whether a function may give documents or arrays as large as what it is given; others give numbers, texts, truth.
fn gives_documents(name: &str) -> bool {
    const JSON: [&str; 6] = [
        "build_array",
        "build_object",
        "object",
        "strip_nulls",
        "extract_path",
        "path_query_first",
    ];
    let json = name.strip_prefix("jsonb_").or(name.strip_prefix("json_"));
    matches!(
        name,
        "to_json"
            | "to_jsonb"
            | "array_to_json"
            | "jsonb_set"
            | "jsonb_insert"
            | "array_append"
            | "array_cat"
            | "array_prepend"
            | "array_remove"
            | "array_replace"
            | "array_positions"
            | "trim_array"
    ) || json.is_some_and(|what| JSON.contains(&what))
}

impl Walk<'_> {
    /// How many documents of an attribute's size the value may hold.
    pub(crate) fn documents(&self, node: &Node) -> usize {
        let column = self.column_kind(node);
        let Some(node) = &node.node else { return 0 };
        let of = |node: &Option<Box<Node>>| node.as_deref().map_or(0, |node| self.documents(node));
        let sum = |nodes: &[Node]| nodes.iter().map(|node| self.documents(node)).sum();
        let most = |nodes: &[Node]| nodes.iter().map(|node| self.documents(node)).max();
        match node {
            NodeEnum::ColumnRef(_) => {
                usize::from(column.is_some_and(|kind| kind.base == Base::Jsonb))
            }
            NodeEnum::AExpr(operation) => {
                let sign = operation.name.last().and_then(text_of).unwrap_or_default();
                match (operation.kind == AExprKind::AexprNullif as i32, sign) {
                    (false, "||" | "-" | "#-") => of(&operation.lexpr) + of(&operation.rexpr),
                    (true, _) | (_, "->" | "#>") => of(&operation.lexpr),
                    _ => 0,
                }
            }
            NodeEnum::FuncCall(call) => match function_name(call) {
                Some("string_to_array" | "regexp_split_to_array") => 1,
                Some(name) if gives_documents(name) => sum(&call.args),
                _ => 0,
            },
            NodeEnum::TypeCast(cast) => {
                let kind = cast.type_name.as_ref();
                let base = kind
                    .and_then(|kind| kind.names.last())
                    .and_then(text_of)
                    .and_then(Kind::named)
                    .map(|kind| kind.base);
                let array = kind.is_some_and(|kind| !kind.array_bounds.is_empty());
                let written = cast
                    .arg
                    .as_deref()
                    .is_some_and(|arg| constant_length(arg).is_some());
                match (of(&cast.arg), base) {
                    _ if written => 0,
                    (0, Some(Base::Jsonb | Base::Json)) => OF_TEXT,
                    (inner, Some(Base::Jsonb | Base::Json)) => inner,
                    (inner, _) if array => inner.max(1),
                    _ => 0,
                }
            }
            NodeEnum::CaseExpr(case) => case
                .args
                .iter()
                .filter_map(|branch| match &branch.node {
                    Some(NodeEnum::CaseWhen(branch)) => Some(of(&branch.result)),
                    _ => None,
                })
                .chain([of(&case.defresult)])
                .max()
                .unwrap_or(0),
            NodeEnum::CoalesceExpr(first) => most(&first.args).unwrap_or(0),
            NodeEnum::MinMaxExpr(extreme) => most(&extreme.args).unwrap_or(0),
            NodeEnum::AArrayExpr(list) => sum(&list.elements),
            NodeEnum::AIndirection(part) => of(&part.arg),
            _ => 0,
        }
    }

    /// Counts documents that are made anew.
    pub(crate) fn remade(&mut self, documents: usize) -> Done {
        self.documents = self.documents.saturating_add(documents);
        if self.documents > MAX_MADE {
            let message = format!("it makes more than {MAX_MADE} documents of any size");
            return Err(Fault::new(RejectionCode::TooComplex, message).hint(
                "make one of constants and join it: doc || jsonb_build_object('a', 1, 'b', 2)",
            ));
        }
        Ok(())
    }

    /// Counts a cast that reads a document.
    pub(crate) fn read_as_document(&mut self, found: Seen, kind: Kind, value: &Node) -> Done {
        let read = kind.base == Base::Jsonb && found.kind.base != Base::Jsonb;
        if read && !found.constant && constant_length(value).is_none() {
            self.remade(READ)?;
        }
        Ok(())
    }

    /// Counts comparisons of documents: each may look at all of both.
    pub(crate) fn documents_compared(&self, kind: Kind, times: usize) -> Done {
        if kind.base != Base::Jsonb {
            return Ok(());
        }
        let compared = self.compared.get().saturating_add(times);
        self.compared.set(compared);
        if compared > MAX_COMPARED {
            let message = format!("more than {MAX_COMPARED} comparisons of documents");
            return Err(Fault::new(RejectionCode::TooComplex, message)
                .hint("compare text: doc ->> 'a' IN (…)"));
        }
        Ok(())
    }
}
