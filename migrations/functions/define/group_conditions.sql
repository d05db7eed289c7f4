-- Groups the conditions of a flow that has many: those that read the same attributes are a group, which is left out
-- where none of these has changed. Group 0 is always evaluated; conditions that depend on the time are in it. Only rows
-- whose group is another one now are written.
CREATE OR REPLACE FUNCTION wed.group_conditions(_flow_id integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  _triggers_min CONSTANT integer := 16;
  _members_min CONSTANT integer := 4;
  _groups_max CONSTANT integer := 32;
BEGIN
  WITH t AS (
    SELECT tgid, condition_group, reads, enabled AND NOT cfinal AS fires,
           enabled AND NOT cfinal AND predicate IS NOT NULL AND NOT timely AND NOT constrained AS may
    FROM wed.trigger WHERE flow_id = _flow_id
  ), g AS (
    SELECT reads, row_number() OVER (ORDER BY count(*) DESC, reads) AS number FROM t
    WHERE may AND (SELECT count(*) FROM t WHERE fires) > _triggers_min
    GROUP BY reads HAVING count(*) >= _members_min LIMIT _groups_max
  ), n AS (
    SELECT t.tgid, coalesce(g.number, 0) AS number, t.condition_group FROM t LEFT JOIN g ON t.may AND t.reads = g.reads)
  UPDATE wed.trigger w SET condition_group = n.number FROM n WHERE w.tgid = n.tgid AND n.condition_group <> n.number;
END $$;
