//! The right to run a job and commit it, when hosts come and go.

use std::borrow::Cow;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use wedflow_model::{HostId, Measure};
use wedflow_store::{Claimed, CommitGroup, CommitItem, FailedAttempt, Store};
use wedflow_worker::HostSettings;

use super::{flow_of_one, guests};
use crate::race::assert_sound;
use crate::support::database::{one_lane, sample_component};
use crate::support::flows::PAPER;
use crate::support::{Database, Flow, eventually, on, program, repository, sweep};

/// A commit of one finished transition that assigns attributes, literals or by a clause.
pub(crate) fn group(
    store: &Store,
    claimed: &Claimed,
    assigned: &[&str],
    set: Option<&str>,
    literals: &[&str],
) -> CommitGroup<'static> {
    CommitGroup {
        flow: claimed.job.key.flow,
        version: claimed.flow_version,
        gate: on(store.flow_shape(claimed.job.key.flow)).expect("a flow").gate.into(),
        assigned: assigned.iter().map(|name| Arc::from(*name)).collect(),
        set: set.map(|set| set.to_owned().into()),
        items: vec![Cow::Owned(CommitItem {
            wid: claimed.job.key.wid,
            tgid: claimed.job.key.tgid,
            token: claimed.job.token,
            literals: literals.iter().map(|text| Some((*text).to_owned())).collect(),
            measure: Measure::default(),
        })],
    }
}

#[harness::test]
fn two_hosts_share_the_work() {
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
    let few = |name| HostSettings { in_flight: 16, ..one_lane(name) };
    let (one, other) = (database.host(few("one")), database.host(few("other")));
    assert_ne!(one.id(), other.id());
    let mut session = flow.session();
    eventually("work for both", || {
        session.run("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, 20)");
        (one.committed() > 0 && other.committed() > 0).then_some(())
    });
    eventually("the end of all", || {
        (session.number("SELECT count(*) FROM wed_instance WHERE status <> 'F'") == 0).then_some(())
    });
    let numbers = [one.id(), other.id()].map(|number| format!("host:{number}"));
    on(one.stop());
    on(other.stop());
    assert_sound(&flow);
    assert_eq!(
        session.lines(
            "SELECT DISTINCT trw, count(*) FROM wed_trace WHERE trw IS NOT NULL GROUP BY wid, trw ORDER \
         BY 1"
        ),
        ["tr_a1|3", "tr_a2|4", "tr_a3|5"]
    );
    assert_eq!(session.lines("SELECT DISTINCT writer FROM wed_trace WHERE trw IS NOT NULL ORDER BY writer"), numbers);
    assert!(session.lines("SELECT * FROM wed_attempt").is_empty());
}

