-- Returns how long a job waits after its nth attempt: its trigger's backoff, twice as long each time, at most a day,
-- and up to a quarter longer by chance, so that jobs that failed together do not come back together. (Of seconds,
-- since an interval's months and days may each be out of range.)
CREATE OR REPLACE FUNCTION wed.backoff_of(_backoff interval, _attempt integer) RETURNS interval
LANGUAGE sql VOLATILE AS $$
  SELECT make_interval(secs => least(86400, (1 + random() / 4) * 2 ^ least(greatest(_attempt, 1) - 1, 30)
    * least(86400, greatest(0, extract(epoch FROM _backoff)::double precision))))
$$;
