//! Settings and secrets that a flow's owner gives its transitions; secrets as ciphertext.

use serde_json::Value as Json;
use sqlx::FromRow;
use wedflow_model::{FlowId, Wid};

use crate::error::about_name;
use crate::statements::statements;
use crate::{Store, StoreError};

/// Maximum number of settings of a flow.
pub const SETTINGS_MAX: i64 = 100;
/// Maximum bytes of a flow's settings, keys and values.
pub const SETTINGS_BYTES_MAX: i64 = 1 << 20;
/// Maximum number of secrets of a flow.
pub const SECRETS_MAX: i64 = 50;
/// Maximum bytes of a flow's secrets, as they are stored.
pub const SECRETS_BYTES_MAX: i64 = 128 << 10;

/// A secret of a flow, as it is stored.
#[derive(Debug, Clone, FromRow)]
pub struct SealedSecret {
    /// Name in the flow.
    pub name: String,
    /// Ciphertext.
    pub ciphertext: Vec<u8>,
    /// The number used once; 24 bytes.
    pub nonce: Vec<u8>,
    /// The transitions that may ask for it.
    pub transitions: Vec<String>,
    /// The transitions that may send it in a header, and not read it.
    pub senders: Vec<String>,
}

/// Access outside its call that a flow grants a transition.
#[derive(Debug, Clone, Default, PartialEq, Eq, FromRow)]
pub struct Grant {
    /// The transition.
    #[sqlx(rename = "trname")]
    pub transition: String,
    /// The files of its instances.
    pub files: bool,
    /// Hosts and ports to which it may speak HTTP.
    pub http: Vec<String>,
}

statements! {
    /// Lists the access that a flow grants its transitions.
    pub grants(&self, flow: FlowId) -> Vec<Grant>
        = rows "SELECT trname, files, http FROM wed.\"grant\" WHERE flow_id = $1 ORDER BY trname", flow;

    /// A flow's settings, by key.
    pub settings(&self, flow: FlowId) -> Vec<(String, String)>
        = rows "SELECT key, value FROM wed.setting WHERE flow_id = $1 ORDER BY key", flow;

    /// Those of some transitions that no trigger of a flow fires and no component is bound to.
    pub unknown_transitions(&self, flow: FlowId, transitions: &[String]) -> Vec<String>
        = all "SELECT n FROM unnest($2::text[]) n \
            WHERE NOT EXISTS (SELECT FROM wed.trigger t WHERE t.flow_id = $1 AND t.trname = n) \
              AND NOT EXISTS (SELECT FROM wed.binding b WHERE b.flow_id = $1 AND b.trname = n)", flow, transitions;

    /// A flow's secrets, by name.
    pub secrets(&self, flow: FlowId) -> Vec<SealedSecret>
        = rows "SELECT name, ciphertext, nonce, transitions, senders FROM wed.secret WHERE flow_id = $1 ORDER BY name",
            flow;
}

impl Store {
    /// Of some instances, named by their flow's part of the gate and their number, those that are final or
    /// whose flow is no more.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn ended(&self, instances: &[(String, Wid)]) -> Result<Vec<(String, Wid)>, StoreError> {
        let (gates, wids): (Vec<&str>, Vec<Wid>) = instances.iter().map(|(gate, wid)| (gate.as_str(), *wid)).unzip();
        Ok(sqlx::query_as(
            "SELECT gate, wid FROM unnest($1::text[], $2::integer[]) AS a(gate, wid) \
             WHERE NOT EXISTS (SELECT FROM wed.flow f JOIN wed.instance i USING (flow_id) \
                               WHERE f.shape_schema = a.gate AND i.wid = a.wid AND i.status <> 'F')",
        )
        .bind(gates)
        .bind(wids)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Gives a flow a setting, or another value to one.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the key is not allowed or the value has more than 64 KiB; with `WF020` when the
    /// flow would have more than [`SETTINGS_MAX`], or [`SETTINGS_BYTES_MAX`] in all.
    pub async fn set_setting(&self, flow: FlowId, key: &str, value: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query(
            "INSERT INTO wed.setting (flow_id, key, value) VALUES ($1, $2, $3) \
             ON CONFLICT (flow_id, key) DO UPDATE SET value = excluded.value",
        )
        .bind(flow)
        .bind(key)
        .bind(value)
        .execute(&mut *transaction)
        .await
        .map_err(|error| about_name(error.into(), "setting", key))?;
        let held = sqlx::query_as(
            "SELECT count(*), coalesce(sum(octet_length(key) + octet_length(value)), 0)::bigint \
             FROM wed.setting WHERE flow_id = $1",
        );
        let held = held.bind(flow).fetch_one(&mut *transaction).await?;
        check_room("settings", held, (SETTINGS_MAX, SETTINGS_BYTES_MAX))?;
        self.commit_noted_of(transaction, flow, "flow.config.set", Some(key), Json::Null).await
    }

    /// Takes a setting away. False: there was none.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn unset_setting(&self, flow: FlowId, key: &str) -> Result<bool, StoreError> {
        let change = sqlx::query("DELETE FROM wed.setting WHERE flow_id = $1 AND key = $2");
        let change = change.bind(flow).bind(key);
        self.change_flow(change, flow, "flow.config.unset", key, Json::Null).await
    }

