//! Changes of the tasks of a source, as a picture makes them: it is changed where it has to be and nowhere else.

use std::ops::Range;

use crate::format::{flat_rule, rule_text};
use crate::lexer::{TokenKind, lex};
use crate::parser::parse;
use crate::splice::{Splices, begins_line, behind_semicolon, in_lines, line_start, moved, whole_lines};
use crate::syntax::{Activity, Block, Clause, ClauseValue, Document, Name, Operator, Rule, TaskType, Workflow};

/// A change of a task of a workflow, or of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Another name, here and in the rules that name it.
    Rename(String),
    /// Removal. What waited for its success waits for what it waited for.
    Delete,
    /// Another place in the order: behind a task, or before all others.
    Place(Option<String>),
    /// A new one, behind another one.
    Add(Option<String>),
}

/// Model of tasks that are added to a source without one.
const MODEL: &str = "\nTASK Form { TYPE MANUAL; PRIORITY 0; DISCONNECTED_OPERATION FALSE; }\n";

/// Changes a task, or adds one; a rule that has to change is written anew, everything else stays as it was written.
///
/// # Errors
/// Says why there can be no such change.
pub fn change(source: &str, workflow: &str, task: &str, change: &Change) -> Result<String, String> {
    let parsed = parse(source);
    if parsed.has_errors() {
        return Err("the text has errors: mend them first".to_owned());
    }
    let editor = Editor::of(source, &parsed.document, workflow)?;
    match change {
        Change::Rename(name) => editor.rename(task, name),
        Change::Delete => editor.delete(task),
        Change::Place(after) => {
            let ruled = editor.reorder(task, after.as_deref())?;
            let parsed = parse(&ruled);
            Editor::of(&ruled, &parsed.document, workflow)?.move_text(task, after.as_deref())
        }
        Change::Add(after) => {
            let added = editor.add(task)?;
            match after {
                Some(_) => self::change(&added, workflow, task, &Change::Place(after.clone())),
                None => Ok(added),
            }
        }
    }
}

/// A workflow of a source.
struct Editor<'s> {
    source: &'s str,
    document: &'s Document,
    workflow: &'s Workflow,
}

impl<'s> Editor<'s> {
    fn of(source: &'s str, document: &'s Document, workflow: &str) -> Result<Self, String> {
        // A text with one workflow need not name it.
        let workflow = match workflow {
            "" => document.workflows().next(),
            name => document.workflow(name),
        };
        Ok(Editor { source, document, workflow: workflow.ok_or("there is no such workflow in the text")? })
    }

