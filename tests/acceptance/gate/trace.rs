//! The trace: one sequence per instance, in commit order, without holes.

use std::sync::{Arc, Barrier};

use crate::support::Flow;
use crate::support::flows::{PAPER, STEPS};

#[harness::test]
fn a_writer_that_began_first_and_commits_last_comes_last() {
    let flow = Flow::of(PAPER);
    let (mut slow, mut quick) = (flow.session(), flow.session());
    let wid = slow.start();
    slow.run("BEGIN");
    assert!(slow.take(wid, "tr_a2"));
    quick.finish(wid, "tr_a3", "a3 = 'quick'");
    slow.run(&format!("UPDATE wed_flow SET a2 = 'slow' WHERE wid = {wid}; COMMIT"));
    assert_eq!(
        slow.lines("SELECT seq, trw, trf, state ->> 'a2', state ->> 'a3' FROM wed_trace ORDER BY seq"),
        ["1|·|{tr_a2,tr_a3}|·|·", "2|tr_a3|{}|·|quick", "3|tr_a2|{tr_final}|slow|quick"]
    );
}

#[harness::test]
fn concurrent_writers_of_one_instance_leave_no_hole() {
    const ROUNDS: i64 = 60;
    let flow = Flow::of(PAPER);
    let mut s = flow.session();
    s.run(&format!("INSERT INTO wed_flow (a1) SELECT 'ready' FROM generate_series(1, {ROUNDS})"));
    let barrier = Arc::new(Barrier::new(2));
    let writers: Vec<_> = [("tr_a2", "a2 = 'done'"), ("tr_a3", "a3 = 'done'")]
        .into_iter()
        .map(|(transition, clause)| {
            let (barrier, mut s) = (Arc::clone(&barrier), flow.session());
            std::thread::spawn(move || {
                for wid in 1..=ROUNDS {
                    barrier.wait();
                    s.finish(wid, transition, clause);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().expect("a writer");
    }
    assert_eq!(
        s.number(
            "SELECT count(*) FROM (SELECT wid FROM wed_trace GROUP BY wid
               HAVING array_agg(seq ORDER BY seq) = '{1,2,3}' AND array_agg(tstmp ORDER BY seq) = array_agg(tstmp \
               ORDER BY tstmp)) x"
        ),
        ROUNDS,
        "rows 1, 2, 3 in the order of time"
    );
    // Whoever came second saw what the first had done.
    assert_eq!(s.number("SELECT count(*) FROM wed_trace WHERE seq = 3 AND trf = '{tr_final}'"), ROUNDS);
    assert_eq!(s.number("SELECT count(*) FROM wed_trace WHERE seq = 2 AND trf = '{}'"), ROUNDS);
    assert_eq!(s.number("SELECT count(*) FROM job_pool WHERE trname = 'tr_final'"), ROUNDS);
}

#[harness::test]
fn a_row_holds_the_whole_state_and_who_wrote_it() {
    let mut s = Flow::of(PAPER).session();
    let wid = s.start();
    s.finish(wid, "tr_a2", "a2 = 'it''s \"done\"'");
    let role = s.line("SELECT current_user");
    assert_eq!(
        s.line(
            "SELECT state, writer, attempt, (SELECT tgid FROM wed_trig WHERE tgname = 't1') = tgid, tstmp <= \
         clock_timestamp() FROM wed_trace WHERE seq = 2"
        ),
        format!(r#"{{"a1": "ready", "a2": "it's \"done\"", "a3": null}}|{role}|1|t|t"#)
    );
}

#[harness::test]
fn failed_transactions_leave_no_hole() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    for _ in 0..5 {
        s.run("BEGIN");
        assert!(s.take(wid, "step"));
        s.run(&format!("UPDATE wed_flow SET n = n + 1 WHERE wid = {wid}; ROLLBACK"));
        s.refused(&format!("UPDATE wed_flow SET n = 1 WHERE wid = {wid}"));
    }
    s.finish(wid, "step", "n = 3");
    assert_eq!(s.lines("SELECT seq FROM wed_trace ORDER BY seq"), ["1", "2"]);
}
