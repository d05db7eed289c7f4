-- Gives an attribute another name. Conditions follow it: on the shape their tree holds the column, not the text.
CREATE OR REPLACE FUNCTION wed.rename_attribute(_flow wed.flow, _former text, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _schema text;
BEGIN
  PERFORM wed.put_on_shape(_flow.shape_schema, t.tgid, t.predicate)
  FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND _former = ANY (t.reads);
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    EXECUTE format('ALTER TABLE %I.wed_flow RENAME COLUMN %I TO %I', _schema, _former, _name);
  END LOOP;
  UPDATE wed.trigger t SET
    predicate = (SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint
                 WHERE conrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND conname = 'c' || t.tgid),
    reads = array_replace(reads, _former, _name), guarded = NULL
  WHERE flow_id = _flow.flow_id AND _former = ANY (reads);
  PERFORM wed.take_off_shape(_flow.shape_schema, t.tgid)
  FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND _name = ANY (t.reads);
  EXECUTE format('UPDATE %I.wed_trig w SET cpred = t.predicate, writes = array_replace(w.writes, $1, $2)
                  FROM wed.trigger t WHERE t.tgid = w.tgid AND ($2 = ANY (t.reads) OR $1 = ANY (w.writes))',
                 _flow.schema_name) USING _former, _name;
  UPDATE wed.trigger SET writes = array_replace(writes, _former, _name)
  WHERE flow_id = _flow.flow_id AND _former = ANY (writes);
END $$;
