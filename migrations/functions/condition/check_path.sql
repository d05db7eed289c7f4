-- Refuses a path into a document that could take longer than a few looks at all of it. The guard of the hosts judges
-- in the same way (host/guard/src/pattern.rs).
CREATE OR REPLACE FUNCTION wed.check_path(_path text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $check$
DECLARE
  _bare text := regexp_replace(_path, '"(?:[^"\\]|\\.)*"', '"', 'g');
  _close text := regexp_replace(_bare, '\s', '', 'g');
  _rest text := _close;
  _group text[];
  _whole boolean := false;     -- a filter looks at more than its own element
  _why text;
BEGIN
  -- From the innermost brackets outwards.
  LOOP
    _group := regexp_match(_rest, '(\??)\(([^()]*)\)');
    EXIT WHEN _group IS NULL OR _whole;
    _whole := _group[1] = '?' AND strpos(_group[2], '$') > 0;
    _rest := overlay(_rest PLACING CASE WHEN _group[1] = '?' THEN '' ELSE _group[2] END
                     FROM strpos(_rest, _group[1] || '(' || _group[2] || ')') FOR length(_group[1] || _group[2]) + 2);
  END LOOP;
  -- As it is written here, each key is in quotes.
  _why := CASE
    WHEN octet_length(_path) > 600 THEN 'is longer than 256 bytes'
    WHEN _bare ~ 'like_regex' THEN 'holds a regular expression'
    WHEN strpos(_close, '**') > 0 THEN 'does not name each step'
    WHEN strpos(_close, ',') > 0 THEN 'takes a list of elements'
    WHEN (SELECT count(*) FROM regexp_matches(_bare, '\[\s*\*\s*\]|\.\s*\*| to |\]to', 'g')) > 2
      OR length(_close) - length(replace(_close, '?', '')) > 2 THEN 'looks at all elements more than twice'
    WHEN _whole THEN 'looks at the whole in a filter'
    WHEN _close ~ '[=<>][-+(]*[@$]' OR _close ~ 'startswith[@$]' THEN 'compares with something else than a constant'
    WHEN _close ~ '[+/%]|(?<![\[.*])\*|-[$@(]|(?<![(=<>,\[&|!eE]|last)-' THEN 'computes'
    WHEN EXISTS (SELECT FROM regexp_matches(_close, '(\.?)([a-z0-9_]*)\(', 'gi') m
                 WHERE NOT (m[2] = '' OR m[1] <> '' AND m[2] IN ('type', 'size', 'double', 'ceiling', 'floor', 'abs')
                            OR m[1] = '' AND m[2] = 'exists')) THEN 'has a method that is not allowed'
    END;
  IF _why IS NOT NULL THEN
    RAISE EXCEPTION 'the path % %', quote_literal(left(_path, 60)), _why USING ERRCODE = 'WF011',
      HINT = 'Write ->, ->> or @>, or several paths; `wed explain conditions` tells what a path may hold.';
  END IF;
END $check$;
