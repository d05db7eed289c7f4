//! `wed tenant`: the operator's verbs.

use serde_json::json;
use wedflow_documents::{NewTenant, Reason, Tenant, TenantChange};

use crate::answer::counted;
use crate::arguments::{Arguments, TenantCommand};
use crate::commands::{moving, operate};
use crate::door::{self, Door};
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    command: &TenantCommand,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let store = || door::open_database(arguments, terminal);
    match command {
        TenantCommand::Export {
            name,
            to,
            snapshot,
            with_secrets,
        } => {
            let terms = (*snapshot, *with_secrets);
            moving::export(name, to, terms, &store().await?, terminal).await
        }
        TenantCommand::Import { file, name } => {
            moving::import(file, name.as_deref(), &store().await?, terminal).await
        }
        TenantCommand::Move { name, to, back } => {
            moving::carry(name, to, *back, &store().await?, terminal).await
        }
        TenantCommand::Resume {
            name,
            take_back: true,
            lost_there,
        } => {
            moving::take_back(name, *lost_there, &store().await?).await?;
            say_resumed(name, terminal);
            Ok(())
        }
        _ => {
            let door = door::open_installation(arguments, terminal).await?;
            run_through(command, &door, terminal).await
        }
    }
}

/// Does what the API does.
async fn run_through(
    command: &TenantCommand,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        TenantCommand::Create { name, description } => {
            create(name, description, door, terminal).await
        }
        TenantCommand::List => list(door, terminal).await,
        TenantCommand::Show { name } => show(name, door, terminal).await,
        TenantCommand::Quota { name, limits } => {
            let quotas = door.set_quotas(name, &limits.named()).await?;
            terminal.answer(&json!({ "tenant": name, "quotas": quotas }), || {
                terminal.line(&format!("The limits of {name} are set."));
            });
            Ok(())
        }
        TenantCommand::Suspend { name } => {
            suspend(name, true, door).await?;
            terminal.answer(&json!({ "tenant": name, "suspended": true }), || {
                terminal.line(&format!("Tenant {name} is suspended."));
            });
            Ok(())
        }
        TenantCommand::Resume { name, .. } => {
            suspend(name, false, door).await?;
            let none = Reason::default();
            door.pause_a_tenant(name, false, &none).await?;
            say_resumed(name, terminal);
            Ok(())
        }
        TenantCommand::Pause { name, reason } => {
            let reason = Reason {
                reason: reason.clone(),
            };
            let paused = door.pause_a_tenant(name, true, &reason).await?;
            terminal.answer(&paused, || {
                terminal.line(operate::said_pause(true, paused.changed));
            });
            Ok(())
        }
        TenantCommand::Delete { name, yes } => delete(name, *yes, door, terminal).await,
        _ => Err(Problem::new("this command has no door")),
    }
}

/// Makes a tenant.
async fn create(
    name: &str,
    description: &str,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let new = NewTenant {
        name: name.to_owned(),
        description: description.to_owned(),
        admin: None,
    };
    door.create_tenant(&new).await?;
    terminal.answer(&json!({ "tenant": name, "created": true }), || {
        terminal.line(&format!("Tenant {name} is made."));
        terminal.say(&format!(
            "Give it an admin: wed --tenant {name} user create NAME --role admin"
        ));
    });
    Ok(())
}

fn say_resumed(name: &str, terminal: &Terminal) {
    terminal.answer(&json!({ "tenant": name, "suspended": false }), || {
        terminal.line(&format!("Resumed tenant {name}."));
    });
}

async fn suspend(name: &str, suspended: bool, door: &Door) -> Result<(), Problem> {
    let change = TenantChange {
        suspended: Some(suspended),
        ..TenantChange::default()
    };
    door.change_tenant(name, &change).await?;
    Ok(())
}

/// Lists the tenants.
async fn list(door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let tenants = door.tenants().await?;
    terminal.answer(&tenants, || {
        terminal.table(
            &[
                "tenant",
                "",
                "flows",
                "components",
                "users",
                "made",
                "description",
            ],
            tenants.iter().map(|tenant| {
                vec![
                    tenant.name.clone(),
                    state(tenant),
                    tenant.flows.to_string(),
                    tenant.components.to_string(),
                    tenant.users.to_string(),
                    tenant.created_at.clone(),
                    tenant.description.clone(),
                ]
            }),
        );
    });
    Ok(())
}

/// Shows a tenant with its quotas.
async fn show(name: &str, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let tenant = door.tenant(name).await?;
    let quotas = door.quotas(name).await?;
    terminal.answer(&json!({ "tenant": tenant, "quotas": quotas }), || {
        terminal.line(&format!(
            "Tenant {name}{}{}, made {}: {}, {} of components, {}; its tokens live for \
                     {} at most",
            match tenant.moving.as_deref() {
                None if tenant.suspended => " (suspended)".to_owned(),
                None => String::new(),
                Some(moving) => format!(" ({moving}{})", to_place(&tenant)),
            },
            if tenant.description.is_empty() {
                String::new()
            } else {
                format!(" ({})", tenant.description)
            },
            tenant.created_at,
            counted(tenant.flows, "flow"),
            counted(tenant.components, "version"),
            counted(tenant.users, "user"),
            counted(tenant.token_days, "day")
        ));
        terminal.table(
            &["limit", "used", "allowed", "of what"],
            quotas.iter().map(|quota| {
                vec![
                    quota.name.clone(),
                    quota.used.map(|used| used.to_string()).unwrap_or_default(),
                    quota
                        .allowed
                        .map_or_else(|| "no limit".to_owned(), |allowed| allowed.to_string()),
                    quota.unit.clone(),
                ]
            }),
        );
    });
    Ok(())
}

/// Removes a tenant with all that it has, after asking.
async fn delete(name: &str, yes: bool, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let tenant = door.tenant(name).await?;
    if !yes
                && !terminal.confirmed(&format!(
                    "Remove tenant {name} with its {} flows, their instances and history, its components and {} users?",
                    tenant.flows, tenant.users
                ))?
            {
                return Err(Problem::new("nothing was removed"));
            }
    door.delete_tenant(name).await?;
    terminal.answer(&json!({ "tenant": name, "deleted": true }), || {
        terminal.line(&format!("Tenant {name} is gone."));
    });
    Ok(())
}

fn state(tenant: &Tenant) -> String {
    match tenant.moving.as_deref() {
        Some(moving) => format!("{moving}{}", to_place(tenant)),
        None if tenant.suspended => "suspended".to_owned(),
        None => String::new(),
    }
}

/// Says where a tenant lives that has left.
fn to_place(tenant: &Tenant) -> String {
    let place = tenant.moved_to.as_deref();
    place.map_or_else(String::new, |place| format!(" to {place}"))
}
