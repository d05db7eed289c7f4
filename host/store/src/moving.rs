//! A tenant on its way to another installation: fenced, read out in pieces from one snapshot, taken in by one
//! transaction, compared.

use std::time::{Duration, Instant};

use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc::{Receiver, Sender};
use wedflow_model::{FlowId, TenantId};

use crate::audit::note;
use crate::settings::SealedSecret;
use crate::statements::statements;
use crate::tenants::tenant_id;
use crate::{Session, Store, StoreError, Transaction};

/// Number of the form of a tenant's file.
const FORM: u32 = 1;
/// Size from which on a chunk is passed on, in bytes.
const CHUNK_BYTES: usize = 1 << 20;
/// Beginning of the name of a part with states; the flow's number follows.
const STATES: &str = "states of ";
/// Longest wait for transactions that were under way when a tenant was fenced.
const WRITERS_WAIT: Duration = Duration::from_secs(30);
/// Further tries to fence a tenant while commits of hosts are in the way.
const FENCE_TRIES_MAX: u32 = 10;
/// Pause between two looks at them.
const WRITERS_PAUSE: Duration = Duration::from_millis(20);

/// Head of a tenant's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantManifest {
    /// Number of the file's form.
    pub form: u32,
    /// Version of the program that wrote it.
    pub wed: String,
    /// Number of the newest migration of the database that it was read from.
    pub migration: i64,
    /// Name of the tenant.
    pub tenant: String,
    /// Number of the move.
    pub move_id: String,
    /// True if the tenant was fenced: it resumes where the file is taken in, and nowhere else.
    pub fenced: bool,
    /// True if tokens and the secrets of webhooks are in it.
    pub secrets: bool,
    /// Parts in their order.
    pub parts: Vec<TenantPart>,
}

/// Part of a tenant's file: rows of one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantPart {
    /// Name of the table, `definition`, or `states of` and the number of a flow.
    pub name: String,
    /// Columns in their order.
    pub columns: Vec<String>,
}

/// Piece of a tenant's file on its way.
#[derive(Debug)]
pub enum TenantPiece {
    /// Head of the file.
    Begin(TenantManifest),
    /// Rows of a part in the form of COPY. A part may be of many chunks; a row may be cut by them.
    Chunk {
        /// Number of the part.
        part: usize,
        /// Text of the rows.
        bytes: Vec<u8>,
    },
    /// All parts have been read out. Files leave it away: it lets the other end work while this one adds up.
    Complete,
    /// End of the file: the checksum of what was read out.
    End(Json),
}

/// Choices for an export.
#[derive(Debug, Clone, Copy)]
pub struct TenantExport {
    /// Take tokens and the secrets of webhooks along.
    pub with_secrets: bool,
    /// Refuse a tenant that is not fenced.
    pub fenced: bool,
}

/// Tables into which a tenant's rows are read, in the transaction that takes it in.
#[derive(Debug)]
pub struct StagedTenant(Transaction);

/// A tenant that was taken in. It is suspended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportedTenant {
    /// Name of the tenant here.
    pub tenant: String,
    /// True if it was fenced where it came from.
    pub fenced: bool,
    /// Number of the move.
    pub move_id: String,
    /// Checksum, the same at both ends.
    pub checksum: Json,
    /// Secrets (`flow/name`) that could not be read with the key at hand and are to be set again.
    pub secrets_missing: Vec<String>,
}

/// Place of a tenant in its move.
#[derive(Debug, Clone, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct TenantMove {
    /// `leaving`, `left` or `arriving`; none for a tenant that is at home.
    pub moving: Option<String>,
    /// Number of the move.
    pub move_id: Option<String>,
    /// Place where a tenant that has left lives now.
    pub moved_to: Option<String>,
}

/// Folder of the files of a flow's instances.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct FlowFolder {
    /// Name of the flow.
    pub flow: String,
    /// Name of the folder, which no other flow of any database has.
    pub folder: String,
    /// True if transitions of the flow may write files.
    pub keeps_files: bool,
}

