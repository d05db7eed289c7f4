//! The inbox's local store, on a thread of its own that never waits for the network: what a person writes is on the
//! disk at once. What needs the server goes to another thread (`courier`).

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value as Json, json};
use wedflow_away::{AwayError, Energy, LocalStore, prefetch_next, warnings};

use super::courier::{self, Courier, Errand};
use super::follow::{Permission, follow};
use super::server::Server;
use super::words::{Desk, LinkState, News, Shared, Wish};
use crate::application::run_component;

/// Time between two looks for something to prefetch.
const PREFETCH_LOOK: Duration = Duration::from_secs(2);

/// The thread of the local store.
struct Keeper {
    store: Option<LocalStore>,
    shared: Shared,
    errands: Sender<Errand>,
    news: Sender<News>,
    runtime: tokio::runtime::Handle,
}

/// The inbox's threads as the screen sees them.
pub(crate) struct Threads {
    /// Wishes of the person.
    pub(crate) wishes: Sender<Wish>,
    /// News for the screen.
    pub(crate) news: Receiver<News>,
    /// Ends when all that was wished is on the disk.
    pub(crate) keeper: JoinHandle<()>,
}

/// Starts the threads: one keeps the local store, one speaks to the server, one hears of changes, one copies items that
/// may be taken away. Each has a connection of its own to the store.
///
/// # Errors
/// When the local store cannot be opened.
pub(crate) fn start(server: Server, path: Option<PathBuf>) -> Result<Threads, AwayError> {
    let runtime = server.runtime.clone();
    let (wish, wishes) = channel();
    let (news, heard) = channel();
    let (errands, errand) = channel();
    let open = || path.as_deref().map(LocalStore::open).transpose();
    let (store, sending, copying) = (open()?, open()?, open()?);
    if let (Some(copying), Some(link)) = (copying, server.link.clone()) {
        let wish = wish.clone();
        std::thread::spawn(move || copy(&link, copying, &wish));
    }
    let mode = store.as_ref().map(|store| store.setting("mode")).transpose()?;
    let away = mode.flatten().as_deref() == Some("disconnected");
    let shared = Shared::default();
    if away {
        shared.lock().link = LinkState::Away;
    }
    let permission = Permission::new(!away);
    let (changes, permitted, look) = (server.changes(), permission.clone(), wish.clone());
    std::thread::spawn(move || follow(changes, &permitted, &look));
    let mut courier = Courier {
        server,
        store: sending,
        path,
        shared: shared.clone(),
        news: news.clone(),
        show: wish.clone(),
        permission,
        followed: false,
        order: courier::FIRST_ORDER.to_owned(),
    };
    std::thread::spawn(move || courier.work(&errand));
    let mut keeper = Keeper { store, shared, errands, news, runtime };
    let keeper = std::thread::spawn(move || keeper.work(&wishes));
    Ok(Threads { wishes: wish, news: heard, keeper })
}

/// True if the machine's battery is to be spared.
fn is_scarce() -> bool {
    Energy::of_machine().is_some_and(Energy::is_scarce)
}

/// Copies items that may be taken away, one after the other, while the person is connected and prefetching is on.
fn copy(link: &wedflow_away::Link, mut store: LocalStore, look: &Sender<Wish>) {
    loop {
        let on = |name: &str, off: &str| store.setting(name).ok().flatten().as_deref() != Some(off);
        let may = on("prefetch", "off") && on("mode", "disconnected");
        // Nothing is copied before the store has its owner.
        let moved = if may && store.owner().ok().flatten().is_some() {
            prefetch_next(link, &mut store, is_scarce()).ok().flatten()
        } else {
            None
        };
        if moved.is_some() && look.send(Wish::Show).is_err() {
            return;
        }
        if moved.is_none() {
            std::thread::sleep(PREFETCH_LOOK);
        }
    }
}

impl Keeper {
    fn work(&mut self, wishes: &Receiver<Wish>) {
        self.show();
        while let Ok(wish) = wishes.recv() {
            if wish == Wish::End {
                return;
            }
            if let Err(error) = self.grant(wish) {
                self.fail(&error);
                self.show();
            }
        }
    }

    fn tell(&self, news: News) {
        // Nobody hears it once the screen is gone.
        let _ = self.news.send(news);
    }

    fn fail(&self, error: &AwayError) {
        self.tell(News::Failed(error.to_string(), courier::hint(error)));
    }

