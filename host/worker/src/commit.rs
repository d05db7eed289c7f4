//! Commits a batch of results. A batch is all or nothing in Postgres, so on a refusal it is split,
//! until the one bad result stands alone and hurts its own instance only.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt};
use wedflow_model::{FlowId, HostId, JobKey, LeaseToken};
use wedflow_sandbox::Provided;
use wedflow_store::{
    AttemptRecord, Claimed, CommitGroup, CommitItem, FailedAttempt, Store, StoreError,
};

use crate::lane::Lane;
use crate::results::{Finished, Rendered, Shape, Verdict, no_record};
use crate::silence::{AT_LAST, answered};

/// How long to wait before a database that did not answer is asked again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often a result alone is tried to be committed where nobody knows whose fault the refusal is.
const UNKNOWN_TRIES: u32 = 5;

/// A result that is to be committed.
#[derive(Debug)]
struct Ready {
    key: JobKey,
    token: LeaseToken,
    item: CommitItem,
    shape: Arc<Shape>,
    provided: Option<Arc<Provided>>,
    deadline: i64,
    record: Option<Box<AttemptRecord>>,
}

/// A result that changes nothing, and what is to be kept of it.
#[derive(Debug, Default)]
struct Failures {
    attempts: Vec<FailedAttempt>,
    records: Vec<AttemptRecord>,
}

/// Commits what can be committed, records what failed, each with what is to be kept of it. Ends when all of the batch is dealt with; while the
/// database is away it goes on trying.
/// Without `lease`, what the batch fires is left to whoever claims it; else `lane` takes it, part by
/// part as those are committed: it is this host's already. Answers how many results were committed.
pub(crate) async fn deal_with(
    store: &Store,
    host: HostId,
    batch: Vec<Finished>,
    lease: bool,
    lane: &Lane,
) -> usize {
    let mut ready = Vec::with_capacity(batch.len());
    let mut failed = Failures::default();
    for finished in batch {
        let Finished {
            key,
            token,
            measure,
            deadline,
            record,
            verdict,
            provided,
            ..
        } = finished;
        match verdict {
            Verdict::Commit(Rendered { shape, literals }) => ready.push(Ready {
                key,
                token,
                shape,
                provided,
                deadline,
                record,
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
            } => {
                failed.records.extend(record.map(|record| *record));
                failed.attempts.push(FailedAttempt {
                    flow: key.flow,
                    wid: key.wid,
                    tgid: key.tgid,
                    token,
                    outcome,
                    message: masked(message, provided.as_deref()),
                    retry,
                    after,
                    fuel: measure.fuel,
                    elapsed_us: measure.elapsed_us,
                    memory_bytes: measure.memory_bytes,
                });
            }
        }
    }

    let mut committed = 0;
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
                committed += part.len();
                lane.take(claimed).await;
            }
            Err(refusal) if is_locked(&refusal) => match other_flows(&mut part) {
                Some(others) => {
                    parts.push(others);
                    parts.push(part);
                }
                None => put_off(store, host, part.iter().map(|ready| ready.token)).await,
            },
            Err(refusal) if refusal.code() == Some("WF016") => {
                // What the host had in hand is another's by now.
                tracing::info!(
                    results = part.len(),
                    "results came after the host's leases were lost; they are dropped"
                );
            }
            Err(refusal) if part.len() == 1 => {
                if let Some(alone) = part.pop() {
                    into_failure(alone, &refusal, &mut failed);
                }
            }
            Err(_) => {
                let second = part.split_off(part.len() / 2);
                parts.push(second);
                parts.push(part);
            }
        }
    }
    record(store, host, failed).await;
    committed
}

/// Whether somebody holds a lock that was waited for in vain: that of a flow's own session on its table.
fn is_locked(error: &StoreError) -> bool {
    matches!(error, StoreError::Locked(_))
}

/// Takes out of a part what is not of its first flow; nothing when it is of one flow only.
fn other_flows(part: &mut Vec<Ready>) -> Option<Vec<Ready>> {
    let flow = part.first()?.key.flow;
    let others: Vec<Ready> = part
        .extract_if(.., |ready| ready.key.flow != flow)
        .collect();
    (!others.is_empty()).then_some(others)
}