    fn task(&self, name: &str) -> Result<&'s Block, String> {
        let found = self.workflow.activities().find(|one| one.name.text == name);
        found.ok_or_else(|| format!("there is no task {name}"))
    }

    /// Refuses a name that the language has none like, or that is taken.
    fn must_be_free(&self, name: &str) -> Result<(), String> {
        let tokens = lex(name).tokens;
        let is_name = matches!(&tokens[..], [one] if one.kind == TokenKind::Word && one.span == (0..name.len()));
        if !is_name || name.len() > 60 {
            return Err("a name has letters, digits, _ and -, and begins with a letter".to_owned());
        }
        match self.task(name) {
            Ok(_) => Err(format!("there is a task {name} already")),
            Err(_) => Ok(()),
        }
    }

    fn rename(&self, task: &str, name: &str) -> Result<String, String> {
        let block = self.task(task)?;
        self.must_be_free(name)?;
        let mut splices = Splices::default();
        splices.replace(block.name.span.clone(), name);
        for rule in self.workflow.activities().filter_map(Block::depends) {
            rule.each_term(&mut |term, _| {
                if term.text == task {
                    splices.replace(term.span.clone(), name);
                }
            });
        }
        Ok(splices.apply(self.source))
    }

    fn delete(&self, task: &str) -> Result<String, String> {
        let block = self.task(task)?;
        let mut splices = Splices::default();
        for other in self.others(task) {
            let rule = other.depends().and_then(|rule| without(rule, task, block.depends(), true));
            self.set_rule(other, rule.as_ref(), &mut splices);
        }
        splices.replace(whole_lines(self.source, block.span.clone(), "//"), "");
        Ok(splices.apply(self.source))
    }

    /// Sets rules so that a task comes behind another one, or before all others. What waited for its success waits for
    /// what it waited for; what waited for the other one's success waits for it.
    fn reorder(&self, task: &str, after: Option<&str>) -> Result<String, String> {
        let block = self.task(task)?;
        let after = after.map(|after| self.task(after)).transpose()?;
        if after.is_some_and(|one| one.name.text == task) {
            return Err("a task does not come behind itself".to_owned());
        }
        let mut splices = Splices::default();
        for other in self.others(task) {
            let bypassed = other.depends().and_then(|rule| without(rule, task, block.depends(), false));
            let rule = match (bypassed, after) {
                (Some(rule), Some(after)) => Some(renamed(&rule, &after.name.text, task)),
                (None, None) => Some(success_of(&block.name)),
                (rule, _) => rule,
            };
            self.set_rule(other, rule.as_ref(), &mut splices);
        }
        let own = after.map(|after| success_of(&after.name));
        self.set_rule(block, own.as_ref(), &mut splices);
        Ok(splices.apply(self.source))
    }

    fn others(&self, task: &str) -> impl Iterator<Item = &'s Block> {
        self.workflow.activities().filter(move |one| one.name.text != task)
    }

    /// Writes a task's rule where it differs from the one it has.
    fn set_rule(&self, block: &Block, rule: Option<&Rule>, splices: &mut Splices) {
        if rule.map(flat_rule) == block.depends().map(flat_rule) {
            return;
        }
        let is_rule = |one: &&Clause| matches!(one.value, ClauseValue::Depends(_));
        let old = block.clauses.iter().find(is_rule);
        let depth = usize::from(begins_line(self.source, block.span.start)) + 1;
        let text = rule.map(|rule| format!("DEPENDS {};", rule_text(rule, depth, "DEPENDS".len())));
        match (old, text) {
            (Some(clause), Some(text)) => splices.replace(self.with_end(clause), text),
            (Some(clause), None) => splices.replace(self.with_space(clause), ""),
            (None, Some(text)) => {
                let at = self.inside(block);
                let gap = match block.clauses.first() {
                    Some(first) if begins_line(self.source, first.span.start) => {
                        let start = line_start(self.source, first.span.start);
                        format!("\n{}", &self.source[start..first.span.start])
                    }
                    _ => " ".to_owned(),
                };
                let end = if self.source[at..].starts_with('}') { " " } else { "" };
                splices.replace(at..at, format!("{gap}{text}{end}"));
            }
            (None, None) => {}
        }
    }

    /// The span of a clause with its semicolon.
    fn with_end(&self, clause: &Clause) -> Range<usize> {
        clause.span.start..behind_semicolon(self.source, clause.span.end)
    }

    /// The span of a clause with the space that it leaves.
    fn with_space(&self, clause: &Clause) -> Range<usize> {
        let span = self.with_end(clause);
        let lines = whole_lines(self.source, span.clone(), "\n");
        if lines != span {
            return lines;
        }
        let rest = &self.source[span.end..];
        span.start..span.end + rest.len() - rest.trim_start_matches(' ').len()
    }

    /// Returns the offset behind the brace that opens a block.
    fn inside(&self, block: &Block) -> usize {
        let name = block.of.as_ref().unwrap_or(&block.name);
        let rest = &self.source[name.span.end..block.span.end];
        let brace = lex(rest).tokens.into_iter().find(|token| token.kind == TokenKind::Sign('{'));
        name.span.end + brace.map_or(0, |token| token.span.end)
    }

    fn move_text(&self, task: &str, after: Option<&str>) -> Result<String, String> {
        let lines = whole_lines(self.source, self.task(task)?.span.clone(), "//");
        let behind = match after {
            Some(after) => whole_lines(self.source, self.task(after)?.span.clone(), "//").end,
            None => match self.others(task).next() {
                Some(first) => whole_lines(self.source, first.span.clone(), "//").start,
                None => return Ok(self.source.to_owned()),
            },
        };
        let is_there = after.is_none() && behind > lines.start || behind == lines.start;
        Ok(match is_there {
            true => self.source.to_owned(),
            false => moved(self.source, lines, behind),
        })
    }

    /// Adds a task at the end of the workflow: of the model of the last manual task, or else of one that is added too.
    fn add(&self, name: &str) -> Result<String, String> {
        self.must_be_free(name)?;
        let manual = self.document.models().find(|one| one.task_type() == Some(TaskType::Manual));
        let model = manual.map_or("Form", |model| &model.name.text);
        let mut splices = Splices::default();
        let at = match self.workflow.blocks.last() {
            Some(last) => whole_lines(self.source, last.span.clone(), "//").end,
            None => {
                let rest = &self.source[self.workflow.name.span.end..];
                let brace = lex(rest).tokens.into_iter().next();
                self.workflow.name.span.end + brace.map_or(0, |token| token.span.end)
            }
        };
        let text = format!("  TASK {name}: {model} {{}}");
        splices.replace(at..at, in_lines(self.source, at, &text));
        if manual.is_none() && !self.document.models().any(|one| one.name.text == "Form") {
            let end = self.source.len();
            splices.replace(end..end, in_lines(self.source, end, MODEL.trim_end()));
        }
        Ok(splices.apply(self.source))
    }
}

/// The rule of a task that waits for the success of one.
fn success_of(task: &Name) -> Rule {
    Rule::Term { task: task.clone(), state: Activity::Succeeded, span: 0..0 }
}

