//! Constraints where people do the jobs.

use crate::support::{Database, Session};

const DESK: &str = r#"
name = "desk"
final = "done"
[[attribute]]
name = "done"
type = "boolean"
default = "false"
[[trigger]]
name = "serve"
when = "NOT done"
transition = "serve"
reserves = "'desk'"
[trigger.work]
role = "Clerk"
outputs = ["done"]
"#;

fn items(owner: &mut Session) -> Vec<String> {
    owner.lines("SELECT item_id FROM wed.work_item WHERE ended_at IS NULL ORDER BY item_id")
}

#[harness::test]
fn work_item_is_offered_when_its_reservation_is_granted() {
    let database = Database::new();
    let flow = database.define(&toml::from_str(DESK).expect("a definition"));
    let (mut s, mut owner) = (flow.session(), database.owner());
    owner.run("SELECT wed.create_person('default', 'ann', '{Clerk}'), wed.connect_person('default', 'ann')");
    s.start();
    s.start();
    for wid in 1..=2 {
        let open = items(&mut owner);
        assert_eq!(open.len(), 1, "only who has the desk can be served");
        owner.run(&format!(
            "SELECT wed.select_work('default', 'ann', {0}); \
             SELECT wed.report_work('default', 'ann', {0}, true, '{{\"done\": true}}', 'key-{0}')",
            open[0]
        ));
        assert_eq!(s.status(wid), "F");
    }
    assert!(items(&mut owner).is_empty());
    assert_eq!(s.lines("SELECT key FROM wed_reservation"), [""; 0]);
    super::fine(&flow);
}
