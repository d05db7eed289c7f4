//! The thread that counts epochs: at each, computing guests yield. It sleeps while there is no guest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle, Thread};
use std::time::Duration;

use wasmtime::Engine;

/// The length of an epoch. Shorter ones cost more yields, longer ones let a guest hold a thread
/// for longer.
const EPOCH: Duration = Duration::from_millis(1);

/// Epochs without a guest before the thread sleeps: to wake it costs a system call, which guests that follow each
/// other closely are spared.
const IDLE_EPOCHS: u32 = 50;

/// Counts an engine's epochs until it is dropped. A thread of its own, not a task: when guests fill
/// every thread of the runtime, it is this one that makes them yield.
#[derive(Debug)]
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    wakes: Thread,
}

#[derive(Debug, Default)]
struct Shared {
    guests: AtomicUsize,
    sleeps: AtomicBool,
    stops: AtomicBool,
    epochs: AtomicU64,
}

/// A guest that there is: epochs are counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Ticking(Arc<Shared>);

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.guests.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (ticks, engine) = (Arc::clone(&shared), engine.weak());
        let thread = Builder::new().name("wasm-epochs".into()).spawn(move || {
            ticks.count(|| match engine.upgrade() {
                Some(engine) => {
                    engine.increment_epoch();
                    true
                }
                None => false,
            });
        })?;
        Ok(Ticker { shared, wakes: thread.thread().clone(), thread: Some(thread) })
    }

    /// Says that there is a guest.
    pub(crate) fn guest(&self) -> Ticking {
        self.shared.guests.fetch_add(1, Ordering::SeqCst);
        // Either this sees that the thread sleeps, or the thread sees the guest before it does.
        if self.shared.sleeps.load(Ordering::SeqCst) {
            self.wakes.unpark();
        }
        Ticking(Arc::clone(&self.shared))
    }
}

impl Shared {
    /// Calls `tick` at each epoch while there are guests, until it says no or the ticker stops.
    fn count(&self, mut tick: impl FnMut() -> bool) {
        let mut idle = 0;
        while !self.stops.load(Ordering::SeqCst) {
            if self.guests.load(Ordering::SeqCst) > 0 {
                idle = 0;
            } else if idle >= IDLE_EPOCHS {
                self.sleeps.store(true, Ordering::SeqCst);
                while self.guests.load(Ordering::SeqCst) == 0 && !self.stops.load(Ordering::SeqCst) {
                    std::thread::park();
                }
                self.sleeps.store(false, Ordering::SeqCst);
                idle = 0;
                continue;
            } else {
                idle += 1;
            }
            std::thread::sleep(EPOCH);
            self.epochs.fetch_add(1, Ordering::Relaxed);
            if !tick() {
                return;
            }
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::SeqCst);
        self.wakes.unpark();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the epoch thread panicked; this is a defect of wed, please report it with this line");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits until something holds; panics after a minute.
    fn until(holds: impl Fn() -> bool) {
        for _ in 0..60_000 {
            if holds() {
                return;
            }
            std::thread::sleep(EPOCH);
        }
        panic!("it does not hold after a minute");
    }

    #[test]
    fn epochs_are_counted_while_there_is_a_guest_and_only_then() {
        // The ticker holds the engine weakly: it ends with it.
        let engine = Engine::default();
        let ticker = Ticker::start(&engine).expect("a thread");
        let shared = Arc::clone(&ticker.shared);
        until(|| shared.sleeps.load(Ordering::SeqCst));
        let asleep = shared.epochs.load(Ordering::Relaxed);
        std::thread::sleep(EPOCH * 100);
        assert_eq!(shared.epochs.load(Ordering::Relaxed), asleep);
        for _ in 0..3 {
            let guest = ticker.guest();
            let before = shared.epochs.load(Ordering::Relaxed);
            until(|| shared.epochs.load(Ordering::Relaxed) > before + 3);
            drop(guest);
            until(|| shared.sleeps.load(Ordering::SeqCst));
        }
        drop(ticker);
    }
}
