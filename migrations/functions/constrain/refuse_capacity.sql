CREATE OR REPLACE FUNCTION wed.refuse_capacity(_key text, _capacity numeric, _minimum numeric) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of "%" would be left, and % is the minimum', _capacity, _key, _minimum USING ERRCODE = 'WF061',
    HINT = 'Add to its capacity in wed_resource, or lower its minimum; then retry.';
END $$;
