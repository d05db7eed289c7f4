//! Commits a batch of results, and records attempts that failed. `decision/parts.rs` says what is committed together
//! and what a refusal means; here it is carried out.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt, HashSet};
use wedflow_model::{FlowId, HostId, LeaseToken, Wid};
use wedflow_sandbox::Provided;
use wedflow_store::{AttemptRecord, Claimed, CommitGroup, CommitItem, FailedAttempt, Store, StoreError};

use crate::decision::{Instance, Locked, OfInstance, Part, Parts, Refusal, Step};
use crate::desk::Committing;
use crate::patience::{sleep_about, with_patience};
use crate::results::{Finished, Rendered, Shape, Verdict, no_record};
use crate::shared::Shared;

/// A result that is to be committed.
#[derive(Debug)]
struct Ready {
    item: CommitItem,
    shape: Arc<Shape>,
    /// All else; its literals are the item's.
    finished: Finished,
}

impl OfInstance for Ready {
    fn instance(&self) -> Instance {
        self.finished.instance()
    }
}

impl OfInstance for Finished {
    fn instance(&self) -> Instance {
        (self.key.flow, self.key.wid)
    }
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
        Ok(Ready { item, shape, finished })
    }

    fn into_finished(self) -> Finished {
        let Ready { item, shape, mut finished } = self;
        finished.verdict = Verdict::Commit(Rendered { shape, literals: item.literals });
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
    let mut parts = Parts::new(ready);
    let mut next = parts.next_part();
    while let Some(part) = next.take() {
        let refusal = match commit(store, host, &part, committing.keeps).await {
            Ok(fired) => {
                committed += part.results.len();
                if let Some(spans) = &shared.spans {
                    spans.taken(part.results.iter().filter_map(|one| one.finished.traced.as_deref().copied()));
                }
                let (fired, _arriving) = shared.jobs(fired).await;
                committing.committed(tokens(&part.results), fired);
                next = parts.next_part();
                continue;
            }
            Err(refusal) => refusal,
        };
        match parts.refused(part, Refusal::from(&refusal)) {
            Step::Split => {}
            Step::Again { part, pause } => {
                if refusal.is_of_server() {
                    // It may be committed, with jobs that it fired for this host.
                    shared.note_lost_answer();
                }
                report_again(&refusal, part.results.len());
                next = Some(after(store, host, part, pause).await).filter(|part| !part.results.is_empty());
            }
            Step::Meet { locks, results } => {
                let held = results.into_iter().map(Ready::into_finished).collect();
                quarantine(store, host, (locks, held), committing).await;
            }
            Step::GiveBack(results) => give_back(store, host, &results, committing).await,
            Step::Lost(results) => report_lost(results.len()),
            Step::Fail(one) => failed.extend(into_failure(one, &refusal)),
        }
        next = next.or_else(|| parts.next_part());
    }
    if let Some(spans) = &shared.spans {
        spans.taken(failed.iter().filter_map(|one| one.traced.as_deref().copied()));
    }
    record(store, host, failed, committing).await;
    committed
}

fn tokens(results: &[Ready]) -> Vec<LeaseToken> {
    results.iter().map(|one| one.item.token).collect()
}

/// Logs that a part is tried again.
fn report_again(error: &StoreError, results: usize) {
    match error {
        // What parallel branches do to each other in healthy operation.
        StoreError::Conflict(_) => tracing::debug!(%error, results, "a commit is tried again"),
        error => tracing::warn!(
            %error,
            results,
            "the database is asked again; nothing is lost meanwhile, and `wed status` tells how it is"
        ),
    }
}

fn report_lost(results: usize) {
    tracing::info!(results, "results came after the host's leases were lost; they are dropped");
}

