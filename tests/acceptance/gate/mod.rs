//! The gate, rule by rule, over plain SQL and as the flow's own role.

mod algorithm;
mod attributes;
mod bounds;
mod deciding;
mod events;
mod findings;
mod isolation;
mod migrating;
mod names;
mod predicates;
mod privacy;
mod refusals;
mod rematch;
mod states;
mod trace;
mod waits;
mod writes;
