//! Words between the inbox's threads: what the person wishes, what is to be shown, what is known of the server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value as Json};
use wedflow_away::{Draft, KeptResult, LocalItem, SentResult, Step};

/// A wish of the person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wish {
    /// Look at the worklist again, in this order; an empty one: as it is.
    Look(&'static str),
    /// Show what is known here.
    Show,
    /// End, when all that was wished before is on the disk.
    End,
    /// Rely on the changes that are heard, or no longer.
    Follow(bool),
    /// Fetch an item with its data.
    Open(i64),
    /// `select`, `lock`, `unselect`, `unlock`, `start` or `take-over`, under the claim that was seen.
    Act(i64, &'static str, i64),
    /// Give an item to another person.
    Delegate(i64, String),
    /// Lock the next item of a task for this person when it is fired.
    TakeTogether(i64, String),
    /// Say something about an item.
    Comment(i64, String),
    /// Put an item before another one in the person's own order.
    Move(i64, Option<i64>),
    /// Fetch an item's history.
    History(i64),
    /// Fetch the messages; true removes them.
    Messages(bool),
    /// Run an item's component over these values, to see what it answers.
    Do(i64, Map<String, Json>),
    /// The same at the server.
    DoAtServer(i64, Map<String, Json>),
    /// Report a result.
    Report {
        /// The item.
        item: i64,
        /// False: it failed.
        success: bool,
        /// Attributes and values.
        values: Map<String, Json>,
        /// Why it failed.
        reason: Option<String>,
        /// The state of the instance that the person saw.
        base: Option<i64>,
    },
    /// Keep the texts of a form that was begun; an empty map forgets them.
    Draft(i64, Map<String, Json>),
    /// Send a kept or refused result again, with these values if they are given.
    SendAgain(i64, Option<Map<String, Json>>),
    /// Start a process.
    Begin(String),
    /// Leave, by the disconnection protocol.
    Leave {
        /// The longest time for transfers, in seconds.
        wait: f64,
        /// Leave selected items behind.
        confirmed: bool,
        /// Transfer although it takes longer.
        accepted: bool,
    },
    /// Return, by the reconnection protocol.
    Return,
    /// Switch prefetching.
    Prefetch(bool),
    /// Forget a result that the server did not take.
    Forget(i64),
}

/// News for the screen.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// The worklist and the connection.
    Desk(Box<Desk>),
    /// An item with its data.
    Item(i64, Json),
    /// An item's history.
    History(i64, Vec<Json>),
    /// The messages.
    Messages(Vec<Json>),
    /// A result is on the disk, or at the server where there is no local store: true; false if it could not be kept.
    Saved(i64, bool),
    /// Success.
    Said(String),
    /// Failure, with a hint.
    Failed(String, String),
    /// A step of leaving.
    Step(Step),
    /// Leaving needs a decision.
    Decide(String, String),
    /// Leaving is done.
    Left,
    /// A component's answer: values for the form, or why there are none.
    Answer(i64, Result<Map<String, Json>, String>),
}

/// The worklist as the person sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Desk {
    /// The items, in order.
    pub(crate) items: Vec<LocalItem>,
    /// Bytes of each component that are here, and of the whole.
    pub(crate) held: Vec<(i64, u64, u64)>,
    /// Results that wait, or that were refused.
    pub(crate) results: Vec<KeptResult>,
    /// Results that the server confirmed, newest first.
    pub(crate) sent: Vec<SentResult>,
    /// Forms that were begun.
    pub(crate) drafts: Vec<Draft>,
    /// The newest message, until it was looked at.
    pub(crate) message: Option<String>,
    /// The connection.
    pub(crate) link: LinkState,
    /// Deadlines that come near.
    pub(crate) warnings: Vec<String>,
    /// Bytes a second, the best of the last transfers.
    pub(crate) bandwidth: Option<f64>,
    /// True if items are copied in the background.
    pub(crate) prefetch: bool,
    /// True if the battery is nearly empty: only locked items are copied.
    pub(crate) spare: bool,
    /// True if there is a local store, so that the person can leave.
    pub(crate) may_leave: bool,
    /// The order that the person chose last.
    pub(crate) order: Option<String>,
}

/// The connection to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LinkState {
    /// The server answers.
    #[default]
    Connected,
    /// The person left.
    Away,
    /// The server does not answer.
    Lost,
}

/// State that the threads share.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Known>>);

/// Knowledge of the server.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) link: LinkState,
    /// The worklist where there is no local store.
    pub(crate) listed: Vec<LocalItem>,
    /// The newest message, until it was looked at.
    pub(crate) message: Option<String>,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn link(&self) -> LinkState {
        self.lock().link
    }
}
