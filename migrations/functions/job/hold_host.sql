-- Holds a host's row until the transaction ends: nobody frees its jobs meanwhile (wed.do_abandoned). Returns whether
-- old versions of rows are kept (wed.is_beside_old).
CREATE OR REPLACE FUNCTION wed.hold_host(_host_id integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  _held boolean;
BEGIN
  SELECT beside_old INTO _held FROM wed.host WHERE host_id = _host_id FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'host % has lost its leases', _host_id USING ERRCODE = 'WF016', HINT = 'Enter anew.';
  END IF;
  RETURN _held;
END $$;
