//! `wed operator`: tokens that manage the installation over HTTP.

use serde_json::json;
use wedflow_store::Store;
use wedflow_tenancy::issue_operator;

use crate::arguments::OperatorCommand;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &OperatorCommand, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        OperatorCommand::Create { name, read_only, days } => {
            let secret = issue_operator(store, name, !read_only, *days).await?;
            let secret = secret.reveal();
            terminal.answer(&json!({ "name": name, "secret": secret }), || {
                terminal.line(secret);
                terminal.say("It is shown this once. It manages every tenant of this installation.");
            });
        }
        OperatorCommand::List => {
            let operators = store.operators().await?;
            terminal.answer(&operators, || {
                terminal.table(
                    &["name", "id", "may write", "made", "ends"],
                    operators.iter().map(|operator| {
                        vec![
                            operator.name.clone(),
                            operator.id.clone(),
                            operator.may_write.to_string(),
                            operator.created_at.clone(),
                            operator.expires_at.clone(),
                        ]
                    }),
                );
            });
        }
        OperatorCommand::Revoke { name } => {
            store.revoke_operator(name).await?;
            terminal.answer(&json!({ "name": name, "revoked": true }), || {
                terminal.line(&format!("Token {name} is revoked."));
            });
        }
    }
    Ok(())
}
