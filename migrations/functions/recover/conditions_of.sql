-- The enabled conditions of a flow over an instance's present state, the final one last: the trigger's name, or its
-- transition's; the condition as it was written; whether it holds, null where the state cannot be evaluated; and why.
CREATE OR REPLACE FUNCTION wed.conditions_of(_flow_id integer, _wid integer)
  RETURNS TABLE (trigger text, condition text, cfinal boolean, holds boolean, fault text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM wed.instance WHERE flow_id = _flow_id AND wid = _wid) THEN
    RAISE EXCEPTION 'there is no instance %', _wid USING ERRCODE = 'WF040',
      HINT = '`wed instance list FLOW` shows the instances there are.';
  END IF;
  RETURN QUERY EXECUTE format('
    SELECT CASE WHEN w.cfinal THEN ''final'' ELSE coalesce(nullif(w.tgname, ''''), w.trname) END, w.cpred, w.cfinal,
      CASE WHEN r.fault IS NULL THEN CASE WHEN w.cfinal THEN r.final
        ELSE w.tgid IN (SELECT (f & 4294967295)::integer FROM unnest(r.fired) f) END END, r.fault
    FROM unnest($1) r CROSS JOIN %I.wed_trig w WHERE w.enabled ORDER BY w.cfinal, w.tgid',
    (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) USING wed.as_it_stands(_flow_id, _wid);
END $$;
