//! The thread that counts epochs: at each, computing guests yield.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use wasmtime::Engine;

/// The length of an epoch. Shorter ones cost more yields, longer ones let a guest hold a thread
/// for longer.
const EPOCH: Duration = Duration::from_millis(1);

/// Counts an engine's epochs until it is dropped. A thread of its own, not a task: when guests fill
/// every thread of the runtime, it is this one that makes them yield.
#[derive(Debug)]
pub(crate) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let engine = engine.weak();
        let thread = Builder::new().name("wasm-epochs".into()).spawn(move || {
            while stopped.recv_timeout(EPOCH) == Err(RecvTimeoutError::Timeout) {
                match engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        })?;
        Ok(Ticker {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // Hanging up ends the thread's wait.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the epoch thread panicked");
        }
    }
}
