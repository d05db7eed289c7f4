-- Which jobs a rematch ends: where the new model leads on from an exception, the exception's job is done by that.
CREATE OR REPLACE FUNCTION wed.exceptions_done(_rows wed.evaluated[]) RETURNS wed.result[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _results wed.result[];
BEGIN
  _results := ARRAY(
    SELECT ROW(r.wid, j.tgid, 0, NULL, NULL, NULL, NULL)::wed.result FROM unnest(_rows) r
    LEFT JOIN wed.job j ON j.flow_id = r.flow_id AND j.wid = r.wid AND j.trname = '_EXCPT' AND j.host_id IS NULL
    ORDER BY r.wid);
  RETURN ARRAY(
    SELECT ROW(p.wid, CASE WHEN p.becomes <> 'E' THEN p.tgid END, 0, NULL, NULL, NULL, NULL)::wed.result
    FROM unnest(wed.decide(_rows, _results, '_REMATCH', NULL, false)) p ORDER BY p.wid);
END $$;
