//! The parser of WSQL: recursive descent over the lexer's tokens. After an error it continues behind the next
//! semicolon, so that one reading finds several.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value as Json};
use wedflow_model::{AttributeDefinition, AttributeType, Numbering, TransitionDefinition, TriggerDefinition};

use super::lexer::{Token, TokenKind, decode_text, lex};
use super::list::{FiredKind, List};
use super::script;
use super::syntax::{NewTrigger, Statement, StatementKind};
use crate::diagnostic::{Diagnostic, alternatives, nearest};
use crate::parser::SOURCE_BYTES_MAX;
use crate::syntax::Name;

/// Errors that one reading reports.
const ERRORS_MAX: usize = 25;

const STARTERS: [&str; 6] = ["CREATE", "ENABLE", "DISABLE", "LIST", "USE", "INSERT"];
const CREATED: [&str; 7] =
    ["WED-FLOW", "WED-ATTRIBUTE", "WED-CONDITION", "FINAL", "WED-TRANSITION", "WED-TRIGGER", "INSTANCE"];
const LISTED: [&str; 13] = [
    "WED-FLOWS",
    "WED-TRIGGERS",
    "ENABLED",
    "DISABLED",
    "WED-ATTRIBUTES",
    "WED-CONDITIONS",
    "WED-TRANSITIONS",
    "PENDING",
    "ONGOING",
    "FIRED",
    "INSTANCES",
    "FINAL",
    "EXCEPTION",
];
const TRIGGER_OPTIONS: [&str; 23] = [
    "ON",
    "WHEN",
    "FIRE",
    "TIMEOUT",
    "ATTEMPTS",
    "BACKOFF",
    "DELAY",
    "WAITS_FOR",
    "OR_AFTER",
    "PRIORITY",
    "RECHECK",
    "ENABLED",
    "DISABLED",
    "WRITES",
    "COMPENSATION",
    "DEADLINE",
    "RESERVES",
    "QUANTITY",
    "RESOURCE",
    "HOLDS",
    "CONSUMES",
    "AFTER",
    "WORK",
];

/// Statements of a source and what is wrong with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedStatements {
    /// The statements that could be read.
    pub statements: Vec<Statement>,
    /// Errors, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a source. It never panics, whatever the source holds.
pub fn parse(source: &str) -> ParsedStatements {
    if source.len() > SOURCE_BYTES_MAX {
        let message = format!("the source has {} bytes", source.len());
        let error = Diagnostic::error(0..0, message).hint(format!("At most {SOURCE_BYTES_MAX} bytes are read."));
        return ParsedStatements { statements: Vec::new(), diagnostics: vec![error] };
    }
    let mut parser = Parser { source, tokens: lex(source), at: 0 };
    let mut statements = Vec::new();
    let mut diagnostics = Vec::new();
    while parser.at < parser.tokens.len() {
        if parser.takes(';') {
            continue;
        }
        let begun = parser.at;
        match parser.statements() {
            Ok(read) => statements.extend(read),
            Err(error) => {
                diagnostics.push(*error);
                parser.skip_statement(begun);
            }
        }
    }
    diagnostics.truncate(ERRORS_MAX);
    ParsedStatements { statements, diagnostics }
}

/// Returns the keywords and kinds of names that may stand behind `source`, for completion.
pub fn expected_at(source: &str) -> Vec<String> {
    // A word that stands for nothing: whatever reads it says what it expected.
    let probe = format!("{source} \u{aa}");
    let parsed = parse(&probe);
    let last = parsed.diagnostics.last();
    last.filter(|one| one.span.end == probe.len()).map(|one| one.expected.clone()).unwrap_or_default()
}

/// Error of the parser, boxed since it is rare.
pub(super) type ParseError = Box<Diagnostic>;

pub(super) struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
}

