-- Evaluates the conditions over some rows; where one fails, finds out on which row, whose instance is at fault.
CREATE OR REPLACE FUNCTION {{shape}}.evaluate_{{shape}}(_rows {{shape}}.wed_flow[]) RETURNS wed.evaluated[]
LANGUAGE plpgsql AS $f$
DECLARE
  _all wed.evaluated[];
  _one wed.evaluated;
BEGIN
  BEGIN
    RETURN {{shape}}.match_{{shape}}(_rows, NULL);
  EXCEPTION WHEN OTHERS THEN
    NULL; -- some condition fails on some row: find out which
  END;
  FOR _i IN 1 .. cardinality(_rows) LOOP
    BEGIN
      _one := ({{shape}}.match_{{shape}}(_rows[_i:_i], NULL))[1];
    EXCEPTION WHEN OTHERS THEN
      _one := ROW({{flow_id}}, NULL, (_rows[_i]).wid, (to_jsonb(_rows[_i]) - 'wid')::text, NULL, '{}', '{}', false,
                  'a condition failed: ' || SQLERRM)::wed.evaluated;
    END;
    _all := _all || _one;
  END LOOP;
  RETURN _all;
END $f$
