//! `wed user`: who may speak for a tenant.

use serde_json::json;
use wedflow_store::Store;
use wedflow_tenancy::Role;

use crate::arguments::UserCommand;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    command: &UserCommand,
    tenant: &str,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        UserCommand::Create { name, role } => {
            let role = read(role)?;
            store.create_user(tenant, name, role.name()).await?;
            terminal.answer(
                &json!({ "tenant": tenant, "user": name, "role": role.name() }),
                || {
                    terminal.line(&format!("User {name} of {tenant} is made, as {role}."));
                    terminal.say(&format!("Make a token: wed token create {name}"));
                },
            );
            Ok(())
        }
        UserCommand::List => {
            let users = store.users(tenant, None).await?;
            terminal.answer(&users, || {
                terminal.table(
                    &["user", "role", "made"],
                    users.iter().map(|user| {
                        vec![
                            user.name.clone(),
                            user.role.clone(),
                            user.created_at.clone(),
                        ]
                    }),
                );
            });
            Ok(())
        }
        UserCommand::Role { name, role } => {
            let role = read(role)?;
            store.set_role(tenant, name, role.name()).await?;
            terminal.answer(
                &json!({ "tenant": tenant, "user": name, "role": role.name() }),
                || terminal.line(&format!("User {name} of {tenant} is {role} now.")),
            );
            Ok(())
        }
        UserCommand::Delete { name } => {
            store.drop_user(tenant, name).await?;
            terminal.answer(
                &json!({ "tenant": tenant, "user": name, "deleted": true }),
                || terminal.line(&format!("User {name} of {tenant} is removed.")),
            );
            Ok(())
        }
    }
}

fn read(role: &str) -> Result<Role, Problem> {
    role.parse().map_err(|message: String| {
        Problem::usage(message).hint("docs/reference/tenants.md tells what each may do.")
    })
}
