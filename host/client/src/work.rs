//! People's work, in the name of the token's user.

use serde_json::{Map, Value, json};
use wedflow_documents::{
    AppliedFlow, Behind, Calendar, Comment, Decision, Delegation, Following, Listing, Newest,
    Notification, Outcome, PeopleRole, Position, Process, ProcessDefinition, Processes, Report,
    Roles, Seen, Successor, WorkPlan,
};
use wedflow_model::Wid;

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;

impl Client {
    /// Makes flows of processes, with their plans of work: all or none.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn apply_processes(
        &self,
        processes: Vec<ProcessDefinition>,
    ) -> Result<Vec<AppliedFlow>, ClientError> {
        self.items(Request::put(&["processes"]).document(&Processes { processes }))
            .await
    }

    /// Returns the plan of work of a flow that is a process.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn work_plan(&self, flow: &str) -> Result<WorkPlan, ClientError> {
        self.call(Request::get(&["flows", flow, "plan"])).await
    }

    /// Lists the worklist: what is held, and what is offered.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn worklist(&self, order: &str, limit: i32) -> Result<Vec<Value>, ClientError> {
        let listing = Listing {
            order: Some(order.to_owned()),
            limit: Some(limit),
        };
        self.items(Request::get(&["work", "items"]).query(&listing))
            .await
    }

    /// Returns an item; for its holder with its data and the form of its result.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn work_item(&self, item: i64) -> Result<Value, ClientError> {
        self.call(on(Request::get, item, &[])).await
    }

    /// Selects, locks, unselects, unlocks, starts or takes over an item, under the claim that was seen or any.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn work_act(
        &self,
        item: i64,
        act: &str,
        claim: Option<i32>,
    ) -> Result<Value, ClientError> {
        self.call(on(Request::post, item, &[act]).document(&Seen { claim }))
            .await
    }

    /// Gives an item to another person.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delegate(&self, item: i64, to: &str) -> Result<Value, ClientError> {
        let to = to.to_owned();
        self.call(on(Request::post, item, &["delegate"]).document(&Delegation { to }))
            .await
    }

    /// Reports an item, once under a key. A result that is refused and kept comes back with `applied` false.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn report(
        &self,
        item: i64,
        report: &Report,
        key: &str,
    ) -> Result<Value, ClientError> {
        let request = on(Request::post, item, &["report"]).document(report);
        self.call_or_conflict(request.once(Some(key))).await
    }

    /// Runs the component of an item at the server; returns its values.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn run_item(
        &self,
        item: i64,
        values: &Map<String, Value>,
    ) -> Result<Value, ClientError> {
        let request = on(Request::post, item, &["run"]);
        self.call(request.document(&json!({ "values": values })))
            .await
    }

    /// Lists the acts on an item.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn work_history(&self, item: i64) -> Result<Vec<Value>, ClientError> {
        self.items(on(Request::get, item, &["history"])).await
    }

    /// Adds a comment to an item.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn comment(&self, item: i64, text: &str) -> Result<Value, ClientError> {
        let text = text.to_owned();
        self.call(on(Request::post, item, &["comments"]).document(&Comment { text }))
            .await
    }

    /// Attaches a file to an item, with a text.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn attach(
        &self,
        item: i64,
        text: &str,
        (name, bytes): (&str, Vec<u8>),
    ) -> Result<Value, ClientError> {
        let request = on(Request::post, item, &["attachments", name]);
        let request = request.body("application/octet-stream", bytes);
        self.call(request.header("wedflow-text", text)).await
    }

    /// Returns a file that is attached to an item.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn attachment(&self, item: i64, note: i64) -> Result<Vec<u8>, ClientError> {
        let note = note.to_string();
        let request = on(Request::get, item, &["attachments", &note]);
        Ok(self.whole(&request).await?.bytes.to_vec())
    }

    /// Reserves the next item of a task for the holder of a locked item.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn reserve(&self, item: i64, task: &str) -> Result<Value, ClientError> {
        let task = task.to_owned();
        self.call(on(Request::post, item, &["reserve"]).document(&Following { task }))
            .await
    }

    /// Puts an item before another one in the caller's own order, or last.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn move_item(&self, item: i64, before: Option<i64>) -> Result<Value, ClientError> {
        self.call(on(Request::post, item, &["move"]).document(&Position { before }))
            .await
    }

    /// Decides of an item whose deadline has passed.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn decide(&self, item: i64, decision: &Decision) -> Result<Value, ClientError> {
        self.call(on(Request::post, item, &["decide"]).document(decision))
            .await
    }

    /// Decides what becomes of an instance that is an exception: for who is in charge.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn decide_exception(
        &self,
        flow: &str,
        wid: Wid,
        outcome: &Outcome,
    ) -> Result<Value, ClientError> {
        let wid = wid.to_string();
        let request = Request::post(&["work", "processes", flow, &wid, "decide"]);
        self.call(request.document(outcome)).await
    }

    /// Changes how an instance notifies people while it runs.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn change_notification(
        &self,
        flow: &str,
        wid: Wid,
        change: &Notification,
    ) -> Result<Value, ClientError> {
        let wid = wid.to_string();
        let request = Request::patch(&["work", "processes", flow, &wid, "notification"]);
        self.call(request.document(change)).await
    }

    /// Starts a process in the caller's name.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn begin(&self, process: &Process) -> Result<Value, ClientError> {
        self.call(Request::post(&["work", "processes"]).document(process))
            .await
    }

    /// Returns the newest messages.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn messages(&self, limit: i32) -> Result<Vec<Value>, ClientError> {
        let limit = Some(limit);
        self.items(Request::get(&["work", "messages"]).query(&Newest { limit }))
            .await
    }

    /// Deletes the messages.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_messages(&self) -> Result<Value, ClientError> {
        self.call(Request::delete(&["work", "messages"])).await
    }

    /// Marks the caller active, and delivers stored messages; or inactive.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn set_active(&self, active: bool) -> Result<Value, ClientError> {
        let begin = if active {
            Request::put
        } else {
            Request::delete
        };
        self.call(begin(&["work", "connection"])).await
    }

    /// Lists the people, with their roles.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn people(&self, limit: i32) -> Result<Vec<Value>, ClientError> {
        let behind = Behind {
            after: None,
            limit: Some(limit),
        };
        self.items(Request::get(&["work", "people"]).query(&behind))
            .await
    }

    /// Lists the roles of people.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn people_roles(&self) -> Result<Vec<PeopleRole>, ClientError> {
        self.items(Request::get(&["work", "roles"])).await
    }

    /// Makes a person, or gives a known one further roles.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn put_person(&self, name: &str, roles: &[String]) -> Result<Value, ClientError> {
        let roles = roles.to_vec();
        self.call(Request::put(&["work", "people", name]).document(&Roles { roles }))
            .await
    }

    /// Deletes a person; what the person held is offered again.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_person(&self, name: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["work", "people", name])).await
    }

    /// Takes a role from a person.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_person_role(&self, name: &str, role: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["work", "people", name, "roles", role]))
            .await
    }

    /// Gives what a person holds to another.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn reassign(&self, from: &str, to: &str) -> Result<Value, ClientError> {
        let to = to.to_owned();
        let request = Request::post(&["work", "people", from, "reassign"]);
        self.call(request.document(&Successor { to })).await
    }

    /// Lists the calendars.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn calendars(&self) -> Result<Vec<Value>, ClientError> {
        self.items(Request::get(&["work", "calendars"])).await
    }

    /// Makes or changes a calendar.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn set_calendar(
        &self,
        name: &str,
        calendar: &Calendar,
    ) -> Result<Value, ClientError> {
        self.call(Request::put(&["work", "calendars", name]).document(calendar))
            .await
    }
}

/// Begins a request for an item, or for something of it.
fn on(begin: fn(&[&str]) -> Request, item: i64, what: &[&str]) -> Request {
    let item = item.to_string();
    begin(&[&["work", "items", item.as_str()], what].concat())
}
