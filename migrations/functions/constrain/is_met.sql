-- Whether all names of one of the conjunctions are among those done.
CREATE OR REPLACE FUNCTION wed.is_met(_terms jsonb, _done text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT EXISTS (SELECT FROM jsonb_array_elements(_terms) c
                 WHERE NOT EXISTS (SELECT FROM jsonb_array_elements_text(c) n WHERE n <> ALL (_done)))
$$;
