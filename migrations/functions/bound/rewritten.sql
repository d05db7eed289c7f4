-- A condition that is stored, written anew as it is run, and what it weighs. One that the rules allow no more fails
-- when it is evaluated, so its flow keeps working and each instance that meets it says why.
CREATE OR REPLACE FUNCTION wed.rewritten(_shape_schema text, _of wed.trigger, OUT guarded text, OUT weight integer)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _checked record;
BEGIN
  _checked := wed.check_predicate(_shape_schema, _of.tgid, _of.predicate);
  guarded := _checked.guarded;
  weight := _checked.weight;
EXCEPTION WHEN OTHERS THEN
  guarded := format('wed_bounded.refuse_condition(%L)', SQLERRM);
  weight := 0;
END $$;
