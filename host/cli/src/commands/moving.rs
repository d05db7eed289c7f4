//! `wed tenant export`, `import` and `move`: a tenant's way out, in, and from one database to another.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value as Json, json};
use tokio::sync::mpsc;
use wedflow_model::FlowId;
use wedflow_store::{
    Directory, ImportedTenant, PauseScope, SealedSecret, Store, TenantExport, TenantMove, TenantPiece,
};
use wedflow_worker::SecretKey;

use crate::answer::{bytes, counted};
use crate::arguments::{Arguments, TravelArguments};
use crate::directory::{cluster_of, folder_of};
use crate::problem::Problem;
use crate::tenant_files::FileSum;
use crate::terminal::Terminal;
use crate::{database, door, secret_key, tenant_file, tenant_files};

/// Number of pieces between the two ends of a copy.
const PIECES_IN_FLIGHT: usize = 4;
/// Connections of each end: one copies, one looks.
const CONNECTIONS: u32 = 2;

/// Folders of files of instances at both ends of a move.
struct MovedFiles<'a> {
    travel: &'a TravelArguments,
    from: Option<PathBuf>,
    to: Option<PathBuf>,
}

/// A tenant's copy at the other end.
#[derive(Default)]
struct Copied {
    /// Secrets that are to be set again.
    secrets_missing: Vec<String>,
    /// Files that went along.
    files: Option<FileSum>,
    /// Checksum, the same at both ends.
    checksum: Option<Json>,
}

