//! Arguments of `wed webhook`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// Tell a URL of events, and print the secret that signs the messages of a new webhook. Hosts must be let reach its
    /// place (`wed serve --allow-http`).
    Set {
        /// URL that messages are posted to: http:// or https://.
        url: String,
        /// Only those of this flow.
        #[arg(long, value_name = "NAME")]
        flow: Option<String>,
        /// An event: instance.started, instance.final, instance.changed, instance.exception or job.waiting. A new
        /// webhook hears of exceptions unless told otherwise.
        #[arg(long = "event", value_name = "EVENT")]
        events: Vec<String>,
        /// An attribute of whose changes instance.changed tells; all of them unless told otherwise.
        #[arg(long = "attribute", value_name = "NAME")]
        attributes: Vec<String>,
        /// Time after which job.waiting tells of a pending job, such as "2 hours".
        #[arg(long, value_name = "TIME")]
        waits_over: Option<String>,
    },
    /// List the webhooks, and what is still to be delivered.
    List,
    /// Replace a webhook's secret and print the new one; messages are signed with both for a while.
    Rotate {
        /// Name of the webhook, as `wed webhook list` shows it.
        name: String,
        /// Hours for which the old secret signs, too.
        #[arg(long, value_name = "HOURS", default_value_t = 24)]
        overlap: u32,
    },
    /// Send a message for trying a webhook out.
    Test {
        /// Name of the webhook.
        name: String,
    },
    /// List a webhook's messages that were not delivered: pending ones and dead letters.
    Messages {
        /// Name of the webhook.
        name: String,
    },
    /// Send messages again whose delivery was given up.
    Redeliver {
        /// Name of the webhook.
        name: String,
        /// Only this message.
        #[arg(long, value_name = "NAME")]
        message: Option<String>,
    },
    /// Tell a URL nothing more; messages that were not delivered are dropped.
    #[command(alias = "remove")]
    Delete {
        /// The URL.
        url: String,
        /// The flow that it was set for.
        #[arg(long, value_name = "NAME")]
        flow: Option<String>,
    },
}
