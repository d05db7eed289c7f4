//! Definitions of flows in other forms than flow.toml: statements of WSQL (x.wsql), the papers' script (x.sql).

use std::path::Path;

use serde_json::json;
use wedflow_model::FlowDefinition;
use wedflow_process::Diagnostic;
use wedflow_process::wsql::{lower, parse, write, write_script};

use crate::arguments::ShownForm;
use crate::commands::process::{read, refused};
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Page of the grammar.
pub(crate) const PAGE: &str = "wsql";

/// Returns true if a file holds statements.
pub(crate) fn is_source(file: &Path) -> bool {
    file.extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("wsql") || end.eq_ignore_ascii_case("sql"))
}

/// Reads the one flow that a file of statements defines. A script without `CREATE WED-FLOW` is about the flow that the
/// file is named after.
pub(crate) fn read_definition(file: &Path, terminal: &Terminal) -> Result<FlowDefinition, Problem> {
    let source = read(file)?;
    let shown = file.display().to_string();
    let is_script = file
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("sql"));
    let stem = file
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.filter(|_| is_script);
    let parsed = parse(&source);
    let (flows, found) = lower(&parsed.statements, name.as_deref());
    let all = parsed.diagnostics.into_iter().chain(found);
    let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) =
        all.partition(Diagnostic::is_error);
    if !errors.is_empty() {
        return Err(refused(&shown, &source, &errors, PAGE));
    }
    for warning in warnings {
        terminal.say(&warning.render(&shown, &source));
    }
    let count = flows.len();
    let mut flows = flows.into_iter();
    match (flows.next(), flows.next()) {
        (Some(flow), None) => Ok(flow),
        (None, _) => Err(Problem::usage(format!("{shown} defines no flow"))
            .hint("It begins with CREATE WED-FLOW name; see `wed explain wsql`.")),
        _ => Err(Problem::usage(format!("{shown} defines {count} flows"))
            .hint("Give each flow a file of its own.")),
    }
}

/// Prints a flow's definition in a form that `wed flow apply` reads.
pub(crate) async fn show(
    name: &str,
    form: ShownForm,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let (flow, _) = door.flow(name).await?;
    let definition: FlowDefinition = serde_json::from_value(flow.definition)
        .map_err(|source| Problem::new("the flow's definition cannot be read").because(source))?;
    let source = match form {
        ShownForm::Wsql => write(&definition),
        ShownForm::Toml => wedflow_process::write_toml(&definition),
        ShownForm::Sql => write_script(&definition).map_err(|lost| {
            Problem::new(format!("a script of INSERTs cannot say all of {name}"))
                .details(lost)
                .hint(format!("`wed flow show {name} --wsql` can."))
        })?,
    };
    terminal.answer(&json!({ "flow": name, "source": source }), || {
        terminal.verbatim(source.trim_end())
    });
    Ok(())
}
