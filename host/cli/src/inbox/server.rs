//! The server as the inbox uses it: the API's client, asked from threads that wait; over HTTP with a token, or in this
//! process over the database in a person's name.

use std::time::Duration;

use serde_json::{Map, Value as Json};
use wedflow_away::{AwayError, Link};
use wedflow_client::{Client, ClientError, Events, Heard, Request};
use wedflow_documents::{Process, Report};

use super::follow::Changes;

/// Items of a worklist that are shown.
const ITEMS_MAX: i32 = 1_000;
/// Longest time until an answer of a server is there.
const ANSWER_WAIT: Duration = Duration::from_secs(10);
/// The same where a component is run before, and of the database.
const RUN_WAIT: Duration = Duration::from_secs(60);

/// Server that a person's worklist is at.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) client: Client,
    /// The way of the local store, where there is one: only then a person can leave.
    pub(crate) link: Option<Link>,
    pub(crate) runtime: tokio::runtime::Handle,
}

impl Server {
    /// Waits for an answer; one that takes too long is a cut.
    fn wait<T>(&self, asked: impl Future<Output = Result<T, ClientError>>, longest: Duration) -> Result<T, AwayError> {
        let answer = self.runtime.block_on(async { tokio::time::timeout(longest, asked).await });
        answer.map_err(|_| AwayError::Cut("it does not answer".to_owned()))?.map_err(away)
    }

    /// Waits for an answer that needs no component.
    fn ask<T>(&self, asked: impl Future<Output = Result<T, ClientError>>) -> Result<T, AwayError> {
        let is_far = self.link.is_some();
        self.wait(asked, if is_far { ANSWER_WAIT } else { RUN_WAIT })
    }

    /// Returns the changes of the worklist.
    pub(crate) fn changes(&self) -> Box<dyn Changes> {
        let request = Request::get(&["work", "events"]);
        Box::new(ServerChanges { server: self.clone(), events: self.client.events(request, None) })
    }

    /// Lists the worklist in an order.
    pub(crate) fn list(&self, order: &str) -> Result<Vec<Json>, AwayError> {
        self.ask(self.client.worklist(order, ITEMS_MAX))
    }

    /// Returns an item with its data and form.
    pub(crate) fn item(&self, item: i64) -> Result<Json, AwayError> {
        self.ask(self.client.work_item(item))
    }

    /// Lets the server run an item's component over values that the person gave; the values that it answers.
    pub(crate) fn run(&self, item: i64, values: &Map<String, Json>) -> Result<Map<String, Json>, AwayError> {
        let mut answer = self.wait(self.client.run_item(item, values), RUN_WAIT)?;
        match answer["values"].take() {
            Json::Object(values) => Ok(values),
            _ => Ok(Map::new()),
        }
    }

    /// Does something with an item that is still under the claim that was seen.
    pub(crate) fn act(&self, item: i64, act: &str, claim: i64) -> Result<Json, AwayError> {
        let claim = i32::try_from(claim).ok();
        self.ask(self.client.work_act(item, act, claim))
    }

    /// Starts a process, of which the person is in charge.
    pub(crate) fn begin(&self, flow: &str) -> Result<Json, AwayError> {
        let process = Process { flow: flow.to_owned(), ..Process::default() };
        self.ask(self.client.begin(&process))
    }

    /// Returns the newest message that was delivered.
    pub(crate) fn newest_message(&self) -> Result<Option<Json>, AwayError> {
        Ok(self.ask(self.client.messages(1))?.into_iter().next())
    }

    /// Gives an item to another person.
    pub(crate) fn delegate(&self, item: i64, to: &str) -> Result<(), AwayError> {
        self.ask(self.client.delegate(item, to)).map(drop)
    }

    /// Reserves the next item of a task for the holder of an item.
    pub(crate) fn reserve(&self, item: i64, task: &str) -> Result<(), AwayError> {
        self.ask(self.client.reserve(item, task)).map(drop)
    }

    /// Comments an item.
    pub(crate) fn comment(&self, item: i64, text: &str) -> Result<(), AwayError> {
        self.ask(self.client.comment(item, text)).map(drop)
    }

    /// Puts an item before another one in the person's own order.
    pub(crate) fn put_before(&self, item: i64, before: Option<i64>) -> Result<(), AwayError> {
        self.ask(self.client.move_item(item, before)).map(drop)
    }

    /// Lists who did what with an item.
    pub(crate) fn history(&self, item: i64) -> Result<Vec<Json>, AwayError> {
        self.ask(self.client.work_history(item))
    }

    /// Lists the messages, newest first; with `remove` it removes them.
    pub(crate) fn messages(&self, remove: bool) -> Result<Vec<Json>, AwayError> {
        let messages = self.ask(self.client.messages(ITEMS_MAX))?;
        if remove {
            self.ask(self.client.delete_messages())?;
        }
        Ok(messages)
    }

    /// Reports a result that was applied; anything else is an error.
    pub(crate) fn report(&self, item: i64, report: &Report) -> Result<(), AwayError> {
        let key = format!("{:032x}", rand::random::<u128>());
        let answer = self.ask(self.client.report(item, report, &key))?;
        match answer["applied"] == true {
            true => Ok(()),
            false => Err(AwayError::Refused(answer)),
        }
    }
}

/// Returns a client's error as the inbox tells it: what the server itself refused, or a cut.
fn away(error: ClientError) -> AwayError {
    match error {
        ClientError::Refused(problem) if problem.status < 500 => {
            AwayError::Refused(serde_json::to_value(&problem).unwrap_or_default())
        }
        ClientError::Refused(problem) => AwayError::Cut(format!("it answered {}", problem.status)),
        ClientError::Foreign { .. } => AwayError::Cut("it does not answer as Wedflow does".to_owned()),
        ClientError::Unreachable { reason, .. } | ClientError::Address { reason, .. } => AwayError::Cut(reason),
    }
}

/// Events of the worklist.
struct ServerChanges {
    server: Server,
    events: Events,
}

impl Changes for ServerChanges {
    fn open(&mut self) -> Result<(), AwayError> {
        match self.server.ask(self.events.open())? {
            true => Ok(()),
            false => Err(AwayError::Cut("there are no more events".to_owned())),
        }
    }

    fn wait(&mut self) -> Result<bool, AwayError> {
        let heard = self.server.runtime.block_on(self.events.heard());
        heard.map(|heard| matches!(heard, Heard::Event(_))).map_err(away)
    }
}
