-- Whether a text names a time zone as Postgres's list of them does, or is an offset.
CREATE OR REPLACE FUNCTION wed.is_zone(_text text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT _text ~*
    '^\s*(?:[a-z][a-z/_-]{0,39}|(?:etc/)?(?:gmt|utc|uct)[+-]?[0-9]{1,2}|est5edt|cst6cdt|mst7mdt|pst8pdt|[+-]?[0-2]?[0-9](?::?(?:00|15|30|45))?)\s*$'
$$;
