//! Watching of instances: one query of the database for all clients, however many there are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use wedflow_model::{FlowId, Wid};
use wedflow_store::{LastRow, Store};
use wedflow_tenancy::{Action, Area, authenticate};

/// Time between two queries while a watched instance is active.
const LOOK: Duration = Duration::from_millis(250);
/// Time between two queries once several of them found nothing new.
const IDLE_LOOK: Duration = Duration::from_secs(2);
/// The least time between two looks whether a token still lets its bearer in.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// Minimum time between two looks at tokens: with many tokens each is looked at more rarely.
const ASK_EACH: Duration = Duration::from_millis(200);

/// A flow's number and an instance's.
type Instance = (FlowId, Wid);

/// Last row of a watched instance's trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Last {
    seq: i32,
    /// No row follows: the instance is final, or was removed with its flow.
    over: bool,
}

/// Instances that clients watch. Clones share them.
#[derive(Clone)]
pub(crate) struct Watching(Arc<Shared>);

struct Shared {
    store: Store,
    /// Sessions for checks whether tokens still hold.
    tokens: Store,
    state: Mutex<State>,
    /// Signal of a new watcher.
    another: Notify,
}

#[derive(Default)]
struct State {
    instances: HashMap<Instance, Watched>,
    tokens: HashMap<String, Held>,
    /// True while a task queries the database.
    looks: bool,
}

struct Watched {
    watchers: usize,
    last: watch::Sender<Last>,
}

/// A token of watchers.
struct Held {
    watchers: usize,
    asked: Instant,
    holds: bool,
}

/// A watcher's place, until it is dropped.
pub(crate) struct Watcher {
    watching: Watching,
    instance: Instance,
    token: Option<String>,
    last: watch::Receiver<Last>,
}

impl Watching {
    pub(crate) fn new(store: Store, tokens: Store) -> Self {
        Watching(Arc::new(Shared { store, tokens, state: Mutex::default(), another: Notify::new() }))
    }

    /// Begins to watch an instance for the bearer of a token that was let in just now; without a token for the owner of
    /// the installation.
    pub(crate) fn watch(&self, instance: Instance, token: Option<String>) -> Watcher {
        let mut state = self.state();
        let watched = state
            .instances
            .entry(instance)
            .or_insert_with(|| Watched { watchers: 0, last: watch::Sender::new(Last::default()) });
        watched.watchers += 1;
        let last = watched.last.subscribe();
        let now = Instant::now();
        if let Some(token) = &token {
            let held = state.tokens.entry(token.clone()).or_insert(Held { watchers: 0, asked: now, holds: true });
            held.watchers += 1;
            (held.asked, held.holds) = (now, true);
        }
        if !std::mem::replace(&mut state.looks, true) {
            tokio::spawn(self.clone().look());
        }
        drop(state);
        self.0.another.notify_one();
        Watcher { watching: self.clone(), instance, token, last }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at all that is watched, until nobody watches.
    async fn look(self) {
        let mut pause = LOOK;
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.0.another.notified() => pause = LOOK,
            }
            let (flows, wids): (Vec<FlowId>, Vec<Wid>) = {
                let mut state = self.state();
                state.looks = !state.instances.is_empty();
                if !state.looks {
                    return;
                }
                state.instances.keys().copied().unzip()
            };
            pause = match self.0.store.last_rows(&flows, &wids).await {
                Ok(rows) => match self.tell(rows) {
                    true => LOOK,
                    false => (pause * 5 / 4).min(IDLE_LOOK),
                },
                Err(error) => {
                    tracing::warn!(
                        %error,
                        "could not look at what is watched; it is tried again, and `wed status` tells how the \
                         database is"
                    );
                    IDLE_LOOK
                }
            };
        }
    }

    /// Tells watchers of the last rows of their instances; whether any is new.
    fn tell(&self, rows: Vec<LastRow>) -> bool {
        let state = self.state();
        let mut new = false;
        for row in rows {
            if let Some(watched) = state.instances.get(&(row.flow_id, row.wid)) {
                new |= watched.last.send_if_modified(|last| {
                    let now = Last { seq: row.seq, over: row.over };
                    std::mem::replace(last, now) != now
                });
            }
        }
        new
    }

    /// Returns true while a token lets its bearer watch. Asks the database now and then, once for all watchers with
    /// that token.
    async fn holds(&self, token: &str) -> bool {
        {
            let mut state = self.state();
            let many = u32::try_from(state.tokens.len()).unwrap_or(u32::MAX);
            let Some(held) = state.tokens.get_mut(token) else {
                return false;
            };
            if held.asked.elapsed() < ASK_AGAIN.max(ASK_EACH.saturating_mul(many)) {
                return held.holds;
            }
            // The others of this token go by what was answered last meanwhile.
            held.asked = Instant::now();
        }
        let holds =
            authenticate(&self.0.tokens, token).await.is_ok_and(|identity| identity.may(Action::read(Area::Instances)));
        if let Some(held) = self.state().tokens.get_mut(token) {
            held.holds = holds;
        }
        holds
    }
}

impl Watcher {
    /// Waits for the row `next` of the instance, at most `until` then. Returns false when the token no longer lets its
    /// bearer watch, and when no row will follow.
    pub(crate) async fn wait(&mut self, next: i32, until: Instant) -> bool {
        let mut news = false;
        loop {
            let last = {
                let last = self.last.borrow_and_update();
                news |= last.has_changed();
                *last
            };
            if news && last.seq >= next {
                break;
            }
            // The caller has read the trace since this was told.
            if last.over {
                return false;
            }
            if Instant::now() >= until {
                break;
            }
            let moment = tokio::time::Instant::from_std(until.min(Instant::now() + ASK_AGAIN));
            // The sender lives as long as this watcher.
            news = matches!(tokio::time::timeout_at(moment, self.last.changed()).await, Ok(Ok(())));
            if !self.holds().await {
                return false;
            }
        }
        self.holds().await
    }

    /// Returns true while whoever watches may.
    async fn holds(&self) -> bool {
        match &self.token {
            Some(token) => self.watching.holds(token).await,
            None => true,
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let mut state = self.watching.state();
        if let Some(watched) = state.instances.get_mut(&self.instance) {
            watched.watchers -= 1;
            if watched.watchers == 0 {
                state.instances.remove(&self.instance);
            }
        }
        let Some(token) = &self.token else { return };
        if let Some(held) = state.tokens.get_mut(token) {
            held.watchers -= 1;
            if held.watchers == 0 {
                state.tokens.remove(token);
            }
        }
    }
}
