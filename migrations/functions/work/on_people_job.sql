-- Follows the pool: a job whose transition is people's work becomes a work item, and a job that leaves the pool in
-- another way than by a report withdraws it. An exception of an instance with people is reported to the person in
-- charge.
CREATE OR REPLACE FUNCTION wed.on_people_job() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _item wed.work_item;
BEGIN
  IF TG_OP = 'INSERT' AND NEW.trname = '_EXCPT' THEN
    IF EXISTS (SELECT FROM wed.instance WHERE flow_id = NEW.flow_id AND wid = NEW.wid AND people) THEN
      PERFORM wed.send_message(wed.in_charge(NEW.flow_id, NEW.wid), 'task_failed', wed.work_place(NEW.flow_id, NEW.wid),
        'The instance is an exception; decide what becomes of it: retry, set its state, or cancel it.', NULL,
          clock_timestamp());
    END IF;
  ELSIF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.blocked IS NULL THEN
    PERFORM wed.open_work_item(NEW);
  ELSE
    FOR _item IN
      UPDATE wed.work_item SET state = 'WITHDRAWN', ended_at = clock_timestamp()
      WHERE flow_id = OLD.flow_id AND wid = OLD.wid AND tgid = OLD.tgid AND ended_at IS NULL
        -- A trigger that fired itself again keeps its item.
        AND (TG_OP = 'UPDATE' OR NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = OLD.flow_id AND j.wid = OLD.wid
                                             AND j.tgid = OLD.tgid AND j.blocked IS NULL))
      RETURNING *
    LOOP
      PERFORM wed.record_work(_item, session_user, 'withdrawn', '{}', clock_timestamp());
      PERFORM wed.send_message(ARRAY[_item.holder], 'task_withdrawn', wed.work_place(_item.flow_id, _item.wid),
        format('%s was ended by somebody else.', _item.task), _item.item_id, clock_timestamp())
          WHERE _item.holder IS NOT NULL;
      DELETE FROM wed.work_offer WHERE item_id = _item.item_id;
      PERFORM wed.tell_people(_item.tenant_id);
    END LOOP;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER people_insert AFTER INSERT ON wed.job
  FOR EACH ROW WHEN (NEW.component_id IS NULL AND NEW.blocked IS NULL) EXECUTE FUNCTION wed.on_people_job();

-- A job that waits for a reservation, or for tasks before it, is nobody's work meanwhile.
CREATE OR REPLACE TRIGGER people_blocked AFTER UPDATE OF blocked ON wed.job
  FOR EACH ROW WHEN (NEW.component_id IS NULL AND (OLD.blocked IS NULL) <> (NEW.blocked IS NULL))
  EXECUTE FUNCTION wed.on_people_job();

CREATE OR REPLACE TRIGGER people_delete AFTER DELETE ON wed.job
  FOR EACH ROW WHEN (OLD.component_id IS NULL AND OLD.trname <> '_EXCPT') EXECUTE FUNCTION wed.on_people_job();
