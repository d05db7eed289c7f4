//! The database of a command: that of DATABASE_URL, else the private Postgres, which is started unless it runs and
//! stays up for the next command.

use std::time::Duration;

use tokio::task::JoinHandle;
use wedflow_embedded_postgres::{Postgres, PostgresSettings, Progress};
use wedflow_store::{Schema, Store};

use crate::arguments::Arguments;
use crate::directory;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// The database of the private Postgres.
const PRIVATE_DATABASE: &str = "wedflow";

/// Connections of a command that is no host.
pub(crate) const FEW_CONNECTIONS: u32 = 4;

/// Time after which a command says for which lock it waits; it looks again after twice the time.
const LOCK_TOLD_AFTER: Duration = Duration::from_secs(1);
/// Number of looks for a lock that a command waits for.
const LOOKS_FOR_LOCKS: u32 = 5;

/// The private Postgres.
pub(crate) fn private_cluster() -> Result<Postgres, Problem> {
    Ok(Postgres::open(PostgresSettings::from_environment()?)?)
}

/// The URL of the private Postgres, if it runs.
pub(crate) fn running() -> Option<String> {
    let connection = private_cluster().ok()?.connection().ok()??;
    Some(connection.url_of(PRIVATE_DATABASE))
}

/// Starts the private Postgres if need be; its URL.
pub(crate) async fn start_private(terminal: &Terminal) -> Result<String, Problem> {
    let cluster = private_cluster()?;
    if let Some(connection) = cluster.connection()? {
        return Ok(connection.url_of(PRIVATE_DATABASE));
    }
    let spinner = terminal.spinner("starting the private Postgres");
    let connection = cluster
        .ensure_started({
            let spinner = spinner.clone();
            move |progress: Progress| spinner.set_message(progress.to_string())
        })
        .await?;
    spinner.finish_and_clear();
    Ok(connection.url_of(PRIVATE_DATABASE))
}

/// The URL of the database that is meant; the private Postgres is started for it.
pub(crate) async fn url(arguments: &Arguments, terminal: &Terminal) -> Result<String, Problem> {
    match given(arguments) {
        Some(url) => Ok(url.to_owned()),
        None => start_private(terminal).await,
    }
}

/// Returns the URL that was said.
fn given(arguments: &Arguments) -> Option<&str> {
    arguments.database_url.as_deref().filter(|url| !url.is_empty())
}

/// Begins to say to people for which locks a command waits, once for each that holds one. Opens a session of its own
/// once the command takes long.
fn tell_locks(store: &Store, terminal: &Terminal) -> JoinHandle<()> {
    let (store, terminal) = (store.for_status(), *terminal);
    tokio::spawn(async move {
        let mut told = String::new();
        for look in 0..LOOKS_FOR_LOCKS {
            tokio::time::sleep(LOCK_TOLD_AFTER * 2_u32.pow(look)).await;
            if let Ok(Some(lock)) = store.awaited_lock().await
                && lock != told
            {
                terminal.say(&format!("Waiting for {lock}."));
                told = lock;
            }
        }
    })
}

/// Connects to the database that is meant, makes it when it is missing, and brings its schema up to date: for
/// `migrate`, `serve`, `dev` and `demo`.
pub(crate) async fn make(arguments: &Arguments, terminal: &Terminal, connections: u32) -> Result<Store, Problem> {
    let url = url(arguments, terminal).await?;
    let store = Store::connect_or_create(&url, connections).await?;
    let telling = tell_locks(&store, terminal);
    let migrated = store.migrate().await;
    telling.abort();
    migrated?;
    Ok(store)
}

/// Connects to the database that is meant. One that was named is left as it is: another version's is refused. The
/// private Postgres is started and brought up to date by a command that changes something, and by no other.
pub(crate) async fn open(arguments: &Arguments, terminal: &Terminal, connections: u32) -> Result<Store, Problem> {
    if let Some(directory) = directory::open(arguments).await? {
        let cluster = directory::cluster_of(&directory, &arguments.tenant).await?;
        return open_told(&cluster.url, connections, terminal).await;
    }
    let only_reads = arguments.command.only_reads();
    let url = match given(arguments) {
        Some(url) => url.to_owned(),
        None if only_reads => running_private()?,
        None => {
            let store = make(arguments, terminal, connections).await?;
            drop(tell_locks(&store, terminal));
            return Ok(store);
        }
    };
    open_told(&url, connections, terminal).await
}

/// Connects as [`open_at`]; says from then on for which locks the command waits.
async fn open_told(url: &str, connections: u32, terminal: &Terminal) -> Result<Store, Problem> {
    let store = Store::connect(url, connections).await?;
    // The task runs until the command ends.
    drop(tell_locks(&store, terminal));
    checked(store).await
}

/// Connects to the database at a URL, and refuses one of another version.
pub(crate) async fn open_at(url: &str, connections: u32) -> Result<Store, Problem> {
    checked(Store::connect(url, connections).await?).await
}

/// Refuses a database of another version.
async fn checked(store: Store) -> Result<Store, Problem> {
    let (host, port, name) = store.place();
    let place = format!("database {name} on {host}:{port}");
    let problem = match store.schema().await? {
        Schema::Current => return Ok(store),
        Schema::Absent => Problem::new(format!("{place} holds nothing of Wedflow's"))
            .hint("`wed migrate` makes the schema there; check DATABASE_URL before."),
        Schema::Other { found, own } if found > own => {
            Problem::new(format!("{place} has schema {found}, and this wed schema {own}"))
                .hint("Use the newer wed that made it.")
        }
        Schema::Other { found, own } => {
            Problem::new(format!("{place} has schema {found} or other functions, and this wed schema {own}"))
                .hint("`wed migrate` brings it up to date; hosts of the older version end then, and are started anew.")
        }
    };
    Err(problem.code("schema").exit(5))
}

/// Returns the URL of the private Postgres, if it runs.
fn running_private() -> Result<String, Problem> {
    let connection = private_cluster()?.connection()?;
    let connection = connection.ok_or_else(|| {
        Problem::new("no private Postgres runs, and no database is named")
            .code("database")
            .exit(5)
            .hint("`wed db start` or `wed dev` starts it; or set DATABASE_URL, or log in at a server: `wed login`.")
    })?;
    Ok(connection.url_of(PRIVATE_DATABASE))
}
