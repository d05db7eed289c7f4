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
    file.extension().is_some_and(|end| end.eq_ignore_ascii_case("wsql") || end.eq_ignore_ascii_case("sql"))
}

/// Reads the one flow that a file of statements defines. A script without `CREATE WED-FLOW` is about the flow that the
/// file is named after.
pub(crate) fn read_definition(file: &Path, terminal: &Terminal) -> Result<FlowDefinition, Problem> {
    let source = read(file)?;
    let shown = file.display().to_string();
    let is_script = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("sql"));
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.filter(|_| is_script);
    let parsed = parse(&source);
    let (flows, found) = lower(&parsed.statements, name.as_deref());
    let all = parsed.diagnostics.into_iter().chain(found);
    let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) = all.partition(Diagnostic::is_error);
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
        _ => Err(Problem::usage(format!("{shown} defines {count} flows")).hint("Give each flow a file of its own.")),
    }
}

/// Prints a flow's definition in a form that `wed flow apply` reads.
pub(crate) async fn show(name: &str, form: ShownForm, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let (flow, _) = door.flow(name).await?;
    let definition: FlowDefinition = serde_json::from_value(flow.definition)
        .map_err(|source| Problem::new("the flow's definition cannot be read").because(source))?;
    let untold = untold_work(name, door).await?;
    let comment = |sign: &str| {
        let lines = untold.iter().flat_map(|text| text.split_inclusive(". "));
        lines.map(|line| format!("{sign} {}\n", line.trim_end())).collect::<String>()
    };
    let source = match form {
        ShownForm::Wsql => comment("--") + &write(&definition),
        ShownForm::Toml => comment("#") + &wedflow_process::write_toml(&definition),
        ShownForm::Sql => write_script(&definition).map_err(|lost| {
            Problem::new(format!("a script of INSERTs cannot say all of {name}"))
                .details(lost)
                .hint(format!("`wed flow show {name} --wsql` can."))
        })?,
    };
    let warnings: Vec<&String> = untold.iter().collect();
    let document = json!({ "flow": name, "source": source, "warnings": warnings });
    terminal.answer(&document, || terminal.verbatim(source.trim_end()));
    for text in warnings {
        terminal.say(&format!("warning: {text}"));
    }
    Ok(())
}

/// Says that people's work of a flow is in none of these forms, and which form tells it; none where there is nothing to
/// tell.
async fn untold_work(name: &str, door: &Door) -> Result<Option<String>, Problem> {
    let plan = match door.work_plan(name).await {
        Ok(found) => found.plan,
        Err(error) if error.code() == Some("not_found") => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let no_tasks = plan["tasks"].as_array().is_none_or(Vec::is_empty);
    if no_tasks || plan["source"] == "definition" {
        return Ok(None);
    }
    let told_by = match plan["type"].is_string() {
        true => format!("`wed flow show {name} --pdl` tells it"),
        false => "it was planned in SQL, by wed.plan_work".to_owned(),
    };
    Ok(Some(format!(
        "The work of people in this flow is not told here: tasks, roles, forms, deadlines and data. Applied, this \
         leaves it as it is; {told_by}."
    )))
}
