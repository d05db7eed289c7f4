-- Joins two disjunctions of conjunctions by AND or OR.
CREATE OR REPLACE FUNCTION wed.join_terms(_operator text, _a jsonb, _b jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _joined jsonb;
BEGIN
  IF _operator = 'OR' THEN
    _joined := _a || _b;
  ELSE
    SELECT jsonb_agg(x || y) INTO _joined FROM jsonb_array_elements(_a) x CROSS JOIN jsonb_array_elements(_b) y;
  END IF;
  IF jsonb_array_length(_joined) > 64 THEN
    RAISE EXCEPTION 'the order has more than 64 alternatives' USING ERRCODE = 'WF062',
        HINT = 'Name fewer triggers, or a trigger that stands for some.';
  END IF;
  RETURN _joined;
END $$;