    /// Grants what the store alone can; the rest is an errand.
    fn grant(&mut self, wish: Wish) -> Result<(), AwayError> {
        let Some(store) = &mut self.store else {
            return self.pass_on(wish);
        };
        match wish {
            Wish::Show => {}
            Wish::Report { item, .. } => {
                let kept = keep(store, &wish);
                self.tell(News::Saved(item, kept.is_ok()));
                kept?;
                let connected = self.shared.link() == LinkState::Connected;
                let then = if connected { "it is being sent" } else { "it is kept until you return" };
                self.tell(News::Said(format!("the result of item {item} is saved here; {then}")));
                self.send(Errand::Send);
            }
            Wish::Draft(item, texts) => {
                return store.keep_draft(item, &Json::Object(texts));
            }
            Wish::SendAgain(item, values) => {
                let again = store.send_again(item, values.as_ref());
                self.tell(News::Saved(item, again.is_ok()));
                again?;
                self.tell(News::Said(format!("the result of item {item} is sent again")));
                self.send(Errand::Send);
            }
            Wish::Forget(item) => {
                store.forget(item)?;
                self.tell(News::Said(format!("the result of item {item} is forgotten")));
            }
            Wish::Prefetch(on) => {
                store.set("prefetch", if on { "on" } else { "off" })?;
                let said = if on { "prefetching" } else { "prefetching ends after the item in transfer" };
                self.tell(News::Said(said.to_owned()));
            }
            Wish::Open(item) => {
                let found = store.items()?.into_iter().find(|one| one.item == item);
                if let Some(found) = found.filter(|found| !found.document["form"].is_null()) {
                    self.tell(News::Item(item, found.document));
                }
                return self.pass_on(Wish::Open(item));
            }
            Wish::Do(item, values) => return self.perform(item, values),
            Wish::Look(order) if !order.is_empty() => {
                store.set("order", order)?;
                return self.pass_on(Wish::Look(order));
            }
            other => return self.pass_on(other),
        }
        self.show();
        Ok(())
    }

    fn send(&self, errand: Errand) {
        // The courier ends with the program alone.
        let _ = self.errands.send(errand);
    }

    fn pass_on(&self, wish: Wish) -> Result<(), AwayError> {
        match wish {
            Wish::Show => self.show(),
            // Without a store the screen alone has it.
            Wish::Draft(..) => {}
            wish => self.send(Errand::Wish(wish)),
        }
        Ok(())
    }

    /// Runs an item's component over values that the person gave, when it is here as it is now; else the courier
    /// fetches it first.
    fn perform(&mut self, item: i64, values: Map<String, Json>) -> Result<(), AwayError> {
        let connected = self.shared.link() == LinkState::Connected;
        let Some(store) = &mut self.store else {
            return Ok(());
        };
        let here = store.items()?.into_iter().find(|one| one.item == item);
        if connected && !here.is_some_and(|here| here.fresh) {
            return self.pass_on(Wish::Do(item, values));
        }
        let (found, bytes) = store.executable(item)?;
        let bytes = bytes.ok_or_else(|| AwayError::NotEnabled(format!("item {item} has no component")))?;
        let (news, runtime) = (self.news.clone(), self.runtime.clone());
        std::thread::spawn(move || {
            let answer = runtime.block_on(run_component(&found.document, &bytes, &values));
            let answer = answer.map_err(|problem| problem.message.clone());
            let _ = news.send(News::Answer(item, answer));
        });
        self.show();
        Ok(())
    }

    /// Shows what is known here.
    fn show(&self) {
        match self.desk() {
            Ok(desk) => self.tell(News::Desk(Box::new(desk))),
            Err(error) => self.fail(&error),
        }
    }

    fn desk(&self) -> Result<Desk, AwayError> {
        let mut desk = {
            let known = self.shared.lock();
            Desk { items: known.listed.clone(), link: known.link, message: known.message.clone(), ..Desk::default() }
        };
        if let Some(store) = &self.store {
            desk.items = store.items()?;
            desk.held = store.held()?;
            desk.results = store.results()?;
            desk.sent = store.sent()?;
            desk.drafts = store.drafts()?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
            desk.warnings = warnings(store, now)?;
            desk.bandwidth = store.bandwidth()?;
            desk.prefetch = store.setting("prefetch")?.as_deref() != Some("off");
            desk.spare = is_scarce();
            desk.may_leave = true;
            desk.order = store.setting("order")?;
        }
        Ok(desk)
    }
}

/// Keeps a result in the local store.
fn keep(store: &mut LocalStore, wish: &Wish) -> Result<(), AwayError> {
    let Wish::Report { item, success, values, reason, base } = wish else {
        return Ok(());
    };
    let found = store.enabled(*item)?;
    let body = json!({ "success": success, "values": values, "reason": reason, "claim": found.claim, "base": base,
        "done_at": jiff::Timestamp::now().to_string() });
    store.keep_result(&found, &body).map(drop)
}
