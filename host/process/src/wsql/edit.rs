//! Changes of the triggers of a source of statements, as a picture makes them.

use std::ops::Range;

use wedflow_model::TriggerDefinition;

use super::parser::parse;
use super::syntax::{NewTrigger, Statement, StatementKind};
use super::write::name;
use crate::edit::Change;
use crate::splice::{Splices, behind_semicolon, in_lines, moved, whole_lines};

/// Changes a trigger, or adds one. Conditions say when a trigger fires, so another place in the order changes the order
/// of the statements alone; a new trigger waits for what the one before it writes.
///
/// # Errors
/// Says why there can be no such change.
pub fn change(source: &str, trigger: &str, change: &Change) -> Result<String, String> {
    let parsed = parse(source);
    if !parsed.diagnostics.is_empty() {
        return Err("the text has errors: mend them first".to_owned());
    }
    let editor = Editor { source, statements: &parsed.statements };
    match change {
        Change::Rename(to) => editor.rename(trigger, to),
        Change::Delete => editor.delete(trigger),
        Change::Place(after) => editor.place(trigger, after.as_deref()),
        Change::Add(after) => editor.add(trigger, after.as_deref()),
    }
}

struct Editor<'s> {
    source: &'s str,
    statements: &'s [Statement],
}

impl<'s> Editor<'s> {
    /// The triggers with the spans of their statements.
    fn triggers(&self) -> impl Iterator<Item = (&'s NewTrigger, Range<usize>)> {
        self.statements.iter().filter_map(|one| match &one.kind {
            StatementKind::CreateTrigger(new) => Some((&**new, self.lines(one))),
            _ => None,
        })
    }

    fn trigger(&self, name: &str) -> Result<(&'s NewTrigger, Range<usize>), String> {
        let found = self.triggers().find(|(new, _)| new.definition.name == name);
        let (new, lines) = found.ok_or_else(|| format!("there is no trigger {name}"))?;
        match self.source[lines.clone()].to_uppercase().contains("INSERT INTO") {
            true => Err("triggers of INSERT statements are changed in the text".to_owned()),
            false => Ok((new, lines)),
        }
    }

    /// A statement's lines with its semicolon and the comments above it.
    fn lines(&self, statement: &Statement) -> Range<usize> {
        let end = behind_semicolon(self.source, statement.span.end);
        whole_lines(self.source, statement.span.start..end, "--")
    }

    fn must_be_free(&self, to: &str) -> Result<(), String> {
        if to.is_empty() || to.chars().count() > 60 || to.contains(char::is_control) {
            return Err("a name has 1 to 60 characters".to_owned());
        }
        match self.triggers().any(|(new, _)| new.definition.name == to) {
            true => Err(format!("there is a trigger {to} already")),
            false => Ok(()),
        }
    }

    fn rename(&self, trigger: &str, to: &str) -> Result<String, String> {
        let (new, _) = self.trigger(trigger)?;
        self.must_be_free(to)?;
        let mut splices = Splices::default();
        splices.replace(new.name.span.clone(), name(to));
        for one in self.statements {
            if let StatementKind::Enable(named, _) = &one.kind
                && named.text == trigger
            {
                splices.replace(named.span.clone(), name(to));
            }
        }
        Ok(splices.apply(self.source))
    }

    fn delete(&self, trigger: &str) -> Result<String, String> {
        let (_, lines) = self.trigger(trigger)?;
        let mut splices = Splices::default();
        splices.replace(lines, "");
        for one in self.statements {
            if matches!(&one.kind, StatementKind::Enable(named, _) if named.text == trigger) {
                splices.replace(self.lines(one), "");
            }
        }
        Ok(splices.apply(self.source))
    }

    fn place(&self, trigger: &str, after: Option<&str>) -> Result<String, String> {
        let (_, lines) = self.trigger(trigger)?;
        if after == Some(trigger) {
            return Err("a trigger does not come behind itself".to_owned());
        }
        let behind = match after {
            Some(after) => self.trigger(after)?.1.end,
            None => self.triggers().next().map_or(0, |(_, lines)| lines.start),
        };
        Ok(match behind == lines.start {
            true => self.source.to_owned(),
            false => moved(self.source, lines, behind),
        })
    }

    fn add(&self, trigger: &str, after: Option<&str>) -> Result<String, String> {
        self.must_be_free(trigger)?;
        let after = after.map(|after| self.trigger(after)).transpose()?;
        let written = after.as_ref().and_then(|(new, _)| first_written(&new.definition));
        let own = name(trigger);
        let mut text = String::new();
        let is_there = |one: &Statement| match &one.kind {
            StatementKind::CreateAttribute(named, _) => named.text == trigger,
            _ => false,
        };
        if !self.statements.iter().any(is_there) {
            text += &format!("CREATE WED-ATTRIBUTE {own} text;\n");
        }
        let waits = written.map_or_else(String::new, |one| format!("{} IS NOT NULL AND ", quoted(one)));
        text += &format!(
            "CREATE WED-TRIGGER {own}\n  WHEN ({waits}{} IS NULL)\n  FIRE {own}\n  WRITES ({own});",
            quoted(trigger)
        );
        let at = after.map_or(self.source.len(), |(_, lines)| lines.end);
        let mut splices = Splices::default();
        splices.replace(at..at, in_lines(self.source, at, &text));
        Ok(splices.apply(self.source))
    }
}

fn first_written(trigger: &TriggerDefinition) -> Option<&str> {
    trigger.writes.iter().flatten().next().map(String::as_str)
}

/// Writes an attribute's name for a condition, which has no hyphens in names.
fn quoted(attribute: &str) -> String {
    match attribute.contains('-') {
        true => format!("\"{attribute}\""),
        false => name(attribute),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "CREATE WED-FLOW f;\nCREATE WED-ATTRIBUTE a text;\n-- first\n\
        CREATE WED-TRIGGER one\n  WHEN (a IS NULL)\n  FIRE t WRITES (a); -- end\n\
        DISABLE WED-TRIGGER one;\nCREATE WED-TRIGGER two WHEN (a = 'x') FIRE u;\n";

    fn changed(trigger: &str, how: &Change) -> String {
        let text = change(SOURCE, trigger, how).expect("it can be");
        assert_eq!(parse(&text).diagnostics, [], "{text}");
        text
    }

    #[test]
    fn statements_are_changed_where_they_have_to_be() {
        let renamed = changed("one", &Change::Rename("It's <b>".to_owned()));
        assert_eq!(renamed, SOURCE.replace("TRIGGER one", "TRIGGER \"It's <b>\""));
        let deleted = changed("one", &Change::Delete);
        assert!(!deleted.contains("one") && !deleted.contains("first"), "{deleted}");
        let placed = changed("two", &Change::Place(None));
        assert!(placed.find("two") < placed.find("-- first"), "{placed}");
        let added = changed("three", &Change::Add(Some("one".to_owned())));
        assert!(added.contains("-- end\nCREATE WED-ATTRIBUTE three text;\nCREATE WED-TRIGGER three"), "{added}");
        assert!(added.contains("WHEN (a IS NOT NULL AND three IS NULL)"), "{added}");
        assert!(change(SOURCE, "three", &Change::Delete).is_err());
    }
}
