//! The event scheduler: many event sources of the Reactor joined with the asynchronous processing
//! of the Proactor, handlers running as coroutines. It is the main loop of the host, and usable on
//! its own.
//!
//! # Parts
//! (names of the thesis, chapter 3)
//! - the **event observer** is the only thing that touches [event sources](EventSource); it waits
//!   for them without busy waiting and reports which handlers became ready;
//! - the **handler repository** holds the table of handlers and the [ready queue](ReadyQueue); it
//!   asks the observer for more when the queue is empty;
//! - the [`Scheduler`] wraps each run of a handler in an **execution token**, a coroutine with its
//!   whole context, and resumes the head of the queue, one at each [`step`](Scheduler::step).
//!
//! A handler is an `async` closure of an event and a [`Context`]. It runs on the scheduler's task
//! until it awaits something that is not ready, in however deep a call, and is resumed there. A
//! WebAssembly guest called through wasmtime's `call_async` runs on a fiber, so it too suspends
//! with its stack.
//!
//! # Built on tokio
//! A scheduler is one tokio task; whatever a handler or a source awaits is tokio's to drive. What
//! is added is the model: one-at-a-time delivery with back pressure, order, ids, finalisers,
//! failures reported to whoever registered, cancellation, and a clock that can be simulated.
//! Schedulers share nothing, so several (one per core) do not disturb each other.
//!
//! # Guarantees
//! - Each event is handed to its own handler exactly once; handlers are resumed in the order in
//!   which they became ready (with [`Fifo`]; with [`FreshFirst`], what computes lets others pass).
//!   A source delivers one event at a time, so sources that are all busy take turns.
//! - A ready queue that is never empty starves no source: after each turn of
//!   [`Bounds::turn_steps`] resumptions or [`Bounds::turn_time`] the observer is asked and the
//!   runtime gets the thread. An event or a timer is therefore queued at most one turn and one
//!   resumption after it came (if its handler could take it then), and resumed after those queued
//!   before it. With `n` of those and resumptions of at most `s` (for guests, the interval at which
//!   epochs preempt them), it waits at most `turn_time + (n + 2) * s`, besides what the operating
//!   system and the runtime's other tasks take.
//! - A timer never fires early.
//! - A handler that fails or panics ends alone.
//!
//! # Example
//! ```
//! use std::time::Duration;
//! use wedflow_scheduler::{Scheduler, source};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let mut scheduler = Scheduler::new();
//! let (jobs, queue) = source::queue(16);
//! scheduler.register_source(queue, |job: u32, context| async move {
//!     context.finaliser(move |ending| println!("job {job}: {ending:?}"))?;
//!     context.sleep(Duration::from_millis(1)).await;
//!     if job == 2 {
//!         context.stop();
//!     }
//!     Ok(())
//! });
//! jobs.try_send(1).unwrap();
//! jobs.try_send(2).unwrap();
//! scheduler.run().await;
//! # });
//! ```

mod clock;
mod context;
mod failure;
mod hub;
mod id;
mod lock;
mod observer;
mod ready;
mod repository;
mod scheduler;
pub mod simulation;
pub mod source;
mod timers;
mod token;
mod wake;

pub use clock::{Alarm, Clock, Moment, SimulatedClock, TokioClock};
pub use context::{Context, Signals, TokenEnded};
pub use failure::{Ending, Failure, FailureCause, FailureSink, HandlerError, HandlerResult};
pub use id::{HandlerId, TokenId};
pub use ready::{Fifo, FreshFirst, Readiness, Ready, ReadyQueue};
pub use repository::Registration;
pub use scheduler::{Bounds, Progress, Scheduler, SchedulerBuilder, Stepped};
pub use source::{EventSource, Observing, SourceKind};
pub use timers::Sleep;
