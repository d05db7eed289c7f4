//! The flow that statements of `wed sql` are about, and what they do to it.

use serde_json::{Value as Json, json};
use wedflow_client::Expected;
use wedflow_documents::{Query, QueryResult, Start};
use wedflow_model::FlowDefinition;
use wedflow_process::Diagnostic;
use wedflow_process::wsql::{List, Lowering, Statement, StatementKind, first_word, parse, split};

use crate::answer::counted;
use crate::commands::changes;
use crate::commands::process::refused;
use crate::commands::statements::PAGE;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Words with which a statement of WSQL begins.
const WSQL_WORDS: [&str; 8] = ["create", "enable", "disable", "list", "use", "insert", "begin", "commit"];

/// The flow that statements are about, and what they have declared.
pub(crate) struct SqlDesk<'d> {
    pub(crate) door: &'d Door,
    pub(crate) terminal: &'d Terminal,
    pub(crate) flow: Option<String>,
    limit: i32,
    /// Conditions that no trigger names yet, with the text that they stand in.
    conditions: Vec<Statement>,
}

impl<'d> SqlDesk<'d> {
    /// Begins with a flow, or with none.
    pub(crate) fn new(door: &'d Door, terminal: &'d Terminal, flow: Option<String>, limit: i32) -> Self {
        SqlDesk { door, terminal, flow, limit, conditions: Vec::new() }
    }

    /// Runs statements in order, up to the first that fails.
    pub(crate) async fn run_all(&mut self, text: &str) -> Result<(), Problem> {
        let (statements, rest) = split(text);
        for statement in statements {
            self.run(statement).await?;
        }
        match rest.is_empty() {
            true => Ok(()),
            false => self.run(rest).await,
        }
    }

    /// Runs one statement.
    pub(crate) async fn run(&mut self, text: &str) -> Result<(), Problem> {
        if parse(text) == parse("") {
            return Ok(());
        }
        if !first_word(text).is_some_and(|word| WSQL_WORDS.contains(&word.as_str())) {
            let result = self.query(text).await?;
            self.print(&result);
            return Ok(());
        }
        let parsed = parse(text);
        if !parsed.diagnostics.is_empty() {
            return Err(refused("the statement", text, &parsed.diagnostics, PAGE));
        }
        for statement in &parsed.statements {
            self.run_statement(statement, text).await?;
        }
        Ok(())
    }

    async fn run_statement(&mut self, statement: &Statement, text: &str) -> Result<(), Problem> {
        match &statement.kind {
            StatementKind::Use(name) => {
                self.door.flow(&name.text).await?;
                self.enter(&name.text);
                Ok(())
            }
            StatementKind::CreateFlow { name, description, order, start } => {
                let order = order.as_ref().map(|order| order.text.as_str());
                self.create_flow(&name.text, description, order, start.as_deref()).await
            }
            StatementKind::CreateInstance(state) => {
                let flow = self.current()?.to_owned();
                let asked = Start { state: state.clone(), ..Start::default() };
                let started = self.door.start(&flow, &asked, None).await?;
                let wid = started.wid;
                self.terminal.answer(&json!({ "flow": flow, "wid": wid }), || {
                    self.terminal.line(&format!("Instance {wid} of {flow} is started."));
                });
                Ok(())
            }
            StatementKind::List(List::Flows) => self.list_flows().await,
            StatementKind::List(list) => {
                let query = list.query().unwrap_or_default();
                let result = self.query(&query).await?;
                self.print(&result);
                Ok(())
            }
            StatementKind::Frame => Ok(()),
            StatementKind::CreateCondition(name, _) => {
                self.conditions.push(statement.clone());
                self.terminal.answer(&json!({ "condition": name.text }), || {
                    self.terminal.line(&format!("Condition {name} waits for a trigger that names it."));
                });
                Ok(())
            }
            _ => self.change(statement, text).await,
        }
    }

