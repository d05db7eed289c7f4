//! A WED-condition.

use std::fmt;

use pg_query::NodeEnum;
use pg_query::protobuf::{DeleteStmt, Token};
use wedflow_model::{AttributeType, ScalarType};

use crate::FlowAttributes;
use crate::expression::Walk;
use crate::fragment::Fragment;
use crate::rejection::{Fault, Rejection, RejectionCode};
use crate::set_clause::is_wrapper;

/// Of the statements with a condition, the one that can carry the least besides.
const WRAPPER: &str = "DELETE FROM wed_flow WHERE ";

/// A predicate over the flow's attributes, in `WHERE` syntax, written anew from checked nodes.
///
/// The database checks conditions again by its own means when they are defined; this is for earlier
/// and better errors, and for tools. `Display` gives the SQL, which parses to an equal predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedPredicate {
    sql: String,
    read: Vec<String>,
}

impl CheckedPredicate {
    /// Checks a condition, without the word `WHERE`.
    ///
    /// # Errors
    /// A [`Rejection`] that says what is wrong and where.
    pub fn parse(text: &str, attributes: &FlowAttributes) -> Result<Self, Rejection> {
        let fragment = Fragment::new(WRAPPER, text)?;
        checked(&fragment, attributes).map_err(|fault| fragment.reject(fault))
    }

    /// Checks a condition for a flow that is not known yet: every name in it passes for an
    /// attribute. The types of those in `known` are taken into account.
    ///
    /// # Errors
    /// A [`Rejection`] that says what is wrong and where.
    pub fn parse_for_any_flow(
        text: &str,
        known: impl IntoIterator<Item = (String, AttributeType)>,
    ) -> Result<Self, Rejection> {
        let fragment = Fragment::new(WRAPPER, text)?;
        // Of an integer the most is allowed (it can be a count).
        let integer = AttributeType {
            scalar: ScalarType::Integer,
            array: false,
        };
        let names = fragment.names().map(|name| (name, integer.clone()));
        let attributes = FlowAttributes::new(known.into_iter().chain(names));
        checked(&fragment, &attributes).map_err(|fault| fragment.reject(fault))
    }

    /// The condition as SQL.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The attributes it reads, in the order of the flow's attributes.
    pub fn attributes_read(&self) -> &[String] {
        &self.read
    }
}

impl fmt::Display for CheckedPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sql)
    }
}

fn checked(
    fragment: &Fragment<'_>,
    attributes: &FlowAttributes,
) -> Result<CheckedPredicate, Fault> {
    let NodeEnum::DeleteStmt(statement) = fragment.parse()? else {
        return Err(Fault::new(RejectionCode::Construct, "not a condition"));
    };
    let DeleteStmt {
        relation,
        using_clause,
        where_clause: Some(condition),
        returning_clause: None,
        with_clause: None,
    } = *statement
    else {
        let fault = Fault::new(
            RejectionCode::ExtraClause,
            "only a condition is allowed here",
        );
        let words = [Token::Returning, Token::With];
        return Err(match fragment.find_word(&words) {
            Some(at) => fault.at(at),
            None => fault,
        });
    };
    if !is_wrapper(relation.as_ref()) || !using_clause.is_empty() {
        return Err(Fault::new(
            RejectionCode::ExtraClause,
            "only a condition is allowed here",
        ));
    }
    let mut walk = Walk::new(fragment, attributes, false);
    let sql = walk.check(&condition)?;
    Ok(CheckedPredicate {
        sql,
        read: walk
            .read
            .iter()
            .map(|index| attributes.get(*index).name.clone())
            .collect(),
    })
}
