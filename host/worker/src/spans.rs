//! Spans of attempts, commits and messages, where a collector is named. Without one nothing here runs.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use tokio::sync::mpsc;
use wedflow_capability::http::Request;
use wedflow_model::{Job, Measure};
use wedflow_store::{Claimed, Message, Store, TracedAttempt, TracedState};
use wedflow_telemetry::{InstanceTrace, Kind, Span, SpanId, Tracer};

/// Portions of ended attempts that wait for their states to be looked up; the spans of further ones are dropped.
const PORTIONS_MAX: usize = 64;

/// Door to the collector, and the queue of attempts whose states are looked up.
#[derive(Debug)]
pub(crate) struct Spans {
    tracer: Tracer,
    ended: mpsc::Sender<Vec<Ended>>,
}

/// Trace of an attempt under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traced {
    trace: InstanceTrace,
    /// Span of the attempt.
    run: SpanId,
    attempt: TracedAttempt,
    /// End of the attempt.
    ran: SystemTime,
}

/// Attempt whose result was committed, or that was recorded as failed.
#[derive(Debug)]
struct Ended {
    traced: Traced,
    at: SystemTime,
}

impl Spans {
    /// Starts to look up states.
    pub(crate) fn start(tracer: Tracer, store: Store) -> Self {
        let (ended, mut portions) = mpsc::channel::<Vec<Ended>>(PORTIONS_MAX);
        let sending = tracer.clone();
        tokio::spawn(async move {
            while let Some(portion) = portions.recv().await {
                report(&sending, &store, &portion).await;
            }
        });
        Spans { tracer, ended }
    }

    /// Begins the trace of an attempt; none if its instance is not recorded.
    pub(crate) fn begin(&self, job: &Job) -> Option<Traced> {
        let (flow, wid) = (job.key.flow, job.key.wid);
        let trace = self.tracer.instance(flow.get(), wid.get())?;
        Some(Traced {
            trace,
            run: trace.of_attempt("run", job.key.tgid.get(), job.fired_by, job.attempt),
            attempt: TracedAttempt { flow, wid, tgid: job.key.tgid, attempt: job.attempt, fired_by: job.fired_by },
            ran: SystemTime::UNIX_EPOCH,
        })
    }

    /// Sends the spans of an attempt that has ended: its claim, and its run. `begun` is when it began.
    pub(crate) fn end(
        &self,
        traced: &mut Traced,
        claimed: &Claimed,
        begun: SystemTime,
        (outcome, failed, measure): (&str, bool, Measure),
    ) {
        let job = &claimed.job;
        let trace = traced.trace;
        let key = [job.key.tgid.get(), job.fired_by, job.attempt];
        let claim = trace.of_attempt("claim", key[0], key[1], key[2]);
        traced.ran = SystemTime::now();
        self.tracer.send(Span {
            trace: trace.id,
            id: claim,
            parent: Some(trace.state(job.fired_by)),
            link: None,
            name: format!("claim {}", job.transition),
            kind: Kind::Consumer,
            begun: claimed.taken_at.unwrap_or(begun),
            ended: begun,
            attributes: attributes(traced, &job.transition),
            failure: None,
        });
        let mut used = attributes(traced, &job.transition);
        used.push(("wed.outcome", outcome.into()));
        used.push(("wed.fuel", measure.fuel.into()));
        used.push(("wed.memory_bytes", measure.memory_bytes.into()));
        self.tracer.send(Span {
            trace: trace.id,
            id: traced.run,
            parent: Some(claim),
            link: None,
            name: format!("run {}", job.transition),
            kind: Kind::Internal,
            begun,
            ended: traced.ran,
            attributes: used,
            failure: failed.then(|| outcome.to_owned()),
        });
    }

    /// Sends the spans of the states of attempts that the database took.
    pub(crate) fn taken(&self, attempts: impl Iterator<Item = Traced>) {
        let at = SystemTime::now();
        let portion: Vec<Ended> = attempts.map(|traced| Ended { traced, at }).collect();
        if !portion.is_empty() {
            // Full: the database is slow to answer. Spans are dropped, so that work continues.
            let _ = self.ended.try_send(portion);
        }
    }

