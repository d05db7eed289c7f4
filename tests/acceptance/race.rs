//! Many workers at once: external sessions by the papers' protocol, and a host, on the same instances.

use std::sync::Barrier;
use std::thread;

use postgres::error::SqlState;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::recovery::checker::violations;
use crate::support::database::{one_lane, sample_component};
use crate::support::flows::PAPER;
use crate::support::{Database, Flow, GENEROUS, Session, eventually, on, repository};

/// A seed that is printed when the test fails; `WEDFLOW_TEST_SEED` sets it.
struct Seed(u64);

impl Seed {
    fn new() -> Self {
        let given = std::env::var("WEDFLOW_TEST_SEED").ok();
        Seed(given.map_or_else(rand::random, |seed| seed.parse().expect("a number")))
    }

    fn rng(&self, stream: u64) -> StdRng {
        StdRng::seed_from_u64(self.0.wrapping_add(stream))
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the seed was {}: set WEDFLOW_TEST_SEED to it", self.0);
        }
    }
}

/// Asserts that a flow's database keeps the rules for history, states and jobs, whoever wrote them.
pub(super) fn assert_sound(flow: &Flow) {
    let found = violations(&mut flow.database.owner());
    assert!(found.is_empty(), "{}: {found:#?}", flow.name);
}

/// Work of one worker.
#[derive(Debug, Default)]
struct Work {
    committed: usize,
    /// Refused for now.
    conflicts: usize,
}

/// An external worker by the papers' protocol, until nothing is regular any more. It looks for jobs in
/// an order of its own, and gives up some of those it has locked.
fn work(flow: &Flow, mut rng: StdRng, clause: impl Fn(&str, &mut StdRng) -> Option<String>) -> Work {
    let mut session = flow.session();
    let mut did = Work::default();
    let until = std::time::Instant::now() + GENEROUS;
    while session.number("SELECT count(*) FROM wed_instance WHERE status = 'R'") > 0 {
        assert!(std::time::Instant::now() < until, "the instances do not end");
        let jobs = session
            .query("SELECT wid, tgid, trname FROM job_pool WHERE lckid IS NULL ORDER BY wid, tgid LIMIT 40", &[])
            .expect("the pool");
        if jobs.is_empty() {
            thread::sleep(std::time::Duration::from_millis(5));
            continue;
        }
        for _ in 0..8 {
            let job = &jobs[rng.random_range(0..jobs.len())];
            let (wid, tgid, transition): (i32, i32, &str) = (job.get(0), job.get(1), job.get(2));
            match finish(&mut session, wid, tgid, clause(transition, &mut rng).as_deref(), &mut rng) {
                Ok(true) => did.committed += 1,
                Ok(false) => {}
                Err(error) if conflict(&error) => did.conflicts += 1,
                Err(error) => panic!("{transition} of {wid}: {error:?}"),
            }
        }
    }
    did
}

/// Returns true if the protocol tells the worker to try again later.
fn conflict(error: &postgres::Error) -> bool {
    let code = error.code().map(SqlState::code);
    // The last one: final, while others are pending.
    ["40P01", "40001", "WF007"].map(Some).contains(&code)
}

/// Runs one transaction of the protocol. False: another worker has the job, or the worker gave up.
fn finish(
    session: &mut Session,
    wid: i32,
    tgid: i32,
    clause: Option<&str>,
    rng: &mut StdRng,
) -> Result<bool, postgres::Error> {
    let mut transaction = session.transaction()?;
    let locked: bool = transaction.query_one("SELECT pg_try_advisory_xact_lock($1, $2)", &[&wid, &tgid])?.get(0);
    let Some(clause) = clause.filter(|_| locked) else {
        // What the attempt for the lock found to be stale is skipped by it.
        transaction.commit()?;
        return Ok(false);
    };
    let there = transaction.query_opt("SELECT payload FROM job_pool WHERE wid = $1 AND tgid = $2", &[&wid, &tgid])?;
    assert!(there.is_some(), "the lock of {wid}, {tgid} was granted, and the job is gone");
    if rng.random_ratio(1, 10) {
        transaction.rollback()?;
        return Ok(false);
    }
    transaction.execute(&format!("UPDATE wed_flow SET {clause} WHERE wid = $1"), &[&wid])?;
    if rng.random_ratio(1, 20) {
        transaction.rollback()?;
        return Ok(false);
    }
    transaction.commit()?;
    Ok(true)
}

