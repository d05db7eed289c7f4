-- A number of an attribute: what has too many digits is refused; NaN and the infinities have none.
CREATE OR REPLACE FUNCTION wed_bounded.refuse_digits(_attribute text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the value of attribute "%" has too many digits', _attribute USING ERRCODE = 'WF031',
    HINT =
      'At most 100 digits before the point and 100 behind it, of numbers in documents 1000; round(value, digits) cuts.';
END $$;

-- A document of an attribute that is nested deeper than what reads it bears.
CREATE OR REPLACE FUNCTION wed_bounded.refuse_depth(_attribute text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the document in attribute "%" is nested too deeply', _attribute USING ERRCODE = 'WF035',
    HINT = 'At most 100 levels of arrays and objects. Flatten it, or keep its text.';
END $$;
