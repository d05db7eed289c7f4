//! `wed db`: the private Postgres.

use serde_json::json;
use wedflow_store::Store;

use crate::arguments::DbCommand;
use crate::database::{private_cluster, start_private};
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &DbCommand, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        DbCommand::Start => {
            made(&start_private(terminal).await?).await?;
            status(terminal)
        }
        DbCommand::Stop => {
            let stopped = private_cluster()?.stop().await?;
            terminal.answer(&json!({ "stopped": stopped }), || {
                terminal.line(if stopped {
                    "Stopped."
                } else {
                    "It was not running."
                });
            });
            Ok(())
        }
        DbCommand::Status => status(terminal),
        DbCommand::Url => {
            let url = start_private(terminal).await?;
            made(&url).await?;
            terminal.answer(&json!({ "url": url }), || terminal.line(&url));
            Ok(())
        }
    }
}

/// Makes the database, where this is the first command of all.
async fn made(url: &str) -> Result<(), Problem> {
    Ok(Store::connect_or_create(url, 1).await?.migrate().await?)
}

fn status(terminal: &Terminal) -> Result<(), Problem> {
    let cluster = private_cluster()?;
    let connection = cluster.connection()?;
    let home = cluster.settings().home.display().to_string();
    let version = wedflow_cluster::version();
    terminal.answer(
        &json!({ "running": connection.is_some(), "port": connection.as_ref().map(|c| c.port), "home": home, "version": version }),
        || {
            let version = version.unwrap_or("of unknown version");
            match &connection {
                Some(connection) => terminal.line(&format!(
                    "PostgreSQL {version} runs on 127.0.0.1:{}, data in {home}.",
                    connection.port
                )),
                None => terminal.line(&format!("PostgreSQL {version} is not running; data in {home}.")),
            }
        },
    );
    Ok(())
}
