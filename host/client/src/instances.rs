//! Instances: started, found, watched.

use serde_json::{Map, Value};
use wedflow_documents::{
    Attempt, AttemptFilter, AttemptName, Conditions, Event as NewEvent, Instance, InstanceFilter, Job, JobFilter, List,
    Overview, OverviewFilter, Page, Recording, Sent, Start, Started, TraceFilter, TraceRow, Waiting,
};
use wedflow_model::Wid;

use crate::client::Client;
use crate::error::ClientError;
use crate::events::Events;
use crate::request::Request;
use crate::verbs::verbs;

verbs! {
    /// Starts an instance, once for an idempotency key; a random one when absent.
    start(flow: &str, start: &Start, once: Option<&str>)
        = POST "flows" / flow / "instances", body start, once once => call Started;
    /// Returns an instance.
    instance(flow: &str, wid: Wid) = GET "flows" / flow / "instances" / wid => call Instance;
    /// Returns the instance that has a business key: the one that runs under it, else the last one that did.
    instance_with_key(flow: &str, key: &str)
        = GET "flows" / flow / "instances" / (format!("key:{key}")) => call Instance;
    /// Returns the last attempts at a transition, newest first.
    last_attempts(flow: &str, transition: &str, limit: i64)
        = GET "flows" / flow / "attempts",
            query &AttemptFilter { transition: Some(transition.to_owned()), limit: Some(limit) } => items AttemptName;
    /// Returns the first part of an instance's overview.
    overview_part(flow: &str, wid: Wid, which: &OverviewFilter)
        = GET "flows" / flow / "instances" / wid / "overview", query which => call Overview;
    /// Returns the attempts behind a cursor.
    attempts_part(flow: &str, wid: Wid, page: &Page)
        = GET "flows" / flow / "instances" / wid / "attempts", query page => call List<Attempt>;
    /// Returns the conditions of a flow over an instance's present state.
    conditions(flow: &str, wid: Wid) = GET "flows" / flow / "instances" / wid / "conditions" => call Conditions;
    /// Returns the reasons why an instance's pending jobs are not being run.
    waiting(flow: &str, wid: Wid) = GET "flows" / flow / "instances" / wid / "waiting" => items Waiting;
    /// Sends an event to a running instance, once for a key; a random one when absent.
    send_event(flow: &str, wid: Wid, state: &Map<String, Value>, key: Option<&str>)
        = POST "flows" / flow / "instances" / wid / "event",
            body &NewEvent { state: state.clone() }, once key => call Sent;
}

impl Client {
    /// Lists instances of a flow, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn instances(
        &self,
        flow: &str,
        filter: &InstanceFilter,
        limit: Option<i64>,
    ) -> Result<Vec<Instance>, ClientError> {
        self.list(&["flows", flow, "instances"], filter, limit).await
    }

    /// Returns an instance with what runs, waits and failed, all of one moment; with `rows`, that many of the newest
    /// rows of its trace and why its triggers fired or did not.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn overview(&self, flow: &str, wid: Wid, rows: Option<i64>) -> Result<Overview, ClientError> {
        let mut overview = self.overview_part(flow, wid, &OverviewFilter { rows }).await?;
        // Attempts only grow: what did not fit is behind the cursor.
        let mut next = overview.attempts.next.take();
        while let Some(cursor) = next {
            let page = Page { cursor: Some(cursor), limit: None };
            let part = self.attempts_part(flow, wid, &page).await?;
            overview.attempts.items.extend(part.items);
            next = part.next;
        }
        // So do rows of the trace; those of later states are for the next overview.
        if let (Some(trace), Some(why)) = (&mut overview.trace, &overview.why)
            && trace.next.take().is_some()
        {
            let last = trace.items.last().map(|row| row.seq);
            let rest = self.trace(flow, wid, last, None).await?;
            let newest = why.seq.unwrap_or(i32::MAX);
            (trace.items).extend(rest.into_iter().filter(|row| row.seq <= newest));
        }
        Ok(overview)
    }

    /// Returns the history of an instance, oldest first: all rows, or at most `limit` of those after `after`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn trace(
        &self,
        flow: &str,
        wid: Wid,
        after: Option<i32>,
        limit: Option<i64>,
    ) -> Result<Vec<TraceRow>, ClientError> {
        let filter = TraceFilter { after, cursor: None, limit: None };
        let wid = wid.to_string();
        self.list(&["flows", flow, "instances", &wid, "trace"], &filter, limit).await
    }

    /// Returns the attempts at an instance's transitions, oldest first, with what they logged.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn attempts(&self, flow: &str, wid: Wid) -> Result<Vec<Attempt>, ClientError> {
        let wid = wid.to_string();
        let parts = ["flows", flow, "instances", &wid, "attempts"];
        self.list(&parts, &Page::default(), None).await
    }

    /// Returns an attempt with what it takes to run it again.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn recording(
        &self,
        flow: &str,
        wid: Wid,
        (seq, number): (Option<i32>, Option<i64>),
    ) -> Result<Recording, ClientError> {
        let wid = wid.to_string();
        let name = match (seq, number) {
            (Some(seq), _) => seq.to_string(),
            (None, number) => format!("a{}", number.unwrap_or_default()),
        };
        self.call(Request::get(&["flows", flow, "instances", &wid, "attempts", &name])).await
    }

    /// Lists the pending jobs of a flow, or of one instance, at most `limit`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn jobs(&self, flow: &str, wid: Option<Wid>, limit: Option<i64>) -> Result<Vec<Job>, ClientError> {
        let filter = JobFilter { wid, ..JobFilter::default() };
        self.list(&["flows", flow, "jobs"], &filter, limit).await
    }

    /// Watches the history of an instance from the row after `after` on: an event for each row, until it is final.
    pub fn watch(&self, flow: &str, wid: Wid, after: i32) -> Events {
        let last = (after > 0).then(|| after.to_string());
        let wid = wid.to_string();
        let request = Request::get(&["flows", flow, "instances", &wid, "events"]);
        self.events(request, last.as_deref())
    }
}
