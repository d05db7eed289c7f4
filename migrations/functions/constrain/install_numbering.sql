-- Makes the triggers by which an attribute is numbered; again for one that has them: nothing.
CREATE OR REPLACE FUNCTION wed.install_numbering(_flow wed.flow, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _gapless boolean := (SELECT gapless FROM wed.numbering WHERE flow_id = _flow.flow_id AND attribute = _attribute);
  _name text := 'number_' || md5(_attribute);
  _trigger text;
BEGIN
  EXECUTE format('ALTER TABLE %I.wed_flow ALTER COLUMN %I DROP DEFAULT', _flow.schema_name, _attribute);
  FOREACH _trigger IN ARRAY ARRAY[
    '%1$s_take BEFORE INSERT ON %2$I.wed_flow FOR EACH ROW WHEN (NEW.%3$I IS NULL) EXECUTE FUNCTION wed.take_number',
    '%1$s_give BEFORE INSERT ON %2$I.wed_flow FOR EACH ROW WHEN (NEW.%3$I IS NOT NULL)
       EXECUTE FUNCTION wed.refuse_number',
    '%1$s_set BEFORE UPDATE OF %3$I ON %2$I.wed_flow FOR EACH ROW WHEN (NEW.%3$I IS DISTINCT FROM OLD.%3$I)
       EXECUTE FUNCTION wed.refuse_number'
  ] || CASE WHEN _gapless THEN
    ARRAY['%1$s_use AFTER INSERT ON %2$I.wed_flow REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
       EXECUTE FUNCTION wed.use_numbers'] ELSE '{}' END LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER ' || _trigger || '(%4$s, %5$L)', _name, _flow.schema_name, _attribute,
      _flow.flow_id, _attribute);
  END LOOP;
  IF _gapless THEN PERFORM wed.forget_numbers(_flow, _attribute); END IF;
END $$;

-- Removes the triggers by which an attribute is numbered.
CREATE OR REPLACE FUNCTION wed.remove_numbering(_flow wed.flow, _attribute text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _part text;
BEGIN
  FOREACH _part IN ARRAY ARRAY['take', 'give', 'set', 'use'] LOOP
    EXECUTE format('DROP TRIGGER IF EXISTS %I ON %I.wed_flow', 'number_' || md5(_attribute) || '_' || _part,
      _flow.schema_name);
  END LOOP;
END $$;
