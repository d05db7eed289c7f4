-- Chores of a flow as a whole: `pauses` keeps paused what is, `numbers` keeps free numbers in stock.

CREATE OR REPLACE FUNCTION wed.due_pauses()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT DISTINCT f.tenant_id, f.flow_id, 0::bigint, 0, now() FROM wed.pause p
  JOIN wed.flow f ON f.tenant_id = p.tenant_id AND (p.flow_id IS NULL OR p.flow_id = f.flow_id)
$$;

-- Jobs that hosts gave back or that were fired meanwhile are paused too.
CREATE OR REPLACE FUNCTION wed.do_pauses(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT to_jsonb(wed.keep_paused(_flow_id))
$$;

CREATE OR REPLACE FUNCTION wed.due_numbers()
RETURNS TABLE (tenant_id integer, flow_id integer, thing bigint, tgid integer, since timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT DISTINCT f.tenant_id, n.flow_id, 0::bigint, 0, now() FROM wed.numbering n JOIN wed.flow f USING (flow_id)
  WHERE n.gapless AND wed.needs_numbers(n)
$$;

-- Tells whether few free numbers of a series without gaps are left, and more can be made.
CREATE OR REPLACE FUNCTION wed.needs_numbers(_series wed.numbering) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT _series.made_to < 2000000000000000000 AND count(*) < 128 FROM (SELECT FROM wed.free_number f
    WHERE f.flow_id = _series.flow_id AND f.attribute = _series.attribute LIMIT 128) f
$$;

-- Makes numbers before there are none, so that who takes one makes none.
CREATE OR REPLACE FUNCTION wed.do_numbers(_tenant_id integer, _flow_id integer, _thing bigint, _tgid integer)
RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _series wed.numbering;
BEGIN
  FOR _series IN SELECT * FROM wed.numbering n WHERE n.flow_id = _flow_id AND n.gapless AND wed.needs_numbers(n)
                 FOR UPDATE SKIP LOCKED LOOP
    PERFORM wed.make_numbers(_flow_id, _series.attribute);
  END LOOP;
  RETURN 'true';
END $$;
