-- The statement by which a flow's apply finds out which groups of conditions read nothing that a result assigns; null
-- where conditions are not in groups.
CREATE OR REPLACE FUNCTION wed.keep_groups_text(_flow wed.flow) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format($t$IF NOT _held AND wed.are_of_version(%s, %s, _results) THEN
    _kept := ARRAY(SELECT _g.number FROM (VALUES %s) AS _g(number, reads) WHERE NOT _g.reads && _assigned);
  END IF;$t$, _flow.flow_id, _flow.version, string_agg(format('(%s, %L::text[])', g.condition_group, g.reads), ', '))
  FROM (SELECT DISTINCT condition_group, reads FROM wed.trigger
        WHERE flow_id = _flow.flow_id AND enabled AND condition_group > 0) g
  HAVING count(*) > 0
$$;