/// The instances of a locked flow wait; those of others do not.
async fn put_off(store: &Store, host: HostId, tokens: impl Iterator<Item = LeaseToken>) {
    let tokens: Vec<LeaseToken> = tokens.collect();
    tracing::warn!(
        jobs = tokens.len(),
        "a flow's table is locked by a session of its own; its jobs are put off"
    );
    with_patience(|| store.put_off(host, &tokens)).await;
}

/// Records failed attempts, those of a locked flow excepted. Where Postgres refuses what is recorded, each is recorded
/// alone, and at last with a text of ours in the place of the guest's: an attempt is counted whatever it said.
async fn record(store: &Store, host: HostId, failed: Failures) {
    let Failures { attempts, records } = failed;
    let mut parts = vec![attempts];
    while let Some(mut part) = parts.pop() {
        let Some(flow) = part.first().map(|first| first.flow) else {
            continue;
        };
        let kept: Vec<&AttemptRecord> = records
            .iter()
            .filter(|record| part.iter().any(|one| one.token == record.token))
            .collect();
        match recorded(store, host, &part, &kept).await {
            Ok(()) => {}
            Err(error) if is_locked(&error) => {
                let others: Vec<_> = part.extract_if(.., |one| one.flow != flow).collect();
                if others.is_empty() {
                    put_off(store, host, part.iter().map(|one| one.token)).await;
                } else {
                    parts.push(others);
                    parts.push(part);
                }
            }
            Err(error) if part.len() == 1 => {
                tracing::warn!(%error, %flow, "an attempt's record was refused; it is recorded without its words");
                for one in &mut part {
                    one.message = format!("{}; what it said cannot be kept", one.outcome);
                }
                if let Err(error) = recorded(store, host, &part, &[]).await {
                    tracing::error!(%error, %flow, "a failed attempt could not be recorded; its job is taken up again");
                }
            }
            Err(_) => {
                let second = part.split_off(part.len() / 2);
                parts.push(second);
                parts.push(part);
            }
        }
    }
}

