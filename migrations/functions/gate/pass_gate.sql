-- Takes new states through the gate, for every way into it: decides (wed.decide), refuses, writes. In a host's commit
-- the row of the job that ends becomes that of the first fired one, leased to the same host, unless it wants others to
-- have a turn (_lease false) or the batch has a paused instance, whose jobs are fired paused. Returns the jobs that were
-- leased. _results says which jobs end; null: none.
--
-- The functions in here have no search_path of their own, for a setting of one costs microseconds a call; whoever calls
-- them has set it.
CREATE OR REPLACE FUNCTION wed.pass_gate(
  _rows wed.evaluated[], _results wed.result[], _host_id integer DEFAULT NULL, _trw text DEFAULT NULL,
  _forced text DEFAULT NULL, _note text DEFAULT NULL, _lease boolean DEFAULT true) RETURNS SETOF wed.claimed
LANGUAGE plpgsql AS $$
DECLARE
  _now timestamptz := clock_timestamp();
  _keeps boolean := _lease AND NOT EXISTS (SELECT FROM wed.paused_among(_rows));
  _passing wed.passing[] := wed.decide(_rows, _results, _trw, _forced, _keeps AND _host_id IS NOT NULL);
  _to record;
  _leased wed.claimed[];
  _turned bigint := 0;
  _ended bigint := 0;
BEGIN
  SELECT count(*) FILTER (WHERE p.turns) AS turn, count(*) FILTER (WHERE p.ends) AS "end", bool_or(p.forks) AS fork,
         bool_or(p.excepts) AS "except", bool_or(p.changes) AS change, bool_or(p.others > 0) AS inform,
         bool_or(p.refusal IS NOT NULL) AS refuse
  INTO _to FROM unnest(_passing) p;
  IF _to.refuse THEN PERFORM wed.refuse_passing(_passing); END IF;

  IF _to.inform THEN PERFORM wed.update_siblings(_passing); END IF;
  IF _to.turn > 0 THEN
    WITH turned AS (
      UPDATE wed.job j SET tgid = p.next_tgid, trname = p.next_trname, timeout = p.next_timeout, seq = p.seq,
        last_seq = p.seq,
        priority = p.next_priority, fired_at = _now, attempt = 1, component_id = p.next_component,
        token = nextval('wed.fence'),
        version = p.version, satisfied = p.satisfied, beside = p.beside, payload = NULL, put_off = NULL,
        paused_for = NULL
      FROM unnest(_passing) p WHERE p.turns AND j.ctid = p.own
      RETURNING p.constrained, ROW(p.flow_id, p.wid, p.next_tgid, p.next_tgname, p.next_trname, j.token, 1,
        p.next_timeout_ms,
        coalesce(p.payload, p.state), p.next_component, p.version, p.seq)::wed.claimed AS job)
    SELECT count(*), array_agg(t.job) FILTER (WHERE NOT t.constrained) INTO _turned, _leased FROM turned t;
    RETURN QUERY SELECT * FROM unnest(_leased);
  END IF;
  IF _to."end" > 0 THEN
    DELETE FROM wed.job j USING unnest(_passing) p WHERE p.ends AND j.ctid = p.own;
    GET DIAGNOSTICS _ended = ROW_COUNT;
  END IF;
  IF _turned <> _to.turn OR _ended <> _to."end" THEN
    -- Somebody changed a job's row in the same moment: a statement that finds it moved leaves it out.
    PERFORM wed.refuse_update('lost', (_rows[1]).wid);
  END IF;
  IF _to.fork THEN
    RETURN QUERY SELECT * FROM wed.fire_jobs(_passing, _host_id, _keeps, _trw IS NULL, _now);
    PERFORM wed.tell_workers(_passing, _host_id, _keeps);
  END IF;
  IF _to."except" THEN PERFORM wed.fire_exceptions(_passing, _now); END IF;
  IF _to.change THEN PERFORM wed.change_status(_passing, _now); END IF;
  PERFORM wed.append_trace(_passing, _now, coalesce('host:' || _host_id,
    CASE WHEN session_user = current_user THEN nullif(current_setting('wed.actor', true), '') END, session_user::text),
    _note);

  IF EXISTS (SELECT FROM wed.flow WHERE timed) THEN
    INSERT INTO wed.clock_changed (flow_id)
    SELECT f.flow_id FROM wed.flow f WHERE f.timed AND f.flow_id IN (SELECT r.flow_id FROM unnest(_rows) r);
  END IF;
  IF EXISTS (SELECT FROM wed.flow WHERE constrained) THEN
    -- What a commit leases of constrained jobs is theirs only if they can have what they reserve. (Where attempts
    -- failed, more follows in the transaction.)
    IF _keeps AND _host_id IS NOT NULL AND _trw IS NULL THEN
      RETURN QUERY SELECT * FROM wed.constrain_batch(_host_id, _rows, ARRAY(SELECT r.tgid FROM unnest(_results) r));
    ELSE
      PERFORM wed.constrain(_rows, ARRAY(SELECT r.tgid FROM unnest(_results) r), _trw IS NULL OR _trw = '_EVENT');
    END IF;
  END IF;
  PERFORM wed.keep_paused(p.flow_id, p.wids) FROM wed.paused_among(_rows) p;
END $$;
