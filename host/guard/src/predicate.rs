//! A WED-condition.

use std::fmt;

use pg_query::protobuf::{DeleteStmt, Token};
use pg_query::{Node, NodeEnum};
use wedflow_model::{AttributeType, ScalarType};

use crate::FlowAttributes;
use crate::expression::Walk;
use crate::fragment::Fragment;
use crate::kind::{Context, Kind};
use crate::refusal::{ByteRefusal, Refusal, RefusalCode};
use crate::set_clause::is_wrapper;

/// Statement around a condition: of all that have one, the one with the fewest other clauses.
const WRAPPER: &str = "DELETE FROM wed_flow WHERE ";

/// Types that an attribute of a flow that is not known may have. Of an integer the most is allowed (it can
/// be a count), so it comes first.
const GUESSED: [ScalarType; 6] = [
    ScalarType::Integer,
    ScalarType::Text,
    ScalarType::Timestamptz,
    ScalarType::Jsonb,
    ScalarType::Boolean,
    ScalarType::Interval,
];

/// Maximum number of combinations of types to try.
const GUESSES: usize = 100;

/// A predicate over the flow's attributes, in `WHERE` syntax, written anew from checked nodes.
///
/// The database checks conditions again by its own means when they are defined; this is for earlier
/// and better errors, and for tools. `Display` gives the SQL, which parses to an equal predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedPredicate {
    sql: String,
    guarded: String,
    weight: u64,
}

impl CheckedPredicate {
    /// Checks a condition, without the word `WHERE`.
    ///
    /// # Errors
    /// A [`Refusal`] that says what is wrong and where.
    pub fn parse(text: &str, attributes: &FlowAttributes) -> Result<Self, Refusal> {
        let fragment = Fragment::new(WRAPPER, text)?;
        without_controls(&fragment)?;
        condition(&fragment)
            .and_then(|condition| checked(&fragment, &condition, attributes))
            .map_err(|refusal| fragment.reject(refusal))
    }

    /// Checks a condition for a flow that is not known yet: every name in it passes for an
    /// attribute. The types of those in `known` are taken into account.
    ///
    /// # Errors
    /// A [`Refusal`] that says what is wrong and where.
    pub fn parse_for_any_flow(
        text: &str,
        known: impl IntoIterator<Item = (String, AttributeType)>,
    ) -> Result<Self, Refusal> {
        let fragment = Fragment::new(WRAPPER, text)?;
        without_controls(&fragment)?;
        let known: Vec<_> = known.into_iter().collect();
        let mut unknown: Vec<String> = fragment.names().collect();
        unknown.sort();
        unknown.dedup();
        unknown.retain(|name| known.iter().all(|(other, _)| other != name));
        let condition = condition(&fragment).map_err(|refusal| fragment.reject(refusal))?;
        let check = |guess: &[usize]| {
            let guessed = unknown.iter().zip(guess).map(|(name, at)| {
                let scalar = GUESSED[*at].clone();
                (name.clone(), AttributeType { scalar, array: false })
            });
            let attributes = FlowAttributes::new(known.iter().cloned().chain(guessed));
            checked(&fragment, &condition, &attributes)
        };
        guess(unknown.len(), check).map_err(|refusal| fragment.reject(refusal))
    }

    /// The condition as SQL.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The condition as SQL to be run: values that could take too long are refused by functions of the
    /// schema `wed_bounded`.
    pub fn guarded(&self) -> &str {
        &self.guarded
    }

    /// Weight of evaluating it, in values of a row's size.
    pub fn weight(&self) -> u64 {
        self.weight
    }
}

impl fmt::Display for CheckedPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sql)
    }
}

/// Refuses what no text in a definition may hold as it is: the database refuses it too, and some versions of
/// Postgres cannot read it back.
fn without_controls(fragment: &Fragment<'_>) -> Result<(), Refusal> {
    let control = |c: char| matches!(c, '\x01'..='\x08' | '\x0e'..='\x1f');
    match fragment.text.find(control) {
        None => Ok(()),
        Some(at) => {
            let refusal = ByteRefusal::new(RefusalCode::Syntax, "a control character");
            Err(fragment.reject(refusal.hint("remove it; in text write it as E'\\x01'").at(at)))
        }
    }
}

/// Looks for types of the attributes with which the check of a condition passes: the same for all first, then
/// for one after the other the type with which it gets furthest. Answers the first refusal where none does.
fn guess(
    names: usize,
    check: impl Fn(&[usize]) -> Result<CheckedPredicate, ByteRefusal>,
) -> Result<CheckedPredicate, ByteRefusal> {
    let mut best = vec![0; names];
    let mut first = None;
    let mut furthest = None;
    let same = (0..GUESSED.len()).map(|kind| (0..names, kind));
    let each = (0..names).flat_map(|at| (0..GUESSED.len()).map(move |kind| (at..at + 1, kind)));
    for (places, kind) in same.chain(each.clone()).chain(each).take(GUESSES) {
        let mut types = best.clone();
        types[places].fill(kind);
        match check(&types) {
            Ok(predicate) => return Ok(predicate),
            Err(refusal) => {
                if first.is_none() || refusal.at > furthest {
                    furthest = refusal.at;
                    best = types;
                }
                first = first.or(Some(refusal));
            }
        }
    }
    Err(first.unwrap_or_else(|| ByteRefusal::new(RefusalCode::TooComplex, "it names too many attributes")))
}

/// The condition in the statement that it is parsed in.
fn condition(fragment: &Fragment<'_>) -> Result<Box<Node>, ByteRefusal> {
    let NodeEnum::DeleteStmt(statement) = fragment.parse()? else {
        return Err(ByteRefusal::new(RefusalCode::Construct, "not a condition"));
    };
    let DeleteStmt { relation, using_clause, where_clause: Some(condition), returning_clause: None, with_clause: None } =
        *statement
    else {
        let refusal = ByteRefusal::new(RefusalCode::ExtraClause, "only a condition is allowed here");
        let words = [Token::Returning, Token::With];
        return Err(match fragment.find_word(&words) {
            Some(at) => refusal.at(at),
            None => refusal,
        });
    };
    if !is_wrapper(relation.as_ref()) || !using_clause.is_empty() {
        return Err(ByteRefusal::new(RefusalCode::ExtraClause, "only a condition is allowed here"));
    }
    Ok(condition)
}

fn checked(
    fragment: &Fragment<'_>,
    condition: &Node,
    attributes: &FlowAttributes,
) -> Result<CheckedPredicate, ByteRefusal> {
    let mut walk = Walk::new(fragment, attributes, false);
    let (written, _) = walk.check(condition, Kind::BOOL, Context::Implicit)?;
    Ok(CheckedPredicate { sql: written.to_string(), guarded: written.guarded(), weight: walk.weight })
}
