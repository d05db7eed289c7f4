-- Lets transitions set the order of their instances' tasks, by an attribute of type jsonb; null: no longer.
CREATE OR REPLACE FUNCTION wed.order_by_attribute(_flow_id integer, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _attribute IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.flow f JOIN pg_attribute a ON a.attrelid = format('%I.wed_flow', f.schema_name)::regclass
      WHERE f.flow_id = _flow_id AND a.attname = _attribute AND a.atttypid = 'jsonb'::regtype
          AND NOT a.attisdropped) THEN
    RAISE EXCEPTION 'the flow has no attribute "%" of type jsonb', left(_attribute, 80) USING ERRCODE = 'WF013',
      HINT = 'Insert it into wed_attr first.';
  END IF;
  UPDATE wed.flow SET order_attribute = _attribute WHERE flow_id = _flow_id AND order_attribute IS DISTINCT
      FROM _attribute;
  IF FOUND THEN PERFORM wed.mark_constrained(_flow_id); END IF;
END $$;
