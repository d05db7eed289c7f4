-- Functions a predicate may call by name, besides casts between allowed types: those of the guard
-- (host/guard/src/catalog/functions.txt), but for the volatile ones.
CREATE TABLE wed.allowed_function (name text PRIMARY KEY);
INSERT INTO wed.allowed_function SELECT unnest(ARRAY[
  'abs', 'acos', 'age', 'array_append', 'array_cat', 'array_dims', 'array_length', 'array_lower', 'array_ndims',
  'array_position', 'array_positions', 'array_prepend', 'array_remove', 'array_replace', 'array_to_json',
  'array_to_string', 'array_upper', 'ascii', 'asin', 'atan', 'atan2', 'bit_length', 'btrim', 'cardinality',
  'cbrt', 'ceil', 'ceiling', 'char_length', 'character_length', 'chr', 'concat', 'concat_ws', 'cos', 'cot',
  'date', 'date_bin', 'date_part', 'date_trunc', 'daterange', 'decode', 'degrees', 'div', 'encode', 'exp', 'extract', 'floor',
  'format', 'gcd', 'initcap', 'int4range', 'int8range', 'isempty', 'isfinite', 'json_array_length', 'json_build_array', 'json_build_object',
  'json_extract_path', 'json_extract_path_text', 'json_strip_nulls', 'json_typeof', 'jsonb_array_length',
  'jsonb_build_array', 'jsonb_build_object', 'jsonb_contains', 'jsonb_exists', 'jsonb_exists_all',
  'jsonb_exists_any', 'jsonb_extract_path', 'jsonb_extract_path_text', 'jsonb_insert', 'jsonb_object',
  'jsonb_path_exists', 'jsonb_path_match', 'jsonb_path_query_first', 'jsonb_set', 'jsonb_strip_nulls', 'jsonb_typeof', 'justify_days', 'justify_hours', 'justify_interval', 'lcm',
  'left', 'length', 'like_escape', 'ln', 'log', 'log10', 'lower', 'lower_inc', 'lower_inf', 'lpad', 'ltrim', 'make_date', 'make_interval',
  'make_time', 'make_timestamp', 'make_timestamptz', 'md5', 'min_scale', 'mod', 'now', 'num_nonnulls',
  'num_nulls', 'numrange', 'octet_length', 'overlaps', 'overlay', 'pi', 'position', 'pow', 'power', 'radians', 'range_merge', 'regexp_count',
  'regexp_instr', 'regexp_like', 'regexp_match', 'regexp_replace', 'regexp_split_to_array', 'regexp_substr',
  'repeat', 'replace', 'reverse', 'right', 'round', 'rpad', 'rtrim', 'scale', 'sha224', 'sha256', 'sha384',
  'sha512', 'sign', 'similar_to_escape', 'sin', 'split_part', 'sqrt', 'starts_with', 'statement_timestamp',
  'string_to_array', 'strpos', 'substr', 'substring', 'tan', 'timezone', 'to_char', 'to_date', 'to_hex',
  'to_json', 'to_jsonb', 'to_number', 'to_timestamp', 'transaction_timestamp', 'translate', 'trim_array',
  'trim_scale', 'trunc', 'tsrange', 'tstzrange', 'upper', 'upper_inc', 'upper_inf', 'width_bucket']);

-- Types a predicate may hold or cast to; arrays of them too.
CREATE TABLE wed.allowed_type (name text PRIMARY KEY);
INSERT INTO wed.allowed_type SELECT unnest(ARRAY['text', 'varchar', 'unknown', 'int2', 'int4',
  'int8', 'numeric', 'float4', 'float8', 'bool', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval',
  'uuid', 'jsonb', 'json', 'bytea', 'bpchar', 'jsonpath', 'int4range', 'int8range', 'numrange', 'daterange', 'tsrange',
  'tstzrange']);
GRANT USAGE ON SCHEMA wed TO wed_predicate;