/// Seals a secret of a flow anew for the number that the flow has here; none if the key at hand does not open it.
pub type Reseal<'a> = &'a (dyn Fn(FlowId, FlowId, &SealedSecret) -> Option<SealedSecret> + Sync);

statements! {
    /// Tells where a tenant is in its move; none if there is no tenant of that name.
    pub tenant_move(&self, name: &str) -> Option<TenantMove>
        = optional_row "SELECT moving, move_id::text, moved_to FROM wed.tenant WHERE name = $1", name;
}

impl Store {
    /// Lists a tenant's flows with the folders of their instances' files.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn flow_folders(&self, name: &str) -> Result<Vec<FlowFolder>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT f.name AS flow, f.shape_schema AS folder, \
             EXISTS (SELECT FROM wed.\"grant\" g WHERE g.flow_id = f.flow_id AND g.files) AS keeps_files \
             FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 ORDER BY f.name",
        )
        .bind(name)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Tells for how long a tenant has been suspended, by the database's clock; none if it is not.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn suspended_for(&self, name: &str) -> Result<Option<Duration>, StoreError> {
        let seconds: Option<f64> = sqlx::query_scalar(
            "SELECT greatest(0, extract(epoch FROM clock_timestamp() - suspended_at))::float8 FROM wed.tenant \
             WHERE name = $1 AND suspended_at IS NOT NULL",
        )
        .bind(name)
        .fetch_optional(&self.pool)
        .await?;
        Ok(seconds.map(Duration::from_secs_f64))
    }

    /// Suspends and fences a tenant: from now on the database refuses each change of it. Returns the number of the
    /// move; a tenant that is leaving already keeps its own.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] for a tenant that has left or arrives, and when transactions
    /// that began before do not end.
    pub async fn fence_tenant(&self, name: &str) -> Result<String, StoreError> {
        let before = (self.tenant_move(name).await?).ok_or_else(|| StoreError::not_found("tenant", name))?;
        if matches!(before.moving.as_deref(), Some("left" | "arriving")) {
            return Err(refused(
                format!("tenant \"{name}\" has left, or arrives"),
                "`wed tenant show` says where it lives.",
            ));
        }
        self.suspend_tenant(name, true).await?;
        let mut tries = 0;
        let (move_id, fence) = loop {
            match self.raise_fence(name).await {
                // A commit of a host was in the way; there are no more once it has ended.
                Err(StoreError::Conflict(_) | StoreError::Locked { .. }) if tries < FENCE_TRIES_MAX => {
                    tries += 1;
                    tokio::time::sleep(WRITERS_PAUSE).await;
                }
                raised => break raised?,
            }
        };
        self.wait_for_writers(&fence).await?;
        Ok(move_id)
    }

    /// Makes the fence. Returns the number of the move and that of the transaction.
    async fn raise_fence(&self, name: &str) -> Result<(String, String), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, name).await?;
        let (move_id, fence): (String, String) = sqlx::query_as(
            "SELECT coalesce(move_id, gen_random_uuid())::text, pg_current_xact_id()::xid::text \
             FROM wed.tenant WHERE tenant_id = $1",
        )
        .bind(tenant_id)
        .fetch_one(&mut *transaction)
        .await?;
        sqlx::query("SELECT wed.fence_tenant($1, $2::uuid)")
            .bind(tenant_id)
            .bind(&move_id)
            .execute(&mut *transaction)
            .await?;
        let detail = json!({ "move": move_id });
        self.commit_noted(transaction, name, "tenant.fence", name, detail).await?;
        Ok((move_id, fence))
    }

    /// Waits until transactions have ended that began before the fence.
    async fn wait_for_writers(&self, fence: &str) -> Result<(), StoreError> {
        let begun = Instant::now();
        loop {
            let writers: i64 = sqlx::query_scalar("SELECT wed.count_older_writers($1::text::xid)")
                .bind(fence)
                .fetch_one(&self.pool)
                .await?;
            if writers == 0 {
                return Ok(());
            }
            if begun.elapsed() > WRITERS_WAIT {
                return Err(refused(
                    format!("{writers} transactions are open since before the tenant was fenced"),
                    "Let them end, or end their sessions; then run the same again.",
                ));
            }
            tokio::time::sleep(WRITERS_PAUSE).await;
        }
    }

    /// Switches a leaving tenant to its new home. Returns false if that move is not under way any more: the new home
    /// must not begin.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn leave(&self, name: &str, move_id: &str, to: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, name).await?;
        let left: bool = sqlx::query_scalar("SELECT wed.leave($1, $2::uuid, $3)")
            .bind(tenant_id)
            .bind(move_id)
            .bind(to)
            .fetch_one(&mut *transaction)
            .await?;
        let detail = json!({ "move": move_id, "to": to, "left": left });
        self.commit_noted(transaction, name, "tenant.leave", name, detail).await?;
        Ok(left)
    }

    /// Takes the fence from a tenant that has arrived, or that comes back; `resume` resumes its work.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn release_tenant(&self, name: &str, resume: bool) -> Result<(), StoreError> {
        self.unfence(name, "SELECT wed.release_tenant($1)").await?;
        match resume {
            true => self.suspend_tenant(name, false).await,
            false => Ok(()),
        }
    }

    /// Takes back a tenant that has left for a file, or, with `is_lost`, for a database that is gone for ever, and
    /// resumes its work.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] with `WF024` where it may work elsewhere.
    pub async fn take_tenant_back(&self, name: &str, is_lost: bool) -> Result<(), StoreError> {
        let call = match is_lost {
            true => "SELECT wed.take_tenant_back($1, true)",
            false => "SELECT wed.take_tenant_back($1, false)",
        };
        self.unfence(name, call).await?;
        self.suspend_tenant(name, false).await
    }

    /// Calls what takes the fence from a tenant, on record.
    async fn unfence(&self, name: &str, call: &'static str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, name).await?;
        sqlx::query(call).bind(tenant_id).execute(&mut *transaction).await?;
        note(&mut transaction, &self.actor, Some(name), "tenant.release", name, json!({})).await?;
        Ok(transaction.commit().await?)
    }

    /// Counts and sums what a tenant has. The same tenant has the same checksum in every installation.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn tenant_checksum(&self, name: &str) -> Result<Json, StoreError> {
        let tenant = self.tenant_number(name).await?;
        Ok(sqlx::query_scalar("SELECT wed.tenant_checksum($1)").bind(tenant).fetch_one(&self.pool).await?)
    }

    /// Reads a tenant out of one snapshot, piece by piece; the last is its checksum. That of a fenced tenant covers the
    /// rows after the copy, so that a change which the fence had let through would be found.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Refused`] when the tenant is not fenced and was to be, or nobody takes
    /// the pieces.
    pub async fn export_tenant(
        &self,
        name: &str,
        wanted: TenantExport,
        pieces: Sender<TenantPiece>,
    ) -> Result<Json, StoreError> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        let mut snapshot = self.pool.begin_alone(begin).await?;
        let (tenant, moving, move_id): (TenantId, Option<String>, String) = sqlx::query_as(
            "SELECT tenant_id, moving, coalesce(move_id, gen_random_uuid())::text FROM wed.tenant WHERE name = $1",
        )
        .bind(name)
        .fetch_optional(&mut *snapshot)
        .await?
        .ok_or_else(|| StoreError::not_found("tenant", name))?;
        if wanted.fenced != (moving.as_deref() == Some("leaving")) {
            return Err(refused(
                format!("tenant \"{name}\" is not as its export expects: fenced, or at home"),
                "`wed tenant show` says where it is.",
            ));
        }
        let parts: Vec<(String, Vec<String>, String)> =
            sqlx::query_as("SELECT name, columns, query FROM wed.tenant_parts($1, $2)")
                .bind(tenant)
                .bind(wanted.with_secrets)
                .fetch_all(&mut *snapshot)
                .await?;
        let manifest = TenantManifest {
            form: FORM,
            wed: env!("CARGO_PKG_VERSION").to_owned(),
            migration: newest_migration(&mut snapshot).await?,
            tenant: name.to_owned(),
            move_id,
            fenced: wanted.fenced,
            secrets: wanted.with_secrets,
            parts: (parts.iter())
                .map(|(name, columns, _)| TenantPart { name: name.clone(), columns: columns.clone() })
                .collect(),
        };
        send(&pieces, TenantPiece::Begin(manifest)).await?;
        for (number, (_, _, query)) in parts.iter().enumerate() {
            read_part(&mut snapshot, number, query, &pieces).await?;
        }
        send(&pieces, TenantPiece::Complete).await?;
        if wanted.fenced {
            snapshot.command("COMMIT; BEGIN READ ONLY").await?;
        }
        let checksum: Json =
            sqlx::query_scalar("SELECT wed.tenant_checksum($1)").bind(tenant).fetch_one(&mut *snapshot).await?;
        send(&pieces, TenantPiece::End(checksum.clone())).await?;
        snapshot.rollback().await?;
        Ok(checksum)
    }

    /// Begins to take a tenant in: before it is fenced, so that it rests for less.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn stage_tenant(&self) -> Result<StagedTenant, StoreError> {
        let mut transaction = self.begin_alone().await?;
        sqlx::query("SELECT wed.stage_tenant()").execute(&mut *transaction).await?;
        Ok(StagedTenant(transaction))
    }

    /// Takes a tenant in under its own name or another one, in one transaction: whatever fails, nothing of it stays.
    /// The tenant is suspended then, and begins with [`Store::release_tenant`].
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a file of another version, a name that is taken, pieces that end too early, and
    /// when what was taken in differs from what was read out.
    pub async fn import_tenant(
        &self,
        StagedTenant(mut transaction): StagedTenant,
        name: Option<&str>,
        mut pieces: Receiver<TenantPiece>,
        reseal: Reseal<'_>,
    ) -> Result<ImportedTenant, StoreError> {
        let Some(TenantPiece::Begin(manifest)) = pieces.recv().await else {
            return Err(cut());
        };
        let name = name.unwrap_or(&manifest.tenant).to_owned();
        self.forget_arrival(&name, &manifest.move_id).await?;
        if self.tenant_move(&name).await?.is_some() {
            return Err(refused(
                format!("there is a tenant \"{name}\" already"),
                "Take it in under another name: `wed tenant import FILE --as NAME`.",
            ));
        }
        check_manifest(&manifest, newest_migration(&mut transaction).await?)?;
        must_be_new(&mut transaction, &manifest).await?;
        let (tenant, last) = take_parts(&mut transaction, &manifest, &name, &mut pieces).await?;
        sqlx::query("SELECT wed.import_rest($1)").bind(tenant).execute(&mut *transaction).await?;
        if manifest.fenced {
            sqlx::query("INSERT INTO wed.taken_move VALUES ($1::uuid, $2)")
                .bind(&manifest.move_id)
                .bind(tenant)
                .execute(&mut *transaction)
                .await?;
        }
        let secrets_missing = take_secrets(&mut transaction, reseal).await?;
        let checksum: Json =
            sqlx::query_scalar("SELECT wed.tenant_checksum($1)").bind(tenant).fetch_one(&mut *transaction).await?;
        let last = match last {
            TenantPiece::Complete => pieces.recv().await.ok_or_else(cut)?,
            last => last,
        };
        let TenantPiece::End(expected) = last else {
            return Err(cut());
        };
        compare(&expected, &checksum)?;
        let detail = json!({ "move": manifest.move_id, "fenced": manifest.fenced });
        self.commit_noted(transaction, name.as_str(), "tenant.import", &name, detail).await?;
        Ok(ImportedTenant {
            tenant: name,
            fenced: manifest.fenced,
            move_id: manifest.move_id,
            checksum,
            secrets_missing,
        })
    }

    /// Removes what an earlier try of the same move has taken in and not begun.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn forget_arrival(&self, name: &str, move_id: &str) -> Result<(), StoreError> {
        match self.tenant_move(name).await? {
            Some(there) if there.moving.as_deref() == Some("arriving") && there.move_id.as_deref() == Some(move_id) => {
                self.drop_tenant(name).await
            }
            _ => Ok(()),
        }
    }
}

