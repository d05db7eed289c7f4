-- Allows a transition the files of its instances, and hosts with their ports that it may speak HTTP to.
CREATE OR REPLACE FUNCTION wed.grant_transition(_flow_id integer, _trname text, _files boolean, _http text[])
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF _files OR _http <> '{}' THEN
    INSERT INTO wed."grant" (flow_id, trname, files, http) VALUES (_flow_id, _trname, _files, _http);
  END IF;
EXCEPTION WHEN check_violation THEN
  RAISE EXCEPTION '`http` of the transition "%" is not allowed', _trname USING ERRCODE = 'check_violation',
    HINT = 'Write at most 32 hosts with their ports, such as "api.example.com:443".';
END $$;
