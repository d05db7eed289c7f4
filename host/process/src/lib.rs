//! The languages of flows. The process language: a workflow of tasks, sub-workflows and data, task models and
//! applications, in a file `x.pdl`. [`wsql`]: statements, in a file `x.wsql`.
//!
//! [`parse`] reads a source and says with line and column what is wrong; [`check`] finds names that are missing or
//! used twice, tasks that wait for each other and tasks that never run; [`format()`] prints a document in one way;
//! [`lower`] makes a flow and a plan of work of each workflow; [`raise`] writes a source of plans; [`change`] changes a
//! task of a source where it has to and nowhere else; [`sketch()`] says what triggers read and write.

mod check;
mod dependence;
mod diagnostic;
mod edit;
mod format;
mod lexer;
mod lower;
mod naming;
mod network;
mod parser;
mod plan;
mod raise;
mod sketch;
mod splice;
mod syntax;
mod toml_form;
pub mod wsql;

pub use check::{check, unknown_roles};
pub use diagnostic::{Diagnostic, Position, Severity};
pub use edit::{Change, change};
pub use format::format;
pub use lower::{Process, lower};
pub use parser::{Parsed, SOURCE_BYTES_MAX, parse};
pub use plan::{
    Deadline, Dependence, Operator, Plan, PlannedApplication, PlannedData, PlannedState, PlannedSubWorkflow,
    PlannedTask, Unit,
};
pub use raise::raise;
pub use sketch::{Sketched, sketch};
pub use syntax::{
    Activity, Block, BlockKind, Clause, ClauseValue, Comment, Document, Item, Name, Rule, TaskType, Workflow,
};
pub use toml_form::write_toml;