/// Waits before a part is tried again. An answer that was lost is looked up, never repeated blindly: what is no longer
/// held is taken out of the part.
async fn after(store: &Store, host: HostId, mut part: Part<Ready>, pause: Duration) -> Part<Ready> {
    sleep_about(pause).await;
    let tokens = tokens(&part.results);
    let held = store.still_held(host, &tokens);
    if let Ok(held) = held.await {
        let before = part.results.len();
        part.results.retain(|ready| held.contains(&ready.item.token));
        if part.results.len() < before {
            tracing::info!(
                results = before - part.results.len(),
                "results are committed already, or came after their lease was lost"
            );
        }
    }
    part
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

/// Gives back the jobs of results that were made for an older version of their flow, in which attributes had other
/// names or types: they are run again.
async fn give_back(store: &Store, host: HostId, part: &[Ready], committing: &mut Committing) {
    let tokens = tokens(part);
    tracing::info!(jobs = tokens.len(), "attributes of a flow have changed; its results are made anew");
    with_patience(|| store.release(host, &tokens)).await;
    committing.committed(tokens, Vec::new());
}

/// Locks that a part of a batch met, and the results that wait for them.
type Met = (HashSet<Locked>, Vec<Finished>);

/// Puts into quarantine what waits for locks. What comes from there has waited for some time: its jobs say so.
async fn quarantine(store: &Store, host: HostId, (locks, held): Met, committing: &mut Committing) {
    if held.is_empty() {
        return;
    }
    let of = match held.first() {
        Some(one) => store.names_of(one.key.flow).await,
        None => Ok(None),
    };
    let (tenant, flow) = of.ok().flatten().unwrap_or_default();
    tracing::warn!(
        locks = locks.len(),
        results = held.len(),
        tenant,
        flow,
        "another session holds locks of a flow; the results that need them wait until that session ends its transaction"
    );
    if committing.again {
        let jobs: Vec<(FlowId, Wid, LeaseToken)> =
            (held.iter()).map(|one| (one.key.flow, one.key.wid, one.token)).collect();
        let noted = store.note_locked(host, &jobs);
        if let Err(error) = noted.await {
            tracing::debug!(%error, "could not say that jobs wait for a lock");
        }
    }
    committing.met(locks, held);
}

/// Records failed attempts, those that meet a lock excepted. Where Postgres refuses what is recorded, each is recorded
/// alone, and at last with a text of ours in the place of the guest's: an attempt is counted whatever it said.
async fn record(store: &Store, host: HostId, failed: Vec<Finished>, committing: &mut Committing) {
    let mut parts = Parts::new(failed);
    let mut next = parts.next_part();
    while let Some(mut part) = next.take() {
        if part.careful {
            part.results.iter_mut().for_each(without_words);
        }
        let Err(refusal) = recorded(store, host, &part).await else {
            let tokens = part.results.iter().map(|one| one.token).collect();
            committing.committed(tokens, Vec::new());
            next = parts.next_part();
            continue;
        };
        match parts.refused(part, Refusal::from(&refusal)) {
            Step::Split => {}
            Step::Again { part, pause } => {
                report_again(&refusal, part.results.len());
                sleep_about(pause).await;
                next = Some(part);
            }
            Step::Meet { locks, results } => {
                quarantine(store, host, (locks, results), committing).await;
            }
            Step::Lost(results) | Step::GiveBack(results) => report_lost(results.len()),
            Step::Fail(one) => tracing::error!(
                error = %refusal,
                flow = one.key.flow.get(),
                "a failed attempt could not be recorded; its job is taken up again"
            ),
        }
        next = next.or_else(|| parts.next_part());
    }
}

/// Puts a text of ours in the place of a failed attempt's.
fn without_words(one: &mut Finished) {
    if let Verdict::Fail { outcome, message, .. } = &mut one.verdict {
        tracing::warn!(flow = one.key.flow.get(), "an attempt's record was refused; it is recorded without its words");
        *message = format!("{outcome}; what it said cannot be kept");
    }
}

/// Records a part of failed attempts.
async fn recorded(store: &Store, host: HostId, part: &Part<Finished>) -> Result<(), StoreError> {
    let attempts: Vec<FailedAttempt> = part.results.iter().filter_map(attempt).collect();
    let records: Vec<&AttemptRecord> =
        (part.results.iter().filter(|_| !part.careful)).filter_map(|one| one.record.as_deref()).collect();
    store.fail_recorded(host, &attempts, &records).await
}

/// A failed attempt as the database takes it; nothing of a result that is to be committed.
fn attempt(one: &Finished) -> Option<FailedAttempt> {
    let Verdict::Fail { outcome, message, retry, after } = &one.verdict else {
        return None;
    };
    Some(FailedAttempt {
        flow: one.key.flow,
        wid: one.key.wid,
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

/// Commits a part.
async fn commit(store: &Store, host: HostId, part: &Part<Ready>, lease: bool) -> Result<Vec<Claimed>, StoreError> {
    let records: Vec<&AttemptRecord> =
        (part.results.iter()).filter_map(|ready| ready.finished.record.as_deref()).collect();
    let groups = groups(&part.results);
    tracing::trace!(results = part.results.len(), groups = groups.len(), lease, "commits");
    store.commit_recorded(host, &groups, part.careful, lease, &records).await
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
            *at.entry((ready.finished.key.flow, &*ready.shape)).or_insert_with(|| {
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
    let Ready { shape, mut finished, .. } = ready;
    let flow = finished.key.flow;
    let code = error.code().unwrap_or("");
    let (outcome, retry) = match code {
        // The final condition would hold while others are pending: wait for them.
        "WF007" => ("final_pending", true),
        // What the data make impossible may be possible later; a broken rule stays broken.
        _ if ["22", "23"].iter().any(|class| code.starts_with(class)) || ["57014", "53200"].contains(&code) => {
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
        Some(refusal) => [Some(&refusal.message), refusal.detail.as_ref(), refusal.hint.as_ref()]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" "),
        None => error.to_string(),
    };
    let record =
        finished.record.get_or_insert_with(|| Box::new(no_record(finished.key, finished.token, finished.deadline)));
    record.keep = true;
    finished.verdict =
        Verdict::Fail { outcome: outcome.to_owned(), message: format!("{message} (SET {shape})"), retry, after: None };
    Some(finished)
}

/// A message for people, without the secrets that the transition was given.
fn masked(message: String, provided: Option<&Provided>) -> String {
    match provided.map(|provided| provided.mask(&message)) {
        Some(Cow::Owned(masked)) => masked,
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::finished;

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
        let part = [ready(1, 1, "a"), ready(2, 2, "a"), ready(1, 3, "b"), ready(1, 4, "a")];
        let groups = groups(&part);
        let shape: Vec<_> = groups
            .iter()
            .map(|g| (g.flow.get(), &*g.assigned[0], g.items.iter().map(|i| i.wid.get()).collect::<Vec<_>>()))
            .collect();
        assert_eq!(shape, [(1, "a", vec![1, 4]), (2, "a", vec![2]), (1, "b", vec![3])]);
    }
}
