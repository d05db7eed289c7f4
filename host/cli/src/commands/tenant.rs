//! `wed tenant`: the operator's verbs.

use serde_json::json;
use wedflow_documents::{NewTenant, Reason, Tenant, TenantChange};

use crate::answer::counted;
use crate::arguments::{Arguments, TenantCommand};
use crate::commands::{cluster, moving, operate};
use crate::directory;
use crate::door::{self, Door};
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &TenantCommand, arguments: &Arguments, terminal: &Terminal) -> Result<(), Problem> {
    let directory = directory::open(arguments).await?;
    let store = async |name: &str| moving::store_of(name, directory.as_ref(), arguments, terminal).await;
    let needed = || directory.as_ref().ok_or_else(cluster::no_directory);
    match command {
        TenantCommand::Export { name, to, snapshot, with_secrets, travel } => {
            let terms = (*snapshot, *with_secrets);
            let files = (travel, directory.as_ref());
            moving::export(name, to, terms, files, &store(name).await?, terminal).await
        }
        TenantCommand::Import { .. } if directory.is_some() => Err(file_is_for_one()),
        TenantCommand::Import { file, name, travel } => {
            let store = door::open_database(arguments, terminal).await?;
            moving::import(file, name.as_deref(), travel, &store, terminal).await
        }
        TenantCommand::Move { name, to_cluster: Some(cluster), back, travel, files_to, .. } => {
            let folders = (travel, files_to.as_deref());
            moving::carry_to_cluster(name, cluster, *back, folders, needed()?, terminal).await
        }
        TenantCommand::Move { .. } if directory.is_some() => Err(cluster_is_needed()),
        TenantCommand::Move { name, to, back, travel, files_to, .. } => {
            let to = to.as_deref().unwrap_or_default();
            let folders = (travel, files_to.as_deref());
            moving::carry(name, to, *back, folders, &store(name).await?, terminal).await
        }
        TenantCommand::Delete { name, yes, left_at: Some(cluster) } => {
            moving::remove_rest(name, cluster, *yes, needed()?, terminal).await
        }
        TenantCommand::Resume { name, take_back: true, lost_there } => {
            moving::take_back(name, *lost_there, &store(name).await?).await?;
            say_resumed(name, true, terminal);
            Ok(())
        }
        _ => {
            let door = door::open_installation(arguments, terminal).await?;
            run_through(command, &door, terminal).await
        }
    }
}

/// Refuses to take a file in where a directory is named.
fn file_is_for_one() -> Problem {
    Problem::usage("a file is taken in by one cluster, and a directory is named")
        .hint("Say --database-url with the cluster's; `wed cluster add` takes the tenant into the directory.")
}

/// Refuses to move a tenant to a database where a directory is named.
fn cluster_is_needed() -> Problem {
    Problem::usage("the directory would not know where the tenant is")
        .hint("Say --to-cluster NAME; `wed cluster add` makes a database a cluster.")
}

/// Does what the API does.
async fn run_through(command: &TenantCommand, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        TenantCommand::Create { name, description, cluster } => {
            let new = NewTenant {
                name: name.clone(),
                description: description.clone(),
                admin: None,
                cluster: cluster.clone(),
            };
            create(&new, door, terminal).await
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
            let was_suspended = door.tenant(name).await?.suspended;
            suspend(name, false, door).await?;
            let none = Reason::default();
            let resumed = door.pause_a_tenant(name, false, &none).await?;
            say_resumed(name, was_suspended || resumed.changed, terminal);
            Ok(())
        }
        TenantCommand::Pause { name, reason } => {
            let reason = Reason { reason: reason.clone() };
            let paused = door.pause_a_tenant(name, true, &reason).await?;
            terminal.answer(&paused, || {
                terminal.line(operate::said_pause(true, paused.changed));
            });
            Ok(())
        }
        TenantCommand::Delete { name, yes, .. } => delete(name, *yes, door, terminal).await,
        _ => Err(Problem::new("this command has no door")),
    }
}

/// Makes a tenant.
async fn create(new: &NewTenant, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let name = &new.name;
    let made = door.create_tenant(new).await?;
    let mut answer = json!({ "tenant": name, "created": true });
    if let Some(cluster) = &made.tenant.cluster {
        answer["cluster"] = cluster.as_str().into();
    }
    terminal.answer(&answer, || {
        terminal.line(&match &made.tenant.cluster {
            Some(cluster) => format!("Tenant {name} is made, on cluster {cluster}."),
            None => format!("Tenant {name} is made."),
        });
        terminal.say(&format!("Give it an admin: wed --tenant {name} user create NAME --role admin"));
    });
    Ok(())
}

fn say_resumed(name: &str, changed: bool, terminal: &Terminal) {
    let answer = json!({ "tenant": name, "suspended": false, "changed": changed });
    terminal.answer(&answer, || {
        terminal.line(&match changed {
            true => format!("Resumed tenant {name}."),
            false => format!("Tenant {name} was neither suspended nor paused."),
        });
    });
}

async fn suspend(name: &str, suspended: bool, door: &Door) -> Result<(), Problem> {
    let change = TenantChange { suspended: Some(suspended), ..TenantChange::default() };
    door.change_tenant(name, &change).await?;
    Ok(())
}

/// Lists the tenants.
async fn list(door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let tenants = door.tenants().await?;
    let placed = tenants.iter().any(|tenant| tenant.cluster.is_some());
    let mut head = vec!["tenant"];
    head.extend(placed.then_some("cluster"));
    head.extend(["", "flows", "components", "users", "made", "description"]);
    terminal.answer(&tenants, || {
        terminal.table(
            &head,
            tenants.iter().map(|tenant| {
                let mut cells = vec![tenant.name.clone()];
                cells.extend(placed.then(|| tenant.cluster.clone().unwrap_or_default()));
                cells.extend([
                    state(tenant),
                    tenant.flows.to_string(),
                    tenant.components.to_string(),
                    tenant.users.to_string(),
                    tenant.created_at.clone(),
                    tenant.description.clone(),
                ]);
                cells
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
            if tenant.description.is_empty() { String::new() } else { format!(" ({})", tenant.description) },
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
                    quota.allowed.map_or_else(|| "no limit".to_owned(), |allowed| allowed.to_string()),
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
