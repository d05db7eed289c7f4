//! The parser: recursive descent over the lexer's tokens. It continues after an error, so that one reading finds
//! several.
//!
//! It accepts the grammar and the worked example as printed: clauses in any order, an empty `DEPENDS;`, `TYPE;` and
//! `INSTALLER;`, a rule of one term without operator, `Semi-automatic` and `true` in any case, `NAME` for `FILENAME`,
//! no semicolon behind `PRIORITY`, `CPU` and the last clause of a block, and no brace behind a workflow's task.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, alternatives, nearest};
use crate::lexer::{Token, TokenKind, lex};
use crate::plan::{Operator, Unit};
use crate::syntax::{Activity, Block, BlockKind, Clause, ClauseValue, Document, Item, Name, Rule, TaskType, Workflow};

/// Bytes of a source.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;
/// Errors that one reading reports.
const ERRORS_MAX: usize = 25;
/// Levels of a dependence rule; conditions have 40.
const RULE_DEPTH_MAX: usize = 30;
/// Attempts after the first; a trigger has 1000 attempts at most.
const RETRIES_MAX: u32 = 999;

const TOP: [&str; 3] = ["WORKFLOW", "TASK", "APPLICATION"];
const DEFINITIONS: [(&str, BlockKind); 6] = [
    ("FILE", BlockKind::File),
    ("QUERY", BlockKind::Query),
    ("STRING", BlockKind::String),
    ("NUMBER", BlockKind::Number),
    ("TASK", BlockKind::Task),
    ("SUB-WORKFLOW", BlockKind::SubWorkflow),
];

/// A document and what is wrong with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The parts that could be read.
    pub document: Document,
    /// Errors and warnings, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Returns true if the source is refused.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads a source. It never panics, whatever the source holds.
pub fn parse(source: &str) -> Parsed {
    if source.len() > SOURCE_BYTES_MAX {
        return Parsed {
            document: Document::default(),
            diagnostics: vec![
                Diagnostic::error(0..0, format!("the source has {} bytes", source.len()))
                    .hint(format!("At most {SOURCE_BYTES_MAX} bytes are read.")),
            ],
        };
    }
    let lexed = lex(source);
    let mut parser = Parser { source, tokens: lexed.tokens, at: 0, diagnostics: lexed.diagnostics };
    let items = parser.items();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|one| one.span.start);
    diagnostics.truncate(ERRORS_MAX);
    Parsed { document: Document { items, comments: lexed.comments }, diagnostics }
}

/// Error of the parser, boxed since it is rare.
type ParseError = Box<Diagnostic>;

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    diagnostics: Vec<Diagnostic>,
}

