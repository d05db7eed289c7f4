//! `wed work notify`, `calendar` and `fetch`: arrangements beyond claiming and reporting.

use std::path::Path;

use serde_json::{Value as Json, json};
use wedflow_documents::{Calendar, Notification};

use crate::answer::shown;
use crate::arguments::{CalendarArguments, NotifyArguments};
use crate::commands::work::print_rows;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Changes how an instance notifies people.
pub(crate) async fn notify(arguments: &NotifyArguments, door: &Door) -> Result<Json, Problem> {
    let change = Notification {
        policy: arguments.policy,
        count: arguments.count,
        renotify_seconds: arguments.renotify,
        warnings: arguments.warn.clone(),
        transfer: arguments.transfer,
    };
    let flow = &arguments.flow;
    let wid = door.wid(flow, &arguments.wid).await?;
    Ok(door.change_notification(flow, wid, &change).await?)
}

/// Makes or changes a calendar, or lists them.
pub(crate) async fn calendar(arguments: &CalendarArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let Some(name) = &arguments.name else {
        let calendars = door.calendars().await?;
        let columns = ["calendar", "zone", "weekdays", "opens", "closes", "holidays"];
        terminal.answer(&calendars, || print_rows(&columns, &calendars, terminal));
        return Ok(());
    };
    let calendar = Calendar {
        zone: Some(arguments.zone.clone()),
        weekdays: Some(arguments.weekdays.clone()),
        opens: Some(arguments.opens.clone()),
        closes: Some(arguments.closes.clone()),
        holidays: arguments.holidays.clone(),
    };
    let set = door.set_calendar(name, &calendar).await?;
    terminal.answer(&set, || {
        terminal.line(&format!("Calendar {name} of {} is set.", door.tenant));
    });
    Ok(())
}

/// Returns the name of an attached file, as the history has it.
async fn name_of(item: i64, note: i64, door: &Door) -> Result<String, Problem> {
    let entries = door.work_history(item).await?;
    let found = entries.iter().find(|one| one["detail"]["note"].as_i64() == Some(note));
    Ok(found.map_or_else(String::new, |one| shown(&one["detail"]["file"])))
}

/// Saves a file that is attached to an item.
pub(crate) async fn fetch(
    item: i64,
    note: i64,
    to: Option<&Path>,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let bytes = door.attachment(item, note).await?;
    let name = match to {
        Some(_) => String::new(),
        None => name_of(item, note, door).await?,
    };
    // The name is another person's: no folder of it is followed.
    let own = Path::new(&name).file_name().map(Path::new);
    let path = to.or(own).ok_or_else(|| Problem::usage("the attachment has no name").hint("Say --to FILE."))?;
    let cannot = |source| Problem::new(format!("{} cannot be written", path.display())).exit(3).because(source);
    if to.is_none() && path.exists() {
        return Err(Problem::usage(format!("{} is there already", path.display())).hint("Say --to FILE."));
    }
    std::fs::write(path, &bytes).map_err(cannot)?;
    terminal.answer(&json!({ "file": path, "bytes": bytes.len() }), || {
        terminal.line(&format!("Saved {} ({} bytes).", path.display(), bytes.len()));
    });
    Ok(())
}
