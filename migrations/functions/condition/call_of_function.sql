-- A function as wed.allowed_call names it.
CREATE OR REPLACE FUNCTION wed.call_of_function(_oid oid, OUT call text, OUT schema text)
LANGUAGE sql STABLE AS $$
  SELECT format('%s(%s)', p.proname, (SELECT string_agg(t.typname, ' ' ORDER BY a.at)
           FROM unnest(p.proargtypes) WITH ORDINALITY a(type, at) JOIN pg_type t ON t.oid = a.type)),
         s.nspname
  FROM pg_proc p JOIN pg_namespace s ON s.oid = p.pronamespace WHERE p.oid = _oid
$$;
