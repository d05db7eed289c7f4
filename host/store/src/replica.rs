//! A replica of the database: read from, and known for how far it has come. Never asked for what decides something.

use std::time::Duration;

use crate::servers::Access;
use crate::session::Pooling;
use crate::statements::statements;
use crate::{LOCK_TIMEOUT, Store, StoreError, limits};

/// Longest wait for a session of the replica: the primary answers instead.
const REPLICA_WAIT: Duration = Duration::from_secs(1);

statements! {
    /// Returns the position in the write-ahead log up to which this server, a primary, has written: whatever was
    /// committed before stands below it.
    pub written_to(&self) -> i64 = one "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint";

    /// Returns the position up to which this server has taken over what its primary wrote; none of a server that is no
    /// replica.
    pub replayed_to(&self) -> Option<i64>
        = one "SELECT CASE WHEN pg_is_in_recovery() THEN \
            pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint END";
}

impl Store {
    /// A replica at a URL for reading, over at most `connections` connections and for at most `most` a statement.
    /// Connects when it is used.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the URL cannot be read.
    pub fn replica(url: &str, connections: u32, most: Duration) -> Result<Self, StoreError> {
        let store = Store::lazy(url)?;
        let options = (store.options.clone())
            .options(limits(most, LOCK_TIMEOUT))
            .options([("default_transaction_read_only", "on")]);
        let pooling = Pooling { access: Access::Any, wait: REPLICA_WAIT, ..Pooling::host(connections, most) };
        Ok(store.over(options, pooling))
    }
}
