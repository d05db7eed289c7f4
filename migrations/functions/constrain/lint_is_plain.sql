-- Returns whether a condition compares single attributes with constants only, in ways that lint_values has values for:
-- texts by equality, whole numbers in any way, booleans. Those values then decide whether any state satisfies it.
CREATE OR REPLACE FUNCTION wed.lint_is_plain(_predicate text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _name CONSTANT text := '(?:[a-z_][a-z0-9_]*|"[^"]+")';
  _text CONSTANT text := '''(?:[^'']|'''')*''::text';
  _number CONSTANT text := '\m[0-9]{1,9}\M';
  _left text := _predicate;
  _form text;
BEGIN
  -- Each comparison that is understood becomes the word t; what remains is made of words and brackets.
  FOREACH _form IN ARRAY ARRAY[
    format('%s (?:=|<>|IS DISTINCT FROM|IS NOT DISTINCT FROM) %s', _name, _text),
    format('%s (?:=|<>) (?:ANY|ALL) \(ARRAY\[%2$s(?:, %2$s)*\]\)', _name, _text),
    format('%s (?:=|<>) (?:ANY|ALL) \(ARRAY\[%2$s(?:, %2$s)*\]\)', _name, _number),
    format('%s (?:=|<>|<|<=|>|>=) %s', _name, _number),
    format('%s (?:=|<>|<|<=|>|>=) %s', _number, _name),
    format('%s (?:=|<>) (?:true|false)', _name),
    format('%s IS (?:NOT )?(?:NULL|TRUE|FALSE|UNKNOWN)', _name)
  ] LOOP
    _left := regexp_replace(_left, _form, 't', 'g');
  END LOOP;
  RETURN _left !~ '[^A-Za-z0-9_ ()"]' AND _left !~ '[A-Za-z0-9_"]\(';
END $$;
