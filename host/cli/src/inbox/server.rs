//! The server as the inbox uses it: over HTTP with a token, or the database itself with a person's name.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use wedflow_away::{AwayError, Events, Heard, Link, Wire};
use wedflow_store::{NewProcess, PersonName, Store, StoreError, WorkAct, WorkNews, WorkReport};

use super::follow::Changes;

/// Items of a worklist that are shown.
const ITEMS_MAX: i32 = 1_000;
/// The longest time without a sign of life from a database that has no news.
const NEWS_WAIT: Duration = Duration::from_secs(15);

/// Calls that a person makes to worklists.
pub(crate) trait Server: Send {
    /// The HTTP API, where it is one: only then a person can leave.
    fn link(&self) -> Option<Link>;
    /// The changes of the worklist.
    fn changes(&self) -> Box<dyn Changes>;
    /// The worklist in an order.
    fn list(&self, order: &str) -> Result<Vec<Json>, AwayError>;
    /// An item with its data and form.
    fn item(&self, item: i64) -> Result<Json, AwayError>;
    /// The component of an item.
    fn application(&self, item: i64) -> Result<Option<Vec<u8>>, AwayError>;
    /// Lets the server run an item's component over values that the person gave; the values that it answers.
    fn run(&self, item: i64, values: &Map<String, Json>) -> Result<Map<String, Json>, AwayError>;
    /// Does something with an item that is still under the claim that was seen.
    fn act(&self, item: i64, act: &str, claim: i64) -> Result<Json, AwayError>;
    /// Starts a process, of which the person is in charge.
    fn begin(&self, flow: &str) -> Result<Json, AwayError>;
    /// The newest message that was delivered.
    fn newest_message(&self) -> Result<Option<Json>, AwayError>;
    /// Gives an item to another person.
    fn delegate(&self, item: i64, to: &str) -> Result<(), AwayError>;
    /// Reserves the next item of a task for the holder of an item.
    fn reserve(&self, item: i64, task: &str) -> Result<(), AwayError>;
    /// Comments an item.
    fn comment(&self, item: i64, text: &str) -> Result<(), AwayError>;
    /// Puts an item before another one in the person's own order.
    fn put_before(&self, item: i64, before: Option<i64>) -> Result<(), AwayError>;
    /// Lists who did what with an item.
    fn history(&self, item: i64) -> Result<Vec<Json>, AwayError>;
    /// Lists the messages, newest first; with `remove` it removes them.
    fn messages(&self, remove: bool) -> Result<Vec<Json>, AwayError>;
    /// Reports a result that was applied; anything else is an error.
    fn report(&self, item: i64, report: &Json) -> Result<(), AwayError>;
}

/// A server over HTTP.
#[derive(Debug)]
pub(crate) struct Served(pub(crate) Link);

impl Served {
    fn post(&self, path: &str, document: &Json, has: &str) -> Result<Json, AwayError> {
        self.0.call("POST", path, Some(document), has)
    }

    fn items(&self, path: &str) -> Result<Vec<Json>, AwayError> {
        let mut document = self.0.call("GET", path, None, "items")?;
        match document["items"].take() {
            Json::Array(items) => Ok(items),
            _ => Err(AwayError::Cut(
                "it does not answer as Wedflow does".to_owned(),
            )),
        }
    }
}

impl Server for Served {
    fn link(&self) -> Option<Link> {
        Some(self.0.clone())
    }

    fn changes(&self) -> Box<dyn Changes> {
        Box::new(ServedChanges {
            link: self.0.clone(),
            stream: None,
            last: None,
        })
    }

    fn list(&self, order: &str) -> Result<Vec<Json>, AwayError> {
        self.items(&format!("/v1/work/items?limit={ITEMS_MAX}&order={order}"))
    }

    fn item(&self, item: i64) -> Result<Json, AwayError> {
        self.0
            .call("GET", &format!("/v1/work/items/{item}"), None, "state")
    }

    fn application(&self, _: i64) -> Result<Option<Vec<u8>>, AwayError> {
        // Over HTTP it goes through the local store, which checks it.
        Ok(None)
    }

    fn run(&self, item: i64, values: &Map<String, Json>) -> Result<Map<String, Json>, AwayError> {
        let path = format!("/v1/work/items/{item}/run");
        let mut answer = self.post(&path, &json!({ "values": values }), "values")?;
        match answer["values"].take() {
            Json::Object(values) => Ok(values),
            _ => Ok(Map::new()),
        }
    }

