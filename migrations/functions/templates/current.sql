-- Evaluates the conditions over the present states of some instances.
CREATE OR REPLACE FUNCTION {{shape}}.current_{{shape}}(_wids integer[]) RETURNS wed.evaluated[]
LANGUAGE sql STABLE AS $f$
  SELECT {{shape}}.evaluate_{{shape}}(ARRAY(
    SELECT ROW(_now.*)::{{shape}}.wed_flow FROM {{schema}}.wed_flow _now WHERE _now.wid = ANY (_wids)
      ORDER BY _now.wid))
$f$
