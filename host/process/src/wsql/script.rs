//! The papers' script: `INSERT INTO wed_attr` and `INSERT INTO wed_trig` with constants.

use wedflow_model::{AttributeDefinition, AttributeType, TriggerDefinition};

use super::lexer::TokenKind;
use super::parser::{ParseError, Parser, empty_trigger};
use super::syntax::{NewTrigger, StatementKind};
use crate::diagnostic::Diagnostic;
use crate::syntax::Name;

/// Columns of `wed_attr`, in order.
pub(super) const ATTRIBUTE_COLUMNS: [&str; 4] = ["aname", "adv", "atype", "open"];
/// Columns of `wed_trig` that a script may give.
pub(super) const TRIGGER_COLUMNS: [&str; 20] = [
    "tgname",
    "enabled",
    "trname",
    "cname",
    "cpred",
    "cfinal",
    "timeout",
    "attempts",
    "backoff",
    "delay",
    "priority",
    "recheck",
    "writes",
    "reserves",
    "quantity",
    "resource",
    "holds",
    "after",
    "waits_for",
    "or_after",
];

/// A constant of a row; an absent text is NULL.
#[derive(Debug, Clone)]
enum Constant {
    Input(Option<String>),
    Names(Vec<String>),
}

/// A row of a script: columns with their values.
struct Row {
    place: Name,
    values: Vec<(String, Constant)>,
}

/// Reads what follows `INSERT`; returns the statements that it stands for.
pub(super) fn insert(parser: &mut Parser<'_>) -> Result<Vec<StatementKind>, ParseError> {
    if !parser.takes_word("INTO") {
        return Err(parser.unexpected("behind INSERT", &["INTO"]));
    }
    let (of_attributes, known): (bool, &[&str]) = if parser.takes_word("WED_ATTR") {
        (true, &ATTRIBUTE_COLUMNS)
    } else if parser.takes_word("WED_TRIG") {
        (false, &TRIGGER_COLUMNS)
    } else {
        return Err(parser.unexpected("behind INSERT INTO", &["wed_attr", "wed_trig"]));
    };
    let mut consumes = known.to_vec();
    consumes.push("consumes");
    let columns = parser.list_of("(", |parser| {
        let found = parser.keyword().map(|word| word.to_lowercase());
        let is_known = |word: &&String| consumes.contains(&word.as_str()) && (!of_attributes || *word != "consumes");
        match found.as_ref().filter(is_known) {
            Some(_) => parser.name("a column"),
            None => Err(parser.unexpected("as a column", known)),
        }
    })?;
    if !parser.takes_word("VALUES") {
        return Err(parser.unexpected("here", &["VALUES"]));
    }
    let mut statements = Vec::new();
    loop {
        let row = row(parser, &columns)?;
        statements.push(match of_attributes {
            true => attribute(row)?,
            false => trigger(row)?,
        });
        if !parser.takes(',') {
            return Ok(statements);
        }
    }
}

fn row(parser: &mut Parser<'_>, columns: &[Name]) -> Result<Row, ParseError> {
    let place = Name { text: String::new(), span: parser.here() };
    let values = parser.list_of("(", constant)?;
    if values.len() != columns.len() {
        let message = format!("{} columns and {} values", columns.len(), values.len());
        return Err(Box::new(Diagnostic::error(place.span, message)));
    }
    let names = columns.iter().map(|name| name.text.clone());
    Ok(Row { place, values: names.zip(values).collect() })
}

/// Reads a constant: `'…'`, `1`, `true`, `NULL`, `ARRAY['a', 'b']`, `interval '…'`, and any of them with `::type`.
fn constant(parser: &mut Parser<'_>) -> Result<Constant, ParseError> {
    let constant = if parser.takes_word("ARRAY") {
        Constant::Names(parser.list_of("[", |parser| parser.text("ARRAY"))?)
    } else {
        parser.takes_word("INTERVAL");
        Constant::Input(parser.input("a constant")?)
    };
    if parser.takes(':') {
        parser.sign(':')?;
        parser.name("a type")?;
        if parser.takes('[') {
            parser.sign(']')?;
        }
    }
    if parser.peek() == Some(TokenKind::Sign('|')) {
        return Err(parser.unexpected("in a constant", &["','", "')'"]));
    }
    Ok(constant)
}

impl Row {
    fn error(&self, message: impl Into<String>) -> ParseError {
        Box::new(Diagnostic::error(self.place.span.clone(), message))
    }