/// A child that does not outlive the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // On Unix that is SIGKILL.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[harness::test]
fn jobs_of_a_killed_host_are_done_by_another() {
    let database = Database::new();
    // Sleeps as many seconds as its instance's number.
    let flow = flow_of_one(&database, "sleep-wid", "");
    let mut session = flow.session();
    let mut serve: Command = program::wed(&database.url());
    serve
        .args(["serve", "--lanes", "1", "--name", "victim"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = Killed(serve.spawn().expect("wed serve"));
    let mut owner = database.owner();
    let victim = eventually("wed serve at work", || {
        owner.lines("SELECT 'host:' || host_id FROM wed.host WHERE name = 'victim'").pop()
    });
    session.run("INSERT INTO wed_flow (wid) SELECT generate_series(1, 6)");
    let in_flight = format!("SELECT count(*) FROM job_pool WHERE lckid = '{victim}'");
    eventually("all of the rest in its hands", || {
        let pending = session.number("SELECT count(*) FROM job_pool");
        assert!(pending > 0, "it was too fast to be killed in the middle");
        (session.number(&in_flight) == pending).then_some(())
    });
    drop(child);
    let lost = eventually("nothing of it on its way any more", || {
        let sessions = owner.number(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'wed%' AND \
            state <> 'idle' AND query LIKE '%commit_results%'",
        );
        (sessions == 0).then(|| session.number(&in_flight))
    });
    assert!(lost > 0, "it was too fast to be killed in the middle");

    let rescuer = database.host(one_lane("rescuer"));
    eventually("the end of all", || {
        (session.number("SELECT count(*) FROM wed_instance WHERE status <> 'F'") == 0).then_some(())
    });
    let by = format!("host:{}", rescuer.id());
    on(rescuer.stop());
    assert_sound(&flow);
    assert_eq!(session.number("SELECT count(*) FROM wed_attempt WHERE outcome = 'abandoned' AND attempt = 1"), lost);
    assert_eq!(session.number("SELECT count(*) FROM wed_attempt"), lost);
    assert_eq!(
        session.number(&format!(
            "SELECT count(*) FROM wed_trace WHERE trw = 'sleep-wid' AND writer = '{by}' AND \
         attempt = 2"
        )),
        lost
    );
    assert_eq!(session.number("SELECT count(*) FROM wed_trace WHERE trw = 'sleep-wid'"), 6);
    assert_eq!(owner.number("SELECT count(*) FROM wed.host"), 0);
}

/// The paper's flow with `tr_a2` claimed by a host that was then given up, and again by another.
struct Handover {
    flow: Flow,
    wid: i64,
    stale: (HostId, Claimed),
    holder: (HostId, Claimed),
}

fn handover() -> Handover {
    let database = Database::new();
    let flow = database.flow("paper");
    flow.session().run(PAPER);
    database.upload("paper", sample_component("paper"));
    flow.bind("tr_a2", "paper");
    let wid = flow.session().start();
    let store = &database.store;
    let claim = |host| {
        let mut claimed = on(store.claim(host, 10)).expect("claimed");
        assert_eq!(claimed.len(), 1, "{claimed:?}");
        claimed.remove(0)
    };
    let stale = on(store.register_host("stale", Duration::from_millis(1))).expect("entered");
    let before = claim(stale);
    assert_eq!((before.job.attempt, before.job.transition.as_str()), (1, "tr_a2"));
    eventually("the end of the lease", || (sweep(store)[0] == 1).then_some(()));
    let mut session = flow.session();
    assert_eq!(
        session.lines("SELECT trname, attempt, outcome, writer FROM wed_attempt"),
        ["tr_a2|1|abandoned|wedflow"]
    );
    assert!(!on(store.renew_lease(stale, Duration::from_secs(60))).expect("an answer"));
    let refused = on(store.claim(stale, 1)).expect_err("its leases are lost");
    assert_eq!(refused.code(), Some("WF016"), "{refused}");
    let holder = on(store.register_host("holder", Duration::from_secs(600))).expect("entered");
    let after = claim(holder);
    assert_eq!((after.job.attempt, after.job.key), (2, before.job.key));
    assert!(after.job.token > before.job.token, "{after:?} after {before:?}");
    Handover { flow, wid, stale: (stale, before), holder: (holder, after) }
}

#[harness::test]
fn a_stale_hosts_commit_is_refused() {
    let Handover { flow, wid, stale, holder } = handover();
    let store = &flow.database.store;
    let mut session = flow.session();
    let late = group(store, &stale.1, &["a2"], None, &["late"]);
    // In its own name, and with the number of the one that has the job now.
    for host in [stale.0, holder.0] {
        let refused = on(store.commit_batch(host, std::slice::from_ref(&late), false, true)).expect_err("a lost claim");
        assert!(refused.code() == Some("WF016") || refused.is_transient(), "{refused}");
        assert_eq!(on(store.still_held(host, &[stale.1.job.token])).expect("an answer"), []);
    }
    assert_eq!(session.line("SELECT a1, a2, a3 FROM wed_flow"), "ready|·|·");
    assert_eq!(session.trace(wid), ["-> {tr_a2,tr_a3} R"]);
    assert_eq!(session.pending(wid), ["tr_a2", "tr_a3"]);
    // The present one is not disturbed.
    on(store.commit_batch(holder.0, &[group(store, &holder.1, &["a2"], None, &["done"])], false, true))
        .expect("committed");
    assert_eq!(session.line("SELECT a1, a2, a3 FROM wed_flow"), "ready|done|·");
    assert_eq!(
        session.line("SELECT trw, attempt, writer FROM wed_trace WHERE seq = 2"),
        format!("tr_a2|2|host:{}", holder.0)
    );
    // What was committed is not committed again, by anybody.
    let again = on(store.commit_batch(holder.0, &[group(store, &holder.1, &["a2"], None, &["twice"])], false, true))
        .expect_err("a claim that is used up");
    assert!(again.is_transient(), "{again}");
    assert_eq!(session.number("SELECT count(*) FROM wed_trace"), 2);
    assert_sound(&flow);
}

#[harness::test]
fn a_stale_hosts_failure_changes_nothing() {
    let Handover { flow, wid, stale, holder } = handover();
    let store = &flow.database.store;
    let mut session = flow.session();
    let failed = FailedAttempt {
        flow: flow.id,
        wid: stale.1.job.key.wid,
        token: stale.1.job.token,
        outcome: "failed".to_owned(),
        message: "late".to_owned(),
        after: None,
        retry: false,
        fuel: 1,
        elapsed_us: 1,
        memory_bytes: 1,
    };
    on(store.fail_attempts(stale.0, &[failed])).expect("an answer");
    on(store.release(stale.0, &[stale.1.job.token])).expect("an answer");
    on(store.leave_host(stale.0)).expect("an answer");
    assert_eq!(session.status(wid), "R");
    assert_eq!(session.number("SELECT count(*) FROM wed_attempt"), 1);
    assert_eq!(
        session.line("SELECT lckid, attempt FROM job_pool WHERE trname = 'tr_a2'"),
        format!("host:{}|2", holder.0)
    );
}

#[harness::test]
fn stopping_gives_jobs_back() {
    let database = Database::new();
    let flow = flow_of_one(&database, "sleep-forever", ", timeout='1 day'");
    let mut session = flow.session();
    let host = database.host(HostSettings { grace: Duration::ZERO, ..one_lane("brief") });
    session.run("INSERT INTO wed_flow (a1) SELECT 'new' FROM generate_series(1, 5)");
    let held = format!("SELECT count(*) FROM job_pool WHERE lckid = 'host:{}' AND attempt = 1", host.id());
    eventually("all in its hands", || (session.number(&held) == 5).then_some(()));
    on(host.stop());
    assert_eq!(session.lines("SELECT DISTINCT lckid, attempt FROM job_pool"), ["·|0"]);
    assert_eq!(session.number("SELECT count(*) FROM job_pool"), 5);
    assert!(session.lines("SELECT * FROM wed_attempt").is_empty());
    assert_eq!(database.owner().number("SELECT count(*) FROM wed.host"), 0);
}

#[harness::test]
fn a_new_version_takes_pending_jobs() {
    let database = Database::new();
    // Version 1 sets what it does not declare; version 2 does as it should.
    database.upload("work", guests::ordinary());
    let flow = flow_of_one(&database, "clause", "");
    flow.bind("clause", "work");
    let mut session = flow.session();
    let mut owner = database.owner();
    let wid = session.start();
    let version = "SELECT DISTINCT c.version FROM wed.job JOIN wed.component c USING (component_id)";
    assert_eq!(owner.line(version), "1");
    database.upload("work", guests::hostile());
    assert_eq!(owner.line(version), "2");
    let host = database.host(one_lane("newer"));
    assert_eq!(flow.end_of(wid), "F");
    on(host.stop());
    assert_eq!(session.line("SELECT a1, n FROM wed_flow"), "done|1");
}

#[harness::test]
fn a_later_binding_takes_pending_jobs() {
    let database = Database::new();
    let flow = flow_of_one(&database, "clause", "");
    on(database.store.bind(flow.id, "clause", None)).expect("left to external workers");
    let mut session = flow.session();
    let host = database.host(one_lane("patient"));
    let wid = session.start();
    // Another flow's job, fired later, is done while this one waits.
    let bound = super::flow_of_one(&database, "nap", "");
    let other = bound.session().start();
    assert_eq!(bound.end_of(other), "F");
    assert_eq!(session.line("SELECT trname, lckid, attempt FROM job_pool"), "clause|·|0");
    flow.bind("clause", "hostile");
    assert_eq!(flow.end_of(wid), "F");
    assert_eq!(session.line("SELECT writer FROM wed_trace WHERE trw = 'clause'"), format!("host:{}", host.id()));
    on(host.stop());
}
