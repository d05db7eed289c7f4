//! Inbound hooks of flows.

use wedflow_documents::{Hook, HookRotation, HookSet, PutHook};

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;

impl Client {
    /// Lists the inbound hooks of a flow.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn hooks(&self, flow: &str) -> Result<Vec<Hook>, ClientError> {
        self.items(Request::get(&["flows", flow, "hooks"])).await
    }

    /// Makes an inbound hook, or changes the one of that name.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn put_hook(
        &self,
        flow: &str,
        name: &str,
        hook: &PutHook,
    ) -> Result<HookSet, ClientError> {
        let request = Request::put(&["flows", flow, "hooks", name]);
        self.call(request.document(hook)).await
    }

    /// Replaces the secret of an inbound hook.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn rotate_hook(
        &self,
        flow: &str,
        name: &str,
        rotation: &HookRotation,
    ) -> Result<HookSet, ClientError> {
        let request = Request::post(&["flows", flow, "hooks", name, "rotate"]);
        self.call(request.document(rotation)).await
    }

    /// Removes an inbound hook.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_hook(&self, flow: &str, name: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["flows", flow, "hooks", name]))
            .await
    }
}
