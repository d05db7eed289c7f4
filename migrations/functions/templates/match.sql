-- Evaluates the enabled conditions over some rows: one expression for all of them. Groups of conditions that are named
-- in _kept are left out, since nothing that they read has changed.
CREATE OR REPLACE FUNCTION {{shape}}.match_{{shape}}(_rows {{shape}}.wed_flow[], _kept integer[])
  RETURNS wed.evaluated[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS ${{quote}}$
#variable_conflict use_column
DECLARE
  _answers wed.evaluated[];
BEGIN
  -- What conditions take together is held to a time (wed_bounded.in_time).
  PERFORM set_config('wed.begun', extract(epoch FROM clock_timestamp())::text, true);
  _answers := ARRAY(SELECT ROW({{flow_id}}, {{version}}, _row.wid,
    {{state}},
    {{payload}},
    {{fired}},
    {{kept}},
    {{final}},
    NULL)::wed.evaluated FROM unnest(_rows) _row);
  PERFORM set_config('wed.begun', '', true);
  RETURN _answers;
END ${{quote}}$
