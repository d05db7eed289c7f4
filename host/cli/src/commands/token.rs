//! `wed token`: with which users speak to the API.

use serde_json::json;
use wedflow_store::Store;
use wedflow_tenancy::{Issued, Scope, ScopeError, TokenRequest, issue, rotate};

use crate::arguments::TokenCommand;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    command: &TokenCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        TokenCommand::Create {
            user,
            name,
            scope,
            days,
        } => {
            let scopes = if scope.is_empty() {
                vec![Scope::ALL]
            } else {
                scope
                    .iter()
                    .map(|scope| scope.parse())
                    .collect::<Result<Vec<Scope>, ScopeError>>()
                    .map_err(|error| Problem::usage(error.to_string()).hint(ScopeError::hint()))?
            };
            let request = TokenRequest {
                tenant,
                user,
                name,
                scopes: &scopes,
                days: *days,
            };
            shown(
                store,
                tenant,
                &issue(store, None, &request).await?,
                terminal,
            )
            .await
        }
        TokenCommand::List { user } => list(user.as_deref(), tenant, store, terminal).await,
        TokenCommand::Rotate { id, days, overlap } => {
            let overlap = format!("{overlap} hours");
            let issued = rotate(store, None, tenant, id, *days, Some(&overlap)).await?;
            shown(store, tenant, &issued, terminal).await
        }
        TokenCommand::Revoke { id } => {
            store.revoke_token(tenant, id).await?;
            terminal.answer(&json!({ "id": id, "revoked": true }), || {
                terminal.line(&format!("Token {id} is revoked."));
            });
            Ok(())
        }
    }
}

/// Lists the tokens of a user, or of the tenant.
async fn list(
    user: Option<&str>,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    if let Some(user) = user {
        // One that is missing has no tokens, which must not look like an empty list.
        store.user(tenant, user).await?;
    }
    let tokens = store.tokens(tenant, user).await?;
    terminal.answer(&tokens, || {
        terminal.table(
            &[
                "id",
                "user",
                "name",
                "scopes",
                "status",
                "expires",
                "last used",
            ],
            tokens.iter().map(|token| {
                vec![
                    token.id.clone(),
                    token.user.clone(),
                    token.name.clone(),
                    token.scopes.join(" "),
                    token.status.clone(),
                    token.expires_at.clone(),
                    token.last_used.clone().unwrap_or_default(),
                ]
            }),
        );
    });
    Ok(())
}

/// Shows a token this once; one that could not be shown is revoked.
async fn shown(
    store: &Store,
    tenant: &str,
    issued: &Issued,
    terminal: &Terminal,
) -> Result<(), Problem> {
    show(issued, terminal);
    if terminal.has_lost() {
        store.revoke_token(tenant, &issued.token.id).await?;
        return Err(
            Problem::new("the token could not be written, and is revoked again")
                .hint("Is the disk full?"),
        );
    }
    Ok(())
}

fn show(issued: &Issued, terminal: &Terminal) {
    let token = &issued.token;
    let document = json!({ "secret": issued.secret.reveal(), "id": token.id, "user": token.user, "name": token.name,
        "scopes": token.scopes, "expires_at": token.expires_at });
    terminal.answer(&document, || {
        terminal.say(&format!(
            "The token {} of {}, until {}. It is shown this once:",
            token.name, token.user, token.expires_at
        ));
        terminal.line(issued.secret.reveal());
    });
}
