-- The fuel of the last sixty seconds: this minute's, and of the one before the part that is not over yet.
CREATE OR REPLACE FUNCTION wed.fuel_used(_usage wed.usage) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT CASE (_usage).minute
    WHEN m.now THEN (_usage).fuel + ((_usage).fuel_before * m.rest)::bigint
    WHEN m.now - interval '1 minute' THEN ((_usage).fuel * m.rest)::bigint ELSE 0 END
  FROM (SELECT date_trunc('minute', clock_timestamp()) AS now,
               1 - extract(second FROM clock_timestamp())::float8 / 60 AS rest) m
$$;
