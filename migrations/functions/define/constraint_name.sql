-- The name of a constraint of an attribute's column: kind and attribute, or a digest where that is no name any more.
CREATE OR REPLACE FUNCTION wed.constraint_name(_kind text, _attribute text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT _kind || '_' || CASE WHEN octet_length(_kind || '_' || _attribute) <= 63 THEN _attribute
    ELSE md5(_attribute) END
$$;
