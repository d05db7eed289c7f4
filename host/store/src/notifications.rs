//! Connections on which a host hears notifications. What it hears is a hint: a poll always finds what it missed.

use std::time::Duration;

use sqlx::Executor;
use sqlx::postgres::{PgListener, PgPoolOptions};

use crate::servers::Access;
use crate::silence::{silent, watch_sockets};
use crate::{Store, StoreError};

/// Silence of the connection after which its server is asked whether it is there.
const QUIET_TIME_MAX: Duration = Duration::from_secs(60);
/// Longest wait for that answer, and for the connection.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(8);

/// Name of a session that listens, by which the database knows it (`wed.empty_notifications`).
const LISTENER: &str = "wedflow-listen";

/// Hears notifications of a channel.
#[derive(Debug)]
pub struct Notifications {
    listener: PgListener,
}

impl Store {
    /// Opens a connection that hears that there are jobs for hosts.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn job_notifications(&self) -> Result<Notifications, StoreError> {
        self.notifications("wed_jobs").await
    }

    /// Opens a connection that hears of changes to worklists: the number of the tenant, each time.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn work_news(&self) -> Result<Notifications, StoreError> {
        self.notifications("wed_work").await
    }

    pub(crate) async fn notifications(&self, channel: &str) -> Result<Notifications, StoreError> {
        // The driver's listener opens its connection itself: find the server that takes writes before it.
        drop(self.servers.connect(&self.options, Access::Host).await?);
        let options = self.servers.chosen(&self.options).application_name(LISTENER);
        let watched = options.clone();
        let opening = async {
            let pool = PgPoolOptions::new()
                .max_connections(1)
                .max_lifetime(None)
                .idle_timeout(None)
                .acquire_timeout(ANSWER_TIME_MAX)
                .connect_lazy_with(options);
            let mut listener = PgListener::connect_with(&pool).await?;
            listener.eager_reconnect(false);
            listener.listen(channel).await?;
            let _ = tokio::task::spawn_blocking(move || watch_sockets(&watched)).await;
            Ok(Notifications { listener })
        };
        tokio::time::timeout(ANSWER_TIME_MAX, opening).await.unwrap_or_else(|_| Err(silent().into()))
    }
}

impl Notifications {
    /// Waits for a notification; returns its payload. A connection over which nothing was heard for a minute is asked
    /// whether it is there.
    ///
    /// # Errors
    /// When the connection is broken, or silent; what was said meanwhile is lost.
    pub async fn heard(&mut self) -> Result<String, StoreError> {
        loop {
            match tokio::time::timeout(QUIET_TIME_MAX, self.listener.try_recv()).await {
                Ok(Ok(Some(told))) => return Ok(told.payload().to_owned()),
                Ok(Ok(None)) => return Err(silent().into()),
                Ok(Err(error)) => return Err(error.into()),
                Err(_) => {}
            }
            tokio::time::timeout(ANSWER_TIME_MAX, self.listener.execute("SELECT 1"))
                .await
                .unwrap_or_else(|_| Err(silent()))?;
        }
    }
}