/// Refuses what was taken in already and fenced where it came from: it would work twice.
async fn must_be_new(session: &mut Session, manifest: &TenantManifest) -> Result<(), StoreError> {
    let taken: Option<String> = sqlx::query_scalar(
        "SELECT t.name FROM wed.taken_move m JOIN wed.tenant t USING (tenant_id) WHERE m.move_id = $1::uuid",
    )
    .bind(&manifest.move_id)
    .fetch_optional(session)
    .await?;
    match taken {
        Some(name) if manifest.fenced => Err(refused(
            format!("this tenant was taken in already, as \"{name}\": it would work twice"),
            "For a copy, export it with --snapshot.",
        )),
        _ => Ok(()),
    }
}

async fn newest_migration(session: &mut Session) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("SELECT max(version) FROM public._sqlx_migrations").fetch_one(session).await?)
}

/// Reads a part, in chunks.
async fn read_part(
    session: &mut Session,
    part: usize,
    query: &str,
    pieces: &Sender<TenantPiece>,
) -> Result<(), StoreError> {
    let statement = format!("COPY ({query}) TO STDOUT");
    let mut rows = session.driver().copy_out_raw(&statement).await?;
    let mut bytes = Vec::with_capacity(CHUNK_BYTES);
    while let Some(row) = rows.try_next().await? {
        bytes.extend_from_slice(&row);
        if bytes.len() >= CHUNK_BYTES {
            let bytes = std::mem::replace(&mut bytes, Vec::with_capacity(CHUNK_BYTES));
            send(pieces, TenantPiece::Chunk { part, bytes }).await?;
        }
    }
    match bytes.is_empty() {
        true => Ok(()),
        false => send(pieces, TenantPiece::Chunk { part, bytes }).await,
    }
}

