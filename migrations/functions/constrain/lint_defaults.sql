-- The values of a flow's attributes in an instance that is started without any, as far as they are constants.
CREATE OR REPLACE FUNCTION wed.lint_defaults(_flow_id integer) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _defaults jsonb;
BEGIN
  EXECUTE format('SELECT coalesce(jsonb_object_agg(aname, adv) FILTER (WHERE adv IS NOT NULL), ''{}'')
                  FROM %I.wed_attr', (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id)) INTO _defaults;
  RETURN (SELECT coalesce(jsonb_object_agg(d.key, d.value), '{}') FROM jsonb_each(_defaults) d
          WHERE d.key IN (SELECT v.name FROM wed.lint_values(_flow_id) v));
END $$;
