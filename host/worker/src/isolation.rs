//! Isolation of attempts whose transition is not known yet or faulted lately: they run on threads of a lower priority.
//! Where the circuit breaker is open and other tenants are at work, an attempt needs a permit, too: four of a tenant
//! run at a time, and after each comes a pause as long as it took.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, getpriority_process, setpriority_process};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;
use wedflow_model::TenantId;
use wedflow_sandbox::TimeSlices;

/// Maximum number of a tenant's attempts at faulting transitions at a time, while other tenants are at work.
pub(crate) const ATTEMPTS_OF_TENANT_MAX: usize = 4;
/// Minimum time from the beginning of one such attempt to that of the next.
const ATTEMPT_INTERVAL_MIN: Duration = Duration::from_millis(25);
/// Maximum pause after one such attempt: as long as it took, and no longer than this.
const ATTEMPT_PAUSE_MAX: Duration = Duration::from_secs(1);
/// Steps of priority (`nice`) by which threads for unproven transitions rank below the host's others.
const UNPROVEN_NICE_STEPS: i32 = 5;
/// Steps of priority (`nice`) by which threads for faulting transitions rank below the host's others.
const FAULTING_NICE_STEPS: i32 = 10;
/// Maximum wait of a stopping host for isolated attempts, which look at the clock each millisecond.
const STOP_WAIT_MAX: Duration = Duration::from_millis(250);

/// Reason for which an attempt is isolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// Transition that is not known yet on this host, or faulted lately.
    Unproven,
    /// Transition whose circuit breaker is open.
    Faulting,
}

impl Isolation {
    /// Returns the steps of priority by which a guest process ranks below others. Unproven transitions share the
    /// process of the tenant's others: the kernel divides processors among tenants.
    pub(crate) fn guest_nice_steps(self) -> i32 {
        match self {
            Isolation::Unproven => 0,
            Isolation::Faulting => FAULTING_NICE_STEPS,
        }
    }
}

/// A tenant's permits for attempts at faulting transitions.
#[derive(Debug)]
struct Permits {
    free: Arc<Semaphore>,
    /// Lock that the next attempt to begin holds while it waits.
    head: tokio::sync::Mutex<()>,
    /// Time from which the next attempt may begin.
    next: Mutex<Instant>,
}

impl Permits {
    fn next(&self) -> Instant {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn delay_next(&self, until: Instant) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = until.max(*next);
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

impl Threads {
    fn start(count: usize, nice_steps: i32) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(count)
            .thread_name("isolated")
            .event_interval(1)
            .global_queue_interval(1)
            .on_thread_start(move || lower_priority(nice_steps))
            .enable_all()
            .build()?;
        Ok(Threads { runtime: Mutex::new(Some(runtime)), slices: TimeSlices::new(count, count) })
    }

    fn take_runtime(&self) -> Option<Runtime> {
        (self.runtime.lock().unwrap_or_else(PoisonError::into_inner)).take()
    }
}

/// Threads on which isolated attempts run, and permits for those that are limited.
#[derive(Debug)]
pub(crate) struct IsolatedAttempts {
    /// Separate from `faulting`, so that a transition that is proven soon does not wait for those that fault.
    unproven: Threads,
    faulting: Threads,
    permits: Mutex<HashMap<TenantId, Arc<Permits>>>,
}

impl IsolatedAttempts {
    /// Starts the threads: of each kind one for each four processors, at least one.
    ///
    /// # Errors
    /// The system has no more threads.
    pub(crate) fn new(processors: usize) -> std::io::Result<Self> {
        let count = processors.div_ceil(4).max(1);
        Ok(IsolatedAttempts {
            unproven: Threads::start(count, UNPROVEN_NICE_STEPS)?,
            faulting: Threads::start(count, FAULTING_NICE_STEPS)?,
            permits: Mutex::default(),
        })
    }

    fn threads(&self, isolation: Isolation) -> &Threads {
        match isolation {
            Isolation::Unproven => &self.unproven,
            Isolation::Faulting => &self.faulting,
        }
    }

    /// Returns the time slices of guests that compute here.
    pub(crate) fn slices(&self, isolation: Isolation) -> TimeSlices {
        self.threads(isolation).slices.clone()
    }

    /// Waits until a tenant may begin one more limited attempt, as long as `is_needed`: that is asked again when
    /// something has changed.
    pub(crate) async fn permit(&self, tenant: TenantId, is_needed: impl Fn() -> bool) -> Option<AttemptPermit> {
        let permits = {
            let mut all = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that nobody has or waits for, and whose pause is over, say nothing.
            let now = Instant::now();
            all.retain(|_, one| Arc::strong_count(one) > 1 || one.next() > now);
            let permits = all.entry(tenant).or_insert_with(|| {
                Arc::new(Permits {
                    free: Arc::new(Semaphore::new(ATTEMPTS_OF_TENANT_MAX)),
                    head: tokio::sync::Mutex::default(),
                    next: Mutex::new(now),
                })
            });
            Arc::clone(permits)
        };
        // The semaphore is never closed.
        let permit = Arc::clone(&permits.free).acquire_owned().await.ok()?;
        let head = permits.head.lock().await;
        let begun = loop {
            if !is_needed() {
                return None;
            }
            // It may have grown later meanwhile: one that was under way has ended.
            let (now, next) = (Instant::now(), permits.next());
            if next <= now {
                break now;
            }
            tokio::time::sleep_until(next).await;
        };
        permits.delay_next(begun + ATTEMPT_INTERVAL_MIN);
        drop(head);
        Some(AttemptPermit { permits, begun, _permit: permit })
    }

