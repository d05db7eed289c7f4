//! Cost of a commit, as counts that a machine's load does not change: rows that the server reads and writes, look-ups,
//! calls of functions.

use std::sync::Arc;

use super::hosts::ring;
use crate::support::database::sample_component;
use crate::support::{Database, Flow, Session, repository};

/// Settings of a session that commits (`Store::for_commits`), by which plans do not depend on a table's size.
const SETTINGS: &str = "SET jit = off; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
    SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off; \
    SET search_path = pg_catalog, pg_temp; SET timezone = 'UTC'; SET track_functions = 'all'";

/// Results that a host's commit would bring: one step of the ring for each of its jobs.
const BATCH: &str = "CREATE TEMP TABLE batch AS SELECT ARRAY(
    SELECT ROW(1000000, f.shape_schema, '{step,note}', NULL, array_agg(
      ROW(j.wid, j.tgid, j.token, 5000, 5000, 5000, ARRAY[(substr(t.tgname, 2)::integer + 1)::text, 'done'])::wed.result
      ORDER BY j.wid))::wed.result_group
    FROM wed.job j JOIN wed.flow f USING (flow_id) JOIN wed.trigger t USING (tgid)
    WHERE j.host_id = (SELECT max(host_id) FROM wed.host) GROUP BY j.flow_id, f.shape_schema
    ORDER BY j.flow_id) AS groups";

/// Query for the counts of the open transaction so far: look-ups, rows read, rows written, calls of functions. A
/// session keeps counts of its last transactions too, so the difference of two of these counts.
const COUNTED: &str = "SELECT sum(seq_scan + coalesce(idx_scan, 0)), sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), \
    sum(n_tup_ins + n_tup_upd + n_tup_del), (SELECT coalesce(sum(calls), 0) FROM pg_stat_xact_user_functions) \
    FROM pg_stat_xact_user_tables WHERE schemaname ~ '^wed|^wf_'";

/// Returns the numbers of [`COUNTED`].
fn counted(s: &mut Session) -> Vec<i64> {
    let line = s.line(COUNTED);
    line.split('|').map(|count| count.parse().expect("a count")).collect()
}

/// Counts of one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    look_ups: i64,
    rows_read: i64,
    rows_written: i64,
    calls: i64,
}

impl Counts {
    fn sum(self) -> i64 {
        self.look_ups + self.rows_read + self.rows_written + self.calls
    }
}

/// Session that commits as a host does, in SQL.
struct Committer(Session);

impl Committer {
    /// Registers a host and claims for it up to `jobs` jobs.
    fn new(database: &Arc<Database>, jobs: i32) -> Self {
        let mut s = database.owner();
        s.run(SETTINGS);
        s.run(&format!("SELECT count(*) FROM wed.claim(wed.register_host('cost', interval '1 hour'), {jobs})"));
        // Plans are made by the sizes that tables have here, not by when an automatic one came.
        s.run("ANALYZE wed.job, wed.request, wed.reservation");
        Committer(s)
    }

    /// Commits a result for each job that the host has. Returns how many jobs are leased to it then, and the counts.
    fn commit(&mut self) -> (i64, Counts) {
        let s = &mut self.0;
        s.run(BATCH);
        s.run("BEGIN");
        let before = counted(s);
        let leased = s.number(
            "SELECT count(*) FROM wed.commit_results((SELECT max(host_id) FROM wed.host), \
             (SELECT groups FROM batch), false, true, NULL)",
        );
        let after = counted(s);
        s.run("COMMIT; DROP TABLE batch");
        let since = |at: usize| after[at] - before[at];
        let counts = Counts { look_ups: since(0), rows_read: since(1), rows_written: since(2), calls: since(3) };
        (leased, counts)
    }

    /// Commits often enough that all plans are made, and returns what the next commit costs.
    fn counts(&mut self) -> Counts {
        self.commit();
        self.commit();
        self.commit().1
    }
}

/// Starts `instances` of the ring whose steps reserve `reserves`.
fn started(database: &Arc<Database>, name: &str, reserves: Option<&str>, instances: i32) -> Flow {
    let mut definition = ring(reserves.unwrap_or("street"));
    definition.name = name.to_owned();
    if reserves.is_none() {
        for trigger in &mut definition.triggers {
            trigger.reserves = None;
        }
    }
    let flow = database.define(&definition);
    flow.session()
        .run(&format!("INSERT INTO wed_flow (street) SELECT 'Rue Monge ' || i FROM generate_series(1, {instances}) i"));
    flow
}

