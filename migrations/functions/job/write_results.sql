-- Writes the states of finished transitions and evaluates their conditions, group by group. Of a flow with several
-- groups all instances are held first, in order: each group's UPDATE takes its own in order, and two batches would wait
-- for each other.
CREATE OR REPLACE FUNCTION wed.write_results(_groups wed.result_group[], _careful boolean, _held boolean)
  RETURNS wed.evaluated[]
LANGUAGE plpgsql AS $$
DECLARE
  _group wed.result_group;
  _last text;
  _some wed.evaluated[];
  _parts wed.part[] := '{}';
BEGIN
  PERFORM set_config('wed.commit', 'batch', true);
  FOREACH _group IN ARRAY _groups LOOP
    IF _group.shape_schema IS DISTINCT FROM _last THEN
      PERFORM wed.hold_instances(_groups, _group.shape_schema);
      _last := _group.shape_schema;
    END IF;
    EXECUTE format('SELECT %1$I.apply_%1$s($1, $2, $3, $4, $5, $6)', _group.shape_schema) INTO _some
      USING _group.results, _group.assigned, _group.set_clause, _group.version, _careful, _held;
    IF cardinality(_some) IS DISTINCT FROM cardinality(_group.results) THEN
      PERFORM wed.refuse_update('lost', (_group.results[1]).wid);
    END IF;
    _parts := _parts || ROW(_some)::wed.part;
  END LOOP;
  PERFORM set_config('wed.commit', '', true);
  -- Put together once: a variable that grew flow by flow would be copied each time.
  RETURN ARRAY(SELECT r FROM unnest(_parts) p CROSS JOIN unnest(p.rows) r);
END $$;
