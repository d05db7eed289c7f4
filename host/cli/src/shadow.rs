//! A shadow run: another component over recorded attempts. Also the call that a recorded attempt was.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use wedflow_api::{Bench, Shadow};
use wedflow_authoring::{Answer, AnswersFrom, Call, Called, Difference, Subject, differences_between};
use wedflow_documents::{Recording, ShadowRun, ThingThatDiffers};
use wedflow_model::{AttributeType, Wid};

use crate::application::{self, server_workbench};

/// Time after which a server begins no further attempt of a shadow run.
const SERVER_TIME_MAX: Duration = Duration::from_secs(15);

/// Sandbox in which people run components at the server.
pub(crate) const BENCH: Bench = Bench {
    run_application: |application| Box::pin(application::run_at_server(application)),
    run_shadow: |shadow| Box::pin(run_at_server(shadow)),
};

/// Names an attempt: `orders/17#4` wrote state 4, `orders/17#a98` changed nothing.
pub(crate) fn name_of(flow: &str, wid: Wid, seq: Option<i32>, number: Option<i64>) -> String {
    match (seq, number) {
        (Some(seq), _) => format!("{flow}/{wid}#{seq}"),
        (None, Some(number)) => format!("{flow}/{wid}#a{number}"),
        (None, None) => format!("{flow}/{wid}"),
    }
}

/// Makes the call that an attempt was, of a flow with these attributes and secrets.
///
/// # Errors
/// Why the attempt cannot be run again.
pub(crate) fn call_of(
    (flow, wid): (&str, Wid),
    attempt: &Recording,
    attributes: &[(String, AttributeType)],
    secrets: BTreeMap<String, String>,
) -> Result<Call, &'static str> {
    if attempt.recorded && attempt.answers.is_none() {
        return Err("it asked its host for more than is kept of an attempt");
    }
    if attempt.from_seq.is_none() {
        return Err("the state that fired it is not on record");
    }
    let payload = (attempt.payload.clone()).ok_or("the state that fired it is gone from the trace")?;
    let answers: Vec<Answer> = match &attempt.answers {
        Some(answers) => serde_json::from_value(answers.clone()).map_err(|_| "its record cannot be read")?,
        None => Vec::new(),
    };
    let timeout =
        Duration::from_millis(attempt.timeout_ms.and_then(|limit| u64::try_from(limit).ok()).unwrap_or(3_600_000));
    // Where none is on record, the guest asked for no time either; this is when it ended, or nearly.
    let deadline = attempt.deadline.unwrap_or_else(|| {
        attempt.at_us - attempt.elapsed_us.unwrap_or(0) + i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX / 2)
    });
    Ok(Call {
        transition: Some(attempt.transition.clone()),
        flow_attributes: Some(attributes.to_vec()),
        state: serde_json::from_str(&payload).map_err(|_| "its state cannot be read")?,
        payload: Some(payload),
        flow: flow.to_owned(),
        wid,
        trigger: attempt.trigger.clone(),
        attempt: u32::try_from(attempt.attempt).unwrap_or(1),
        timeout: Some(timeout),
        deadline: Some(deadline),
        secrets,
        answers: AnswersFrom::Recording(answers),
        ..Call::default()
    })
}

/// Names of the secrets that an attempt asked for.
pub(crate) fn secrets_asked(attempt: &Recording) -> Vec<String> {
    let answers: Vec<Answer> =
        attempt.answers.clone().and_then(|answers| serde_json::from_value(answers).ok()).unwrap_or_default();
    let mut asked: Vec<String> = answers
        .into_iter()
        .filter_map(|answer| match answer {
            Answer::Secret(name) => Some(name),
            _ => None,
        })
        .collect();
    asked.sort();
    asked.dedup();
    asked
}

/// Adds the comparison of an attempt to a shadow run.
pub(crate) fn add(run: &mut ShadowRun, id: String, before: &Called, with: &Called) {
    let differing = |one: Difference| ThingThatDiffers { what: one.what, expected: one.expected, actual: one.actual };
    let differences = differences_between(before, with);
    let differences = differences.into_iter().map(differing).collect();
    run.add(id, [before.name(), with.name()], differences);
}

/// Runs a candidate at the server over attempts of a tenant's flow, within the tenant's share of what computes.
///
/// # Errors
/// Why the candidate cannot be run, for the person.
async fn run_at_server(shadow: Shadow) -> Result<ShadowRun, String> {
    let until = Instant::now() + SERVER_TIME_MAX;
    let workbench = server_workbench()?;
    let load = async |bytes| {
        let loaded = workbench.load_for(&shadow.tenant, bytes).await;
        loaded.map_err(|error| error.to_string())
    };
    let candidate = load(shadow.candidate).await?;
    let mut subjects: HashMap<(String, i32), Subject> = HashMap::new();
    for (number, bytes) in shadow.versions {
        subjects.insert(number, load(bytes).await?);
    }
    let mut run = ShadowRun { transition: shadow.transition, ..ShadowRun::default() };
    for (wid, attempt) in &shadow.attempts {
        run.attempts += 1;
        let made_by = attempt.component.clone().zip(attempt.version);
        let subject = made_by.and_then(|number| subjects.get(&number));
        let call = call_of((&shadow.flow, *wid), attempt, &shadow.attributes, BTreeMap::new());
        let (call, subject) = match (call, subject) {
            _ if Instant::now() > until => Err("there was no time left"),
            _ if !secrets_asked(attempt).is_empty() => Err("it asked for a secret"),
            (Err(why), _) => Err(why),
            (_, None) => Err("the component that ran it is gone"),
            (Ok(call), Some(subject)) => Ok((call, subject)),
        }
        .map_or_else(
            |why| {
                *run.not_replayable.entry(why.to_owned()).or_default() += 1;
                (None, None)
            },
            |(call, subject)| (Some(call), Some(subject)),
        );
        let (Some(call), Some(subject)) = (call, subject) else {
            continue;
        };
        let before = workbench.call(subject, &call).await;
        let with = workbench.call(&candidate, &call).await;
        let with = with.map_err(|error| error.to_string())?;
        let before = before.map_err(|error| error.to_string())?;
        let id = name_of(&shadow.flow, *wid, attempt.seq, attempt.number);
        add(&mut run, id, &before, &with);
    }
    Ok(run)
}
