//! A time limit on the database's answers. A statement has one on the server; a connection that went silent has none,
//! and whoever waits for it would wait for ever.

use std::time::Duration;

use wedflow_store::Store;

/// Maximum wait for the answers to several statements.
pub(crate) const STATEMENTS_TIME_MAX: Duration = Duration::from_secs(60);

/// Waits for an answer of the database. When it does not come within `limit`, all connections to the server are cut,
/// and it ends with their error.
pub(crate) async fn answered<T>(
    store: &Store,
    limit: Duration,
    call: impl Future<Output = T>,
) -> T {
    let mut call = std::pin::pin!(call);
    if let Ok(answer) = tokio::time::timeout(limit, &mut call).await {
        return answer;
    }
    let cut = store.cut_sessions();
    tracing::warn!(
        seconds = limit.as_secs(),
        cut,
        "the database does not answer; all connections to it are cut and made anew"
    );
    call.await
}
