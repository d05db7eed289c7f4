-- A moment as answers write it: RFC 3339 in UTC, with microseconds and Z.
CREATE OR REPLACE FUNCTION wed.rfc3339(_at timestamptz) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT to_char(_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;
