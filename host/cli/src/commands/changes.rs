//! Changes that a definition makes, and live instances that it touches, as the commands print them.

use serde_json::json;
use wedflow_documents::{Applied, Rematched};
use wedflow_model::FlowDefinition;

use crate::answer::counted;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Returns true if a definition changes something.
fn has_changes(applied: &Applied) -> bool {
    let done = [
        &applied.attributes_added,
        &applied.attributes_changed,
        &applied.settings_changed,
        &applied.triggers_added,
        &applied.triggers_changed,
        &applied.triggers_removed,
        &applied.transitions_bound,
        &applied.transitions_unbound,
    ];
    done.iter().any(|names| !names.is_empty())
}

/// Shows the changes of a flow that there is, and asks; returns true if they are not meant.
pub(crate) async fn asked(door: &Door, definition: &FlowDefinition, terminal: &Terminal) -> Result<bool, Problem> {
    let preview = door.preview(definition).await?;
    let would = &preview.would_apply;
    if would.created || !has_changes(would) {
        return Ok(false);
    }
    print_preview(would, &preview.instances, terminal);
    let question = format!("Change flow {}?", definition.name);
    Ok(!terminal.confirmed(&question)?)
}

/// Says what applying a definition did.
pub(crate) fn say_applied(name: &str, applied: &Applied, terminal: &Terminal) {
    let made = match has_changes(applied) {
        _ if applied.created => "made",
        true => "changed",
        false => "up to date",
    };
    terminal.line(&format!("Flow {name} is {made}."));
    print_changes(applied, terminal);
    for warning in &applied.warnings {
        terminal.say(&format!("warning: {warning}"));
    }
}

/// Prints what a definition changes, and what it leaves as it is, a line for each kind.
fn print_changes(applied: &Applied, terminal: &Terminal) {
    for (what, names) in [
        ("attributes added", &applied.attributes_added),
        ("attributes changed", &applied.attributes_changed),
        ("settings changed", &applied.settings_changed),
        ("triggers added", &applied.triggers_added),
        ("triggers changed", &applied.triggers_changed),
        ("triggers removed", &applied.triggers_removed),
        ("transitions left to components", &applied.transitions_bound),
        ("transitions left to external workers", &applied.transitions_unbound),
        ("triggers disabled, left as they are", &applied.triggers_disabled),
        ("attributes not in the file, left as they are", &applied.attributes_kept),
    ] {
        if !names.is_empty() {
            terminal.line(&format!("  {what}: {}", names.join(", ")));
        }
    }
}

/// Prints what applying a definition would do, and which live instances would fire what.
pub(crate) async fn preview(door: &Door, definition: &FlowDefinition, terminal: &Terminal) -> Result<(), Problem> {
    let preview = door.preview(definition).await?;
    let mut document = json!(preview);
    document["flow"] = definition.name.as_str().into();
    document["dry_run"] = true.into();
    terminal.answer(&document, || {
        print_preview(&preview.would_apply, &preview.instances, terminal);
    });
    Ok(())
}

/// Prints the changes that a definition would make, and the live instances that would fire something.
pub(crate) fn print_preview(applied: &Applied, rows: &[Rematched], terminal: &Terminal) {
    terminal.line(match has_changes(applied) {
        true => "Nothing was changed. This would be:",
        false if applied.created => "Nothing was changed. The flow would be made, and be empty.",
        false => "Nothing was changed, and nothing would be: the flow is so already.",
    });
    print_changes(applied, terminal);
    if !applied.components_missing.is_empty() {
        terminal.line(&format!("  components not uploaded: {}", applied.components_missing.join(", ")));
    }
    terminal.line(&format!(
        "A re-match would then touch {}{}",
        counted(rows.len(), "live instance"),
        if rows.is_empty() { "." } else { ":" }
    ));
    if !rows.is_empty() {
        print_touched("would fire", rows, terminal);
    }
}

/// Prints the instances that a re-match touches.
pub(crate) fn print_touched(fires: &str, rows: &[Rematched], terminal: &Terminal) {
    terminal.table(
        &["wid", fires, "status"],
        rows.iter().map(|one| vec![one.wid.to_string(), one.fires.join(", "), one.becomes.to_string()]),
    );
}
