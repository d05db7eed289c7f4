-- The moment at which a time has passed, counted in a calendar's working hours. Months and years of a deadline are
-- those of the calendar on the wall, from the first; days are days of work: as many hours as the calendar opens. Null
-- calendar: by the clock.
CREATE OR REPLACE FUNCTION wed.add_working_time(_from timestamptz, _span interval,
  _calendar_id integer) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _months interval := make_interval(years => extract(year FROM _span)::integer,
    months => extract(month FROM _span)::integer);
  _days integer := extract(day FROM _span);
  _c wed.work_calendar;
  _left interval;
  _at timestamp;
  _free interval;
BEGIN
  SELECT * INTO _c FROM wed.work_calendar WHERE calendar_id = _calendar_id;
  IF NOT FOUND THEN RETURN _from + _span; END IF;
  _left := _days * (_c.closes - _c.opens) + (_span - _months - make_interval(days => _days));
  _at := (_from AT TIME ZONE _c.zone) + _months;
  -- Ten years of days bound the search, whatever the holidays.
  FOR _day IN 0 .. 3660 LOOP
    IF extract(isodow FROM _at)::integer = ANY (_c.weekdays) AND _at::date <> ALL (_c.holidays) THEN
      _at := greatest(_at, _at::date + _c.opens);
      _free := greatest(_at::date + _c.closes - _at, interval '0');
      IF _free >= _left THEN RETURN (_at + _left) AT TIME ZONE _c.zone; END IF;
      _left := _left - _free;
    END IF;
    _at := (_at::date + 1)::timestamp;
  END LOOP;
  RETURN _from + _span;
END $$;
