//! The prompt of `wed sql`: lines with history and completion.

use std::path::PathBuf;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use wedflow_process::wsql::{expected_at, split};

use crate::commands::sql_desk::SqlDesk;
use crate::contexts;
use crate::problem::Problem;

/// Statements that the history keeps.
const HISTORY_MAX: usize = 1000;
/// Words of queries.
const SQL_WORDS: [&str; 22] = [
    "SELECT",
    "FROM",
    "WHERE",
    "ORDER BY",
    "GROUP BY",
    "LIMIT",
    "count(*)",
    "IS NULL",
    "IS NOT NULL",
    "wed_flow",
    "wed_attr",
    "wed_trig",
    "job_pool",
    "wed_trace",
    "wed_attempt",
    "wed_instance",
    "wed_version",
    "wed_reservation",
    "wed_resource",
    "wed_order",
    "wed_waiting",
    "wid",
];

/// Asks for statements and runs them, until the input ends.
pub(crate) async fn run(desk: &mut SqlDesk<'_>) -> Result<(), Problem> {
    let failed = |error: ReadlineError| Problem::new("the prompt cannot be shown").because(error);
    let config =
        Config::builder().completion_type(CompletionType::List).max_history_size(HISTORY_MAX).map_err(failed)?.build();
    let mut editor: Editor<PromptHelper, DefaultHistory> = Editor::with_config(config).map_err(failed)?;
    let history = contexts::folder().map(|folder| folder.join("sql_history"));
    if let Some(file) = &history {
        // There is none before the first prompt ends.
        let _ = editor.load_history(file);
    }
    desk.terminal.say("Statements end with a semicolon; Tab completes, Ctrl-D ends. Grammar: `wed explain wsql`.");
    loop {
        editor.set_helper(Some(PromptHelper::of(desk).await));
        let sign = format!("{}> ", desk.flow.as_deref().unwrap_or("wed"));
        // Nothing else is under way while a person types.
        let line = editor.readline(sign.as_str());
        match line {
            Ok(line) => {
                // A line that is not kept is run all the same.
                let _ = editor.add_history_entry(line.trim());
                run_line(desk, &line).await;
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(failed(error)),
        }
    }
    keep(&mut editor, history);
    Ok(())
}

async fn run_line(desk: &mut SqlDesk<'_>, line: &str) {
    let (mut statements, rest) = split(line);
    if !rest.is_empty() {
        statements.push(rest);
    }
    for statement in statements {
        if let Err(problem) = desk.run(statement).await {
            let _ = desk.terminal.problem(&problem);
            return;
        }
    }
}

/// Keeps the history in the configuration folder, which only its owner reads.
fn keep(editor: &mut Editor<PromptHelper, DefaultHistory>, file: Option<PathBuf>) {
    let Some(file) = file else { return };
    if let Some(folder) = file.parent()
        && contexts::make_folder(folder).is_ok()
    {
        // A history that is lost hurts nobody.
        let _ = editor.save_history(&file);
    }
}

/// Names that statements may use.
struct PromptHelper {
    flows: Vec<String>,
    attributes: Vec<String>,
    triggers: Vec<String>,
    transitions: Vec<String>,
}

impl PromptHelper {
    /// Fetches the names; none where the request fails.
    async fn of(desk: &SqlDesk<'_>) -> Self {
        let flows = desk.door.flows().await.unwrap_or_default();
        let flow = match &desk.flow {
            Some(flow) => desk.door.flow(flow).await.ok(),
            None => None,
        };
        let (mut attributes, mut triggers, mut transitions) = (Vec::new(), Vec::new(), Vec::new());
        if let Some((flow, _)) = flow {
            let defined = flow.definition["attribute"].as_array().into_iter().flatten();
            attributes.extend(defined.filter_map(|one| one["name"].as_str().map(str::to_owned)));
            triggers.extend(flow.triggers.iter().filter_map(|one| one.name.clone()));
            transitions.extend(flow.triggers.into_iter().filter_map(|one| one.transition));
            transitions.sort();
            transitions.dedup();
        }
        PromptHelper { flows: flows.into_iter().map(|flow| flow.name).collect(), attributes, triggers, transitions }
    }

    /// Returns the words that may follow `before`.
    fn candidates(&self, before: &str) -> Vec<String> {
        let word = before.split_whitespace().next().unwrap_or_default();
        let is_query = ["select", "with", "values", "table"].iter().any(|one| word.eq_ignore_ascii_case(one));
        if is_query {
            let words = SQL_WORDS.iter().map(|word| (*word).to_owned());
            return words.chain(self.attributes.iter().cloned()).collect();
        }
        let mut words = Vec::new();
        for expected in expected_at(before) {
            match expected.as_str() {
                "the flow's name" => words.extend(self.flows.iter().cloned()),
                "the trigger's name" => words.extend(self.triggers.iter().cloned()),
                "the transition's name" | "a transition's name" => {
                    words.extend(self.transitions.iter().cloned());
                }
                "an attribute's name" => words.extend(self.attributes.iter().cloned()),
                keyword if keyword.chars().all(|c| c.is_ascii_uppercase() || c == '-') => {
                    words.push(expected);
                }
                _ => {}
            }
        }
        if before.trim().is_empty() {
            words.push("SELECT".to_owned());
        }
        words
    }
}

impl Completer for PromptHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (_, open) = split(&line[..at]);
        let open = &line[at - open.len()..at];
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let word = open
            .rfind(|c| !is_part(c))
            .map_or(0, |before| before + open[before..].chars().next().map_or(1, char::len_utf8));
        let (before, begun) = open.split_at(word);
        let begun_lower = begun.to_lowercase();
        let fitting = self.candidates(before).into_iter().filter(|word| word.to_lowercase().starts_with(&begun_lower));
        let pairs = fitting.map(|word| Pair { display: word.clone(), replacement: word + " " });
        Ok((at - begun.len(), pairs.collect()))
    }
}

impl Validator for PromptHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let (_, rest) = split(context.input());
        Ok(match rest.is_empty() {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Hinter for PromptHelper {
    type Hint = String;
}

impl Highlighter for PromptHelper {}

impl Helper for PromptHelper {}
