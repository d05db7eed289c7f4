//! `wed audit`: who did what.

use serde_json::json;
use wedflow_store::Store;

use crate::arguments::AuditArguments;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    arguments: &AuditArguments,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    if let Some(older) = &arguments.forget {
        let forgotten = store.forget_audit(older).await?;
        terminal.answer(&json!({ "forgotten": forgotten }), || {
            terminal.line(&format!("{forgotten} entries are forgotten."));
        });
        return Ok(());
    }
    let whose = if arguments.all {
        None
    } else {
        // One that is missing did nothing, which must not look like an empty log.
        store.tenant_number(tenant).await?;
        Some(tenant)
    };
    let entries = store
        .audit(whose, arguments.since.as_deref(), None, arguments.limit)
        .await?;
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
                    match entry.detail.as_object() {
                        Some(detail) if detail.is_empty() => String::new(),
                        _ => entry.detail.to_string(),
                    },
                ]
            }),
        );
    });
    Ok(())
}
