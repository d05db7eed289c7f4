//! `wed demo requisition`: requisitions of one material by several clerks, each step done by hand over SQL.

use serde_json::{Map, Value as Json, json};
use wedflow_client::Expected;
use wedflow_documents::{Reason, SetResource};
use wedflow_model::{FlowDefinition, Wid};
use wedflow_store::{FlowSession, Store};

use crate::door::{self, Door};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// The definition.
const FLOW: &str = include_str!("requisition.toml");

/// Name of its flow.
const NAME: &str = "requisition";

/// Name and purpose, as `wed demo` lists them.
pub(crate) const ABOUT: (&str, &str) =
    ("requisition", "material by requisition: numbers without gaps, checks side by side, stock for one of two");

/// Session of the players, and the steps they have done.
struct Players<'a> {
    session: FlowSession,
    terminal: &'a Terminal,
    steps: Vec<Json>,
}

impl Players<'_> {
    fn tell(&mut self, text: String) {
        self.terminal.say(&text);
        self.steps.push(Json::String(text));
    }

    /// Starts a requisition that a clerk enters; its instance.
    async fn enter(&mut self, clerk: &str, materials: &str, more: &str) -> Result<Wid, Problem> {
        let started = self
            .session
            .texts(&format!(
                "INSERT INTO wed_flow (clerk, materials{}) VALUES ('{clerk}', '{materials}'{}) RETURNING wid || ' ' \
                 || number",
                if more.is_empty() { "" } else { ", category" },
                if more.is_empty() { String::new() } else { format!(", '{more}'") },
            ))
            .await?;
        let started = started.first().cloned().unwrap_or_default();
        let (wid, number) = started.split_once(' ').unwrap_or_default();
        self.tell(format!("{clerk} asks for {}: requisition number {number}, instance {wid}", amounts(materials)));
        wid.parse().map_err(|_| Problem::new("the requisition was not started"))
    }

    /// Does a step; a step that waits is none.
    async fn step(&mut self, wid: Wid, transition: &str, clause: &str) -> Result<bool, Problem> {
        let done = self.session.finish(wid, transition, clause).await?;
        if done {
            self.tell(format!("  {transition} of instance {wid} is done"));
        } else {
            let why = self
                .session
                .texts(&format!(
                    "SELECT coalesce(waits_for, 'nothing') FROM job_pool WHERE wid = {wid} AND trname = '{transition}'"
                ))
                .await?;
            let why = why.first().map_or("it is not pending", String::as_str);
            // Short, for a line of a terminal.
            let why = ["its reservation: ", "the tasks before it: "]
                .iter()
                .find_map(|long| why.strip_prefix(long))
                .unwrap_or(why);
            self.tell(format!("  {transition} of instance {wid} waits for {why}"));
        }
        Ok(done)
    }

    /// Does all steps up to the issue.
    async fn reach_issue(&mut self, wid: Wid, rules: &str) -> Result<(), Problem> {
        self.step(wid, "enter", "entered = true").await?;
        self.step(wid, "confirm", "sales_list = 'too early'").await?;
        self.step(wid, "check_plan", &format!("plan_ok = true{rules}")).await?;
        self.step(wid, "check_stock", "stock_ok = true").await?;
        self.step(wid, "confirm", "sales_list = 'of ' || number").await?;
        Ok(())
    }

    async fn stock(&mut self) -> Result<String, Problem> {
        let stock = self
            .session
            .texts("SELECT capacity::text FROM wed_resource WHERE resource = 'material' AND key = 'M1'")
            .await?
            .concat();
        self.tell(format!("There are {stock} of M1, and the minimum is 2"));
        Ok(stock)
    }
}

/// Plays it.
pub(crate) async fn run(store: &Store, tenant: &str, terminal: &Terminal) -> Result<(), Problem> {
    let definition: FlowDefinition =
        toml::from_str(FLOW).map_err(|source| Problem::new("the demo is damaged").because(source))?;
    let door = door::of_store(store, tenant, "operator");
    door.apply(&definition, &Expected::Anything).await?;
    deliver(&door).await?;
    let mut at = Players { session: store.flow_session(tenant, NAME).await?, terminal, steps: Vec::new() };
    let ended = play(&mut at, &door).await?;
    let stock = at.stock().await?;
    let Players { steps, .. } = at;
    terminal.answer(&json!({ "flow": NAME, "instances": ended, "stock": stock, "steps": steps }), || {
        terminal.line(&format!(
            "\nTry next:\n  wed flow resource list {0}\n  wed flow reservations {0}\n  wed instance list {0}",
            NAME
        ));
    });
    Ok(())
}

/// Fills the store of the material up.
async fn deliver(door: &Door) -> Result<(), Problem> {
    let stock = SetResource {
        resource: Some("material".to_owned()),
        key: "M1".to_owned(),
        capacity: "12".to_owned(),
        minimum: Some("2".to_owned()),
    };
    Ok(door.set_resource(NAME, &stock).await?)
}

async fn play(at: &mut Players<'_>, door: &Door) -> Result<Map<String, Json>, Problem> {
    at.stock().await?;
    let ann = at.enter("ann", r#"{"M1": 7}"#, "").await?;
    let bob = at.enter("bob", r#"{"M1": 7}"#, "").await?;
    // A clerk who gives up keeps the number; it is given to nobody else.
    let cid = at.enter("cid", r#"{"M1": 1}"#, "").await?;
    let reason = Reason { reason: "the clerk gave up".to_owned() };
    door.cancel(NAME, cid, &reason).await?;
    at.tell(format!("cid gives up; instance {cid} ends"));
    let eve = at.enter("eve", r#"{"M1": 1}"#, "special").await?;
    at.reach_issue(ann, "").await?;
    at.reach_issue(bob, "").await?;
    at.step(bob, "issue", "issued = true").await?;
    at.step(ann, "issue", "issued = true").await?;
    at.stock().await?;
    at.step(bob, "issue", "issued = true").await?;
    // Of a special requisition the check says that approval comes before the issue.
    at.reach_issue(eve, r#", rules = '{"issue": "approve"}'"#).await?;
    at.step(eve, "issue", "issued = true").await?;
    at.step(eve, "approve", "approved = true").await?;
    at.tell("Seven more of M1 are delivered".to_owned());
    deliver(door).await?;
    at.step(bob, "issue", "issued = true").await?;
    at.step(eve, "issue", "issued = true").await?;
    let mut ended = Map::new();
    for (clerk, wid) in [("ann", ann), ("bob", bob), ("cid", cid), ("eve", eve)] {
        let status = door.instance(NAME, wid).await?.status;
        ended.insert(clerk.to_owned(), json!({ "wid": wid, "status": status }));
    }
    Ok(ended)
}

/// A document of amounts by material, in words.
fn amounts(materials: &str) -> String {
    let amounts: std::collections::BTreeMap<String, Json> = serde_json::from_str(materials).unwrap_or_default();
    let each = amounts.iter().map(|(key, amount)| format!("{amount} of {key}"));
    each.collect::<Vec<_>>().join(" and ")
}
