-- The names of triggers that an instance has done, and of their transitions.
CREATE OR REPLACE FUNCTION wed.names_done(_flow_id integer, _wid integer) RETURNS text[]
LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(n), '{}') FROM wed.task_done d JOIN wed.trigger t USING (tgid)
  CROSS JOIN LATERAL unnest(ARRAY[t.tgname, t.trname]) n
  WHERE d.flow_id = _flow_id AND d.wid = _wid AND n IS NOT NULL
$$;
