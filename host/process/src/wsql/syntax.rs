//! The statements of WSQL, with their places.

use std::ops::Range;

use serde_json::{Map, Value as Json};
use wedflow_model::{AttributeDefinition, TransitionDefinition, TriggerDefinition};

use super::list::List;
use crate::syntax::Name;

/// A statement and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The statement.
    pub kind: StatementKind,
    /// Bytes of the source, without the semicolon.
    pub span: Range<usize>,
}

/// A statement of WSQL.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// `USE name`: later statements are about this flow.
    Use(Name),
    /// `CREATE WED-FLOW`: later statements are about this new flow.
    CreateFlow {
        /// The flow's name.
        name: Name,
        /// The flow's purpose.
        description: String,
        /// The attribute by which results set the order of tasks.
        order: Option<Name>,
        /// The attributes that a start may set; all when absent.
        start: Option<Vec<String>>,
    },
    /// `CREATE WED-ATTRIBUTE`.
    CreateAttribute(Name, Box<AttributeDefinition>),
    /// `CREATE WED-CONDITION`: a name for a predicate.
    CreateCondition(Name, String),
    /// `CREATE FINAL WED-CONDITION`.
    CreateFinal(String),
    /// `CREATE WED-TRANSITION`, with the component that performs it, if one does.
    CreateTransition(Name, Option<TransitionDefinition>),
    /// `CREATE WED-TRIGGER`.
    CreateTrigger(Box<NewTrigger>),
    /// `CREATE INSTANCE`, with values of attributes.
    CreateInstance(Map<String, Json>),
    /// `ENABLE` and `DISABLE WED-TRIGGER`.
    Enable(Name, bool),
    /// `LIST`.
    List(List),
    /// `BEGIN` and `COMMIT`, as scripts have them; a source is applied as a whole in any case.
    Frame,
}

/// A trigger as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTrigger {
    /// The trigger's name and its place.
    pub name: Name,
    /// The named condition behind `ON`.
    pub on: Option<Name>,
    /// The predicate behind `WHEN`.
    pub when: Option<String>,
    /// Place of the transition's name.
    pub fire: Name,
    /// Names behind `WRITES`, with their places.
    pub writes: Vec<Name>,
    /// The other options; condition and predicate are filled in from the above when it is lowered.
    pub definition: TriggerDefinition,
}
