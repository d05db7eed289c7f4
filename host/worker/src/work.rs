//! "There may be work": the source that makes a lane claim.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use wedflow_scheduler::{EventSource, Moment, Observing, Sleep};

/// Tells a lane that there may be work for it. Any number of tellings before it looks are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Work {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    told: bool,
    again_at: Option<Moment>,
    waker: Option<Waker>,
}

impl Work {
    /// There may be work now.
    pub(crate) fn tell(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.told = true;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// There may be work at that moment at the latest, whoever tells or does not.
    pub(crate) fn look_again(&self, at: Moment) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Of several calls the nearest moment holds.
        state.again_at = Some(state.again_at.map_or(at, |before| before.min(at)));
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// The source, which looks every `poll` even if nobody tells: notifications are hints, and may be
    /// lost.
    pub(crate) fn source(&self, poll: Duration) -> WorkSource {
        WorkSource {
            work: self.clone(),
            poll,
            sleep: None,
        }
    }
}

/// The source of [`Work`].
pub(crate) struct WorkSource {
    work: Work,
    poll: Duration,
    sleep: Option<(Moment, Pin<Box<Sleep>>)>,
}

impl EventSource for WorkSource {
    type Event = ();

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<()>> {
        let mut state = self
            .work
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.told) {
            state.again_at = None;
            self.sleep = None;
            return Poll::Ready(Some(()));
        }
        let latest = observing.now() + self.poll;
        let until = match (&self.sleep, state.again_at) {
            (Some((until, _)), Some(again)) => (*until).min(again),
            (Some((until, _)), None) => *until,
            (None, Some(again)) => latest.min(again),
            (None, None) => latest,
        };
        if self.sleep.as_ref().is_none_or(|(at, _)| *at != until) {
            self.sleep = Some((until, Box::pin(observing.sleep_until(until))));
        }
        state.waker = Some(observing.waker().clone());
        if let Some((_, sleep)) = &mut self.sleep
            && sleep.as_mut().poll(&mut observing.context()).is_ready()
        {
            state.again_at = None;
            self.sleep = None;
            return Poll::Ready(Some(()));
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_moments_to_look_again_the_nearest_holds() {
        let work = Work::default();
        let now = Moment::default();
        work.look_again(now + Duration::from_millis(20));
        work.look_again(now + Duration::from_millis(250));
        let again_at = work.state.lock().expect("no panic").again_at;
        assert_eq!(again_at, Some(now + Duration::from_millis(20)));
    }
}
