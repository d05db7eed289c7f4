-- Tells of a job whether it is paused: its due time is PAUSE_SHIFT (8000 years) away. "infinity" is no pause.
CREATE OR REPLACE FUNCTION wed.is_paused(_due timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT _due >= '9000-01-01 00:00:00+00'::timestamptz AND _due < 'infinity'::timestamptz $$;
