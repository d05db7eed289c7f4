//! Prints a flow definition as statements of WSQL, or as the papers' script.

use std::collections::BTreeMap;

use wedflow_model::{AttributeDefinition, FlowDefinition, Numbering, TransitionDefinition, TriggerDefinition};

use super::lexer::{TokenKind, lex};
use super::script::TRIGGER_COLUMNS;

/// Prints a definition as statements that make the same definition.
pub fn write(flow: &FlowDefinition) -> String {
    let mut out = format!("CREATE WED-FLOW {}", name(&flow.name));
    if !flow.description.is_empty() {
        out += &format!("\n  DESCRIPTION {}", text(&flow.description));
    }
    if let Some(order) = &flow.order {
        out += &format!("\n  ORDER BY {}", name(order));
    }
    if let Some(start) = &flow.start {
        out += &format!("\n  START ({})", joined(start, name));
    }
    out += ";\n\n";
    for attribute in &flow.attributes {
        out += &attribute_statement(attribute);
    }
    out += "\n";
    let mut conditions: BTreeMap<&str, &str> = BTreeMap::new();
    for trigger in &flow.triggers {
        if let Some(condition) = trigger.condition.as_deref()
            && !conditions.contains_key(condition)
        {
            conditions.insert(condition, &trigger.when);
            let when = fragment(&trigger.when);
            out += &format!("CREATE WED-CONDITION {} AS {when};\n", name(condition));
        }
    }
    if let Some(when) = &flow.final_condition {
        out += &format!("CREATE FINAL WED-CONDITION AS {};\n", fragment(when));
    }
    out += "\n";
    let mut fired: Vec<&str> = flow.transitions.keys().map(String::as_str).collect();
    for trigger in &flow.triggers {
        if !trigger.transition.is_empty() && !fired.contains(&trigger.transition.as_str()) {
            fired.push(&trigger.transition);
        }
    }
    for transition in fired {
        out += &format!("CREATE WED-TRANSITION {}", name(transition));
        if let Some(binding) = flow.transitions.get(transition) {
            if let Some(component) = &binding.component {
                out += &format!(" COMPONENT {}", name(component));
            }
            out += &starting(binding);
            out += if binding.files { " FILES" } else { "" };
            if !binding.http.is_empty() {
                out += &format!(" HTTP ({})", joined(&binding.http, text));
            }
        }
        out += ";\n";
    }
    for trigger in &flow.triggers {
        out += &trigger_statement(trigger, &conditions);
    }
    for schedule in flow.schedules.iter().flatten() {
        out += &format!("\n-- Schedule {} is no part of WSQL, and stays as it is.\n", schedule.name);
    }
    out.trim_end().to_owned() + "\n"
}

/// Prints the flow that a transition starts, with what goes in and comes back.
fn starting(binding: &TransitionDefinition) -> String {
    let Some(starts) = &binding.starts else {
        return String::new();
    };
    let mut out = format!(" STARTS {}", name(starts));
    for (keyword, pairs) in [("INPUTS", &binding.inputs), ("OUTPUTS", &binding.outputs)] {
        let pairs: Vec<String> =
            (pairs.iter()).map(|(gets, from)| format!("{} = {}", name(gets), name(from))).collect();
        if !pairs.is_empty() {
            out += &format!("\n  {keyword} ({})", pairs.join(", "));
        }
    }
    if !binding.shares.is_empty() {
        out += &format!("\n  SHARES ({})", joined(&binding.shares, name));
    }
    if let Some(state) = &binding.state {
        out += &format!("\n  STATE {}", name(state));
    }
    out
}

