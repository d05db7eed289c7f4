-- Retries the exceptions that match (wed.matching_exceptions), or shows what that would do: each is retried by itself,
-- and taken back in a preview. One that cannot proceed delays no other, and says why it is refused.
CREATE OR REPLACE FUNCTION wed.retry_matching(
  _flow_id integer, _transition text, _message text, _since timestamptz, _limit integer, _actor text, _reason text,
    _preview boolean)
RETURNS TABLE (wid integer, failed text, said text, refused text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
  FOR wid, failed, said IN
    SELECT m.wid, m.transition, m.message FROM wed.matching_exceptions(_flow_id, _transition, _message, _since,
      _limit) m
  LOOP
    refused := NULL;
    BEGIN
      PERFORM wed.retry_instance(_flow_id, wid, _actor, _reason);
      IF _preview THEN RAISE EXCEPTION 'a preview' USING ERRCODE = 'WFPRE'; END IF;
    EXCEPTION
      WHEN SQLSTATE 'WFPRE' THEN NULL;
      WHEN OTHERS THEN refused := SQLERRM;
    END;
    RETURN NEXT;
  END LOOP;
END $$;
