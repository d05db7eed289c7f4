//! Circuit breakers: what a tenant's broken or hostile component costs its neighbours does not grow with how much of it
//! there is. Each transition has a record on this host. One that is not known yet, or whose attempts lately ended in
//! faults, is isolated from all others, on threads of a lower priority; one that faults again and again, while
//! others are at work, with four attempts of its tenant at a time and a pause after each as long as it took.
//! Attempts that come to an end of their own mend the record.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, getpriority_process, setpriority_process};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;
use wedflow_model::{Outcome, TenantId};
use wedflow_sandbox::{Attempt, TimeSlices};

/// Points that a fault adds to a record; an attempt that ends by itself takes 1 away.
const FAULT: u8 = 3;
/// The record of which nobody knows yet how its attempts end.
const UNKNOWN: u8 = 3;
/// Record from which on attempts are isolated.
const APART: u8 = 3;
/// The record from which they are made a few at a time, with pauses.
const OPEN: u8 = 6;
/// The most that is held against a transition.
const MOST: u8 = 9;
/// Attempts at what faults that a tenant has under way at once, while others are at work.
const AT_ONCE: usize = 4;
/// The least time from the beginning of one of these to that of the next.
const PAUSE: Duration = Duration::from_millis(25);
/// After one that took longer, none begins for as long as it took, but for no longer than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The computing from which a guest whose time runs out is taken for one that does not end, in epochs of 1 ms: about
/// as many milliseconds, and fewer on a busy machine.
const LONG: u32 = 30;
/// By how much the threads rank lower than the host's others (`nice`): for what is not known, and for what faults.
const LOWER: [i32; 2] = [5, 10];
/// Maximum wait of a stopping host for isolated attempts, which look at the clock each millisecond.
const STOPPING: Duration = Duration::from_millis(250);

/// Record of a transition's recent attempts on this host.
#[derive(Debug)]
pub(crate) struct Breaker(AtomicU8);

impl Default for Breaker {
    fn default() -> Self {
        Breaker(AtomicU8::new(UNKNOWN))
    }
}

/// Meaning of an attempt's end for the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The host ended it, for something that its neighbours may notice.
    Fault,
    /// The attempt ended by itself.
    Own,
    /// The attempt waited until its timeout: no evidence.
    Neither,
}

impl Breaker {
    /// Returns true if attempts run isolated.
    pub(crate) fn is_apart(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= APART
    }

    /// Returns true if attempts are limited to a few at a time.
    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= OPEN
    }

    /// Takes down how an attempt ended. Says whether the breaker is open now, if that has changed.
    pub(crate) fn ended(&self, attempt: &Attempt) -> Option<bool> {
        self.noted(End::of(&attempt.outcome, attempt.epochs))
    }

    fn noted(&self, end: End) -> Option<bool> {
        let before = self.0.load(Ordering::Relaxed);
        let after = match end {
            End::Fault => (before + FAULT).min(MOST),
            End::Own => before.saturating_sub(1),
            End::Neither => before,
        };
        // Most transitions never fault: nothing is written for them. Two at once may count as one; it is no more
        // than a record.
        if after != before {
            self.0.store(after, Ordering::Relaxed);
        }
        ((before >= OPEN) != (after >= OPEN)).then_some(after >= OPEN)
    }
}

impl End {
    /// Returns the end of an attempt that computed for `epochs`.
    fn of(outcome: &Outcome, epochs: u32) -> End {
        match outcome {
            Outcome::Clause(_) | Outcome::Assignments(_) => End::Own,
            Outcome::Aborted { .. } | Outcome::Failed { .. } => End::Own,
            // Not by fuel: compiled code that is interrupted has not written down what it used.
            Outcome::TimedOut if epochs < LONG => End::Neither,
            Outcome::TimedOut
            | Outcome::Trapped { .. }
            | Outcome::OutOfFuel
            | Outcome::OverMemory { .. }
            | Outcome::OutputTooLarge { .. }
            | Outcome::HostCallLimit { .. } => End::Fault,
        }
    }
}

/// A tenant's turns at what faults.
#[derive(Debug)]
struct Pace {
    at_once: Arc<Semaphore>,
    /// Lock that the next attempt to begin holds while it waits.
    line: tokio::sync::Mutex<()>,
    /// When the next one may begin.
    next: Mutex<Instant>,
}

impl Pace {
    fn next(&self) -> Instant {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_before(&self, at: Instant) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = at.max(*next);
    }
}