fn attribute_statement(attribute: &AttributeDefinition) -> String {
    let kind = attribute.kind.to_string();
    let is_plain = lex(&kind)
        .iter()
        .all(|token| matches!(token.kind, TokenKind::Word | TokenKind::Sign('(' | ')' | ',' | '[' | ']')));
    let kind = if is_plain && !kind.contains("--") { kind } else { text(&kind) };
    let mut out = format!("CREATE WED-ATTRIBUTE {} {kind}", name(&attribute.name));
    if let Some(default) = &attribute.default {
        out += &format!(" DEFAULT {}", text(default));
    }
    out += if attribute.open { " OPEN" } else { "" };
    out += match attribute.number {
        None => "",
        Some(Numbering::Gapless) => " NUMBERED GAPLESS",
        Some(Numbering::Gaps) => " NUMBERED GAPS",
    };
    out + ";\n"
}

fn trigger_statement(trigger: &TriggerDefinition, conditions: &BTreeMap<&str, &str>) -> String {
    let mut out = format!("\nCREATE WED-TRIGGER {}", name(&trigger.name));
    let condition = trigger.condition.as_deref();
    if let Some(condition) = condition {
        out += &format!("\n  ON {}", name(condition));
    }
    if condition.and_then(|one| conditions.get(one)) != Some(&trigger.when.as_str()) {
        out += &format!("\n  WHEN {}", fragment(&trigger.when));
    }
    if !trigger.transition.is_empty() {
        out += &format!("\n  FIRE {}", name(&trigger.transition));
    }
    let mut option = |keyword: &str, value: Option<String>| {
        if let Some(value) = value {
            out += &format!("\n  {keyword} {value}");
        }
    };
    let quoted = |value: &Option<String>| value.as_deref().map(text);
    let named = |value: &Option<String>| value.as_deref().map(name);
    let expression = |value: &Option<String>| value.as_deref().map(fragment);
    option("TIMEOUT", quoted(&trigger.timeout));
    option("ATTEMPTS", trigger.attempts.map(|number| number.to_string()));
    option("BACKOFF", quoted(&trigger.backoff));
    option("DELAY", quoted(&trigger.delay));
    option("WAITS_FOR", named(&trigger.waits_for));
    option("OR_AFTER", quoted(&trigger.or_after));
    option("PRIORITY", trigger.priority.map(|number| number.to_string()));
    option("RECHECK", trigger.recheck.map(|truth| truth.to_string().to_uppercase()));
    option("WRITES", trigger.writes.as_ref().map(|names| format!("({})", joined(names, name))));
    option("COMPENSATION", named(&trigger.compensation));
    option("DEADLINE", quoted(&trigger.deadline));
    option("RESERVES", expression(&trigger.reserves));
    option("QUANTITY", expression(&trigger.quantity));
    option("RESOURCE", named(&trigger.resource));
    option("HOLDS", named(&trigger.holds));
    option("AFTER", expression(&trigger.after));
    let work = trigger.work.as_ref().and_then(|work| serde_json::to_string(work).ok());
    option("WORK", work.as_deref().map(text));
    out += if trigger.consumes { "\n  CONSUMES" } else { "" };
    out += match trigger.enabled {
        None => "",
        Some(true) => "\n  ENABLED",
        Some(false) => "\n  DISABLED",
    };
    out + ";\n"
}

/// Prints a definition as the papers' script, for the session of its flow.
///
/// # Errors
/// The parts of the definition that the tables of the papers have no column for.
pub fn write_script(flow: &FlowDefinition) -> Result<String, Vec<String>> {
    let lost = beyond_script(flow);
    if !lost.is_empty() {
        return Err(lost);
    }
    let mut out = String::from("BEGIN;\n");
    for attribute in &flow.attributes {
        let kind = attribute.kind.to_string();
        let default = attribute.default.as_deref().map_or("NULL".to_owned(), text);
        out += &format!(
            "INSERT INTO wed_attr (aname, adv, atype, open) VALUES ({}, {default}, {}, {});\n",
            text(&attribute.name),
            text(&kind),
            attribute.open
        );
    }
    for trigger in &flow.triggers {
        out += &script_row(trigger);
    }
    if let Some(when) = &flow.final_condition {
        out += &format!("INSERT INTO wed_trig (cpred, cfinal) VALUES ({}, true);\n", text(when));
    }
    Ok(out + "COMMIT;\n")
}

