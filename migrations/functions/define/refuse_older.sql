-- Refuses a result that was made for an older version of its flow, in which attributes had other names or types: it is
-- made anew.
CREATE OR REPLACE FUNCTION wed.refuse_older(_version integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the result was made for version % of the flow, and attributes have changed since', _version
    USING ERRCODE = 'WF018', HINT = 'The host loads the flow and runs the transition again.';
END $$;
