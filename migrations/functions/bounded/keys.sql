-- The keys that an expression names, as a document of key and quantity; a quantity of null is exclusive. The keys are
-- one value, an array, or a document of quantities; _quantity, where it is declared, a number for each, or one for
-- all. A number is the same key however many zeros it ends with; a declared quantity without a value is refused.
CREATE OR REPLACE FUNCTION wed_bounded.keys(_keys jsonb, _counted boolean, _quantity jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _found jsonb;
  _bad text;
BEGIN
  IF _keys IS NULL OR _keys = 'null' THEN RETURN '{}'; END IF;
  -- Most are one key, or some exclusive ones.
  IF NOT _counted AND jsonb_typeof(_keys) IN ('string', 'number') AND octet_length(_keys #>> '{}') BETWEEN 1 AND 256
     AND left(_keys #>> '{}', 1) NOT IN ('{', '[') THEN
    RETURN jsonb_build_object(wed_bounded.key_name(_keys), NULL);
  END IF;
  IF (jsonb_typeof(_keys) = 'array' AND jsonb_array_length(_keys) > 64) OR pg_column_size(_keys) > 32768 THEN
    RAISE EXCEPTION 'a reservation names more than 64 keys' USING ERRCODE = 'WF060',
        HINT = 'Reserve fewer, or one key for all.';
  END IF;
  WITH k AS (
    SELECT key, value AS amount FROM jsonb_each(CASE jsonb_typeof(_keys) WHEN 'object' THEN _keys ELSE '{}' END)
    UNION ALL
    SELECT wed_bounded.key_name(e), CASE WHEN NOT _counted THEN NULL ELSE coalesce(nullif(
        CASE jsonb_typeof(_quantity) WHEN 'array' THEN _quantity -> (at - 1)::integer ELSE _quantity END, 'null'),
        '"none"') END
    FROM jsonb_array_elements(CASE jsonb_typeof(_keys) WHEN 'array' THEN _keys WHEN 'object' THEN '[]'
        ELSE jsonb_build_array(_keys) END)
      WITH ORDINALITY u(e, at) WHERE e <> 'null'
  ), c AS (
    SELECT key, amount, octet_length(key) NOT BETWEEN 1 AND 256 OR left(key, 1) IN ('{', '[')
      OR amount IS NOT NULL AND jsonb_typeof(amount) NOT IN ('number', 'null')
          OR coalesce(length(amount::text), 0) > 40 AS bad FROM k
  ), n AS (
    SELECT key, bad, CASE WHEN NOT bad AND jsonb_typeof(amount) = 'number' THEN amount::numeric END AS amount FROM c)
  SELECT jsonb_object_agg(key, amount) FILTER (WHERE NOT bad AND amount IS DISTINCT
      FROM 0), min(left(key, 80)) FILTER (WHERE bad OR amount < 0)
  INTO _found, _bad
  FROM (SELECT key, bool_or(bad) AS bad, CASE WHEN bool_or(amount IS NULL) THEN NULL ELSE sum(amount) END AS amount
      FROM n GROUP BY key) g;
  IF _bad IS NOT NULL THEN
    RAISE EXCEPTION 'the key "%" cannot be reserved, or not by this quantity', left(_bad, 80) USING ERRCODE = 'WF060',
      HINT = 'A key is a text or number of 1 to 256 bytes; a quantity is a number that is not negative.';
  ELSIF (SELECT count(*) FROM jsonb_object_keys(coalesce(_found, '{}'))) > 64 THEN
    RAISE EXCEPTION 'a reservation names more than 64 keys' USING ERRCODE = 'WF060',
        HINT = 'Reserve fewer, or one key for all.';
  END IF;
  RETURN coalesce(_found, '{}');
END $$;

-- The name of a key: a text as it is, a number without trailing zeros.
CREATE OR REPLACE FUNCTION wed_bounded.key_name(_key jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE jsonb_typeof(_key) WHEN 'number' THEN trim_scale(_key::numeric)::text ELSE _key #>> '{}' END
$$;
