-- Written from host/guard/src/catalog.toml by `make reference`.
-- The bounded functions and operators that pass their operands on to Postgres's own.
CREATE OR REPLACE FUNCTION wed_bounded."array_replace"(anycompatiblearray, anycompatible, anycompatible)
RETURNS anycompatiblearray LANGUAGE sql STABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."array_replace"(wed_bounded.later($1), $2, wed_bounded.short($3)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."btrim"(text, text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."btrim"(wed_bounded.read($1), wed_bounded.few($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."div"(numeric, numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."div"(wed_bounded.digits($1), wed_bounded.digits($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."exp"(numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."exp"(wed_bounded.digits($1)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."jsonb_exists_all"(jsonb, text[])
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."jsonb_exists_all"(wed_bounded.read($1), wed_bounded.short($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."jsonb_exists_any"(jsonb, text[])
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."jsonb_exists_any"(wed_bounded.read($1), wed_bounded.short($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."jsonb_path_exists"(jsonb, jsonpath, jsonb DEFAULT '{}', bool DEFAULT false)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."jsonb_path_exists"(wed_bounded.read($1), $2, $3, $4) $$;
CREATE OR REPLACE FUNCTION wed_bounded."jsonb_path_match"(jsonb, jsonpath, jsonb DEFAULT '{}', bool DEFAULT false)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."jsonb_path_match"(wed_bounded.read($1), $2, $3, $4) $$;
CREATE OR REPLACE FUNCTION wed_bounded."jsonb_path_query_first"(jsonb, jsonpath, jsonb DEFAULT '{}', bool DEFAULT false)
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."jsonb_path_query_first"(wed_bounded.read($1), $2, $3, $4) $$;
CREATE OR REPLACE FUNCTION wed_bounded."ln"(numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."ln"(wed_bounded.digits($1)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."log"(numeric, numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."log"(wed_bounded.digits($1), wed_bounded.digits($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."log"(numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."log"(wed_bounded.digits($1)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."log10"(numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."log10"(wed_bounded.digits($1)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."lpad"(text, int4, text)
RETURNS text LANGUAGE sql STABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."lpad"(wed_bounded.later($1), wed_bounded.small($2), wed_bounded.short($3)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."lpad"(text, int4)
RETURNS text LANGUAGE sql STABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."lpad"(wed_bounded.later($1), wed_bounded.small($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."ltrim"(text, text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."ltrim"(wed_bounded.read($1), wed_bounded.few($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."mod"(numeric, numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."mod"(wed_bounded.digits($1), wed_bounded.digits($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."position"(text, text)
RETURNS int4 LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."position"(wed_bounded.read($1), wed_bounded.short($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_count"(text, text)
RETURNS int4 LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_count"(wed_bounded.often($1), $2) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_instr"(text, text)
RETURNS int4 LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_instr"(wed_bounded.matched($1), $2) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_like"(text, text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_like"(wed_bounded.matched($1), $2, $3) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_like"(text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_like"(wed_bounded.matched($1), $2) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_match"(text, text, text)
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_match"(wed_bounded.matched($1), $2, $3) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_match"(text, text)
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_match"(wed_bounded.matched($1), $2) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_replace"(text, text, text, text)
RETURNS text LANGUAGE sql STABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_replace"(wed_bounded.later(wed_bounded.often($1)), $2, wed_bounded.short($3), $4) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_replace"(text, text, text)
RETURNS text LANGUAGE sql STABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_replace"(wed_bounded.later(wed_bounded.matched($1)), $2, wed_bounded.short($3)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_split_to_array"(text, text, text)
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_split_to_array"(wed_bounded.often($1), $2, $3) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_split_to_array"(text, text)
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_split_to_array"(wed_bounded.often($1), $2) $$;
CREATE OR REPLACE FUNCTION wed_bounded."regexp_substr"(text, text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."regexp_substr"(wed_bounded.matched($1), $2) $$;
CREATE OR REPLACE FUNCTION wed_bounded."rpad"(text, int4, text)
RETURNS text LANGUAGE sql STABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."rpad"(wed_bounded.later($1), wed_bounded.small($2), wed_bounded.short($3)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."rpad"(text, int4)
RETURNS text LANGUAGE sql STABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."rpad"(wed_bounded.later($1), wed_bounded.small($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."rtrim"(text, text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."rtrim"(wed_bounded.read($1), wed_bounded.few($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."split_part"(text, text, int4)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."split_part"(wed_bounded.read($1), wed_bounded.short($2), $3) $$;
CREATE OR REPLACE FUNCTION wed_bounded."sqrt"(numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."sqrt"(wed_bounded.digits($1)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."string_to_array"(text, text, text)
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."string_to_array"(wed_bounded.read($1), wed_bounded.short($2), wed_bounded.short($3)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."string_to_array"(text, text)
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."string_to_array"(wed_bounded.read($1), wed_bounded.short($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."strpos"(text, text)
RETURNS int4 LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."strpos"(wed_bounded.read($1), wed_bounded.short($2)) $$;
CREATE OR REPLACE FUNCTION wed_bounded."substring"(text, text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."substring"(wed_bounded.matched($1), $2) $$;
CREATE OR REPLACE FUNCTION wed_bounded."translate"(text, text, text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT pg_catalog."translate"(wed_bounded.read($1), wed_bounded.few($2), wed_bounded.short($3)) $$;
CREATE OR REPLACE FUNCTION wed_bounded.op_not_matches(bpchar, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.matched($1) OPERATOR(pg_catalog.!~) $2 $$;
SELECT wed.bounded_operator('!~', 'bpchar', 'text', 'wed_bounded.op_not_matches');
CREATE OR REPLACE FUNCTION wed_bounded.op_not_matches(text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.matched($1) OPERATOR(pg_catalog.!~) $2 $$;
SELECT wed.bounded_operator('!~', 'text', 'text', 'wed_bounded.op_not_matches');
CREATE OR REPLACE FUNCTION wed_bounded.op_not_imatches(bpchar, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.matched($1) OPERATOR(pg_catalog.!~*) $2 $$;
SELECT wed.bounded_operator('!~*', 'bpchar', 'text', 'wed_bounded.op_not_imatches');
CREATE OR REPLACE FUNCTION wed_bounded.op_not_imatches(text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.matched($1) OPERATOR(pg_catalog.!~*) $2 $$;
SELECT wed.bounded_operator('!~*', 'text', 'text', 'wed_bounded.op_not_imatches');
CREATE OR REPLACE FUNCTION wed_bounded.op_not_like(bpchar, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.!~~) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('!~~', 'bpchar', 'text', 'wed_bounded.op_not_like');
CREATE OR REPLACE FUNCTION wed_bounded.op_not_like(text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.!~~) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('!~~', 'text', 'text', 'wed_bounded.op_not_like');
CREATE OR REPLACE FUNCTION wed_bounded.op_not_ilike(bpchar, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.!~~*) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('!~~*', 'bpchar', 'text', 'wed_bounded.op_not_ilike');
CREATE OR REPLACE FUNCTION wed_bounded.op_not_ilike(text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.!~~*) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('!~~*', 'text', 'text', 'wed_bounded.op_not_ilike');
CREATE OR REPLACE FUNCTION wed_bounded.op_modulo(numeric, numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.digits($1) OPERATOR(pg_catalog.%) wed_bounded.digits($2) $$;
SELECT wed.bounded_operator('%', 'numeric', 'numeric', 'wed_bounded.op_modulo');
SELECT wed.bounded_operator('&&', 'anyarray', 'anyarray', 'wed_bounded.op_overlap');
CREATE OR REPLACE FUNCTION wed_bounded.op_times(numeric, numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.digits($1) OPERATOR(pg_catalog.*) wed_bounded.digits($2) $$;
SELECT wed.bounded_operator('*', 'numeric', 'numeric', 'wed_bounded.op_times');
CREATE OR REPLACE FUNCTION wed_bounded.op_without(jsonb, text[])
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT $1 OPERATOR(pg_catalog.-) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('-', 'jsonb', 'text[]', 'wed_bounded.op_without');
CREATE OR REPLACE FUNCTION wed_bounded.op_divided(numeric, numeric)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.digits($1) OPERATOR(pg_catalog./) wed_bounded.digits($2) $$;
SELECT wed.bounded_operator('/', 'numeric', 'numeric', 'wed_bounded.op_divided');
SELECT wed.bounded_operator('<@', 'anyarray', 'anyarray', 'wed_bounded.op_contained');
SELECT wed.bounded_operator('<@', 'jsonb', 'jsonb', 'wed_bounded.op_contained');
CREATE OR REPLACE FUNCTION wed_bounded.op_exists_all(jsonb, text[])
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.?&) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('?&', 'jsonb', 'text[]', 'wed_bounded.op_exists_all');
CREATE OR REPLACE FUNCTION wed_bounded.op_exists_any(jsonb, text[])
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.?|) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('?|', 'jsonb', 'text[]', 'wed_bounded.op_exists_any');
SELECT wed.bounded_operator('@>', 'anyarray', 'anyarray', 'wed_bounded.op_contains');
SELECT wed.bounded_operator('@>', 'jsonb', 'jsonb', 'wed_bounded.op_contains');
CREATE OR REPLACE FUNCTION wed_bounded.op_path_exists(jsonb, jsonpath)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.@?) $2 $$;
SELECT wed.bounded_operator('@?', 'jsonb', 'jsonpath', 'wed_bounded.op_path_exists');
CREATE OR REPLACE FUNCTION wed_bounded.op_path_match(jsonb, jsonpath)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.@@) $2 $$;
SELECT wed.bounded_operator('@@', 'jsonb', 'jsonpath', 'wed_bounded.op_path_match');
SELECT wed.bounded_operator('^', 'numeric', 'numeric', 'wed_bounded.power');
CREATE OR REPLACE FUNCTION wed_bounded.op_matches(bpchar, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.matched($1) OPERATOR(pg_catalog.~) $2 $$;
SELECT wed.bounded_operator('~', 'bpchar', 'text', 'wed_bounded.op_matches');
CREATE OR REPLACE FUNCTION wed_bounded.op_matches(text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.matched($1) OPERATOR(pg_catalog.~) $2 $$;
SELECT wed.bounded_operator('~', 'text', 'text', 'wed_bounded.op_matches');
CREATE OR REPLACE FUNCTION wed_bounded.op_imatches(bpchar, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.matched($1) OPERATOR(pg_catalog.~*) $2 $$;
SELECT wed.bounded_operator('~*', 'bpchar', 'text', 'wed_bounded.op_imatches');
CREATE OR REPLACE FUNCTION wed_bounded.op_imatches(text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.matched($1) OPERATOR(pg_catalog.~*) $2 $$;
SELECT wed.bounded_operator('~*', 'text', 'text', 'wed_bounded.op_imatches');
CREATE OR REPLACE FUNCTION wed_bounded.op_like(bpchar, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.~~) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('~~', 'bpchar', 'text', 'wed_bounded.op_like');
CREATE OR REPLACE FUNCTION wed_bounded.op_like(text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.~~) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('~~', 'text', 'text', 'wed_bounded.op_like');
CREATE OR REPLACE FUNCTION wed_bounded.op_ilike(bpchar, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.~~*) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('~~*', 'bpchar', 'text', 'wed_bounded.op_ilike');
CREATE OR REPLACE FUNCTION wed_bounded.op_ilike(text, text)
RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED
AS $$ SELECT wed_bounded.read($1) OPERATOR(pg_catalog.~~*) wed_bounded.short($2) $$;
SELECT wed.bounded_operator('~~*', 'text', 'text', 'wed_bounded.op_ilike');
