//! Why something fired or did not, what would happen if, queries, and the graph of a flow.

use serde_json::Value;
use wedflow_documents::{
    AssumedAct, AssumedCondition, Assumption, ConditionPreview, ForeseenAct, Graph, Query, QueryResult, WhatIf, Why,
    WhyFilter,
};
use wedflow_model::Wid;

use crate::verbs::verbs;

verbs! {
    /// Explains the conditions of a flow over a state of an instance, clause by clause.
    why(flow: &str, wid: Wid, which: &WhyFilter)
        = GET "flows" / flow / "instances" / wid / "why", query which => call Why;
    /// Says what would become of an instance whose attributes had other values. Nothing is changed.
    what_if(flow: &str, wid: Wid, assumed: &Assumption)
        = POST "flows" / flow / "instances" / wid / "what-if", body assumed => call WhatIf;
    /// Says what an operator's act would do to an instance. Nothing is changed.
    foresee_act(flow: &str, wid: Wid, assumed: &AssumedAct)
        = POST "flows" / flow / "instances" / wid / "foresee", body assumed => call ForeseenAct;
    /// Lists the work items of an instance, each with what was done and said of it.
    work_of_instance(flow: &str, wid: Wid) = GET "flows" / flow / "instances" / wid / "work" => items Value;
    /// Compares a trigger's condition with another one over the live instances. Nothing is changed.
    what_if_condition(flow: &str, assumed: &AssumedCondition)
        = POST "flows" / flow / "what-if", body assumed => call ConditionPreview;
    /// Runs a read-only query over the tables of a flow.
    query(flow: &str, asked: &Query) = POST "flows" / flow / "query", body asked => call QueryResult;
    /// Reads the graph of a flow.
    graph(flow: &str) = GET "flows" / flow / "graph" => call Graph;
}
