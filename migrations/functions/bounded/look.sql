-- The one check of an operand where it is used: refuses one that is longer than _most, and any when the time for a
-- state's conditions is up (wed.begun is set by the function that evaluates them). Being a statement, it is also
-- where a cancelled or timed-out query ends.
CREATE OR REPLACE FUNCTION wed_bounded.look(_bytes bigint, _most bigint, _of text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _bytes > _most THEN
    RAISE EXCEPTION 'a value that is computed with has % %', _bytes, _of USING ERRCODE = 'WF032',
      HINT = format('At most %s here. Compare whole values with =, or take a part: left(text, 64).', _most);
  ELSIF extract(epoch FROM clock_timestamp()) - nullif(current_setting('wed.begun', true), '')::numeric > 1 THEN
    RAISE EXCEPTION 'evaluating the conditions took more than 1 s' USING ERRCODE = 'WF034',
      HINT = 'Search shorter texts and documents, or let a transition compute what the conditions need.';
  END IF;
END $$;
