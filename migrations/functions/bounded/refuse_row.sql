CREATE OR REPLACE FUNCTION wed_bounded.refuse_row(_wid integer, _bytes integer) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the state of instance % takes % bytes', _wid, _bytes USING ERRCODE = 'WF033',
    HINT =
      'At most 262144 (256 KiB) for all attributes together. Keep large things elsewhere, and their place in the '
      'state.';
END $$;

CREATE OR REPLACE FUNCTION wed_bounded.refuse_row(_row record) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RETURN wed_bounded.refuse_row(_row.wid, pg_catalog.pg_column_size(_row));
END $$;
