//! The Postgres server that all tests share, and the runtime that hosts and the store run on.

use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use tokio::runtime::Runtime;
use wedflow_embedded_postgres::{Postgres, TemporaryPostgres};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .event_interval(1)
        .global_queue_interval(1)
        .enable_all()
        .build()
        .expect("a runtime")
});

/// Waits for a future on the shared runtime.
pub(crate) fn on<T>(work: impl Future<Output = T>) -> T {
    RUNTIME.block_on(work)
}

/// Returns the URL of a server to use instead of a throw-away one.
pub(crate) fn given() -> Option<String> {
    std::env::var("WEDFLOW_TEST_DATABASE_URL").ok().filter(|url| !url.is_empty())
}

static OWN: Mutex<Option<TemporaryPostgres>> = Mutex::new(None);

/// The URL of the server's first database, without its name. The server is started by whoever asks first.
pub(crate) fn url() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    URL.get_or_init(|| {
        let url = given().unwrap_or_else(|| {
            let cluster = on(Postgres::temporary()).expect("a throw-away Postgres");
            let url = cluster.url();
            // Nobody needs these data after a power cut, and hundreds of databases come and go.
            let mut session = super::Session::open(&url);
            for setting in ["fsync", "full_page_writes", "synchronous_commit"] {
                session.run(&format!("ALTER SYSTEM SET {setting} = off"));
            }
            session.run("SELECT pg_reload_conf()");
            *OWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(cluster);
            url
        });
        let (server, _database) = url.rsplit_once('/').expect("a URL with a database");
        server.to_owned()
    })
}

/// Stops the server, if it is ours.
pub(crate) fn stop() {
    drop(OWN.lock().unwrap_or_else(PoisonError::into_inner).take());
}