    /// Does `work` on isolated threads. Dropping the future ends it; returns nothing when the host has stopped.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        isolation: Isolation,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let mut one = JoinSet::new();
        {
            let runtime = &self.threads(isolation).runtime;
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

    /// Ends the attempts under way, and waits until they have ended.
    pub(crate) async fn stop(&self) {
        for runtime in self.take_runtimes() {
            // Only fails where the caller's own runtime ends too.
            let _ = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(STOP_WAIT_MAX)).await;
        }
    }

    fn take_runtimes(&self) -> impl Iterator<Item = Runtime> {
        let threads = [&self.unproven, &self.faulting];
        threads.into_iter().filter_map(Threads::take_runtime)
    }
}

impl Drop for IsolatedAttempts {
    fn drop(&mut self) {
        // Where a host is dropped nobody may wait.
        for runtime in self.take_runtimes() {
            runtime.shutdown_background();
        }
    }
}

/// Permit for a limited attempt, until it is dropped.
#[derive(Debug)]
pub(crate) struct AttemptPermit {
    permits: Arc<Permits>,
    begun: Instant,
    /// Given back after the pause has been set: fields are dropped after the whole.
    _permit: OwnedSemaphorePermit,
}

impl Drop for AttemptPermit {
    fn drop(&mut self) {
        let pause = self.begun.elapsed().min(ATTEMPT_PAUSE_MAX);
        self.permits.delay_next(Instant::now() + pause);
    }
}

/// Lowers the priority of the calling thread; on Linux the call is about one thread.
fn lower_priority(nice_steps: i32) {
    let lowered = getpriority_process(None).and_then(|now| setpriority_process(None::<Pid>, now + nice_steps));
    if let Err(error) = lowered {
        tracing::warn!(
            %error,
            "the priority of a thread for isolated attempts could not be lowered; they run at that of all others"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_tenants_permits_come_with_pauses_and_others_do_not_wait() {
        let isolated = IsolatedAttempts::new(1).expect("threads");
        let (tenant, other) = (TenantId::new(1), TenantId::new(2));
        let begun = Instant::now();
        let soon = Duration::from_secs(10);
        let mut held = Vec::new();
        for _ in 0..ATTEMPTS_OF_TENANT_MAX {
            held.push(isolated.permit(tenant, || true).await.expect("a permit"));
        }
        assert!(begun.elapsed() >= ATTEMPT_INTERVAL_MIN * 3);
        let others = tokio::time::timeout(soon, isolated.permit(other, || true)).await;
        assert!(others.expect("no wait for another tenant's").is_some());
        // A fifth waits for one of the four; one that is needed no longer gets none.
        let (fifth, ()) = tokio::join!(isolated.permit(tenant, || false), async { drop(held.pop()) });
        assert!(fifth.is_none());
        assert!(isolated.permit(tenant, || true).await.is_some());
        assert!(isolated.permits.lock().expect("a lock").len() <= 2);
    }

    #[tokio::test]
    async fn a_long_attempt_is_followed_by_a_pause_as_long() {
        let isolated = IsolatedAttempts::new(1).expect("threads");
        let tenant = TenantId::new(1);
        let long = isolated.permit(tenant, || true).await.expect("a permit");
        tokio::time::sleep(ATTEMPT_INTERVAL_MIN * 3).await;
        let (took, ended) = (long.begun.elapsed(), Instant::now());
        drop(long);
        assert!(isolated.permit(tenant, || true).await.is_some());
        assert!(ended.elapsed() >= took.min(ATTEMPT_PAUSE_MAX));
    }

    #[tokio::test]
    async fn isolated_attempts_run_on_threads_of_lower_priority_until_the_host_stops() {
        let isolated = IsolatedAttempts::new(1).expect("threads");
        let nice = || getpriority_process(None).expect("a priority");
        for (isolation, steps) in
            [(Isolation::Unproven, UNPROVEN_NICE_STEPS), (Isolation::Faulting, FAULTING_NICE_STEPS)]
        {
            let there = isolated.run(isolation, async move { nice() }).await;
            assert_eq!(there, Some((nice() + steps).min(19)));
        }
        isolated.stop().await;
        assert_eq!(isolated.run(Isolation::Faulting, async {}).await, None);
    }
}