/// Opens the database that a tenant is in: that of its cluster, where a directory is named.
pub(crate) async fn store_of(
    name: &str,
    directory: Option<&Directory>,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Store, Problem> {
    match directory {
        Some(directory) => {
            let cluster = cluster_of(directory, name).await?;
            database::open_at(&cluster.url, CONNECTIONS).await
        }
        None => door::open_database(arguments, terminal).await,
    }
}

/// Writes a tenant to a file.
pub(crate) async fn export(
    name: &str,
    to: &Path,
    (snapshot, with_secrets): (bool, bool),
    (travel, directory): (&TravelArguments, Option<&Directory>),
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let flows = store.flow_folders(name).await?;
    let folder = folder_of(travel.files.as_deref(), directory, name).await?;
    let files = tenant_files::opened(travel, folder.as_deref(), &flows)?;
    let file = tenant_file::begin(to)?;
    let move_id = match snapshot {
        true => None,
        false => Some(store.fence_tenant(name).await?),
    };
    let wanted = TenantExport { with_secrets, fenced: move_id.is_some() };
    let (sender, receiver) = mpsc::channel(PIECES_IN_FLIGHT);
    let writing = tokio::task::spawn_blocking(move || file.write(receiver, files.as_ref()));
    let exported = store.export_tenant(name, wanted, sender).await;
    // What became of the file says more than that nobody took the pieces.
    let written = writing.await.map_err(|error| Problem::new("writing the file failed").because(error))?;
    let ((bytes, files), checksum) = match (written, exported) {
        (Ok(written), Ok(checksum)) => (written, checksum),
        (_, Err(error)) if error.refusal().is_none_or(|refusal| refusal.code != "WF024") => {
            return Err(error.into());
        }
        (Err(problem), _) => return Err(problem),
        (_, Err(error)) => return Err(error.into()),
    };
    let shown = to.display().to_string();
    if let Some(move_id) = &move_id
        && !store.leave(name, move_id, &format!("the file {shown}")).await?
    {
        return Err(came_back(name));
    }
    let answer = json!({ "tenant": name, "file": shown, "bytes": bytes, "fenced": move_id.is_some(),
        "checksum": checksum, "files": files });
    terminal.answer(&answer, || {
        let summary = summary(&checksum, files.as_ref());
        terminal.line(&format!("Wrote tenant {name} to {shown}: {summary}."));
        terminal.say(&match move_id {
            Some(_) => format!(
                "It rests here from now on. Take it in elsewhere: wed tenant import {shown}; or resume it: wed \
                 tenant resume {name} --take-back"
            ),
            None => "It works on here. What is taken in from the file stays suspended.".to_owned(),
        });
    });
    Ok(())
}

/// Takes a tenant in from a file.
pub(crate) async fn import(
    file: &Path,
    name: Option<&str>,
    travel: &TravelArguments,
    store: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let key = secret_key::existing()?;
    let target = tenant_files::opened(travel, travel.files.as_deref(), &[])?;
    let is_said = target.is_some() || travel.without_files;
    let staged = store.stage_tenant().await?;
    let (sender, receiver) = mpsc::channel(PIECES_IN_FLIGHT);
    let path: PathBuf = file.to_owned();
    let reading = tokio::task::spawn_blocking(move || tenant_file::read(&path, &sender, is_said));
    let imported =
        store.import_tenant(staged, name, receiver, &|old, new, secret| reseal(key.as_ref(), old, new, secret)).await;
    let read = reading.await.map_err(|error| Problem::new("reading the file failed").because(error))?;
    // An error of the file explains more than the refusal of the import that it caused.
    let sum = read?;
    let imported = imported?;
    let files = match (target, sum) {
        (Some(target), Some(sum)) => {
            let target = target.of_flows(&store.flow_folders(&imported.tenant).await?);
            let path: PathBuf = file.to_owned();
            let expected = sum.clone();
            let unpacking = tokio::task::spawn_blocking(move || tenant_file::unpack(&path, &target, &expected));
            let unpacked = unpacking.await;
            let unpacked = unpacked.map_err(|error| Problem::new("reading the file failed").because(error)).flatten();
            if let Err(problem) = unpacked {
                store.forget_arrival(&imported.tenant, &imported.move_id).await?;
                return Err(problem);
            }
            Some(sum)
        }
        _ => None,
    };
    store.release_tenant(&imported.tenant, imported.fenced).await?;
    let mut answer = json!(imported);
    answer["files"] = json!(files);
    terminal.answer(&answer, || {
        let summary = summary(&imported.checksum, files.as_ref());
        terminal.line(&format!("Took in tenant {}: {summary}.", imported.tenant));
        if !imported.fenced {
            terminal.say(&format!(
                "It is a copy of one that works on elsewhere, and suspended. To let it work here too: wed tenant \
                 resume {}",
                imported.tenant
            ));
        }
        say_missing(&imported, terminal);
    });
    Ok(())
}

/// Resumes a tenant that has left, where nobody has taken it in.
pub(crate) async fn take_back(name: &str, is_lost: bool, store: &Store) -> Result<(), Problem> {
    store.take_tenant_back(name, is_lost).await?;
    store.set_pause(PauseScope::Tenant(name), false, "").await?;
    Ok(())
}

/// Moves a tenant to another database, or resumes an interrupted move.
pub(crate) async fn carry(
    name: &str,
    url: &str,
    back: bool,
    (travel, files_to): (&TravelArguments, Option<&Path>),
    from: &Store,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let to = open_target(url).await?;
    let (host, port, database) = to.place();
    let place = format!("database {database} on {host}:{port}");
    if back {
        return turn_back(name, from, &to, terminal).await;
    }
    if travel.files.is_some() && files_to.is_none() {
        return Err(Problem::usage("--files-to is missing: hosts of the other database have a folder of their own")
            .hint("Say --files-to FOLDER; hosts remove what their own database does not know."));
    }
    let files = MovedFiles { travel, from: travel.files.clone(), to: files_to.map(Path::to_owned) };
    let copied = leave_for(name, &place, files, (from, &to), terminal).await?;
    begin_there(name, &place, copied, (from, &to), terminal).await?;
    terminal.say(&format!("What is left here is fenced. Remove it: wed tenant delete {name}"));
    Ok(())
}

/// Connects to the database that a tenant moves to.
async fn open_target(url: &str) -> Result<Store, Problem> {
    let opened = database::open_at(url, CONNECTIONS).await;
    opened.map_err(|problem| {
        let is_missing = problem.code.as_deref() == Some("3D000");
        let is_refused = problem.code.as_deref().is_some_and(|code| code.starts_with("28"));
        match (is_missing, is_refused) {
            (true, _) => problem
                .hint("Check the address of --to. `wed migrate --database-url URL` makes the database and its schema."),
            (_, true) => problem.hint("Check user and password in the address of --to."),
            _ => problem,
        }
    })
}

/// Moves a tenant to another cluster of a directory, or resumes an interrupted move. The directory names
/// the new cluster once the old one has recorded that the tenant left, and before the tenant begins there.
pub(crate) async fn carry_to_cluster(
    name: &str,
    cluster: &str,
    back: bool,
    (travel, files_to): (&TravelArguments, Option<&Path>),
    directory: &Directory,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let target = directory.cluster(cluster).await?;
    let source = cluster_of(directory, name).await?;
    let to = database::open_at(&target.url, CONNECTIONS).await?;
    let from = database::open_at(&source.url, CONNECTIONS).await?;
    let place = format!("cluster {cluster}");
    if source.name == target.name {
        if back {
            return Err(not_leaving(name));
        }
        return begin_there(name, &place, Copied::default(), (&to, &to), terminal).await;
    }
    if back {
        return turn_back(name, &from, &to, terminal).await;
    }
    let here = from.tenant_move(name).await?.unwrap_or_default();
    if target.state == "draining" && here.moving.is_none() {
        return Err(Problem::new(format!("cluster {cluster} is draining: it takes no tenants"))
            .code("WF028")
            .exit(4)
            .hint(format!("Choose another one, or open it: wed cluster open {cluster}")));
    }
    let below = |folder: Option<&Path>, cluster: &str| folder.map(|folder| folder.join(cluster));
    let from_folder = travel.files.as_deref();
    let files =
        MovedFiles { travel, from: below(from_folder, &source.name), to: below(files_to.or(from_folder), cluster) };
    let copied = leave_for(name, &place, files, (&from, &to), terminal).await?;
    if !directory.switch_place(name, &source.name, cluster).await? && cluster_of(directory, name).await?.name != cluster
    {
        return Err(Problem::new(format!("the directory has tenant {name} on another cluster now"))
            .code("WF028")
            .exit(4)
            .hint("`wed tenant list` shows where it is; two moves of it were under way."));
    }
    begin_there(name, &place, copied, (&from, &to), terminal).await?;
    terminal
        .say(&format!("What is left at {0} is fenced. Remove it: wed tenant delete {name} --left-at {0}", source.name));
    Ok(())
}

/// Removes what is left of a tenant at a cluster that it was moved away from.
pub(crate) async fn remove_rest(
    name: &str,
    cluster: &str,
    yes: bool,
    directory: &Directory,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let row = directory.cluster(cluster).await?;
    let store = database::open_at(&row.url, CONNECTIONS).await?;
    let place = directory.place(name).await?;
    let state = store.tenant_move(name).await?.and_then(|one| one.moving);
    if place.is_some_and(|place| place.cluster == cluster) || state.as_deref() != Some("left") {
        return Err(Problem::new(format!("tenant {name} was not moved away from cluster {cluster}"))
            .code("WF024")
            .exit(4)
            .hint("`wed tenant list` shows where each tenant is."));
    }
    let asked = format!("Remove what is left of tenant {name} at cluster {cluster}?");
    if !yes && !terminal.confirmed(&asked)? {
        return Err(Problem::new("nothing was removed"));
    }
    store.drop_tenant(name).await?;
    let answer = json!({ "tenant": name, "cluster": cluster, "deleted": true });
    terminal.answer(&answer, || {
        terminal.line(&format!("Nothing of tenant {name} is left at cluster {cluster}."));
    });
    Ok(())
}

/// Copies a tenant and records that it has left, unless it has.
async fn leave_for(
    name: &str,
    place: &str,
    files: MovedFiles<'_>,
    (from, to): (&Store, &Store),
    terminal: &Terminal,
) -> Result<Copied, Problem> {
    let here = (from.tenant_move(name).await?)
        .ok_or_else(|| Problem::new(format!("there is no tenant \"{name}\"")).exit(3))?;
    let there = to.tenant_move(name).await?;
    if here.moving.as_deref() != Some("left") {
        let states = (&here, there.as_ref());
        return copy(name, place, states, files, (from, to), terminal).await;
    }
    if there.as_ref().is_none_or(|there| there.move_id != here.move_id) {
        let at = here.moved_to.unwrap_or_default();
        return Err(Problem::new(format!("tenant {name} lives elsewhere already: {at}"))
            .code("WF024")
            .exit(4)
            .hint("`wed tenant list` shows which tenants have left."));
    }
    Ok(Copied::default())
}

/// Lets a tenant that has arrived begin, and says so, with the time for which it rested; one that has begun works on.
async fn begin_there(
    name: &str,
    place: &str,
    copied: Copied,
    (from, to): (&Store, &Store),
    terminal: &Terminal,
) -> Result<(), Problem> {
    let state = to.tenant_move(name).await?.and_then(|one| one.moving);
    let mut pause = None;
    if state.as_deref() == Some("arriving") {
        // By the clock of the database that suspended it, however often the move was interrupted.
        let suspended = from.suspended_for(name).await?;
        let asked = Instant::now();
        to.release_tenant(name, true).await?;
        pause = suspended.map(|suspended| suspended + asked.elapsed());
    }
    let checksum = match copied.checksum {
        Some(checksum) => checksum,
        None => from.tenant_checksum(name).await?,
    };
    let answer = json!({ "tenant": name, "moved_to": place, "checksum": checksum, "files": copied.files,
        "secrets_missing": copied.secrets_missing,
        "pause_ms": pause.map(|pause| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)) });
    terminal.answer(&answer, || {
        let summary = summary(&checksum, copied.files.as_ref());
        terminal.line(&format!("Tenant {name} lives in {place}: {summary}."));
        if let Some(pause) = pause {
            terminal.line(&format!("It rested for {:.2} s.", pause.as_secs_f64()));
        }
    });
    Ok(())
}

