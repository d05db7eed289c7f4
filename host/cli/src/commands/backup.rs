//! `wed db backup` and `wed db restore`: pg_dump and pg_restore of the right version, and what they leave out.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::json;
use wedflow_embedded_postgres::PostgresSettings;
use wedflow_store::{DATABASE_PLACEHOLDER, Store};

use crate::arguments::Arguments;
use crate::database;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// The dump in a backup's folder.
const DUMP: &str = "database.dump";
/// File that describes a dump: what it leaves out, and what made it.
const ABOUT: &str = "about.json";
/// Folders in which packages install the tools of each version.
const VERSIONED: [&str; 2] = ["/usr/lib/postgresql", "/usr/local/lib/postgresql"];

/// Description that is stored with a dump.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    wed: String,
    server_major: u32,
    owner: String,
    #[serde(default)]
    roles: Vec<String>,
    before: Vec<String>,
    #[serde(default)]
    owners: Vec<String>,
    after: Vec<String>,
}

/// Writes a backup of the database into a new folder.
pub(crate) async fn backup(arguments: &Arguments, folder: &Path, terminal: &Terminal) -> Result<(), Problem> {
    let url = database::url(arguments, terminal).await?;
    let store = Store::connect(&url, 1).await?;
    let script = store.backup_script().await?;
    let tool = find("pg_dump", script.server_major)?;
    std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(folder).map_err(
        |source| {
            Problem::new(format!("{} cannot be made", folder.display()))
                .because(source)
                .hint("Name a folder that does not exist yet.")
        },
    )?;
    let about = About {
        wed: env!("CARGO_PKG_VERSION").to_owned(),
        server_major: script.server_major,
        owner: script.owner,
        roles: script.roles,
        before: script.before,
        owners: script.owners,
        after: script.after,
    };
    let spinner = terminal.spinner("dumping the database");
    let dump = folder.join(DUMP);
    let mut command = on(&url, &tool)?;
    // Another server may not know how this one compresses.
    command.args(["--format=custom", "--no-toast-compression", "--file"]).arg(&dump);
    ran(&mut command)?;
    spinner.finish_and_clear();
    let written = serde_json::to_vec_pretty(&about).unwrap_or_default();
    private(&folder.join(ABOUT), &written)?;
    let bytes = std::fs::metadata(&dump).map_or(0, |file| file.len());
    terminal.answer(
        &json!({ "folder": folder, "bytes": bytes, "server": about.server_major, "roles": about.before.len() }),
        || {
            terminal.line(&format!(
                "Wrote {bytes} bytes to {}. It holds the passwords of the flows' roles: keep it private.",
                folder.display()
            ));
            terminal.say("Secrets stay encrypted in it; keep the key to them elsewhere.");
        },
    );
    Ok(())
}

/// Restores a backup into an empty database.
pub(crate) async fn restore(arguments: &Arguments, folder: &Path, terminal: &Terminal) -> Result<(), Problem> {
    let about = std::fs::read(folder.join(ABOUT))
        .map_err(|source| Problem::new(format!("{} is no backup of wed", folder.display())).because(source).exit(3))?;
    let about: About = serde_json::from_slice(&about)
        .map_err(|source| Problem::new("the backup's about.json cannot be read").because(source))?;
    let url = database::url(arguments, terminal).await?;
    let tool = find("pg_restore", about.server_major)?;
    let store = empty_for(&url, &about).await?;
    let (host, port, name) = store.place();
    let owner = user_of(&url)?;
    // The dump grants rights to its owner by name.
    let is_former_made = owner != about.owner && store.make_former_owner(&about.owner).await?;
    store.run_script(&about.before).await?;
    let spinner = terminal.spinner("restoring the database");
    let contents = contents_of(&url, &tool, folder)?;
    let mut command = on(&url, &tool)?;
    command.args(["--exit-on-error", "--single-transaction", "--dbname", &name]).arg("--use-list").arg(contents.path());
    if !about.owners.is_empty() {
        command.arg("--no-owner");
    }
    command.arg(folder.join(DUMP));
    ran(&mut command).map_err(|problem| {
        problem.hint(
            "Nothing of the backup is in the database; the flows' roles are made. Mend it and run the same again.",
        )
    })?;
    store.run_script(&about.owners).await?;
    spinner.finish_and_clear();
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    let after: Vec<String> =
        about.after.iter().map(|statement| statement.replace(DATABASE_PLACEHOLDER, &quoted)).collect();
    store.run_script(&after).await?;
    if is_former_made {
        store.drop_former_owner(&about.owner).await?;
    }
    store.renew_functions().await?;
    store.close().await;
    let store = Store::connect(&url, 1).await?;
    store.migrate().await?;
    store.compress_large_values().await?;
    terminal.answer(&json!({ "restored": true, "database": name }), || {
        terminal.line(&format!("Restored {name} on {host}:{port}."));
    });
    Ok(())
}