impl<'s> Parser<'s> {
    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while self.at < self.tokens.len() {
            let begun = self.at;
            let item = match self.word() {
                Some("WORKFLOW") => self.workflow().map(Item::Workflow),
                Some("TASK") => self.block(BlockKind::Model).map(Item::Model),
                Some("APPLICATION") => self.block(BlockKind::Application).map(Item::Application),
                _ => Err(self.unexpected("at the top of a source", &TOP)),
            };
            match item {
                Ok(item) => items.push(item),
                Err(error) => {
                    self.report(error);
                    self.at = self.at.max(begun + 1);
                    while self.at < self.tokens.len() && !self.begins_item() {
                        self.at += 1;
                    }
                }
            }
        }
        items
    }

    fn workflow(&mut self) -> Result<Workflow, ParseError> {
        let start = self.here().start;
        self.at += 1;
        let name = self.name("the workflow's name")?;
        self.sign('{', &format!("behind WORKFLOW {name}"))?;
        let mut blocks = Vec::new();
        loop {
            let begun = self.at;
            if self.takes('}') {
                break;
            }
            if self.at == self.tokens.len() || matches!(self.word(), Some("WORKFLOW" | "APPLICATION")) {
                let error =
                    self.expected(&format!("the '}}' that closes WORKFLOW {name} is missing"), vec!["'}'".to_owned()]);
                self.report(error);
                break;
            }
            let kind = self.definition();
            let block = match kind {
                Some(kind) => self.block(kind),
                None => {
                    let words = DEFINITIONS.map(|(word, _)| word);
                    Err(self.unexpected(&format!("in WORKFLOW {name}"), &words))
                }
            };
            match block {
                Ok(block) => blocks.push(block),
                Err(error) => {
                    self.report(error);
                    self.skip_block(begun);
                }
            }
        }
        Ok(Workflow { name, blocks, span: start..self.last_end() })
    }

    /// Skips what is left of a definition of a workflow that could not be read.
    fn skip_block(&mut self, begun: usize) {
        self.at = self.at.max(begun + 1);
        let mut open = self.tokens[begun..self.at.min(self.tokens.len())]
            .iter()
            .filter(|token| token.kind == TokenKind::Sign('{'))
            .count();
        while self.at < self.tokens.len() {
            match self.tokens[self.at].kind {
                TokenKind::Sign('{') => open += 1,
                TokenKind::Sign('}') if open == 0 => return,
                TokenKind::Sign('}') => {
                    open -= 1;
                    if open == 0 {
                        self.at += 1;
                        return;
                    }
                }
                TokenKind::Word if self.begins_definition() || self.begins_item() => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn block(&mut self, kind: BlockKind) -> Result<Block, ParseError> {
        let start = self.here().start;
        self.at += 1;
        let name = self.name(match kind {
            BlockKind::Model => "the name of a task model",
            _ => "a name",
        })?;
        let of = match kind {
            BlockKind::Task | BlockKind::SubWorkflow => Some(self.model_name(kind, &name)?),
            _ => None,
        };
        self.sign('{', &format!("behind {} {name}", kind.keyword()))?;
        let mut clauses: Vec<Clause> = Vec::new();
        loop {
            if self.takes('}') {
                break;
            }
            let begun = self.at;
            if self.closed_silently(kind, &name) {
                break;
            }
            match self.clause(kind, &name) {
                Ok(clause) => {
                    let keyword = clause.value.keyword(kind);
                    if clauses.iter().any(|one| one.value.keyword(kind) == keyword) {
                        self.diagnostics.push(
                            Diagnostic::error(
                                clause.span.clone(),
                                format!("{} {name} has two clauses {keyword}", kind.keyword()),
                            )
                            .hint("Keep one of them."),
                        );
                    }
                    clauses.push(clause);
                }
                Err(error) => {
                    self.report(error);
                    self.skip_clause(begun);
                }
            }
        }
        let block = Block { kind, name, of, clauses, span: start..self.last_end() };
        self.require_clauses(&block);
        Ok(block)
    }

    fn model_name(&mut self, kind: BlockKind, name: &Name) -> Result<Name, ParseError> {
        let what = match kind {
            BlockKind::Task => "the name of its model",
            _ => "the name of its workflow",
        };
        if !self.takes(':') {
            let error = self.expected(
                &format!("{} {name} in a workflow needs ':' and {what}", kind.keyword()),
                vec!["':'".to_owned()],
            );
            return Err(Box::new(
                error.hint("A task model stands outside: perhaps the workflow's '}' is missing above."),
            ));
        }
        self.name(what)
    }

    /// Looks whether a block ends here without its brace, and reports it.
    fn closed_silently(&mut self, kind: BlockKind, name: &Name) -> bool {
        let ends = self.at == self.tokens.len();
        let next = !ends && (self.begins_definition() || self.begins_item());
        if !ends && !next {
            return false;
        }
        let message = format!("the '}}' that closes {} {name} is missing", kind.keyword());
        if kind == BlockKind::Task && !ends && self.begins_definition() {
            let span = self.here();
            self.diagnostics
                .push(Diagnostic::warning(span, message).hint("It is taken to end before this definition."));
        } else {
            let error = self.expected(&message, vec!["'}'".to_owned()]);
            self.report(error);
        }
        true
    }

    fn require_clauses(&mut self, block: &Block) {
        let missing: Vec<String> = block
            .kind
            .clauses()
            .iter()
            .filter(|(keyword, required)| {
                *required && !block.clauses.iter().any(|one| one.value.keyword(block.kind) == *keyword)
            })
            .map(|(keyword, _)| (*keyword).to_owned())
            .collect();
        // A clause that could not be read is no missing one.
        let faulty = self.diagnostics.iter().any(|one| one.is_error() && block.span.contains(&one.span.start));
        if !missing.is_empty() && !faulty {
            self.diagnostics.push(
                Diagnostic::error(
                    block.name.span.clone(),
                    format!("{} {} has no {}", block.kind.keyword(), block.name, missing.join(", no ")),
                )
                .hint("Clauses may stand in any order; each ends with ';'."),
            );
        }
    }

    fn clause(&mut self, kind: BlockKind, name: &Name) -> Result<Clause, ParseError> {
        let allowed: Vec<&str> = kind.clauses().iter().map(|(keyword, _)| *keyword).collect();
        let start = self.here().start;
        let keyword = match self.word() {
            Some("NAME") if kind == BlockKind::Application => "FILENAME",
            Some("FILENAME") if kind == BlockKind::File => "NAME",
            Some(word) => allowed.iter().copied().find(|one| *one == word).unwrap_or(""),
            None => "",
        };
        if keyword.is_empty() {
            return Err(self.unexpected(&format!("in {} {name}", kind.keyword()), &allowed));
        }
        self.at += 1;
        let value = self.value(keyword, kind)?;
        let end = self.last_end();
        self.end_of_clause(keyword)?;
        Ok(Clause { value, span: start..end })
    }

    fn end_of_clause(&mut self, keyword: &str) -> Result<(), ParseError> {
        if self.takes(';') {
            return Ok(());
        }
        let omitted = self.at < self.tokens.len()
            && (self.peek() == Some(TokenKind::Sign('}'))
                || self.begins_definition()
                || (matches!(keyword, "PRIORITY" | "CPU") && self.peek() == Some(TokenKind::Word)));
        if omitted {
            return Ok(());
        }
        Err(Box::new(self.expected(&format!("{keyword} is not closed by ';'"), vec!["';'".to_owned()])))
    }

    fn skip_clause(&mut self, begun: usize) {
        self.at = self.at.max(begun + 1);
        while self.at < self.tokens.len() {
            match self.tokens[self.at].kind {
                TokenKind::Sign(';') => {
                    self.at += 1;
                    return;
                }
                TokenKind::Sign('}') => return,
                TokenKind::Word if self.begins_definition() || self.begins_item() => return,
                _ => self.at += 1,
            }
        }
    }

    fn value(&mut self, keyword: &str, kind: BlockKind) -> Result<ClauseValue, ParseError> {
        Ok(match keyword {
            "NAME" | "FILENAME" => ClauseValue::FileName(self.text(keyword)?),
            "DATABASE" => ClauseValue::Database(self.text(keyword)?),
            "EXPRESSION" => ClauseValue::Expression(self.text(keyword)?),
            "VALUE" if kind == BlockKind::String => ClauseValue::TextValue(self.text(keyword)?),
            "VALUE" => ClauseValue::NumberValue(self.number(keyword)?.to_owned()),
            "DEPENDS" if self.at_end_of_value() => ClauseValue::Depends(None),
            "DEPENDS" => ClauseValue::Depends(Some(self.rule(0)?)),
            "IN_CONTEXT" => ClauseValue::InContext(self.names()?),
            "OUT_CONTEXT" => ClauseValue::OutContext(self.names()?),
            "ROLE" => ClauseValue::Role(self.name("the name of a role")?),
            "DESCRIPTION" => ClauseValue::Description(self.text(keyword)?),
            "TYPE" if self.at_end_of_value() => ClauseValue::Type(None),
            "TYPE" => ClauseValue::Type(Some(self.task_type()?)),
            "APPLICATION" => ClauseValue::Application(self.name("the name of an application")?),
            "PRIORITY" => ClauseValue::Priority(self.integer(keyword, i32::MIN, i32::MAX)?),
            "DEADLINE" => self.deadline()?,
            "DISCONNECTED_OPERATION" => ClauseValue::Disconnected(self.boolean()?),
            "RETRIES" => ClauseValue::Retries(self.integer(keyword, 0, RETRIES_MAX)?),
            "SIZE" => ClauseValue::Size(self.integer(keyword, 0, u64::from(u32::MAX))?),
            "OS" => ClauseValue::Os(self.text(keyword)?),
            "CPU" => ClauseValue::Cpu(self.text(keyword)?),
            "INSTALLER" if self.at_end_of_value() => ClauseValue::Installer(None),
            "INSTALLER" => ClauseValue::Installer(Some(self.text(keyword)?)),
            _ => ClauseValue::Hosts(self.texts(keyword)?),
        })
    }

    fn rule(&mut self, depth: usize) -> Result<Rule, ParseError> {
        let start = self.here().start;
        if depth > RULE_DEPTH_MAX {
            return Err(Box::new(
                Diagnostic::error(self.here(), "the dependence rule is nested too deeply")
                    .hint(format!("It may have {RULE_DEPTH_MAX} levels.")),
            ));
        }
        let operator = match self.word().map(str::to_ascii_uppercase).as_deref() {
            Some("AND") => Some(Operator::And),
            Some("OR") => Some(Operator::Or),
            _ => None,
        };
        let behind = self.tokens.get(self.at + 1).map(|token| token.kind);
        let opens = behind == Some(TokenKind::Sign('('));
        if let Some(operator) = operator.filter(|_| behind == Some(TokenKind::Word)) {
            self.at += 1;
            let message = format!("{} stands before ( … )", operator.keyword());
            return Err(Box::new(self.expected(&message, vec!["'('".to_owned()])));
        }
        let Some(operator) = operator.filter(|_| opens) else {
            return self.term(start);
        };
        self.at += 2;
        let mut terms = vec![self.rule(depth + 1)?];
        while self.takes(',') {
            terms.push(self.rule(depth + 1)?);
        }
        if !self.takes(')') {
            return Err(Box::new(self.expected(
                &format!("{} (…) is not closed", operator.keyword()),
                vec!["','".to_owned(), "')'".to_owned()],
            )));
        }
        Ok(Rule::Tree { operator, terms, span: start..self.last_end() })
    }

    fn term(&mut self, start: usize) -> Result<Rule, ParseError> {
        let task = match self.word() {
            Some(_) => self.name("a task")?,
            None => {
                return Err(Box::new(self.expected(
                    "a dependence rule is a task's state, or AND (…) or OR (…) of such",
                    vec!["a task".to_owned(), "AND (".to_owned(), "OR (".to_owned()],
                )));
            }
        };
        if self.peek() != Some(TokenKind::Arrow) {
            return Err(Box::new(
                self.expected(&format!("the dependence on {task} names no state"), vec!["'->'".to_owned()]),
            ));
        }
        self.at += 1;
        let state = match self.word() {
            Some("READY") => Activity::Ready,
            Some("RUNNING") => Activity::Running,
            Some("SUCCEEDED") => Activity::Succeeded,
            Some("FAIL" | "FAILED") => Activity::Failed,
            _ => {
                return Err(
                    self.unexpected(&format!("as a state of {task}"), &["READY", "RUNNING", "FAILED", "SUCCEEDED"])
                );
            }
        };
        self.at += 1;
        Ok(Rule::Term { task, state, span: start..self.last_end() })
    }

    fn task_type(&mut self) -> Result<TaskType, ParseError> {
        let word = self.word().unwrap_or_default();
        let kind = match word.to_ascii_lowercase().replace('-', "_").as_str() {
            "automatic" => TaskType::Automatic,
            "semi_automatic" => TaskType::SemiAutomatic,
            "manual" => TaskType::Manual,
            _ => {
                return Err(self.unexpected("as TYPE of a task", &["AUTOMATIC", "SEMI_AUTOMATIC", "MANUAL"]));
            }
        };
        self.at += 1;
        Ok(kind)
    }

    fn boolean(&mut self) -> Result<bool, ParseError> {
        let flag = match self.word().unwrap_or_default().to_ascii_lowercase().as_str() {
            "true" => true,
            "false" => false,
            _ => return Err(self.unexpected("behind DISCONNECTED_OPERATION", &["TRUE", "FALSE"])),
        };
        self.at += 1;
        Ok(flag)
    }

    fn deadline(&mut self) -> Result<ClauseValue, ParseError> {
        let amount = self.integer("DEADLINE", 1, 1_000_000)?;
        let unit = match self.word().map(str::to_ascii_uppercase).as_deref() {
            Some("HOURS") => Some(Unit::Hours),
            Some("DAYS") => Some(Unit::Days),
            Some(_) => {
                return Err(self.unexpected("as unit of DEADLINE", &["HOURS", "DAYS"]));
            }
            None => None,
        };
        if unit.is_some() {
            self.at += 1;
        }
        Ok(ClauseValue::Deadline(amount, unit))
    }

    fn names(&mut self) -> Result<Vec<Name>, ParseError> {
        let mut names = vec![self.name("the name of a datum")?];
        while self.takes(',') {
            names.push(self.name("the name of a datum")?);
        }
        Ok(names)
    }

    fn texts(&mut self, keyword: &str) -> Result<Vec<String>, ParseError> {
        let mut texts = vec![self.text(keyword)?];
        while self.takes(',') {
            texts.push(self.text(keyword)?);
        }
        Ok(texts)
    }

    fn text(&mut self, keyword: &str) -> Result<String, ParseError> {
        if self.peek() != Some(TokenKind::Text) {
            return Err(Box::new(
                self.expected(&format!("{keyword} needs a string in double quotes"), vec!["a string".to_owned()]),
            ));
        }
        let quoted = self.token_text();
        self.at += 1;
        Ok(quoted[1..quoted.len() - 1].replace("\"\"", "\""))
    }

    fn number(&mut self, keyword: &str) -> Result<&'s str, ParseError> {
        if self.peek() != Some(TokenKind::Number) {
            return Err(Box::new(self.expected(&format!("{keyword} needs a number"), vec!["a number".to_owned()])));
        }
        let text = self.token_text();
        self.at += 1;
        Ok(text)
    }

    fn integer<N>(&mut self, keyword: &str, least: N, most: N) -> Result<N, ParseError>
    where
        N: std::str::FromStr + PartialOrd + std::fmt::Display,
    {
        let span = self.here();
        let text = self.number(keyword)?;
        match text.parse::<N>() {
            Ok(number) if number >= least && number <= most => Ok(number),
            _ => Err(Box::new(Diagnostic::error(
                span,
                format!("{keyword} needs an integer from {least} to {most}, and {text} is none"),
            ))),
        }
    }

    fn name(&mut self, what: &str) -> Result<Name, ParseError> {
        if self.peek() != Some(TokenKind::Word) {
            return Err(Box::new(self.expected(&format!("{what} is missing"), vec![what.to_owned()])));
        }
        let name = Name { text: self.token_text().to_owned(), span: self.here() };
        self.at += 1;
        Ok(name)
    }

    fn sign(&mut self, sign: char, place: &str) -> Result<(), ParseError> {
        if self.takes(sign) {
            return Ok(());
        }
        Err(Box::new(self.expected(&format!("'{sign}' is missing {place}"), vec![format!("'{sign}'")])))
    }

    fn takes(&mut self, sign: char) -> bool {
        let taken = self.peek() == Some(TokenKind::Sign(sign));
        self.at += usize::from(taken);
        taken
    }

    /// Returns true where a clause whose value may be absent has none.
    fn at_end_of_value(&self) -> bool {
        matches!(self.peek(), None | Some(TokenKind::Sign(';') | TokenKind::Sign('}')))
    }

    fn peek(&self) -> Option<TokenKind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn word(&self) -> Option<&'s str> {
        (self.peek()? == TokenKind::Word).then(|| self.token_text())
    }

    fn token_text(&self) -> &'s str {
        &self.source[self.here()]
    }

    /// Returns the place of the next token, or of the end.
    fn here(&self) -> Range<usize> {
        let end = self.source.trim_end().len();
        self.tokens.get(self.at).map_or(end..end, |token| token.span.clone())
    }

    fn last_end(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |token| token.span.end)
    }

    fn definition(&self) -> Option<BlockKind> {
        let word = self.word()?;
        DEFINITIONS.iter().find(|(keyword, _)| *keyword == word).map(|(_, kind)| *kind)
    }

    fn next_is_word(&self) -> bool {
        self.tokens.get(self.at + 1).map(|token| token.kind) == Some(TokenKind::Word)
    }

    /// Returns true where a definition of a workflow begins: a keyword and a name, with a colon behind that of a task.
    fn begins_definition(&self) -> bool {
        let third = self.tokens.get(self.at + 2).map(|token| token.kind);
        self.next_is_word()
            && match self.definition() {
                Some(BlockKind::Task | BlockKind::SubWorkflow) => third == Some(TokenKind::Sign(':')),
                Some(_) => third == Some(TokenKind::Sign('{')),
                None => false,
            }
    }

    /// Returns true where a definition of the top begins: a keyword, a name and a brace.
    fn begins_item(&self) -> bool {
        self.word().is_some_and(|word| TOP.contains(&word))
            && self.next_is_word()
            && self.tokens.get(self.at + 2).map(|token| token.kind) == Some(TokenKind::Sign('{'))
    }

    fn report(&mut self, error: impl Into<ParseError>) {
        self.diagnostics.push(*error.into());
    }

    fn found(&self) -> String {
        match self.peek() {
            None => "the end of the source".to_owned(),
            Some(_) => {
                let text = self.token_text();
                let short: String = text.chars().take(40).collect();
                let short = short.replace(['\n', '\r'], " ");
                let more = if short.len() < text.len() { "…" } else { "" };
                format!("`{short}{more}`")
            }
        }
    }

    fn expected(&self, message: &str, expected: Vec<String>) -> Diagnostic {
        let found = self.found();
        let mut diagnostic = Diagnostic::error(self.here(), message);
        diagnostic.found = Some(format!("found {found}, expected {}", alternatives(&expected)));
        diagnostic.expected = expected;
        diagnostic
    }

    /// Makes the error of a word that is none of those that may stand here.
    fn unexpected(&self, place: &str, keywords: &[&str]) -> ParseError {
        let expected = keywords.iter().map(|word| (*word).to_owned()).collect();
        let message = format!("{} is not expected {place}", self.found());
        let diagnostic = self.expected(&message, expected);
        let hint = self.word().and_then(|word| match keywords.iter().find(|one| one.eq_ignore_ascii_case(word)) {
            Some(same) => Some(format!("Keywords are written in capitals: {same}.")),
            None => nearest(word, keywords.iter().copied()).map(|near| format!("Perhaps {near} is meant.")),
        });
        Box::new(match hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        })
    }
}
