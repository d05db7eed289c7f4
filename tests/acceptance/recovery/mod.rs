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

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        operators::trials(),
        going_back::trials(),
        schedules::trials(),
        backup::trials(),
        races::trials(),
        simulation::trials(),
        chaos::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