impl Parser<'_> {
    /// Reads a statement, or the statements that an INSERT stands for.
    fn statements(&mut self) -> Result<Vec<Statement>, ParseError> {
        let start = self.here().start;
        let word = self.keyword();
        let kinds = match word.as_deref() {
            Some("CREATE") => vec![self.create()?],
            Some("ENABLE") => vec![self.enable(true)?],
            Some("DISABLE") => vec![self.enable(false)?],
            Some("LIST") => vec![self.list()?],
            Some("USE") => {
                self.at += 1;
                self.noun("FLOW");
                vec![StatementKind::Use(self.name("the flow's name")?)]
            }
            Some("INSERT") => {
                self.at += 1;
                script::insert(self)?
            }
            Some("BEGIN" | "COMMIT") => {
                self.at += 1;
                vec![StatementKind::Frame]
            }
            _ => return Err(self.unexpected("at the beginning of a statement", &STARTERS)),
        };
        let span = start..self.last_end();
        if self.at < self.tokens.len() && !self.takes(';') {
            return Err(self.unexpected("behind the statement", &["';'"]));
        }
        let kinds = kinds.into_iter();
        Ok(kinds.map(|kind| Statement { kind, span: span.clone() }).collect())
    }

    /// Skips what is left of a statement that could not be read: behind its semicolon, or up to a line that begins one.
    fn skip_statement(&mut self, begun: usize) {
        self.at = self.at.max(begun + 1);
        while self.at < self.tokens.len() && !self.begins_statement() {
            if self.takes(';') {
                return;
            }
            self.at += 1;
        }
    }

    fn begins_statement(&self) -> bool {
        let line = self.source[..self.here().start].rsplit('\n').next();
        self.keyword().is_some_and(|word| STARTERS.contains(&&*word)) && line.is_some_and(|line| line.trim().is_empty())
    }

    fn create(&mut self) -> Result<StatementKind, ParseError> {
        self.at += 1;
        if self.noun("FLOW") {
            self.new_flow()
        } else if self.noun("ATTRIBUTE") {
            self.new_attribute()
        } else if self.noun("CONDITION") {
            let name = self.name("the condition's name")?;
            self.word_is("AS")?;
            let when = self.fragment("a condition in parentheses")?;
            Ok(StatementKind::CreateCondition(name, when))
        } else if self.takes_word("FINAL") {
            if !self.noun("CONDITION") {
                return Err(self.unexpected("behind CREATE FINAL", &["WED-CONDITION"]));
            }
            self.takes_word("AS");
            let when = self.fragment("a condition in parentheses")?;
            Ok(StatementKind::CreateFinal(when))
        } else if self.noun("TRANSITION") {
            self.new_transition()
        } else if self.noun("TRIGGER") {
            self.new_trigger()
        } else if self.noun("INSTANCE") {
            self.new_instance()
        } else {
            Err(self.unexpected("behind CREATE", &CREATED))
        }
    }

    fn new_flow(&mut self) -> Result<StatementKind, ParseError> {
        let name = self.name("the flow's name")?;
        let mut options = Options::of(&["DESCRIPTION", "ORDER", "START"]);
        let (mut description, mut order, mut start) = (String::new(), None, None);
        while let Some(option) = options.next(self, "in CREATE WED-FLOW")? {
            match option {
                "DESCRIPTION" => description = self.text("DESCRIPTION")?,
                "START" => {
                    start = Some(self.list_of("(", |parser| Ok(parser.name("an attribute's name")?.text))?);
                }
                _ => {
                    self.word_is("BY")?;
                    order = Some(self.name("an attribute's name")?);
                }
            }
        }
        Ok(StatementKind::CreateFlow { name, description, order, start })
    }

    fn new_attribute(&mut self) -> Result<StatementKind, ParseError> {
        let name = self.name("the attribute's name")?;
        const OPTIONS: [&str; 3] = ["DEFAULT", "OPEN", "NUMBERED"];
        let typed =
            self.peek() == Some(TokenKind::Text) || self.keyword().is_some_and(|word| !OPTIONS.contains(&&*word));
        let kind = match typed {
            true => self.attribute_type(&OPTIONS)?,
            false => AttributeType { scalar: wedflow_model::ScalarType::Text, array: false },
        };
        let mut definition =
            AttributeDefinition { name: name.text.clone(), kind, default: None, open: false, number: None };
        let mut options = Options::of(&OPTIONS);
        while let Some(option) = options.next(self, "in CREATE WED-ATTRIBUTE")? {
            match option {
                "DEFAULT" => definition.default = self.input("a default")?,
                "OPEN" => definition.open = true,
                _ if self.takes_word("GAPLESS") => definition.number = Some(Numbering::Gapless),
                _ if self.takes_word("GAPS") => definition.number = Some(Numbering::Gaps),
                _ => return Err(self.unexpected("behind NUMBERED", &["GAPLESS", "GAPS"])),
            }
        }
        Ok(StatementKind::CreateAttribute(name, Box::new(definition)))
    }

    /// Reads a type as it is written in SQL, or as a string.
    fn attribute_type(&mut self, ends: &[&str]) -> Result<AttributeType, ParseError> {
        let start = self.here().start;
        let text = if self.peek() == Some(TokenKind::Text) {
            self.text("a type")?
        } else {
            while self.keyword().is_some_and(|word| !ends.contains(&&*word)) {
                self.at += 1;
            }
            if self.peek() == Some(TokenKind::Sign('(')) {
                self.parenthesis()?;
            }
            if self.takes('[') {
                self.sign(']')?;
            }
            self.source[start..self.last_end()].to_owned()
        };
        let span = start..self.last_end();
        text.parse::<AttributeType>().map_err(|error| {
            const TYPES: [&str; 11] = [
                "text",
                "integer",
                "bigint",
                "numeric",
                "float",
                "boolean",
                "timestamptz",
                "date",
                "interval",
                "uuid",
                "jsonb",
            ];
            let near = nearest(&text, TYPES);
            let error = Diagnostic::error(span, error.to_string());
            Box::new(match near {
                Some(near) => error.hint(format!("Perhaps {near} is meant.")),
                None => error,
            })
        })
    }

    fn new_transition(&mut self) -> Result<StatementKind, ParseError> {
        let name = self.name("the transition's name")?;
        let mut options =
            Options::of(&["COMPONENT", "FILES", "HTTP", "STARTS", "INPUTS", "OUTPUTS", "SHARES", "STATE"]);
        let mut new = TransitionDefinition::default();
        let start = self.here();
        while let Some(option) = options.next(self, "in CREATE WED-TRANSITION")? {
            match option {
                "COMPONENT" => new.component = Some(self.name("the component's name")?.text),
                "FILES" => new.files = true,
                "HTTP" => new.http = self.list_of("(", |parser| parser.text("HTTP"))?,
                "STARTS" => new.starts = Some(self.name("the name of a flow")?.text),
                "INPUTS" => new.inputs = self.exchanged()?,
                "OUTPUTS" => new.outputs = self.exchanged()?,
                "SHARES" => {
                    new.shares = self.list_of("(", |parser| Ok(parser.name("an attribute's name")?.text))?;
                }
                _ => new.state = Some(self.name("an attribute's name")?.text),
            }
        }
        let of_component = new.files || !new.http.is_empty();
        let of_flow =
            new.state.is_some() || !(new.inputs.is_empty() && new.outputs.is_empty() && new.shares.is_empty());
        let wrong = match (&new.component, &new.starts) {
            (Some(_), Some(_)) => Some(("a component performs it, or a flow", "Leave one of them out.")),
            (None, _) if of_component => {
                Some(("FILES and HTTP are for what a component performs", "Add COMPONENT name."))
            }
            (_, None) if of_flow => {
                Some(("INPUTS, OUTPUTS, SHARES and STATE are for what a flow performs", "Add STARTS name."))
            }
            _ => None,
        };
        if let Some((message, hint)) = wrong {
            return Err(Box::new(Diagnostic::error(start, message).hint(hint)));
        }
        let is_performed = new.component.is_some() || new.starts.is_some();
        Ok(StatementKind::CreateTransition(name, is_performed.then_some(new)))
    }

    /// Reads attributes with the attributes that they get: `(amount = total, note)`.
    fn exchanged(&mut self) -> Result<BTreeMap<String, String>, ParseError> {
        let pairs = self.list_of("(", |parser| {
            let gets = parser.name("an attribute's name")?.text;
            match parser.takes('=') {
                true => Ok((gets, parser.name("an attribute's name")?.text)),
                false => Ok((gets.clone(), gets)),
            }
        })?;
        Ok(pairs.into_iter().collect())
    }

    fn new_trigger(&mut self) -> Result<StatementKind, ParseError> {
        let name = self.name("the trigger's name")?;
        let mut new = NewTrigger {
            definition: empty_trigger(&name.text),
            name,
            on: None,
            when: None,
            fire: Name { text: String::new(), span: self.here() },
            writes: Vec::new(),
        };
        let mut options = Options::of(&TRIGGER_OPTIONS);
        while let Some(option) = options.next(self, "in CREATE WED-TRIGGER")? {
            self.trigger_option(option, &mut new)?;
        }
        if !options.seen.contains(&"FIRE") && !options.seen.contains(&"WAITS_FOR") {
            return Err(self.lacks(&new.name, &["FIRE", "WAITS_FOR"], &options));
        }
        if new.on.is_none() && new.when.is_none() {
            return Err(self.lacks(&new.name, &["ON", "WHEN"], &options));
        }
        Ok(StatementKind::CreateTrigger(Box::new(new)))
    }

    /// Makes the error of a trigger without an option that it needs.
    fn lacks(&self, name: &Name, missing: &[&str], options: &Options<'_>) -> ParseError {
        let words: Vec<String> = missing.iter().map(|one| (*one).to_owned()).collect();
        let left = options.left().map(str::to_owned).collect();
        let message = format!("WED-TRIGGER {name} has no {}", alternatives(&words));
        let mut error = self.expected(&message, left);
        error.found = None;
        Box::new(error.hint("CREATE WED-TRIGGER name ON condition FIRE transition;"))
    }

    fn trigger_option(&mut self, option: &str, new: &mut NewTrigger) -> Result<(), ParseError> {
        let trigger = &mut new.definition;
        match option {
            "ON" => new.on = Some(self.name("the condition's name")?),
            "WHEN" => new.when = Some(self.fragment("a condition in parentheses")?),
            "FIRE" => {
                new.fire = self.name("the transition's name")?;
                trigger.transition = new.fire.text.clone();
            }
            "TIMEOUT" => trigger.timeout = Some(self.text(option)?),
            "ATTEMPTS" => trigger.attempts = Some(self.integer(option)?),
            "BACKOFF" => trigger.backoff = Some(self.text(option)?),
            "DELAY" => trigger.delay = Some(self.text(option)?),
            "WAITS_FOR" => trigger.waits_for = Some(self.name("an open attribute's name")?.text),
            "OR_AFTER" => trigger.or_after = Some(self.text(option)?),
            "PRIORITY" => trigger.priority = Some(self.integer(option)?),
            "RECHECK" => trigger.recheck = Some(self.boolean(option)?),
            "ENABLED" => trigger.enabled = Some(true),
            "DISABLED" => trigger.enabled = Some(false),
            "WRITES" => {
                new.writes = self.list_of("(", |parser| parser.name("an attribute's name"))?;
                let names = new.writes.iter().map(|name| name.text.clone());
                trigger.writes = Some(names.collect());
            }
            "COMPENSATION" => trigger.compensation = Some(self.name("a transition's name")?.text),
            "DEADLINE" => trigger.deadline = Some(self.text(option)?),
            "RESERVES" => trigger.reserves = Some(self.fragment("an expression in parentheses")?),
            "QUANTITY" => trigger.quantity = Some(self.fragment("an expression in parentheses")?),
            "RESOURCE" => trigger.resource = Some(self.name("the resource's name")?.text),
            "HOLDS" => trigger.holds = Some(self.name("the end of the reservation")?.text),
            "CONSUMES" => trigger.consumes = true,
            "AFTER" => trigger.after = Some(self.fragment("names of triggers in parentheses")?),
            _ => {
                let span = self.here();
                let work = serde_json::from_str(&self.text(option)?);
                trigger.work = Some(work.map_err(|error| {
                    Diagnostic::error(span, format!("WORK is no work of people: {error}"))
                        .hint("It holds the keys of [trigger.work] of a flow.toml, as JSON.")
                })?);
            }
        }
        Ok(())
    }

    fn new_instance(&mut self) -> Result<StatementKind, ParseError> {
        let mut values = Map::new();
        if self.peek() == Some(TokenKind::Sign('(')) {
            let pairs = self.list_of("(", |parser| {
                let name = parser.name("an attribute's name")?;
                parser.sign('=')?;
                Ok((name, parser.value()?))
            })?;
            for (name, value) in pairs {
                if values.insert(name.text.clone(), value).is_some() {
                    let message = format!("attribute {name} has two values");
                    return Err(Box::new(Diagnostic::error(name.span, message)));
                }
            }
        }
        Ok(StatementKind::CreateInstance(values))
    }

    fn enable(&mut self, enabled: bool) -> Result<StatementKind, ParseError> {
        self.at += 1;
        if !self.noun("TRIGGER") {
            return Err(self.unexpected("here", &["WED-TRIGGER"]));
        }
        let name = self.name("the trigger's name")?;
        Ok(StatementKind::Enable(name, enabled))
    }

    fn list(&mut self) -> Result<StatementKind, ParseError> {
        self.at += 1;
        let list = if self.noun("FLOWS") {
            List::Flows
        } else if self.noun("TRIGGERS") {
            List::Triggers(None)
        } else if self.noun("ATTRIBUTES") {
            List::Attributes
        } else if self.noun("CONDITIONS") {
            List::Conditions
        } else if self.noun("TRANSITIONS") {
            List::Transitions
        } else if self.noun("INSTANCES") {
            List::Instances(None)
        } else if self.takes_word("HISTORY") {
            List::History(self.of_instance()?)
        } else {
            self.chosen_list()?
        };
        Ok(StatementKind::List(list))
    }

    /// Reads a `LIST` that begins with a word for those that are meant.
    fn chosen_list(&mut self) -> Result<List, ParseError> {
        let word = self.keyword().unwrap_or_default();
        let mut all: Vec<&str> = LISTED.to_vec();
        all.extend(["REGULAR", "HISTORY"]);
        self.at += 1;
        let (noun, list) = match word.as_str() {
            "ENABLED" => ("TRIGGERS", List::Triggers(Some(true))),
            "DISABLED" => ("TRIGGERS", List::Triggers(Some(false))),
            "FINAL" => ("INSTANCES", List::Instances(Some('F'))),
            "EXCEPTION" => ("INSTANCES", List::Instances(Some('E'))),
            "REGULAR" => ("INSTANCES", List::Instances(Some('R'))),
            "FIRED" => return self.fired(None),
            "PENDING" | "ONGOING" => {
                self.word_is("FIRED")?;
                return self.fired(Some(match word == "PENDING" {
                    true => FiredKind::Pending,
                    false => FiredKind::Ongoing,
                }));
            }
            _ => {
                self.at -= 1;
                return Err(self.unexpected("behind LIST", &all));
            }
        };
        if !self.noun(noun) {
            let expected = match noun {
                "TRIGGERS" => "WED-TRIGGERS",
                other => other,
            };
            return Err(self.unexpected(&format!("behind LIST {word}"), &[expected]));
        }
        Ok(list)
    }

    fn fired(&mut self, kind: Option<FiredKind>) -> Result<List, ParseError> {
        if !self.noun("TRANSITIONS") {
            return Err(self.unexpected("behind FIRED", &["WED-TRANSITIONS"]));
        }
        Ok(List::Fired(kind, self.of_instance()?))
    }

    fn of_instance(&mut self) -> Result<Option<i32>, ParseError> {
        match self.takes_word("FOR") {
            true => self.integer("FOR").map(Some),
            false => Ok(None),
        }
    }

    /// Reads what stands in parentheses as it is, or a string.
    pub(super) fn fragment(&mut self, what: &str) -> Result<String, ParseError> {
        if self.peek() == Some(TokenKind::Text) {
            return self.text(what);
        }
        if self.peek() != Some(TokenKind::Sign('(')) {
            return Err(Box::new(self.expected(&format!("{what} is missing"), vec!["'('".to_owned()])));
        }
        let inner = self.parenthesis()?;
        let text = self.source[inner.clone()].trim();
        match text.is_empty() {
            false => Ok(text.to_owned()),
            true => Err(Box::new(Diagnostic::error(inner, format!("{what} is empty")))),
        }
    }

    /// Skips over a parenthesis; returns the place of what it holds.
    fn parenthesis(&mut self) -> Result<Range<usize>, ParseError> {
        let open = self.here();
        let mut depth = 0;
        while let Some(kind) = self.peek() {
            match kind {
                TokenKind::Sign('(') => depth += 1,
                TokenKind::Sign(')') => depth -= 1,
                TokenKind::Sign(';') => break,
                TokenKind::Open => return Err(self.open_text()),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(open.end..self.last_end() - 1);
            }
        }
        let mut error = Diagnostic::error(open, "this '(' is not closed");
        error.expected = vec!["')'".to_owned()];
        Err(Box::new(error))
    }

    /// Reads `( one, … )`, which may be empty.
    pub(super) fn list_of<T>(
        &mut self,
        open: &str,
        mut one: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let (open, close) = if open == "(" { ('(', ')') } else { ('[', ']') };
        self.sign(open)?;
        let mut items = Vec::new();
        if self.takes(close) {
            return Ok(items);
        }
        loop {
            items.push(one(self)?);
            if self.takes(close) {
                return Ok(items);
            }
            if !self.takes(',') {
                return Err(self.unexpected("in the list", &["','", &format!("'{close}'")]));
            }
        }
    }

    /// Reads a value in Postgres's input notation; none for NULL.
    pub(super) fn input(&mut self, what: &str) -> Result<Option<String>, ParseError> {
        let value = match self.peek() {
            Some(TokenKind::Text) => Some(self.text(what)?),
            Some(TokenKind::Number) => Some(self.take_token().to_owned()),
            _ if self.takes_word("TRUE") => Some("true".to_owned()),
            _ if self.takes_word("FALSE") => Some("false".to_owned()),
            _ if self.takes_word("NULL") => None,
            _ => {
                let expected = ["a string", "a number", "TRUE", "FALSE", "NULL"];
                return Err(self.unexpected(&format!("as {what}"), &expected));
            }
        };
        Ok(value)
    }

    fn value(&mut self) -> Result<Json, ParseError> {
        let is_text = self.peek() == Some(TokenKind::Text);
        let value = self.input("a value")?;
        Ok(match value {
            None => Json::Null,
            Some(text) if is_text => Json::String(text),
            Some(text) => serde_json::from_str(&text).unwrap_or(Json::String(text)),
        })
    }

    pub(super) fn text(&mut self, keyword: &str) -> Result<String, ParseError> {
        match self.peek() {
            Some(TokenKind::Text) => Ok(decode_text(self.take_token())),
            Some(TokenKind::Open) => Err(self.open_text()),
            _ => Err(Box::new(
                self.expected(&format!("{keyword} needs a string in single quotes"), vec!["a string".to_owned()]),
            )),
        }
    }

    fn open_text(&self) -> ParseError {
        let start = self.here().start;
        Box::new(
            Diagnostic::error(start..start + 1, "this quote is not closed")
                .hint("A quote within a string is doubled: 'it''s'."),
        )
    }

    pub(super) fn integer(&mut self, keyword: &str) -> Result<i32, ParseError> {
        let number = (self.peek() == Some(TokenKind::Number)).then(|| self.source[self.here()].parse().ok()).flatten();
        let Some(number) = number else {
            return Err(Box::new(self.expected(&format!("{keyword} needs an integer"), vec!["an integer".to_owned()])));
        };
        self.at += 1;
        Ok(number)
    }

    pub(super) fn boolean(&mut self, keyword: &str) -> Result<bool, ParseError> {
        match self.takes_word("TRUE") {
            true => Ok(true),
            false if self.takes_word("FALSE") => Ok(false),
            false => Err(self.unexpected(&format!("behind {keyword}"), &["TRUE", "FALSE"])),
        }
    }

    /// Reads a name: one without quotes is in small letters, as in SQL.
    pub(super) fn name(&mut self, what: &str) -> Result<Name, ParseError> {
        let span = self.here();
        let text = &self.source[span.clone()];
        let text = match self.peek() {
            // The word of the probe for completion is no name.
            Some(TokenKind::Word) if text != "\u{aa}" => text.to_lowercase(),
            Some(TokenKind::Quoted) => text[1..text.len() - 1].replace("\"\"", "\""),
            Some(TokenKind::Open) => return Err(self.open_text()),
            _ => {
                let error = self.expected(&format!("{what} is missing"), vec![what.to_owned()]);
                return Err(Box::new(error));
            }
        };
        self.at += 1;
        Ok(Name { text, span })
    }

    pub(super) fn sign(&mut self, sign: char) -> Result<(), ParseError> {
        if self.takes(sign) {
            return Ok(());
        }
        let expected = vec![format!("'{sign}'")];
        Err(Box::new(self.expected(&format!("'{sign}' is missing"), expected)))
    }

    pub(super) fn takes(&mut self, sign: char) -> bool {
        let taken = self.peek() == Some(TokenKind::Sign(sign));
        self.at += usize::from(taken);
        taken
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let taken = self.keyword().is_some_and(|found| found == word);
        self.at += usize::from(taken);
        taken
    }

    fn word_is(&mut self, word: &str) -> Result<(), ParseError> {
        match self.takes_word(word) {
            true => Ok(()),
            false => Err(self.unexpected("here", &[word])),
        }
    }

    /// Takes a noun, with or without `WED-` in front.
    fn noun(&mut self, noun: &str) -> bool {
        let taken = self.keyword().is_some_and(|found| found.strip_prefix("WED-").unwrap_or(&found) == noun);
        self.at += usize::from(taken);
        taken
    }

    fn take_token(&mut self) -> &str {
        let span = self.here();
        self.at += 1;
        &self.source[span]
    }

    pub(super) fn peek(&self) -> Option<TokenKind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    /// Returns the word that comes next, in capitals.
    pub(super) fn keyword(&self) -> Option<String> {
        (self.peek()? == TokenKind::Word).then(|| self.source[self.here()].to_uppercase())
    }

    /// Returns the place of the next token, or of the end.
    pub(super) fn here(&self) -> Range<usize> {
        let end = self.source.trim_end().len();
        self.tokens.get(self.at).map_or(end..end, |token| token.span.clone())
    }

    fn last_end(&self) -> usize {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.map_or(0, |token| token.span.end)
    }

    fn found(&self) -> String {
        if self.peek().is_none() {
            return "the end of the source".to_owned();
        }
        let text = &self.source[self.here()];
        let short: String = text.chars().take(40).collect();
        let short = short.replace(['\n', '\r'], " ");
        let more = if short.len() < text.len() { "…" } else { "" };
        format!("`{short}{more}`")
    }

    fn expected(&self, message: &str, expected: Vec<String>) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.here(), message);
        let found = self.found();
        diagnostic.found = Some(format!("found {found}, expected {}", alternatives(&expected)));
        diagnostic.expected = expected;
        diagnostic
    }

    /// Makes the error of a word that is none of those that may stand here.
    pub(super) fn unexpected(&self, place: &str, keywords: &[&str]) -> ParseError {
        let expected = keywords.iter().map(|word| (*word).to_owned()).collect();
        let message = format!("{} is not expected {place}", self.found());
        let diagnostic = self.expected(&message, expected);
        let near = self.keyword().and_then(|word| nearest(&word, keywords.iter().copied()));
        Box::new(match near {
            Some(near) => diagnostic.hint(format!("Perhaps {near} is meant.")),
            None => diagnostic,
        })
    }
}

