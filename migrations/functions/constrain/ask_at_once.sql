-- What jobs that a host's commit has fired and leased ask for (asked), of some instances of a flow; and what ended
-- with the jobs of others (freed). Keys that an instance's transition held and its next one needs too are held on, if
-- nobody waits for them.
CREATE OR REPLACE FUNCTION wed.ask_at_once(
  _host_id integer, _flow wed.flow, _wids integer[], _ending integer[], _tgids integer[],
  OUT freed bigint[], OUT asked wed.asking[])
LANGUAGE plpgsql AS $$
DECLARE
  _consumed bigint[];
  _lost bigint[];
  _jobs tid[];
  _of integer[];
  _fired integer[];
  _keys jsonb[];
  _kept bigint[];
  _others boolean;
BEGIN
  asked := '{}';
  SELECT coalesce(array_agg(e.request_id) FILTER (WHERE NOT e.takes), '{}'),
         array_agg(e.request_id) FILTER (WHERE e.takes), array_agg(e.request_id) FILTER (WHERE e.lost)
  INTO freed, _consumed, _lost
  FROM (SELECT request_id, bool_or(takes) AS takes, bool_and(lost) AS lost FROM wed.ended_requests(_flow.flow_id, _ending, _tgids, true)
        GROUP BY request_id) e;
  IF _consumed IS NOT NULL THEN
    UPDATE wed.request SET state = 'c', leads = false, xid = pg_current_xact_id() WHERE request_id = ANY (_consumed);
  END IF;
  IF _lost IS NOT NULL THEN PERFORM wed.note_lost(_lost); END IF;
  IF _wids = '{}' THEN RETURN; END IF;
  SELECT array_agg(j.at ORDER BY u.at) FILTER (WHERE NOT j.blocked),
         array_agg(u.wid ORDER BY u.at) FILTER (WHERE NOT j.blocked),
         array_agg(j.tgid ORDER BY u.at) FILTER (WHERE NOT j.blocked), bool_or(j.blocked)
  INTO _jobs, _of, _fired, _others
  FROM unnest(_wids) WITH ORDINALITY u(wid, at)
  CROSS JOIN LATERAL (
    SELECT ctid AS at, tgid, blocked IS NOT NULL AS blocked FROM wed.job
    WHERE flow_id = _flow.flow_id AND wid >= u.wid AND wid <= u.wid AND seq = last_seq
      AND (host_id = _host_id AND blocked IS NULL OR blocked = 'a') ORDER BY wid DESC OFFSET 0) j
  CROSS JOIN LATERAL (SELECT FROM wed.trigger_constraint WHERE tgid = j.tgid AND keys IS NOT NULL OFFSET 0) t;
  -- Those that no host does.
  IF _others THEN PERFORM wed.ask(_flow, _wids, NULL); END IF;
  IF _of IS NULL THEN RETURN; END IF;
  EXECUTE format('SELECT %1$I.read_keys_%1$s($1, $2)', _flow.shape_schema) INTO _keys USING _of, _fired;
  SELECT * INTO _kept, asked FROM wed.keep_held(_flow.flow_id, _flow.tenant_id, _jobs, _of, _fired, _keys, freed);
  IF _kept <> '{}' THEN freed := ARRAY(SELECT unnest(freed) EXCEPT SELECT unnest(_kept)); END IF;
END $$;