    /// Takes the text of a column out; none if it is absent or NULL.
    fn text(&mut self, column: &str) -> Option<String> {
        let at = self.values.iter().position(|(name, _)| name == column)?;
        match self.values.swap_remove(at).1 {
            Constant::Input(text) => text,
            Constant::Names(names) => Some(names.join(",")),
        }
    }

    fn parsed<T: std::str::FromStr>(&mut self, column: &str, what: &str) -> Result<Option<T>, ParseError> {
        let Some(text) = self.text(column) else {
            return Ok(None);
        };
        let parsed = text.trim().parse();
        parsed.map(Some).map_err(|_| self.error(format!("{column} needs {what}, and {text} is none")))
    }

    fn truth(&mut self, column: &str) -> Result<Option<bool>, ParseError> {
        let Some(text) = self.text(column) else {
            return Ok(None);
        };
        match text.to_lowercase().as_str() {
            "t" | "true" | "yes" | "on" | "1" => Ok(Some(true)),
            "f" | "false" | "no" | "off" | "0" => Ok(Some(false)),
            _ => Err(self.error(format!("{column} needs true or false, and {text} is neither"))),
        }
    }

    fn required(&mut self, column: &str) -> Result<String, ParseError> {
        let text = self.text(column);
        text.ok_or_else(|| self.error(format!("the row has no {column}")))
    }

    fn named(&self, text: String) -> Name {
        Name { text, span: self.place.span.clone() }
    }
}

fn attribute(mut row: Row) -> Result<StatementKind, ParseError> {
    let name = row.required("aname")?;
    let kind = row.text("atype").unwrap_or_else(|| "text".to_owned());
    let kind: AttributeType = kind.parse().map_err(|error| row.error(format!("{error}")))?;
    let definition = AttributeDefinition {
        name: name.clone(),
        kind,
        default: row.text("adv"),
        open: row.truth("open")?.unwrap_or(false),
        number: None,
    };
    Ok(StatementKind::CreateAttribute(row.named(name), Box::new(definition)))
}

fn trigger(mut row: Row) -> Result<StatementKind, ParseError> {
    let when = row.required("cpred")?;
    if row.truth("cfinal")? == Some(true) {
        return match row.truth("enabled")? {
            Some(false) => Err(row.error("a final condition that is disabled is left out")),
            _ => Ok(StatementKind::CreateFinal(when)),
        };
    }
    let waits_for = row.text("waits_for");
    let transition = match &waits_for {
        None => row.required("trname")?,
        Some(_) => row.text("trname").unwrap_or_default(),
    };
    let name = match row.text("tgname").filter(|name| !name.is_empty()) {
        None if transition.is_empty() => {
            return Err(row.error("a wait without trname needs a tgname"));
        }
        name => name.unwrap_or_else(|| transition.clone()),
    };
    let writes = row.values.iter().position(|(column, _)| column == "writes");
    let writes = match writes.map(|at| row.values.swap_remove(at).1) {
        None | Some(Constant::Input(None)) => None,
        Some(Constant::Names(names)) => Some(names),
        Some(Constant::Input(Some(text))) => Some(array(&text)),
    };
    let definition = TriggerDefinition {
        transition: transition.clone(),
        condition: row.text("cname"),
        timeout: row.text("timeout"),
        attempts: row.parsed("attempts", "an integer")?,
        backoff: row.text("backoff"),
        delay: row.text("delay"),
        priority: row.parsed("priority", "an integer")?,
        recheck: row.truth("recheck")?,
        enabled: row.truth("enabled")?,
        writes,
        reserves: row.text("reserves"),
        quantity: row.text("quantity"),
        resource: row.text("resource"),
        holds: row.text("holds"),
        consumes: row.truth("consumes")?.unwrap_or(false),
        after: row.text("after"),
        waits_for,
        or_after: row.text("or_after"),
        ..empty_trigger(&name)
    };
    Ok(StatementKind::CreateTrigger(Box::new(NewTrigger {
        name: row.named(name),
        on: definition.condition.clone().map(|name| row.named(name)),
        when: Some(when),
        fire: row.named(transition),
        writes: Vec::new(),
        definition,
    })))
}

/// Reads an array's input notation without quotes: `{a,b}`.
fn array(text: &str) -> Vec<String> {
    let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
    let names = inner.split(',').map(|name| name.trim().trim_matches('"').to_owned());
    names.filter(|name| !name.is_empty()).collect()
}
