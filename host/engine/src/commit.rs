//! Commits a batch of results. A batch is all or nothing in Postgres, so on a refusal it is split,
//! until the one bad result stands alone and hurts its own instance only.

use std::collections::HashMap;
use std::time::Duration;

use wedflow_model::JobKey;
use wedflow_store::{Claimed, CommitGroup, CommitItem, FailedAttempt, LogLine, Store, StoreError};

use crate::results::{Finished, Rendered, Shape, Verdict};

/// How long to wait before a database that did not answer is asked again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What a batch led to.
#[derive(Debug, Default)]
pub(crate) struct Dealt {
    /// Jobs that the new states fired, which are this host's already.
    pub(crate) fired: Vec<Claimed>,
    /// Results that were committed.
    pub(crate) committed: usize,
}

/// A result that is to be committed.
#[derive(Debug)]
struct Ready {
    key: JobKey,
    token: i64,
    item: CommitItem,
    shape: Shape,
}

/// Commits what can be committed, records what failed, stores logs. Ends when all of the batch is dealt with; while the
/// database is away it goes on trying.
/// Without `lease`, what the batch fires is left to whoever claims it.
pub(crate) async fn deal_with(
    store: &Store,
    host: i32,
    batch: Vec<Finished>,
    lease: bool,
) -> Dealt {
    let mut ready = Vec::with_capacity(batch.len());
    let mut failed = Vec::new();
    let mut logs: Vec<LogLine> = Vec::new();
    for finished in batch {
        logs.extend(finished.logs);
        let Finished {
            key,
            token,
            measure,
            verdict,
            ..
        } = finished;
        match verdict {
            Verdict::Commit(Rendered { shape, literals }) => ready.push(Ready {
                key,
                token,
                shape,
                item: CommitItem {
                    wid: key.wid,
                    tgid: key.tgid,
                    token,
                    literals,
                    measure,
                },
            }),
            Verdict::Fail {
                outcome,
                message,
                retry,
                after,
            } => failed.push(FailedAttempt {
                flow: key.flow,
                wid: key.wid,
                tgid: key.tgid,
                token,
                outcome,
                message,
                retry,
                after,
                fuel: measure.fuel,
                elapsed_us: measure.elapsed_us,
                memory_bytes: measure.memory_bytes,
            }),
        }
    }

    let mut dealt = Dealt::default();
    // Halves of halves, on a list instead of the stack.
    let mut parts = if ready.is_empty() {
        Vec::new()
    } else {
        vec![ready]
    };
    while let Some(mut part) = parts.pop() {
        let mut answer = commit(store, host, &mut part, false, lease).await;
        if part.len() == 1 && matches!(answer, Err(StoreError::Refused(_))) {
            // Perhaps it is not the result but a condition that fails on it.
            answer = commit(store, host, &mut part, true, lease).await;
        }
        match answer {
            Ok(claimed) => {
                dealt.committed += part.len();
                dealt.fired.extend(claimed);
            }
            Err(refusal) if refusal.code() == Some("WF016") => {
                // What the host had in hand is another's by now.
                tracing::info!(
                    results = part.len(),
                    "results came after the host's leases were lost; they are dropped"
                );
            }
            Err(refusal) if part.len() == 1 => {
                failed.extend(part.pop().and_then(|alone| into_failure(alone, &refusal)));
            }
            Err(_) => {
                let second = part.split_off(part.len() / 2);
                parts.push(second);
                parts.push(part);
            }
        }
    }
    if !failed.is_empty() {
        with_patience(|| store.fail_batch(host, &failed)).await;
    }
    if !logs.is_empty()
        && let Err(error) = store.store_logs(&logs).await
    {
        tracing::warn!(%error, lines = logs.len(), "log lines were lost");
    }
    dealt
}

