-- Tells whether a predicate, as Postgres writes it, looks at the clock. (Text within quotes is left out.)
CREATE OR REPLACE FUNCTION wed.reads_clock(_predicate text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT regexp_replace(_predicate, '''(?:[^'']|'''')*''', '', 'g')
    ~*
      '\m(now|statement_timestamp|transaction_timestamp|clock_timestamp|timeofday|age)\(|'
      '\m(current_date|current_time|current_timestamp|localtime|localtimestamp)\M'
$$;
