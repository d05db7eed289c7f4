//! The local store: one SQLite file of a person's items, their data and components, and results until they are
//! acknowledged.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::{AwayError, Owner, Part};

/// The most tasks that are taken away together with an item. The n-th of item 7 is item -(7 * 100 + n) here.
pub(crate) const BEHIND_MAX: i64 = 100;

/// The most measurements of the bandwidth that are remembered.
const SPEEDS_MAX: usize = 5;
/// Bytes below which a transfer tells nothing about the bandwidth.
pub(crate) const MEASURED_BYTES_MIN: u64 = 32 * 1024;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS item (
  item INTEGER PRIMARY KEY, state TEXT NOT NULL, claim INTEGER NOT NULL, document TEXT NOT NULL,
  etag TEXT, place INTEGER NOT NULL, data_complete INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS component (
  etag TEXT PRIMARY KEY, total INTEGER NOT NULL, held INTEGER NOT NULL, complete INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS part (
  etag TEXT NOT NULL, at INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (etag, at));
CREATE TABLE IF NOT EXISTS result (
  item INTEGER PRIMARY KEY, key TEXT NOT NULL, claim INTEGER NOT NULL, body TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'kept', answer TEXT, document TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS wanted (item INTEGER PRIMARY KEY, etag TEXT NOT NULL);
-- The item that a task became which was taken away together with another one, before its result is sent.
CREATE TABLE IF NOT EXISTS addressee (item INTEGER PRIMARY KEY, number INTEGER NOT NULL, claim INTEGER NOT NULL);
-- Texts of a form that was begun and is not reported.
CREATE TABLE IF NOT EXISTS draft (
  item INTEGER PRIMARY KEY, texts TEXT NOT NULL, at TEXT NOT NULL, document TEXT NOT NULL);
-- Results that the server confirmed.
CREATE TABLE IF NOT EXISTS sent (
  number INTEGER PRIMARY KEY, item INTEGER NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, answer TEXT NOT NULL,
  document TEXT NOT NULL, at TEXT NOT NULL);
";

/// Changes of the tables of stores that earlier programs made. The store's `user_version` counts those that are done.
const UPGRADES: [&str; 1] = ["
ALTER TABLE item ADD COLUMN mark TEXT;
ALTER TABLE item ADD COLUMN data_mark TEXT;
ALTER TABLE wanted ADD COLUMN next TEXT;
ALTER TABLE result ADD COLUMN digest TEXT;
UPDATE result SET state = 'saved' WHERE state = 'kept';
"];

/// An open local store.
#[derive(Debug)]
pub struct LocalStore {
    pub(crate) connection: Connection,
}

/// An item as this machine has it.
#[derive(Debug, Clone, serde::Serialize)]
pub struct LocalItem {
    /// Number of the item.
    pub item: i64,
    /// The state that the server told last.
    pub state: String,
    /// The claim it is held under.
    pub claim: i64,
    /// True if its data and component are here, whole and checked.
    pub transferred: bool,
    /// True if nothing changed at the server since they came.
    pub fresh: bool,
    /// True if it may be done now.
    pub enabled: bool,
    /// Fate of its result, if there is one: `saved`, `sending`, `refused`, `damaged`.
    pub result: Option<String>,
    /// The server's document with the data.
    pub document: Json,
}

/// Returns true for the states of items that somebody holds.
fn is_held(state: &str) -> bool {
    ["SELECTED", "LOCKED", "RUNNING"].contains(&state)
}

impl LocalItem {
    /// An item as the server lists it, of which nothing is here.
    pub fn listed(document: &Json) -> Self {
        let state = document["state"].as_str().unwrap_or_default().to_owned();
        LocalItem {
            item: document["item"].as_i64().unwrap_or(0),
            claim: document["claim"].as_i64().unwrap_or(0),
            transferred: false,
            fresh: false,
            enabled: is_held(&state),
            state,
            result: None,
            document: document.clone(),
        }
    }
}

impl LocalStore {
    /// Opens a store, which is made when it is missing. A power cut loses nothing that was acknowledged.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn open(path: &Path) -> Result<Self, AwayError> {
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        upgrade(&mut connection)?;
        Ok(LocalStore { connection })
    }

    /// Returns the owner of the store; none before its first contact with a server.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn owner(&self) -> Result<Option<Owner>, AwayError> {
        let (person, tenant, server) = (self.setting("person")?, self.setting("tenant")?, self.setting("server")?);
        Ok(person.map(|person| Owner {
            person,
            tenant: tenant.unwrap_or_default(),
            server: server.unwrap_or_default(),
        }))
    }

    /// Lets an owner in. The first one makes the store their own.
    ///
    /// # Errors
    /// [`AwayError::Foreign`] for another person, tenant or installation.
    pub fn admit(&self, owner: &Owner) -> Result<(), AwayError> {
        let known = self.owner()?;
        // Stores of earlier programs know the person alone.
        let same = |known: &str, told: &str| known.is_empty() || known == told;
        if let Some(known) = &known
            && !(known.person == owner.person
                && same(&known.tenant, &owner.tenant)
                && same(&known.server, &owner.server))
        {
            return Err(AwayError::Foreign { store: Box::new(known.clone()), token: Box::new(owner.clone()) });
        }
        if known.as_ref() != Some(owner) {
            self.set("person", &owner.person)?;
            self.set("tenant", &owner.tenant)?;
            self.set("server", &owner.server)?;
        }
        Ok(())
    }

    /// Bytes a second: the best of the last transfers that were large enough to tell.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn bandwidth(&self) -> Result<Option<f64>, AwayError> {
        Ok(self.speeds()?.into_iter().reduce(f64::max))
    }

    fn speeds(&self) -> Result<Vec<f64>, AwayError> {
        let text = self.setting("speeds")?.unwrap_or_default();
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Remembers a transfer's speed, if it moved enough bytes to tell.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn measure(&self, bytes: u64, seconds: f64) -> Result<(), AwayError> {
        if bytes < MEASURED_BYTES_MIN {
            return Ok(());
        }
        let mut speeds = self.speeds()?;
        speeds.push(bytes as f64 / seconds.max(1e-6));
        let last = speeds.len().saturating_sub(SPEEDS_MAX);
        self.set("speeds", &Json::from(speeds.split_off(last)).to_string())
    }

    /// A setting: `mode`, `bandwidth`, `quota`, `prefetch`.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn setting(&self, name: &str) -> Result<Option<String>, AwayError> {
        let sql = "SELECT value FROM setting WHERE name = ?1";
        Ok(self.connection.query_row(sql, [name], |row| row.get(0)).optional()?)
    }

    /// Keeps a setting.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn set(&self, name: &str, value: &str) -> Result<(), AwayError> {
        let sql = "INSERT INTO setting VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.connection.execute(sql, [name, value])?;
        Ok(())
    }

    /// Replaces the list by the one that the server told, in its order. The data of an item that left the list are
    /// deleted, unless a result of it is kept. What is held is always listed in whole; of what is offered a list may
    /// be `cut`, and then nothing that is missing there is deleted.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn take_list(&mut self, list: &[Json], cut: bool) -> Result<(), AwayError> {
        let transaction = self.connection.transaction()?;
        transaction.execute("UPDATE item SET place = -1", [])?;
        for (place, document) in (0_i64..).zip(list) {
            list_item(&transaction, place, document)?;
        }
        transaction.execute(
            "DELETE FROM item WHERE place = -1 AND NOT (?2 AND state = 'READY')
               AND item NOT IN (SELECT item FROM result)
               AND NOT (item < 0 AND -item / ?1 IN (SELECT item FROM item WHERE place >= 0 UNION SELECT item FROM
                 result))",
            params![BEHIND_MAX, cut],
        )?;
        transaction.execute_batch(
            "DELETE FROM wanted WHERE item NOT IN (SELECT item FROM item);
             DELETE FROM part
               WHERE etag NOT IN (SELECT etag FROM wanted UNION SELECT next FROM wanted WHERE next IS NOT NULL);
             DELETE FROM component
               WHERE etag NOT IN (SELECT etag FROM wanted UNION SELECT next FROM wanted WHERE next IS NOT NULL);",
        )?;
        transaction.commit()?;
        Ok(())
    }

    /// Keeps the tasks that are taken away together with an item, which `behind` of its document lists; their numbers
    /// here, which are below 0.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn take_behind(&mut self, item: i64, document: &Json) -> Result<Vec<(i64, Json)>, AwayError> {
        let behind = document["behind"].as_array().map_or(&[][..], Vec::as_slice);
        let mut taken = Vec::new();
        for (place, one) in (0_i64..BEHIND_MAX).zip(behind) {
            let number = -(item * BEHIND_MAX + place);
            let mut one = one.clone();
            one["item"] = number.into();
            one["after"] = item.into();
            self.connection.execute(
                "INSERT INTO item (item, state, claim, document, place, data_complete)
                    VALUES (?1, 'LOCKED', 0, ?2, 1000000 + ?3, 0)
                 ON CONFLICT (item) DO UPDATE SET place = excluded.place",
                params![number, one.to_string(), place],
            )?;
            taken.push((number, one));
        }
        // What is no longer taken along, unless it is done already.
        self.connection.execute(
            "DELETE FROM item WHERE item < 0 AND -item / ?1 = ?2 AND -item % ?1 >= ?3
               AND item NOT IN (SELECT item FROM result)",
            params![BEHIND_MAX, item, taken.len() as i64],
        )?;
        Ok(taken)
    }

    /// The items that may be taken away and are not here in whole: locked ones first, then in the order of the
    /// worklist.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn missing(&self) -> Result<Vec<i64>, AwayError> {
        let mut items = self.items()?;
        items.retain(|one| one.item > 0 && one.document["disconnected"] == true && !one.fresh && one.result.is_none());
        items.sort_by_key(|one| one.state != "LOCKED");
        Ok(items.into_iter().map(|one| one.item).collect())
    }

    /// Lists those of [`Self::missing`] that the person locked.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn missing_locked(&self) -> Result<Vec<i64>, AwayError> {
        let mut missing = self.missing()?;
        let items = self.items()?;
        let locked = |number: &i64| items.iter().any(|one| one.item == *number && one.state == "LOCKED");
        missing.retain(locked);
        Ok(missing)
    }

    /// Lists items whose component was copied in part or in whole: number, bytes copied, bytes of the whole.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn held(&self) -> Result<Vec<(i64, u64, u64)>, AwayError> {
        let mut statement = self.connection.prepare(
            "SELECT w.item, c.held, c.total FROM wanted w JOIN component c ON c.etag = coalesce(w.next, w.etag)",
        )?;
        let number = |value: i64| value.unsigned_abs();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, number(row.get(1)?), number(row.get(2)?))))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The item and claim that a task became which was taken away together with another one.
    pub(crate) fn addressee(&self, item: i64) -> Result<Option<(i64, i64)>, AwayError> {
        let sql = "SELECT number, claim FROM addressee WHERE item = ?1";
        let found = self.connection.query_row(sql, [item], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(found.optional()?)
    }

    /// Keeps the item and claim that such a task became.
    pub(crate) fn address(&self, item: i64, number: i64, claim: i64) -> Result<(), AwayError> {
        let sql = "INSERT INTO addressee VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        self.connection.execute(sql, [item, number, claim])?;
        Ok(())
    }

    /// The document of an item as it was when its result was kept.
    pub(crate) fn kept_document(&self, item: i64) -> Result<Json, AwayError> {
        let sql = "SELECT document FROM result WHERE item = ?1";
        let text: String = self.connection.query_row(sql, [item], |row| row.get(0))?;
        Ok(serde_json::from_str(&text).unwrap_or(Json::Null))
    }

    /// Keeps an item's document with its data.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn take_data(&self, item: i64, document: &Json) -> Result<(), AwayError> {
        self.connection.execute(
            "UPDATE item SET document = ?2, data_complete = 1, mark = ?3, data_mark = ?3 WHERE item = ?1",
            params![item, document.to_string(), document["mark"].as_str()],
        )?;
        Ok(())
    }

    /// Bytes of an item's component that are here already, so that a transfer continues after them.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn held_bytes(&self, item: i64) -> Result<u64, AwayError> {
        let sql = "SELECT c.held FROM component c JOIN wanted w ON c.etag = coalesce(w.next, w.etag) WHERE w.item = ?1";
        let held: Option<i64> = self.connection.query_row(sql, [item], |row| row.get(0)).optional()?;
        Ok(held.unwrap_or(0).unsigned_abs())
    }

    /// Says which component an item needs, by its mark, so that one that is here already is not fetched again. A whole
    /// one of another version stays until the new one is whole. The bytes of it that are here, and whether it is whole.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn want(&self, item: i64, mark: &str) -> Result<(u64, bool), AwayError> {
        want(&self.connection, item, mark)?;
        self.holds(mark)
    }

    /// The bytes of a component that are here, by its mark, and whether it is whole.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn holds(&self, mark: &str) -> Result<(u64, bool), AwayError> {
        let sql = "SELECT held, complete FROM component WHERE etag = ?1";
        let found: Option<(i64, bool)> =
            self.connection.query_row(sql, [mark], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(found.map_or((0, false), |(held, whole)| (held.unsigned_abs(), whole)))
    }

    /// Keeps a part of an item's component. The part of another version, or of another place than the next, begins
    /// anew. The last one completes it only if the digest is the announced one.
    ///
    /// # Errors
    /// [`AwayError::Damaged`]: all of it is thrown away.
    pub fn take_part(&mut self, item: i64, part: Part<'_>) -> Result<(), AwayError> {
        let transaction = self.connection.transaction()?;
        let at = part.at.cast_signed();
        want(&transaction, item, part.etag)?;
        transaction.execute(
            "INSERT INTO component (etag, total, held) VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING",
            params![part.etag, part.total.cast_signed()],
        )?;
        let (held, complete): (i64, bool) =
            transaction.query_row("SELECT held, complete FROM component WHERE etag = ?1", [part.etag], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        if complete {
            transaction.commit()?;
            return Ok(());
        }
        if held != at {
            // Of another version the beginning is missing.
            transaction.commit()?;
            return Err(AwayError::Damaged(part.etag.to_owned()));
        }
        if !part.bytes.is_empty() {
            transaction.execute("INSERT INTO part VALUES (?1, ?2, ?3)", params![part.etag, at, part.bytes])?;
        }
        let held = part.at + part.bytes.len() as u64;
        transaction
            .execute("UPDATE component SET held = ?2 WHERE etag = ?1", params![part.etag, held.cast_signed()])?;
        transaction.commit()?;
        if held == part.total {
            self.complete(part.etag)?;
        }
        Ok(())
    }

    fn complete(&self, etag: &str) -> Result<(), AwayError> {
        let bytes = self.parts(etag)?;
        let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let announced = etag.trim_matches('"').rsplit('-').next().unwrap_or_default();
        if digest != announced {
            self.connection.execute("DELETE FROM part WHERE etag = ?1", [etag])?;
            self.connection.execute("UPDATE component SET held = 0 WHERE etag = ?1", [etag])?;
            return Err(AwayError::Damaged(etag.to_owned()));
        }
        self.connection.execute("UPDATE component SET complete = 1 WHERE etag = ?1", [etag])?;
        self.connection.execute("UPDATE wanted SET etag = next, next = NULL WHERE next = ?1", [etag])?;
        Ok(())
    }

    fn parts(&self, etag: &str) -> Result<Vec<u8>, AwayError> {
        let mut statement = self.connection.prepare("SELECT bytes FROM part WHERE etag = ?1 ORDER BY at")?;
        let mut bytes = Vec::new();
        for part in statement.query_map([etag], |row| row.get::<_, Vec<u8>>(0))? {
            bytes.extend(part?);
        }
        Ok(bytes)
    }

    /// The items in the order of the worklist. Without a connection only those are enabled that are locked, transferred
    /// and not done. A task that is taken away together with an item is enabled once that one has succeeded here; it
    /// sees what was set there.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn items(&self) -> Result<Vec<LocalItem>, AwayError> {
        let connected = self.setting("mode")?.as_deref() != Some("disconnected");
        let mut statement = self.connection.prepare(
            "SELECT i.item, i.state, i.claim, i.document, i.data_complete, r.state,
               coalesce((SELECT c.complete FROM component c JOIN wanted w USING (etag) WHERE w.item = i.item), 0),
               i.mark IS i.data_mark
             FROM item i LEFT JOIN result r USING (item)
             WHERE i.place >= 0 OR i.item < 0 OR r.item IS NOT NULL ORDER BY i.place, i.item DESC",
        )?;
        let rows = statement.query_map([], |row| {
            let document: String = row.get(3)?;
            let document: Json = serde_json::from_str(&document).unwrap_or(Json::Null);
            let (state, data, component): (String, bool, bool) = (row.get(1)?, row.get(4)?, row.get(6)?);
            let transferred = data && (component || document["application"].is_null());
            let result: Option<String> = row.get(5)?;
            let away = state == "LOCKED" && transferred;
            let enabled = result.is_none() && if connected { is_held(&state) } else { away };
            Ok(LocalItem {
                item: row.get(0)?,
                claim: row.get(2)?,
                enabled,
                state,
                fresh: transferred && row.get(7)?,
                transferred,
                result,
                document,
            })
        })?;
        let mut items: Vec<LocalItem> = rows.collect::<Result<_, _>>()?;
        drop(statement);
        self.follow(&mut items, connected)?;
        Ok(items)
    }

    /// Enables what follows a success that is kept here, with the values that were set there.
    fn follow(&self, items: &mut [LocalItem], connected: bool) -> Result<(), AwayError> {
        if items.iter().all(|item| item.item > 0) {
            return Ok(());
        }
        let results = self.results()?;
        for item in items.iter_mut().filter(|item| item.item < 0) {
            let before = -item.item / BEHIND_MAX;
            let place = -item.item % BEHIND_MAX;
            let chain = std::iter::once(before).chain((0..place).map(|n| -(before * BEHIND_MAX + n)));
            let mut ready = true;
            for one in chain {
                let done = results.iter().find(|result| result.item == one && result.body["success"] == true);
                ready &= done.is_some();
                let values = done.and_then(|result| result.body["values"].as_object());
                for (name, value) in values.into_iter().flatten() {
                    if !item.document["data"][name].is_null() || item.document["types"].get(name).is_some() {
                        item.document["data"][name] = value.clone();
                    }
                }
            }
            item.enabled &= ready && !connected;
        }
        Ok(())
    }

    /// An item that may be done now.
    ///
    /// # Errors
    /// [`AwayError::NotEnabled`] says why not.
    pub fn enabled(&self, item: i64) -> Result<LocalItem, AwayError> {
        let found = self.items()?.into_iter().find(|one| one.item == item);
        let Some(found) = found else {
            return Err(AwayError::NotEnabled(format!("item {item} is not in the local store")));
        };
        if found.enabled {
            return Ok(found);
        }
        let why = match (&found.result, found.transferred) {
            (Some(state), _) => format!("its result is {state} already"),
            (None, true) if item < 0 => format!("it follows item {}, which is not done", found.document["after"]),
            (None, false) => "its data or its component are not here in whole".to_owned(),
            (None, true) => format!("it is {}, and only locked items are done without a connection", found.state),
        };
        Err(AwayError::NotEnabled(format!("item {item} cannot be done now: {why}")))
    }

    /// An item that may be done now, with the bytes of its component, which were checked when they were whole.
    ///
    /// # Errors
    /// [`AwayError::NotEnabled`] says why not.
    pub fn executable(&self, item: i64) -> Result<(LocalItem, Option<Vec<u8>>), AwayError> {
        let found = self.enabled(item)?;
        let sql = "SELECT w.etag FROM wanted w JOIN component c USING (etag) WHERE w.item = ?1 AND c.complete";
        let etag: Option<String> = self.connection.query_row(sql, [item], |row| row.get(0)).optional()?;
        let bytes = etag.map(|etag| self.parts(&etag)).transpose()?;
        if bytes.is_none() && !found.document["application"].is_null() {
            return Err(AwayError::NotEnabled(format!("the component of item {item} is not here in whole")));
        }
        Ok((found, bytes))
    }
}

