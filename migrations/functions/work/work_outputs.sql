-- The attributes that a report of an item may set: those of its plan, else what its trigger writes, else all.
CREATE OR REPLACE FUNCTION wed.work_outputs(_item wed.work_item) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _outputs text[];
BEGIN
  SELECT coalesce(w.outputs, t.writes) INTO _outputs FROM wed.work_task w JOIN wed.trigger t USING (tgid)
    WHERE w.tgid = _item.tgid;
  IF _outputs IS NULL THEN
    EXECUTE format('SELECT array_agg(aname ORDER BY aname) FROM %I.wed_attr',
                   (SELECT schema_name FROM wed.flow WHERE flow_id = _item.flow_id)) INTO _outputs;
  END IF;
  RETURN coalesce(_outputs, '{}');
END $$;
