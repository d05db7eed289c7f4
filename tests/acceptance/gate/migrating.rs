//! Databases of former versions are migrated and keep working; the schema is what its description says.

use std::fmt::Write;
use std::io::Read;
use std::time::Duration;

use flate2::read::GzDecoder;

use crate::recovery::checker::violations;
use crate::support::database::one_lane;
use crate::support::flows::STEPS;
use crate::support::{Database, Flow, Session, eventually, on, repository};

/// Tables, columns, constraints, indexes, triggers and types of our schema, a line each; what is made day by day or for
/// each tenant is left out.
const SCHEMA: &str = r"
WITH r AS (
  SELECT c.oid, c.relname, c.relkind, c.reltype FROM pg_class c
  WHERE c.relnamespace = 'wed'::regnamespace AND c.relname !~ '^(trace_[0-9]|started_)')
SELECT format('table %s', relname) AS line FROM r WHERE relkind IN ('r', 'p')
UNION ALL
SELECT format('%s %s.%s %s%s%s', CASE WHEN r.relkind = 'c' THEN 'type' ELSE 'column' END, r.relname, a.attname,
    format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' NOT NULL' END,
    ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid))
FROM r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum WHERE r.relkind IN ('r', 'p', 'c')
UNION ALL
SELECT format('constraint %s.%s %s', r.relname, k.conname, pg_get_constraintdef(k.oid))
FROM r JOIN pg_constraint k ON k.conrelid = r.oid WHERE k.contype IN ('c', 'f', 'u', 'p', 'x')
UNION ALL
SELECT pg_get_indexdef(i.indexrelid) FROM r JOIN pg_index i ON i.indrelid = r.oid
WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)
UNION ALL
SELECT pg_get_triggerdef(t.oid) FROM r JOIN pg_trigger t ON t.tgrelid = r.oid AND NOT t.tgisinternal
UNION ALL
SELECT format('sequence %s', relname) FROM r WHERE relkind = 'S'";

#[harness::test]
fn schema_is_what_its_description_says() {
    let database = Database::new();
    let mut text = String::new();
    let mut lines = database.owner().lines(SCHEMA);
    // Servers sort in their own ways.
    lines.sort();
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    let path = repository("tests/acceptance/data/schema.txt");
    if std::env::var_os("WEDFLOW_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, text).expect("written");
        return;
    }
    let described = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = described.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        described == text,
        "tests/acceptance/data/schema.txt is not the schema (first difference: {differs:?}); `make reference` writes it"
    );
}

/// Dump of a database of wed 0.1 (schema 0014), filled: two tenants; a flow that components do, with instances that are
/// pending or final; a flow for external workers; a suspended tenant's flow; trace, jobs that were put off or wait for
/// siblings. Made with that version's hosts at work, by `pg_dump` with the roles created first and `CURRENT_USER` as
/// owner of everything, then `gzip -9n`. `zcat tests/acceptance/data/wed-0.1.sql.gz` shows it.
const DUMP_OF_0_1: &[u8] = include_bytes!("../data/wed-0.1.sql.gz");

