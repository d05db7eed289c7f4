//! Hosts: several on one database, killed ones, stale ones; guests that fail.

mod commits;
pub(crate) mod exploit;
mod extremes;
mod failing;
pub(crate) mod guests;
mod https;
mod leases;
mod locks;
mod outside;
mod provided;
mod scale;
pub(crate) mod traces;
mod waiting;
mod walls;

pub(crate) use leases::group;

use std::sync::Arc;

use crate::support::{Database, Flow};

/// The attributes that the hostile guest's transitions declare.
const ATTRIBUTES: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('a1', 'text', 'new'), ('n', 'integer', '0');
INSERT INTO wed_attr (aname, atype) VALUES ('tags', 'text[]');";

/// A flow that fits the hostile guest, in a database that has it as component `hostile`; nothing is
/// bound yet.
fn flow(database: &Arc<Database>, name: &str, triggers: &str) -> Flow {
    database.upload("hostile", guests::hostile());
    let flow = database.flow(name);
    flow.session().run(&format!("BEGIN; {ATTRIBUTES} {triggers}; COMMIT"));
    flow
}

/// The same with one transition that a new instance fires, bound; the instance is final once `a1` is set.
pub(crate) fn flow_of_one(database: &Arc<Database>, transition: &str, settings: &str) -> Flow {
    let (names, values) =
        settings.split_once('=').map_or(("", String::new()), |(names, values)| (names, format!(", {values}")));
    let flow = flow(
        database,
        transition,
        &format!(
            "INSERT INTO wed_trig (tgname, trname, cpred{names}) VALUES ('t', '{transition}', $$a1 = 'new'$${values});
             INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true)"
        ),
    );
    flow.bind(transition, "hostile");
    flow
}
