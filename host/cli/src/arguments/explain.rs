//! Arguments of `wed why` and of what a flow would do.

use clap::Args;

use super::InstanceName;

/// State of an instance that is to be explained.
#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    /// The flow.
    pub(crate) flow: String,
    /// The instance: its number, or `key:NAME`.
    pub(crate) wid: InstanceName,
    /// Only this trigger, or the trigger of this transition; `final` for the final condition.
    pub(crate) trigger: Option<String>,
    /// The state of this row of the trace, instead of the present one.
    #[arg(long, value_name = "SEQ", conflicts_with = "what_if")]
    pub(crate) seq: Option<i32>,
    /// Assume that an attribute has another value (`qty=3`; `qty=null`), and say what would happen. Changes nothing.
    #[arg(long = "if", value_name = "NAME=VALUE")]
    pub(crate) what_if: Vec<String>,
    /// With --if: the pending transition that sets the values; without it, an event, or a person by hand.
    #[arg(long, value_name = "TRANSITION", requires = "what_if")]
    pub(crate) by: Option<String>,
}

/// The graph of a flow.
#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    /// The flow.
    pub(crate) name: String,
    /// Print it in the language of Graphviz, instead of as SVG.
    #[arg(long)]
    pub(crate) dot: bool,
}

/// A condition that a trigger is assumed to have.
#[derive(Debug, Args)]
pub(crate) struct WhatIfArguments {
    /// The flow.
    pub(crate) name: String,
    /// The trigger; `final` for the final condition.
    pub(crate) trigger: String,
    /// The condition, as after WHERE.
    pub(crate) condition: String,
}
