-- Makes or changes a calendar of a tenant.
CREATE OR REPLACE FUNCTION wed.set_calendar(
  _tenant text, _name text, _zone text, _weekdays integer[], _opens time, _closes time,
    _holidays date[]) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _id integer;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_timezone_names WHERE name = _zone) THEN
    RAISE EXCEPTION 'there is no time zone "%"', left(_zone, 80) USING ERRCODE = 'WF085',
      HINT = 'Name a zone of the IANA database, such as America/Sao_Paulo.';
  END IF;
  INSERT INTO wed.work_calendar (tenant_id, name, zone, weekdays, opens, closes, holidays)
  SELECT tenant_id, _name, _zone, _weekdays, _opens, _closes, _holidays FROM wed.tenant WHERE name = _tenant
  ON CONFLICT (tenant_id, name) DO UPDATE SET zone = excluded.zone, weekdays = excluded.weekdays,
    opens = excluded.opens,
    closes = excluded.closes, holidays = excluded.holidays
  RETURNING calendar_id INTO _id;
  RETURN _id;
END $$;
