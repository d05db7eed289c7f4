//! Arguments of `wed webhook`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// Announce exceptions to a URL, and print the secret that signs the messages. Hosts must be let reach its place
    /// (`wed serve --allow-http`).
    Set {
        /// URL that messages are posted to: http:// or https://.
        url: String,
        /// Only those of this flow.
        #[arg(long, value_name = "NAME")]
        flow: Option<String>,
    },
    /// List the webhooks, and what is still to be delivered.
    List,
    /// Announce no more to a URL; messages that were not delivered are dropped.
    #[command(alias = "remove")]
    Delete {
        /// The URL.
        url: String,
        /// The flow that it was set for.
        #[arg(long, value_name = "NAME")]
        flow: Option<String>,
    },
}
