//! Jobs of workers: claimed, extended, completed, failed.

use wedflow_documents::{
    ClaimJobs, CompleteJob, CompletedJob, ExtendLease, ExtendedLease, FailJob, FailedJob, LeasedJob,
};
use wedflow_model::Wid;

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;

impl Client {
    /// Claims jobs for a worker; waits for one as long as the claim says.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn claim_jobs(
        &self,
        flow: &str,
        claim: &ClaimJobs,
    ) -> Result<Vec<LeasedJob>, ClientError> {
        let request = Request::post(&["flows", flow, "jobs", "claim"]);
        self.items(request.document(claim)).await
    }

    /// Prolongs a lease, and keeps the worker's progress.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn extend_lease(
        &self,
        flow: &str,
        (wid, trigger): (Wid, &str),
        extend: &ExtendLease,
    ) -> Result<ExtendedLease, ClientError> {
        let request = of_job(flow, wid, trigger, "extend");
        self.call(request.document(extend)).await
    }

    /// Commits the result of a job, once for its lease.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn complete_job(
        &self,
        flow: &str,
        (wid, trigger): (Wid, &str),
        complete: &CompleteJob,
    ) -> Result<CompletedJob, ClientError> {
        let request = of_job(flow, wid, trigger, "complete").once(None);
        self.call(request.document(complete)).await
    }

    /// Records an attempt that changed nothing, once for its lease.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn fail_job(
        &self,
        flow: &str,
        (wid, trigger): (Wid, &str),
        fail: &FailJob,
    ) -> Result<FailedJob, ClientError> {
        let request = of_job(flow, wid, trigger, "fail").once(None);
        self.call(request.document(fail)).await
    }
}

fn of_job(flow: &str, wid: Wid, trigger: &str, act: &str) -> Request {
    let wid = wid.to_string();
    Request::post(&["flows", flow, "instances", &wid, "jobs", trigger, act])
}
