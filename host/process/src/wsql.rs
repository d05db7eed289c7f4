//! WSQL: statements that define a flow, start its instances and list what it holds, in a file `x.wsql` or at a prompt.
//!
//! [`parse`] reads a source and says with line and column what is wrong; [`Lowering`] makes flow definitions of
//! statements; [`write()`] and [`write_script`] print a definition as statements or as the papers' INSERT script, which
//! [`parse`] reads too; [`expected_at`] says what may come next;
//! [`change`] changes a trigger of a source.

mod edit;
mod lexer;
mod list;
mod lower;
mod parser;
mod script;
mod syntax;
mod write;

pub use edit::change;
pub(crate) use lexer::condition_words;
pub use lexer::{first_word, split};
pub use list::{FiredKind, List};
pub use lower::{Lowering, lower};
pub use parser::{ParsedStatements, expected_at, parse};
pub use syntax::{NewTrigger, Statement, StatementKind};
pub use write::{write, write_script};
