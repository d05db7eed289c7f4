-- Tells of a job whether it is paused: its due time is 8000 years later (decision 0033). "infinity" is no pause.
CREATE OR REPLACE FUNCTION wed.is_paused(_due timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT _due >= '9000-01-01 00:00:00+00'::timestamptz AND _due < 'infinity'::timestamptz $$;