    /// Begins the trace of a message to a webhook, and adds its header to the request.
    pub(crate) async fn begin_post(&self, store: &Store, message: &Message, request: &mut Request) -> Option<Post> {
        let body: Value = serde_json::from_str(&message.body).ok()?;
        let data = body.get("data")?;
        let whole = |name: &str| i32::try_from(data.get(name)?.as_i64()?).ok();
        let wid = whole("wid")?;
        let flow = data.get("flow")?.as_str()?;
        let flow = store.flow(&message.tenant, flow).await.ok()?;
        let trace = self.tracer.instance(flow.flow_id.get(), wid)?;
        let id = trace.of_message(&message.name, message.attempt);
        let header = ("traceparent".to_owned(), trace.header(id));
        request.headers.push(header);
        Some(Post {
            trace,
            id,
            parent: whole("seq").map(|seq| trace.state(seq)),
            event: body.get("type")?.as_str()?.to_owned(),
            begun: SystemTime::now(),
        })
    }

    /// Sends the span of a message.
    pub(crate) fn end_post(&self, post: Post, message: &Message, failure: Option<&str>) {
        self.tracer.send(Span {
            trace: post.trace.id,
            id: post.id,
            parent: post.parent,
            link: None,
            name: format!("post {}", post.event),
            kind: Kind::Client,
            begun: post.begun,
            ended: SystemTime::now(),
            attributes: vec![
                ("wed.webhook", message.webhook.as_str().into()),
                ("wed.message", message.name.as_str().into()),
                ("wed.attempt", message.attempt.into()),
            ],
            failure: failure.map(str::to_owned),
        });
    }
}

impl Traced {
    /// Returns the value of `traceparent` with which a receiver of the attempt's requests continues its trace.
    pub(crate) fn header(&self) -> String {
        self.trace.header(self.run)
    }
}

/// Message under way.
#[derive(Debug)]
pub(crate) struct Post {
    trace: InstanceTrace,
    id: SpanId,
    parent: Option<SpanId>,
    event: String,
    begun: SystemTime,
}

fn attributes(traced: &Traced, transition: &str) -> Vec<(&'static str, Value)> {
    let attempt = &traced.attempt;
    vec![
        ("wed.flow_id", attempt.flow.get().into()),
        ("wed.wid", attempt.wid.get().into()),
        ("wed.transition", transition.into()),
        ("wed.attempt", attempt.attempt.into()),
    ]
}

/// Looks up the states of attempts, and sends their spans: of those that the attempts wrote, and of those that fired
/// them where no host wrote these.
async fn report(tracer: &Tracer, store: &Store, portion: &[Ended]) {
    let attempts: Vec<TracedAttempt> = portion.iter().map(|ended| ended.traced.attempt).collect();
    let states = match store.traced_states(&attempts).await {
        Ok(states) => states,
        Err(error) => {
            tracing::debug!(%error, "states could not be looked up for their spans");
            return;
        }
    };
    for (ended, state) in portion.iter().zip(states) {
        if let Some(span) = state_before(&ended.traced, &state) {
            tracer.send(span);
        }
        if let Some(seq) = state.written {
            let trace = ended.traced.trace;
            tracer.send(Span {
                trace: trace.id,
                id: trace.state(seq),
                parent: Some(ended.traced.run),
                link: None,
                name: "commit".to_owned(),
                kind: Kind::Internal,
                begun: ended.traced.ran,
                ended: ended.at,
                attributes: vec![("wed.wid", ended.traced.attempt.wid.get().into()), ("wed.seq", seq.into())],
                failure: None,
            });
        }
    }
}

/// Returns the span of the state that fired an attempt, if a person, a program or a schedule wrote it.
fn state_before(traced: &Traced, state: &TracedState) -> Option<Span> {
    let writer = state.writer.as_deref()?;
    let at = state.at?;
    if writer.starts_with("host:") && state.transition.is_some() {
        return None;
    }
    let (trace, seq) = (traced.trace, traced.attempt.fired_by);
    Some(Span {
        trace: trace.id,
        id: trace.state(seq),
        parent: (seq > 1).then(|| trace.state(1)),
        link: None,
        name: match (&state.transition, seq) {
            (_, 1) => "start".to_owned(),
            (Some(transition), _) => format!("state by {transition}"),
            (None, _) => "state".to_owned(),
        },
        kind: Kind::Internal,
        begun: at,
        ended: at,
        attributes: vec![
            ("wed.flow_id", traced.attempt.flow.get().into()),
            ("wed.wid", traced.attempt.wid.get().into()),
            ("wed.seq", seq.into()),
            ("wed.writer", writer.into()),
        ],
        failure: None,
    })
}

/// Notes when jobs were taken up, where spans are sent.
pub(crate) fn note_taken(spans: Option<&Arc<Spans>>, claimed: &mut [Claimed]) {
    if spans.is_some() {
        let now = Some(SystemTime::now());
        claimed.iter_mut().for_each(|one| one.taken_at = now);
    }
}
