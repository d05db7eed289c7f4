//! The requisition of the spec, whole.

use super::broken;
use crate::support::{Database, on, program};

#[harness::test]
fn demo_issues_to_one_and_lets_the_other_wait() {
    let database = Database::new();
    let answer = program::run(program::wed(&database.url()).args(["demo", "requisition", "--json"]));
    let document = answer.done().json();
    for clerk in ["ann", "bob", "cid", "eve"] {
        assert_eq!(document["instances"][clerk]["status"], "final", "{document}");
    }
    assert_eq!(document["stock"], "4");
    let steps: Vec<&str> =
        document["steps"].as_array().expect("steps").iter().filter_map(|step| step.as_str()).collect();
    let longest = steps.iter().map(|step| step.chars().count()).max();
    assert!(longest <= Some(80), "{steps:#?}");
    for said in [
        "ann asks for 7 of M1: requisition number 1, instance 1",
        "  confirm of instance 1 waits for check_stock AND check_plan",
        "  issue of instance 2 waits for M1 (held by instance 1 of requisition: 7)",
        "  issue of instance 2 waits for M1 (7 wanted, 3 available)",
        "  issue of instance 4 waits for approve",
    ] {
        assert!(steps.contains(&said), "{said} is missing in {steps:#?}");
    }
    let flow = on(database.store.flow("default", "requisition")).expect("the flow");
    let rows = on(database.store.reservations(&flow, 9)).expect("listed");
    assert!(rows.is_empty(), "{rows:?}");
    assert_eq!(on(database.store.resources(&flow, 9)).expect("listed")[0].capacity, "4");
    let mut s = crate::support::Session::on(
        &database,
        &on(database.store.flow_url("default", "requisition")).expect("its URL"),
    );
    assert_eq!(s.lines("SELECT number FROM wed_flow ORDER BY wid"), ["1", "2", "3", "4"]);
    let found = broken(&mut database.owner());
    assert!(found.is_empty(), "{found:#?}");
}
