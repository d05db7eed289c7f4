//! Circuit breakers: what a tenant's broken or hostile component costs its neighbours does not grow with how much of it
//! there is. Each transition has a record on this host. One that is not known yet, or whose attempts lately ended in
//! faults, is tried apart from all others, on threads of a lower priority; one that faults again and again, while others
//! are at work, with one attempt of its tenant at a time and a pause after each. Attempts that come to an end of their own
//! mend the record.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, getpriority_process, setpriority_process};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinSet;
use tokio::time::Instant;
use wedflow_model::Outcome;
use wedflow_sandbox::{Attempt, Gate};

/// What a fault adds to a record; what comes to an end of its own takes away 1.
const FAULT: u8 = 2;
/// The record of which nobody knows yet how its attempts end.
const UNKNOWN: u8 = 3;
/// The record from which attempts are made apart.
const APART: u8 = 3;
/// The record from which they are made one at a time, with pauses.
const OPEN: u8 = 6;
/// The most that is held against a transition.
const MOST: u8 = 8;
/// The least pause after an attempt at what faults, while others are at work. A longer attempt is followed by as
/// long a pause as it took.
const PAUSE: Duration = Duration::from_millis(25);
/// By how much the threads rank lower than the host's others (`nice`).
const LOWER: i32 = 10;

/// How the attempts at one transition ended lately, on this host.
#[derive(Debug)]
pub(crate) struct Breaker(AtomicU8);

impl Default for Breaker {
    fn default() -> Self {
        Breaker(AtomicU8::new(UNKNOWN))
    }
}

impl Breaker {
    /// Whether attempts are to be made apart.
    pub(crate) fn is_apart(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= APART
    }

    /// Whether they are to be made one at a time.
    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= OPEN
    }

    /// Takes down how an attempt ended. Says whether the breaker is open now, if that has changed.
    pub(crate) fn ended(&self, attempt: &Attempt) -> Option<bool> {
        self.noted(is_fault(&attempt.outcome, attempt.computing))
    }

    fn noted(&self, fault: bool) -> Option<bool> {
        let before = self.0.load(Ordering::Relaxed);
        let after = match fault {
            true => (before + FAULT).min(MOST),
            false => before.saturating_sub(1),
        };
        // Most transitions never fault: nothing is written for them. Two at once may count as one; it is no more
        // than a record.
        if after != before {
            self.0.store(after, Ordering::Relaxed);
        }
        ((before >= OPEN) != (after >= OPEN)).then_some(after >= OPEN)
    }
}

/// Whether a guest was ended by its host, for something that its neighbours may notice. Who waits until the time is
/// over costs nobody anything.
fn is_fault(outcome: &Outcome, computing: bool) -> bool {
    match outcome {
        Outcome::Clause(_) | Outcome::Assignments(_) => false,
        Outcome::Aborted { .. } | Outcome::Failed { .. } => false,
        Outcome::TimedOut => computing,
        Outcome::Trapped { .. }
        | Outcome::OutOfFuel
        | Outcome::OverMemory { .. }
        | Outcome::OutputTooLarge { .. }
        | Outcome::HostCallLimit { .. } => true,
    }
}

/// A tenant's turn at what faults: when the next one may begin.
type Pace = Arc<tokio::sync::Mutex<Instant>>;

/// Where attempts are made that others are not to notice.
#[derive(Debug)]
pub(crate) struct Apart {
    /// Some until it is dropped.
    runtime: Option<Runtime>,
    gate: Gate,
    paces: Mutex<HashMap<i32, Pace>>,
}

impl Apart {
    /// Starts the threads: one for each four processors, at least one.
    ///
    /// # Errors
    /// The system has no more threads.
    pub(crate) fn new(processors: usize) -> std::io::Result<Self> {
        let threads = processors.div_ceil(4).max(1);

        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("apart")
            .event_interval(1)
            .global_queue_interval(1)
            .on_thread_start(rank_lower)
            .enable_all()
            .build()?;
        Ok(Apart {
            runtime: Some(runtime),
            // Of its own: who has a turn here may be long without a processor, and nobody else is to wait for that.
            gate: Gate::new(threads, threads),
            paces: Mutex::default(),
        })
    }

    /// The gate of what computes here.
    pub(crate) fn gate(&self) -> Gate {
        self.gate.clone()
    }

