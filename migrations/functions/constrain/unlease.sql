-- Takes back the leases of constrained jobs that a host's commit has fired just now: they are as those that others'
-- commits fire.
CREATE OR REPLACE FUNCTION wed.unlease(_host_id integer, _flow_id integer, _wids integer[]) RETURNS void
LANGUAGE sql AS $$
  UPDATE wed.job j SET host_id = NULL, token = 0, attempt = 0, blocked = 'a', due = 'infinity'
  FROM unnest(_wids) u(wid), wed.trigger t
  WHERE j.flow_id = _flow_id AND j.wid = u.wid AND j.host_id = _host_id AND j.seq = j.last_seq AND t.tgid = j.tgid
      AND t.constrained
$$;
