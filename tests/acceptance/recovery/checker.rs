//! The one check of a database, after faults and races: history, states and jobs agree, and nothing is left behind.

use crate::support::Session;

/// Rules over all flows of the database; each query answers what breaks it.
const RULES: [(&str, &str); 11] = [
    (
        "the trace counts from 1 without a gap",
        "SELECT flow_id, wid FROM wed.trace GROUP BY 1, 2 HAVING min(seq) <> 1 OR max(seq) <> count(*)",
    ),
    (
        "only the first trace row has no writer",
        "SELECT flow_id, wid, seq, trw FROM wed.trace WHERE (trw IS NULL) <> (seq = 1)",
    ),
    (
        "no trace row follows a final one",
        "SELECT flow_id, wid, seq FROM wed.trace t WHERE status = 'F' AND EXISTS (SELECT FROM wed.trace l \
         WHERE l.flow_id = t.flow_id AND l.wid = t.wid AND l.seq > t.seq)",
    ),
    (
        "an instance's status is that of its last trace row",
        "SELECT i.flow_id, i.wid FROM wed.instance i CROSS JOIN LATERAL (SELECT status FROM wed.trace t \
         WHERE t.flow_id = i.flow_id AND t.wid = i.wid ORDER BY seq DESC LIMIT 1) t WHERE t.status <> i.status",
    ),
    (
        "a fired job is done once, ended once or pending once; a wait may end with its condition",
        "SELECT f.flow_id, f.wid, f.name, f.fired, e.ended, p.pending FROM ( \
           SELECT flow_id, wid, name, count(*) AS fired FROM wed.trace, unnest(trf) name GROUP BY 1, 2, 3) f \
         CROSS JOIN LATERAL (SELECT count(*) AS ended FROM wed.trace t LEFT JOIN wed.trigger g USING (tgid) \
           WHERE t.flow_id = f.flow_id AND t.wid = f.wid \
           AND (t.trw = f.name OR t.trw IN ('_SKIP', '_ABORT', '_DEADLINE') AND g.trname = f.name)) e \
         CROSS JOIN LATERAL (SELECT count(*) AS pending FROM wed.job j \
           WHERE j.flow_id = f.flow_id AND j.wid = f.wid AND j.trname = f.name) p \
         WHERE f.name <> '_EXCPT' AND f.fired <> e.ended + p.pending \
         AND (f.fired < e.ended + p.pending OR NOT EXISTS (SELECT FROM wed.trigger w \
           WHERE w.flow_id = f.flow_id AND w.trname = f.name AND w.waits_for IS NOT NULL)) \
         AND NOT EXISTS (SELECT FROM wed.trace t WHERE t.flow_id = f.flow_id AND t.wid = f.wid AND t.trw = '_CANCEL')",
    ),
    (
        "a final instance has no job, another has one",
        "SELECT i.flow_id, i.wid, i.status FROM wed.instance i WHERE (i.status = 'F') \
         = EXISTS (SELECT FROM wed.job j WHERE j.flow_id = i.flow_id AND j.wid = i.wid)",
    ),
    (
        "an exception has its one _EXCPT job, others have none",
        "SELECT i.flow_id, i.wid FROM wed.instance i WHERE (SELECT count(*) FROM wed.job j \
         WHERE j.flow_id = i.flow_id AND j.wid = i.wid AND j.trname = '_EXCPT') <> (i.status = 'E')::integer",
    ),
    (
        "every job knows the newest trace row and the number of its siblings",
        "SELECT j.flow_id, j.wid, j.trname FROM wed.job j WHERE j.last_seq <> (SELECT max(seq) FROM wed.trace t \
         WHERE t.flow_id = j.flow_id AND t.wid = j.wid) OR j.beside <> (SELECT count(*) - 1 FROM wed.job o \
         WHERE o.flow_id = j.flow_id AND o.wid = j.wid)",
    ),
    ("a trigger is pending once", "SELECT flow_id, wid, tgid FROM wed.job GROUP BY 1, 2, 3 HAVING count(*) > 1"),
    (
        "no job is leased to a host that there is not",
        "SELECT flow_id, wid, host_id FROM wed.job WHERE host_id IS NOT NULL \
         AND NOT EXISTS (SELECT FROM wed.host h WHERE h.host_id = job.host_id)",
    ),
    (
        "no job has more attempts on record than it may have",
        "SELECT j.flow_id, j.wid, j.trname FROM wed.job j JOIN wed.trigger t USING (tgid) WHERE j.attempt > \
         t.attempts + 1",
    ),
];

/// Builds one query of all rules; each row is a violation. The state is the fold of the trace, its last row: attributes
/// that were added after that are in none.
fn query(schemas: &[(&str, &str)]) -> String {
    let mut parts: Vec<String> = RULES
        .iter()
        .map(|(rule, query)| format!("SELECT '{}: ' || r::text FROM ({query}) r", rule.replace('\'', "''")))
        .collect();
    parts.extend(schemas.iter().map(|(number, schema)| {
        format!(
            "SELECT 'the state is that of the last trace row: ' || r::text FROM (
               SELECT w.wid, to_jsonb(w) - 'wid', t.state FROM {schema}.wed_flow w CROSS JOIN LATERAL
                 (SELECT state FROM wed.trace t WHERE t.flow_id = {number} AND t.wid = w.wid
                  ORDER BY seq DESC LIMIT 1) t
               WHERE (SELECT jsonb_object_agg(k, v) FROM jsonb_each(to_jsonb(w) - 'wid') e(k, v)
                      WHERE t.state::jsonb ? k) <> t.state::jsonb) r"
        )
    }));
    parts.extend(schemas.iter().map(|(number, schema)| {
        format!(
            "SELECT 'an instance has a state, a state an instance: ' || r::text FROM (
               SELECT wid FROM {schema}.wed_flow w
               FULL JOIN (SELECT wid FROM wed.instance WHERE flow_id = {number}) i USING (wid)
               WHERE w IS NULL OR i IS NULL) r"
        )
    }));
    parts.join(" UNION ALL ")
}

/// Lists the violated rules of a database, each with the rows that break it. The query is planned once for a session.
pub(crate) fn violations(owner: &mut Session) -> Vec<String> {
    let flows = owner.lines("SELECT flow_id || '|' || schema_name FROM wed.flow ORDER BY flow_id");
    let schemas: Vec<(&str, &str)> = flows.iter().filter_map(|flow| flow.split_once('|')).collect();
    let numbers: Vec<&str> = schemas.iter().map(|(number, _)| *number).collect();
    let name = format!("rules_of_{}", numbers.join("_"));
    let prepared = format!("SELECT count(*) FROM pg_prepared_statements WHERE name = '{name}'");
    if owner.number(&prepared) == 0 {
        owner.run(&format!("PREPARE {name} AS {}", query(&schemas)));
    }
    owner.lines(&format!("EXECUTE {name}"))
}
