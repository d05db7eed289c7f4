//! Every way to write passes the same gate.

use std::io::Write;

use crate::recovery::checker::violations;
use crate::support::database::sample_component;
use crate::support::flows::{PAPER, STEPS};
use crate::support::session::Refusal;
use crate::support::{Database, Flow, Session, eventually};

/// Many steps whose attribute `note` any session may set.
const OPEN: &str = "
INSERT INTO wed_attr (aname, atype, adv, open) VALUES ('n', 'integer', '0', false), ('note', 'text', NULL, true);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', 'n < 3');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('n >= 3', true);";

/// Asserts that a session's database keeps the rules for history, states and jobs.
fn consistent(s: &Session) {
    let found = violations(&mut s.owner());
    assert!(found.is_empty(), "{found:#?}");
}

#[harness::test]
fn rows_of_one_insert_are_instances_of_their_own() {
    let mut s = Flow::of(STEPS).session();
    s.run("INSERT INTO wed_flow (n) VALUES (0), (1), (DEFAULT), (7)");
    assert_eq!(
        s.lines("SELECT wid, seq, trf, status, state ->> 'n' FROM wed_trace ORDER BY wid"),
        ["1|1|{step}|R|0", "2|1|{step}|R|1", "3|1|{step}|R|0", "4|1|{}|F|7"]
    );
    consistent(&s);
}

#[harness::test]
fn insert_from_select() {
    let mut s = Flow::of(STEPS).session();
    s.run("INSERT INTO wed_flow (n) SELECT g % 3 FROM generate_series(1, 90) g");
    s.run("INSERT INTO wed_flow (n) SELECT n + 1 FROM wed_flow");
    assert_eq!(s.lines("SELECT status, count(*) FROM wed_instance GROUP BY 1 ORDER BY 1"), ["F|30", "R|150"]);
    consistent(&s);
}

#[harness::test]
fn insert_with_returning_and_a_wid_by_hand() {
    let mut s = Flow::of(STEPS).session();
    assert_eq!(s.lines("INSERT INTO wed_flow (wid, n) VALUES (40, 0), (30, 1) RETURNING wid, n"), ["40|0", "30|1"]);
    assert_eq!(s.start(), 41, "a number given by hand is not given again");
    s.refused("INSERT INTO wed_flow (wid) VALUES (30)").expect("23505");
    s.refused("INSERT INTO wed_flow (wid) VALUES (0)").expect("23514");
    s.refused("INSERT INTO wed_flow (wid) VALUES (-1)").expect("23514");
    consistent(&s);
}

#[harness::test]
fn copy_starts_instances() {
    let mut s = Flow::of(STEPS).session();
    let mut copy = s.copy_in("COPY wed_flow (n) FROM STDIN").expect("COPY");
    for n in 0..1000 {
        writeln!(copy, "{}", n % 4).expect("a row");
    }
    assert_eq!(copy.finish().expect("COPY"), 1000);
    assert_eq!(s.lines("SELECT status, count(*) FROM wed_trace GROUP BY 1 ORDER BY 1"), ["F|250", "R|750"]);
    consistent(&s);
}

#[harness::test]
fn copy_with_one_bad_row_starts_none() {
    let mut s = Flow::of(STEPS).session();
    let mut copy = s.copy_in("COPY wed_flow (n) FROM STDIN").expect("COPY");
    copy.write_all(b"0\n1\n\\N\n2\n").expect("rows");
    let error = copy.finish().expect_err("the third row satisfies nothing");
    Refusal::of(&error).expect("WF001");
    assert_eq!(s.number("SELECT count(*) FROM wed_flow"), 0);
}

#[harness::test]
fn merge_starts_and_finishes() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    let merge = format!(
        "MERGE INTO wed_flow f USING (VALUES ({wid}, 1), (50, 2), (51, 3)) v(id, m) ON f.wid = v.id
         WHEN MATCHED THEN UPDATE SET n = v.m
         WHEN NOT MATCHED THEN INSERT (wid, n) VALUES (v.id, v.m)"
    );
    s.refused(&merge).expect("WF003");
    assert_eq!(s.number("SELECT count(*) FROM wed_flow"), 1, "neither of the two parts was done");
    s.run("BEGIN");
    assert!(s.take(wid, "step"));
    s.run(&merge);
    s.run("COMMIT");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {step} R"]);
    assert_eq!(s.trace(50), ["-> {step} R"]);
    assert_eq!(s.trace(51), ["-> {} F"]);
    s.refused("MERGE INTO wed_flow f USING (VALUES (50)) v(id) ON f.wid = v.id WHEN MATCHED THEN DELETE")
        .expect("WF009");
    consistent(&s);
}

