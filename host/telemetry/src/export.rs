//! Sending: a bounded queue, and a thread that posts what is in it. A collector that is away or slow costs spans, never
//! work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::ids::{InstanceTrace, TraceParent};
use crate::settings::Settings;
use crate::span::{Span, attributes};

/// Spans that wait for being sent; more are dropped.
const WAITING_MAX: usize = 8_192;
/// Pause between two complaints about the collector.
const COMPLAINT_PAUSE: Duration = Duration::from_secs(60);

/// Door to the collector. Clones share one queue; what is in it is sent when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Tracer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Mark of the installation.
    mark: String,
    settings: Settings,
    queue: SyncSender<Item>,
    dropped: Arc<AtomicU64>,
}

/// Entry of the queue.
#[derive(Debug)]
enum Item {
    Span(Box<Span>),
    /// Request to send all items before it; answered when that is done.
    Flush(SyncSender<()>),
}

impl Tracer {
    /// Starts the thread that sends.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(settings: Settings, mark: &str) -> std::io::Result<Self> {
        let (queue, waiting) = sync_channel(WAITING_MAX);
        let dropped = Arc::new(AtomicU64::new(0));
        let sender = Sender::new(settings.clone(), Arc::clone(&dropped));
        std::thread::Builder::new().name("otlp".to_owned()).spawn(move || sender.run(&waiting))?;
        Ok(Tracer { inner: Arc::new(Inner { mark: mark.to_owned(), settings, queue, dropped }) })
    }

    /// Returns the trace of an instance; none if it is not recorded.
    pub fn instance(&self, flow: i32, wid: i32) -> Option<InstanceTrace> {
        let trace = InstanceTrace::new(&self.inner.mark, flow, wid);
        let taken = self.inner.settings.sampler.takes(trace.id);
        taken.then_some(trace)
    }

    /// Reads the span of a caller out of its header; none if the request is not recorded.
    pub fn caller(&self, header: &str) -> Option<TraceParent> {
        let sampler = &self.inner.settings.sampler;
        TraceParent::parse(header).filter(|caller| sampler.takes_caller(caller))
    }

    /// Queues a span; drops it where too many wait.
    pub fn send(&self, span: Span) {
        let item = Item::Span(Box::new(span));
        if self.inner.queue.try_send(item).is_err() {
            self.inner.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until what is queued was sent, at most for a time. Blocks its thread.
    pub fn flush(&self, longest: Duration) {
        let (done, sent) = sync_channel(1);
        if self.inner.queue.try_send(Item::Flush(done)).is_ok() {
            let _ = sent.recv_timeout(longest);
        }
    }
}

/// The sending thread's own.
struct Sender {
    settings: Settings,
    agent: ureq::Agent,
    dropped: Arc<AtomicU64>,
    complained: Option<Instant>,
}

impl Sender {
    fn new(settings: Settings, dropped: Arc<AtomicU64>) -> Self {
        let agent = ureq::Agent::config_builder().timeout_global(Some(settings.timeout)).build().new_agent();
        Sender { settings, agent, dropped, complained: None }
    }

    /// Sends until the last tracer is gone.
    fn run(mut self, waiting: &Receiver<Item>) {
        let mut spans = Vec::new();
        let mut until = Instant::now();
        loop {
            let next = match spans.is_empty() {
                true => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => waiting.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            let flushed = match next {
                Ok(Item::Span(span)) => {
                    if spans.is_empty() {
                        until = Instant::now() + self.settings.delay;
                    }
                    spans.push(*span);
                    if spans.len() < self.settings.batch_max {
                        continue;
                    }
                    None
                }
                Ok(Item::Flush(done)) => Some(done),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => {
                    self.post(&spans);
                    return;
                }
            };
            self.post(&spans);
            spans.clear();
            if let Some(done) = flushed {
                let _ = done.try_send(());
            }
        }
    }

    fn post(&mut self, spans: &[Span]) {
        if spans.is_empty() {
            return;
        }
        let body = self.document(spans).to_string();
        let mut request = self.agent.post(&self.settings.url);
        for (name, value) in &self.settings.headers {
            request = request.header(name, value);
        }
        let sent = request.header("content-type", "application/json").send(body.as_bytes());
        if let Err(error) = sent {
            let count = u64::try_from(spans.len()).unwrap_or(0);
            self.dropped.fetch_add(count, Ordering::Relaxed);
            self.complain(&error);
        }
    }

    fn complain(&mut self, error: &ureq::Error) {
        if self.complained.is_some_and(|at| at.elapsed() < COMPLAINT_PAUSE) {
            return;
        }
        self.complained = Some(Instant::now());
        tracing::warn!(
            %error,
            url = self.settings.url,
            dropped = self.dropped.swap(0, Ordering::Relaxed),
            "the collector does not take spans; they are dropped, and work continues"
        );
    }

    /// Returns spans as OTLP's request.
    fn document(&self, spans: &[Span]) -> Value {
        let resource: Vec<(&str, Value)> =
            (self.settings.resource.iter()).map(|(key, value)| (key.as_str(), Value::from(value.as_str()))).collect();
        let resource = attributes(resource.iter().map(|(key, value)| (*key, value)));
        json!({ "resourceSpans": [{
            "resource": { "attributes": resource },
            "scopeSpans": [{
                "scope": { "name": "wedflow", "version": env!("CARGO_PKG_VERSION") },
                "spans": spans.iter().map(Span::document).collect::<Vec<_>>(),
            }],
        }] })
    }
}