/// Makes the tables, and brings those of an earlier program up to date.
fn upgrade(connection: &mut Connection) -> Result<(), AwayError> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    let done: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for (number, step) in (1_i64..).zip(UPGRADES).filter(|(number, _)| *number > done) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Lists an item at a place; its data stay those of the state that they were read from (`base`). An item of another
/// claim than before is no longer taken along with what followed it.
fn list_item(connection: &Connection, place: i64, document: &Json) -> Result<(), AwayError> {
    let (item, claim) = (document["item"].as_i64(), document["claim"].as_i64());
    connection.execute(
        "DELETE FROM item WHERE item < 0 AND -item / ?1 = ?2 AND item NOT IN (SELECT item FROM result)
           AND EXISTS (SELECT 1 FROM item i WHERE i.item = ?2 AND i.claim <> ?3)",
        params![BEHIND_MAX, item, claim],
    )?;
    connection.execute(
        "INSERT INTO item (item, state, claim, document, place, data_complete, mark) VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)
         ON CONFLICT (item) DO UPDATE SET state = excluded.state, place = excluded.place, mark = excluded.mark,
           document = json_patch(document, json_remove(excluded.document, '$.base')), claim = excluded.claim",
        params![item, document["state"].as_str(), claim, document.to_string(), place, document["mark"].as_str()],
    )?;
    Ok(())
}

