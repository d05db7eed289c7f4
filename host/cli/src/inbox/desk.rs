//! Calls of the inbox to the server and the local store, on a thread of its own, so that the screen never waits.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value as Json, json};
use wedflow_away::{
    AwayError, Energy, KeptResult, Leaving, LocalItem, LocalStore, Step, disconnect, prefetch_next,
    reconnect, warnings,
};

use super::follow::{Permission, follow};
use super::server::Server;
use crate::answer::counted;
use crate::application::run_component;

/// Between two looks at the worklist while its changes are not heard.
const LOOK: Duration = Duration::from_secs(5);
/// The same while they are: then only for what is no event, such as a new priority.
const LOOK_FOLLOWED: Duration = Duration::from_secs(60);
/// Between two tries to find a lost server again.
const TRY_AGAIN: Duration = Duration::from_secs(10);
/// Between two looks for something to prefetch.
const PREFETCH_LOOK: Duration = Duration::from_secs(2);

/// A wish of the person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wish {
    /// Look at the worklist again, in this order.
    Look(&'static str),
    /// Rely on the changes that are heard, or no longer.
    Follow(bool),
    /// Fetch an item with its data.
    Open(i64),
    /// `select`, `lock`, `unselect`, `unlock`, `start` or `take-over`.
    Act(i64, &'static str),
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
    },
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
    /// Forget a refused result.
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
    /// Something was done.
    Said(String),
    /// Something could not be done, with a hint.
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
    /// The connection.
    pub(crate) link: LinkState,
    /// Deadlines that come near.
    pub(crate) warnings: Vec<String>,
    /// Bytes a second, as measured last.
    pub(crate) bandwidth: Option<f64>,
    /// True if items are copied in the background.
    pub(crate) prefetch: bool,
    /// True if the battery is nearly empty: only locked items are copied.
    pub(crate) spare: bool,
    /// True if there is a local store, so that the person can leave.
    pub(crate) may_leave: bool,
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

/// The thread's side.
pub(crate) struct Worker {
    server: Box<dyn Server>,
    store: Option<(LocalStore, PathBuf)>,
    /// The worklist where there is no local store.
    listed: Vec<LocalItem>,
    order: &'static str,
    link: LinkState,
    news: Sender<News>,
    runtime: tokio::runtime::Handle,
    /// Given while the person is connected.
    permission: Permission,
    /// True while the worklist's changes are heard.
    followed: bool,
}

/// Starts the threads: one does what is wished, one hears of changes, one copies items that may be taken away.
///
/// # Errors
/// When the local store cannot be opened.
pub(crate) fn start(
    server: Box<dyn Server>,
    path: Option<PathBuf>,
    runtime: tokio::runtime::Handle,
) -> Result<(Sender<Wish>, Receiver<News>), AwayError> {
    let (wish, wishes) = channel();
    let (news, heard) = channel();
    let store = match path {
        Some(path) => Some((LocalStore::open(&path)?, path)),
        None => None,
    };
    if let (Some((_, path)), Some(link)) = (&store, server.link()) {
        let copying = LocalStore::open(path)?;
        let wish = wish.clone();
        std::thread::spawn(move || copy(&link, copying, &wish));
    }
    let away = match &store {
        Some((store, _)) => store.setting("mode")?.as_deref() == Some("disconnected"),
        None => false,
    };
    let permission = Permission::new(!away);
    let (changes, permitted, look) = (server.changes(), permission.clone(), wish.clone());
    std::thread::spawn(move || follow(changes, &permitted, &look));
    let mut worker = Worker {
        server,
        store,
        listed: Vec::new(),
        order: "arrival",
        link: if away {
            LinkState::Away
        } else {
            LinkState::Connected
        },
        news,
        runtime,
        permission,
        followed: false,
    };
    std::thread::spawn(move || worker.work(&wishes));
    Ok((wish, heard))
}

/// True if the machine's battery is to be spared.
fn is_scarce() -> bool {
    Energy::of_machine().is_some_and(Energy::is_scarce)
}

/// Copies items that may be taken away, one after the other, while the person is connected and prefetching is on.
fn copy(link: &wedflow_away::Link, mut store: LocalStore, look: &Sender<Wish>) {
    loop {
        let on = |name: &str, off: &str| store.setting(name).ok().flatten().as_deref() != Some(off);
        let moved = if on("prefetch", "off") && on("mode", "disconnected") {
            prefetch_next(link, &mut store, is_scarce()).ok().flatten()
        } else {
            None
        };
        // An empty order: as it is.
        if moved.is_some() && look.send(Wish::Look("")).is_err() {
            return;
        }
        if moved.is_none() {
            std::thread::sleep(PREFETCH_LOOK);
        }
    }
}

impl Worker {
    fn work(&mut self, wishes: &Receiver<Wish>) {
        self.look();
        loop {
            match wishes.recv_timeout(self.pause()) {
                Ok(wish) => self.grant(wish),
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// The longest time before something is looked at again.
    fn pause(&self) -> Duration {
        match (self.link, self.followed) {
            (LinkState::Lost, _) => TRY_AGAIN,
            (_, true) => LOOK_FOLLOWED,
            (_, false) => LOOK,
        }
    }

    /// Notes how the person is connected; changes are heard while the person is.
    fn set_link(&mut self, link: LinkState) {
        self.link = link;
        *self.permission.lock() = link == LinkState::Connected;
    }

    fn tell(&self, news: News) {
        // Nobody hears it once the screen is gone.
        let _ = self.news.send(news);
    }

    /// Tells of an error; a server that does not answer is lost from then on.
    fn fail(&mut self, error: &AwayError) {
        if matches!(error, AwayError::Cut(_)) {
            self.lose();
        }
        let hint = match error {
            AwayError::Refused(document) => document["hint"].as_str().unwrap_or_default(),
            AwayError::Decide { hint, .. } => hint,
            AwayError::Cut(_) => "Locked and transferred items stay enabled.",
            _ => "",
        };
        self.tell(News::Failed(error.to_string(), hint.to_owned()));
    }

    fn lose(&mut self) {
        self.set_link(LinkState::Lost);
        if let Some((store, _)) = &self.store {
            let _ = store.set("mode", "disconnected");
        }
    }

    fn grant(&mut self, wish: Wish) {
        let result = match wish {
            Wish::Look(order) => {
                if !order.is_empty() {
                    self.order = order;
                }
                self.look();
                return;
            }
            Wish::Follow(on) => {
                self.followed = on;
                self.look();
                return;
            }
            Wish::Return => self.come_back(),
            Wish::Leave {
                wait,
                confirmed,
                accepted,
            } => self.leave(wait, confirmed, accepted),
            Wish::Report {
                item,
                success,
                values,
                reason,
            } => self.report(item, success, &values, reason.as_deref()),
            Wish::Do(item, values) => self.perform(item, &values),
            Wish::DoAtServer(item, values) => self.perform_at_server(item, &values),
            Wish::Open(item) => self.open(item),
            Wish::Prefetch(on) => self.switch(on),
            Wish::Forget(item) => self.forget(item),
            other => self.ask(other),
        };
        if let Err(error) = result {
            self.fail(&error);
        }
        self.look();
    }

    /// Does a wish that needs the server.
    fn ask(&mut self, wish: Wish) -> Result<(), AwayError> {
        if self.link != LinkState::Connected {
            return Err(AwayError::NotEnabled(
                "this needs the server; press R to return".to_owned(),
            ));
        }
        let said = match wish {
            Wish::Act(item, act) => {
                let done = self.server.act(item, act)?;
                format!(
                    "item {item} is {}",
                    done["state"].as_str().unwrap_or("yours")
                )
            }
            Wish::Delegate(item, to) => {
                self.server.delegate(item, &to)?;
                format!("item {item} was given to {to}")
            }
            Wish::TakeTogether(item, task) => {
                self.server.reserve(item, &task)?;
                format!("{task} will be locked for you when item {item} is done")
            }
            Wish::Comment(item, text) => {
                self.server.comment(item, &text)?;
                format!("item {item} has your comment")
            }
            Wish::Move(item, before) => {
                self.server.put_before(item, before)?;
                String::new()
            }
            Wish::History(item) => {
                self.tell(News::History(item, self.server.history(item)?));
                String::new()
            }
            Wish::Messages(remove) => {
                self.tell(News::Messages(self.server.messages(remove)?));
                String::new()
            }
            _ => String::new(),
        };
        if !said.is_empty() {
            self.tell(News::Said(said));
        }
        Ok(())
    }

    /// Looks at the worklist, and shows it.
    fn look(&mut self) {
        let found = match self.link {
            LinkState::Connected => self.server.list(self.order).map(Some),
            LinkState::Away => Ok(None),
            // Any contact is a return.
            LinkState::Lost => {
                let _ = self.come_back();
                Ok(None)
            }
        };
        match found.and_then(|list| list.map_or(Ok(()), |list| self.take(&list))) {
            Ok(()) => {}
            Err(error) => self.fail(&error),
        }
        match self.desk() {
            Ok(desk) => self.tell(News::Desk(Box::new(desk))),
            Err(error) => self.tell(News::Failed(error.to_string(), String::new())),
        }
    }

    fn take(&mut self, list: &[Json]) -> Result<(), AwayError> {
        match &mut self.store {
            Some((store, _)) => store.take_list(list),
            None => {
                self.listed = list.iter().map(LocalItem::listed).collect();
                Ok(())
            }
        }
    }

    fn desk(&self) -> Result<Desk, AwayError> {
        let mut desk = Desk {
            items: self.listed.clone(),
            link: self.link,
            ..Desk::default()
        };
        if let Some((store, _)) = &self.store {
            desk.items = store.items()?;
            desk.held = store.held()?;
            desk.results = store.results()?;
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |since| since.as_secs_f64());
            desk.warnings = warnings(store, now)?;
            desk.bandwidth = store
                .setting("bandwidth")?
                .and_then(|text| text.parse().ok());
            desk.prefetch = store.setting("prefetch")?.as_deref() != Some("off");
            desk.spare = is_scarce();
            desk.may_leave = true;
        }
        Ok(desk)
    }

    fn open(&mut self, item: i64) -> Result<(), AwayError> {
        if self.link == LinkState::Connected {
            let document = self.server.item(item)?;
            self.tell(News::Item(item, document));
        } else if let Some((store, _)) = &self.store {
            let found = store.items()?.into_iter().find(|one| one.item == item);
            if let Some(found) = found {
                self.tell(News::Item(item, found.document));
            }
        }
        Ok(())
    }

    fn switch(&mut self, on: bool) -> Result<(), AwayError> {
        let Some((store, _)) = &self.store else {
            return Ok(());
        };
        store.set("prefetch", if on { "on" } else { "off" })?;
        let said = if on {
            "prefetching"
        } else {
            "prefetching ends after the item in transfer"
        };
        self.tell(News::Said(said.to_owned()));
        Ok(())
    }

    fn forget(&mut self, item: i64) -> Result<(), AwayError> {
        if let Some((store, _)) = &mut self.store {
            store.acknowledge(item, None)?;
            self.tell(News::Said(format!(
                "the refused result of item {item} is removed"
            )));
        }
        Ok(())
    }

    fn leave(&mut self, wait: f64, confirmed: bool, accepted: bool) -> Result<(), AwayError> {
        let (Some((store, path)), Some(link)) = (&mut self.store, self.server.link()) else {
            return Err(AwayError::NotEnabled(
                "leaving needs a server and a local store (--server, --token)".to_owned(),
            ));
        };
        let leaving = Leaving {
            wait_seconds: wait,
            confirmed,
            accepted,
            path,
            quota_bytes: store.setting("quota")?.and_then(|text| text.parse().ok()),
        };
        let news = self.news.clone();
        // No stream is opened meanwhile: that would mark the person as connected.
        let mut permitted = self.permission.lock();
        let left = disconnect(&link, store, &leaving, |step| {
            let _ = news.send(News::Step(step));
        });
        *permitted &= left.is_err();
        drop(permitted);
        match left {
            Ok(()) => {
                self.link = LinkState::Away;
                self.tell(News::Left);
                Ok(())
            }
            Err(AwayError::Decide { message, hint }) => {
                self.tell(News::Decide(message, hint));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn come_back(&mut self) -> Result<(), AwayError> {
        if let (Some((store, _)), Some(link)) = (&mut self.store, self.server.link()) {
            let returned = reconnect(&link, store)?;
            self.tell(News::Said(format!(
                "connected: {} applied, {} refused and kept, {}",
                counted(returned.applied.len(), "result"),
                returned.refused.len(),
                counted(returned.messages, "message")
            )));
        } else {
            self.server.list(self.order)?;
        }
        self.set_link(LinkState::Connected);
        Ok(())
    }

    /// Lets the server run an item's component over values that the person gave: only data are moved.
    fn perform_at_server(
        &mut self,
        item: i64,
        values: &Map<String, Json>,
    ) -> Result<(), AwayError> {
        let answer = match self.server.run(item, values) {
            Ok(answer) => Ok(answer),
            Err(AwayError::Refused(document)) => {
                Err(document["detail"].as_str().unwrap_or("refused").to_owned())
            }
            Err(error) => return Err(error),
        };
        self.tell(News::Answer(item, answer));
        Ok(())
    }

    /// Runs an item's component over values that the person gave.
    fn perform(&mut self, item: i64, values: &Map<String, Json>) -> Result<(), AwayError> {
        let (found, bytes) = match &mut self.store {
            Some((store, _)) => {
                if let (LinkState::Connected, Some(link)) = (self.link, self.server.link()) {
                    wedflow_away::transfer(&link, store, item)?;
                }
                store.executable(item)?
            }
            None => {
                let document = self.server.item(item)?;
                (LocalItem::listed(&document), self.server.application(item)?)
            }
        };
        let Some(bytes) = bytes else {
            return Err(AwayError::NotEnabled(format!(
                "item {item} has no component"
            )));
        };
        let answer = self
            .runtime
            .block_on(run_component(&found.document, &bytes, values));
        let answer = answer.map_err(|problem| problem.message.clone());
        self.tell(News::Answer(item, answer));
        Ok(())
    }

    /// Keeps a result in the local store, and sends it when there is a connection.
    fn report(
        &mut self,
        item: i64,
        success: bool,
        values: &Map<String, Json>,
        reason: Option<&str>,
    ) -> Result<(), AwayError> {
        let Some((store, _)) = &mut self.store else {
            let answer = self.server.report(item, success, values, reason)?;
            return self.say_report(item, &answer);
        };
        let found = store.enabled(item)?;
        let body =
            json!({ "success": success, "values": values, "reason": reason, "claim": found.claim });
        store.keep_result(&found, &body)?;
        if self.link != LinkState::Connected {
            self.tell(News::Said(format!(
                "the result of item {item} is kept until you return"
            )));
            return Ok(());
        }
        let Some(link) = self.server.link() else {
            return Ok(());
        };
        let returned = reconnect(&link, store)?;
        match returned.refused.iter().find(|one| one["item"] == item) {
            Some(refused) => {
                let answer = refused["answer"].clone();
                self.say_report(item, &answer)
            }
            None => self.say_report(item, &json!({ "applied": true })),
        }
    }

    fn say_report(&mut self, item: i64, answer: &Json) -> Result<(), AwayError> {
        if answer["applied"] != true {
            return Err(AwayError::Refused(answer.clone()));
        }
        self.tell(News::Said(format!("the result of item {item} is applied")));
        Ok(())
    }
}
