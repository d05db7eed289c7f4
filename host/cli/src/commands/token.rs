//! `wed token`: with which users speak to the API.

use serde_json::json;
use wedflow_documents::{IssuedToken, NewToken, Rotation};

use crate::arguments::TokenCommand;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &TokenCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        TokenCommand::Create { user, name, scope, flow, days } => {
            let scopes = match scope.is_empty() {
                true => vec!["write".to_owned()],
                false => scope.clone(),
            };
            let new = NewToken {
                name: name.clone(),
                user: Some(user.clone()),
                scopes,
                flows: flow.clone(),
                days: Some(*days),
            };
            let made = door.create_token(&new).await.map_err(|error| match error.code() {
                Some("not_found") => Problem::from(error).hint(format!(
                    "Make the user first: `wed user create {user} --role participant` for a person of worklists, \
                     with another role for others."
                )),
                _ => Problem::from(error),
            })?;
            shown(door, &made, terminal).await
        }
        TokenCommand::List { user } => list(user.as_deref(), door, terminal).await,
        TokenCommand::Rotate { id, days, overlap } => {
            let rotation = Rotation { days: *days, overlap_hours: Some(*overlap) };
            shown(door, &door.rotate_token(id, &rotation).await?, terminal).await
        }
        TokenCommand::Delete { id } => {
            door.delete_token(id).await?;
            terminal.answer(&json!({ "id": id, "deleted": true }), || {
                terminal.line(&format!("Token {id} is revoked."));
            });
            Ok(())
        }
    }
}

/// Lists the tokens of a user, or of the tenant.
async fn list(user: Option<&str>, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    if let Some(user) = user {
        // One that is missing has no tokens, which must not look like an empty list.
        door.user(user).await?;
    }
    let mut tokens = door.tokens().await?;
    tokens.retain(|token| user.is_none_or(|user| token.user == user));
    terminal.answer(&tokens, || {
        terminal.table(
            &["id", "user", "name", "scopes", "status", "expires", "last used"],
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
async fn shown(door: &Door, issued: &IssuedToken, terminal: &Terminal) -> Result<(), Problem> {
    let token = &issued.token;
    let document = json!({ "secret": issued.secret, "id": token.id, "user": token.user, "name": token.name,
        "scopes": token.scopes, "expires_at": token.expires_at });
    terminal.answer(&document, || {
        terminal.say(&format!(
            "The token {} of {}, until {}. It is shown this once:",
            token.name, token.user, token.expires_at
        ));
        terminal.line(&issued.secret);
    });
    if terminal.has_lost() {
        door.delete_token(&token.id).await?;
        return Err(Problem::new("the token could not be written, and is revoked again").hint("Is the disk full?"));
    }
    Ok(())
}
