CREATE OR REPLACE FUNCTION wed.check_attribute_name(_name text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF _name IS NULL OR _name !~ '^[[:alpha:]][[:alnum:]_]*$' THEN
    RAISE EXCEPTION 'the attribute name % is not allowed', coalesce(quote_literal(left(_name, 80)), 'null')
      USING ERRCODE = 'WF012', HINT = 'Begin with a letter, go on with letters, digits and underscores.';
  END IF;
  IF octet_length(_name) > 63 THEN
    RAISE EXCEPTION 'the attribute name "%..." is longer than 63 bytes', left(_name, 20)
      USING ERRCODE = 'WF012', HINT = 'Choose a shorter name.';
  END IF;
  IF lower(_name) IN ('wid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid') THEN
    RAISE EXCEPTION 'the attribute name "%" is taken by the server', _name USING ERRCODE = 'WF012',
      HINT = 'wid numbers the instances; ctid, xmin, xmax, cmin, cmax and tableoid are Postgres''s own.';
  END IF;
END $$;
