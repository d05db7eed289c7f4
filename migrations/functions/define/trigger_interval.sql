-- Reads a duration of a trigger's definition; null where it names none. Names the trigger whose duration is unreadable.
CREATE OR REPLACE FUNCTION wed.trigger_interval(_trigger jsonb, _field text) RETURNS interval
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'iso_8601' AS $$
BEGIN
  RETURN (_trigger ->> _field)::interval;
EXCEPTION WHEN invalid_datetime_format OR datetime_field_overflow OR interval_field_overflow THEN
  RAISE EXCEPTION 'trigger "%": `%`: %', _trigger ->> 'name', _field, SQLERRM USING ERRCODE = SQLSTATE,
    HINT = 'Write timeout, backoff, delay and deadline as `10 minutes` or `1 hour 30 seconds`.';
END $$;