#[harness::test]
fn upsert_starts_and_finishes() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.run("BEGIN");
    assert!(s.take(wid, "step"));
    s.run(&format!(
        "INSERT INTO wed_flow (wid, n) VALUES ({wid}, 2), (60, 1) ON CONFLICT (wid) DO UPDATE SET n = excluded.n; \
         COMMIT"
    ));
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {step} R"]);
    assert_eq!(s.trace(60), ["-> {step} R"]);
    s.run(&format!("INSERT INTO wed_flow (wid, n) VALUES ({wid}, 2), (61, 1) ON CONFLICT (wid) DO NOTHING"));
    assert_eq!(s.trace(wid).len(), 2);
    assert_eq!(s.trace(61), ["-> {step} R"]);
    consistent(&s);
}

#[harness::test]
fn upsert_without_a_lock_is_refused() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.refused(&format!(
        "INSERT INTO wed_flow (wid, n) VALUES ({wid}, 2), (60, 1) ON CONFLICT (wid) DO UPDATE SET n = excluded.n"
    ))
    .expect("WF003");
    s.refused(&format!("INSERT INTO wed_flow (wid, n) VALUES ({wid}, 2) ON CONFLICT (wid) DO UPDATE SET wid = 99"))
        .expect("WF008");
    assert_eq!(s.lines("SELECT wid, n FROM wed_flow"), [format!("{wid}|0")]);
}

#[harness::test]
fn data_modifying_ctes() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.run("BEGIN");
    assert!(s.take(wid, "step"));
    assert_eq!(
        s.lines(&format!(
            "WITH done AS (UPDATE wed_flow SET n = n + 1 WHERE wid = {wid} RETURNING n),
                  more AS (INSERT INTO wed_flow (n) SELECT n FROM done RETURNING wid)
             SELECT done.n, more.wid FROM done, more"
        )),
        ["1|2"]
    );
    s.run("COMMIT");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {step} R"]);
    assert_eq!(s.trace(2), ["-> {step} R"]);
    s.refused("WITH u AS (UPDATE wed_flow SET n = 3 RETURNING wid) SELECT * FROM u").expect("WF003");
    s.refused("WITH d AS (DELETE FROM wed_flow RETURNING wid) SELECT * FROM d").expect("WF009");
    consistent(&s);
}

#[harness::test]
fn lock_and_update_in_one_statement() {
    let mut s = Flow::of(STEPS).session();
    s.run("INSERT INTO wed_flow (n) SELECT 0 FROM generate_series(1, 20)");
    let done = s.lines(
        "WITH job AS MATERIALIZED (SELECT wid FROM job_pool WHERE trname = 'step' AND wid <= 10
                                   AND pg_try_advisory_xact_lock(wid, tgid))
         UPDATE wed_flow f SET n = n + 1 FROM job WHERE f.wid = job.wid RETURNING f.wid",
    );
    assert_eq!(done.len(), 10);
    assert_eq!(s.number("SELECT count(*) FROM wed_trace WHERE trw = 'step'"), 10);
    consistent(&s);
}

#[harness::test]
fn one_statement_may_update_different_instances_twice() {
    let mut s = Flow::of(STEPS).session();
    let (a, b) = (s.start(), s.start());
    s.run("BEGIN");
    assert!(s.take(a, "step") && s.take(b, "step"));
    s.run(&format!(
        "WITH first AS (UPDATE wed_flow SET n = 1 WHERE wid = {a}) UPDATE wed_flow SET n = 2 WHERE wid = {b}; COMMIT"
    ));
    assert_eq!(s.lines("SELECT wid, n FROM wed_flow ORDER BY wid"), ["1|1", "2|2"]);
    for wid in [a, b] {
        assert_eq!(s.trace(wid), ["-> {step} R", "step -> {step} R"]);
    }
    consistent(&s);
}

