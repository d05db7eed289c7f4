-- Gives a flow's conditions to the role without rights that they are evaluated as, and takes all its functions from
-- everybody else.
CREATE OR REPLACE FUNCTION wed.own_functions(_flow wed.flow) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _match text := format('%1$I.match_%1$s(%1$I.wed_flow[], integer[])', _flow.shape_schema);
BEGIN
  IF (SELECT proowner <> 'wed_predicate'::regrole FROM pg_proc WHERE oid = _match::regprocedure) THEN
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO wed_predicate', _flow.shape_schema);
    EXECUTE format('ALTER FUNCTION %s OWNER TO wed_predicate', _match);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM wed_predicate', _flow.shape_schema);
  END IF;
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I, %I FROM PUBLIC', _flow.schema_name, _flow.shape_schema);
  EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO %I', _flow.schema_name, _flow.role_name);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', _match, current_user);
END $$;