/// Says which component an item needs; a whole one of another version stays until this one is whole.
fn want(connection: &Connection, item: i64, mark: &str) -> Result<(), AwayError> {
    connection.execute(
        "INSERT INTO wanted (item, etag) VALUES (?1, ?2) ON CONFLICT (item) DO UPDATE SET
           next = iif(wanted.etag <> ?2 AND EXISTS (SELECT 1 FROM component WHERE etag = wanted.etag AND complete)
                      AND NOT EXISTS (SELECT 1 FROM component WHERE etag = ?2 AND complete), ?2, NULL),
           etag = iif(wanted.etag <> ?2 AND EXISTS (SELECT 1 FROM component WHERE etag = wanted.etag AND complete)
                      AND NOT EXISTS (SELECT 1 FROM component WHERE etag = ?2 AND complete), wanted.etag, ?2)",
        params![item, mark],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn etag(bytes: &[u8]) -> String {
        let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("\"editor-1-{digest}\"")
    }

    /// A store with one locked item of which only the component is missing.
    fn store() -> (tempfile::TempDir, LocalStore) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = LocalStore::open(&folder.path().join("s")).expect("a store");
        let item = serde_json::json!({ "item": 1, "state": "LOCKED", "claim": 1, "application": "editor" });
        store.take_list(std::slice::from_ref(&item), false).expect("listed");
        store.take_data(1, &item).expect("data");
        store.set("mode", "disconnected").expect("set");
        (folder, store)
    }

    #[test]
    fn copy_that_is_cut_at_any_byte_resumes_and_is_executable_only_whole() {
        let bytes: Vec<u8> = (0..=99).collect();
        let (etag, total) = (etag(&bytes), bytes.len() as u64);
        for cut in 0..bytes.len() {
            let (_folder, mut store) = store();
            let mut take = |at: usize, bytes: &[u8]| {
                let part = Part { etag: &etag, total, at: at as u64, bytes };
                store.take_part(1, part).expect("kept");
                store.executable(1).map(|(_, bytes)| bytes)
            };
            assert!(take(0, &bytes[..cut]).is_err(), "{cut}");
            let whole = take(cut, &bytes[cut..]).expect("whole");
            assert_eq!(whole.as_deref(), Some(&bytes[..]), "{cut}");
        }
    }

    #[test]
    fn damaged_copy_is_thrown_away() {
        let (_folder, mut store) = store();
        let etag = etag(b"right");
        let part = Part { etag: &etag, total: 5, at: 0, bytes: b"wrong" };
        assert!(matches!(store.take_part(1, part), Err(AwayError::Damaged(_))));
        assert!(store.executable(1).is_err());
        assert_eq!(store.held_bytes(1).expect("held"), 0);
        store.take_part(1, Part { bytes: b"right", ..part }).expect("kept");
        assert!(store.executable(1).is_ok());
    }

    #[test]
    fn result_is_kept_once_and_disables_its_item() {
        let (_folder, mut store) = store();
        let item = store.items().expect("items").remove(0);
        store.keep_result(&item, &Json::Null).expect("kept");
        assert!(store.keep_result(&item, &Json::Null).is_err());
        assert!(!store.items().expect("items")[0].enabled);
    }
}