#[harness::test]
fn update_from_another_table() {
    let mut s = Flow::of(STEPS).session();
    s.run("INSERT INTO wed_flow (n) VALUES (0), (0), (0)");
    s.run("BEGIN");
    assert_eq!(
        s.number("SELECT count(*) FROM job_pool WHERE wid IN (1, 3) AND pg_try_advisory_xact_lock(wid, tgid)"),
        2
    );
    s.run(
        "UPDATE wed_flow f SET n = (j.payload ->> 'n')::integer + v.by
         FROM job_pool j JOIN (VALUES (1, 1), (3, 3)) v(wid, by) USING (wid) WHERE f.wid = j.wid; COMMIT",
    );
    assert_eq!(
        s.lines("SELECT wid, n, status FROM wed_flow JOIN wed_instance USING (wid) ORDER BY wid"),
        ["1|1|R", "2|0|R", "3|3|F"]
    );
    consistent(&s);
}

#[harness::test]
fn update_where_current_of_a_cursor() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.run("BEGIN");
    assert!(s.take(wid, "step"));
    s.run("DECLARE c CURSOR FOR SELECT * FROM wed_flow FOR UPDATE; FETCH c");
    s.run("UPDATE wed_flow SET n = n + 1 WHERE CURRENT OF c; COMMIT");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {step} R"]);
}

#[harness::test]
fn a_rolled_back_savepoint_never_happened() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.run("BEGIN");
    assert!(s.take(wid, "step"));
    s.run(&format!(
        "SAVEPOINT one;
         UPDATE wed_flow SET n = 9 WHERE wid = {wid};
         INSERT INTO wed_flow DEFAULT VALUES;
         ROLLBACK TO one;
         UPDATE wed_flow SET n = 2 WHERE wid = {wid};
         COMMIT"
    ));
    assert_eq!(
        s.lines("SELECT wid, seq, trw, state ->> 'n', status FROM wed_trace ORDER BY wid, seq"),
        [format!("{wid}|1|·|0|R"), format!("{wid}|2|step|2|R")]
    );
    // After a refusal too.
    s.run("BEGIN");
    assert!(s.take(wid, "step"));
    s.run("SAVEPOINT two");
    assert!(s.batch_execute(&format!("UPDATE wed_flow SET wid = 99 WHERE wid = {wid}")).is_err());
    s.run(&format!("ROLLBACK TO two; UPDATE wed_flow SET n = 3 WHERE wid = {wid}; COMMIT"));
    assert_eq!(s.status(wid), "F");
    consistent(&s);
}

#[harness::test]
fn a_lock_of_a_rolled_back_savepoint_is_gone() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.run("BEGIN; SAVEPOINT one");
    assert!(s.take(wid, "step"));
    s.run("ROLLBACK TO one");
    s.refused(&format!("UPDATE wed_flow SET n = 1 WHERE wid = {wid}")).expect("WF003");
}

#[harness::test]
fn prepared_statements() {
    let mut s = Flow::of(STEPS).session();
    let insert = s.prepare("INSERT INTO wed_flow (n) VALUES ($1) RETURNING wid").expect("prepared");
    let lock =
        s.prepare("SELECT tgid, pg_try_advisory_xact_lock(wid, tgid) FROM job_pool WHERE wid = $1").expect("prepared");
    let update = s.prepare("UPDATE wed_flow SET n = $2 WHERE wid = $1").expect("prepared");
    // Often enough for a generic plan.
    for round in 1..=12 {
        let wid: i32 = s.query_one(&insert, &[&0_i32]).expect("inserted").get(0);
        assert_eq!(wid, round);
        let mut transaction = s.transaction().expect("begun");
        let row = transaction.query_one(&lock, &[&wid]).expect("a job");
        assert!(row.get::<_, bool>(1));
        assert_eq!(transaction.execute(&update, &[&wid, &3_i32]).expect("updated"), 1);
        transaction.commit().expect("committed");
    }
    let error = s.execute(&update, &[&1_i32, &4_i32]).expect_err("it is final");
    Refusal::of(&error).expect("WF002");
    assert_eq!(s.number("SELECT count(*) FROM wed_instance WHERE status = 'F'"), 12);
    consistent(&s);
}

