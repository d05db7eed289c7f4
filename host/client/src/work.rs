//! People's work, in the name of the token's user.

use serde_json::{Map, Value, json};
use wedflow_documents::{
    AppliedFlow, Behind, Calendar, Comment, Decision, Delegation, Following, Listing, Newest, Notification, Outcome,
    PeopleRole, Position, Process, ProcessDefinition, Processes, Report, Roles, Seen, Successor, WorkPlan,
};
use wedflow_model::Wid;

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;
use crate::verbs::verbs;

verbs! {
    /// Makes flows of processes, with their plans of work: all or none.
    apply_processes(processes: Vec<ProcessDefinition>)
        = PUT "processes", body &Processes { processes } => items AppliedFlow;
    /// Returns the plan of work of a flow that is a process.
    work_plan(flow: &str) = GET "flows" / flow / "plan" => call WorkPlan;
    /// Lists the worklist: what is held, and what is offered.
    worklist(order: &str, limit: i32)
        = GET "work" / "items", query &Listing { order: Some(order.to_owned()), limit: Some(limit) } => items Value;
    /// Returns an item; for its holder with its data and the form of its result.
    work_item(item: i64) = GET "work" / "items" / item => call Value;
    /// Selects, locks, unselects, unlocks, starts or takes over an item, under the claim that was seen or any.
    work_act(item: i64, act: &str, claim: Option<i32>)
        = POST "work" / "items" / item / act, body &Seen { claim } => call Value;
    /// Gives an item to another person.
    delegate(item: i64, to: &str)
        = POST "work" / "items" / item / "delegate", body &Delegation { to: to.to_owned() } => call Value;
    /// Reports an item, once under a key. A result that is refused and kept comes back with `applied` false.
    report(item: i64, report: &Report, key: &str)
        = POST "work" / "items" / item / "report", body report, once Some(key) => call_or_conflict Value;
    /// Runs the component of an item at the server; returns its values.
    run_item(item: i64, values: &Map<String, Value>)
        = POST "work" / "items" / item / "run", body &json!({ "values": values }) => call Value;
    /// Lists the acts on an item.
    work_history(item: i64) = GET "work" / "items" / item / "history" => items Value;
    /// Adds a comment to an item.
    comment(item: i64, text: &str)
        = POST "work" / "items" / item / "comments", body &Comment { text: text.to_owned() } => call Value;
    /// Returns a file that is attached to an item.
    attachment(item: i64, note: i64) = GET "work" / "items" / item / "attachments" / note => bytes;
    /// Reserves the next item of a task for the holder of a locked item.
    reserve(item: i64, task: &str)
        = POST "work" / "items" / item / "reserve", body &Following { task: task.to_owned() } => call Value;
    /// Puts an item before another one in the caller's own order, or last.
    move_item(item: i64, before: Option<i64>)
        = POST "work" / "items" / item / "move", body &Position { before } => call Value;
    /// Decides of an item whose deadline has passed.
    decide(item: i64, decision: &Decision) = POST "work" / "items" / item / "decide", body decision => call Value;
    /// Decides what becomes of an instance that is an exception: for who is in charge.
    decide_exception(flow: &str, wid: Wid, outcome: &Outcome)
        = POST "work" / "processes" / flow / wid / "decide", body outcome => call Value;
    /// Changes how an instance notifies people while it runs.
    change_notification(flow: &str, wid: Wid, change: &Notification)
        = PATCH "work" / "processes" / flow / wid / "notification", body change => call Value;
    /// Starts a process in the caller's name.
    begin(process: &Process) = POST "work" / "processes", body process => call Value;
    /// Returns the newest messages.
    messages(limit: i32) = GET "work" / "messages", query &Newest { limit: Some(limit) } => items Value;
    /// Deletes the messages.
    delete_messages() = DELETE "work" / "messages" => call Value;
    /// Lists the people, with their roles.
    people(limit: i32) = GET "work" / "people", query &Behind { after: None, limit: Some(limit) } => items Value;
    /// Lists the roles of people.
    people_roles() = GET "work" / "roles" => items PeopleRole;
    /// Makes a person, or gives a known one further roles.
    put_person(name: &str, roles: &[String])
        = PUT "work" / "people" / name, body &Roles { roles: roles.to_vec() } => call Value;
    /// Deletes a person; what the person held is offered again.
    delete_person(name: &str) = DELETE "work" / "people" / name => done;
    /// Takes a role from a person.
    delete_person_role(name: &str, role: &str) = DELETE "work" / "people" / name / "roles" / role => done;
    /// Gives what a person holds to another.
    reassign(from: &str, to: &str)
        = POST "work" / "people" / from / "reassign", body &Successor { to: to.to_owned() } => call Value;
    /// Lists the calendars.
    calendars() = GET "work" / "calendars" => items Value;
    /// Makes or changes a calendar.
    set_calendar(name: &str, calendar: &Calendar) = PUT "work" / "calendars" / name, body calendar => call Value;
}

impl Client {
    /// Attaches a file to an item, with a text.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn attach(&self, item: i64, text: &str, (name, bytes): (&str, Vec<u8>)) -> Result<Value, ClientError> {
        let item = item.to_string();
        let request = Request::post(&["work", "items", &item, "attachments", name]);
        let request = request.body("application/octet-stream", bytes);
        self.call(request.header("wedflow-text", text)).await
    }

    /// Marks the caller active, and delivers stored messages; or inactive.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn set_active(&self, active: bool) -> Result<Value, ClientError> {
        let begin = if active { Request::put } else { Request::delete };
        self.call(begin(&["work", "connection"])).await
    }
}