/// Several workers side by side; together what they did.
fn workers(flow: &Flow, seed: &Seed, count: u64, clause: impl Fn(&str, &mut StdRng) -> Option<String> + Sync) -> Work {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count)
            .map(|number| {
                let (rng, clause) = (seed.rng(number), &clause);
                scope.spawn(move || work(flow, rng, clause))
            })
            .collect();
        workers.into_iter().fold(Work::default(), |sum, worker| {
            let did = worker.join().expect("a worker");
            Work { committed: sum.committed + did.committed, conflicts: sum.conflicts + did.conflicts }
        })
    })
}

#[harness::test]
fn workers_and_a_host_on_counters() {
    const INSTANCES: i64 = 60;
    let seed = Seed::new();
    let database = Database::new();
    database.upload("counters", sample_component("counters"));
    let flow = database.apply(&repository("sample-transitions/counters/flow.toml"));
    let host = database.host(one_lane("race"));
    let mut session = flow.session();
    for _ in 0..INSTANCES {
        session.start();
    }
    let did = workers(&flow, &seed, 4, |transition, _| {
        let counter = transition.strip_prefix("tr_").expect("tr_ and the counter");
        Some(format!("{counter} = ({counter}::integer + 1)::text"))
    });
    on(host.stop());
    assert_sound(&flow);
    assert_eq!(
        session.line("SELECT count(*), count(*) FILTER (WHERE status = 'F') FROM wed_instance"),
        format!("{INSTANCES}|{INSTANCES}")
    );
    // Each counter by one a time and never beyond: none ran twice, none was lost.
    assert_eq!(
        session.lines(
            "SELECT DISTINCT trw, count(*) FROM wed_trace WHERE trw IS NOT NULL GROUP BY wid, trw ORDER \
         BY 1"
        ),
        ["tr_a1|3", "tr_a2|4", "tr_a3|5"]
    );
    assert_eq!(session.lines("SELECT DISTINCT a1, a2, a3 FROM wed_flow"), ["3|4|5"]);
    let by_workers =
        session.number("SELECT count(*) FROM wed_trace WHERE trw IS NOT NULL AND writer NOT LIKE 'host:%'");
    assert_eq!(usize::try_from(by_workers).expect("a count"), did.committed, "{did:?}");
}

#[harness::test]
fn workers_and_a_host_share_the_papers_flow() {
    const INSTANCES: i64 = 150;
    let seed = Seed::new();
    let database = Database::new();
    let flow = database.flow("paper");
    let mut session = flow.session();
    session.run(PAPER);
    database.upload("paper", sample_component("paper"));
    // One of the two side by side is the host's or anybody's, the other the workers' alone.
    flow.bind("tr_a2", "paper");
    flow.bind("tr_final", "paper");
    let host = database.host(one_lane("race"));
    for _ in 0..INSTANCES / 10 {
        session.run("INSERT INTO wed_flow (a1) SELECT 'ready' FROM generate_series(1, 10)");
    }
    workers(&flow, &seed, 3, |transition, _| {
        Some(match transition {
            "tr_a2" => "a2 = 'done'".to_owned(),
            "tr_a3" => "a3 = 'done'".to_owned(),
            _ => "a1 = 'done'".to_owned(),
        })
    });
    on(host.stop());
    assert_sound(&flow);
    assert_eq!(
        session.lines("SELECT trw, count(*), count(DISTINCT wid) FROM wed_trace GROUP BY trw ORDER BY trw NULLS FIRST"),
        [
            format!("·|{INSTANCES}|{INSTANCES}"),
            format!("tr_a2|{INSTANCES}|{INSTANCES}"),
            format!("tr_a3|{INSTANCES}|{INSTANCES}"),
            format!("tr_final|{INSTANCES}|{INSTANCES}"),
        ]
    );
    let joins = session.lines(
        "SELECT wid, count(*) FROM wed_trace WHERE 'tr_final' = ANY (trf) GROUP BY wid HAVING \
     count(*) <> 1",
    );
    assert!(joins.is_empty(), "joins fired twice: {joins:?}");
}

