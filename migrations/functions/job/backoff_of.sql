-- How long a job waits after its nth attempt: its trigger's backoff, twice as long each time, at most a day.
CREATE OR REPLACE FUNCTION wed.backoff_of(_backoff interval, _attempt integer) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$
  SELECT least(least(_backoff, interval '1 day') * (2 ^ least(greatest(_attempt, 1) - 1, 30)), interval '1 day')
$$;