#[harness::test]
fn database_of_version_0_1_goes_on() {
    let mut dump = String::new();
    GzDecoder::new(DUMP_OF_0_1).read_to_string(&mut dump).expect("a compressed dump");
    let database = Database::restored(&dump);
    let mut owner = database.owner();
    let traced = owner.number("SELECT count(*) FROM wed.trace");
    let pending = owner.number("SELECT count(*) FROM wed.job");
    assert!(traced > 0 && pending > 0);
    assert_eq!(
        owner.lines("SELECT DISTINCT waits_for FROM wed.job WHERE waits_for IS NOT NULL ORDER BY 1"),
        ["a lock on the table of its flow", "the pending transitions of its instance"]
    );
    on(database.store.migrate()).expect("migrated");
    on(database.store.migrate()).expect("migrated once");
    assert_eq!(owner.number("SELECT count(*) FROM wed.trace"), traced);
    assert_eq!(
        owner.lines(
            "SELECT DISTINCT put_off, awaits_siblings FROM wed.job WHERE put_off IS NOT NULL OR \
            awaits_siblings ORDER BY 2"
        ),
        ["a lock on the table of its flow|f", "·|t"]
    );
    assert_eq!(
        owner.number("SELECT count(*) FROM wed.attribute"),
        owner.number(
            "SELECT count(*) FROM pg_attribute a JOIN wed.flow f
            ON a.attrelid = to_regclass(f.schema_name || '.wed_flow') \
                      WHERE a.attnum > 1 AND NOT a.attisdropped"
        )
    );
    // Its hosts' pending jobs are run to the end, from where they were.
    owner.run("UPDATE wed.job SET due = now() WHERE put_off IS NOT NULL");
    let host = database.host(one_lane("newer"));
    eventually("all that hosts do is done", || {
        (owner.number(
            "SELECT count(*) FROM wed.job j JOIN wed.tenant t USING (tenant_id) WHERE component_id IS NOT \
            NULL AND suspended_at IS NULL",
        ) == 0)
            .then_some(())
    });
    on(host.stop());
    let url = on(database.store.flow_url("default", "paper")).expect("its URL");
    let mut s = Session::on(&database, &url);
    let wid = s.number("SELECT min(wid) FROM job_pool WHERE trname = 'tr_a2'");
    s.finish(wid, "tr_a2", "a2 = 'done'");
    assert!(s.start() > wid);
    s.refused("UPDATE wed_flow SET a2 = 'none'").expect("WF003");
    assert_eq!(violations(&mut owner), Vec::<String>::new());
}

#[harness::test]
fn host_of_another_interface_is_refused() {
    let database = Database::new();
    let mut owner = database.owner();
    for older in [
        "SELECT wed.register_host('other', '1 minute', NULL, 1)",
        "SELECT wed.renew_lease(1, '1 minute', 1)",
        // As wed 0.1 calls it.
        "SELECT wed.enter_host('other', '1 minute')",
        "SELECT wed.keep_host(1, '1 minute')",
    ] {
        let refusal = owner.refused(older).expect("WF019");
        assert!(refusal.hint.contains("start the newer one"), "{refusal:?}");
    }
    let newer = owner.refused("SELECT wed.register_host('other', '1 minute', NULL, 1000)").expect("WF019");
    assert!(newer.hint.contains("wed migrate"), "{newer:?}");
    for commits in [
        "SELECT * FROM wed.settle(wed.write_states(1, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', false),
            '{}', '{}', 1, \
           NULL, NULL, NULL, '{}', '{}', '{}', true)",
        "SELECT wed.fail_batch(1, '[]')",
    ] {
        owner.refused(commits).expect("WF016");
    }
}

#[harness::test]
fn migration_takes_jobs_from_hosts_of_another_interface() {
    let database = Database::new();
    let mut owner = database.owner();
    let host = on(database.store.register_host("other", Duration::from_secs(600))).expect("registered");
    owner.run("UPDATE wed.host SET interface = 1; DELETE FROM wed.function_source");
    on(database.store.migrate()).expect("migrated");
    let lost = on(database.store.claim(host, 1)).expect_err("no leases");
    assert_eq!(lost.code(), Some("WF016"));
}

#[harness::test]
fn migration_waits_out_a_session_that_locks_a_flow() {
    let flow = Flow::of(STEPS);
    let mut owner = flow.database.owner();
    owner.run(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = 50', current_database()); END $$;
         DELETE FROM wed.function_source",
    );
    let schema = owner.line("SELECT schema_name FROM wed.flow");
    owner.run(&format!("BEGIN; LOCK TABLE {schema}.wed_flow IN ACCESS EXCLUSIVE MODE"));
    let holder = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        owner.run("COMMIT");
        owner
    });
    on(flow.database.store.migrate()).expect("migrated");
    let mut owner = holder.join().expect("held");
    assert_eq!(owner.number("SELECT count(*) FROM wed.function_source"), 1);
}