    /// Waits for a tenant's turn.
    pub(crate) async fn turn(&self, tenant: i32) -> Paced {
        let pace = {
            let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            // Those that nobody has or waits for, and whose pause is over, say nothing.
            paces.retain(|_, pace| {
                Arc::strong_count(pace) > 1 || pace.try_lock().is_ok_and(|next| *next > now)
            });
            let pace = paces.entry(tenant);
            Arc::clone(pace.or_insert_with(|| Arc::new(tokio::sync::Mutex::new(now))))
        };
        let next = pace.lock_owned().await;
        tokio::time::sleep_until(*next).await;
        Paced {
            next,
            begun: Instant::now(),
        }
    }

    /// Does something on the threads of lower priority. Dropping the future ends it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let runtime = self.runtime.as_ref()?;
        let mut one = JoinSet::new();
        one.spawn_on(work, runtime.handle());
        match one.join_next().await? {
            Ok(done) => Some(done),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => None,
            },
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // Where a host is dropped nobody may wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A tenant's turn; with its end the pause begins.
#[derive(Debug)]
pub(crate) struct Paced {
    next: OwnedMutexGuard<Instant>,
    begun: Instant,
}

impl Drop for Paced {
    fn drop(&mut self) {
        let now = Instant::now();
        *self.next = now + PAUSE.max(now - self.begun);
    }
}

/// Ranks the calling thread lower; on Linux the call is about one thread.
fn rank_lower() {
    let lowered =
        getpriority_process(None).and_then(|now| setpriority_process(None::<Pid>, now + LOWER));
    if let Err(error) = lowered {
        tracing::warn!(%error, "what faults could not be given a lower priority");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record after such ends; `true` is a fault.
    fn after(ends: impl IntoIterator<Item = bool>) -> Breaker {
        let breaker = Breaker::default();
        for fault in ends {
            breaker.noted(fault);
        }
        breaker
    }

    #[test]
    fn who_is_not_known_is_tried_apart_until_an_attempt_comes_to_an_end() {
        assert!(after([]).is_apart() && !after([]).is_open());
        assert!(!after([false]).is_apart());
        assert!(after([true]).is_apart() && !after([true]).is_open());
        assert!(after([true, true]).is_open());
    }

    #[test]
    fn three_faults_in_a_row_open_it_and_three_ends_of_its_own_close_it() {
        let known = |ends: &[bool]| after([&[false; 3], ends].concat());
        assert!(!known(&[true, true]).is_open());
        assert!(known(&[true; 3]).is_open() && known(&[true; 100]).is_open());
        let mended = |ends: usize| known(&[vec![true; 100], vec![false; ends]].concat());
        assert!(mended(2).is_open() && !mended(3).is_open());
        assert!(mended(5).is_apart() && !mended(6).is_apart());
    }

    #[test]
    fn a_fault_now_and_then_does_not_open_it_and_every_second_does() {
        let every = |so_many: usize| after((0..300).map(|at| at % so_many == so_many - 1));
        assert!(!every(4).is_apart());
        assert!(!every(3).is_open());
        assert!(every(2).is_open());
    }

    #[test]
    fn who_waits_too_long_or_says_no_is_no_fault() {
        assert!(!is_fault(&Outcome::TimedOut, false));
        assert!(is_fault(&Outcome::TimedOut, true));
        let failed = Outcome::Failed {
            message: String::new(),
            retry: true,
        };
        assert!(!is_fault(&failed, true));
        assert!(is_fault(&Outcome::OutOfFuel, true));
    }

    #[tokio::test]
    async fn a_tenants_turns_have_a_pause_between_them_and_others_do_not_wait() {
        let apart = Apart::new(1).expect("threads");
        let begun = Instant::now();
        let first = apart.turn(1).await;
        tokio::time::timeout(Duration::from_secs(10), apart.turn(2))
            .await
            .expect("no wait for another tenant's");
        drop(first);
        let _second = apart.turn(1).await;
        assert!(begun.elapsed() >= PAUSE);
        assert!(apart.paces.lock().expect("a lock").len() <= 2);
    }

    #[tokio::test]
    async fn what_is_run_apart_is_run_on_a_thread_that_ranks_lower() {
        let apart = Apart::new(1).expect("threads");
        let rank = || getpriority_process(None).expect("a priority");
        let lower = apart.run(async move { rank() }).await;
        assert_eq!(lower, Some((rank() + LOWER).min(19)));
    }
}
