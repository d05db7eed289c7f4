-- p50 and p99, in microseconds, of the time between two commits of one instance, over its newest $1 trace rows since
-- $2.
SELECT coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY gap), 0)::float8,
       coalesce(percentile_cont(0.99) WITHIN GROUP (ORDER BY gap), 0)::float8
FROM (SELECT extract(epoch FROM tstmp - lag(tstmp) OVER (PARTITION BY flow_id, wid ORDER BY seq))::float8 * 1e6 AS gap
      FROM (SELECT flow_id, wid, seq, tstmp FROM wed.trace WHERE tstmp >= to_timestamp($2)
            ORDER BY tstmp DESC LIMIT $1) newest) gaps
WHERE gap IS NOT NULL
