//! The inbox's thread that speaks to the server. Nothing that a person wrote waits for it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use serde_json::{Map, Value as Json};
use wedflow_away::{
    AwayError, KeptResult, Leaving, LocalItem, LocalStore, Returned, disconnect, reconnect, send_results, take_worklist,
};
use wedflow_documents::Report;

use super::follow::Permission;
use super::server::Server;
use super::words::{LinkState, News, Shared, Wish};
use crate::answer::{counted, shown};
use crate::application::run_component;

/// The order in which a worklist is shown first.
pub(crate) const FIRST_ORDER: &str = "arrival";
/// Time between two looks at the worklist while no changes are announced.
const LOOK: Duration = Duration::from_secs(5);
/// The same while they are: then only for what is no event, such as a new priority.
const LOOK_FOLLOWED: Duration = Duration::from_secs(60);
/// Time between two tries to reach a lost server.
const TRY_AGAIN: Duration = Duration::from_secs(10);

/// Task at the server.
#[derive(Debug)]
pub(crate) enum Errand {
    /// Send what is kept.
    Send,
    /// Wish that the store alone cannot grant.
    Wish(Wish),
}

/// The thread's side.
pub(crate) struct Courier {
    pub(crate) server: Server,
    pub(crate) store: Option<LocalStore>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) shared: Shared,
    pub(crate) news: Sender<News>,
    /// Wishes that what changed is shown.
    pub(crate) show: Sender<Wish>,
    /// Given while the person is connected.
    pub(crate) permission: Permission,
    /// True while the worklist's changes are heard.
    pub(crate) followed: bool,
    pub(crate) order: String,
}

/// The hint of an error.
pub(crate) fn hint(error: &AwayError) -> String {
    match error {
        AwayError::Refused(document) => document["hint"].as_str().unwrap_or_default(),
        AwayError::Decide { hint, .. } => hint,
        AwayError::Cut(_) => "Locked and transferred items stay enabled.",
        AwayError::Foreign { .. } => "Nothing was changed. Say --store FILE with a file of your own.",
        _ => "",
    }
    .to_owned()
}