    /// Gives a flow a secret, or another value to one; grants that it has stay.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the name is not allowed or the value has more than 64 KiB; with `WF020` when the
    /// flow would have more than [`SECRETS_MAX`], or [`SECRETS_BYTES_MAX`] in all.
    pub async fn put_secret(
        &self,
        flow: FlowId,
        name: &str,
        ciphertext: &[u8],
        nonce: &[u8],
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query(
            "INSERT INTO wed.secret (flow_id, name, ciphertext, nonce) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (flow_id, name) DO UPDATE SET ciphertext = excluded.ciphertext, nonce = excluded.nonce",
        )
        .bind(flow)
        .bind(name)
        .bind(ciphertext)
        .bind(nonce)
        .execute(&mut *transaction)
        .await
        .map_err(|error| about_name(error.into(), "secret", name))?;
        let held = sqlx::query_as(
            "SELECT count(*), coalesce(sum(octet_length(ciphertext)), 0)::bigint FROM wed.secret WHERE flow_id = $1",
        );
        let held = held.bind(flow).fetch_one(&mut *transaction).await?;
        check_room("secrets", held, (SECRETS_MAX, SECRETS_BYTES_MAX))?;
        self.commit_noted_of(transaction, flow, "flow.secret.set", Some(name), Json::Null).await
    }

    /// Says which transitions may ask for a secret. False: there is none of that name.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn grant_secret(&self, flow: FlowId, name: &str, transitions: &[String]) -> Result<bool, StoreError> {
        let change = "UPDATE wed.secret SET transitions = $3 WHERE flow_id = $1 AND name = $2";
        let change = sqlx::query(change).bind(flow).bind(name).bind(transitions);
        let detail = serde_json::json!({ "transitions": transitions });
        self.change_flow(change, flow, "flow.secret.grant", name, detail).await
    }

    /// Says which transitions may send a secret in a header of a request, without reading it. False: there is none of
    /// that name.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn let_send_secret(&self, flow: FlowId, name: &str, transitions: &[String]) -> Result<bool, StoreError> {
        let change = "UPDATE wed.secret SET senders = $3 WHERE flow_id = $1 AND name = $2";
        let change = sqlx::query(change).bind(flow).bind(name).bind(transitions);
        let detail = serde_json::json!({ "senders": transitions });
        self.change_flow(change, flow, "flow.secret.grant", name, detail).await
    }

    /// Takes a secret away. False: there was none.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn remove_secret(&self, flow: FlowId, name: &str) -> Result<bool, StoreError> {
        let change = sqlx::query("DELETE FROM wed.secret WHERE flow_id = $1 AND name = $2");
        let change = change.bind(flow).bind(name);
        self.change_flow(change, flow, "flow.secret.remove", name, Json::Null).await
    }
}

/// Refuses what would be more than a flow may have: in number, and in bytes.
fn check_room(kind: &str, held: (i64, i64), most: (i64, i64)) -> Result<(), StoreError> {
    if held.0 <= most.0 && held.1 <= most.1 {
        return Ok(());
    }
    Err(StoreError::refused(
        "WF020",
        format!(
            "the flow would have {} {kind} of {} bytes; a flow has {} at most, of {} bytes in all",
            held.0, held.1, most.0, most.1
        ),
        format!("Remove {kind} that no transition needs, or keep large values elsewhere."),
    ))
}
