//! `wed audit`: who did what.

use serde_json::json;
use wedflow_documents::AuditEntry;
use wedflow_store::Store;

use crate::arguments::AuditArguments;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Shows the audit log of a tenant.
pub(crate) async fn run(arguments: &AuditArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let since = arguments.since.as_deref();
    let entries = door.audit(since, Some(arguments.limit)).await?;
    terminal.answer(&entries, || {
        let head = ["at", "who", "did", "to", "with"];
        let row = |one: &AuditEntry| {
            let words = [&one.at, &one.actor, &one.action, &one.target];
            let mut row = words.map(Clone::clone).to_vec();
            row.push(with(&one.detail));
            row
        };
        terminal.table(&head, entries.iter().map(row));
    });
    Ok(())
}

/// Shows the audit log of the installation, or forgets what is old of it.
pub(crate) async fn run_all(arguments: &AuditArguments, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    if let Some(older) = &arguments.forget {
        let forgotten = store.forget_audit(older).await?;
        terminal.answer(&json!({ "forgotten": forgotten }), || {
            terminal.line(&format!("{forgotten} entries are forgotten."));
        });
        return Ok(());
    }
    let since = arguments.since.as_deref();
    let entries = store.audit(None, since, None, arguments.limit).await?;
    let entries: Vec<AuditEntry> = entries.into_iter().map(|entry| entry.row).collect();
    terminal.answer(&entries, || {
        terminal.table(
            &["at", "tenant", "who", "did", "to", "with"],
            entries.iter().map(|entry| {
                vec![
                    entry.at.clone(),
                    entry.tenant.clone().unwrap_or_default(),
                    entry.actor.clone(),
                    entry.action.clone(),
                    entry.target.clone(),
                    with(&entry.detail),
                ]
            }),
        );
    });
    Ok(())
}

/// Words the particulars of an entry.
fn with(detail: &serde_json::Value) -> String {
    match detail.as_object() {
        Some(detail) if detail.is_empty() => String::new(),
        _ => detail.to_string(),
    }
}
