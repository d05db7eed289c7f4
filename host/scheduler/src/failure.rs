//! Endings of a coroutine, and the way by which a failure reaches whoever registered the handler.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::id::{HandlerId, TokenId};

/// Any error of a handler.
pub type HandlerError = Box<dyn Error + Send + Sync>;

/// The result of a handler's coroutine.
pub type HandlerResult = Result<(), HandlerError>;

/// The ending of a coroutine, as finalisers get it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The coroutine returned `Ok`.
    Completed,
    /// The coroutine returned an error.
    Failed,
    /// The coroutine panicked.
    Panicked,
    /// The coroutine was cancelled by id, or its scheduler was dropped.
    Cancelled,
}

/// A failure of one handler, reported to the sink given at its registration (acceptance i).
#[derive(Debug, thiserror::Error)]
#[error("{handler}{}: {cause}", .token.map(|token| format!(", {token}")).unwrap_or_default())]
pub struct Failure {
    /// The handler that failed, or whose source or finaliser did.
    pub handler: HandlerId,
    /// The run that failed; absent when the source failed before there was one.
    pub token: Option<TokenId>,
    /// The reason.
    #[source]
    pub cause: FailureCause,
}

/// The cause of a handler's failure.
#[derive(Debug, thiserror::Error)]
pub enum FailureCause {
    /// The handler returned this error. The run ended; the handler stays registered.
    #[error("the handler failed: {0}")]
    Failed(#[source] HandlerError),
    /// The handler panicked with this message, or its coroutine did while it was dropped. The run
    /// ended; the handler stays registered.
    #[error("the handler panicked: {0}")]
    Panicked(String),
    /// A finaliser panicked with this message. The other finalisers of the run ran all the same.
    #[error("a finaliser panicked: {0}")]
    FinaliserPanicked(String),
    /// The event source panicked with this message. The source is gone; runs that began continue.
    #[error("the event source panicked: {0}")]
    SourcePanicked(String),
}

/// A receiver of a handler's failures. Called on the scheduler's own task between two steps, so it
/// should be brief: a log line, a counter, a send on an unbounded channel.
#[derive(Clone)]
pub struct FailureSink(Arc<dyn Fn(Failure) + Send + Sync>);

impl FailureSink {
    /// Wraps a function.
    pub fn new(sink: impl Fn(Failure) + Send + Sync + 'static) -> Self {
        FailureSink(Arc::new(sink))
    }

    /// Writes every failure to the log as an error.
    pub fn log() -> Self {
        FailureSink::new(
            |failure| tracing::error!(%failure, "a handler failed; what it did is done again by this host or another"),
        )
    }

    /// Reports; a sink that panics costs nothing but its report.
    pub(crate) fn report(&self, handler: HandlerId, token: Option<TokenId>, cause: FailureCause) {
        let failure = Failure { handler, token, cause };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.0)(failure))) {
            tracing::error!(
                %handler,
                panic = panic_message(&*payload),
                "a failure sink panicked; this is a defect of wed, please report it with this line"
            );
        }
    }
}

impl fmt::Debug for FailureSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FailureSink")
    }
}

/// The text of a panic, as far as it has one.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}

/// Drops what belongs to a handler or a source without letting its panic through: one ends alone.
pub(crate) fn drop_quietly<T>(handler: HandlerId, theirs: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(theirs))) {
        let panic = panic_message(&*payload);
        tracing::error!(
            %handler,
            panic,
            "a handler or its source panicked while it was dropped; this is a defect of wed, please report it with \
             this line"
        );
    }
}