async fn send(pieces: &Sender<TenantPiece>, piece: TenantPiece) -> Result<(), StoreError> {
    (pieces.send(piece).await)
        .map_err(|_| refused("what takes the tenant's pieces has ended", "Its own error says why."))
}

/// Reads all parts into the tables that stage them, and the states into their own. Returns the tenant's number here
/// and the piece behind the parts.
async fn take_parts(
    session: &mut Session,
    manifest: &TenantManifest,
    name: &str,
    pieces: &mut Receiver<TenantPiece>,
) -> Result<(TenantId, TenantPiece), StoreError> {
    let mut tenant = None;
    let mut next = pieces.recv().await;
    loop {
        let (part, bytes) = match next {
            Some(TenantPiece::Chunk { part, bytes }) => (part, bytes),
            Some(last @ (TenantPiece::Complete | TenantPiece::End(_))) => {
                let tenant = match tenant {
                    Some(tenant) => tenant,
                    None => make_tenant(session, manifest, name).await?,
                };
                return Ok((tenant, last));
            }
            Some(TenantPiece::Begin(_)) | None => return Err(cut()),
        };
        let about = manifest.parts.get(part).ok_or_else(cut)?;
        let table = match about.name.strip_prefix(STATES) {
            None => format!("pg_temp.{}", quoted(&format!("in_{}", about.name))),
            Some(flow) => {
                if tenant.is_none() {
                    tenant = Some(make_tenant(session, manifest, name).await?);
                }
                states_table(session, flow).await?
            }
        };
        next = take_part(session, &table, (part, about), bytes, pieces).await?;
    }
}

