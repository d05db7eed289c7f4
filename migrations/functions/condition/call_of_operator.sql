-- An operator as wed.allowed_call names it.
CREATE OR REPLACE FUNCTION wed.call_of_operator(_oid oid, OUT call text, OUT schema text)
LANGUAGE sql STABLE AS $$
  SELECT format('%s(%s)', o.oprname, concat_ws(' ', l.typname, r.typname)), s.nspname
  FROM pg_operator o JOIN pg_namespace s ON s.oid = o.oprnamespace LEFT JOIN pg_type l ON l.oid = o.oprleft
    JOIN pg_type r ON r.oid = o.oprright WHERE o.oid = _oid
$$;
