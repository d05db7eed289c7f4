//! The syntax tree: what was written, in the order in which it was written, with its place.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A unit of deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Hours.
    Hours,
    /// Days.
    Days,
}

/// An operator of dependence rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// All terms.
    And,
    /// Disjunction: at least one term must hold.
    Or,
}

impl Operator {
    /// Returns the word for it, in the language and in SQL.
    pub fn keyword(self) -> &'static str {
        match self {
            Operator::And => "AND",
            Operator::Or => "OR",
        }
    }
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// Workflows, task models and applications, in order.
    pub items: Vec<Item>,
    /// Comments, in order.
    pub comments: Vec<Comment>,
}

/// A comment, `// …` or `/* … */`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The comment with its marks, without the line's end.
    pub text: String,
    /// Bytes of the source.
    pub span: Range<usize>,
    /// True if something else stands before it on its line.
    pub trailing: bool,
}

/// A definition at the top of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// `WORKFLOW Name { … }`.
    Workflow(Workflow),
    /// `TASK Name { … }`: a task model.
    Model(Block),
    /// `APPLICATION Name { … }`.
    Application(Block),
}

/// A workflow: data, tasks, sub-workflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// The type's name.
    pub name: Name,
    /// Definitions, in order.
    pub blocks: Vec<Block>,
    /// Bytes of the source.
    pub span: Range<usize>,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockKind {
    /// `FILE Name { NAME "…"; }`.
    File,
    /// `QUERY Name { DATABASE "…"; EXPRESSION "…"; }`.
    Query,
    /// `STRING Name { VALUE "…"; }`.
    String,
    /// `NUMBER Name { VALUE 1; }`.
    Number,
    /// `TASK Name: Model { … }`.
    Task,
    /// `SUB-WORKFLOW Name: Type { … }`.
    SubWorkflow,
    /// `TASK Name { … }` at the top.
    Model,
    /// `APPLICATION Name { … }`.
    Application,
}

/// A named block of clauses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The kind.
    pub kind: BlockKind,
    /// The name.
    pub name: Name,
    /// The name behind the colon: a task's model, a sub-workflow's type.
    pub of: Option<Name>,
    /// The clauses, in order.
    pub clauses: Vec<Clause>,
    /// Bytes of the source.
    pub span: Range<usize>,
}

/// A name and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Bytes of the source.
    pub span: Range<usize>,
}

/// A clause of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause {
    /// Keyword and value.
    pub value: ClauseValue,
    /// Bytes of the source, from the keyword to the semicolon.
    pub span: Range<usize>,
}

/// A keyword and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClauseValue {
    /// `NAME "…"`; of an application also `FILENAME "…"`.
    FileName(String),
    /// `DATABASE "…"`.
    Database(String),
    /// `EXPRESSION "…"`.
    Expression(String),
    /// `VALUE "…"`.
    TextValue(String),
    /// `VALUE 1.5`, as written.
    NumberValue(String),
    /// `DEPENDS …`; none where it is empty.
    Depends(Option<Rule>),
    /// `IN_CONTEXT a, b`.
    InContext(Vec<Name>),
    /// `OUT_CONTEXT a, b`.
    OutContext(Vec<Name>),
    /// `ROLE r`.
    Role(Name),
    /// `DESCRIPTION "…"`.
    Description(String),
    /// `TYPE Automatic`; none where it is empty.
    Type(Option<TaskType>),
    /// `APPLICATION a`.
    Application(Name),
    /// `PRIORITY 10`.
    Priority(i32),
    /// `DEADLINE 48 HOURS`.
    Deadline(u32, Option<Unit>),
    /// `DISCONNECTED_OPERATION true`.
    Disconnected(bool),
    /// `RETRIES 5`.
    Retries(u32),
    /// `SIZE 3125`.
    Size(u64),
    /// `OS "Linux"`.
    Os(String),
    /// `CPU "486"`.
    Cpu(String),
    /// `INSTALLER "…"`; none where it is empty.
    Installer(Option<String>),
    /// `HOSTS "a", "b"`.
    Hosts(Vec<String>),
}

/// The performer of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// The system runs the application.
    Automatic,
    /// A person works with the application.
    SemiAutomatic,
    /// A person works without one.
    Manual,
}

/// A state of a task or sub-workflow that a dependence names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Activity {
    /// The dependence rule holds.
    Ready,
    /// Work has begun.
    Running,
    /// Work ended well.
    Succeeded,
    /// Work failed; also written `FAIL`.
    Failed,
}

