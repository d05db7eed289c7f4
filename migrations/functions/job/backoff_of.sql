-- How long a job waits after its nth attempt: its trigger's backoff, twice as long each time, at most a day.
CREATE OR REPLACE FUNCTION wed.backoff_of(_backoff interval, _attempt integer) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$
  SELECT least(extract(epoch FROM _backoff)::double precision * 2 ^ least(greatest(_attempt, 1) - 1, 30), 86400)
    * interval '1 second'
$$;
