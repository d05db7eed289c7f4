//! `wed tenant`: the operator's verbs.

use serde_json::json;
use wedflow_store::{PauseScope, Store, Tenant};

use crate::answer::counted;
use crate::arguments::TenantCommand;
use crate::commands::{moving, operate};
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(
    command: &TenantCommand,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    match command {
        TenantCommand::Create { name, description } => {
            store.create_tenant(name, description).await?;
            terminal.answer(&json!({ "tenant": name, "created": true }), || {
                terminal.line(&format!("Tenant {name} is made."));
                terminal.say(&format!(
                    "Give it an admin: wed --tenant {name} user create NAME --role admin"
                ));
            });
            Ok(())
        }
        TenantCommand::List => list(store, terminal).await,
        TenantCommand::Show { name } => show(name, store, terminal).await,
        TenantCommand::Quota { name, limits } => {
            let change = limits.named();
            store.set_quotas(name, &change).await?;
            let quotas = store.quotas(name).await?;
            terminal.answer(&json!({ "tenant": name, "quotas": quotas }), || {
                terminal.line(&format!("The limits of {name} are set."));
            });
            Ok(())
        }
        TenantCommand::Suspend { name } => {
            store.suspend_tenant(name, true).await?;
            terminal.answer(&json!({ "tenant": name, "suspended": true }), || {
                terminal.line(&format!("Tenant {name} is suspended."));
            });
            Ok(())
        }
        TenantCommand::Resume { name, take_back } => {
            match take_back {
                true => store.release_tenant(name, true).await?,
                false => store.suspend_tenant(name, false).await?,
            }
            store.set_pause(PauseScope::Tenant(name), false, "").await?;
            terminal.answer(&json!({ "tenant": name, "suspended": false }), || {
                terminal.line(&format!("Resumed tenant {name}."));
            });
            Ok(())
        }
        TenantCommand::Pause { name, reason } => {
            let changed = store
                .set_pause(PauseScope::Tenant(name), true, reason)
                .await?;
            terminal.answer(&json!({ "paused": true, "changed": changed }), || {
                terminal.line(operate::said_pause(true, changed));
            });
            Ok(())
        }
        TenantCommand::Export {
            name,
            to,
            snapshot,
            with_secrets,
        } => moving::export(name, to, (*snapshot, *with_secrets), store, terminal).await,
        TenantCommand::Import { file, name } => {
            moving::import(file, name.as_deref(), store, terminal).await
        }
        TenantCommand::Move { name, to, back } => {
            moving::carry(name, to, *back, store, terminal).await
        }
        TenantCommand::Delete { name, yes } => delete(name, *yes, store, terminal).await,
    }
}

/// Lists the tenants.
async fn list(store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let tenants = store.tenants().await?;
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
async fn show(name: &str, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let tenant = store.tenant(name).await?;
    let quotas = store.quotas(name).await?;
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
async fn delete(name: &str, yes: bool, store: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let tenant = store.tenant(name).await?;
    if !yes
                && !terminal.confirmed(&format!(
                    "Remove tenant {name} with its {} flows, their instances and history, its components and {} users?",
                    tenant.flows, tenant.users
                ))?
            {
                return Err(Problem::new("nothing was removed"));
            }
    store.drop_tenant(name).await?;
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
