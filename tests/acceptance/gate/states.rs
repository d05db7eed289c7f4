//! States of jobs by name, as `docs/explanation/states.md` lists them.

use crate::support::Flow;

/// A trigger for each state that a new job may have.
const FLOW: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
INSERT INTO wed_trig (tgname, trname, cpred, delay, reserves) VALUES
  ('ready', 'a', 'n = 0', '0', NULL), ('delayed', 'b', 'n = 0', '1 day', NULL), ('blocked', 'c', 'n = 0', '0', '''K''');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('n = 1', true);";

#[harness::test]
fn each_state_of_a_job_has_its_name() {
    let flow = Flow::of(FLOW);
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    s.start();
    s.start();
    let mut states = |wid: i64| {
        owner.lines(&format!(
            "SELECT t.tgname || ' ' || wed.state_of(j) FROM wed.job j JOIN wed.trigger t USING (tgid) WHERE j.wid = {wid} \
             ORDER BY t.tgid"
        ))
    };
    assert_eq!(states(1), ["ready ready", "delayed delayed", "blocked ready"]);
    assert_eq!(states(2), ["ready ready", "delayed delayed", "blocked blocked"]);
    s.line("SELECT wed_pause(1, 'x')");
    assert_eq!(states(1), ["ready paused", "delayed paused", "blocked paused"]);
    let mut owner = flow.database.owner();
    owner.run("UPDATE wed.job SET awaits_siblings = true, due = 'infinity' WHERE wid = 2 AND trname = 'a'");
    owner.run("UPDATE wed.job SET host_id = 1 WHERE wid = 2 AND trname = 'b'");
    assert_eq!(
        owner.lines("SELECT wed.state_of(j) FROM wed.job j WHERE wid = 2 ORDER BY tgid"),
        ["awaiting_siblings", "leased", "blocked"]
    );
    let counts = owner.line("SELECT wed.queue() - 'ready_age_s'");
    assert!(counts.contains("\"paused\": 3") && counts.contains("\"in_flight\": 1"), "{counts}");
}
