//! Arguments of `wed sql`, and the forms in which a definition is printed.

use clap::Args;

/// Statements to run.
#[derive(Debug, Args)]
#[command(
    after_help = "At a terminal it is a prompt: Tab completes, the arrow keys show what was run before, Ctrl-D ends \
                  it.\nFrom a pipe it runs all statements, up to the first that fails:  wed sql orders < x.wsql"
)]
pub(crate) struct SqlArguments {
    /// The flow that statements are about; `USE name` takes another one.
    pub(crate) flow: Option<String>,
    /// Run these statements instead of asking for some.
    #[arg(long, short, value_name = "STATEMENTS")]
    pub(crate) command: Option<String>,
    /// Maximum number of rows of a query, up to 1000.
    #[arg(long, default_value_t = 100)]
    pub(crate) limit: i32,
}

/// The form in which a definition is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownForm {
    /// Statements of WSQL.
    Wsql,
    /// The papers' script of INSERTs.
    Sql,
    /// A flow.toml.
    Toml,
}

/// The choice of a form.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = false)]
pub(crate) struct FormArguments {
    /// Print the process as a source of the process language.
    #[arg(long)]
    pub(crate) pdl: bool,
    /// Print the definition as statements of WSQL.
    #[arg(long)]
    pub(crate) wsql: bool,
    /// Print the definition as INSERTs into wed_attr and wed_trig.
    #[arg(long)]
    pub(crate) sql: bool,
    /// Print the definition as a flow.toml.
    #[arg(long)]
    pub(crate) toml: bool,
}

impl FormArguments {
    /// Returns the form of a definition that is asked for; none for a table, or the process language.
    pub(crate) fn form(self) -> Option<ShownForm> {
        match self {
            FormArguments { wsql: true, .. } => Some(ShownForm::Wsql),
            FormArguments { sql: true, .. } => Some(ShownForm::Sql),
            FormArguments { toml: true, .. } => Some(ShownForm::Toml),
            _ => None,
        }
    }
}
