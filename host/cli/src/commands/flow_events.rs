//! `wed flow events`: the feed of a flow, or of all flows.

use wedflow_documents::{FeedEvent, FeedFilter, FeedStart};

use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Seconds that a request of a follower waits for an event.
const FOLLOW_WAIT_S: u64 = 20;

/// Prints a part of the feed behind a cursor.
pub(crate) async fn list(
    flow: Option<&str>,
    after: Option<&str>,
    limit: i64,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let filter = FeedFilter { cursor: after.map(str::to_owned), limit: Some(limit), ..FeedFilter::default() };
    let feed = door.feed(flow, &filter).await?;
    terminal.answer(&feed, || {
        let head = ["at", "flow", "wid", "key", "seq", "event", "transition"];
        terminal.table(&head, feed.items.iter().map(row));
    });
    Ok(())
}

fn row(event: &FeedEvent) -> Vec<String> {
    vec![
        event.at.clone(),
        event.flow.clone(),
        event.wid.to_string(),
        event.key.clone().unwrap_or_default(),
        event.seq.to_string(),
        event.kind.clone(),
        event.transition.clone().unwrap_or_default(),
    ]
}

/// Prints events as they come, until interrupted.
pub(crate) async fn follow(
    flow: Option<&str>,
    after: Option<&str>,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let mut filter = FeedFilter {
        cursor: after.map(str::to_owned),
        from: Some(FeedStart::Now),
        wait: Some(FOLLOW_WAIT_S),
        ..FeedFilter::default()
    };
    loop {
        let feed = door.feed(flow, &filter).await?;
        for event in &feed.items {
            match terminal.is_json() {
                true => terminal.document_line(event),
                false => terminal.line(&row(event).join("  ")),
            }
        }
        filter.cursor = Some(feed.next);
    }
}