/// Takes a task out of a rule: instead of its success the rule waits for what the task waits for. Its other states are
/// left out as well where `all` of it goes.
fn without(rule: &Rule, task: &str, instead: Option<&Rule>, all: bool) -> Option<Rule> {
    match rule {
        Rule::Term { task: named, state, .. } if named.text == task => match state {
            Activity::Succeeded => instead.cloned(),
            _ if all => None,
            _ => Some(rule.clone()),
        },
        Rule::Term { .. } => Some(rule.clone()),
        Rule::Tree { operator, terms, span } => {
            let kept = terms.iter().filter_map(|term| without(term, task, instead, all));
            joined(*operator, kept, span.clone())
        }
    }
}

/// Joins terms, each once; a single one stands by itself.
fn joined(operator: Operator, terms: impl Iterator<Item = Rule>, span: Range<usize>) -> Option<Rule> {
    let mut kept: Vec<Rule> = Vec::new();
    for term in terms {
        let parts = match term {
            Rule::Tree { operator: inner, terms, .. } if inner == operator => terms,
            other => vec![other],
        };
        for part in parts {
            if kept.iter().all(|one| flat_rule(one) != flat_rule(&part)) {
                kept.push(part);
            }
        }
    }
    match kept.len() {
        0 | 1 => kept.pop(),
        _ => Some(Rule::Tree { operator, terms: kept, span }),
    }
}

/// Lets a rule wait for the success of another task.
fn renamed(rule: &Rule, old: &str, new: &str) -> Rule {
    match rule {
        Rule::Term { task, state: Activity::Succeeded, span } if task.text == old => Rule::Term {
            task: Name { text: new.to_owned(), span: task.span.clone() },
            state: Activity::Succeeded,
            span: span.clone(),
        },
        Rule::Term { .. } => rule.clone(),
        Rule::Tree { operator, terms, span } => Rule::Tree {
            operator: *operator,
            terms: terms.iter().map(|term| renamed(term, old, new)).collect(),
            span: span.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: &str = "WORKFLOW W {\n  // the first\n  TASK A: F { ROLE r; }\n  TASK B: F {\n    \
        DEPENDS A -> SUCCEEDED; // why\n    ROLE r;\n  }\n\n  \
        TASK C: F { DEPENDS OR (B -> SUCCEEDED, B -> FAILED); }\n}\n\
        TASK F { TYPE MANUAL; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }\n";

    fn changed(task: &str, how: &Change) -> String {
        let text = change(CHAIN, "W", task, how).expect("it can be");
        assert!(!parse(&text).has_errors(), "{text}");
        text
    }

    #[test]
    fn a_name_is_changed_in_all_rules_and_nothing_else() {
        let text = changed("B", &Change::Rename("Visit".to_owned()));
        let expected = CHAIN.replace("TASK B", "TASK Visit").replace("B ->", "Visit ->");
        assert_eq!(text, expected);
        let taken = change(CHAIN, "W", "B", &Change::Rename("A".to_owned()));
        assert_eq!(taken, Err("there is a task A already".to_owned()));
        let markup = change(CHAIN, "W", "B", &Change::Rename("X { } TASK Y".to_owned()));
        assert!(markup.is_err());
    }

    #[test]
    fn what_waited_for_a_deleted_task_waits_for_what_it_waited_for() {
        let text = changed("B", &Change::Delete);
        assert!(text.contains("TASK C: F { DEPENDS A -> SUCCEEDED; }") && !text.contains('B'), "{text}");
        assert!(text.contains("  // the first\n  TASK A"));
        assert!(!changed("A", &Change::Delete).contains("the first"));
    }

    #[test]
    fn a_task_comes_behind_another_one_and_comments_stay() {
        let text = changed("A", &Change::Place(Some("B".to_owned())));
        let order: Vec<usize> = ["TASK B", "// the first", "TASK A", "TASK C"]
            .iter()
            .map(|part| text.find(part).expect("it is there"))
            .collect();
        assert!(order.is_sorted(), "{text}");
        assert!(text.contains("A: F { DEPENDS B -> SUCCEEDED; ROLE r; }") && text.contains("// why"), "{text}");
        assert!(text.contains("OR (A -> SUCCEEDED, B -> FAILED)"), "{text}");
        let first = changed("C", &Change::Place(None));
        assert!(first.contains("C: F { }") && first.contains("A: F { DEPENDS C -> SUCCEEDED; ROLE"), "{first}");
        assert!(first.find("TASK C") < first.find("// the first"), "{first}");
    }

    #[test]
    fn a_task_is_added_behind_another_one_also_to_an_empty_workflow() {
        let text = changed("D", &Change::Add(Some("A".to_owned())));
        assert!(text.contains("  TASK D: F { DEPENDS A -> SUCCEEDED; }\n  TASK B"), "{text}");
        assert!(text.contains("DEPENDS D -> SUCCEEDED; // why"), "{text}");
        let text = change("WORKFLOW W {}", "W", "D", &Change::Add(None)).expect("it is added");
        assert!(!parse(&text).has_errors() && text.contains("TASK D: Form {}"), "{text}");
    }
}
