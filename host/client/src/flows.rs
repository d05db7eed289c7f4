//! Flows: definitions, settings, secrets, schedules, stock, the order of tasks.

use wedflow_documents::{
    Applied, Backfill, Backfilled, Between, Difference, Finding, FlowDetail, FlowSecret, FlowSetting, FlowSummary,
    NewSecret, NewSetting, Preview, PutSchedule, Rematch, RematchResult, Reservation, Resource, RollBack, RolledBack,
    Schedule, SetResource, TaskOrder, Version,
};
use wedflow_model::FlowDefinition;

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;
use crate::verbs::{verb, verbs};

/// State in which a definition must be found for a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Any, or none at all.
    Anything,
    /// The flow must be new: there is no definition yet.
    Nothing,
    /// The one of this tag, as an answer gave it.
    Tag(String),
}

verbs! {
    /// Lists the flows.
    flows() = GET "flows" => pages FlowSummary;
    /// Says what applying a definition would do; changes nothing.
    preview(definition: &FlowDefinition)
        = POST "flows" / (definition.name) / "preview", body definition => call Preview;
    /// Deletes a flow with its instances and their history.
    delete_flow(flow: &str) = DELETE "flows" / flow => done;
    /// Lists the definitions that a flow had, newest first.
    versions(flow: &str) = GET "flows" / flow / "versions" => items Version;
    /// Compares two definitions of a flow.
    diff(flow: &str, between: &Between) = GET "flows" / flow / "diff", query between => call Difference;
    /// Applies an earlier definition of a flow again, or says what that would do.
    roll_back(flow: &str, asked: &RollBack) = POST "flows" / flow / "rollback", body asked => call RolledBack;
    /// Fires what the present model fires for live instances, or says what that would be.
    rematch(flow: &str, apply: bool) = POST "flows" / flow / "rematch", body &Rematch { apply } => call RematchResult;
    /// Lists the settings of a flow.
    flow_settings(flow: &str) = GET "flows" / flow / "config" => pages FlowSetting;
    /// Gives a flow a setting, or another value to one.
    set_flow_setting(flow: &str, key: &str, value: &str)
        = PUT "flows" / flow / "config" / key, body &NewSetting { value: value.to_owned() } => done;
    /// Deletes a setting of a flow.
    delete_flow_setting(flow: &str, key: &str) = DELETE "flows" / flow / "config" / key => done;
    /// Lists the secrets of a flow by name, never their values.
    secrets(flow: &str) = GET "flows" / flow / "secrets" => pages FlowSecret;
    /// Stores a secret of a flow, or says which transitions have it.
    put_secret(flow: &str, name: &str, secret: &NewSecret)
        = PUT "flows" / flow / "secrets" / name, body secret => done;
    /// Deletes a secret of a flow.
    delete_secret(flow: &str, name: &str) = DELETE "flows" / flow / "secrets" / name => done;
    /// Lists the schedules of a flow.
    schedules(flow: &str) = GET "flows" / flow / "schedules" => items Schedule;
    /// Makes a schedule, or changes the one of that name.
    put_schedule(flow: &str, name: &str, schedule: &PutSchedule)
        = PUT "flows" / flow / "schedules" / name, body schedule => done;
    /// Deletes a schedule; its instances stay.
    delete_schedule(flow: &str, name: &str) = DELETE "flows" / flow / "schedules" / name => done;
    /// Pauses or resumes a schedule.
    pause_schedule(flow: &str, name: &str, pause: bool)
        = POST "flows" / flow / "schedules" / name / (verb(pause)) => done;
    /// Starts an instance for each time of a schedule in a span.
    backfill(flow: &str, name: &str, span: &Backfill)
        = POST "flows" / flow / "schedules" / name / "backfill", body span => call Backfilled;
    /// Lists what of a flow's definition cannot work, or not as it was meant.
    lint(flow: &str) = GET "flows" / flow / "lint" => items Finding;
    /// Lists what instances of a flow reserve, held and waited for.
    reservations(flow: &str) = GET "flows" / flow / "reservations" => items Reservation;
    /// Lists the stock of the keys that a flow reserves by quantity.
    resources(flow: &str) = GET "flows" / flow / "resources" => items Resource;
    /// Sets the stock of a key.
    set_resource(flow: &str, stock: &SetResource) = PUT "flows" / flow / "resources", body stock => done;
    /// Lists the orders of tasks that were added to a flow while it runs.
    task_orders(flow: &str) = GET "flows" / flow / "order" => items TaskOrder;
    /// Adds an order of tasks.
    add_task_order(flow: &str, order: &TaskOrder) = POST "flows" / flow / "order", body order => done;
    /// Deletes an order of tasks that was added.
    delete_task_order(flow: &str, order: &TaskOrder) = POST "flows" / flow / "order" / "drop", body order => done;
}

impl Client {
    /// Returns a flow with its definition, and the definition's tag.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn flow(&self, flow: &str) -> Result<(FlowDetail, String), ClientError> {
        let answer = self.whole(&Request::get(&["flows", flow])).await?;
        let tag = answer.etag.clone().unwrap_or_default();
        Ok((self.parsed(&answer)?, tag))
    }

    /// Makes a flow what a definition says.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn apply(&self, definition: &FlowDefinition, expected: &Expected) -> Result<Applied, ClientError> {
        let request = Request::put(&["flows", &definition.name]).document(definition);
        self.call(match expected {
            Expected::Anything => request,
            Expected::Nothing => request.header("if-none-match", "*"),
            Expected::Tag(tag) => request.header("if-match", tag),
        })
        .await
    }
}