/// Options of a statement: in any order, each at most once.
struct Options<'o> {
    all: &'o [&'o str],
    seen: Vec<&'o str>,
}

impl<'o> Options<'o> {
    fn of(all: &'o [&'o str]) -> Self {
        Options { all, seen: Vec::new() }
    }

    /// Returns the options that may still come.
    fn left(&self) -> impl Iterator<Item = &'o str> {
        self.all.iter().copied().filter(|one| !self.seen.contains(one))
    }

    /// Takes the next option's keyword; none at the end of the statement.
    fn next(&mut self, parser: &mut Parser<'_>, place: &str) -> Result<Option<&'o str>, ParseError> {
        if matches!(parser.peek(), None | Some(TokenKind::Sign(';'))) || parser.begins_statement() {
            return Ok(None);
        }
        let word = parser.keyword().unwrap_or_default();
        let Some(option) = self.all.iter().copied().find(|one| *one == word) else {
            let mut expected: Vec<&str> = self.left().collect();
            expected.push("';'");
            return Err(parser.unexpected(place, &expected));
        };
        if self.seen.contains(&option) {
            let message = format!("{option} is given twice");
            return Err(Box::new(Diagnostic::error(parser.here(), message).hint("Keep one of them.")));
        }
        self.seen.push(option);
        parser.at += 1;
        Ok(Some(option))
    }
}

/// Returns a trigger that has a name only.
pub(super) fn empty_trigger(name: &str) -> TriggerDefinition {
    TriggerDefinition {
        name: name.to_owned(),
        transition: String::new(),
        when: String::new(),
        condition: None,
        timeout: None,
        attempts: None,
        backoff: None,
        delay: None,
        priority: None,
        recheck: None,
        enabled: None,
        writes: None,
        compensation: None,
        deadline: None,
        work: None,
        reserves: None,
        quantity: None,
        resource: None,
        holds: None,
        consumes: false,
        after: None,
        waits_for: None,
        or_after: None,
    }
}