impl Courier {
    pub(crate) fn work(&mut self, errands: &Receiver<Errand>) {
        let order = self.store.as_ref().map(|store| store.setting("order"));
        if let Some(Ok(Some(order))) = order {
            self.order = order;
        }
        self.look();
        loop {
            match errands.recv_timeout(self.pause()) {
                Ok(errand) => self.run(errand),
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// The longest time before something is looked at again.
    fn pause(&self) -> Duration {
        // What the server did not take for the moment is sent again soon.
        let waits = self.has_pending() && self.link() == LinkState::Connected;
        match (self.link(), self.followed && !waits) {
            (LinkState::Lost, _) => TRY_AGAIN,
            (_, true) => LOOK_FOLLOWED,
            (_, false) => LOOK,
        }
    }

    fn link(&self) -> LinkState {
        self.shared.link()
    }

    fn has_pending(&self) -> bool {
        let results = self.store.as_ref().map(LocalStore::results);
        let Some(Ok(results)) = results else {
            return false;
        };
        results.iter().any(KeptResult::is_pending)
    }

    /// Notes how the person is connected; changes are heard while the person is.
    fn set_link(&mut self, link: LinkState) {
        self.shared.lock().link = link;
        *self.permission.lock() = link == LinkState::Connected;
    }

    fn tell(&self, news: News) {
        // Nobody hears it once the screen is gone.
        let _ = self.news.send(news);
    }

    fn say(&self, text: String) {
        self.tell(News::Said(text));
    }

    /// Tells of an error; a server that does not answer is lost from then on.
    fn fail(&mut self, error: &AwayError) {
        if matches!(error, AwayError::Cut(_) | AwayError::Foreign { .. }) {
            self.lose();
        }
        self.tell(News::Failed(error.to_string(), hint(error)));
    }

    fn lose(&mut self) {
        self.set_link(LinkState::Lost);
        if let Some(store) = &self.store {
            let _ = store.set("mode", "disconnected");
        }
    }

    fn run(&mut self, errand: Errand) {
        let done = match errand {
            Errand::Send => self.send(),
            Errand::Wish(wish) => self.grant(wish),
        };
        if let Err(error) = done {
            self.fail(&error);
        }
        self.look();
    }

    fn grant(&mut self, wish: Wish) -> Result<(), AwayError> {
        match wish {
            Wish::Look(order) => {
                if !order.is_empty() {
                    order.clone_into(&mut self.order);
                }
                Ok(())
            }
            Wish::Follow(on) => {
                self.followed = on;
                Ok(())
            }
            Wish::Return => self.come_back(),
            Wish::Leave { wait, confirmed, accepted } => self.leave(wait, confirmed, accepted),
            Wish::Open(item) => self.open(item),
            Wish::Do(item, values) => self.perform(item, &values),
            other => self.ask(other),
        }
    }

    /// Does a wish that needs the server.
    fn ask(&mut self, wish: Wish) -> Result<(), AwayError> {
        if self.link() != LinkState::Connected {
            if let Wish::Report { item, .. } = wish {
                self.tell(News::Saved(item, false));
            }
            return Err(AwayError::NotEnabled("this needs the server; press R to return".to_owned()));
        }
        let said = match wish {
            Wish::Act(item, act, claim) => {
                let done = self.server.act(item, act, claim)?;
                format!("item {item} is {}", done["state"].as_str().unwrap_or("yours"))
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
            Wish::Begin(flow) => {
                let begun = self.server.begin(&flow)?;
                format!("instance {} of {flow} is started", shown(&begun["wid"]))
            }
            Wish::Report { item, success, values, reason, base } => {
                let report = Report {
                    success,
                    values,
                    reason,
                    base: base.and_then(|base| i32::try_from(base).ok()),
                    ..Report::default()
                };
                let answer = self.server.report(item, &report);
                self.tell(News::Saved(item, answer.is_ok()));
                answer?;
                format!("the result of item {item} is applied")
            }
            Wish::DoAtServer(item, values) => {
                self.perform_at_server(item, &values)?;
                String::new()
            }
            other => {
                self.show_list(other)?;
                String::new()
            }
        };
        if !said.is_empty() {
            self.say(said);
        }
        Ok(())
    }

    /// Fetches what a window shows, or moves an item in the person's own order.
    fn show_list(&mut self, wish: Wish) -> Result<(), AwayError> {
        match wish {
            Wish::Move(item, before) => self.server.put_before(item, before)?,
            Wish::History(item) => self.tell(News::History(item, self.server.history(item)?)),
            Wish::Messages(remove) => {
                let messages = self.server.messages(remove)?;
                if let (Some(store), Some(newest)) = (&self.store, messages.first()) {
                    store.set("message", &shown(&newest["message"]))?;
                }
                self.shared.lock().message = None;
                self.tell(News::Messages(messages));
            }
            _ => {}
        }
        Ok(())
    }

    /// Looks at the worklist, sends what is kept, and has it shown.
    fn look(&mut self) {
        let looked = match self.link() {
            LinkState::Connected => self.take_list().and_then(|()| {
                self.hear_message()?;
                if self.has_pending() { self.send() } else { Ok(()) }
            }),
            LinkState::Away => Ok(()),
            // Any contact is a return.
            LinkState::Lost => {
                let _ = self.come_back();
                Ok(())
            }
        };
        if let Err(error) = looked {
            self.fail(&error);
        }
        let _ = self.show.send(Wish::Show);
    }

    fn take_list(&mut self) -> Result<(), AwayError> {
        if let (Some(store), Some(link)) = (&mut self.store, &self.server.link) {
            return take_worklist(link, store, &self.order);
        }
        let list = self.server.list(&self.order)?;
        self.shared.lock().listed = list.iter().map(LocalItem::listed).collect();
        Ok(())
    }

    /// Notes a message that was not looked at.
    fn hear_message(&mut self) -> Result<(), AwayError> {
        let newest = self.server.newest_message()?;
        let number = newest.as_ref().map(|message| shown(&message["message"]));
        let seen = match &self.store {
            Some(store) => store.setting("message")?,
            None => None,
        };
        let unseen = newest.filter(|_| number != seen);
        self.shared.lock().message =
            unseen.map(|message| format!("{}: {}", shown(&message["sender"]), shown(&message["text"])));
        Ok(())
    }

    /// Sends what is kept, and tells what became of each result.
    fn send(&mut self) -> Result<(), AwayError> {
        if self.link() != LinkState::Connected {
            return Ok(());
        }
        let (Some(store), Some(link)) = (&mut self.store, &self.server.link) else {
            return Ok(());
        };
        let returned = send_results(link, store)?;
        self.tell_fates(&returned);
        Ok(())
    }

    fn tell_fates(&self, returned: &Returned) {
        for item in &returned.applied {
            self.say(format!("the result of item {item} is applied"));
        }
        for one in &returned.kept {
            let (item, error) = (&one["item"], AwayError::Refused(one["answer"].clone()));
            let why = format!("the result of item {item} is kept and sent again: {error}");
            self.tell(News::Failed(why, hint(&error)));
        }
        for one in &returned.refused {
            let (item, error) = (&one["item"], AwayError::Refused(one["answer"].clone()));
            let why = format!("the result of item {item} is kept: {error}");
            self.tell(News::Failed(why, "x shows both versions.".to_owned()));
        }
    }

    fn open(&mut self, item: i64) -> Result<(), AwayError> {
        if self.link() == LinkState::Connected && item > 0 {
            let document = self.server.item(item)?;
            self.tell(News::Item(item, document));
        }
        Ok(())
    }

    fn leave(&mut self, wait: f64, confirmed: bool, accepted: bool) -> Result<(), AwayError> {
        let (Some(store), Some(path), Some(link)) = (&mut self.store, &self.path, &self.server.link) else {
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
        let left = disconnect(link, store, &leaving, |step| {
            let _ = news.send(News::Step(step));
        });
        *permitted &= left.is_err();
        drop(permitted);
        match left {
            Ok(()) => {
                self.shared.lock().link = LinkState::Away;
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
        if let (Some(store), Some(link)) = (&mut self.store, &self.server.link) {
            let returned = reconnect(link, store)?;
            self.set_link(LinkState::Connected);
            self.say(format!(
                "connected: {} applied, {} refused and kept, {}",
                counted(returned.applied.len(), "result"),
                returned.refused.len(),
                counted(returned.messages, "message")
            ));
        } else {
            self.take_list()?;
            self.set_link(LinkState::Connected);
        }
        Ok(())
    }

    /// Lets the server run an item's component over values that the person gave: only data are moved.
    fn perform_at_server(&mut self, item: i64, values: &Map<String, Json>) -> Result<(), AwayError> {
        let answer = match self.server.run(item, values) {
            Ok(answer) => Ok(answer),
            Err(AwayError::Refused(document)) => Err(document["detail"].as_str().unwrap_or("refused").to_owned()),
            Err(error) => return Err(error),
        };
        self.tell(News::Answer(item, answer));
        Ok(())
    }

    /// Fetches an item's component as it is now, and runs it over values that the person gave. Where the link breaks,
    /// the one that is here is run; without a local store the server runs it.
    fn perform(&mut self, item: i64, values: &Map<String, Json>) -> Result<(), AwayError> {
        let (Some(store), Some(link)) = (&mut self.store, &self.server.link) else {
            return self.perform_at_server(item, values);
        };
        let transferred = wedflow_away::transfer(link, store, item);
        let here = store.executable(item);
        let (found, bytes) = match (transferred, here) {
            (Ok(_), here) => here?,
            (Err(AwayError::Cut(_)), Ok(here)) => here,
            (Err(error), _) => return Err(error),
        };
        let Some(bytes) = bytes else {
            return Err(AwayError::NotEnabled(format!("item {item} has no component")));
        };
        let answer = self.server.runtime.block_on(run_component(&found.document, &bytes, values));
        let answer = answer.map_err(|problem| problem.message.clone());
        self.tell(News::Answer(item, answer));
        Ok(())
    }
}