#[harness::test]
fn workers_alone_on_a_random_walk() {
    let seed = Seed::new();
    // `walk` fires itself; `look` fires whenever the walk is at an even place and may be stale by the
    // time that somebody comes to it.
    let flow = Flow::of(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('place', 'integer', '3'), ('seen', 'integer', '0');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('w', 'walk', 'place > 0 and place < 6'),
           ('l', 'look', 'place % 2 = 0 and seen < 5 and place > 0 and place < 6');
         INSERT INTO wed_trig (cpred, cfinal) VALUES ('place = -1 or place = 7', true);
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('e', 'leave', 'place = 0 or place = 6');",
    );
    let mut session = flow.session();
    for _ in 0..30 {
        session.start();
    }
    workers(&flow, &seed, 5, |transition, rng| {
        Some(match transition {
            "walk" if rng.random() => "place = place + 1".to_owned(),
            "walk" => "place = place - 1".to_owned(),
            "look" => "seen = seen + 1".to_owned(),
            // Refused as long as a `look` is pending, which whoever tries to lock it finds to be stale.
            _ => "place = CASE place WHEN 0 THEN -1 ELSE 7 END".to_owned(),
        })
    });
    assert_sound(&flow);
    assert_eq!(session.lines("SELECT DISTINCT status FROM wed_instance"), ["F"]);
}

#[harness::test]
fn two_finishing_at_the_same_instant_fire_the_join_once() {
    const REPETITIONS: usize = 200;
    let flow = Flow::of(PAPER);
    let mut session = flow.session();
    let wids: Vec<i64> = (0..REPETITIONS).map(|_| session.start()).collect();
    let barrier = Barrier::new(2);
    let side = |transition: &str, clause: &str| {
        let mut session = flow.session();
        let mut errors = Vec::new();
        for wid in &wids {
            let begun = session.batch_execute(&format!(
                "BEGIN; SELECT pg_try_advisory_xact_lock(wid, tgid) FROM job_pool WHERE wid = {wid} AND trname = \
                 '{transition}'"
            ));
            // Whatever comes, the other side waits here.
            barrier.wait();
            let ended = begun.and_then(|()| {
                session.batch_execute(&format!("UPDATE wed_flow SET {clause} WHERE wid = {wid}"))?;
                session.batch_execute("COMMIT")
            });
            if let Err(error) = ended {
                errors.push(format!("{transition} of {wid}: {error:?}"));
                let _ = session.batch_execute("ROLLBACK");
            }
        }
        errors
    };
    let errors = thread::scope(|scope| {
        let other = scope.spawn(|| side("tr_a2", "a2 = 'done'"));
        let mut errors = side("tr_a3", "a3 = 'done'");
        errors.extend(other.join().expect("the other side"));
        errors
    });
    assert!(errors.is_empty(), "{errors:?}");
    assert_sound(&flow);
    let ends = session.lines(
        "SELECT DISTINCT i.status, (SELECT array_agg(trname) FROM job_pool j WHERE j.wid = i.wid), \
           (SELECT count(*) FROM wed_trace t WHERE t.wid = i.wid), \
           (SELECT array_agg(t.trf) FROM wed_trace t WHERE t.wid = i.wid AND t.seq = 3) \
         FROM wed_instance i",
    );
    assert_eq!(ends, ["R|{tr_final}|3|{{tr_final}}"]);
}

