//! Why something fired or did not, what would happen if, and the graph of a flow: documents that functions of the
//! database make.

use serde_json::{Map, Value};
use sqlx::types::Json;
use wedflow_documents::{AssumedAct, AssumedCondition, ConditionPreview, ForeseenAct, Graph, WhatIf, Why, WhyFilter};
use wedflow_model::Wid;

use crate::flows::Flow;
use crate::{Store, StoreError};

impl Store {
    /// Explains the conditions of a flow over a state of an instance, clause by clause.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with `WF040` when there is no such instance, trigger or row of the trace.
    pub async fn why(&self, flow: &Flow, wid: Wid, which: &WhyFilter) -> Result<Why, StoreError> {
        let Json(why) = sqlx::query_scalar("SELECT wed.why($1, $2, $3, $4)")
            .bind(flow.flow_id)
            .bind(wid)
            .bind(&which.trigger)
            .bind(which.seq)
            .fetch_one(&self.pool)
            .await?;
        Ok(why)
    }

    /// Says what would become of an instance whose attributes had other values. Nothing is written or locked.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such instance, or the values are none of their attributes' types.
    pub async fn what_if(
        &self,
        flow: &Flow,
        wid: Wid,
        values: &Map<String, Value>,
        transition: Option<&str>,
    ) -> Result<WhatIf, StoreError> {
        let Json(answer) = sqlx::query_scalar("SELECT wed.what_if($1, $2, $3, $4)")
            .bind(flow.flow_id)
            .bind(wid)
            .bind(Json(values))
            .bind(transition)
            .fetch_one(&self.pool)
            .await?;
        Ok(answer)
    }

    /// Says what an operator's act would do to an instance: it is done and taken back.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the act would be.
    pub async fn foresee_act(&self, flow: &Flow, wid: Wid, assumed: &AssumedAct) -> Result<ForeseenAct, StoreError> {
        let Json(answer) = sqlx::query_scalar("SELECT wed.foresee_act($1, $2, $3, $4, $5)")
            .bind(flow.flow_id)
            .bind(wid)
            .bind(assumed.act.word())
            .bind(&assumed.transition)
            .bind(assumed.to)
            .fetch_one(&self.pool)
            .await?;
        Ok(answer)
    }

    /// Compares a trigger's condition with another one over the live instances.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such trigger, or the condition is not allowed.
    pub async fn what_if_condition(
        &self,
        flow: &Flow,
        assumed: &AssumedCondition,
    ) -> Result<ConditionPreview, StoreError> {
        let Json(answer) = sqlx::query_scalar("SELECT wed.what_if_condition($1, $2, $3)")
            .bind(flow.flow_id)
            .bind(&assumed.trigger)
            .bind(&assumed.when)
            .fetch_one(&self.pool)
            .await?;
        Ok(answer)
    }

    /// Derives the graph of a flow from its definition, with what its trace and its jobs say of it.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn graph(&self, flow: &Flow) -> Result<Graph, StoreError> {
        let Json(graph) = sqlx::query_scalar("SELECT wed.graph($1)").bind(flow.flow_id).fetch_one(&self.pool).await?;
        Ok(graph)
    }
}
