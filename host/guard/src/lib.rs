//! Checks the SQL fragments that tenants write, with Postgres's own grammar, before any of it comes
//! near a database.
//!
//! Two kinds of fragment: the clause a transition returns (`a2='done', a4=(a4::integer+1)::text`,
//! [`CheckedSetClause`]) and a WED-condition in `WHERE` syntax ([`CheckedPredicate`]). A fragment is
//! parsed inside a wrapper statement, the tree must be exactly that wrapper and one fragment, and
//! every node in it must be on a list of what is allowed: anything not known is refused. What comes
//! out is never the text that went in, but SQL written anew from the nodes that were checked; its
//! constructors being private, holding a value of these types is the proof that it was.
//!
//! Types are checked as Postgres would, by its own rules of which operator or function is meant. What
//! comes out has a second form, the one to be run (`guarded`): in it, values that are cast to numbers
//! or searched for pass a function of the database that refuses those which would take too long.
//!
//! What is not checked here is left to the database: whether a text in quotes is a date, an interval
//! or a time zone. Whoever runs the SQL does so with a `search_path` in which a tenant can create
//! nothing.
//!
//! # Standard error
//! The parser library points the process's standard error elsewhere for the microseconds a parse
//! takes (unless its C code was compiled with `-DDEBUG`). Parses therefore take turns, and
//! [`outside_of_parsing`] is the place to duplicate the handle that logs go to, or to start a
//! program that inherits it.

mod advice;
mod allowed;
mod answer;
mod attributes;
mod cache;
mod call;
mod catalog;
mod catalog_word;
mod expression;
mod fragment;
mod kind;
mod literal;
mod node;
mod operation;
mod pattern;
mod plain;
mod predicate;
mod refusal;
mod resolve;
pub mod rules;
mod set_clause;
mod time_part;
mod type_name;
mod value;
mod weight;
mod written;
mod zone;

pub use attributes::FlowAttributes;
pub use cache::SetClauseCache;
pub use catalog_word::catalog_word;
pub use fragment::outside_of_parsing;
pub use predicate::CheckedPredicate;
pub use refusal::{Refusal, RefusalCode};
pub use set_clause::{CheckedAssignment, CheckedSetClause, CheckedValue};

/// The longest fragment, in bytes.
pub const MAX_BYTES: usize = 16 << 10;
/// The deepest nesting of a fragment's expressions. The parser library itself gives up not far
/// beyond: it reads its tree with a limit of 100 nested messages, two for each level.
pub const MAX_DEPTH: usize = 40;
/// The most nodes (operators, functions, columns, constants) a fragment may have.
pub const MAX_NODES: usize = 2000;
/// The most digits of a number.
pub const MAX_DIGITS: usize = 38;
/// The most bytes of an instance's row, held by the database (`wed.refuse_row`): what is accepted is
/// bounded in time and memory for rows up to this size.
pub const MAX_ROW_BYTES: usize = 256 << 10;
/// The most elements of an attribute that is an array, held by the database (`wed.bounds_of`).
pub const MAX_ELEMENTS: usize = 4096;
