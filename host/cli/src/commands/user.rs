//! `wed user`: who may speak for a tenant.

use serde_json::json;
use wedflow_documents::NewUser;

use crate::arguments::UserCommand;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &UserCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let tenant = &door.tenant;
    match command {
        UserCommand::Create { name, role } => {
            let new = NewUser { name: name.clone(), role: role.clone() };
            let user = door.create_user(&new).await?;
            let document = json!({ "tenant": tenant, "user": user.name, "role": user.role });
            terminal.answer(&document, || {
                terminal.line(&format!("User {name} of {tenant} is made, as {role}."));
                terminal.say(&format!("Make a token: wed token create {name}"));
            });
        }
        UserCommand::List => {
            let users = door.users().await?;
            terminal.answer(&users, || {
                let row = |user: &wedflow_documents::User| {
                    [&user.name, &user.role, &user.created_at].map(Clone::clone).to_vec()
                };
                terminal.table(&["user", "role", "made"], users.iter().map(row));
            });
        }
        UserCommand::Role { name, role } => {
            let user = door.set_role(name, role).await?;
            let document = json!({ "tenant": tenant, "user": name, "role": user.role });
            terminal.answer(&document, || {
                terminal.line(&format!("User {name} of {tenant} is {role} now."));
            });
        }
        UserCommand::Delete { name } => {
            door.delete_user(name).await?;
            let document = json!({ "tenant": tenant, "user": name, "deleted": true });
            terminal.answer(&document, || {
                terminal.line(&format!("User {name} of {tenant} is removed."));
            });
        }
    }
    Ok(())
}