/// Makes the tenant with what its states need.
async fn make_tenant(session: &mut Session, manifest: &TenantManifest, name: &str) -> Result<TenantId, StoreError> {
    Ok(sqlx::query_scalar("SELECT wed.import_definitions($1, $2::uuid)")
        .bind(name)
        .bind(&manifest.move_id)
        .fetch_one(session)
        .await?)
}

async fn states_table(session: &mut Session, flow: &str) -> Result<String, StoreError> {
    let flow: FlowId = flow.parse().map_err(|_| cut())?;
    let table: Option<String> = sqlx::query_scalar("SELECT wed.states_table($1)").bind(flow).fetch_one(session).await?;
    table.ok_or_else(cut)
}

/// Reads the chunks of one part into a table. Returns the piece after them.
async fn take_part(
    session: &mut Session,
    table: &str,
    (part, about): (usize, &TenantPart),
    first: Vec<u8>,
    pieces: &mut Receiver<TenantPiece>,
) -> Result<Option<TenantPiece>, StoreError> {
    let columns: Vec<String> = about.columns.iter().map(|name| quoted(name)).collect();
    let statement = format!("COPY {table} ({}) FROM STDIN", columns.join(", "));
    let mut copy = session.driver().copy_in_raw(&statement).await?;
    copy.send(first).await?;
    loop {
        match pieces.recv().await {
            Some(TenantPiece::Chunk { part: of, bytes }) if of == part => {
                copy.send(bytes).await?;
            }
            next => {
                copy.finish().await?;
                return Ok(next);
            }
        }
    }
}

