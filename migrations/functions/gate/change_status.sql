-- Writes the status of instances whose status changes.
CREATE OR REPLACE FUNCTION wed.change_status(_passing wed.passing[], _now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wed.instance i SET status = p.becomes, changed = _now
  FROM unnest(_passing) p WHERE p.changes AND i.flow_id = p.flow_id AND i.wid = p.wid;
END $$;
