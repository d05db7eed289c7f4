//! Worklists: people claim, lock, delegate and report; policies, deadlines and messages by a simulated clock.

mod arranging;
mod away;
mod claims;
mod data_says;
mod deadlines;
mod doors;
mod extras;
mod inbox;
mod kept;
mod messages;
mod nobody;
mod policies;
mod remote;
mod replanned;
mod reports;
mod starting;
mod together;

use std::sync::Arc;

use serde_json::Value as Json;
use wedflow_model::FlowDefinition;

use crate::support::{Database, Flow, Session};

/// Two tasks of people, the second of which may be taken away.
pub(super) const REPAIRS: &str = r#"
name = "repairs"
final = "visit_state = 'SUCCEEDED' OR visit_state = 'FAILED'"
[[attribute]]
name = "form"
[[attribute]]
name = "cost"
type = "numeric"
[[attribute]]
name = "order_state"
default = "NOT_READY"
[[attribute]]
name = "visit_state"
default = "NOT_READY"
[[trigger]]
name = "order"
when = "order_state = 'NOT_READY'"
transition = "order"
[trigger.work]
role = "Atendente"
priority = 5
inputs = ["form"]
outputs = ["form"]
state = "order_state"
[[trigger]]
name = "visit"
when = "order_state = 'SUCCEEDED' AND visit_state = 'NOT_READY'"
transition = "visit"
[trigger.work]
role = "Tecnico"
priority = 10
deadline = "48 hours"
disconnected = true
inputs = ["form"]
outputs = ["form", "cost"]
state = "visit_state"
"#;

/// A flow with people's work, and a session of the owner.
pub(super) struct Office {
    pub(super) flow: Flow,
    pub(super) owner: Session,
}

impl Office {
    /// The repairs with ana (Atendente), beto and caio (Tecnico), dora (administrator); all are connected at noon.
    pub(super) fn new() -> Self {
        Office::of(REPAIRS)
    }

    /// The same people with another definition.
    pub(super) fn of(definition: &str) -> Self {
        let database = Database::new();
        let definition: FlowDefinition = toml::from_str(definition).expect("a definition");
        let flow = database.define(&definition);
        let mut office = Office { owner: database.owner(), flow };
        for (name, role) in [("ana", "Atendente"), ("beto", "Tecnico"), ("caio", "Tecnico"), ("dora", "administrator")]
        {
            office.join(name, role);
            office.connect(name);
        }
        office
    }

    pub(super) fn database(&self) -> &Arc<Database> {
        &self.flow.database
    }

    pub(super) fn join(&mut self, name: &str, role: &str) {
        self.owner.run(&format!("SELECT wed.create_person('default', '{name}', '{{{role}}}')"));
    }

    pub(super) fn connect(&mut self, name: &str) {
        self.owner.run(&format!("SELECT wed.connect_person('default', '{name}')"));
    }

    /// Starts an instance by ana with dora in charge; its number.
    pub(super) fn start(&mut self) -> i64 {
        self.start_with("1, 1, '{}', NULL")
    }

    /// The same with a policy, the number of people, the warnings and the transfer value.
    pub(super) fn start_with(&mut self, how: &str) -> i64 {
        let flow = self.flow.name.clone();
        self.owner.number(&format!("SELECT wed.start_process('default', '{flow}', 'ana', 'dora', '{{}}', {how})"))
    }

    /// Starts an instance of which the order is done; the item of the visit.
    pub(super) fn visit(&mut self) -> i64 {
        self.visit_with("1, 1, '{}', NULL")
    }

    pub(super) fn visit_with(&mut self, how: &str) -> i64 {
        let wid = self.start_with(how);
        let order = self.item(wid, "order");
        self.act("select_work", "ana", order);
        let answer = self.report("ana", order, r#"{"form": "tea"}"#, &format!("order-{wid}"));
        assert_eq!(answer["applied"], true, "{answer}");
        self.item(wid, "visit")
    }

    /// The open item of a task.
    pub(super) fn item(&mut self, wid: i64, task: &str) -> i64 {
        self.owner.number(&format!(
            "SELECT item_id FROM wed.work_item WHERE wid = {wid} AND task = '{task}' AND ended_at IS NULL"
        ))
    }

    /// Calls a function of a person about an item; its document.
    pub(super) fn act(&mut self, function: &str, person: &str, item: i64) -> Json {
        self.document(&format!("wed.{function}('default', '{person}', {item})"))
    }

    pub(super) fn document(&mut self, call: &str) -> Json {
        let text = self.owner.line(&format!("SELECT {call}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Reports a success under a key.
    pub(super) fn report(&mut self, person: &str, item: i64, values: &str, key: &str) -> Json {
        self.document(&format!("wed.report_work('default', '{person}', {item}, true, '{values}', '{key}')"))
    }

    /// The tasks on a worklist in an order, so long after now.
    pub(super) fn list(&mut self, person: &str, order: &str, after: &str) -> Vec<String> {
        self.owner.lines(&format!(
            "SELECT d ->> 'item' FROM wed.worklist('default', '{person}', '{order}', 100, clock_timestamp() + \
             interval '{after}') d"
        ))
    }

    /// Sweeps as of so long after the item arrived.
    pub(super) fn sweep(&mut self, item: i64, after: &str) {
        let at = self
            .owner
            .line(&format!("SELECT arrived_at + interval '{after}' FROM wed.work_item WHERE item_id = {item}"));
        self.owner.run(&format!(
            "SELECT wed.miss_people('{at}'); \
             SELECT wed.do_work(d.tenant_id, d.flow_id, d.thing, d.tgid, '{at}') FROM wed.due_work('{at}') d \
             ORDER BY d.tgid"
        ));
    }

    /// State and holder of an item.
    pub(super) fn state(&mut self, item: i64) -> String {
        self.owner.line(&format!(
            "SELECT i.state, p.name FROM wed.work_item i LEFT JOIN wed.person p ON p.person_id = i.holder WHERE \
             item_id = {item}"
        ))
    }

    /// A person's messages, delivered or not: kind and text, oldest first.
    pub(super) fn messages(&mut self, person: &str) -> Vec<String> {
        self.owner.lines(&format!(
            "SELECT m.kind, m.text FROM wed.work_message m JOIN wed.person p USING (person_id) WHERE p.name = \
             '{person}' ORDER BY message_id"
        ))
    }
}
