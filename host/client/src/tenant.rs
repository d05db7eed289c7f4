//! The tenant: identity, users, tokens, settings, usage, webhooks, the audit log.

use wedflow_documents::{
    AuditEntry, AuditFilter, Host, IssuedToken, LastHour, List, Me, NewRole, NewSettings, NewToken, NewUser, Receipt,
    ReceiptFilter, Redelivered, Redelivery, Rotation, Settings, Token, Usage, User, Webhook, WebhookMessage,
    WebhookPlace, WebhookRotation, WebhookSecret, WebhookSet, WebhookTest,
};

use crate::client::Client;
use crate::error::ClientError;
use crate::verbs::verbs;

verbs! {
    /// Tells who the caller is and what it may do.
    me() = GET "me" => call Me;
    /// Lists the users.
    users() = GET "users" => pages User;
    /// Returns a user.
    user(user: &str) = GET "users" / user => call User;
    /// Makes a user.
    create_user(user: &NewUser) = POST "users", body user => call User;
    /// Gives a user another role.
    set_role(user: &str, role: &str) = PATCH "users" / user, body &NewRole { role: role.to_owned() } => call User;
    /// Deletes a user with the user's tokens.
    delete_user(user: &str) = DELETE "users" / user => done;
    /// Lists the tokens: one's own; for admins everybody's.
    tokens() = GET "tokens" => pages Token;
    /// Makes a token. Its secret is in this answer and nowhere else.
    create_token(token: &NewToken) = POST "tokens", body token => call IssuedToken;
    /// Replaces a token; the old one stays valid for a while.
    rotate_token(id: &str, rotation: &Rotation) = POST "tokens" / id / "rotate", body rotation => call IssuedToken;
    /// Ends a token at once.
    delete_token(id: &str) = DELETE "tokens" / id => done;
    /// Returns the tenant's settings.
    settings() = GET "settings" => call Settings;
    /// Changes the tenant's settings.
    change_settings(settings: &NewSettings) = PATCH "settings", body settings => call Settings;
    /// Lists the tenant's limits, and what it uses of them.
    usage() = GET "usage" => items Usage;
    /// Reads a part of the tenant's receipts.
    receipts(filter: &ReceiptFilter) = GET "usage" / "receipts", query filter => call List<Receipt>;
    /// Lists the hosts, with the tenant's jobs that each has in flight.
    hosts() = GET "hosts" => items Host;
    /// Describes the last hour of the tenant's flows.
    last_hour() = GET "last-hour" => call LastHour;
    /// Lists the webhooks.
    webhooks() = GET "webhooks" => items Webhook;
    /// Announces exceptions to a URL. The secret that signs the messages is in this answer and nowhere else.
    set_webhook(place: &WebhookPlace) = PUT "webhooks", body place => call WebhookSet;
    /// Announces no more to a URL.
    delete_webhook(place: &WebhookPlace) = DELETE "webhooks", body place => done;
    /// Replaces a webhook's secret; messages are signed with both for some hours.
    rotate_webhook(name: &str, overlap_hours: Option<u32>)
        = POST "webhooks" / name / "rotate", body &WebhookRotation { overlap_hours } => call WebhookSecret;
    /// Sends a webhook a message for trying it out.
    test_webhook(name: &str) = POST "webhooks" / name / "test" => call WebhookTest;
    /// Lists a webhook's messages that were not delivered.
    webhook_messages(name: &str) = GET "webhooks" / name / "messages" => items WebhookMessage;
    /// Sends messages again whose delivery was given up: one, or all of a webhook.
    redeliver(name: &str, message: Option<&str>)
        = POST "webhooks" / name / "redeliver",
            body &Redelivery { message: message.map(str::to_owned) } => call Redelivered;
}

impl Client {
    /// Lists the audit log, newest first, at most `limit` entries.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn audit(&self, since: Option<&str>, limit: Option<i64>) -> Result<Vec<AuditEntry>, ClientError> {
        let filter = AuditFilter { since: since.map(str::to_owned), cursor: None, limit: None };
        self.list(&["audit"], &filter, limit).await
    }
}