/// Stores the secrets of flows that can be sealed anew. Returns the names of the others.
async fn take_secrets(session: &mut Session, reseal: Reseal<'_>) -> Result<Vec<String>, StoreError> {
    let flows: Vec<(FlowId, FlowId, String)> = sqlx::query_as(
        "SELECT DISTINCT n.old::integer, f.flow_id, f.name FROM pg_temp.in_secret s \
         JOIN pg_temp.new_number n ON n.kind = 'flow' AND n.old = s.flow_id JOIN wed.flow f ON f.flow_id = n.new \
         ORDER BY 3",
    )
    .fetch_all(&mut *session)
    .await?;
    let mut missing = Vec::new();
    for (old, new, flow) in flows {
        let secrets: Vec<SealedSecret> = sqlx::query_as(
            "SELECT name, ciphertext, nonce, transitions, senders FROM pg_temp.in_secret WHERE flow_id = $1 ORDER BY 1",
        )
        .bind(old)
        .fetch_all(&mut *session)
        .await?;
        for secret in secrets {
            let Some(sealed) = reseal(old, new, &secret) else {
                missing.push(format!("{flow}/{}", secret.name));
                continue;
            };
            sqlx::query(
                "INSERT INTO wed.secret (flow_id, name, ciphertext, nonce, transitions, senders) \
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(new)
            .bind(&sealed.name)
            .bind(&sealed.ciphertext)
            .bind(&sealed.nonce)
            .bind(&sealed.transitions)
            .bind(&sealed.senders)
            .execute(&mut *session)
            .await?;
        }
    }
    Ok(missing)
}

/// Refuses a file of another form, or of a database with other tables.
fn check_manifest(manifest: &TenantManifest, own: i64) -> Result<(), StoreError> {
    if manifest.form == FORM && manifest.migration == own {
        return Ok(());
    }
    Err(refused(
        format!(
            "the tenant's file has form {} and migration {} (wed {}), and this database form {FORM} and \
             migration {own}",
            manifest.form, manifest.migration, manifest.wed
        ),
        "Bring both installations to the same version of wed with `wed migrate`, and export again.",
    ))
}

/// Refuses what differs from what was read out.
fn compare(expected: &Json, found: &Json) -> Result<(), StoreError> {
    if expected == found {
        return Ok(());
    }
    let empty = serde_json::Map::new();
    let (expected, found) = (expected.as_object().unwrap_or(&empty), found.as_object().unwrap_or(&empty));
    let different: Vec<&str> = (expected.keys().chain(found.keys()))
        .filter(|key| expected.get(*key) != found.get(*key))
        .map(String::as_str)
        .collect();
    Err(refused(
        format!("what was taken in differs from what was read out: {}", different.join(", ")),
        "Nothing was kept. Export again.",
    ))
}

fn cut() -> StoreError {
    refused("the tenant's file ends too early, or is none", "Nothing was kept. Export again.")
}

fn refused(message: impl Into<String>, hint: &str) -> StoreError {
    StoreError::refused("WF024", message, hint)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
