CREATE OR REPLACE FUNCTION wed_bounded.refuse_elements(_attribute text, _elements integer) RETURNS boolean
LANGUAGE plpgsql STRICT AS $$
BEGIN
  RAISE EXCEPTION 'the value of attribute "%" has % elements', _attribute, _elements USING ERRCODE = 'WF033',
    HINT = 'At most 4096. Keep long lists elsewhere, and their place in the state.';
END $$;
