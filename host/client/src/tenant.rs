//! The tenant: identity, users, tokens, settings, usage, webhooks, the audit log.

use wedflow_documents::{
    AuditEntry, AuditFilter, Host, IssuedToken, LastHour, List, Me, NewRole, NewSettings, NewToken,
    NewUser, Page, Receipt, ReceiptFilter, Redelivered, Redelivery, Rotation, Settings, Token,
    Usage, User, Webhook, WebhookMessage, WebhookPlace, WebhookRotation, WebhookSecret, WebhookSet,
    WebhookTest,
};

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;

impl Client {
    /// Tells who the caller is and what it may do.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn me(&self) -> Result<Me, ClientError> {
        self.call(Request::get(&["me"])).await
    }

    /// Lists the users.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn users(&self) -> Result<Vec<User>, ClientError> {
        self.list(&["users"], &Page::default(), None).await
    }

    /// Returns a user.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn user(&self, user: &str) -> Result<User, ClientError> {
        self.call(Request::get(&["users", user])).await
    }

    /// Makes a user.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn create_user(&self, user: &NewUser) -> Result<User, ClientError> {
        self.call(Request::post(&["users"]).document(user)).await
    }

    /// Gives a user another role.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn set_role(&self, user: &str, role: &str) -> Result<User, ClientError> {
        let role = role.to_owned();
        self.call(Request::patch(&["users", user]).document(&NewRole { role }))
            .await
    }

    /// Deletes a user with the user's tokens.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_user(&self, user: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["users", user])).await
    }

    /// Lists the tokens: one's own; for admins everybody's.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn tokens(&self) -> Result<Vec<Token>, ClientError> {
        self.list(&["tokens"], &Page::default(), None).await
    }

    /// Makes a token. Its secret is in this answer and nowhere else.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn create_token(&self, token: &NewToken) -> Result<IssuedToken, ClientError> {
        self.call(Request::post(&["tokens"]).document(token)).await
    }

    /// Replaces a token; the old one stays valid for a while.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn rotate_token(
        &self,
        id: &str,
        rotation: &Rotation,
    ) -> Result<IssuedToken, ClientError> {
        let request = Request::post(&["tokens", id, "rotate"]);
        self.call(request.document(rotation)).await
    }

    /// Ends a token at once.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_token(&self, id: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["tokens", id])).await
    }

    /// Returns the tenant's settings.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn settings(&self) -> Result<Settings, ClientError> {
        self.call(Request::get(&["settings"])).await
    }

    /// Changes the tenant's settings.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn change_settings(&self, settings: &NewSettings) -> Result<Settings, ClientError> {
        self.call(Request::patch(&["settings"]).document(settings))
            .await
    }

    /// Lists the tenant's limits, and what it uses of them.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn usage(&self) -> Result<Vec<Usage>, ClientError> {
        self.items(Request::get(&["usage"])).await
    }

    /// Reads a part of the tenant's receipts.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn receipts(&self, filter: &ReceiptFilter) -> Result<List<Receipt>, ClientError> {
        self.call(Request::get(&["usage", "receipts"]).query(filter))
            .await
    }

    /// Lists the hosts, with the tenant's jobs that each has in flight.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn hosts(&self) -> Result<Vec<Host>, ClientError> {
        self.items(Request::get(&["hosts"])).await
    }

    /// Describes the last hour of the tenant's flows.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn last_hour(&self) -> Result<LastHour, ClientError> {
        self.call(Request::get(&["last-hour"])).await
    }

    /// Lists the webhooks.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn webhooks(&self) -> Result<Vec<Webhook>, ClientError> {
        self.items(Request::get(&["webhooks"])).await
    }

    /// Announces exceptions to a URL. The secret that signs the messages is in this answer and nowhere else.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn set_webhook(&self, place: &WebhookPlace) -> Result<WebhookSet, ClientError> {
        self.call(Request::put(&["webhooks"]).document(place)).await
    }

    /// Announces no more to a URL.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_webhook(&self, place: &WebhookPlace) -> Result<(), ClientError> {
        self.done(Request::delete(&["webhooks"]).document(place))
            .await
    }

    /// Replaces a webhook's secret; messages are signed with both for some hours.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn rotate_webhook(
        &self,
        name: &str,
        overlap_hours: Option<u32>,
    ) -> Result<WebhookSecret, ClientError> {
        let terms = WebhookRotation { overlap_hours };
        self.call(Request::post(&["webhooks", name, "rotate"]).document(&terms))
            .await
    }

    /// Sends a webhook a message for trying it out.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn test_webhook(&self, name: &str) -> Result<WebhookTest, ClientError> {
        self.call(Request::post(&["webhooks", name, "test"])).await
    }

    /// Lists a webhook's messages that were not delivered.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn webhook_messages(&self, name: &str) -> Result<Vec<WebhookMessage>, ClientError> {
        self.items(Request::get(&["webhooks", name, "messages"]))
            .await
    }

    /// Sends messages again whose delivery was given up: one, or all of a webhook.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn redeliver(
        &self,
        name: &str,
        message: Option<&str>,
    ) -> Result<Redelivered, ClientError> {
        let message = message.map(str::to_owned);
        let asked = Redelivery { message };
        self.call(Request::post(&["webhooks", name, "redeliver"]).document(&asked))
            .await
    }

    /// Lists the audit log, newest first, at most `limit` entries.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn audit(
        &self,
        since: Option<&str>,
        limit: Option<i64>,
    ) -> Result<Vec<AuditEntry>, ClientError> {
        let filter = AuditFilter {
            since: since.map(str::to_owned),
            cursor: None,
            limit: None,
        };
        self.list(&["audit"], &filter, limit).await
    }
}