#[harness::test]
fn of_many_that_lock_one_job_one_wins() {
    const REPETITIONS: usize = 60;
    const SESSIONS: usize = 4;
    let flow = Flow::of(PAPER);
    let mut session = flow.session();
    let tgid = session.number("SELECT tgid FROM wed_trig WHERE trname = 'tr_a2'");
    let wids: Vec<i64> = (0..REPETITIONS).map(|_| session.start()).collect();
    let barrier = Barrier::new(SESSIONS);
    let contend = || {
        let mut session = flow.session();
        let mut won = Vec::new();
        for wid in &wids {
            let _ = session.batch_execute("BEGIN");
            barrier.wait();
            let got = session
                .query_one(&format!("SELECT pg_try_advisory_xact_lock({wid}, {tgid})"), &[])
                .map(|row| row.get::<_, bool>(0));
            // All have asked before the winner lets go.
            barrier.wait();
            let end = match &got {
                Ok(true) => {
                    session.batch_execute(&format!("UPDATE wed_flow SET a2 = 'done' WHERE wid = {wid}; COMMIT"))
                }
                _ => session.batch_execute("COMMIT"),
            };
            won.push(got.and_then(|got| end.map(|()| got)).map_err(|error| format!("{error:?}")));
        }
        won
    };
    let outcomes: Vec<Vec<Result<bool, String>>> = thread::scope(|scope| {
        let sessions: Vec<_> = (0..SESSIONS).map(|_| scope.spawn(contend)).collect();
        sessions.into_iter().map(|session| session.join().expect("a session")).collect()
    });
    for at in 0..REPETITIONS {
        let asked: Vec<_> = outcomes.iter().map(|won| &won[at]).collect();
        let winners = asked.iter().filter(|got| ***got == Ok(true)).count();
        assert!(winners == 1 && asked.iter().all(|got| got.is_ok()), "{asked:?}");
    }
    assert_sound(&flow);
    assert_eq!(
        session.number("SELECT count(*) FROM wed_trace WHERE trw = 'tr_a2'"),
        i64::try_from(REPETITIONS).expect("a count")
    );
}

#[harness::test]
fn a_loser_cannot_run_the_job_when_it_is_done() {
    let flow = Flow::of(PAPER);
    let (mut winner, mut loser) = (flow.session(), flow.session());
    let wid = winner.start();
    let tgid = winner.number("SELECT tgid FROM wed_trig WHERE trname = 'tr_a2'");
    // Both have read the pool, so both know the job.
    let ask = format!("SELECT pg_try_advisory_xact_lock({wid}, {tgid})");
    winner.run("BEGIN");
    loser.run("BEGIN");
    assert_eq!(winner.line(&ask), "t");
    assert_eq!(loser.line(&ask), "f");
    winner.run(&format!("UPDATE wed_flow SET a2 = 'winner' WHERE wid = {wid}"));
    winner.run("COMMIT");
    // The lock is free again, and the job is done: in the same transaction and in the next.
    assert_eq!(loser.line(&ask), "f");
    loser.refused(&format!("UPDATE wed_flow SET a2 = 'loser' WHERE wid = {wid}")).expect("WF003");
    loser.run("BEGIN");
    assert_eq!(loser.line(&ask), "f");
    loser.run("ROLLBACK");
    assert_eq!(loser.line(&format!("SELECT a2 FROM wed_flow WHERE wid = {wid}")), "winner");
    assert_eq!(loser.pending(wid), ["tr_a3"]);
    assert_sound(&flow);
}

#[harness::test]
fn a_worker_that_dies_leaves_its_job_to_the_next() {
    let flow = Flow::of(PAPER);
    let mut session = flow.session();
    let wid = session.start();
    {
        let mut dying = flow.session();
        dying.run("BEGIN");
        assert!(dying.take(wid, "tr_a2"));
        dying.run(&format!("UPDATE wed_flow SET a2 = 'half' WHERE wid = {wid}"));
    }
    // The server notices in its own time that the client is gone.
    eventually("the lock of the one that died", || {
        session.run("BEGIN");
        if session.take(wid, "tr_a2") {
            return Some(());
        }
        session.run("ROLLBACK");
        None
    });
    session.run(&format!("UPDATE wed_flow SET a2 = 'whole' WHERE wid = {wid}; COMMIT"));
    assert_eq!(session.trace(wid), ["-> {tr_a2,tr_a3} R", "tr_a2 -> {} R"]);
    assert_eq!(session.line("SELECT a2 FROM wed_flow"), "whole");
}
