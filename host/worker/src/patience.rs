//! Calls of the database that are made again until it answers.

use std::time::Duration;

use wedflow_store::StoreError;

use crate::decision::{PAUSE_MAX, PAUSE_MIN};

/// Calls until the database answers. A refusal is logged and ends it: the jobs stay leased and are
/// found again when the lease ends.
pub(crate) async fn with_patience<T, F, Fut>(mut call: F) -> Option<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, StoreError>>,
{
    let mut pause = PAUSE_MIN;
    loop {
        match call().await {
            Ok(answer) => return Some(answer),
            Err(error) if error.is_of_server() => {
                tracing::warn!(
                    %error,
                    "the database is asked again; nothing is lost meanwhile, and `wed status` tells how it is"
                );
                sleep_about(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
            Err(error) => {
                tracing::error!(
                    %error,
                    "the database refused a host's own call; its jobs are looked up again, and `wed status` tells \
                     how the database is"
                );
                return None;
            }
        }
    }
}

/// Sleeps for between half and all of a time, so that hosts do not ask in step.
pub(crate) async fn sleep_about(pause: Duration) {
    tokio::time::sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
}