/// Threads that rank lower than the host's others, with time slices of their own: a guest with a slice here may be long
/// without a processor, and nobody else is to wait for that.
#[derive(Debug)]
struct Threads {
    /// Some until the host stops.
    runtime: Mutex<Option<Runtime>>,
    slices: TimeSlices,
}

/// Threads of lower priority on which isolated attempts run.
#[derive(Debug)]
pub(crate) struct Apart {
    /// For what is not known, and for what faults: the ones are not to wait behind the others.
    threads: [Threads; 2],
    paces: Mutex<HashMap<TenantId, Arc<Pace>>>,
}

impl Apart {
    /// Starts the threads: of each kind one for each four processors, at least one.
    ///
    /// # Errors
    /// The system has no more threads.
    pub(crate) fn new(processors: usize) -> std::io::Result<Self> {
        let count = processors.div_ceil(4).max(1);
        let threads = |lower: i32| {
            let runtime = Builder::new_multi_thread()
                .worker_threads(count)
                .thread_name("apart")
                .event_interval(1)
                .global_queue_interval(1)
                .on_thread_start(move || rank(lower))
                .enable_all()
                .build()?;
            Ok::<_, std::io::Error>(Threads {
                runtime: Mutex::new(Some(runtime)),
                slices: TimeSlices::new(count, count),
            })
        };
        let [unknown, open] = LOWER;
        Ok(Apart {
            threads: [threads(unknown)?, threads(open)?],
            paces: Mutex::default(),
        })
    }

    fn threads(&self, open: bool) -> &Threads {
        &self.threads[usize::from(open)]
    }

    /// Time slices of guests that compute here.
    pub(crate) fn slices(&self, open: bool) -> TimeSlices {
        self.threads(open).slices.clone()
    }

    /// Waits for a tenant's turn, as long as it `must`: that is asked again when something has changed.
    pub(crate) async fn turn(&self, tenant: TenantId, must: impl Fn() -> bool) -> Option<Paced> {
        let pace = {
            let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that nobody has or waits for, and whose pause is over, say nothing.
            let now = Instant::now();
            paces.retain(|_, pace| Arc::strong_count(pace) > 1 || pace.next() > now);
            let pace = paces.entry(tenant).or_insert_with(|| {
                Arc::new(Pace {
                    at_once: Arc::new(Semaphore::new(AT_ONCE)),
                    line: tokio::sync::Mutex::default(),
                    next: Mutex::new(now),
                })
            });
            Arc::clone(pace)
        };
        // The semaphore is never closed.
        let place = Arc::clone(&pace.at_once).acquire_owned().await.ok()?;
        let line = pace.line.lock().await;
        let begun = loop {
            if !must() {
                return None;
            }
            // It may have grown later meanwhile: one that was under way has ended.
            let (now, next) = (Instant::now(), pace.next());
            if next <= now {
                break now;
            }
            tokio::time::sleep_until(next).await;
        };
        pace.not_before(begun + PAUSE);
        drop(line);
        Some(Paced {
            pace,
            begun,
            _place: place,
        })
    }

    /// Does something on the threads for what faults, or for what is not known. Dropping the future ends it; nothing
    /// when the host has stopped.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        open: bool,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let mut one = JoinSet::new();
        {
            let runtime = &self.threads(open).runtime;
            let runtime = runtime.lock().unwrap_or_else(PoisonError::into_inner);
            one.spawn_on(work, runtime.as_ref()?.handle());
        }
        match one.join_next().await? {
            Ok(done) => Some(done),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => None,
            },
        }
    }

    /// Ends what is under way, and waits until it has ended.
    pub(crate) async fn stop(&self) {
        for runtime in self.taken() {
            // Only fails where the caller's own runtime ends too.
            let _ = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(STOPPING)).await;
        }
    }

    fn taken(&self) -> Vec<Runtime> {
        let take = |threads: &Threads| {
            let runtime = &threads.runtime;
            (runtime.lock().unwrap_or_else(PoisonError::into_inner)).take()
        };
        self.threads.iter().filter_map(take).collect()
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // Where a host is dropped nobody may wait.
        for runtime in self.taken() {
            runtime.shutdown_background();
        }
    }
}

/// A tenant's turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Paced {
    pace: Arc<Pace>,
    begun: Instant,
    /// Given back after the pause has been set: fields are dropped after the whole.
    _place: OwnedSemaphorePermit,
}

impl Drop for Paced {
    fn drop(&mut self) {
        let pause = self.begun.elapsed().min(LONGEST_PAUSE);
        self.pace.not_before(Instant::now() + pause);
    }
}