#[harness::test]
fn every_isolation_level_runs_the_papers_flow() {
    let mut s = Flow::of(PAPER).session();
    for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        s.run(&format!("SET default_transaction_isolation = '{level}'"));
        let wid = s.start();
        s.finish(wid, "tr_a2", "a2 = 'done'");
        s.finish(wid, "tr_a3", "a3 = 'done'");
        s.finish(wid, "tr_final", "a1 = 'done'");
        assert_eq!(
            s.trace(wid),
            ["-> {tr_a2,tr_a3} R", "tr_a2 -> {} R", "tr_a3 -> {tr_final} R", "tr_final -> {} F"],
            "{level}"
        );
    }
}

#[harness::test]
fn under_repeatable_read_the_second_writer_of_an_instance_fails_and_may_try_again() {
    for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        let flow = Flow::of(PAPER);
        let (mut one, mut two) = (flow.session(), flow.session());
        let wid = one.start();
        two.run(&format!("BEGIN ISOLATION LEVEL {level}"));
        assert!(two.take(wid, "tr_a3"));
        one.finish(wid, "tr_a2", "a2 = 'done'");
        let refusal = two.refused(&format!("UPDATE wed_flow SET a3 = 'done' WHERE wid = {wid}"));
        assert_eq!(refusal.code, "40001", "{level}: {refusal:?}");
        two.finish(wid, "tr_a3", "a3 = 'done'");
        assert_eq!(two.trace(wid)[2], "tr_a3 -> {tr_final} R", "{level}");
    }
}

#[harness::test]
fn bulk_of_ten_thousand() {
    let mut s = Flow::of(OPEN).session();
    s.run("INSERT INTO wed_flow (n) SELECT 0 FROM generate_series(1, 10000)");
    assert_eq!(s.number("SELECT count(*) FROM job_pool WHERE trname = 'step'"), 10_000);
    assert_eq!(s.number("SELECT count(*) FROM wed_trace WHERE trf = '{step}' AND seq = 1"), 10_000);
    s.run("UPDATE wed_flow SET note = 'seen'");
    assert_eq!(s.number("SELECT count(*) FROM wed_trace WHERE trw = '_EVENT' AND trf = '{}' AND seq = 2"), 10_000);
    consistent(&s);
}

#[harness::test]
fn an_update_of_nothing_is_no_event() {
    let mut s = Flow::of(STEPS).session();
    let wid = s.start();
    s.run("UPDATE wed_flow SET n = 3 WHERE wid = 12345");
    s.run("INSERT INTO wed_flow (n) SELECT 1 WHERE false");
    s.run("DELETE FROM wed_flow WHERE wid = 12345");
    assert_eq!(s.trace(wid), ["-> {step} R"]);
    consistent(&s);
}

/// Asserts that attributes that are not there or cannot be set, and values that are too long, are refused.
fn assert_wrong_values_are_refused(owner: &mut Session, shape: &str) {
    let long = "x".repeat(300_000);
    for (name, value, codes) in
        [("nowhere", "5", ["42703", "42804"]), ("wid", "5", ["42703", "42804"]), ("city", &long, ["WF033", "WF033"])]
    {
        let sql = format!(
            "SELECT {shape}.apply_{shape}(ARRAY[ROW(1, 0, 0, 0, 0, 0, '{{{value}}}')::wed.result],
                '{{{name}}}', NULL, 1000, false, false)"
        );
        owner.run("BEGIN");
        owner.run("SELECT set_config('wed.commit', 'batch', true)");
        let refusal = owner.refused(&sql);
        owner.run("ROLLBACK");
        assert!(codes.contains(&&*refusal.code), "{refusal:?}");
    }
}