/// A dependence rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// `Task -> STATE`.
    Term {
        /// The task or sub-workflow.
        task: Name,
        /// The state that it has or had.
        state: Activity,
        /// Bytes of the source.
        span: Range<usize>,
    },
    /// `AND (…)` or `OR (…)`.
    Tree {
        /// The operator.
        operator: Operator,
        /// The terms; one at least.
        terms: Vec<Rule>,
        /// Bytes of the source.
        span: Range<usize>,
    },
}

impl Rule {
    /// Calls a function with each term, from left to right.
    pub fn each_term<'a>(&'a self, visit: &mut impl FnMut(&'a Name, Activity)) {
        match self {
            Rule::Term { task, state, .. } => visit(task, *state),
            Rule::Tree { terms, .. } => terms.iter().for_each(|term| term.each_term(visit)),
        }
    }
}

impl BlockKind {
    /// Returns the keyword that opens a block of this kind.
    pub fn keyword(self) -> &'static str {
        match self {
            BlockKind::File => "FILE",
            BlockKind::Query => "QUERY",
            BlockKind::String => "STRING",
            BlockKind::Number => "NUMBER",
            BlockKind::Task | BlockKind::Model => "TASK",
            BlockKind::SubWorkflow => "SUB-WORKFLOW",
            BlockKind::Application => "APPLICATION",
        }
    }

    /// Returns true for files, queries, strings and numbers.
    pub fn is_data(self) -> bool {
        self <= BlockKind::Number
    }

    /// Lists the clauses of such a block, in the grammar's order, and says which are required.
    pub(crate) fn clauses(self) -> &'static [(&'static str, bool)] {
        match self {
            BlockKind::File => &[("NAME", true)],
            BlockKind::Query => &[("DATABASE", true), ("EXPRESSION", true)],
            BlockKind::String | BlockKind::Number => &[("VALUE", true)],
            BlockKind::Task => &[
                ("DEPENDS", false),
                ("IN_CONTEXT", false),
                ("OUT_CONTEXT", false),
                ("ROLE", false),
                ("DESCRIPTION", false),
            ],
            BlockKind::SubWorkflow => &[("DEPENDS", false)],
            BlockKind::Model => &[
                ("TYPE", true),
                ("APPLICATION", false),
                ("PRIORITY", true),
                ("DEADLINE", false),
                ("DISCONNECTED_OPERATION", true),
                ("RETRIES", false),
            ],
            BlockKind::Application => &[
                ("FILENAME", true),
                ("SIZE", true),
                ("OS", true),
                ("CPU", true),
                ("INSTALLER", false),
                ("HOSTS", true),
            ],
        }
    }
}

impl Activity {
    /// Returns the word for it in the language.
    pub fn keyword(self) -> &'static str {
        match self {
            Activity::Ready => "READY",
            Activity::Running => "RUNNING",
            Activity::Succeeded => "SUCCEEDED",
            Activity::Failed => "FAILED",
        }
    }
}

impl TaskType {
    /// Returns the word for it in the language.
    pub fn keyword(self) -> &'static str {
        match self {
            TaskType::Automatic => "AUTOMATIC",
            TaskType::SemiAutomatic => "SEMI_AUTOMATIC",
            TaskType::Manual => "MANUAL",
        }
    }
}

impl ClauseValue {
    /// Returns the keyword of the clause in such a block.
    pub fn keyword(&self, block: BlockKind) -> &'static str {
        match self {
            ClauseValue::FileName(_) if block == BlockKind::Application => "FILENAME",
            ClauseValue::FileName(_) => "NAME",
            ClauseValue::Database(_) => "DATABASE",
            ClauseValue::Expression(_) => "EXPRESSION",
            ClauseValue::TextValue(_) | ClauseValue::NumberValue(_) => "VALUE",
            ClauseValue::Depends(_) => "DEPENDS",
            ClauseValue::InContext(_) => "IN_CONTEXT",
            ClauseValue::OutContext(_) => "OUT_CONTEXT",
            ClauseValue::Role(_) => "ROLE",
            ClauseValue::Description(_) => "DESCRIPTION",
            ClauseValue::Type(_) => "TYPE",
            ClauseValue::Application(_) => "APPLICATION",
            ClauseValue::Priority(_) => "PRIORITY",
            ClauseValue::Deadline(..) => "DEADLINE",
            ClauseValue::Disconnected(_) => "DISCONNECTED_OPERATION",
            ClauseValue::Retries(_) => "RETRIES",
            ClauseValue::Size(_) => "SIZE",
            ClauseValue::Os(_) => "OS",
            ClauseValue::Cpu(_) => "CPU",
            ClauseValue::Installer(_) => "INSTALLER",
            ClauseValue::Hosts(_) => "HOSTS",
        }
    }
}

