//! Changes that a definition makes, and live instances that it touches, as the commands print them.

use serde_json::{Value as Json, json};
use wedflow_store::{Applied, Rematched, Store};

use crate::answer::counted;
use crate::commands::instance::status_word;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Says what applying a definition did.
pub(crate) fn say_applied(name: &str, applied: &Applied, terminal: &Terminal) {
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
    let made = match done.iter().any(|names| !names.is_empty()) {
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
        (
            "transitions left to external workers",
            &applied.transitions_unbound,
        ),
        (
            "triggers disabled, left as they are",
            &applied.triggers_disabled,
        ),
        (
            "attributes not in the file, left as they are",
            &applied.attributes_kept,
        ),
    ] {
        if !names.is_empty() {
            terminal.line(&format!("  {what}: {}", names.join(", ")));
        }
    }
}

/// Instances that a re-match touches, as a document.
pub(crate) fn instances_of(rows: &[Rematched]) -> Vec<Json> {
    rows.iter()
        .map(|one| json!({ "wid": one.wid, "fires": one.fires, "becomes": status_word(&one.becomes) }))
        .collect()
}

/// Prints what applying a definition would do, and which live instances would fire what.
pub(crate) async fn preview(
    store: &Store,
    tenant: &str,
    definition: &wedflow_model::FlowDefinition,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let (applied, rows) = wedflow_worker::definition::preview(store, tenant, definition).await?;
    terminal.answer(
        &json!({ "flow": definition.name, "dry_run": true, "would_apply": applied, "matching": rows.len(),
            "instances": instances_of(&rows) }),
        || print_preview(&applied, &rows, terminal),
    );
    Ok(())
}

/// Prints the changes that a definition would make, and the live instances that would fire something.
pub(crate) fn print_preview(applied: &Applied, rows: &[Rematched], terminal: &Terminal) {
    terminal.line("Nothing was changed. This would be:");
    print_changes(applied, terminal);
    if !applied.components_missing.is_empty() {
        terminal.line(&format!(
            "  components not uploaded: {}",
            applied.components_missing.join(", ")
        ));
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
        rows.iter().map(|one| {
            vec![
                one.wid.to_string(),
                one.fires.join(", "),
                status_word(&one.becomes).to_owned(),
            ]
        }),
    );
}
