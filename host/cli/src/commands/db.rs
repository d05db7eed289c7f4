//! `wed db`: the private Postgres, and how long history is kept.

use serde_json::json;
use wedflow_store::Store;

use crate::answer::counted;
use crate::arguments::{Arguments, DbCommand, RetentionArguments};
use crate::commands::backup;
use crate::database::{self, FEW_CONNECTIONS, private_cluster, start_private};
use crate::problem::Problem;
use crate::terminal::Terminal;

pub(crate) async fn run(arguments: &Arguments, command: &DbCommand, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        DbCommand::Start => {
            made(&start_private(terminal).await?).await?;
            status(terminal)
        }
        DbCommand::Stop => {
            let hosts = hosts_at_work().await;
            let stopped = private_cluster()?.stop().await?;
            if hosts > 0 {
                terminal
                    .say(&format!("{} at work on it, and waits for its return: wed db start", counted(hosts, "host")));
            }
            terminal.answer(&json!({ "stopped": stopped, "hosts": hosts }), || {
                terminal.line(if stopped { "Stopped." } else { "It was not running." });
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
        DbCommand::Backup { folder } => backup::backup(arguments, folder, terminal).await,
        DbCommand::Restore { folder } => backup::restore(arguments, folder, terminal).await,
        DbCommand::Retention(wanted) => retention(arguments, wanted, terminal).await,
    }
}

/// Number of hosts that work on the private Postgres; 0 if it does not run or does not say.
async fn hosts_at_work() -> usize {
    let Some(url) = database::running() else {
        return 0;
    };
    let Ok(store) = Store::connect(&url, 1).await else {
        return 0;
    };
    let installation = store.installation().await.unwrap_or_default();
    installation["hosts"].as_array().map_or(0, Vec::len)
}

/// Sets how long history is kept, where that is asked for, and shows it.
async fn retention(arguments: &Arguments, wanted: &RetentionArguments, terminal: &Terminal) -> Result<(), Problem> {
    let store = database::open(arguments, terminal, FEW_CONNECTIONS).await?;
    let kinds = [
        ("trace", &wanted.keep),
        ("attempts", &wanted.attempts),
        ("logs", &wanted.logs),
        ("recordings", &wanted.recordings),
        ("instances", &wanted.instances),
    ];
    let changes: Vec<(&str, Option<&str>)> = kinds
        .into_iter()
        .filter_map(|(kind, keep)| Some((kind, keep.as_deref()?)))
        .map(|(kind, keep)| (kind, (keep != "forever").then_some(keep)))
        .collect();
    let set = store.set_retention(&changes).await;
    set.map_err(|error| Problem::from(error).exit(2))?;
    let kept = store.retention().await?;
    terminal.answer(&kept, || {
        let shown =
            |keep: &Option<String>| keep.as_ref().map_or_else(|| "for ever".to_owned(), |keep| format!("for {keep}"));
        terminal.line(&format!("History is kept {}.", shown(&kept.trace)));
        for (what, keep) in [
            ("Attempts", &kept.attempts),
            ("Logs", &kept.logs),
            ("Recordings", &kept.recordings),
            ("Finished instances", &kept.instances),
        ] {
            terminal.line(&format!("{what} are kept {}.", shown(keep)));
        }
    });
    Ok(())
}

/// Makes the database, where this is the first command of all.
async fn made(url: &str) -> Result<(), Problem> {
    Ok(Store::connect_or_create(url, 1).await?.migrate().await?)
}

fn status(terminal: &Terminal) -> Result<(), Problem> {
    let cluster = private_cluster()?;
    let connection = cluster.connection()?;
    let home = cluster.settings().home.display().to_string();
    let version = wedflow_embedded_postgres::version();
    terminal.answer(
        &json!({
            "running": connection.is_some(),
            "port": connection.as_ref().map(|c| c.port),
            "home": home,
            "version": version,
        }),
        || {
            let version = version.unwrap_or("of unknown version");
            match &connection {
                Some(connection) => terminal
                    .line(&format!("PostgreSQL {version} runs on 127.0.0.1:{}, data in {home}.", connection.port)),
                None => terminal.line(&format!("PostgreSQL {version} is not running; data in {home}.")),
            }
        },
    );
    Ok(())
}
