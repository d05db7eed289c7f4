-- Settings that the meaning of a condition, a comparison or an output depends on; the program reads this list.

-- Settings that could change the meaning of a condition, a comparison or an output, each as the gate wants it.
-- Functions of clients' sessions get them by wed.pin_settings, hosts' sessions as options of their connections, read
-- from this file.
CREATE OR REPLACE FUNCTION wed.pinned_settings() RETURNS TABLE (name text, value text)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  VALUES
    ('search_path', 'pg_catalog,pg_temp'),
    ('timezone', 'UTC'),
    ('datestyle', 'ISO,YMD'),
    ('intervalstyle', 'iso_8601'),
    ('extra_float_digits', '1'),
    ('bytea_output', 'hex'),
    ('array_nulls', 'on'),
    ('standard_conforming_strings', 'on'),
    ('quote_all_identifiers', 'off'),
    ('transform_null_equals', 'off'),
    ('xmloption', 'content'),
    ('lc_numeric', 'C'),
    ('lc_time', 'C'),
    ('lc_monetary', 'C'),
    ('default_text_search_config', 'pg_catalog.simple'),
    ('enable_seqscan', 'off'),
    ('plan_cache_mode', 'force_generic_plan')
$$;
