//! The gate, rule by rule, over plain SQL and as the flow's own role.

mod algorithm;
mod attributes;
mod bounds;
mod events;
mod names;
mod predicates;
mod privacy;
mod refusals;
mod rematch;
mod trace;
mod writes;

pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
    [
        algorithm::trials(),
        writes::trials(),
        refusals::trials(),
        events::trials(),
        trace::trials(),
        attributes::trials(),
        bounds::trials(),
        names::trials(),
        predicates::trials(),
        rematch::trials(),
        privacy::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
