//! API tokens, of which only hashes are kept.

use serde_json::json;
use sqlx::{AssertSqlSafe, FromRow};
use wedflow_documents::Token;
use wedflow_model::TenantId;

use crate::tenants::tenant_id;
use crate::{Store, StoreError};

/// Maximum delay of a token's recorded last use, in Postgres's notation.
const LAST_USED_STEP: &str = "5 minutes";

/// A token to store.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// User of the token.
    pub user: &'a str,
    /// Name that its user gives it.
    pub name: &'a str,
    /// First characters of the token.
    pub prefix: &'a str,
    /// SHA-256 of it.
    pub hash: &'a [u8],
    /// Scopes, within the user's role.
    pub scopes: &'a [String],
    /// Flows that it is for; empty: everything that its scopes allow.
    pub flows: &'a [String],
    /// Life in days.
    pub days: i32,
}

/// Bearer of a token.
#[derive(Debug, Clone, FromRow)]
pub struct Bearer {
    /// The token's number.
    pub token_id: i32,
    /// The tenant's name.
    pub tenant: String,
    /// True if the tenant is suspended.
    pub suspended: bool,
    /// `leaving`, `left` or `arriving`, of a tenant on its way to another database.
    pub moving: Option<String>,
    /// The user's name.
    pub user: String,
    /// The user's role, as it is now.
    pub role: String,
    /// The token's name.
    pub token: String,
    /// The token's first characters.
    pub prefix: String,
    /// Scopes, within the user's role.
    pub scopes: Vec<String>,
    /// Flows that it is for; empty: everything that its scopes allow.
    pub flows: Vec<String>,
    /// Requests that the tenant may make in a second; none: as many as it likes.
    pub requests_per_second: Option<i64>,
    /// True if its last use is so long ago that this one must be recorded.
    pub unseen: bool,
}