/// Makes an accessor of a block's clause.
macro_rules! clause {
    ($(#[$doc:meta])* $method:ident -> $kind:ty, $pattern:pat => $value:expr) => {
        impl Block {
            $(#[$doc])*
            pub fn $method(&self) -> Option<$kind> {
                self.clauses.iter().find_map(|clause| match &clause.value {
                    $pattern => Some($value),
                    _ => None,
                })
            }
        }
    };
}

clause!(/// Returns the dependence rule, if it has one that is not empty.
    depends -> &Rule, ClauseValue::Depends(Some(rule)) => rule);
clause!(/// Returns the data that are copied to the task.
    in_context -> &[Name], ClauseValue::InContext(names) => names.as_slice());
clause!(/// Returns the data that come back from the task.
    out_context -> &[Name], ClauseValue::OutContext(names) => names.as_slice());
clause!(/// Returns the role.
    role -> &Name, ClauseValue::Role(name) => name);
clause!(/// Returns the description.
    description -> &str, ClauseValue::Description(text) => text.as_str());
clause!(/// Returns the type that is written.
    task_type -> TaskType, ClauseValue::Type(Some(kind)) => *kind);
clause!(/// Returns the application.
    application -> &Name, ClauseValue::Application(name) => name);
clause!(/// Returns the priority.
    priority -> i32, ClauseValue::Priority(number) => *number);
clause!(/// Returns the deadline's amount and unit.
    deadline -> (u32, Option<Unit>), ClauseValue::Deadline(amount, unit) => (*amount, *unit));
clause!(/// Returns true if people may take the task away.
    disconnected -> bool, ClauseValue::Disconnected(flag) => *flag);
clause!(/// Returns the number of attempts after the first.
    retries -> u32, ClauseValue::Retries(number) => *number);
clause!(/// Returns the file's name.
    file_name -> &str, ClauseValue::FileName(text) => text.as_str());
clause!(/// Returns the database of a query.
    database -> &str, ClauseValue::Database(text) => text.as_str());
clause!(/// Returns the text of a query.
    expression -> &str, ClauseValue::Expression(text) => text.as_str());
clause!(/// Returns the value of a string or number, as written.
    value -> &str, ClauseValue::TextValue(text) | ClauseValue::NumberValue(text) => text.as_str());
clause!(/// Returns the size of an application in kilobytes.
    size -> u64, ClauseValue::Size(number) => *number);
clause!(/// Returns the operating system of an application.
    os -> &str, ClauseValue::Os(text) => text.as_str());
clause!(/// Returns the processor of an application.
    cpu -> &str, ClauseValue::Cpu(text) => text.as_str());
clause!(/// Returns the installer of an application, if it has one.
    installer -> &str, ClauseValue::Installer(Some(text)) => text.as_str());
clause!(/// Returns the hosts of an application.
    hosts -> &[String], ClauseValue::Hosts(names) => names.as_slice());

impl Document {
    /// Iterates over the workflows, in order.
    pub fn workflows(&self) -> impl Iterator<Item = &Workflow> {
        self.items.iter().filter_map(|item| match item {
            Item::Workflow(workflow) => Some(workflow),
            _ => None,
        })
    }

    /// Finds a workflow.
    pub fn workflow(&self, name: &str) -> Option<&Workflow> {
        self.workflows().find(|one| one.name.text == name)
    }

    /// Iterates over the task models, in order.
    pub fn models(&self) -> impl Iterator<Item = &Block> {
        self.items.iter().filter_map(|item| match item {
            Item::Model(block) => Some(block),
            _ => None,
        })
    }

    /// Iterates over the applications, in order.
    pub fn applications(&self) -> impl Iterator<Item = &Block> {
        self.items.iter().filter_map(|item| match item {
            Item::Application(block) => Some(block),
            _ => None,
        })
    }
}

impl Workflow {
    /// Iterates over its data, in order.
    pub fn data(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.kind.is_data())
    }

    /// Iterates over its tasks and sub-workflows, in order.
    pub fn activities(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| !block.kind.is_data())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