/// Records failed attempts, as often as the server needs to be asked.
async fn recorded(
    store: &Store,
    host: HostId,
    part: &[FailedAttempt],
    records: &[&AttemptRecord],
) -> Result<(), StoreError> {
    let mut pause = FIRST_PAUSE;
    loop {
        match answered(store, AT_LAST, store.fail_recorded(host, part, records)).await {
            Err(error) if error.is_of_server() => {
                tracing::warn!(%error, "the database is asked again");
                sleep_about(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            answer => return answer,
        }
    }
}

/// Commits a part. An answer that was lost is looked up, never repeated blindly: what is no longer
/// held is taken out of the part.
async fn commit(
    store: &Store,
    host: HostId,
    part: &mut Vec<Ready>,
    careful: bool,
    lease: bool,
) -> Result<Vec<Claimed>, StoreError> {
    let mut pause = FIRST_PAUSE;
    let mut tries = 0;
    loop {
        if part.is_empty() {
            return Ok(Vec::new());
        }
        let records: Vec<&AttemptRecord> = part
            .iter()
            .filter_map(|ready| ready.record.as_deref())
            .collect();
        let groups = groups(part);
        tracing::trace!(
            results = part.len(),
            groups = groups.len(),
            lease,
            "commits"
        );
        let committed = store.commit_recorded(host, &groups, careful, lease, &records);
        let error = match answered(store, AT_LAST, committed).await {
            Ok(fired) => return Ok(fired),
            Err(error) => error,
        };
        // What neither the server nor a result is known to cause: asked again some times, each result alone.
        let unknown = part.len() == 1 && !error.is_of_result() && !is_locked(&error);
        tries += 1;
        let again = error.is_of_server() || unknown && tries < UNKNOWN_TRIES;
        if !again {
            return Err(error);
        }
        tracing::warn!(%error, batch = part.len(), "a commit is tried again");
        sleep_about(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        let tokens: Vec<LeaseToken> = part.iter().map(|ready| ready.token).collect();
        if let Ok(held) = answered(store, AT_LAST, store.still_held(host, &tokens)).await {
            let before = part.len();
            part.retain(|ready| held.contains(&ready.token));
            if part.len() < before {
                tracing::info!(
                    results = before - part.len(),
                    "results are committed already, or came after their lease was lost"
                );
            }
        }
    }
}

/// One group for each flow and shape of clause.
fn groups(part: &[Ready]) -> Vec<CommitGroup<'_>> {
    let mut groups: Vec<CommitGroup<'_>> = Vec::new();
    let mut at: HashMap<(FlowId, &Shape), usize> = HashMap::new();
    // Equal shapes are nearly always one (Shapes), which is found without looking at it.
    let mut known: HashMap<(FlowId, *const Shape), usize> = HashMap::new();
    for ready in part {
        let address = (ready.key.flow, Arc::as_ptr(&ready.shape));
        let index = *known.entry(address).or_insert_with(|| {
            *at.entry((ready.key.flow, &*ready.shape))
                .or_insert_with(|| {
                    groups.push(CommitGroup {
                        flow: ready.key.flow,
                        gate: Cow::Borrowed(&ready.shape.gate),
                        assigned: Cow::Borrowed(&ready.shape.assigned),
                        set: ready.shape.set.as_deref().map(Cow::Borrowed),
                        literals: ready.item.literals.len(),
                        items: Vec::new(),
                    });
                    groups.len() - 1
                })
        });
        groups[index].items.push(Cow::Borrowed(&ready.item));
    }
    groups
}

/// What a refusal means for the one result that caused it; nothing when the result is just dropped.
fn into_failure(ready: Ready, error: &StoreError, failed: &mut Failures) {
    let code = error.code().unwrap_or("");
    let (outcome, retry) = match code {
        // The final condition would hold while others are pending: wait for them.
        "WF007" => ("final_pending", true),
        // Final meanwhile, or not ours any more.
        "WF002" | "WF003" => return,
        // What the data make impossible may be possible later; a broken rule stays broken.
        _ if code.starts_with("22") || code.starts_with("23") || code == "57014" => {
            ("refused", true)
        }
        _ if error.is_of_result() => ("refused", false),
        _ => ("refused", true),
    };
    let message = match error.refusal() {
        // The server's own words may name what is no tenant's business.
        Some(_) if !error.is_of_result() => {
            tracing::error!(%error, code, flow = %ready.key.flow, "a result was refused for an unknown reason");
            format!("the server cannot commit it (SQLSTATE {code})")
        }
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
    let record = ready.record.map_or_else(
        || no_record(ready.key, ready.token, ready.deadline),
        |record| *record,
    );
    failed.records.push(AttemptRecord {
        keep: true,
        ..record
    });
    failed.attempts.push(FailedAttempt {
        flow: ready.key.flow,
        wid: ready.key.wid,
        tgid: ready.key.tgid,
        token: ready.token,
        outcome: outcome.to_owned(),
        message: masked(
            format!("{message} (SET {})", ready.shape),
            ready.provided.as_deref(),
        ),
        retry,
        after: None,
        fuel: ready.item.measure.fuel,
        elapsed_us: ready.item.measure.elapsed_us,
        memory_bytes: ready.item.measure.memory_bytes,
    });
}

/// A message for people, without the secrets that the transition was given.
fn masked(message: String, provided: Option<&Provided>) -> String {
    match provided.map(|provided| provided.mask(&message)) {
        Some(Cow::Owned(masked)) => masked,
        _ => message,
    }
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
            Err(error) if error.is_of_server() => {
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
            token: LeaseToken::from(wid),
            deadline: 0,
            record: None,
            shape: Arc::new(Shape {
                gate: format!("gate_{flow}"),
                assigned: vec![set.into()],
                set: None,
            }),
            provided: None,
            item: CommitItem {
                wid,
                tgid: 1,
                token: LeaseToken::from(wid),
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
                    &*g.assigned[0],
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