impl Store {
    /// Returns the bearer of the token with that hash; none if it is unknown, revoked or expired.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn bearer(&self, hash: &[u8]) -> Result<Option<Bearer>, StoreError> {
        Ok(sqlx::query_as(AssertSqlSafe(format!(
            "SELECT k.token_id, t.name AS tenant, t.suspended_at IS NOT NULL AS suspended, t.moving, u.name AS user, u.role, \
               k.name AS token, k.prefix, k.scopes, k.flows, q.requests_per_second, \
               (k.last_used IS NULL OR k.last_used < now() - interval '{LAST_USED_STEP}') \
                 AND NOT current_setting('transaction_read_only')::boolean AS unseen \
             FROM wed.token k JOIN wed.user u USING (user_id) JOIN wed.tenant t ON t.tenant_id = k.tenant_id \
             LEFT JOIN wed.quota q ON q.tenant_id = k.tenant_id \
             WHERE k.hash = $1 AND k.revoked_at IS NULL AND k.expires_at > now()"
        )))
        .bind(hash)
        .fetch_optional(&self.pool)
        .await?)
    }

    /// Puts down that a token is used.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn token_used(&self, token_id: i32) -> Result<(), StoreError> {
        sqlx::query(AssertSqlSafe(format!(
            "UPDATE wed.token SET last_used = now() WHERE token_id = \
             (SELECT token_id FROM wed.token WHERE token_id = $1 \
               AND (last_used IS NULL OR last_used < now() - interval '{LAST_USED_STEP}') FOR NO KEY UPDATE SKIP \
               LOCKED)"
        )))
        .bind(token_id)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Stores a token; when it ends, RFC 3339.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for tenant or user; [`StoreError::Refused`] with `WF023` when there is a
    /// live one of that name, or it would live too long.
    pub async fn create_token(&self, tenant: &str, token: &NewToken<'_>) -> Result<Token, StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        insert(&mut transaction, tenant_id, token, 1).await?;
        let target = format!("{}/{}", token.user, token.name);
        let detail = json!({ "id": token.prefix, "scopes": token.scopes, "flows": token.flows, "days": token.days });
        self.commit_noted(transaction, tenant, "token.create", &target, detail).await?;
        self.token(tenant, token.prefix).await
    }

    /// Replaces a live token: the new one is live in parallel until the old one ends, `overlap` from now
    /// (Postgres's notation) or earlier.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it is not live; [`StoreError::Refused`] with `WF023` when it is being
    /// replaced already.
    pub async fn rotate_token(
        &self,
        tenant: &str,
        id: &str,
        new: &NewToken<'_>,
        overlap: &str,
    ) -> Result<Token, StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        insert(&mut transaction, tenant_id, new, 2).await?;
        let done = sqlx::query(
            "UPDATE wed.token SET expires_at = least(expires_at, clock_timestamp() + $3::interval) \
             WHERE tenant_id = $1 AND prefix = $2 AND revoked_at IS NULL AND expires_at > now()",
        )
        .bind(tenant_id)
        .bind(id)
        .bind(overlap)
        .execute(&mut *transaction)
        .await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::not_found("token", id));
        }
        self.commit_noted(
            transaction,
            tenant,
            "token.rotate",
            &format!("{}/{}", new.user, new.name),
            json!({ "old": id, "id": new.prefix, "days": new.days, "overlap": overlap }),
        )
        .await?;
        self.token(tenant, new.prefix).await
    }

    /// Ends a token at once.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it is not live.
    pub async fn revoke_token(&self, tenant: &str, id: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let tenant_id = tenant_id(&mut transaction, tenant).await?;
        let whose: Option<String> = sqlx::query_scalar(
            "UPDATE wed.token k SET revoked_at = now() FROM wed.user u \
             WHERE u.user_id = k.user_id AND k.tenant_id = $1 AND k.prefix = $2 AND k.revoked_at IS NULL \
               AND k.expires_at > now() RETURNING u.name || '/' || k.name",
        )
        .bind(tenant_id)
        .bind(id)
        .fetch_optional(&mut *transaction)
        .await?;
        let whose = whose.ok_or_else(|| StoreError::not_found("token", id))?;
        self.commit_noted(transaction, tenant, "token.revoke", &whose, json!({ "id": id })).await
    }

    /// The tenant's tokens, newest first; of one user, when given.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no tenant of that name.
    pub async fn tokens(&self, tenant: &str, user: Option<&str>) -> Result<Vec<Token>, StoreError> {
        let tokens = self.tokens_where(tenant, user, None).await?;
        if tokens.is_empty() {
            self.tenant(tenant).await?;
        }
        Ok(tokens)
    }

    /// Days from the making of a token to its end, rounded.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn token_days(&self, tenant: &str, id: &str) -> Result<i32, StoreError> {
        sqlx::query_scalar(
            "SELECT round(extract(epoch FROM k.expires_at - k.created_at) / 86400)::integer \
             FROM wed.token k JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 AND k.prefix = $2",
        )
        .bind(tenant)
        .bind(id)
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| StoreError::not_found("token", id))
    }

    /// The token with these first characters.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn token(&self, tenant: &str, id: &str) -> Result<Token, StoreError> {
        self.tokens_where(tenant, None, Some(id)).await?.pop().ok_or_else(|| StoreError::not_found("token", id))
    }

    async fn tokens_where(&self, tenant: &str, user: Option<&str>, id: Option<&str>) -> Result<Vec<Token>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT k.prefix AS id, u.name AS user, k.name, k.scopes, k.flows, \
               CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= now() THEN 'expired' ELSE \
               'live' END AS status, \
               wed.rfc3339(k.created_at) AS created_at, \
               wed.rfc3339(k.expires_at) AS expires_at, \
               wed.rfc3339(k.last_used) AS last_used \
             FROM wed.token k JOIN wed.user u USING (user_id) JOIN wed.tenant t ON t.tenant_id = k.tenant_id \
             WHERE t.name = $1 AND ($2::text IS NULL OR u.name = $2) AND ($3::text IS NULL OR k.prefix = $3) \
             ORDER BY k.token_id DESC",
        )
        .bind(tenant)
        .bind(user)
        .bind(id)
        .fetch_all(&self.pool)
        .await?)
    }
}

/// Inserts a token when fewer than `live` of its name are live.
async fn insert(
    connection: &mut crate::Session,
    tenant_id: TenantId,
    token: &NewToken<'_>,
    live: i32,
) -> Result<(), StoreError> {
    let made: bool = sqlx::query_scalar("SELECT wed.create_token($1, $2, $3, $4, $5, $6, $7, $8, $9) IS NOT NULL")
        .bind(tenant_id)
        .bind(token.user)
        .bind(token.name)
        .bind(token.prefix)
        .bind(token.hash)
        .bind(token.scopes)
        .bind(token.days)
        .bind(live)
        .bind(token.flows)
        .fetch_one(connection)
        .await
        .map_err(|error| crate::error::about_name(error.into(), "token", token.name))?;
    if made { Ok(()) } else { Err(StoreError::not_found("user", token.user)) }
}
