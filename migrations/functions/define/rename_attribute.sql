-- Gives an attribute another name. Conditions follow it: on the shape their tree holds the column, not the text. So do
-- the values of schedules, and people's tasks with their forms.
CREATE OR REPLACE FUNCTION wed.rename_attribute(_flow wed.flow, _former text, _name text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _schema text;
BEGIN
  PERFORM wed.put_readers_on_shape(_flow, _former);
  FOREACH _schema IN ARRAY ARRAY[_flow.schema_name, _flow.shape_schema] LOOP
    EXECUTE format('ALTER TABLE %I.wed_flow RENAME COLUMN %I TO %I', _schema, _former, _name);
  END LOOP;
  PERFORM wed.take_readers_off_shape(_flow, _former, _name);
  EXECUTE format('UPDATE %I.wed_trig w SET cpred = t.predicate, writes = array_replace(w.writes, $1, $2)
                  FROM wed.trigger t WHERE t.tgid = w.tgid AND ($2 = ANY (t.reads) OR $1 = ANY (w.writes))',
                 _flow.schema_name) USING _former, _name;
  UPDATE wed.trigger SET writes = array_replace(writes, _former, _name)
  WHERE flow_id = _flow.flow_id AND _former = ANY (writes);
  UPDATE wed.schedule SET state = state - _former || jsonb_build_object(_name, state -> _former)
  WHERE flow_id = _flow.flow_id AND state ? _former;
  PERFORM wed.rename_in_work(_flow.flow_id, _former, _name);
END $$;

-- Puts the conditions that read an attribute on the flow's shape, as constraints: Postgres changes them with the column.
CREATE OR REPLACE FUNCTION wed.put_readers_on_shape(_flow wed.flow, _name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM wed.put_on_shape(_flow.shape_schema, t.tgid, t.predicate)
  FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND _name = ANY (t.reads);
END $$;

-- Takes the conditions that read an attribute from the shape, as the change of its column has left them. They are
-- written anew as they are run when the definition is compiled.
CREATE OR REPLACE FUNCTION wed.take_readers_off_shape(_flow wed.flow, _former text, _name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wed.trigger t SET
    predicate = (SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint
                 WHERE conrelid = format('%I.wed_flow', _flow.shape_schema)::regclass AND conname = 'c' || t.tgid),
    reads = array_replace(reads, _former, _name), guarded = NULL
  WHERE flow_id = _flow.flow_id AND _former = ANY (reads);
  PERFORM wed.take_off_shape(_flow.shape_schema, t.tgid)
  FROM wed.trigger t WHERE t.flow_id = _flow.flow_id AND _name = ANY (t.reads);
END $$;