/// Fences a tenant, copies it with its files, and switches. Whoever takes the tenant in compares it with what was read
/// out. Until the switch all of it can be done again.
async fn copy(
    name: &str,
    place: &str,
    (here, there): (&TenantMove, Option<&TenantMove>),
    files: MovedFiles<'_>,
    (from, to): (&Store, &Store),
    terminal: &Terminal,
) -> Result<Copied, Problem> {
    if there.is_some_and(|there| there.move_id.is_none() || there.move_id != here.move_id) {
        return Err(Problem::new(format!("{place} has a tenant \"{name}\""))
            .code("23505")
            .exit(4)
            .hint("Remove it there, or move it under another name: `wed tenant export`, `import --as`."));
    }
    let key = secret_key::existing()?;
    let flows = from.flow_folders(name).await?;
    let own = tenant_files::opened(files.travel, files.from.as_deref(), &flows)?;
    let other = tenant_files::opened(files.travel, files.to.as_deref(), &[])?;
    let spinner = terminal.spinner("fencing the tenant");
    let staged = to.stage_tenant().await?;
    let move_id = from.fence_tenant(name).await?;
    spinner.set_message("copying");
    let (sender, receiver) = mpsc::channel::<TenantPiece>(PIECES_IN_FLIGHT);
    let wanted = TenantExport { with_secrets: true, fenced: true };
    let seal = |old, new, secret: &SealedSecret| reseal(key.as_ref(), old, new, secret);
    let (exported, imported) =
        tokio::join!(from.export_tenant(name, wanted, sender), to.import_tenant(staged, Some(name), receiver, &seal));
    let imported = match (exported, imported) {
        (Ok(_), Ok(imported)) => imported,
        (Err(error), Err(other)) if error.refusal().is_some() => {
            return Err(unmoved(name, place, other.into()));
        }
        (Err(error), _) | (_, Err(error)) => return Err(unmoved(name, place, error.into())),
    };
    let files = match (own, other) {
        (Some(own), Some(other)) => {
            spinner.set_message("copying files");
            let other = other.of_flows(&to.flow_folders(name).await?);
            let copying = tokio::task::spawn_blocking(move || tenant_files::copy(&own, &other));
            let copied = copying.await;
            let copied = copied.map_err(|error| Problem::new("copying files failed").because(error)).flatten();
            Some(copied.map_err(|problem| unmoved(name, place, problem))?)
        }
        _ => None,
    };
    if !from.leave(name, &move_id, place).await? {
        to.forget_arrival(name, &move_id).await?;
        return Err(came_back(name));
    }
    spinner.finish_and_clear();
    say_missing(&imported, terminal);
    Ok(Copied { secrets_missing: imported.secrets_missing, files, checksum: Some(imported.checksum) })
}

