-- Adds and changes the attributes of a flow that a definition names; returns those that were added, and those that it
-- does not name.
CREATE OR REPLACE FUNCTION wed.apply_attributes(_flow wed.flow, _attributes jsonb) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _attribute record;
  _present record;
  _added text[] := '{}';
  _kept text[];
BEGIN
  FOR _attribute IN
    SELECT a ->> 'name' AS aname, coalesce(a ->> 'type', 'text') AS atype, a ->> 'default' AS adv,
           coalesce((a ->> 'open')::boolean, false) AS open
    FROM jsonb_array_elements(_attributes) WITH ORDINALITY x(a, at) ORDER BY at
  LOOP
    EXECUTE format('SELECT aname, atype, adv, open FROM %I.wed_attr WHERE aname = $1', _flow.schema_name)
      INTO _present USING _attribute.aname;
    IF _present.aname IS NULL THEN
      EXECUTE format('INSERT INTO %I.wed_attr (aname, atype, adv, open) VALUES ($1, $2, $3, $4)', _flow.schema_name)
        USING _attribute.aname, _attribute.atype, _attribute.adv, _attribute.open;
      _added := _added || _attribute.aname;
    ELSIF _present IS DISTINCT FROM _attribute THEN
      EXECUTE format('UPDATE %I.wed_attr SET atype = $2, adv = $3, open = $4 WHERE aname = $1', _flow.schema_name)
        USING _attribute.aname, _attribute.atype, _attribute.adv, _attribute.open;
    END IF;
  END LOOP;
  EXECUTE format('SELECT array_agg(aname ORDER BY aname) FROM %I.wed_attr
                  WHERE aname NOT IN (SELECT a ->> ''name'' FROM jsonb_array_elements($1) a)', _flow.schema_name)
    INTO _kept USING _attributes;
  RETURN jsonb_build_object('attributes_added', _added, 'attributes_kept', coalesce(_kept, '{}'));
END $$;
