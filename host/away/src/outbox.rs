//! Results and drafts in the local store: on the disk before anything is sent, and kept until the server acknowledges
//! them.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::AwayError;
use crate::store::{BEHIND_MAX, LocalItem, LocalStore};

/// The most confirmed results that are remembered.
const SENT_MAX: i64 = 200;

/// A result that the server has not acknowledged.
#[derive(Debug, Clone, serde::Serialize)]
pub struct KeptResult {
    /// The item.
    pub item: i64,
    /// The idempotency key, made once with the result.
    pub key: String,
    /// `saved` here; `sending` once it was sent and no answer came; `refused` by the server; `damaged` on this disk.
    pub state: String,
    /// The body of the report.
    pub body: Json,
    /// The server's last answer: a refusal, with both versions where there are two, or why it is to be sent again.
    pub answer: Option<Json>,
    /// The item as it was when it was done.
    pub document: Json,
}

impl KeptResult {
    /// True if it is sent with the next connection.
    pub fn is_pending(&self) -> bool {
        ["saved", "sending"].contains(&self.state.as_str())
    }
}

/// A result that the server confirmed.
#[derive(Debug, Clone, serde::Serialize)]
pub struct SentResult {
    /// The item.
    pub item: i64,
    /// The task.
    pub task: String,
    /// The body of the report.
    pub body: Json,
    /// The server's answer.
    pub answer: Json,
    /// Time of the confirmation.
    pub at: String,
}

/// A form that was begun.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Draft {
    /// The item.
    pub item: i64,
    /// The texts as typed, by attribute.
    pub texts: Json,
    /// Time of the last change.
    pub at: String,
}

impl LocalStore {
    /// Keeps a result under a new key until the server acknowledges it. The item is disabled from then on, and its
    /// draft is done with.
    ///
    /// # Errors
    /// [`AwayError::NotEnabled`] when a result is kept already.
    pub fn keep_result(&mut self, item: &LocalItem, body: &Json) -> Result<String, AwayError> {
        let key = format!("{:032x}", rand::random::<u128>());
        let body = body.to_string();
        let transaction = self.connection.transaction()?;
        let kept = transaction.execute(
            "INSERT INTO result (item, key, claim, body, document, state, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, 'saved', ?6) ON CONFLICT DO NOTHING",
            params![item.item, key, item.claim, body, item.document.to_string(), print_of(&key, &body)],
        )?;
        if kept == 0 {
            return Err(AwayError::NotEnabled(format!("a result of item {} is kept already", item.item)));
        }
        transaction.execute("DELETE FROM draft WHERE item = ?1", [item.item])?;
        transaction.commit()?;
        Ok(key)
    }

    /// The results that the server has not taken, oldest item first, and behind each those of tasks that follow it.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn results(&self) -> Result<Vec<KeptResult>, AwayError> {
        let mut statement = self.connection.prepare(
            "SELECT item, key, state, body, answer, document, digest FROM result
             ORDER BY iif(item < 0, -item / ?1, item), item DESC",
        )?;
        let read = |text: &str| serde_json::from_str(text).unwrap_or(Json::Null);
        let rows = statement.query_map([BEHIND_MAX], |row| {
            let (key, body): (String, String) = (row.get(1)?, row.get(3)?);
            let digest: Option<String> = row.get(6)?;
            // What the disk changed is not what the person wrote: it is shown, and never sent.
            let whole = digest.is_none_or(|digest| digest == print_of(&key, &body));
            let state: String = row.get(2)?;
            Ok(KeptResult {
                item: row.get(0)?,
                state: if whole { state } else { "damaged".to_owned() },
                body: read(&body),
                key,
                answer: row.get::<_, Option<String>>(4)?.as_deref().map(read),
                document: read(&row.get::<_, String>(5)?),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The result of an item that the server has not taken.
    ///
    /// # Errors
    /// [`AwayError::NotEnabled`] when there is none.
    pub fn result(&self, item: i64) -> Result<KeptResult, AwayError> {
        let found = self.results()?.into_iter().find(|one| one.item == item);
        found.ok_or_else(|| AwayError::NotEnabled(format!("no result of item {item} is kept here")))
    }

    /// Notes that a result is on its way: from here on the server may have it.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn mark_sending(&self, item: i64) -> Result<(), AwayError> {
        let sql = "UPDATE result SET state = 'sending' WHERE item = ?1";
        self.connection.execute(sql, [item])?;
        Ok(())
    }

    /// Notes why a result was not taken yet; it is sent again.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn postpone(&self, item: i64, answer: &Json) -> Result<(), AwayError> {
        let sql = "UPDATE result SET state = 'saved', answer = ?2 WHERE item = ?1";
        self.connection.execute(sql, params![item, answer.to_string()])?;
        Ok(())
    }

    /// Keeps a refused result with the server's answer.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn refuse(&self, item: i64, answer: &Json) -> Result<(), AwayError> {
        let sql = "UPDATE result SET state = 'refused', answer = ?2 WHERE item = ?1";
        self.connection.execute(sql, params![item, answer.to_string()])?;
        Ok(())
    }

    /// Moves a result that the server confirmed to those that were sent, and forgets its item.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn confirm(&mut self, item: i64, answer: &Json) -> Result<(), AwayError> {
        let transaction = self.connection.transaction()?;
        transaction.execute(
            "INSERT INTO sent (item, key, body, answer, document, at)
             SELECT item, key, body, ?2, document, strftime('%Y-%m-%dT%H:%M:%SZ', 'now') FROM result WHERE item = ?1",
            params![item, answer.to_string()],
        )?;
        transaction.execute("DELETE FROM sent WHERE number <= (SELECT max(number) FROM sent) - ?1", [SENT_MAX])?;
        remove(&transaction, item)?;
        transaction.execute("DELETE FROM item WHERE item = ?1", [item])?;
        transaction.commit()?;
        Ok(())
    }

