//! Commits a batch of results. A batch is all or nothing in Postgres, so on a refusal it is split,
//! until the one bad result stands alone and hurts its own instance only. What meets a lock of somebody else is taken
//! out and waits for it in quarantine; the rest is committed at once.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt, HashSet};
use wedflow_model::{FlowId, HostId, JobKey, LeaseToken, Wid};
use wedflow_sandbox::Provided;
use wedflow_store::{
    AttemptRecord, Claimed, CommitGroup, CommitItem, FailedAttempt, Store, StoreError,
};

use crate::decision::Locked;
use crate::desk::Committing;
use crate::lane::{BEHIND_A_LOCK, Shared};
use crate::results::{Finished, Rendered, Shape, Verdict, no_record};
use crate::silence::{AT_WORK, answered};

/// Pause before a database that did not answer is asked again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Number of a flow's results that meet unknown locks alone, after which all of its results in the batch are taken to.
const UNKNOWN_LOCKS_MAX: usize = 3;

/// SQLSTATE of a result that was made for an older version of its flow.
const OUT_OF_DATE: &str = "WF018";

/// Maximum commits of a single result while the cause of its refusal is unknown.
const UNKNOWN_TRIES: u32 = 5;

/// SQLSTATE of conditions that take too long on the states of a batch.
const SLOW_CONDITIONS: &str = "WF034";

/// A result that is to be committed.
#[derive(Debug)]
struct Ready {
    item: CommitItem,
    shape: Arc<Shape>,
    /// All else; its literals are the item's.
    finished: Finished,
}

impl Ready {
    /// The result, or what failed as it is.
    #[expect(
        clippy::result_large_err,
        reason = "either is moved on; a box would be one more allocation for each attempt that fails"
    )]
    fn new(mut finished: Finished) -> Result<Self, Finished> {
        let Verdict::Commit(Rendered { shape, literals }) = &mut finished.verdict else {
            return Err(finished);
        };
        let shape = Arc::clone(shape);
        let item = CommitItem {
            wid: finished.key.wid,
            tgid: finished.key.tgid,
            token: finished.token,
            literals: std::mem::take(literals),
            measure: finished.measure,
        };
        Ok(Ready {
            item,
            shape,
            finished,
        })
    }

    fn into_finished(self) -> Finished {
        let Ready {
            item,
            shape,
            mut finished,
        } = self;
        finished.verdict = Verdict::Commit(Rendered {
            shape,
            literals: item.literals,
        });
        finished
    }
}

/// Commits what can be committed, and records what failed, each with what is to be kept of it. Ends when all of the
/// batch is dealt with; while the database is away it keeps trying. What is fired is handed over part by part. Answers
/// how many results were committed.
pub(crate) async fn deal_with(
    shared: &Shared,
    host: HostId,
    batch: Vec<Finished>,
    committing: &mut Committing,
) -> usize {
    let store = &shared.sessions[committing.session];
    let (ready, mut failed) = separate(batch);
    let mut committed = 0;
    let mut unknown = HashMap::new();
    // Halves of halves, on a list instead of the stack.
    let mut parts = vec![ready];
    while let Some(mut part) = parts.pop() {
        if part.is_empty() {
            continue;
        }
        match commit_carefully(store, host, &mut part, committing.keeps).await {
            Ok(fired) => {
                committed += part.len();
                let (fired, _arriving) = shared.jobs(fired).await;
                let tokens = part.iter().map(|one| one.item.token).collect();
                committing.committed(tokens, fired);
            }
            Err(StoreError::Locked { locks, .. }) => {
                let part: Vec<_> = part.into_iter().map(Ready::into_finished).collect();
                let (met, others) = sort_out(part, &locks, &mut unknown);
                quarantine(store, host, met, committing).await;
                parts.extend(
                    others
                        .into_iter()
                        .map(|part| part.into_iter().flat_map(Ready::new).collect()),
                );
            }
            Err(refusal) if refusal.code() == Some(OUT_OF_DATE) => {
                let others = other_flows(&mut part);
                if others.is_empty() {
                    give_back(store, host, &part, committing).await;
                } else {
                    parts.extend([others, part]);
                }
            }
            Err(refusal) if refusal.code() == Some("WF016") => {
                // What the host had in flight is another's by now.
                tracing::info!(
                    results = part.len(),
                    "results came after the host's leases were lost; they are dropped"
                );
            }
            Err(refusal) if part.len() == 1 => {
                failed.extend(
                    part.into_iter()
                        .filter_map(|alone| into_failure(alone, &refusal)),
                );
            }
            Err(_) => {
                let second = part.split_off(part.len() / 2);
                parts.push(second);
                parts.push(part);
            }
        }
    }
    record(store, host, failed, committing).await;
    committed
}

