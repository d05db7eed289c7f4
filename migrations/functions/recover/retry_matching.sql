-- Retries the exceptions that match (wed.matching_exceptions), or lists them only. Each is retried by itself: one that
-- cannot proceed delays no other, and says why it was refused.
CREATE OR REPLACE FUNCTION wed.retry_matching(
  _flow_id integer, _transition text, _message text, _since timestamptz, _limit integer, _actor text, _reason text,
    _preview boolean)
RETURNS TABLE (wid integer, failed text, said text, refused text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  FOR wid, failed, said IN
    SELECT m.wid, m.transition, m.message FROM wed.matching_exceptions(_flow_id, _transition, _message, _since,
      _limit) m
  LOOP
    refused := NULL;
    IF NOT _preview THEN
      BEGIN
        PERFORM wed.retry_instance(_flow_id, wid, _actor, _reason);
      EXCEPTION WHEN OTHERS THEN
        refused := SQLERRM;
      END;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
