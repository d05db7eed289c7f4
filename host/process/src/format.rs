//! The formatter: prints a document in one way. Order and comments stay; what the parser lets be omitted is written.

use crate::syntax::{Block, ClauseValue, Comment, Document, Item, Rule};

/// Columns up to which a dependence rule stays in a line.
const WIDTH: usize = 100;
const INDENT: &str = "  ";

/// Prints a document. What it prints reads as the same document, and prints so again.
pub fn format(document: &Document) -> String {
    let mut printer = Printer { out: String::new(), comments: &document.comments, line_comment: false };
    let mut first = true;
    for item in &document.items {
        let span = match item {
            Item::Workflow(workflow) => &workflow.span,
            Item::Model(block) | Item::Application(block) => &block.span,
        };
        printer.trailing(span.start);
        if !first {
            printer.blank();
        }
        first = false;
        printer.comments(span.start, 0);
        match item {
            Item::Workflow(workflow) => {
                printer.line(0, &format!("WORKFLOW {} {{", workflow.name));
                let mut before: Option<&Block> = None;
                for block in &workflow.blocks {
                    printer.trailing(block.span.start);
                    if before.is_some_and(|one| !(one.kind.is_data() && block.kind.is_data())) {
                        printer.blank();
                    }
                    printer.comments(block.span.start, 1);
                    printer.block(block, 1);
                    before = Some(block);
                }
                printer.comments(span.end, 1);
                printer.line(0, "}");
            }
            Item::Model(block) | Item::Application(block) => printer.block(block, 0),
        }
    }
    printer.comments(usize::MAX, 0);
    printer.out
}

struct Printer<'d> {
    out: String,
    /// Comments that are still to be printed.
    comments: &'d [Comment],
    /// True if the last line ends with a comment that takes the rest of a line.
    line_comment: bool,
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&INDENT.repeat(depth));
        self.out.push_str(text);
        self.out.push('\n');
        self.line_comment = false;
    }

    fn blank(&mut self) {
        self.out.push('\n');
        self.line_comment = false;
    }

    /// Appends the comments before an offset that stand behind something on its line.
    fn trailing(&mut self, before: usize) {
        while let [comment, rest @ ..] = self.comments {
            if comment.span.start >= before
                || !comment.trailing
                || self.line_comment
                || !self.out.ends_with('\n')
                || self.out.ends_with("\n\n")
            {
                return;
            }
            self.out.pop();
            self.out.push(' ');
            self.out.push_str(&comment.text);
            self.out.push('\n');
            self.line_comment = comment.text.starts_with("//");
            self.comments = rest;
        }
    }

    /// Prints the comments before an offset.
    fn comments(&mut self, before: usize, depth: usize) {
        loop {
            self.trailing(before);
            let [comment, rest @ ..] = self.comments else {
                return;
            };
            if comment.span.start >= before {
                return;
            }
            let text = comment.text.clone();
            self.comments = rest;
            self.line(depth, &text);
            self.line_comment = text.starts_with("//");
        }
    }

    fn block(&mut self, block: &Block, depth: usize) {
        let mut head = format!("{} {}", block.kind.keyword(), block.name);
        if let Some(of) = &block.of {
            head.push_str(&format!(": {of}"));
        }
        let commented = self.comments.first().is_some_and(|comment| comment.span.start < block.span.end);
        if block.clauses.is_empty() && !commented {
            return self.line(depth, &format!("{head} {{}}"));
        }
        if block.kind.is_data() && !commented {
            let clauses: Vec<String> =
                block.clauses.iter().map(|clause| clause_text(block, &clause.value, depth)).collect();
            return self.line(depth, &format!("{head} {{ {} }}", clauses.join(" ")));
        }
        self.line(depth, &format!("{head} {{"));
        for clause in &block.clauses {
            self.comments(clause.span.start, depth + 1);
            self.line(depth + 1, &clause_text(block, &clause.value, depth + 1));
        }
        self.comments(block.span.end, depth + 1);
        self.line(depth, "}");
    }
}

fn clause_text(block: &Block, value: &ClauseValue, depth: usize) -> String {
    let keyword = value.keyword(block.kind);
    let rest = match value {
        ClauseValue::FileName(text)
        | ClauseValue::Database(text)
        | ClauseValue::Expression(text)
        | ClauseValue::TextValue(text)
        | ClauseValue::Description(text)
        | ClauseValue::Os(text)
        | ClauseValue::Cpu(text)
        | ClauseValue::Installer(Some(text)) => quoted(text),
        ClauseValue::NumberValue(number) => number.clone(),
        ClauseValue::Depends(Some(rule)) => rule_text(rule, depth, keyword.len()),
        ClauseValue::Depends(None) | ClauseValue::Type(None) | ClauseValue::Installer(None) => {
            return format!("{keyword};");
        }
        ClauseValue::InContext(names) | ClauseValue::OutContext(names) => {
            names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(", ")
        }
        ClauseValue::Role(name) | ClauseValue::Application(name) => name.text.clone(),
        ClauseValue::Type(Some(kind)) => kind.keyword().to_owned(),
        ClauseValue::Priority(number) => number.to_string(),
        ClauseValue::Deadline(amount, None) => amount.to_string(),
        ClauseValue::Deadline(amount, Some(crate::Unit::Hours)) => format!("{amount} HOURS"),
        ClauseValue::Deadline(amount, Some(crate::Unit::Days)) => format!("{amount} DAYS"),
        ClauseValue::Disconnected(true) => "TRUE".to_owned(),
        ClauseValue::Disconnected(false) => "FALSE".to_owned(),
        ClauseValue::Retries(number) => number.to_string(),
        ClauseValue::Size(number) => number.to_string(),
        ClauseValue::Hosts(hosts) => hosts.iter().map(|host| quoted(host)).collect::<Vec<_>>().join(", "),
    };
    format!("{keyword} {rest};")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Prints a rule in a line, or, where that is too long, each term of it in lines of its own.
pub(crate) fn rule_text(rule: &Rule, depth: usize, before: usize) -> String {
    let flat = flat_rule(rule);
    let Rule::Tree { operator, terms, .. } = rule else {
        return flat;
    };
    if depth * INDENT.len() + before + flat.chars().count() + 2 <= WIDTH {
        return flat;
    }
    let inner = INDENT.repeat(depth + 1);
    let terms: Vec<String> = terms.iter().map(|term| format!("{inner}{}", rule_text(term, depth + 1, 0))).collect();
    format!("{} (\n{}\n{})", operator.keyword(), terms.join(",\n"), INDENT.repeat(depth))
}

/// Prints a rule in a line.
pub(crate) fn flat_rule(rule: &Rule) -> String {
    match rule {
        Rule::Term { task, state, .. } => format!("{task} -> {}", state.keyword()),
        Rule::Tree { operator, terms, .. } => {
            format!("{} ({})", operator.keyword(), terms.iter().map(flat_rule).collect::<Vec<_>>().join(", "))
        }
    }
}
