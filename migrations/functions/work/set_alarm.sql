-- Says when the sweep must look at an item next: the next of its instance's warnings, its deadline, its escalation.
-- Warnings that were over when the item arrived are not sent.
CREATE OR REPLACE FUNCTION wed.set_alarm(_item_id bigint, _now timestamptz) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  UPDATE wed.work_item i SET alarm_at = least(
    (SELECT min(i.deadline_at - v * interval '1 hour') FROM wed.work_instance w CROSS
      JOIN LATERAL unnest(w.warnings || 0) v
     WHERE w.flow_id = i.flow_id AND w.wid = i.wid AND v <> ALL (i.warned)
       AND i.deadline_at - v * interval '1 hour' > i.arrived_at),
    (SELECT i.arrived_at + t.escalate_after FROM wed.work_task t WHERE t.tgid = i.tgid AND NOT i.escalated))
  WHERE i.item_id = _item_id
$$;
