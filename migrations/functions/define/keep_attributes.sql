-- Keeps what hosts and the gate need of a flow's attributes in our own tables: wed_attr is its tenant's, who may lock
-- it. _changed: an attribute has another name or type, or is gone, so that results which were made before are made
-- anew.
CREATE OR REPLACE FUNCTION wed.keep_attributes(_flow wed.flow, _changed boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM wed.attribute WHERE flow_id = _flow.flow_id;
  EXECUTE format('INSERT INTO wed.attribute SELECT $1, w.aname, w.atype, a.attnum FROM %1$I.wed_attr w
                  JOIN pg_attribute a ON a.attname = w.aname
                    AND a.attrelid = ''%1$I.wed_flow''::regclass', _flow.schema_name)
    USING _flow.flow_id;
  EXECUTE format('UPDATE wed.flow SET open_attributes = ARRAY(SELECT aname FROM %I.wed_attr WHERE open),
                    attributes_version = CASE WHEN $2 THEN version + 1 ELSE attributes_version END WHERE flow_id = $1',
                 _flow.schema_name) USING _flow.flow_id, _changed;
END $$;
