//! Why something fired or did not, what would happen if, queries, and the graph of a flow.

use serde_json::Value;
use wedflow_documents::{
    AssumedAct, AssumedCondition, Assumption, ConditionPreview, ForeseenAct, Graph, Query,
    QueryResult, WhatIf, Why, WhyFilter,
};
use wedflow_model::Wid;

use crate::client::Client;
use crate::error::ClientError;
use crate::instances::of;
use crate::request::Request;

impl Client {
    /// Explains the conditions of a flow over a state of an instance, clause by clause.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn why(&self, flow: &str, wid: Wid, which: &WhyFilter) -> Result<Why, ClientError> {
        self.call(of(Request::get, flow, wid, "why").query(which))
            .await
    }

    /// Says what would become of an instance whose attributes had other values. Nothing is changed.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn what_if(
        &self,
        flow: &str,
        wid: Wid,
        assumed: &Assumption,
    ) -> Result<WhatIf, ClientError> {
        self.call(of(Request::post, flow, wid, "what-if").document(assumed))
            .await
    }

    /// Says what an operator's act would do to an instance. Nothing is changed.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn foresee_act(
        &self,
        flow: &str,
        wid: Wid,
        assumed: &AssumedAct,
    ) -> Result<ForeseenAct, ClientError> {
        self.call(of(Request::post, flow, wid, "foresee").document(assumed))
            .await
    }

    /// Lists the work items of an instance, each with what was done and said of it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn work_of_instance(&self, flow: &str, wid: Wid) -> Result<Vec<Value>, ClientError> {
        self.items(of(Request::get, flow, wid, "work")).await
    }

    /// Compares a trigger's condition with another one over the live instances. Nothing is changed.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn what_if_condition(
        &self,
        flow: &str,
        assumed: &AssumedCondition,
    ) -> Result<ConditionPreview, ClientError> {
        self.call(Request::post(&["flows", flow, "what-if"]).document(assumed))
            .await
    }

    /// Runs a read-only query over the tables of a flow.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn query(&self, flow: &str, asked: &Query) -> Result<QueryResult, ClientError> {
        self.call(Request::post(&["flows", flow, "query"]).document(asked))
            .await
    }

    /// Reads the graph of a flow.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn graph(&self, flow: &str) -> Result<Graph, ClientError> {
        self.call(Request::get(&["flows", flow, "graph"])).await
    }
}
