//! Flows: definitions, settings, secrets, schedules, stock, the order of tasks.

use wedflow_documents::{
    Applied, Backfill, Backfilled, Between, Difference, Finding, FlowDetail, FlowSecret,
    FlowSetting, FlowSummary, NewSecret, NewSetting, Page, Preview, PutSchedule, Rematch,
    RematchResult, Reservation, Resource, RollBack, RolledBack, Schedule, SetResource, TaskOrder,
    Version,
};
use wedflow_model::FlowDefinition;

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;

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

impl Client {
    /// Lists the flows.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn flows(&self) -> Result<Vec<FlowSummary>, ClientError> {
        self.list(&["flows"], &Page::default(), None).await
    }

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
    pub async fn apply(
        &self,
        definition: &FlowDefinition,
        expected: &Expected,
    ) -> Result<Applied, ClientError> {
        let request = Request::put(&["flows", &definition.name]).document(definition);
        self.call(match expected {
            Expected::Anything => request,
            Expected::Nothing => request.header("if-none-match", "*"),
            Expected::Tag(tag) => request.header("if-match", tag),
        })
        .await
    }

    /// Says what applying a definition would do; changes nothing.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn preview(&self, definition: &FlowDefinition) -> Result<Preview, ClientError> {
        let request = Request::post(&["flows", &definition.name, "preview"]);
        self.call(request.document(definition)).await
    }

    /// Deletes a flow with its instances and their history.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_flow(&self, flow: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["flows", flow])).await
    }

    /// Lists the definitions that a flow had, newest first.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn versions(&self, flow: &str) -> Result<Vec<Version>, ClientError> {
        self.items(Request::get(&["flows", flow, "versions"])).await
    }

    /// Compares two definitions of a flow.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn diff(&self, flow: &str, between: &Between) -> Result<Difference, ClientError> {
        self.call(Request::get(&["flows", flow, "diff"]).query(between))
            .await
    }

    /// Applies an earlier definition of a flow again, or says what that would do.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn roll_back(&self, flow: &str, asked: &RollBack) -> Result<RolledBack, ClientError> {
        let request = Request::post(&["flows", flow, "rollback"]);
        self.call(request.document(asked)).await
    }

    /// Fires what the present model fires for live instances, or says what that would be.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn rematch(&self, flow: &str, apply: bool) -> Result<RematchResult, ClientError> {
        let request = Request::post(&["flows", flow, "rematch"]);
        self.call(request.document(&Rematch { apply })).await
    }

    /// Lists the settings of a flow.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn flow_settings(&self, flow: &str) -> Result<Vec<FlowSetting>, ClientError> {
        self.list(&["flows", flow, "config"], &Page::default(), None)
            .await
    }

    /// Gives a flow a setting, or another value to one.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn set_flow_setting(
        &self,
        flow: &str,
        key: &str,
        value: &str,
    ) -> Result<(), ClientError> {
        let value = value.to_owned();
        let request = Request::put(&["flows", flow, "config", key]);
        self.done(request.document(&NewSetting { value })).await
    }

    /// Deletes a setting of a flow.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_flow_setting(&self, flow: &str, key: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["flows", flow, "config", key]))
            .await
    }

    /// Lists the secrets of a flow by name, never their values.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn secrets(&self, flow: &str) -> Result<Vec<FlowSecret>, ClientError> {
        self.list(&["flows", flow, "secrets"], &Page::default(), None)
            .await
    }

    /// Stores a secret of a flow, or says which transitions have it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn put_secret(
        &self,
        flow: &str,
        name: &str,
        secret: &NewSecret,
    ) -> Result<(), ClientError> {
        let request = Request::put(&["flows", flow, "secrets", name]);
        self.done(request.document(secret)).await
    }

    /// Deletes a secret of a flow.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_secret(&self, flow: &str, name: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["flows", flow, "secrets", name]))
            .await
    }

    /// Lists the schedules of a flow.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn schedules(&self, flow: &str) -> Result<Vec<Schedule>, ClientError> {
        self.items(Request::get(&["flows", flow, "schedules"]))
            .await
    }

    /// Makes a schedule, or changes the one of that name.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn put_schedule(
        &self,
        flow: &str,
        name: &str,
        schedule: &PutSchedule,
    ) -> Result<(), ClientError> {
        let request = Request::put(&["flows", flow, "schedules", name]);
        self.done(request.document(schedule)).await
    }

    /// Deletes a schedule; its instances stay.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_schedule(&self, flow: &str, name: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["flows", flow, "schedules", name]))
            .await
    }

    /// Pauses or resumes a schedule.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn pause_schedule(
        &self,
        flow: &str,
        name: &str,
        pause: bool,
    ) -> Result<(), ClientError> {
        let verb = if pause { "pause" } else { "resume" };
        self.done(Request::post(&["flows", flow, "schedules", name, verb]))
            .await
    }

    /// Starts an instance for each time of a schedule in a span.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn backfill(
        &self,
        flow: &str,
        name: &str,
        span: &Backfill,
    ) -> Result<Backfilled, ClientError> {
        let request = Request::post(&["flows", flow, "schedules", name, "backfill"]);
        self.call(request.document(span)).await
    }

    /// Lists what of a flow's definition cannot work, or not as it was meant.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn lint(&self, flow: &str) -> Result<Vec<Finding>, ClientError> {
        self.items(Request::get(&["flows", flow, "lint"])).await
    }

    /// Lists what instances of a flow reserve, held and waited for.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn reservations(&self, flow: &str) -> Result<Vec<Reservation>, ClientError> {
        self.items(Request::get(&["flows", flow, "reservations"]))
            .await
    }

    /// Lists the stock of the keys that a flow reserves by quantity.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn resources(&self, flow: &str) -> Result<Vec<Resource>, ClientError> {
        self.items(Request::get(&["flows", flow, "resources"]))
            .await
    }

    /// Sets the stock of a key.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn set_resource(&self, flow: &str, stock: &SetResource) -> Result<(), ClientError> {
        let request = Request::put(&["flows", flow, "resources"]);
        self.done(request.document(stock)).await
    }

    /// Lists the orders of tasks that were added to a flow while it runs.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn task_orders(&self, flow: &str) -> Result<Vec<TaskOrder>, ClientError> {
        self.items(Request::get(&["flows", flow, "order"])).await
    }

    /// Adds an order of tasks.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn add_task_order(&self, flow: &str, order: &TaskOrder) -> Result<(), ClientError> {
        let request = Request::post(&["flows", flow, "order"]);
        self.done(request.document(order)).await
    }

    /// Deletes an order of tasks that was added.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_task_order(
        &self,
        flow: &str,
        order: &TaskOrder,
    ) -> Result<(), ClientError> {
        let request = Request::post(&["flows", flow, "order", "drop"]);
        self.done(request.document(order)).await
    }
}