    fn act(&self, item: i64, act: &str, claim: i64) -> Result<Json, AwayError> {
        let path = format!("/v1/work/items/{item}/{act}");
        self.post(&path, &json!({ "claim": claim }), "state")
    }

    fn begin(&self, flow: &str) -> Result<Json, AwayError> {
        self.post("/v1/work/processes", &json!({ "flow": flow }), "wid")
    }

    fn newest_message(&self) -> Result<Option<Json>, AwayError> {
        Ok(self.items("/v1/work/messages?limit=1")?.into_iter().next())
    }

    fn delegate(&self, item: i64, to: &str) -> Result<(), AwayError> {
        let path = format!("/v1/work/items/{item}/delegate");
        self.post(&path, &json!({ "to": to }), "item").map(drop)
    }

    fn reserve(&self, item: i64, task: &str) -> Result<(), AwayError> {
        let path = format!("/v1/work/items/{item}/reserve");
        self.post(&path, &json!({ "task": task }), "reserved")
            .map(drop)
    }

    fn comment(&self, item: i64, text: &str) -> Result<(), AwayError> {
        let path = format!("/v1/work/items/{item}/comments");
        self.post(&path, &json!({ "text": text }), "note").map(drop)
    }

    fn put_before(&self, item: i64, before: Option<i64>) -> Result<(), AwayError> {
        let path = format!("/v1/work/items/{item}/move");
        self.post(&path, &json!({ "before": before }), "item")
            .map(drop)
    }

    fn history(&self, item: i64) -> Result<Vec<Json>, AwayError> {
        self.items(&format!("/v1/work/items/{item}/history"))
    }

    fn messages(&self, remove: bool) -> Result<Vec<Json>, AwayError> {
        let messages = self.items("/v1/work/messages")?;
        if remove {
            self.0
                .call("DELETE", "/v1/work/messages", None, "removed")?;
        }
        Ok(messages)
    }

    fn report(&self, item: i64, report: &Json) -> Result<(), AwayError> {
        let path = format!("/v1/work/items/{item}/report");
        let answered = self.0.ask("POST", &path, Some(report), Some(&new_key()))?;
        answered.understood("applied").map(drop)
    }
}

/// Events of the worklist over HTTP.
struct ServedChanges {
    link: Link,
    stream: Option<Events>,
    /// The id of the last event that was heard.
    last: Option<String>,
}

impl Changes for ServedChanges {
    fn open(&mut self) -> Result<(), AwayError> {
        self.stream = None;
        let stream = self.link.events("/v1/work/events", self.last.as_deref())?;
        self.stream = Some(stream);
        Ok(())
    }

    fn wait(&mut self) -> Result<bool, AwayError> {
        let stream = self.stream.as_mut();
        let heard = stream.map_or(Ok(Heard::End), Events::wait);
        match heard {
            Ok(Heard::Event { id }) => {
                self.last = id.or(self.last.take());
                Ok(true)
            }
            Ok(Heard::Life) => Ok(false),
            Ok(Heard::End) => Err(AwayError::Cut("the events ended".to_owned())),
            Err(error) => Err(error),
        }
        .inspect_err(|_| self.stream = None)
    }
}

/// The database, through a person's direct connection.
#[derive(Debug, Clone)]
pub(crate) struct Direct {
    pub(crate) store: Store,
    pub(crate) tenant: String,
    pub(crate) person: String,
    pub(crate) runtime: tokio::runtime::Handle,
}

impl Direct {
    fn person(&self) -> PersonName<'_> {
        PersonName {
            tenant: &self.tenant,
            name: &self.person,
        }
    }

    fn wait<T>(&self, asked: impl Future<Output = Result<T, StoreError>>) -> Result<T, AwayError> {
        self.runtime.block_on(asked).map_err(|error| match error {
            StoreError::Refused(refusal) => AwayError::Refused(
                json!({ "detail": refusal.message, "hint": refusal.hint, "code": refusal.code }),
            ),
            StoreError::NotFound { .. } => {
                AwayError::Refused(json!({ "detail": error.to_string() }))
            }
            other => AwayError::Cut(other.to_string()),
        })
    }
}

impl Server for Direct {
    fn link(&self) -> Option<Link> {
        None
    }

    fn changes(&self) -> Box<dyn Changes> {
        Box::new(DirectChanges {
            database: self.clone(),
            news: None,
            mark: String::new(),
        })
    }

    fn list(&self, order: &str) -> Result<Vec<Json>, AwayError> {
        self.wait(self.store.worklist(self.person(), order, ITEMS_MAX))
    }

