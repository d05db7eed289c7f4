-- Makes the partition of a day. It is attached, which keeps no writer waiting; rows that came before it move into it.
CREATE OR REPLACE FUNCTION wed.make_day(_day date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  _name text := 'trace_' || to_char(_day, 'YYYYMMDD');
BEGIN
  IF to_regclass('wed.' || _name) IS NOT NULL THEN
    RETURN;
  ELSIF EXISTS (SELECT FROM wed.trace_else WHERE tstmp >= _day AND tstmp < _day + 1) THEN
    PERFORM wed.move_to_partition(_day);
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE wed.%I (LIKE wed.trace INCLUDING ALL)', _name);
  EXECUTE format('REVOKE ALL ON wed.%I FROM PUBLIC', _name);
  EXECUTE format('ALTER TABLE wed.trace ATTACH PARTITION wed.%I FOR VALUES FROM (%L) TO (%L)', _name, _day, _day + 1);
END $$;
