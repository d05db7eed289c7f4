//! Arguments of `wed operator`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Make a token that manages the installation over HTTP (`/v1/installation`). It is shown this once.
    Create {
        /// Name of the token: small letters, digits, - and _.
        name: String,
        /// Let it look only.
        #[arg(long)]
        read_only: bool,
        /// Life of the token.
        #[arg(long, default_value_t = 90)]
        days: i32,
    },
    /// List the tokens, without their secrets.
    List,
    /// End a token at once.
    Revoke {
        /// Name of the token.
        name: String,
    },
}
