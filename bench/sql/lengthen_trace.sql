-- $2 more trace rows for the instances that have one, $1 having been made before.
WITH newest AS MATERIALIZED (
  SELECT r.*, count(*) OVER () AS all_of_them FROM wed.trace r WHERE r.seq = 1
)
INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, tgid, attempt, fuel, elapsed_us,
                       memory_bytes, component_id, from_seq, writer, note)
SELECT n.flow_id, n.wid, -(($1::bigint / n.all_of_them + g.round)::integer), n.status, n.trw, n.trf, n.state, n.tstmp,
  n.tgid,
       n.attempt, n.fuel, n.elapsed_us, n.memory_bytes, n.component_id, n.from_seq, n.writer, n.note
FROM generate_series(0, ($2::bigint - 1) / greatest((SELECT count(*) FROM newest), 1)) AS g(round)
CROSS JOIN newest n
