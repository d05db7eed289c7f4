//! Receipts: use by day, tenant, flow and transition, read a part at a time.

use std::time::{Duration, Instant};

use sqlx::types::Json;
use wedflow_documents::Receipt;

use crate::{Store, StoreError};

/// Time after which a part ends with the day that was read last.
const PART_TIME_MAX: Duration = Duration::from_secs(2);
/// Maximum number of days that one request names.
const DAYS_MAX: i32 = 366;

/// Days of receipts: the first and the last, as text; today where absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReceiptDays<'a> {
    /// First day.
    pub since: Option<&'a str>,
    /// Last day.
    pub until: Option<&'a str>,
}

/// Place in a list of receipts: a day, and the row of it that was the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptPlace {
    /// Day from which the list continues.
    pub day: String,
    /// Tenant, flow and transition of the last row, the transition behind a dot; none at the beginning of the day.
    pub after: Option<[String; 3]>,
}

impl ReceiptPlace {
    /// Returns the place behind a row.
    fn behind(row: &Receipt) -> ReceiptPlace {
        let transition = row.transition.as_ref().map(|name| format!(".{name}"));
        ReceiptPlace {
            day: row.day.clone(),
            after: Some([row.tenant.clone(), row.flow.clone(), transition.unwrap_or_default()]),
        }
    }
}

impl Store {
    /// Reads a part of the receipts of some days, of one tenant or of all: at most `limit`, and no further day once
    /// two seconds have passed. Returns them with the place at which the next part begins.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for what is no day, and for more than 366 days.
    pub async fn receipts(
        &self,
        tenant: Option<&str>,
        days: ReceiptDays<'_>,
        from: Option<ReceiptPlace>,
        limit: i64,
    ) -> Result<(Vec<Receipt>, Option<ReceiptPlace>), StoreError> {
        let days = self.receipt_days(days).await?;
        let begin = Instant::now();
        let mut found: Vec<Receipt> = Vec::new();
        let mut days = days.into_iter().peekable();
        while let Some(day) = days.next() {
            let after = match &from {
                Some(place) if day < place.day => continue,
                Some(place) if day == place.day => place.after.clone(),
                _ => None,
            };
            let left = limit - i64::try_from(found.len()).unwrap_or(limit);
            let rows = self.receipts_of_day(tenant, &day, after, left).await?;
            let full = i64::try_from(rows.len()).is_ok_and(|count| count == left);
            found.extend(rows);
            if full {
                let place = found.last().map(ReceiptPlace::behind);
                return Ok((found, place));
            }
            if begin.elapsed() > PART_TIME_MAX
                && let Some(day) = days.peek()
            {
                let (day, after) = (day.clone(), None);
                return Ok((found, Some(ReceiptPlace { day, after })));
            }
        }
        Ok((found, None))
    }

    /// Lists the days between two, both included.
    async fn receipt_days(&self, days: ReceiptDays<'_>) -> Result<Vec<String>, StoreError> {
        let days: Vec<String> = sqlx::query_scalar(
            "SELECT coalesce(to_char(b.since + n, 'YYYY-MM-DD'), 'infinity') \
             FROM (SELECT coalesce($1::text::date, t.day) AS since, coalesce($2::text::date, t.day) AS until \
                   FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) t) b, \
               LATERAL generate_series(0, CASE WHEN isfinite(b.since) AND isfinite(b.until) \
                 THEN least(b.until - b.since, $3) ELSE $3 END) n ORDER BY n",
        )
        .bind(days.since)
        .bind(days.until)
        .bind(DAYS_MAX)
        .fetch_all(&self.pool)
        .await
        .map_err(|error| match StoreError::from(error) {
            StoreError::Refused(refusal) if refusal.code.starts_with("22") => no_days("this is no day".to_owned()),
            other => other,
        })?;
        if i32::try_from(days.len()).is_ok_and(|count| count > DAYS_MAX) {
            return Err(no_days(format!("these are more than {DAYS_MAX} days")));
        }
        Ok(days)
    }

    async fn receipts_of_day(
        &self,
        tenant: Option<&str>,
        day: &str,
        after: Option<[String; 3]>,
        limit: i64,
    ) -> Result<Vec<Receipt>, StoreError> {
        let [after_tenant, after_flow, after_transition] = match after {
            Some(after) => after.map(Some),
            None => [None, None, None],
        };
        let rows: Vec<Json<Receipt>> = sqlx::query_scalar(
            "SELECT to_jsonb(r) || jsonb_build_object('day', $2::text) FROM wed.receipts_of_day($1::text, $2::text::date) r \
             WHERE $3::text IS NULL OR (r.tenant COLLATE \"C\", r.flow COLLATE \"C\", \
               coalesce('.' || r.transition, '') COLLATE \"C\") > ($3, $4, $5) \
             ORDER BY r.tenant COLLATE \"C\", r.flow COLLATE \"C\", coalesce('.' || r.transition, '') COLLATE \"C\" \
             LIMIT $6",
        )
        .bind(tenant)
        .bind(day)
        .bind(after_tenant)
        .bind(after_flow)
        .bind(after_transition)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(|Json(row)| row).collect())
    }
}

fn no_days(message: String) -> StoreError {
    StoreError::refused("22007", message, format!("Name days as 2026-01-31, at most {DAYS_MAX} of them at once."))
}
