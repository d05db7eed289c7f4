-- What a flow's schema has for constraints: columns of wed_trig, functions. Again for a flow that has it:
-- nothing.
CREATE OR REPLACE FUNCTION wed.install_constraints(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _statement text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  FOREACH _statement IN ARRAY ARRAY[
    $t$ALTER TABLE %1$I.wed_trig ADD COLUMN IF NOT EXISTS reserves text, ADD COLUMN IF NOT EXISTS quantity text,
      ADD COLUMN IF NOT EXISTS resource text, ADD COLUMN IF NOT EXISTS holds text,
      ADD COLUMN IF NOT EXISTS consumes boolean NOT NULL DEFAULT false, ADD COLUMN IF NOT EXISTS after text$t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_after("trigger" text, after text, wid integer DEFAULT NULL) RETURNS integer
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.add_order(%3$s, $1, $2, $3, session_user::text) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_drop_after("trigger" text, after text, wid integer DEFAULT NULL) RETURNS
        boolean
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.drop_order(%3$s, $1, $2, $3, session_user::text) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_order_by(attribute text) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.order_by_attribute(%3$s, $1) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_number(attribute text, gapless boolean DEFAULT false) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.set_numbering(%3$s, $1, $2) $f$ $t$,
    'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %1$I FROM PUBLIC',
    'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %1$I TO %1$I'
  ] LOOP
    EXECUTE format(_statement, _flow.schema_name, _flow.shape_schema, _flow_id);
  END LOOP;
  PERFORM wed.install_numbering(_flow, n.attribute) FROM wed.numbering n WHERE n.flow_id = _flow_id;
  EXECUTE format('DROP FUNCTION IF EXISTS %I.wed_next_number(text)', _flow.schema_name);
END $$;