/// Separates the results that can be committed from the attempts that failed.
fn separate(batch: Vec<Finished>) -> (Vec<Ready>, Vec<Finished>) {
    let mut ready = Vec::with_capacity(batch.len());
    let mut failed = Vec::new();
    for finished in batch {
        match Ready::new(finished) {
            Ok(one) => ready.push(one),
            Err(finished) => failed.push(finished),
        }
    }
    (ready, failed)
}

/// Commits a part. If a single result is refused, or conditions take too long, commits once more with each state
/// evaluated by itself: perhaps it is not the result but a condition that fails on it, and a state whose conditions
/// take too long becomes an exception.
async fn commit_carefully(
    store: &Store,
    host: HostId,
    part: &mut Vec<Ready>,
    lease: bool,
) -> Result<Vec<Claimed>, StoreError> {
    let answer = commit(store, host, part, false, lease).await;
    let alone = part.len() == 1 && matches!(answer, Err(StoreError::Refused(_)));
    let slow = answer
        .as_ref()
        .is_err_and(|refusal| refusal.code() == Some(SLOW_CONDITIONS));
    if alone || slow {
        return commit(store, host, part, true, lease).await;
    }
    answer
}

/// Takes out of a part what is not of its first flow.
fn other_flows(part: &mut Vec<Ready>) -> Vec<Ready> {
    let first = part.first().map(|first| first.finished.key.flow);
    part.extract_if(.., |ready| Some(ready.finished.key.flow) != first)
        .collect()
}

/// Gives back the jobs of results that were made for an older version of their flow, in which attributes had other
/// names or types: they are run again.
async fn give_back(store: &Store, host: HostId, part: &[Ready], committing: &mut Committing) {
    let tokens: Vec<LeaseToken> = part.iter().map(|ready| ready.item.token).collect();
    tracing::info!(
        jobs = tokens.len(),
        "attributes of a flow have changed; its results are made anew"
    );
    with_patience(|| store.release(host, &tokens)).await;
    committing.committed(tokens, Vec::new());
}

/// Locks that a part of a batch met, and the results that wait for them.
type Met = (HashSet<Locked>, Vec<Finished>);

/// Sorts out what meets these locks from what does not, which is returned as parts to be tried by themselves. Where
/// nobody knows which locks they were, the part is halved until one result stands alone; of a flow of which some did,
/// counted in `unknown`, all that is left waits with them.
fn sort_out(
    mut part: Vec<Finished>,
    locks: &[(FlowId, Option<Wid>)],
    unknown: &mut HashMap<FlowId, usize>,
) -> (Met, Vec<Vec<Finished>>) {
    let mut locks: HashSet<Locked> = (locks.iter())
        .map(|(flow, wid)| match wid {
            Some(wid) => Locked::Instance((*flow, *wid)),
            None => Locked::Flow(*flow),
        })
        .collect();
    if locks.is_empty() {
        let flows = part.iter().map(|one| one.key.flow);
        let many = |flow: &FlowId| (unknown.get(flow)).is_some_and(|met| *met >= UNKNOWN_LOCKS_MAX);
        locks.extend(flows.filter(many).map(Locked::Flow));
    }
    if locks.is_empty() && part.len() > 1 {
        let second = part.split_off(part.len() / 2);
        return (Met::default(), vec![second, part]);
    }
    if locks.is_empty() {
        for JobKey { flow, wid, .. } in part.iter().map(|one| one.key) {
            *unknown.entry(flow).or_default() += 1;
            locks.insert(Locked::Instance((flow, wid)));
        }
    }
    let meets = |one: &Finished| {
        locks.contains(&Locked::Flow(one.key.flow))
            || locks.contains(&Locked::Instance((one.key.flow, one.key.wid)))
    };
    let (held, others): (Vec<_>, Vec<_>) = part.into_iter().partition(meets);
    let others = Some(others).filter(|others| !others.is_empty());
    ((locks, held), others.into_iter().collect())
}

/// Puts into quarantine what waits for locks. What comes from there has waited for some time: its jobs say so.
async fn quarantine(store: &Store, host: HostId, (locks, held): Met, committing: &mut Committing) {
    if held.is_empty() {
        return;
    }
    tracing::warn!(
        locks = locks.len(),
        results = held.len(),
        flow = held.first().map(|one| one.key.flow.get()),
        "another session holds locks of a flow; the results that need them wait, and go on when that session commits"
    );
    if committing.again {
        let jobs: Vec<(FlowId, Wid, LeaseToken)> = (held.iter())
            .map(|one| (one.key.flow, one.key.wid, one.token))
            .collect();
        let noted = store.note_locked(host, &jobs, BEHIND_A_LOCK);
        if let Err(error) = answered(store, AT_WORK, noted).await {
            tracing::debug!(%error, "could not say that jobs wait for a lock");
        }
    }
    committing.met(locks, held);
}