/// A batch has a plan of its own for the attributes that components declare to write, and another for one row. A
/// result of an older version may assign others.
#[harness::test]
fn a_batch_writes_what_was_declared_and_what_was_not() {
    let database = Database::new();
    database.upload("bench", sample_component("bench"));
    let flow = database.flow("declared");
    let mut s = flow.session();
    s.run(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('step', 'integer', '0'), ('note', 'text', NULL), \
         ('city', 'text', 'Paris'), ('paid', 'boolean', 'false');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('go', 'advance', 'step < 9');",
    );
    flow.bind("advance", "bench");
    s.run("INSERT INTO wed_flow (step) VALUES (0), (0), (0)");
    let mut owner = database.owner();
    let shape = owner.line("SELECT shape_schema FROM wed.flow WHERE name = 'declared'");
    // Literals of one result after the other.
    let mut apply = |wids: &str, assigned: &str, literals: &str| {
        let width = assigned.split(',').count();
        let values: Vec<&str> = literals.split(',').collect();
        let results: Vec<String> = (wids.split(',').zip(values.chunks(width)))
            .map(|(wid, values)| format!("ROW({wid}, 0, 0, 0, 0, 0, '{{{}}}')::wed.result", values.join(",")))
            .collect();
        // While a transaction has been open for long, another statement finds the rows.
        let [lines, beside_old] = [false, true].map(|beside_old| {
            owner.run("BEGIN");
            owner.run("SELECT set_config('wed.commit', 'batch', true)");
            let lines = owner.lines(&format!(
                "SELECT e.wid, e.state::jsonb FROM unnest({shape}.apply_{shape}(ARRAY[{}]::wed.result[],
                    '{{{assigned}}}', NULL, 1000, \
                   false, {beside_old})) e",
                results.join(", ")
            ));
            owner.run("ROLLBACK");
            lines
        });
        assert_eq!(lines, beside_old);
        lines
    };
    let state = |wid: i32, step: i32, note: &str, city: &str| {
        format!(r#"{wid}|{{"city": "{city}", "note": {note}, "paid": false, "step": {step}}}"#)
    };
    // As declared: one, several in any order, some of them only.
    assert_eq!(apply("2", "note,step", "x,5"), [state(2, 5, r#""x""#, "Paris")]);
    assert_eq!(apply("1,3", "step,note", "8,y,7,NULL"), [state(1, 8, r#""y""#, "Paris"), state(3, 7, "null", "Paris")]);
    assert_eq!(apply("1", "step", "2"), [state(1, 2, "null", "Paris")]);
    // Not declared.
    assert_eq!(apply("2", "step,city", "5,Rome"), [state(2, 5, "null", "Rome")]);
    assert_eq!(apply("1,3", "city", "Rome,Oslo"), [state(1, 0, "null", "Rome"), state(3, 0, "null", "Oslo")]);
    // No such instance, no such attribute, and none that can be set.
    assert_eq!(apply("9", "step", "5"), Vec::<String>::new());
    assert_wrong_values_are_refused(&mut owner, &shape);
}

/// The same of a clause with expressions, of instances in whatever order Postgres keeps their versions.
#[harness::test]
fn a_clause_is_applied_in_the_order_of_results() {
    let flow = Flow::of(OPEN);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (n) SELECT g % 3 FROM generate_series(1, 60) g");
    s.run("UPDATE wed_flow SET note = repeat('x', wid * 40) WHERE wid % 7 <> 0");
    s.run("UPDATE wed_flow SET note = 'again' WHERE wid % 2 = 0");
    let mut owner = flow.database.owner();
    let shape = owner.line("SELECT shape_schema FROM wed.flow");
    let [states, beside_old] = [false, true].map(|beside_old| {
        owner.run("BEGIN");
        owner.run("SELECT set_config('wed.commit', 'batch', true)");
        let states = owner.lines(&format!(
            "SELECT e.wid, e.state FROM unnest({shape}.apply_{shape}(\
           ARRAY(SELECT ROW(g, 0, 0, 0, 0, 0, ARRAY[g::text])::wed.result FROM generate_series(1, 60) g),
               '{{n,note}}', \
           'n = n + _b._1::integer, note = note || n', 1000, false, {beside_old})) e"
        ));
        owner.run("ROLLBACK");
        states
    });
    assert_eq!(states, beside_old);
    let wids: Vec<&str> = states.iter().map(|state| state.split('|').next().expect("a wid")).collect();
    let all: Vec<String> = (1..=60).map(|wid| wid.to_string()).collect();
    assert_eq!(wids, all);
    assert!(states[1].contains("\"n\":4"), "{}", states[1]);
}

/// A host that registers while a transaction is open since many others knows of it, and when it has ended.
#[harness::test]
fn a_host_knows_whether_a_transaction_has_been_open_for_long() {
    let database = Database::new();
    let mut owner = database.owner();
    let mut open = database.owner();
    assert_eq!(owner.line("SELECT wed.is_beside_old()"), "f");
    open.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    open.run("SELECT count(*) FROM wed.flow");
    owner.run("CREATE TEMP TABLE one (n integer)");
    for _ in 0..510 {
        owner.run("INSERT INTO one VALUES (1)");
    }
    assert_eq!(owner.line("SELECT wed.is_beside_old()"), "t");
    let host = owner.number("SELECT wed.register_host('h', '1 minute')");
    let knows = format!("SELECT beside_old FROM wed.host WHERE host_id = {host}");
    assert_eq!(owner.line(&knows), "t");
    open.run("COMMIT");
    // Other tests' transactions on this server may be as old for a moment.
    eventually("the host knows", || {
        assert_eq!(owner.line(&format!("SELECT wed.renew_lease({host}, '1 minute')")), "t");
        (owner.line(&knows) == "f").then_some(())
    });
}

/// Results and states are joined by instance: in whatever order a batch names them, no value becomes another's.
#[harness::test]
fn batch_in_any_order_gives_each_instance_its_own_value() {
    let database = Database::new();
    database.upload("bench", sample_component("bench"));
    let flow = database.flow("ordered");
    let mut s = flow.session();
    s.run(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('step', 'integer', '0'), ('note', 'text', NULL);
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('go', 'advance', 'step < 9');",
    );
    flow.bind("advance", "bench");
    s.run("INSERT INTO wed_flow (step) SELECT 0 FROM generate_series(1, 5)");
    let mut owner = database.owner();
    let shape = owner.line("SELECT shape_schema FROM wed.flow WHERE name = 'ordered'");
    let host = owner.number("SELECT wed.register_host('a', '1 hour')");
    owner.run(&format!("SELECT count(*) FROM wed.claim({host}, 10)"));
    let commit = |wids: &str| {
        format!(
            "SELECT count(*) FROM wed.commit_results({host}, ARRAY(\
               SELECT ROW(1000, '{shape}', '{{step}}', NULL, array_agg(ROW(j.wid, j.tgid, j.token, 0, 0, 0, \
                 ARRAY[(10 + j.wid)::text])::wed.result ORDER BY w.at))::wed.result_group \
               FROM unnest('{{{wids}}}'::integer[]) WITH ORDINALITY w(wid, at)
                   JOIN wed.job j USING (wid)), false, false, NULL)"
        )
    };
    owner.run(&commit("2,1"));
    owner.run(&commit("5,3,4"));
    assert_eq!(s.lines("SELECT wid, step FROM wed_flow ORDER BY wid"), ["1|11", "2|12", "3|13", "4|14", "5|15"]);
    assert_eq!(
        s.lines("SELECT wid, state ->> 'step' FROM wed_trace WHERE seq = 2 ORDER BY wid"),
        ["1|11", "2|12", "3|13", "4|14", "5|15"]
    );
}

#[harness::test]
fn definition_in_any_isolation_level_meets_no_look_at_the_clock() {
    for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        let flow = Flow::of(
            "INSERT INTO wed_attr (aname, atype) VALUES ('at', 'timestamptz');
             INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('late', 'late', 'at < now() OR at IS NULL');",
        );
        let (mut s, mut owner) = (flow.session(), flow.database.owner());
        assert_eq!(owner.chores("clock"), 1, "{level}: the first look");
        s.run(&format!("BEGIN ISOLATION LEVEL {level}; SELECT count(*) FROM wed_trig"));
        owner.run("UPDATE wed.clock SET next_look = '-infinity', not_before = '-infinity'");
        assert_eq!(owner.chores("clock"), 1, "{level}: a look meanwhile");
        s.run(
            "INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('later', 'later', 'at < now() - interval $$1 day$$');
             COMMIT",
        );
        owner.run("UPDATE wed.clock SET not_before = '-infinity'");
        assert_eq!(owner.number("SELECT count(*) FROM wed.due_clock()"), 1, "{level}");
    }
}
