-- Takes the order that transitions of some instances have set by their flow's order attribute: a document of after by
-- trigger. What it no longer says is dropped. Of instances that are final nothing is kept.
CREATE OR REPLACE FUNCTION wed.take_order(_flow wed.flow, _wids integer[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _one record;
BEGIN
  DELETE FROM wed.task_done d USING wed.instance i
  WHERE d.flow_id = _flow.flow_id AND d.wid = ANY (_wids) AND i.flow_id = d.flow_id AND i.wid = d.wid
      AND i.status = 'F';
  DELETE FROM wed.precedence d USING wed.instance i
  WHERE d.flow_id = _flow.flow_id AND d.wid = ANY (_wids) AND i.flow_id = d.flow_id AND i.wid = d.wid
      AND i.status = 'F';
  IF _flow.order_attribute IS NULL THEN RETURN; END IF;
  FOR _one IN EXECUTE format('SELECT w.wid, %I AS said FROM %I.wed_flow w WHERE w.wid = ANY ($1) ORDER BY w.wid',
                             _flow.order_attribute, _flow.schema_name) USING _wids
  LOOP
    PERFORM wed.order_by_result(_flow.flow_id, _one.wid, _one.said);
  END LOOP;
END $$;
