//! The one notification connection of a host. What it hears is a hint: a poll always finds what it
//! missed.

use sqlx::postgres::PgListener;

use crate::{Store, StoreError};

/// Hears that there are jobs for hosts.
#[derive(Debug)]
pub struct Notifications {
    listener: PgListener,
}

impl Store {
    /// Opens a notification connection.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn notifications(&self) -> Result<Notifications, StoreError> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen("wed_jobs").await?;
        Ok(Notifications { listener })
    }
}

impl Notifications {
    /// Waits until there may be jobs. Returns too after a broken connection was made anew, because what
    /// was said meanwhile is lost.
    ///
    /// # Errors
    /// When the connection is broken and cannot be made anew.
    pub async fn heard(&mut self) -> Result<(), StoreError> {
        self.listener.try_recv().await?;
        Ok(())
    }
}