    /// Forgets a result that the server did not take. The item stays: it can be done anew while it is held.
    ///
    /// # Errors
    /// [`AwayError::NotEnabled`] when there is none, or when it may have arrived.
    pub fn forget(&mut self, item: i64) -> Result<KeptResult, AwayError> {
        let result = self.result(item)?;
        if result.state == "sending" {
            return Err(AwayError::NotEnabled(format!(
                "the result of item {item} is on its way and may have arrived; return first"
            )));
        }
        let transaction = self.connection.transaction()?;
        remove(&transaction, item)?;
        transaction.execute("DELETE FROM item WHERE item = ?1 AND place = -1", [item])?;
        transaction.commit()?;
        Ok(result)
    }

    /// Makes a refused or saved result one that is sent anew: with these values where they are given, under a new key
    /// and the claim that the item has now. It overwrites the version that the refusal showed, and no later one.
    ///
    /// # Errors
    /// [`AwayError::NotEnabled`] when there is none, or when it may have arrived.
    pub fn send_again(&mut self, item: i64, values: Option<&serde_json::Map<String, Json>>) -> Result<(), AwayError> {
        let mut result = self.result(item)?;
        if result.state == "sending" {
            return Err(AwayError::NotEnabled(format!(
                "the result of item {item} is on its way and may have arrived; return first"
            )));
        }
        if let Some(values) = values {
            result.body["values"] = Json::Object(values.clone());
        }
        let sql = "SELECT claim FROM item WHERE item = ?1 AND place >= 0 AND state <> 'READY'";
        let claim: Option<i64> = self.connection.query_row(sql, [item], |row| row.get(0)).optional()?;
        if let Some(claim) = claim.filter(|_| item > 0) {
            result.body["claim"] = claim.into();
        }
        if let Some(base) = result.answer.as_ref().map(|told| &told["answer"]["base"])
            && base.is_i64()
        {
            result.body["base"] = base.clone();
        }
        let (key, body) = (format!("{:032x}", rand::random::<u128>()), result.body.to_string());
        self.connection.execute(
            "UPDATE result SET state = 'saved', key = ?2, body = ?3, digest = ?4, answer = NULL WHERE item = ?1",
            params![item, key, body, print_of(&key, &body)],
        )?;
        Ok(())
    }

    /// The results that the server confirmed, newest first.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn sent(&self) -> Result<Vec<SentResult>, AwayError> {
        let sql = "SELECT item, document, body, answer, at FROM sent ORDER BY number DESC";
        let read = |text: String| serde_json::from_str(&text).unwrap_or(Json::Null);
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            let document = read(row.get(1)?);
            Ok(SentResult {
                item: row.get(0)?,
                task: document["task"].as_str().unwrap_or_default().to_owned(),
                body: read(row.get(2)?),
                answer: read(row.get(3)?),
                at: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Keeps the texts of a form that was begun; an empty object forgets them.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn keep_draft(&self, item: i64, texts: &Json) -> Result<(), AwayError> {
        if texts.as_object().is_none_or(serde_json::Map::is_empty) {
            self.connection.execute("DELETE FROM draft WHERE item = ?1", [item])?;
            return Ok(());
        }
        self.connection.execute(
            "INSERT INTO draft (item, texts, at, document)
             VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'),
               coalesce((SELECT document FROM item WHERE item = ?1), '{}'))
             ON CONFLICT (item) DO UPDATE SET texts = excluded.texts, at = excluded.at",
            params![item, texts.to_string()],
        )?;
        Ok(())
    }

    /// The forms that were begun.
    ///
    /// # Errors
    /// [`AwayError::Store`].
    pub fn drafts(&self) -> Result<Vec<Draft>, AwayError> {
        let mut statement = self.connection.prepare("SELECT item, texts, at FROM draft ORDER BY item")?;
        let rows = statement.query_map([], |row| {
            let texts: String = row.get(1)?;
            Ok(Draft { item: row.get(0)?, texts: serde_json::from_str(&texts).unwrap_or(Json::Null), at: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Removes an item's result.
fn remove(connection: &Connection, item: i64) -> Result<(), AwayError> {
    connection.execute("DELETE FROM result WHERE item = ?1", [item])?;
    connection.execute("DELETE FROM addressee WHERE item = ?1", [item])?;
    Ok(())
}

/// The check sum of a result: its key and body.
fn print_of(key: &str, body: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(key);
    digest.update("\n");
    digest.update(body);
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
