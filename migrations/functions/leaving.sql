-- The fence around a tenant that leaves this installation: the database itself refuses what would change it.

-- Fences a suspended tenant: takes its jobs from hosts, and has every write of its flows refused. Waits for writers
-- under way, since the triggers that refuse need the flows' tables for an instant. For a tenant that has left, nothing.
CREATE OR REPLACE FUNCTION wed.fence_tenant(_tenant_id integer, _move_id uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
  _schema text;
  _table text;
BEGIN
  UPDATE wed.tenant SET moving = 'leaving', move_id = _move_id, moved_to = NULL
  WHERE tenant_id = _tenant_id AND suspended_at IS NOT NULL AND (moving IS NULL OR moving = 'leaving');
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the tenant is not suspended, or is on its way already' USING ERRCODE = 'WF024',
      HINT = '`wed tenant show` says where it is.';
  END IF;
  FOR _schema IN SELECT schema_name FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    FOREACH _table IN ARRAY ARRAY['wed_flow', 'wed_attr', 'wed_trig'] LOOP
      EXECUTE format('CREATE OR REPLACE TRIGGER fenced BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I.%I
                      FOR EACH STATEMENT EXECUTE FUNCTION wed.refuse_fenced(%s)', _schema, _table, _tenant_id);
    END LOOP;
  END LOOP;
  PERFORM wed.give_up_attempts(j.flow_id, j.wid, 'the tenant is moved')
  FROM (SELECT DISTINCT flow_id, wid FROM wed.job WHERE tenant_id = _tenant_id AND host_id IS NOT NULL) j;
END $$;

-- Takes the fence away. The tenant stays suspended.
CREATE OR REPLACE FUNCTION wed.release_tenant(_tenant_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
  _schema text;
  _table text;
BEGIN
  UPDATE wed.tenant SET moving = NULL, move_id = NULL, moved_to = NULL WHERE tenant_id = _tenant_id;
  FOR _schema IN SELECT schema_name FROM wed.flow WHERE tenant_id = _tenant_id ORDER BY flow_id LOOP
    FOREACH _table IN ARRAY ARRAY['wed_flow', 'wed_attr', 'wed_trig'] LOOP
      EXECUTE format('DROP TRIGGER IF EXISTS fenced ON %I.%I', _schema, _table);
    END LOOP;
  END LOOP;
END $$;

-- Lets a tenant that is leaving come back, before it is resumed. Refuses one that lives elsewhere, or is not here yet.
CREATE OR REPLACE FUNCTION wed.return_tenant(_tenant_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tenant wed.tenant := (SELECT t FROM wed.tenant t WHERE tenant_id = _tenant_id);
BEGIN
  IF _tenant.moving = 'leaving' THEN
    PERFORM wed.release_tenant(_tenant_id);
  ELSIF _tenant.moving IS NOT NULL THEN
    RAISE EXCEPTION 'tenant "%" %', _tenant.name, CASE _tenant.moving WHEN 'left' THEN 'lives elsewhere: '
        || coalesce(_tenant.moved_to, 'it was exported') ELSE 'has arrived, and its move has not ended' END
      USING ERRCODE = 'WF024', HINT = CASE _tenant.moving
        WHEN 'left' THEN CASE WHEN _tenant.moved_to LIKE 'the file %'
          THEN 'Where nobody has taken the file in, `wed tenant resume --take-back` resumes it here.'
          ELSE 'Speak to it there, or move it back from there with `wed tenant move`.' END
        ELSE 'Run the same `wed tenant move` or `wed tenant import` again.' END;
  END IF;
END $$;

-- Takes back a tenant that has left for a file that nobody has taken in; with _is_lost also one whose new database is
-- gone for ever. It must not work at two places.
CREATE OR REPLACE FUNCTION wed.take_tenant_back(_tenant_id integer, _is_lost boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tenant wed.tenant := (SELECT t FROM wed.tenant t WHERE tenant_id = _tenant_id);
  _taken text := (SELECT t.name FROM wed.taken_move m JOIN wed.tenant t USING (tenant_id)
                  WHERE m.move_id = _tenant.move_id AND t.tenant_id <> _tenant_id);
BEGIN
  IF _taken IS NOT NULL THEN
    RAISE EXCEPTION 'tenant "%" was taken in here, as "%": it would work twice', _tenant.name, _taken
      USING ERRCODE = 'WF024', HINT = format('Remove one of the two: `wed tenant delete %s`, or of this one.', _taken);
  END IF;
  IF _tenant.moving = 'left' AND _tenant.moved_to NOT LIKE 'the file %' AND NOT _is_lost THEN
    RAISE EXCEPTION 'tenant "%" works elsewhere: %', _tenant.name, _tenant.moved_to USING ERRCODE = 'WF024',
      HINT = 'Move it back from there with `wed tenant move`. Where that database is gone for ever, add --lost-there.';
  END IF;
  PERFORM wed.release_tenant(_tenant_id);
END $$;

-- Switches a leaving tenant to its new home: from now on it lives there and nowhere else. False: that move is not
-- under way here any more, and the new home must not begin.
CREATE OR REPLACE FUNCTION wed.leave(_tenant_id integer, _move_id uuid, _to text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE wed.tenant SET moving = 'left', moved_to = _to
  WHERE tenant_id = _tenant_id AND move_id = _move_id AND moving IN ('leaving', 'left');
  RETURN FOUND;
END $$;

-- Counts the sessions of this database whose transactions began before the fence and have written something. They may
-- have been let in by what the fence has changed since. Sessions of flows' roles are held back by their tables.
CREATE OR REPLACE FUNCTION wed.count_older_writers(_fence xid) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*) FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND age(a.backend_xid) > age(_fence)
    AND NOT EXISTS (SELECT FROM wed.flow f WHERE f.role_name = a.usename)
$$;

-- Refuses a statement that would change a tenant which is leaving (trigger of its flows' tables).
CREATE OR REPLACE FUNCTION wed.refuse_fenced() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM wed.refuse_moving(TG_ARGV[0]::integer);
  RETURN NULL;
END $$;

-- Refuses whatever somebody does to a tenant that is leaving, as it comes on record: of administration in the audit
-- log, of people's work in its events.
CREATE OR REPLACE FUNCTION wed.refuse_fenced_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _tenant_id integer := CASE TG_TABLE_NAME WHEN 'audit' THEN (to_jsonb(NEW) ->> 'tenant_id')::integer
    ELSE (SELECT tenant_id FROM wed.flow WHERE flow_id = (to_jsonb(NEW) ->> 'flow_id')::integer) END;
BEGIN
  IF EXISTS (SELECT FROM wed.tenant WHERE tenant_id = _tenant_id AND moving IN ('leaving', 'left')) THEN
    PERFORM wed.refuse_moving(_tenant_id);
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER fenced BEFORE INSERT ON wed.audit FOR EACH ROW
  WHEN (NEW.tenant_id IS NOT NULL AND NEW.action !~ '^tenant\.') EXECUTE FUNCTION wed.refuse_fenced_change();
CREATE OR REPLACE TRIGGER fenced BEFORE INSERT ON wed.work_event FOR EACH ROW
  EXECUTE FUNCTION wed.refuse_fenced_change();

-- Refuses a change of a tenant that is leaving or has left, and says where it lives.
CREATE OR REPLACE FUNCTION wed.refuse_moving(_tenant_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _to text := (SELECT moved_to FROM wed.tenant WHERE tenant_id = _tenant_id AND moving = 'left');
BEGIN
  RAISE EXCEPTION '%', CASE WHEN _to IS NULL THEN 'the tenant is being moved'
      ELSE 'the tenant lives elsewhere: ' || _to END
    USING ERRCODE = 'WF024', HINT = CASE WHEN _to IS NULL THEN 'Try again when the move has ended.'
      ELSE 'Use the installation that it was moved to.' END;
END $$;

-- Tenants that are on their way: hosts do no chores for them and deliver none of their messages.
CREATE OR REPLACE FUNCTION wed.moving_tenants() RETURNS integer[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ARRAY(SELECT tenant_id FROM wed.tenant WHERE moving IS NOT NULL)
$$;
