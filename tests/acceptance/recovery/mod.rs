//! Recovery: what operators do by hand, why jobs wait, schedules, backups, hosts and servers that break.

mod backup;
mod chaos;
pub(crate) mod checker;
mod going_back;
mod operators;
pub(crate) mod proxy;
mod races;
mod schedules;
mod simulation;
