//! Recovery: what operators do by hand, why jobs wait, schedules, backups, hosts and servers that break.

mod backup;
mod operators;
mod schedules;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [operators::trials(), schedules::trials(), backup::trials()]
        .into_iter()
        .flatten()
        .collect()
}
