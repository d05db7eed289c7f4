//! Recovery: what operators do by hand, why jobs wait, time, announcements, backups, hosts and servers that break.

mod announcements;
mod backup;
mod chaos;
pub(crate) mod checker;
mod disk;
mod doors;
mod faults;
mod field;
mod going_back;
mod installed;
mod lost_answers;
mod lost_server;
mod operators;
mod pauses;
pub(crate) mod proxy;
mod races;
mod read_only;
mod retention;
mod rolling;
mod schedules;
mod silence;
mod simulated_host;
mod simulation;
mod status;
mod time;
mod versions;
mod waiting;