/// Commits a part. An answer that was lost is looked up, never repeated blindly: what is no longer
/// held is taken out of the part.
async fn commit(
    store: &Store,
    host: i32,
    part: &mut Vec<Ready>,
    careful: bool,
    lease: bool,
) -> Result<Vec<Claimed>, StoreError> {
    let mut pause = FIRST_PAUSE;
    loop {
        if part.is_empty() {
            return Ok(Vec::new());
        }
        let error = match store
            .commit_batch(host, &groups(part), careful, lease)
            .await
        {
            Ok(fired) => return Ok(fired),
            Err(error) => error,
        };
        if !error.is_transient() {
            return Err(error);
        }
        tracing::warn!(%error, batch = part.len(), "a commit is tried again");
        sleep_about(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        let tokens: Vec<i64> = part.iter().map(|ready| ready.token).collect();
        if let Ok(held) = store.still_held(host, &tokens).await {
            part.retain(|ready| {
                let ours = held.contains(&ready.token);
                if !ours {
                    tracing::info!(
                        token = ready.token,
                        "a result is committed already, or came after its lease was lost"
                    );
                }
                ours
            });
        }
    }
}

/// One group for each flow and shape of clause.
fn groups(part: &[Ready]) -> Vec<CommitGroup> {
    let mut groups: Vec<CommitGroup> = Vec::new();
    let mut at: HashMap<(i32, &Shape), usize> = HashMap::new();
    for ready in part {
        let index = *at.entry((ready.key.flow, &ready.shape)).or_insert_with(|| {
            groups.push(CommitGroup {
                flow: ready.key.flow,
                gate: ready.shape.gate.clone(),
                assigned: ready.shape.assigned.clone(),
                set: ready.shape.set.clone(),
                literals: ready.item.literals.len(),
                items: Vec::new(),
            });
            groups.len() - 1
        });
        groups[index].items.push(ready.item.clone());
    }
    groups
}

/// What a refusal means for the one result that caused it; nothing when the result is just dropped.
fn into_failure(ready: Ready, error: &StoreError) -> Option<FailedAttempt> {
    let code = error.code().unwrap_or("");
    let (outcome, retry) = match code {
        // The final condition would hold while others are pending: wait for them.
        "WF007" => ("final_pending", true),
        // Final meanwhile, or not ours any more.
        "WF002" | "WF003" => return None,
        // What the data make impossible may be possible later; a broken rule stays broken.
        _ if code.starts_with("22") || code.starts_with("23") || code == "57014" => {
            ("refused", true)
        }
        _ => ("refused", false),
    };
    let message = match error.refusal() {
        Some(refusal) => [
            Some(&refusal.message),
            refusal.detail.as_ref(),
            refusal.hint.as_ref(),
        ]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" "),
        None => error.to_string(),
    };
    Some(FailedAttempt {
        flow: ready.key.flow,
        wid: ready.key.wid,
        tgid: ready.key.tgid,
        token: ready.token,
        outcome: outcome.to_owned(),
        message: format!("{message} (SET {})", ready.shape),
        retry,
        after: None,
        fuel: ready.item.measure.fuel,
        elapsed_us: ready.item.measure.elapsed_us,
        memory_bytes: ready.item.measure.memory_bytes,
    })
}

/// Calls until the database answers. A refusal is logged and ends it: the jobs stay leased and are
/// found again when the lease ends.
pub(crate) async fn with_patience<T, F, Fut>(mut call: F) -> Option<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, StoreError>>,
{
    let mut pause = FIRST_PAUSE;
    loop {
        match call().await {
            Ok(answer) => return Some(answer),
            Err(error) if error.is_transient() => {
                tracing::warn!(%error, "the database is asked again");
                sleep_about(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(error) => {
                tracing::error!(%error, "the database refused a host's own call");
                return None;
            }
        }
    }
}

/// Sleeps for between half and all of a time, so that hosts do not ask in step.
async fn sleep_about(pause: Duration) {
    tokio::time::sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_grouped_by_flow_and_shape() {
        let ready = |flow, wid, set: &str| Ready {
            key: JobKey { flow, wid, tgid: 1 },
            token: i64::from(wid),
            shape: Shape {
                gate: format!("gate_{flow}"),
                assigned: vec![set.to_owned()],
                set: None,
            },
            item: CommitItem {
                wid,
                tgid: 1,
                token: i64::from(wid),
                literals: vec![Some("x".into())],
                measure: Default::default(),
            },
        };
        let part = [
            ready(1, 1, "a"),
            ready(2, 2, "a"),
            ready(1, 3, "b"),
            ready(1, 4, "a"),
        ];
        let groups = groups(&part);
        let shape: Vec<_> = groups
            .iter()
            .map(|g| {
                (
                    g.flow,
                    g.assigned[0].as_str(),
                    g.items.iter().map(|i| i.wid).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(
            shape,
            [(1, "a", vec![1, 4]), (2, "a", vec![2]), (1, "b", vec![3])]
        );
    }
}
