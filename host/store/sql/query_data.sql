-- The rows of a query of a process as documents; null when there are more than 1000, or more than 1 MiB of them.
WITH answer AS (
  SELECT count(*) AS rows, coalesce(jsonb_agg(row), '[]') AS document
  FROM (SELECT to_jsonb(q) AS row FROM (
{expression}
  ) q LIMIT 1001) limited)
SELECT CASE WHEN rows <= 1000 AND octet_length(document::text) <= 1048576 THEN document END
FROM answer
