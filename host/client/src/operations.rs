//! Acts of operators: retry, cancel, skip, set, go back, pause, resume.

use wedflow_documents::{
    Batch, Batched, GoBack, GoingBack, Operated, Pause, Paused, PausedThing, Reason, Retried, RetriedMatching,
    RetryMatching, SetState, Skip,
};
use wedflow_model::Wid;

use crate::verbs::{verb, verbs};

verbs! {
    /// Retries an instance: an exception fires what its state satisfies, waiting jobs are due now.
    retry(flow: &str, wid: Wid, reason: &Reason)
        = POST "flows" / flow / "instances" / wid / "retry", body reason => call Retried;
    /// Retries a flow's exceptions that match, or counts and lists them.
    retry_matching(flow: &str, matching: &RetryMatching)
        = POST "flows" / flow / "retry", body matching => call RetriedMatching;
    /// Acts on a flow's instances that match, at most 1,000, or counts and lists them.
    batch(flow: &str, batch: &Batch) = POST "flows" / flow / "instances" / "batch", body batch => call Batched;
    /// Ends an instance: its pending jobs are dropped, it is final.
    cancel(flow: &str, wid: Wid, reason: &Reason)
        = POST "flows" / flow / "instances" / wid / "cancel", body reason => call Operated;
    /// Drops a pending job of an instance without running it.
    skip(flow: &str, wid: Wid, skip: &Skip)
        = POST "flows" / flow / "instances" / wid / "skip", body skip => call Operated;
    /// Sets attributes of an exception by hand.
    set_state(flow: &str, wid: Wid, state: &SetState)
        = POST "flows" / flow / "instances" / wid / "state", body state => call Operated;
    /// Sends an exception back to an earlier state.
    go_back(flow: &str, wid: Wid, to: &GoBack)
        = POST "flows" / flow / "instances" / wid / "back", body to => call GoingBack;
    /// Pauses or resumes an instance.
    pause_instance(flow: &str, wid: Wid, pause: bool, reason: &Reason)
        = POST "flows" / flow / "instances" / wid / (verb(pause)), body reason => call Paused;
    /// Pauses or resumes a flow, or one of its triggers.
    pause_flow(flow: &str, pause: bool, scope: &Pause)
        = POST "flows" / flow / (verb(pause)), body scope => call Paused;
    /// Pauses or resumes the tenant.
    pause_tenant(pause: bool, reason: &Reason) = POST (verb(pause)), body reason => call Paused;
    /// Lists what is paused in the tenant.
    pauses() = GET "pauses" => items PausedThing;
}
