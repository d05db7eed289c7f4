//! Documents of the API that are read from rows whose columns are their fields.

use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};
use wedflow_documents::{Finding, Tenant, Usage, User, Version};

/// A document, read from a row whose columns are its fields.
pub(crate) struct Row<T>(T);

/// Takes documents out of their rows.
pub(crate) fn documents<T>(rows: Vec<Row<T>>) -> Vec<T> {
    rows.into_iter().map(|Row(document)| document).collect()
}

macro_rules! read_rows {
    ($($document:ident { $($field:ident),+ $(,)? })+) => { $(
        impl FromRow<'_, PgRow> for Row<$document> {
            fn from_row(row: &PgRow) -> sqlx::Result<Self> {
                Ok(Row($document { $($field: row.try_get(stringify!($field))?),+ }))
            }
        }
    )+ };
}

read_rows! {
    Finding { code, place, text, hint, state, certain }
    Tenant {
        name, description, suspended, moving, moved_to, token_days, flows, components, users, created_at, cluster,
    }
    Usage { name, unit, used, allowed }
    User { name, role, created_at }
    Version { version, applied_at, actor, definition }
}