/// Returns a database that has the component of the ring.
fn with_component() -> Arc<Database> {
    let database = Database::new();
    database.upload("bench", sample_component("bench"));
    database
}

#[harness::test]
fn key_goes_to_the_next_instance_in_one_commit_that_costs_the_same_however_many_wait() {
    let database = with_component();
    let costs = [5, 100].map(|instances| {
        let flow = started(&database, &format!("queue-{instances}"), Some("'machine'"), instances);
        let mut committer = Committer::new(&database, 10);
        let counts = committer.counts();
        assert_eq!(
            flow.session().lines("SELECT wid FROM wed_trace WHERE trw IS NOT NULL ORDER BY tstmp"),
            ["1", "2", "3"],
            "each commit hands the key over"
        );
        assert_eq!(committer.commit().0, 1, "the host has the job of the next one");
        assert_eq!(
            database.owner().number("SELECT count(*) FROM wed.job WHERE host_id = (SELECT max(host_id) FROM wed.host)"),
            1,
            "and that one only"
        );
        super::fine(&flow);
        counts.sum()
    });
    assert!(
        costs[1] <= costs[0] + costs[0] / 10,
        "a hand-over with 100 instances that want one key costs more than one with 5: {costs:?}"
    );
}

#[harness::test]
fn key_that_goes_to_a_paused_instance_gives_the_host_no_job() {
    let database = with_component();
    let flow = started(&database, "queue", Some("'machine'"), 2);
    let mut committer = Committer::new(&database, 10);
    committer.0.run(
        "INSERT INTO wed.pause (tenant_id, flow_id, wid, actor, reason) \
         SELECT tenant_id, flow_id, 2, 'test', 'a look at it' FROM wed.flow",
    );
    assert_eq!(committer.commit().0, 0);
    let mut s = flow.session();
    assert_eq!(s.lines("SELECT wid FROM wed_reservation WHERE held"), ["2"]);
    super::fine(&flow);
}

/// Counts of commits of 100 results, kept in `tests/acceptance/data/commit_cost.txt`: none may be more than a quarter
/// above, which another plan of one statement may be.
#[harness::test]
fn commits_cost_no_more_than_they_are_known_to_cost() {
    const KEPT: &str = "tests/acceptance/data/commit_cost.txt";
    let database = with_component();
    let mut found = String::from("commit of 100 results|look-ups|rows read|rows written|calls\n");
    for (name, flows, reserves) in [
        ("nothing reserved", 1, None),
        ("nothing reserved, 2 flows", 2, None),
        ("a key of the instance, always the same", 1, Some("street")),
        ("a key of the instance, another each time", 1, Some("street || step")),
    ] {
        database.owner().run("UPDATE wed.job SET due = 'infinity'");
        for number in 0..flows {
            started(&database, &format!("{}-{number}", found.len()), reserves, 100 / flows);
        }
        let counts = Committer::new(&database, 100).counts();
        let Counts { look_ups, rows_read, rows_written, calls } = counts;
        found += &format!("{name}|{look_ups}|{rows_read}|{rows_written}|{calls}\n");
    }
    let path = repository(KEPT);
    if std::env::var_os("WEDFLOW_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &found).expect("the counts are written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let counts_of =
        |text: &str| -> Vec<f64> { text.split(['|', '\n']).filter_map(|field| field.parse().ok()).collect() };
    let (kept_counts, found_counts) = (counts_of(&kept), counts_of(&found));
    assert_eq!(kept_counts.len(), found_counts.len(), "{KEPT} has other rows:\n{found}");
    let dearer = (kept_counts.iter().zip(&found_counts)).any(|(kept, found)| *found > 1.25 * kept);
    assert!(
        !dearer,
        "commits cost more than {KEPT} says.\nKept:\n{kept}\nFound:\n{found}\nIf that is meant, write it anew: \
         WEDFLOW_WRITE_REFERENCE=1 cargo test --release --workspace --test acceptance -- constraints::cost"
    );
}
