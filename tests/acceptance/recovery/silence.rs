//! Connections that go silent: nobody resets them, and nobody answers over them.

use super::field::Field;
use super::proxy::Proxy;
use crate::support::eventually;

/// Texts of statements that a host sends again and again, over each of its pools of sessions.
const STATEMENTS: [&str; 6] = [
    "FROM wed.flow WHERE flow_id = ANY",
    "FROM wed.held(",
    "FROM wed.claim",
    "wed.commit_results(",
    "wed.renew_lease(",
    "LISTEN ",
];

#[harness::test]
fn a_silent_connection_stops_nothing_for_long_whatever_was_asked_over_it() {
    let mut field = Field::new(None);
    field.hosts.truncate(1);
    let proxy: &Proxy = &field.proxy;
    for statement in STATEMENTS {
        proxy.trap(statement);
    }
    // Sessions prepare their statements anew.
    proxy.cut();
    let load = field.load();
    for statement in STATEMENTS {
        eventually(statement, || (field.proxy.came(statement) >= 2).then_some(()));
    }
    drop(load);
    let took = field.recovery();
    assert!(took.is_some(), "{}", field.remains());
}
