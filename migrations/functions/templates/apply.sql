-- Writes the states of a host's results and evaluates them, in the order of the results. They assign the attributes
-- _assigned: literals, by a statement whose plan is kept, where the flow's components declare to write them; or by a
-- checked SET clause (_set), run with the flow's own rights, or whatever else is assigned, by a statement made for it.
-- With _careful, where a condition fails its instance is at fault, and not the batch. _beside_old: old versions of rows are
-- kept, all of which are in the index in the order in which they were written; the newest is looked for from its end.
-- (Not by equality, which Postgres takes for any order.)
CREATE OR REPLACE FUNCTION {{shape}}.apply_{{shape}}(
  _results wed.result[], _assigned text[], _set text, _version integer, _careful boolean, _beside_old boolean)
    RETURNS wed.evaluated[]
LANGUAGE plpgsql AS ${{quote}}$
#variable_conflict use_column
DECLARE
  _rows {{shape}}.wed_flow[];
  _theirs {{schema}}.wed_flow[];
  _kept integer[];
  _statement text;
  _large integer; -- an instance whose state is too large
  {{places}}
BEGIN
  IF _version < {{attributes_version}} THEN
    PERFORM wed.refuse_older(_version);
  END IF;
  {{refuse_restricted}}
  {{keep_groups}}
  IF _set IS NULL AND _assigned <@ {{written}}::text[] AND _beside_old THEN
    WITH _u AS (
      UPDATE {{schema}}.wed_flow _r SET
        {{sets}}
      FROM unnest(_results) _b CROSS JOIN LATERAL (
        SELECT _l.ctid AS _row FROM {{schema}}.wed_flow _l
        WHERE _l.wid >= _b.wid AND _l.wid <= _b.wid ORDER BY _l.wid DESC LIMIT 1) _f WHERE _r.ctid = _f._row
      RETURNING _r.wid, ROW(_r.*)::{{shape}}.wed_flow AS _state, {{bytes}} AS _bytes)
    SELECT array_agg(_u._state ORDER BY _u.wid), min(_u.wid) FILTER (WHERE _u._bytes > {{bytes_max}})
    INTO _rows, _large FROM _u;
  ELSIF _set IS NULL AND _assigned <@ {{written}}::text[] THEN
    WITH _u AS (
      UPDATE {{schema}}.wed_flow _r SET
        {{sets}}
      FROM unnest(_results) _b WHERE _r.wid = _b.wid
      RETURNING _r.wid, ROW(_r.*)::{{shape}}.wed_flow AS _state, {{bytes}} AS _bytes)
    SELECT array_agg(_u._state ORDER BY _u.wid), min(_u.wid) FILTER (WHERE _u._bytes > {{bytes_max}})
    INTO _rows, _large FROM _u;
  ELSE
    _statement := wed.update_statement({{schema_text}}, {{bytes_text}}, _assigned, _set,
                                       cardinality((_results[1]).literals), _beside_old);
    PERFORM set_config('role', {{role_text}}, true) WHERE _set IS NOT NULL;
    EXECUTE _statement INTO _theirs, _large USING _results;
    PERFORM set_config('role', 'none', true) WHERE _set IS NOT NULL;
    -- Where the flow was changed while this waited for its table, what came back has the new columns and this has not.
    IF (SELECT version FROM wed.flow WHERE flow_id = {{flow_id}}) <> {{version}} THEN
      RAISE EXCEPTION 'the flow was changed meanwhile' USING ERRCODE = '40001';
    END IF;
    _rows := ARRAY(SELECT ROW(_t.*)::{{shape}}.wed_flow FROM unnest(_theirs) _t);
  END IF;
  IF _large IS NOT NULL THEN
    PERFORM wed_bounded.measure_row(_x.wid, (_x.*)::text) FROM unnest(_rows) _x WHERE _x.wid = _large;
  END IF;
  RETURN CASE WHEN _careful THEN {{shape}}.evaluate_{{shape}}(_rows) ELSE {{shape}}.match_{{shape}}(_rows, _kept) END;
END ${{quote}}$