/// Records failed attempts, those that meet a lock excepted. Where Postgres refuses what is recorded, each is recorded
/// alone, and at last with a text of ours in the place of the guest's: an attempt is counted whatever it said.
async fn record(store: &Store, host: HostId, failed: Vec<Finished>, committing: &mut Committing) {
    let mut parts = vec![failed];
    let mut unknown = HashMap::new();
    while let Some(mut part) = parts.pop() {
        let Some(flow) = part.first().map(|first| first.key.flow) else {
            continue;
        };
        match recorded(store, host, &part, true).await {
            Ok(()) => committing.committed(part.iter().map(|one| one.token).collect(), Vec::new()),
            Err(StoreError::Locked { locks, .. }) => {
                let (met, others) = sort_out(part, &locks, &mut unknown);
                quarantine(store, host, met, committing).await;
                parts.extend(others);
            }
            Err(error) if part.len() == 1 => {
                tracing::warn!(%error, flow = flow.get(), "an attempt's record was refused; it is recorded without its words");
                for one in &mut part {
                    if let Verdict::Fail {
                        outcome, message, ..
                    } = &mut one.verdict
                    {
                        *message = format!("{outcome}; what it said cannot be kept");
                    }
                }
                if let Err(error) = recorded(store, host, &part, false).await {
                    tracing::error!(%error, flow = flow.get(), "a failed attempt could not be recorded; its job is taken up again");
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
    part: &[Finished],
    keep: bool,
) -> Result<(), StoreError> {
    let attempts: Vec<FailedAttempt> = part.iter().filter_map(attempt).collect();
    let records: Vec<&AttemptRecord> = (part.iter().filter(|_| keep))
        .filter_map(|one| one.record.as_deref())
        .collect();
    let mut pause = FIRST_PAUSE;
    loop {
        match answered(
            store,
            AT_WORK,
            store.fail_recorded(host, &attempts, &records),
        )
        .await
        {
            Err(error) if error.is_of_server() => {
                tracing::warn!(
                    %error,
                    "the database is asked again; nothing is lost meanwhile, and `wed status` tells how it is"
                );
                sleep_about(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            answer => return answer,
        }
    }
}

/// A failed attempt as the database takes it; nothing of a result that is to be committed.
fn attempt(one: &Finished) -> Option<FailedAttempt> {
    let Verdict::Fail {
        outcome,
        message,
        retry,
        after,
    } = &one.verdict
    else {
        return None;
    };
    Some(FailedAttempt {
        flow: one.key.flow,
        wid: one.key.wid,
        tgid: one.key.tgid,
        token: one.token,
        outcome: outcome.clone(),
        message: masked(message.clone(), one.provided.as_deref()),
        retry: *retry,
        after: *after,
        fuel: one.measure.fuel,
        elapsed_us: one.measure.elapsed_us,
        memory_bytes: one.measure.memory_bytes,
    })
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
            .filter_map(|ready| ready.finished.record.as_deref())
            .collect();
        let groups = groups(part);
        tracing::trace!(
            results = part.len(),
            groups = groups.len(),
            lease,
            "commits"
        );
        let committed = store.commit_recorded(host, &groups, careful, lease, &records);
        let error = match answered(store, AT_WORK, committed).await {
            Ok(fired) => return Ok(fired),
            Err(error) => error,
        };
        // What neither the server nor a result is known to cause: asked again some times, each result alone.
        let unknown =
            part.len() == 1 && !error.is_of_result() && !matches!(error, StoreError::Locked { .. });
        tries += 1;
        let again = error.is_of_server() || unknown && tries < UNKNOWN_TRIES;
        if !again {
            return Err(error);
        }
        match &error {
            // What parallel branches do to each other in healthy operation.
            StoreError::Conflict(_) => {
                tracing::debug!(%error, batch = part.len(), "a commit is tried again");
            }
            error => {
                tracing::warn!(
                    %error,
                    batch = part.len(),
                    "a commit is tried again; nothing is lost meanwhile, and `wed status` tells how the database is"
                )
            }
        }
        sleep_about(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        let tokens: Vec<LeaseToken> = part.iter().map(|ready| ready.item.token).collect();
        if let Ok(held) = answered(store, AT_WORK, store.still_held(host, &tokens)).await {
            let before = part.len();
            part.retain(|ready| held.contains(&ready.item.token));
            if part.len() < before {
                tracing::info!(
                    results = before - part.len(),
                    "results are committed already, or came after their lease was lost"
                );
            }
        }
    }
}

/// Groups results by flow and shape of clause.
fn groups(part: &[Ready]) -> Vec<CommitGroup<'_>> {
    let mut groups: Vec<CommitGroup<'_>> = Vec::new();
    let mut at: HashMap<(FlowId, &Shape), usize> = HashMap::new();
    // Equal shapes are nearly always one (Shapes), which is found without looking at it.
    let mut known: HashMap<(FlowId, *const Shape), usize> = HashMap::new();
    for ready in part {
        let address = (ready.finished.key.flow, Arc::as_ptr(&ready.shape));
        let index = *known.entry(address).or_insert_with(|| {
            *at.entry((ready.finished.key.flow, &*ready.shape))
                .or_insert_with(|| {
                    groups.push(CommitGroup {
                        flow: ready.finished.key.flow,
                        version: ready.shape.version,
                        gate: Cow::Borrowed(&ready.shape.gate),
                        assigned: Cow::Borrowed(&ready.shape.assigned),
                        set: ready.shape.set.as_deref().map(Cow::Borrowed),
                        items: Vec::new(),
                    });
                    groups.len() - 1
                })
        });
        groups[index].items.push(Cow::Borrowed(&ready.item));
    }
    groups
}

/// Turns a refusal into a failure of the result that caused it; none when the result is just dropped.
fn into_failure(ready: Ready, error: &StoreError) -> Option<Finished> {
    let Ready {
        shape,
        mut finished,
        ..
    } = ready;
    let flow = finished.key.flow;
    let code = error.code().unwrap_or("");
    let (outcome, retry) = match code {
        // The final condition would hold while others are pending: wait for them.
        "WF007" => ("final_pending", true),
        // Final meanwhile, or not ours any more.
        "WF002" | "WF003" => return None,
        // What the data make impossible may be possible later; a broken rule stays broken.
        _ if ["22", "23"].iter().any(|class| code.starts_with(class))
            || ["57014", "53200"].contains(&code) =>
        {
            ("refused", true)
        }
        _ if error.is_of_result() => ("refused", false),
        _ => ("refused", true),
    };
    let message = match error.refusal() {
        // The server's own words may name what is no tenant's business.
        Some(_) if !error.is_of_result() => {
            tracing::error!(
                %error,
                code,
                flow = flow.get(),
                "a result was refused for an unknown reason; this is a defect of wed, please report it with this \
                 line"
            );
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
    let record = finished.record.get_or_insert_with(|| {
        Box::new(no_record(finished.key, finished.token, finished.deadline))
    });
    record.keep = true;
    finished.verdict = Verdict::Fail {
        outcome: outcome.to_owned(),
        message: format!("{message} (SET {shape})"),
        retry,
        after: None,
    };
    Some(finished)
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
                tracing::warn!(
                    %error,
                    "the database is asked again; nothing is lost meanwhile, and `wed status` tells how it is"
                );
                sleep_about(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
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
async fn sleep_about(pause: Duration) {
    tokio::time::sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::finished;

    #[test]
    fn locks_that_nobody_names_cost_a_batch_few_statements() {
        let mut unknown = HashMap::new();
        let of_flow = |flow| {
            (1..=150).map(move |wid| {
                let mut one = finished(wid, 1);
                one.key.flow = FlowId::new(flow);
                one
            })
        };
        let mut parts = vec![of_flow(1).chain(of_flow(2)).collect::<Vec<_>>()];
        let (mut statements, mut held, mut committed) = (0, 0, 0);
        while let Some(part) = parts.pop() {
            statements += 1;
            if part.iter().all(|one| one.key.flow == FlowId::new(2)) {
                committed += part.len();
                continue;
            }
            let ((_, met), others) = sort_out(part, &[], &mut unknown);
            held += met.len();
            parts.extend(others);
        }
        assert_eq!((held, committed), (150, 150));
        assert!(statements < 20, "{statements}");
        // One instance that is locked holds up no other of its flow.
        let locks = [(FlowId::new(3), Some(Wid::new(7)))];
        let ((_, met), others) = sort_out(of_flow(3).collect(), &locks, &mut unknown);
        assert_eq!((met.len(), others[0].len()), (1, 149));
    }

    #[test]
    fn results_are_grouped_by_flow_and_shape() {
        let ready = |flow, wid, set: &str| {
            let mut one = finished(wid, 1);
            (one.key.flow, one.token) = (FlowId::new(flow), LeaseToken::new(wid.into()));
            one.verdict = Verdict::Commit(Rendered {
                shape: Arc::new(Shape {
                    version: 1,
                    gate: format!("gate_{flow}"),
                    assigned: vec![set.into()],
                    set: None,
                }),
                literals: vec![Some("x".into())],
            });
            Ready::new(one).expect("it is to be committed")
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
                    g.flow.get(),
                    &*g.assigned[0],
                    g.items.iter().map(|i| i.wid.get()).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(
            shape,
            [(1, "a", vec![1, 4]), (2, "a", vec![2]), (1, "b", vec![3])]
        );
    }
}
