//! Jobs of workers: claimed, extended, completed, failed.

use wedflow_documents::{
    ClaimJobs, CompleteJob, CompletedJob, ExtendLease, ExtendedLease, FailJob, FailedJob, LeasedJob,
};
use wedflow_model::Wid;

use crate::verbs::verbs;

verbs! {
    /// Claims jobs for a worker; waits for one as long as the claim says.
    claim_jobs(flow: &str, claim: &ClaimJobs) = POST "flows" / flow / "jobs" / "claim", body claim => items LeasedJob;
    /// Prolongs a lease, and keeps the worker's progress.
    extend_lease(flow: &str, (wid, trigger): (Wid, &str), extend: &ExtendLease)
        = POST "flows" / flow / "instances" / wid / "jobs" / trigger / "extend", body extend => call ExtendedLease;
    /// Commits the result of a job, once for its lease.
    complete_job(flow: &str, (wid, trigger): (Wid, &str), complete: &CompleteJob)
        = POST "flows" / flow / "instances" / wid / "jobs" / trigger / "complete",
            body complete, once None => call CompletedJob;
    /// Records an attempt that changed nothing, once for its lease.
    fail_job(flow: &str, (wid, trigger): (Wid, &str), fail: &FailJob)
        = POST "flows" / flow / "instances" / wid / "jobs" / trigger / "fail", body fail, once None => call FailedJob;
}
