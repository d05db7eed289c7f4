//! Spans of instances, sent to a collector by OTLP over HTTP as JSON. Settings are OpenTelemetry's variables of the
//! environment.
//!
//! An instance is a trace. Its trace id, and the ids of its spans, follow from the installation, the flow, the instance
//! and the step, so that hosts which never speak to each other agree on them, and nothing is kept for them:
//!
//! - `state`: a row of the instance's trace, by its `seq`; the child of the attempt that wrote it
//! - `claim`: from the lease of a job to its begin; the child of the state that fired it
//! - `run`: the attempt; the child of its claim
//! - `post`: a message to a webhook; the child of the state that it tells of
//!
//! A caller's trace has a span of the request, which links to the state that it made.

mod export;
mod ids;
mod settings;
mod span;

pub use export::Tracer;
pub use ids::{InstanceTrace, SpanId, TraceId, TraceParent};
pub use settings::{Sampler, Settings};
pub use span::{Kind, Span};