    fn enter(&mut self, flow: &str) {
        self.flow = Some(flow.to_owned());
        self.conditions.clear();
        self.terminal.answer(&json!({ "flow": flow }), || self.terminal.line(&format!("Flow {flow}.")));
    }

    fn current(&self) -> Result<&str, Problem> {
        self.flow
            .as_deref()
            .ok_or_else(|| Problem::usage("no flow is chosen").hint("USE name; LIST WED-FLOWS; shows those there are."))
    }

    async fn create_flow(
        &mut self,
        name: &str,
        description: &str,
        order: Option<&str>,
        start: Option<&[String]>,
    ) -> Result<(), Problem> {
        let document = json!({ "name": name, "description": description, "order": order, "start": start });
        let definition: FlowDefinition = serde_json::from_value(document)
            .map_err(|source| Problem::usage("no flow can be like this").because(source))?;
        self.door.apply(&definition, &Expected::Nothing).await?;
        self.enter(name);
        Ok(())
    }

    /// Changes the flow's definition by a statement.
    async fn change(&mut self, statement: &Statement, text: &str) -> Result<(), Problem> {
        let flow = self.current()?.to_owned();
        let (found, tag) = self.door.flow(&flow).await?;
        let definition: FlowDefinition = serde_json::from_value(found.definition)
            .map_err(|source| Problem::new("the flow's definition cannot be read").because(source))?;
        let mut lowering = Lowering::new(definition);
        for condition in &self.conditions {
            lowering.add(condition);
        }
        lowering.diagnostics.clear();
        lowering.add(statement);
        let errors = lowering.diagnostics.iter().filter(|one| one.is_error());
        let errors: Vec<Diagnostic> = errors.cloned().collect();
        if !errors.is_empty() {
            return Err(refused("the statement", text, &errors, PAGE));
        }
        let definition = lowering.definition;
        let applied = self.door.apply(&definition, &Expected::Tag(tag)).await?;
        let named = |name: &str| {
            let mut triggers = definition.triggers.iter();
            triggers.any(|trigger| trigger.condition.as_deref() == Some(name))
        };
        self.conditions.retain(|one| match &one.kind {
            StatementKind::CreateCondition(name, _) => !named(&name.text),
            _ => false,
        });
        self.terminal.answer(&json!({ "flow": flow, "applied": applied }), || {
            changes::say_applied(&flow, &applied, self.terminal);
        });
        Ok(())
    }

    async fn list_flows(&self) -> Result<(), Problem> {
        let flows = self.door.flows().await?;
        self.terminal.answer(&flows, || {
            let rows = flows.iter().map(|flow| {
                let counts = [flow.regular, flow.r#final, flow.exception, flow.jobs];
                let counts = counts.map(|count| count.to_string());
                [vec![flow.name.clone()], counts.to_vec()].concat()
            });
            let heads = ["flow", "regular", "final", "exceptions", "jobs"];
            self.terminal.table(&heads, rows);
        });
        Ok(())
    }

    async fn query(&self, sql: &str) -> Result<QueryResult, Problem> {
        let asked = Query { sql: sql.to_owned(), limit: Some(self.limit) };
        Ok(self.door.query(self.current()?, &asked).await?)
    }

    /// Draws rows as a table.
    fn print(&self, result: &QueryResult) {
        self.terminal.answer(result, || {
            let heads: Vec<&str> = result.columns.iter().map(|column| column.name.as_str()).collect();
            if !result.rows.is_empty() && !heads.is_empty() {
                let rows = result.rows.iter().map(|row| row.iter().map(cell).collect());
                self.terminal.table(&heads, rows);
            }
            self.terminal.say(&match result.truncated {
                true => format!("The first {}; there are more.", counted(count_of(result), "row")),
                false => counted(count_of(result), "row"),
            });
        });
    }
}

fn count_of(result: &QueryResult) -> usize {
    result.rows.len()
}

/// Returns a value as a cell shows it.
fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
