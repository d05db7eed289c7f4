-- Rows of a query as JSON arrays, in its order; null behind the first MiB of them.
SELECT CASE WHEN bytes <= 1048576 THEN document END
FROM (SELECT document, sum(octet_length(document)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes
      FROM (SELECT json_build_array({columns})::text AS document FROM (
{query}
      ) AS q ({columns}) LIMIT {limit}) AS limited) AS measured
