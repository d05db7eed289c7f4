-- Refuses a time zone that is not written there by its name, nor a choice of such. Postgres keeps each zone that it was
-- ever asked for.
CREATE OR REPLACE FUNCTION wed.check_zone(_nodes wed.expression_node[], _at integer) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (
    WITH RECURSIVE z AS (
      SELECT n.* FROM unnest(_nodes) n WHERE n.at = _at
      UNION ALL
      SELECT n.* FROM z JOIN unnest(_nodes) n ON n.around = z.at AND CASE z.node
        WHEN 'CASE' THEN n.node IN ('WHEN', 'CASEWHEN') OR n.part > 1
        WHEN 'WHEN' THEN n.part = 2 WHEN 'CASEWHEN' THEN n.part = 2
        WHEN 'COALESCE' THEN true WHEN 'NULLIFEXPR' THEN n.part = 1 ELSE false END)
    SELECT FROM z WHERE node NOT IN ('CASE', 'WHEN', 'CASEWHEN', 'COALESCE', 'NULLIFEXPR')
      AND NOT (node = 'CONST' AND (fields ~ ':constisnull true' OR wed.is_zone(wed.constant_text(fields)))))
  THEN
    RAISE EXCEPTION 'a time zone is written there, by its name' USING ERRCODE = 'WF011',
      HINT =
        'For example ''UTC'', ''Europe/Berlin'' or ''+02''; of a few zones write CASE a1 WHEN ''DE'' THEN '
        '''Europe/Berlin'' ELSE ''UTC'' END.';
  END IF;
END $$;