/// Connects to the empty database that a backup goes into, made where there is none. What refuses the backup is looked
/// at before that.
async fn empty_for(url: &str, about: &About) -> Result<Store, Problem> {
    let parts = parsed(url)?;
    let name = percent(parts.path().trim_start_matches('/'));
    let present = present(url).await?;
    let others = present.databases_with(&about.roles, &name).await?;
    present.close().await;
    if !others.is_empty() {
        return Err(Problem::new(format!(
            "the flows' roles of the backup are in use on this server, in {}",
            others.join(", ")
        ))
        .exit(4)
        .hint("Restore on another server: both databases would share the logins of their flows."));
    }
    let store = Store::connect_or_create(url, 1).await?;
    if store.is_used().await? {
        return Err(Problem::new("the database is not empty")
            .exit(4)
            .hint("Name a database that does not exist yet in DATABASE_URL: it is made."));
    }
    Ok(store)
}

/// The role that a URL names.
fn user_of(url: &str) -> Result<String, Problem> {
    Ok(percent(parsed(url)?.username()))
}

/// Lists what is restored of a dump: all but the rights on Postgres's own functions, which differ by version and which
/// only a superuser may change ([`Store::renew_functions`] takes them again).
fn contents_of(url: &str, tool: &Path, folder: &Path) -> Result<tempfile::NamedTempFile, Problem> {
    use std::io::Write;
    let listed = on(url, tool)?
        .arg("--list")
        .arg(folder.join(DUMP))
        .output()
        .map_err(|source| Problem::new("pg_restore cannot be started").because(source))?;
    let kept: Vec<u8> = listed
        .stdout
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !String::from_utf8_lossy(line).contains(" ACL pg_catalog "))
        .flatten()
        .copied()
        .collect();
    let mut file = tempfile::NamedTempFile::new()
        .map_err(|source| Problem::new("no temporary file can be made").because(source))?;
    file.write_all(&kept).map_err(|source| Problem::new("the temporary file cannot be written").because(source))?;
    Ok(file)
}

/// Connects to the database, or to the server's database `postgres` where it does not exist yet.
async fn present(url: &str) -> Result<Store, Problem> {
    match Store::connect(url, 1).await {
        Err(error) if error.code() == Some("3D000") => {
            let mut own = parsed(url)?;
            own.set_path("/postgres");
            Ok(Store::connect(own.as_str(), 1).await?)
        }
        other => Ok(other?),
    }
}

/// The tool of a version that can read the server, the oldest such one.
pub(crate) fn find(name: &str, server_major: u32) -> Result<PathBuf, Problem> {
    let mut candidates: Vec<PathBuf> = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).map(|folder| folder.join(name)).collect())
        .unwrap_or_default();
    // The private Postgres comes without these tools; somebody may have added them.
    let private = PostgresSettings::from_environment().map(|settings| settings.binaries);
    for parent in VERSIONED.map(PathBuf::from).into_iter().chain(private) {
        let versions = std::fs::read_dir(parent).into_iter().flatten().flatten();
        candidates.extend(versions.map(|version| version.path().join("bin").join(name)));
    }
    let mut found: Vec<(u32, PathBuf)> =
        candidates.into_iter().filter_map(|path| Some((major(&path)?, path))).collect();
    found.sort();
    let newest = found.last().map(|(version, _)| *version);
    found.into_iter().find(|(version, _)| *version >= server_major).map(|(_, path)| path).ok_or_else(|| {
        Problem::new(match newest {
            None => format!("{name} is not installed"),
            Some(version) => format!("{name} has version {version}, the server {server_major}"),
        })
        .exit(3)
        .hint(format!(
            "Install the client tools of Postgres {server_major} or later. On Debian and Ubuntu: apt-get install \
                 postgresql-client-{server_major}; where that package is not known, first apt-get install \
                 postgresql-common && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y"
        ))
    })
}

/// The major version that a tool says it has.
fn major(tool: &Path) -> Option<u32> {
    let output = Command::new(tool).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let digits = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    digits.split(|other: char| !other.is_ascii_digit()).next()?.parse().ok()
}

fn parsed(url: &str) -> Result<url::Url, Problem> {
    url::Url::parse(url).map_err(|source| Problem::usage("the database URL cannot be read").because(source))
}

/// A tool that finds the database by its environment: arguments are seen by everybody on the machine.
fn on(url: &str, tool: &Path) -> Result<Command, Problem> {
    let url = parsed(url)?;
    let text = |part: &str| percent(part);
    let mut command = Command::new(tool);
    command.env("PGUSER", text(url.username()));
    command.env("PGDATABASE", text(url.path().trim_start_matches('/')));
    if let Some(host) = url.host_str().filter(|host| !host.is_empty()) {
        command.env("PGHOST", host);
    }
    if let Some(port) = url.port() {
        command.env("PGPORT", port.to_string());
    }
    if let Some(password) = url.password() {
        command.env("PGPASSWORD", text(password));
    }
    for (name, value) in url.query_pairs() {
        match &*name {
            "host" => command.env("PGHOST", &*value),
            "port" => command.env("PGPORT", &*value),
            "password" => command.env("PGPASSWORD", &*value),
            "sslmode" => command.env("PGSSLMODE", &*value),
            _ => &mut command,
        };
    }
    Ok(command)
}

/// Text of a URL with its escapes resolved.
fn percent(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Runs a tool to its end; what it says is the problem's detail.
fn ran(command: &mut Command) -> Result<(), Problem> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|source| Problem::new(format!("{program} cannot be started")).because(source))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Problem::new(format!("{program} failed")).details(said.lines().take(20).map(str::to_owned)))
}

/// Writes a file that nobody else may read.
fn private(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|source| Problem::new(format!("{} cannot be written", path.display())).because(source))
}
