-- Marks granted requests whose jobs somebody has locked, so that they are not due yet; and takes the mark from the
-- others.
CREATE OR REPLACE FUNCTION wed.mark_undue(_requests bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wed.request r SET leads = m.undue
  FROM (SELECT q.request_id, EXISTS (
          SELECT FROM wed.job j WHERE j.flow_id = q.flow_id AND j.wid = q.wid AND j.tgid = q.tgid
              AND j.blocked = 'r') AS undue
        FROM wed.request q WHERE q.request_id = ANY (_requests) AND q.state = 'h') m
  WHERE r.request_id = m.request_id AND r.leads <> m.undue;
END $$;
