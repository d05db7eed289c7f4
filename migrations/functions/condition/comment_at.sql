-- The comment that a text begins with, with those within it; null where it does not end.
CREATE OR REPLACE FUNCTION wed.comment_at(_rest text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $check$
DECLARE
  _comment text := '/*';
  _next text;
  _depth integer := 1;
BEGIN
  WHILE _depth > 0 LOOP
    _next := substring(substr(_rest, length(_comment) + 1) FROM $r$^(?:[^*/]|\*(?!/)|/(?!\*))*(?:\*/|/\*)$r$);
    IF _next IS NULL THEN RETURN NULL; END IF;
    _comment := _comment || _next;
    _depth := _depth + CASE right(_next, 2) WHEN '*/' THEN -1 ELSE 1 END;
  END LOOP;
  RETURN _comment;
END $check$;
