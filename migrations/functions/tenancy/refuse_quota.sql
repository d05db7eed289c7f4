-- Refuses for a limit: its name, what is used, what is allowed.
CREATE OR REPLACE FUNCTION wed.refuse_quota(_limit text, _used bigint, _allowed bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the tenant''s quota of % is used up: % of % are used', _limit, _used, _allowed
    USING ERRCODE = 'WF020', DETAIL = json_build_object('limit', _limit, 'used', _used, 'allowed', _allowed)::text,
      HINT = 'Make room, or ask the operator of this installation for more.';
END $$;
