-- Says of items, for a person: the bytes of their data, the state they were read from (`base`), the component with its
-- size, and a mark that changes when anything that is taken away with the item does: its data, its plan, its
-- component, its claim, the tasks taken along.
CREATE OR REPLACE FUNCTION wed.work_extents(_items wed.work_item[], _person_id integer)
RETURNS TABLE (item_id bigint, data_bytes bigint, extent jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH item AS (SELECT i.* FROM unnest(_items) i),
  task AS MATERIALIZED (
    SELECT t.tgid, p.applied_at, wed.application_bytes(f.tenant_id, t.application) AS bytes,
      wed.application_mark(f.tenant_id, t.application) AS mark
    FROM wed.work_task t JOIN wed.flow f USING (flow_id) LEFT JOIN wed.work_plan p USING (flow_id)
    WHERE t.tgid IN (SELECT i.tgid FROM item i)),
  size AS (
    SELECT s.* FROM (SELECT i.flow_id, array_agg(i.item_id) AS items FROM item i GROUP BY i.flow_id) f
    CROSS JOIN LATERAL wed.data_sizes(f.flow_id, f.items) s),
  along AS (
    SELECT r.flow_id, r.wid, string_agg(r.tgid::text, ',' ORDER BY r.place) AS tasks,
      sum(wed.application_bytes(f.tenant_id, w.application)) AS bytes
    FROM wed.work_reservation r JOIN wed.work_task w USING (tgid) JOIN wed.flow f ON f.flow_id = r.flow_id
    WHERE r.person_id = _person_id AND (r.flow_id, r.wid) IN (SELECT i.flow_id, i.wid FROM item i)
    GROUP BY r.flow_id, r.wid)
  SELECT i.item_id, coalesce(s.bytes, 0), jsonb_build_object('data_bytes', coalesce(s.bytes, 0), 'base', j.last_seq,
    'application_bytes', t.bytes, 'application_mark', t.mark, 'behind_bytes', coalesce(a.bytes, 0),
    'mark', md5(concat_ws(' ', j.last_seq, t.applied_at, t.mark, i.claim, i.deadline_at, a.tasks)))
  FROM item i
  LEFT JOIN wed.job j ON j.flow_id = i.flow_id AND j.wid = i.wid AND j.tgid = i.tgid
  LEFT JOIN task t ON t.tgid = i.tgid
  LEFT JOIN size s ON s.item_id = i.item_id
  LEFT JOIN along a ON a.flow_id = i.flow_id AND a.wid = i.wid
$$;

-- The bytes of the attributes that people see of a flow's items. Sizes are read without the values.
CREATE OR REPLACE FUNCTION wed.data_sizes(_flow_id integer, _items bigint[])
RETURNS TABLE (item_id bigint, bytes bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _schema text := (SELECT schema_name FROM wed.flow WHERE flow_id = _flow_id);
  _sum text;
BEGIN
  IF _schema IS NULL THEN RETURN; END IF;
  SELECT string_agg(format('CASE WHEN %L = ANY (t.inputs) THEN coalesce(%s(w.%I), 0) ELSE 0 END', a.attname,
    CASE WHEN a.atttypid IN ('text'::regtype, 'varchar'::regtype) THEN 'octet_length' ELSE 'pg_column_size' END,
    a.attname), ' + ') INTO _sum
  FROM pg_attribute a WHERE a.attrelid = to_regclass(format('%I.wed_flow', _schema)) AND a.attnum > 0
    AND NOT a.attisdropped AND a.attname <> 'wid';
  RETURN QUERY EXECUTE format(
    'SELECT i.item_id, (%s)::bigint FROM wed.work_item i JOIN %I.wed_flow w ON w.wid = i.wid
     JOIN wed.work_task t ON t.tgid = i.tgid WHERE i.item_id = ANY ($1)', coalesce(_sum, '0'), _schema) USING _items;
END $$;

-- The mark of this installation.
CREATE OR REPLACE FUNCTION wed.installation_mark() RETURNS uuid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT mark FROM wed.installation $$;
