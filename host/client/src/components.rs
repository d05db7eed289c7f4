//! Components: uploaded, looked at, put into use.

use wedflow_documents::{
    Activation, Component, Kept, Page, RemovedComponent, ShadowFilter, ShadowRun, UploadTerms, Uploaded,
};

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;
use crate::verbs::verbs;

verbs! {
    /// Returns the bytes of a version of a component.
    component_bytes(name: &str, version: i32) = GET "components" / name / "versions" / version / "bytes" => bytes;
    /// Deletes the versions that nothing uses, but for the newest of each name and those in use.
    collect_components(keep: Option<i32>) = DELETE "components", query &Kept { keep } => items RemovedComponent;
}

impl Client {
    /// Lists the components, every version; of one name only, if one is given.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn components(&self, name: Option<&str>) -> Result<Vec<Component>, ClientError> {
        let parts: Vec<&str> = ["components"].into_iter().chain(name).collect();
        self.list(&parts, &Page::default(), None).await
    }

    /// Uploads a component as the newest version of a name; of its own, when none is given.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn upload(
        &self,
        name: Option<&str>,
        terms: &UploadTerms,
        bytes: Vec<u8>,
    ) -> Result<Uploaded, ClientError> {
        let parts: Vec<&str> = ["components"].into_iter().chain(name).collect();
        let request = Request::post(&parts).query(terms).once(None);
        self.call(request.body("application/wasm", bytes)).await
    }

    /// Runs a component over the last attempts at a transition of a flow, and says where it differs.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn shadow(&self, flow: &str, attempts: &ShadowFilter, bytes: Vec<u8>) -> Result<ShadowRun, ClientError> {
        let request = Request::post(&["flows", flow, "shadow"]).query(attempts);
        self.call(request.body("application/wasm", bytes)).await
    }

    /// Makes a version of a component the one in use; the one before it when absent.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn activate(&self, name: &str, version: Option<i32>) -> Result<Component, ClientError> {
        self.call(match version {
            Some(version) => Request::post(&["components", name, "activate"]).document(&Activation { version }),
            None => Request::post(&["components", name, "rollback"]),
        })
        .await
    }
}
