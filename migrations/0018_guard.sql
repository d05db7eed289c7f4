-- The guard's table in the database. Its rows are written from host/guard/src/catalog.toml by
-- functions/condition/allow.sql, which is applied again when that table changes.
DROP TABLE wed.allowed_function;

-- Calls that a condition may hold: a function as name(types), an operator as sign(types). One that is bounded is run as
-- the function or operator of the schema wed_bounded; how it makes its result says what it weighs.
CREATE TABLE wed.allowed_call (
  call text PRIMARY KEY,
  operands text[] NOT NULL,
  bounded boolean NOT NULL,
  makes text NOT NULL);

-- What a way of making a result weighs, for each row-sized operand that is text, or a document or array.
CREATE TABLE wed.call_weight (makes text PRIMARY KEY, text bigint NOT NULL, documents bigint NOT NULL);

-- A node of an analysed expression: the number of the one around it, which of that one's parts it is, its fields as
-- Postgres writes them, its type, and the call that it is, with its schema.
CREATE TYPE wed.expression_node AS (
  at integer, around integer, part integer, depth integer, node text, fields text, type text, call text, schema text);

-- Conditions as they are run; null until they are written.
ALTER TABLE wed.trigger ADD COLUMN guarded text;
ALTER TABLE wed.trigger_constraint ADD COLUMN guarded_keys text, ADD COLUMN guarded_quantity text;

-- Functions whose results have another form now.
DROP FUNCTION IF EXISTS wed.check_predicate(text, integer, text), wed.check_expression(text, integer, text),
  wed.put_on_shape(text, integer, text), wed.check_tree(text, text), wed.guarded(text),
  wed_bounded.repeat(text, integer), wed_bounded.replace(text, text, text),
  wed_bounded.lpad(text, integer, text), wed_bounded.rpad(text, integer, text);
