//! The feed of events.

use wedflow_documents::{Feed, FeedFilter};

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;

impl Client {
    /// Reads a part of the feed of a flow, or of all flows; waits for an event as long as the filter says.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn feed(&self, flow: Option<&str>, filter: &FeedFilter) -> Result<Feed, ClientError> {
        let request = match flow {
            Some(flow) => Request::get(&["flows", flow, "events"]),
            None => Request::get(&["events"]),
        };
        self.call(request.query(filter)).await
    }
}
