//! Acts of operators: retry, cancel, skip, set, go back, pause, resume.

use wedflow_documents::{
    Batch, Batched, GoBack, GoingBack, Operated, Pause, Paused, PausedThing, Reason, Retried,
    RetriedMatching, RetryMatching, SetState, Skip,
};
use wedflow_model::Wid;

use crate::client::Client;
use crate::error::ClientError;
use crate::instances::of;
use crate::request::Request;

impl Client {
    /// Retries an instance: an exception fires what its state satisfies, waiting jobs are due now.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn retry(
        &self,
        flow: &str,
        wid: Wid,
        reason: &Reason,
    ) -> Result<Retried, ClientError> {
        let request = of(Request::post, flow, wid, "retry");
        self.call(request.document(reason)).await
    }

    /// Retries a flow's exceptions that match, or counts and lists them.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn retry_matching(
        &self,
        flow: &str,
        matching: &RetryMatching,
    ) -> Result<RetriedMatching, ClientError> {
        let request = Request::post(&["flows", flow, "retry"]);
        self.call(request.document(matching)).await
    }

    /// Acts on a flow's instances that match, at most 1,000, or counts and lists them.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn batch(&self, flow: &str, batch: &Batch) -> Result<Batched, ClientError> {
        let request = Request::post(&["flows", flow, "instances", "batch"]);
        self.call(request.document(batch)).await
    }

    /// Ends an instance: its pending jobs are dropped, it is final.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn cancel(
        &self,
        flow: &str,
        wid: Wid,
        reason: &Reason,
    ) -> Result<Operated, ClientError> {
        let request = of(Request::post, flow, wid, "cancel");
        self.call(request.document(reason)).await
    }

    /// Drops a pending job of an instance without running it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn skip(&self, flow: &str, wid: Wid, skip: &Skip) -> Result<Operated, ClientError> {
        self.call(of(Request::post, flow, wid, "skip").document(skip))
            .await
    }

    /// Sets attributes of an exception by hand.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn set_state(
        &self,
        flow: &str,
        wid: Wid,
        state: &SetState,
    ) -> Result<Operated, ClientError> {
        self.call(of(Request::post, flow, wid, "state").document(state))
            .await
    }

    /// Sends an exception back to an earlier state.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn go_back(
        &self,
        flow: &str,
        wid: Wid,
        to: &GoBack,
    ) -> Result<GoingBack, ClientError> {
        self.call(of(Request::post, flow, wid, "back").document(to))
            .await
    }

    /// Pauses or resumes an instance.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn pause_instance(
        &self,
        flow: &str,
        wid: Wid,
        pause: bool,
        reason: &Reason,
    ) -> Result<Paused, ClientError> {
        let request = of(Request::post, flow, wid, verb(pause));
        self.call(request.document(reason)).await
    }

    /// Pauses or resumes a flow, or one of its triggers.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn pause_flow(
        &self,
        flow: &str,
        pause: bool,
        scope: &Pause,
    ) -> Result<Paused, ClientError> {
        let request = Request::post(&["flows", flow, verb(pause)]);
        self.call(request.document(scope)).await
    }

    /// Pauses or resumes the tenant.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn pause_tenant(&self, pause: bool, reason: &Reason) -> Result<Paused, ClientError> {
        self.call(Request::post(&[verb(pause)]).document(reason))
            .await
    }

    /// Lists what is paused in the tenant.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn pauses(&self) -> Result<Vec<PausedThing>, ClientError> {
        self.items(Request::get(&["pauses"])).await
    }
}

fn verb(pause: bool) -> &'static str {
    if pause { "pause" } else { "resume" }
}
