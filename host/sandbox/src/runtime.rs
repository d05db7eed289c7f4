//! The tokio runtime on which guests do not starve anybody.

use tokio::runtime::Builder;

/// A multi-thread runtime that looks at timers, sockets and its global queue after every poll. A
/// guest that computes holds its thread for up to an epoch (1 ms) at a poll; by tokio's own
/// defaults, timers then wait for dozens of those. Name, thread count and the rest may still be set.
pub fn runtime() -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.enable_all().event_interval(1).global_queue_interval(1);
    builder
}
