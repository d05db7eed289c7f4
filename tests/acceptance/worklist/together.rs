//! Tasks taken away together, over the real server: the second is done upon the first, without a connection.

use serde_json::json;
use wedflow_away::{AwayError, LocalStore, reconnect};

use super::Office;
use super::away::Field;

/// Two tasks, the second of which uses what the first one sets.
const TRIP: &str = r#"
name = "trip"
final = "bill IS NOT NULL"
[[attribute]]
name = "visit"
[[attribute]]
name = "bill"
[[trigger]]
name = "visit"
when = "visit IS NULL"
transition = "visit"
[trigger.work]
task = "Visit"
role = "Tecnico"
disconnected = true
inputs = ["visit"]
outputs = ["visit"]
[[trigger]]
name = "bill"
when = "visit IS NOT NULL AND bill IS NULL"
transition = "bill"
[trigger.work]
task = "Bill the customer"
role = "Tecnico"
disconnected = true
inputs = ["visit"]
outputs = ["bill"]
"#;

/// Beto's machine, away with both tasks; the first one's number.
fn away() -> (Field, LocalStore, i64) {
    let mut field = Field::of(TRIP);
    let wid = field.office.start();
    let item = field.office.item(wid, "Visit");
    field.office.act("lock_work", "beto", item);
    field.office.owner.run(&format!("SELECT wed.reserve_work('default', 'beto', {item}, 'Bill the customer')"));
    let mut store = field.store("s");
    field.leave(&mut store, "s");
    (field, store, item)
}

fn done(store: &mut LocalStore, item: i64, values: serde_json::Value) -> Result<(), AwayError> {
    let (found, _) = store.executable(item)?;
    let body = json!({ "success": true, "values": values, "reason": null, "claim": found.claim });
    store.keep_result(&found, &body).map(drop)
}

#[harness::test]
fn task_that_follows_is_done_away_upon_the_one_before_it() {
    let (field, mut store, item) = away();
    let behind = -item * 100;
    assert!(matches!(done(&mut store, behind, json!({})), Err(AwayError::NotEnabled(_))));
    done(&mut store, item, json!({ "visit": "two pipes" })).expect("done");
    let (found, _) = store.executable(behind).expect("enabled");
    assert_eq!(found.document["data"]["visit"], "two pipes");
    done(&mut store, behind, json!({ "bill": "R$ 10" })).expect("done");
    let returned = reconnect(field.link(), &mut store).expect("connected");
    assert_eq!((returned.applied.len(), returned.refused.len()), (2, 0), "{returned:?}");
    let mut flow = field.office.flow.session();
    assert_eq!(flow.line("SELECT visit, bill FROM wed_flow"), "two pipes|R$ 10");
    assert_eq!(flow.trace(1), ["-> {visit} R", "visit -> {bill} R", "bill -> {} F"]);
}

#[harness::test]
fn task_that_follows_falls_with_the_one_before_it() {
    let (mut field, mut store, item) = away();
    done(&mut store, item, json!({ "visit": "mine" })).expect("done");
    done(&mut store, -item * 100, json!({ "bill": "mine" })).expect("done");
    field.office.act("take_over_work", "dora", item);
    let returned = reconnect(field.link(), &mut store).expect("connected");
    assert_eq!((returned.applied.len(), returned.refused.len()), (0, 2));
    assert!(store.results().expect("results").iter().all(|one| one.state == "refused"));
    assert_eq!(field.office.flow.session().line("SELECT count(*) FROM wed_trace"), "1");
}

#[harness::test]
fn reservation_ends_when_its_item_is_given_back() {
    let mut office = Office::of(TRIP);
    let wid = office.start();
    let item = office.item(wid, "Visit");
    office.act("lock_work", "beto", item);
    office.owner.run(&format!("SELECT wed.reserve_work('default', 'beto', {item}, 'Bill the customer')"));
    office.act("unlock_work", "beto", item);
    office.act("select_work", "caio", item);
    office.report("caio", item, r#"{"visit": "done"}"#, "k");
    let bill = office.item(wid, "Bill the customer");
    assert_eq!(office.state(bill), "READY|·");
}
