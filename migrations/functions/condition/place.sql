-- Conditions. A predicate is checked by Postgres's own parser against an empty table of the flow's
-- shape, its analysed tree is held against an allow-list, and what is stored and run is the deparsed
-- tree, never the text. Every way of writing wed_trig passes here.

-- Where a name stands in a predicate, as a sentence.
CREATE OR REPLACE FUNCTION wed.place(_name text, _text text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE strpos(lower(_text), lower(_name)) WHEN 0 THEN 'It is what Postgres makes of the predicate.'
    ELSE format('At character %s of the predicate.', strpos(lower(_text), lower(_name))) END
$$;
