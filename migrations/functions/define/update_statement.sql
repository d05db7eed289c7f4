-- The statement that applies a SET clause to instances, or assigns literals to attributes. $1 is an array of
-- wed.result; literal n is _b._n, up to _count. It returns the new rows, and an instance whose row is too large
-- (_large, an expression over one). _held: the newest version of a row is looked for (template apply).
CREATE OR REPLACE FUNCTION wed.update_statement(
  _schema text, _large text, _assigned text[], _set text, _count integer, _held boolean) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _literals text;
BEGIN
  IF _set IS NULL THEN
    SELECT string_agg(format('%I = _b._%s::%s', u.name, u.at, coalesce(format_type(a.atttypid, a.atttypmod), 'text')),
      ', ')
    INTO _set
    FROM unnest(_assigned) WITH ORDINALITY u(name, at)
    -- One that there is not is left to the statement to name.
    LEFT JOIN pg_attribute a ON a.attrelid = format('%I.wed_flow', _schema)::regclass AND a.attname = u.name
      AND a.attnum > 1;
  END IF;
  -- A result that assigns nothing passes the gate like any other.
  _set := coalesce(_set, 'wid = _r.wid');
  SELECT string_agg(format(', _l.literals[%s] AS _%1$s', n), '') INTO _literals
  FROM generate_series(1, _count) n;
  RETURN format('WITH _u AS (UPDATE %1$I.wed_flow _r SET %2$s
      FROM (SELECT _l.wid AS _wid%3$s FROM unnest($1) _l OFFSET 0) _b %5$s
      RETURNING _r.wid, ROW(_r.*)::%1$I.wed_flow AS _state, %4$s AS _large)
    SELECT array_agg(_u._state ORDER BY _u.wid), min(_u.wid) FILTER (WHERE _u._large) FROM _u',
    _schema, _set, _literals, _large,
    CASE WHEN NOT _held THEN 'WHERE _r.wid = _b._wid' ELSE format('CROSS JOIN LATERAL (
        SELECT _l.ctid AS _row FROM %I.wed_flow _l WHERE _l.wid >= _b._wid AND _l.wid <= _b._wid
          ORDER BY _l.wid DESC LIMIT 1) _f
      WHERE _r.ctid = _f._row', _schema) END);
END $$;
