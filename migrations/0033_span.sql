-- Spans of time are bounded part by part: '71000000 months -2130000000 days' compares as nothing and adds six million
-- years (wed.check_span). What is there already is cut; the delay of a paused trigger is longer on purpose.
DO $$
DECLARE
  _of record;
  _bounded CONSTANT text := 'extract(year FROM %1$I) BETWEEN -100 AND 100 AND extract(day FROM %1$I) BETWEEN -36525 '
    'AND 36525 AND extract(hour FROM %1$I) BETWEEN -876600 AND 876600';
BEGIN
  FOR _of IN SELECT * FROM (VALUES ('trigger', 'timeout'), ('trigger', 'backoff'), ('trigger_policy', 'deadline'),
      ('work_task', 'deadline'), ('work_task', 'escalate_after'), ('work_instance', 'renotify'),
      ('work_item', 'renotify'), ('retention', 'trace'), ('retention', 'attempts'), ('retention', 'logs'),
      ('retention', 'recordings'), ('retention', 'instances')) c(relation, name)
  LOOP
    EXECUTE format('UPDATE wed.%I SET %I = interval ''100 years'' WHERE NOT (%s)', _of.relation, _of.name,
      format(_bounded, _of.name));
    EXECUTE format('ALTER TABLE wed.%I ADD CONSTRAINT %I CHECK (%s)', _of.relation, _of.name || '_span',
      format(_bounded, _of.name));
  END LOOP;
END $$;