/// Returns a tenant to where it was: removes what has arrived, and resumes it here.
async fn turn_back(name: &str, from: &Store, to: &Store, terminal: &Terminal) -> Result<(), Problem> {
    let here = from.tenant_move(name).await?.unwrap_or_default();
    let (Some("leaving"), Some(move_id)) = (here.moving.as_deref(), &here.move_id) else {
        return Err(not_leaving(name));
    };
    to.forget_arrival(name, move_id).await?;
    from.suspend_tenant(name, false).await?;
    terminal.answer(&json!({ "tenant": name, "returned": true }), || {
        terminal.line(&format!("Tenant {name} is back, and works here."));
    });
    Ok(())
}

fn not_leaving(name: &str) -> Problem {
    Problem::new(format!("tenant {name} is not leaving"))
        .exit(4)
        .hint("`wed tenant show` says where it is; one that has left is moved back from there.")
}

/// Encrypts a secret for the number that its flow has here.
fn reseal(key: Option<&SecretKey>, old: FlowId, new: FlowId, secret: &SealedSecret) -> Option<SealedSecret> {
    let key = key?;
    let text = key.open(old, secret).ok()?;
    let (ciphertext, nonce) = key.seal(new, &secret.name, &text).ok()?;
    Some(SealedSecret { ciphertext, nonce, ..secret.clone() })
}

