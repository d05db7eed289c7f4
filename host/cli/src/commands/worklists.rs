//! `wed work notify`, `calendar` and `fetch`: arrangements beyond claiming and reporting.

use std::path::Path;

use serde_json::{Value as Json, json};
use wedflow_store::{NotificationChange, PersonName, Store, WorkCalendar};

use crate::arguments::{CalendarArguments, NotifyArguments};
use crate::commands::work::print_rows;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Changes how an instance notifies people.
pub(crate) async fn notify(
    person: PersonName<'_>,
    arguments: &NotifyArguments,
    store: &Store,
) -> Result<Json, Problem> {
    let change = NotificationChange {
        policy: arguments.policy,
        count: arguments.count,
        renotify_seconds: arguments.renotify,
        warnings: arguments.warn.clone(),
        transfer: arguments.transfer,
    };
    let (flow, wid) = (&arguments.flow, arguments.wid);
    Ok(store
        .change_notification(person, flow, wid, &change)
        .await?)
}

/// Makes or changes a calendar, or lists them.
pub(crate) async fn calendar(
    arguments: &CalendarArguments,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let Some(name) = &arguments.name else {
        let calendars = store.work_calendars(tenant).await?;
        let columns = [
            "calendar", "zone", "weekdays", "opens", "closes", "holidays",
        ];
        terminal.answer(&calendars, || print_rows(&columns, &calendars, terminal));
        return Ok(());
    };
    let calendar = WorkCalendar {
        zone: arguments.zone.clone(),
        weekdays: arguments.weekdays.clone(),
        opens: arguments.opens.clone(),
        closes: arguments.closes.clone(),
        holidays: arguments.holidays.clone(),
    };
    store.set_calendar(tenant, name, &calendar).await?;
    terminal.answer(&json!({ "calendar": name }), || {
        terminal.line(&format!("Calendar {name} of {tenant} is set."));
    });
    Ok(())
}

/// Saves a file that is attached to an item.
pub(crate) async fn fetch(
    person: PersonName<'_>,
    item: i64,
    note: i64,
    to: Option<&Path>,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let (name, bytes) = store.work_file(person, item, note).await?;
    // The name is another person's: no folder of it is followed.
    let own = Path::new(&name).file_name().map(Path::new);
    let path = to
        .or(own)
        .ok_or_else(|| Problem::usage("the attachment has no name").hint("Say --to FILE."))?;
    let cannot = |source| {
        Problem::new(format!("{} cannot be written", path.display()))
            .exit(3)
            .because(source)
    };
    if to.is_none() && path.exists() {
        return Err(
            Problem::usage(format!("{} is there already", path.display())).hint("Say --to FILE."),
        );
    }
    std::fs::write(path, &bytes).map_err(cannot)?;
    terminal.answer(&json!({ "file": path, "bytes": bytes.len() }), || {
        terminal.line(&format!(
            "Saved {} ({} bytes).",
            path.display(),
            bytes.len()
        ));
    });
    Ok(())
}
