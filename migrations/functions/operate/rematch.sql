-- After a change of the model: which live instances would fire what, or, without preview, fires it.
CREATE OR REPLACE FUNCTION wed.rematch(_flow_id integer, _preview boolean)
RETURNS TABLE (wid integer, fires text[], becomes text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  _flow wed.flow;
  _last integer := 0;
  _wids integer[];
  _rows wed.evaluated[];
  _tgids integer[];
  _chosen integer[];
BEGIN
  SELECT * INTO _flow FROM wed.flow WHERE flow_id = _flow_id;
  LOOP
    -- A thousand at a time; their rows are held, unless they are only looked at.
    _wids := ARRAY(SELECT i.wid FROM wed.instance i
                   WHERE i.flow_id = _flow_id AND i.wid > _last AND i.status <> 'F' ORDER BY i.wid LIMIT 1000);
    EXIT WHEN _wids = '{}';
    _last := _wids[cardinality(_wids)];
    IF NOT _preview THEN
      EXECUTE format('SELECT FROM %I.wed_flow WHERE wid = ANY ($1) ORDER BY wid FOR NO KEY UPDATE', _flow.schema_name)
        USING _wids;
      _wids := ARRAY(SELECT i.wid FROM wed.instance i
                     WHERE i.flow_id = _flow_id AND i.wid = ANY (_wids) AND i.status <> 'F' ORDER BY i.wid);
    END IF;
    EXECUTE format('SELECT %1$I.current_%1$s($1)', _flow.shape_schema) INTO _rows USING _wids;
    CONTINUE WHEN _rows = '{}';
    -- Where the new model leads on from an exception, the exception's job is done by that.
    _tgids := ARRAY(
      SELECT j.tgid FROM unnest(_rows) r
      LEFT JOIN wed.job j ON j.flow_id = _flow_id AND j.wid = r.wid AND j.trname = '_EXCPT' AND j.host_id IS NULL
      ORDER BY r.wid);
    _tgids := ARRAY(
      SELECT CASE WHEN p.becomes <> 'E' THEN p.tgid END
      FROM wed.gather(_rows, _tgids, array_fill(0::bigint, ARRAY[cardinality(_tgids)]), '_REMATCH', NULL, NULL, NULL, NULL) p
      ORDER BY p.wid);
    _chosen := '{}';
    FOR wid, fires, becomes IN
      SELECT p.wid, ARRAY(SELECT t.trname FROM wed.trigger t WHERE t.tgid = ANY (p.fire) ORDER BY t.tgid), p.becomes
      FROM wed.gather(_rows, _tgids, array_fill(0::bigint, ARRAY[cardinality(_tgids)]), '_REMATCH', NULL, NULL, NULL, NULL) p
      WHERE p.fire <> '{}' OR p.becomes <> p.was ORDER BY p.wid
    LOOP
      _chosen := _chosen || wid;
      RETURN NEXT;
    END LOOP;
    IF NOT _preview AND _chosen <> '{}' THEN
      PERFORM wed.settle(array_agg(r.row ORDER BY r.at), array_agg(_tgids[r.at] ORDER BY r.at),
                         array_fill(0::bigint, ARRAY[count(*)::integer]), NULL, '_REMATCH')
      FROM (SELECT _rows[at] AS row, at FROM generate_subscripts(_rows, 1) at) r WHERE (r.row).wid = ANY (_chosen);
    END IF;
  END LOOP;
END $$;