/// Says how a move that failed before its switch is ended.
fn unmoved(name: &str, place: &str, problem: Problem) -> Problem {
    problem.details([format!("tenant {name} rests, and has not left for {place}: run the same again, or with --back")])
}

fn came_back(name: &str) -> Problem {
    Problem::new(format!("tenant {name} was resumed here meanwhile, and has not left"))
        .code("WF024")
        .exit(4)
        .hint("Nothing begins elsewhere. Run the same again to move it.")
}

fn say_missing(imported: &ImportedTenant, terminal: &Terminal) {
    if !imported.secrets_missing.is_empty() {
        terminal.say(&format!(
            "These secrets were stored under another key; set them again: {}",
            imported.secrets_missing.join(", ")
        ));
    }
}

/// Describes how many rows a checksum covers, and how many files were moved.
fn summary(checksum: &Json, files: Option<&FileSum>) -> String {
    let rows = |name: &str| checksum[name]["rows"].as_i64().unwrap_or_default();
    let files = files.map(|sum| format!(", {} of {}", counted(sum.files, "file"), bytes(sum.bytes)));
    format!(
        "{}, {} of history, {}{}",
        counted(rows("instances"), "instance"),
        counted(rows("trace"), "row"),
        counted(rows("jobs"), "job"),
        files.unwrap_or_default()
    )
}
