-- Refuses what cannot be written to a flow's wed_resource. The rows are documents; null: there is none.
CREATE OR REPLACE FUNCTION wed.check_resource(_flow_id integer, _operation text, _old jsonb, _new jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _number text;
BEGIN
  IF _operation = 'DELETE' THEN RETURN; END IF;
  IF _operation = 'UPDATE' AND (_new -> 'resource', _new -> 'key', _new -> 'held') IS DISTINCT
      FROM (_old -> 'resource', _old -> 'key', _old -> 'held') THEN
    RAISE EXCEPTION 'of a resource only capacity and minimum can change' USING ERRCODE = 'WF013',
      HINT = 'Insert another row for another key; what is held follows from reservations.';
  ELSIF _operation = 'INSERT' AND _new ->> 'resource' IS NOT NULL AND NOT EXISTS (
      SELECT FROM wed.trigger_constraint WHERE flow_id = _flow_id AND resource = _new ->> 'resource') THEN
    RAISE EXCEPTION 'no trigger of the flow declares the resource "%"', left(_new ->> 'resource', 80)
        USING ERRCODE = 'WF013',
      HINT = 'Set resource of a trigger that reserves; leave it out for the flow''s own.';
  ELSIF coalesce(octet_length(_new ->> 'key'), 0) NOT BETWEEN 1 AND 256 OR left(_new ->> 'key', 1) IN ('{', '[') THEN
    RAISE EXCEPTION 'the key % cannot be reserved', coalesce(quote_literal(left(_new ->> 'key', 80)), 'null')
        USING ERRCODE = 'WF060',
      HINT = 'A key is a text or number of 1 to 256 bytes that does not begin with { or [.';
  END IF;
  FOREACH _number IN ARRAY ARRAY[coalesce(_new ->> 'capacity', 'null'), coalesce(_new ->> 'minimum', '0')] LOOP
    IF _number !~ '^-?[0-9.]{1,40}$' THEN
      RAISE EXCEPTION 'capacity and minimum of "%" are numbers of at most 40 digits, not %', _new ->> 'key',
          left(_number, 40)
        USING ERRCODE = 'WF061', HINT = 'For example: capacity 10, minimum 2.';
    END IF;
  END LOOP;
END $$;
