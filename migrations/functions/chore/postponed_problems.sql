-- Chores that could not be done three times in a row: one row for each kind, flow and reason.
CREATE OR REPLACE FUNCTION wed.postponed_problems() RETURNS TABLE (code text, text text, hint text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'postponed', format('%s of %stenant %s: %s put off, the first %s s ago: %s', k.what,
      'flow ' || f.name || ' of ', t.name, count(*), (extract(epoch FROM clock_timestamp() - min(p.since)))::bigint,
      p.reason),
    'Other flows go on. Mend what the reason names, or end the session that holds the lock; it is tried again within '
    '64 s.'
  FROM wed.postponed p JOIN wed.tenant t USING (tenant_id) LEFT JOIN wed.flow f USING (flow_id)
  JOIN (VALUES ('abandoned', 'jobs of a host that is gone'), ('overdue', 'overdue workers'),
    ('exhausted', 'jobs without attempts left'), ('stale', 'jobs whose condition no longer holds'),
    ('late', 'deadlines'), ('clock', 'conditions on the clock'), ('schedules', 'schedules'), ('pauses', 'pauses'),
    ('back', 'instances that go back'), ('reservations', 'reservations'), ('circles', 'circles of reservations'),
    ('numbers', 'numbers without gaps'), ('work', 'work items'), ('exceptions', 'announcements of exceptions'),
    ('expired', 'removal of old instances'), ('look', 'claims')) k(kind, what) USING (kind)
  WHERE p.failures >= 3 AND p.reason IS NOT NULL AND p.until > clock_timestamp() - interval '1 minute'
  GROUP BY k.what, f.name, t.name, p.reason
$$;