fn beyond_script(flow: &FlowDefinition) -> Vec<String> {
    let mut lost = Vec::new();
    if !flow.description.is_empty() {
        lost.push("description".to_owned());
    }
    lost.extend(flow.order.as_ref().map(|order| format!("order by {order}")));
    lost.extend(flow.start.as_ref().map(|_| "what a start may set".to_owned()));
    let schedules = flow.schedules.iter().flatten();
    lost.extend(schedules.map(|one| format!("schedule {}", one.name)));
    let numbered = flow.attributes.iter().filter(|one| one.number.is_some());
    lost.extend(numbered.map(|one| format!("number of {}", one.name)));
    for trigger in &flow.triggers {
        for (is_there, what) in [
            (trigger.compensation.is_some(), "compensation"),
            (trigger.deadline.is_some(), "deadline"),
            (trigger.work.is_some(), "work"),
        ] {
            lost.extend(is_there.then(|| format!("{what} of {}", trigger.name)));
        }
    }
    lost.extend(flow.transitions.keys().map(|name| format!("component of {name}")));
    lost
}

fn script_row(trigger: &TriggerDefinition) -> String {
    let quoted = |value: &Option<String>| value.as_deref().map(text);
    let transition = Some(&trigger.transition).filter(|transition| !transition.is_empty());
    let values: [Option<String>; 20] = [
        Some(text(&trigger.name)),
        trigger.enabled.map(|truth| truth.to_string()),
        transition.map(|transition| text(transition)),
        quoted(&trigger.condition),
        Some(text(&trigger.when)),
        None,
        quoted(&trigger.timeout),
        trigger.attempts.map(|number| number.to_string()),
        quoted(&trigger.backoff),
        quoted(&trigger.delay),
        trigger.priority.map(|number| number.to_string()),
        trigger.recheck.map(|truth| truth.to_string()),
        trigger.writes.as_ref().map(|names| match names.is_empty() {
            true => "'{}'".to_owned(),
            false => format!("ARRAY[{}]", joined(names, text)),
        }),
        quoted(&trigger.reserves),
        quoted(&trigger.quantity),
        quoted(&trigger.resource),
        quoted(&trigger.holds),
        quoted(&trigger.after),
        quoted(&trigger.waits_for),
        quoted(&trigger.or_after),
    ];
    let mut columns = Vec::new();
    let mut given = Vec::new();
    for (column, value) in TRIGGER_COLUMNS.iter().zip(values) {
        if let Some(value) = value {
            columns.push(*column);
            given.push(value);
        }
    }
    if trigger.consumes {
        columns.push("consumes");
        given.push("true".to_owned());
    }
    let (columns, given) = (columns.join(", "), given.join(", "));
    format!("INSERT INTO wed_trig ({columns}) VALUES\n  ({given});\n")
}

fn joined(items: &[String], one: impl Fn(&str) -> String) -> String {
    items.iter().map(|item| one(item)).collect::<Vec<_>>().join(", ")
}

/// Writes a string.
fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Writes a name, in quotes unless it is read as it is without.
pub(super) fn name(name: &str) -> String {
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let is_plain = name.split('-').all(|part| {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        !part.is_empty() && part.chars().all(is_part)
    });
    match begins && is_plain {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Writes a fragment of SQL in parentheses, or as a string where it would not be read so.
fn fragment(sql: &str) -> String {
    let tokens = lex(sql);
    let mut depth = 0;
    let is_balanced = tokens.iter().all(|token| {
        match token.kind {
            TokenKind::Sign('(') => depth += 1,
            TokenKind::Sign(')') => depth -= 1,
            TokenKind::Sign(';') | TokenKind::Open => return false,
            _ => {}
        }
        depth >= 0
    });
    let is_plain = sql.trim() == sql && !sql.is_empty() && !sql.contains(['\\', '$', '\u{feff}']);
    let has_comment = sql.contains("--") || sql.contains("/*");
    match is_balanced && depth == 0 && is_plain && !has_comment {
        true => format!("({sql})"),
        false => text(sql),
    }
}