/// Ranks the calling thread lower; on Linux the call is about one thread.
fn rank(lower: i32) {
    let lowered =
        getpriority_process(None).and_then(|now| setpriority_process(None::<Pid>, now + lower));
    if let Err(error) = lowered {
        tracing::warn!(
            %error,
            "what is tried apart could not be given a lower priority; it runs at that of all others"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record after such ends; `true` is a fault.
    fn after(ends: impl IntoIterator<Item = bool>) -> Breaker {
        let breaker = Breaker::default();
        for fault in ends {
            breaker.noted(if fault { End::Fault } else { End::Own });
        }
        breaker
    }

    #[test]
    fn who_is_not_known_is_tried_apart_until_an_attempt_comes_to_an_end() {
        assert!(after([]).is_apart() && !after([]).is_open());
        assert!(!after([false]).is_apart());
        assert!(after([true]).is_open());
    }

    #[test]
    fn two_faults_in_a_row_open_it_and_four_ends_of_its_own_close_it() {
        let known = |ends: &[bool]| after([&[false; 3], ends].concat());
        assert!(known(&[true]).is_apart() && !known(&[true]).is_open());
        assert!(known(&[true; 2]).is_open() && known(&[true; 100]).is_open());
        let mended = |ends: usize| known(&[vec![true; 100], vec![false; ends]].concat());
        assert!(mended(3).is_open() && !mended(4).is_open());
        assert!(mended(6).is_apart() && !mended(7).is_apart());
    }

    #[test]
    fn a_fault_now_and_then_does_not_open_it_and_every_third_does() {
        let every = |so_many: usize| after((0..300).map(|at| at % so_many == so_many - 1));
        assert!(!every(5).is_open());
        assert!(every(3).is_open());
        assert!(every(2).is_open());
    }

    #[test]
    fn who_waits_too_long_says_nothing_of_itself_and_who_computes_does() {
        assert_eq!(End::of(&Outcome::TimedOut, 2), End::Neither);
        assert_eq!(End::of(&Outcome::TimedOut, 900), End::Fault);
        let failed = Outcome::Failed {
            message: String::new(),
            retry: true,
        };
        assert_eq!(End::of(&failed, 900), End::Own);
        assert_eq!(End::of(&Outcome::OutOfFuel, 0), End::Fault);
        let breaker = after([true]);
        breaker.noted(End::Neither);
        assert!(breaker.is_open());
    }

    #[tokio::test]
    async fn a_tenants_turns_have_a_pause_between_them_and_others_do_not_wait() {
        let apart = Apart::new(1).expect("threads");
        let begun = Instant::now();
        let soon = Duration::from_secs(10);
        let mut held = Vec::new();
        for _ in 0..AT_ONCE {
            held.push(apart.turn(TenantId::new(1), || true).await.expect("a turn"));
        }
        assert!(begun.elapsed() >= PAUSE * 3);
        let others = tokio::time::timeout(soon, apart.turn(TenantId::new(2), || true)).await;
        assert!(others.expect("no wait for another tenant's").is_some());
        // A fifth waits for one of the four; what is no longer to wait does not have a turn.
        let (fifth, ()) = tokio::join!(apart.turn(TenantId::new(1), || false), async {
            drop(held.pop())
        });
        assert!(fifth.is_none());
        assert!(apart.turn(TenantId::new(1), || true).await.is_some());
        assert!(apart.paces.lock().expect("a lock").len() <= 2);
    }

    #[tokio::test]
    async fn after_a_long_one_none_begins_for_as_long_as_it_took() {
        let apart = Apart::new(1).expect("threads");
        let long = apart.turn(TenantId::new(1), || true).await.expect("a turn");
        tokio::time::sleep(PAUSE * 3).await;
        let (took, ended) = (long.begun.elapsed(), Instant::now());
        drop(long);
        assert!(apart.turn(TenantId::new(1), || true).await.is_some());
        assert!(ended.elapsed() >= took.min(LONGEST_PAUSE));
    }

    #[tokio::test]
    async fn what_is_run_apart_is_run_on_threads_that_rank_lower_until_the_host_stops() {
        let apart = Apart::new(1).expect("threads");
        let rank = || getpriority_process(None).expect("a priority");
        for (open, lower) in [(false, LOWER[0]), (true, LOWER[1])] {
            let there = apart.run(open, async move { rank() }).await;
            assert_eq!(there, Some((rank() + lower).min(19)));
        }
        apart.stop().await;
        assert_eq!(apart.run(true, async {}).await, None);
    }
}
