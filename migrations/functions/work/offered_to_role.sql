-- Ready items of a role (null: of anybody) that are on the worklist of its active people, by policy 1: the first _limit
-- by arrival or priority, for which there are indexes; all of them for other orders. Who connected after a round of
-- offers is in the next (see wed.is_offered).
CREATE OR REPLACE FUNCTION wed.offered_to_role(
  _tenant_id integer, _role_id integer, _person_id integer, _connected_at timestamptz, _order text,
  _limit integer, _now timestamptz)
RETURNS SETOF wed.work_item LANGUAGE plpgsql STABLE ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _sorted CONSTANT text := CASE _order WHEN 'arrival' THEN 'ORDER BY i.item_id LIMIT $5'
                                       WHEN 'priority' THEN 'ORDER BY i.priority DESC, i.item_id LIMIT $5' ELSE '' END;
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT i.* FROM wed.work_item i
     WHERE %s AND i.state = ''READY'' AND i.policy = 1 AND i.tenant_id = $1 AND i.only_people IS NULL
       AND $6 <> ALL (i.not_people)
       AND $4 >= i.offered_at + i.renotify
         * ceil(greatest(extract(epoch FROM $3 - i.offered_at), 0) / extract(epoch FROM i.renotify))::double precision
     %s', CASE WHEN _role_id IS NULL THEN 'i.role_id IS NULL AND NOT i.candidates' ELSE 'i.role_id = $2' END, _sorted)
    USING _tenant_id, _role_id, _connected_at, _now, _limit, _person_id;
END $$;