    fn item(&self, item: i64) -> Result<Json, AwayError> {
        self.wait(self.store.work_item(self.person(), item))
    }

    fn application(&self, item: i64) -> Result<Option<Vec<u8>>, AwayError> {
        let (_, _, _, bytes) = self.wait(self.store.work_application(self.person(), item, None))?;
        Ok(Some(bytes))
    }

    fn run(&self, _: i64, _: &Map<String, Json>) -> Result<Map<String, Json>, AwayError> {
        Err(AwayError::NotEnabled(
            "without a server there is nothing to run it; press d".to_owned(),
        ))
    }

    fn begin(&self, flow: &str) -> Result<Json, AwayError> {
        let process = NewProcess {
            flow,
            in_charge: None,
            values: &Map::new(),
            policy: 1,
            count: 1,
            warnings: &[],
            transfer: None,
        };
        let wid = self.wait(self.store.start_process(self.person(), &process))?;
        Ok(json!({ "flow": flow, "wid": wid }))
    }

    fn newest_message(&self) -> Result<Option<Json>, AwayError> {
        let messages = self.wait(self.store.work_messages(self.person(), 1))?;
        Ok(messages.into_iter().next())
    }

    fn act(&self, item: i64, act: &str, claim: i64) -> Result<Json, AwayError> {
        let act = WorkAct::ALL
            .iter()
            .copied()
            .find(|known| known.name() == act);
        let act = act.ok_or_else(|| AwayError::NotEnabled("there is no such act".to_owned()))?;
        let claim = i32::try_from(claim).ok();
        self.wait(self.store.work_act_at(self.person(), item, act, claim))
    }

    fn delegate(&self, item: i64, to: &str) -> Result<(), AwayError> {
        self.wait(self.store.delegate_work(self.person(), item, to))
            .map(drop)
    }

    fn reserve(&self, item: i64, task: &str) -> Result<(), AwayError> {
        self.wait(self.store.reserve_work(self.person(), item, task))
    }

    fn comment(&self, item: i64, text: &str) -> Result<(), AwayError> {
        self.wait(self.store.comment_work(self.person(), item, text, None))
            .map(drop)
    }

    fn put_before(&self, item: i64, before: Option<i64>) -> Result<(), AwayError> {
        self.wait(self.store.move_work(self.person(), item, before))
    }

    fn history(&self, item: i64) -> Result<Vec<Json>, AwayError> {
        self.wait(self.store.work_history(self.person(), item))
    }

    fn messages(&self, remove: bool) -> Result<Vec<Json>, AwayError> {
        let messages = self.wait(self.store.work_messages(self.person(), ITEMS_MAX))?;
        if remove {
            self.wait(self.store.remove_messages(self.person()))?;
        }
        Ok(messages)
    }

    fn report(&self, item: i64, report: &Json) -> Result<(), AwayError> {
        let (key, none) = (new_key(), Map::new());
        let report = WorkReport {
            item,
            success: report["success"] == true,
            values: report["values"].as_object().unwrap_or(&none),
            key: &key,
            reason: report["reason"].as_str(),
            claim: None,
            base: report["base"]
                .as_i64()
                .and_then(|base| i32::try_from(base).ok()),
            done_at: None,
        };
        let answer = self.wait(self.store.report_work(self.person(), &report))?;
        if answer["applied"] != true {
            return Err(AwayError::Refused(answer));
        }
        Ok(())
    }
}

/// News of the database about worklists.
struct DirectChanges {
    database: Direct,
    news: Option<WorkNews>,
    /// The mark of the worklist that was seen last.
    mark: String,
}

impl Changes for DirectChanges {
    fn open(&mut self) -> Result<(), AwayError> {
        self.news = Some(self.database.wait(self.database.store.work_news())?);
        Ok(())
    }

    fn wait(&mut self) -> Result<bool, AwayError> {
        let database = &self.database;
        if let Some(news) = &mut self.news {
            let heard = async { tokio::time::timeout(NEWS_WAIT, news.heard()).await };
            let _ = database.wait(async { heard.await.unwrap_or(Ok(None)) })?;
        }
        // News are any person's of any tenant.
        let mark = database.wait(database.store.work_mark(database.person()))?;
        Ok(std::mem::replace(&mut self.mark, mark) != self.mark)
    }
}

/// A key under which a report is applied once.
fn new_key() -> String {
    format!("{:032x}", rand::random::<u128>())
}
