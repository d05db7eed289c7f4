//! Documents of tenants as they are listed: one that cannot be read never takes the others with it.

use serde_json::{Value as Json, json};
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::{Decode, Postgres, Type};

/// A document of a tenant. The gate bounds how deep one is nested; of one from before, its place is taken by a note.
pub struct Readable(Json);

impl From<Readable> for Json {
    fn from(readable: Readable) -> Json {
        readable.0
    }
}

impl Type<Postgres> for Readable {
    fn type_info() -> PgTypeInfo {
        <Json as Type<Postgres>>::type_info()
    }

    fn compatible(found: &PgTypeInfo) -> bool {
        <Json as Type<Postgres>>::compatible(found)
    }
}

impl<'r> Decode<'r, Postgres> for Readable {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        match <Json as Decode<'r, Postgres>>::decode(value) {
            Ok(document) => Ok(Readable(document)),
            Err(error) if error.is::<serde_json::Error>() => Ok(Readable(json!({ "unreadable": error.to_string() }))),
            Err(error) => Err(error),
        }
    }
}
