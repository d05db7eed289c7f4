//! Time zones that are written in a fragment.

use pg_query::protobuf::AExprKind;
use pg_query::{Node, NodeEnum};

use crate::node::constant_text;

/// The zones with digits in their names, besides those of Greenwich.
const AMERICAN: [&str; 4] = ["EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT"];

/// Returns true if a text names a time zone of Postgres's list, or is an offset. Zones of one's own making, with
/// rules in the name, each take memory of the server that it does not give back.
pub(crate) fn is_zone(text: &str) -> bool {
    let text = text.trim();
    // Without a digit no name makes a zone.
    let name = text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|c| c.is_ascii_alphabetic() || matches!(c, b'/' | b'_' | b'-'));
    let upper = text.to_ascii_uppercase();
    let hours = |text: &str| {
        let digits = text.bytes().all(|c| c.is_ascii_digit());
        digits && text.len() <= 2 && text.parse::<u8>().is_ok_and(|hours| hours < 24)
    };
    let bare = upper.strip_prefix("ETC/").unwrap_or(&upper);
    let from_greenwich = ["GMT", "UTC", "UCT"]
        .iter()
        .find_map(|prefix| bare.strip_prefix(prefix))
        .is_some_and(|rest| hours(rest.strip_prefix(['+', '-']).unwrap_or(rest)));
    let offset = text.strip_prefix(['+', '-']).unwrap_or(text);
    let quarter = ["00", "15", "30", "45"].iter().any(|minutes| {
        offset.strip_suffix(minutes).is_some_and(|rest| {
            let whole = rest.strip_suffix(':').unwrap_or(rest);
            !whole.is_empty() && hours(whole)
        })
    });
    name || from_greenwich || AMERICAN.contains(&bare) || hours(offset) || quarter
}

/// Returns true for a choice among literal time zones. The database checks the same (`wed.check_zone`).
pub(crate) fn is_choice_of_zones(node: &Node) -> bool {
    let one = |node: &Node| {
        let null = matches!(&node.node, Some(NodeEnum::AConst(constant)) if constant.isnull);
        null || constant_text(node).is_some_and(is_zone) || is_choice_of_zones(node)
    };
    let each = |node: &Option<Box<Node>>| node.as_deref().is_some_and(one);
    match &node.node {
        Some(NodeEnum::CaseExpr(case)) => {
            case.args.iter().all(|branch| match &branch.node {
                Some(NodeEnum::CaseWhen(branch)) => each(&branch.result),
                _ => false,
            }) && (case.defresult.is_none() || each(&case.defresult))
        }
        Some(NodeEnum::CoalesceExpr(first)) => first.args.iter().all(one),
        Some(NodeEnum::AExpr(operation)) => operation.kind == AExprKind::AexprNullif as i32 && each(&operation.lexpr),
        _ => false,
    }
}
