-- The audit log: changes, their actors, the requests that asked for them.

-- Appends to the audit log, in the transaction of what is done. Nobody may take from the log, so no entry is long.
CREATE OR REPLACE FUNCTION wed.note(_actor text, _tenant text, _action text, _target text, _detail jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.audit (tenant_id, tenant_name, actor, action, target, detail)
  VALUES ((SELECT tenant_id FROM wed.tenant WHERE name = _tenant), _tenant, _actor, _action, left(_target, 300),
          wed.short_detail(_detail) || wed.asked_by())
$$;

-- Adds an entry about something of a flow to the audit log.
CREATE OR REPLACE FUNCTION wed.note_flow(_actor text, _flow_id integer, _action text, _part text,
  _detail jsonb) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO wed.audit (tenant_id, tenant_name, actor, action, target, detail)
  SELECT t.tenant_id, t.name, _actor, _action, left(concat_ws('/', f.name, _part), 300),
         wed.short_detail(_detail) || wed.asked_by()
  FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE f.flow_id = _flow_id
$$;

-- Returns the token and the request of the API by which this transaction acts; empty for all who act otherwise, and for
-- a flow's own role, which could set anything.
CREATE OR REPLACE FUNCTION wed.asked_by() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN session_user = current_user
    THEN coalesce(nullif(current_setting('wed.request', true), '')::jsonb, '{}')
    ELSE '{}' END
$$;

-- Returns what an entry of the audit log says: an object of at most 4 KiB. Of a longer one each value is cut, and where
-- that is not enough, the whole.
CREATE OR REPLACE FUNCTION wed.short_detail(_detail jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN _detail IS NULL OR jsonb_typeof(_detail) <> 'object' THEN '{}'
    WHEN octet_length(_detail::text) <= 4096 THEN _detail
    WHEN octet_length(c.cut::text) <= 4096 THEN c.cut
    ELSE jsonb_build_object('cut', left(_detail::text, 1000)) END
  FROM (SELECT jsonb_object_agg(d.key, CASE WHEN octet_length(d.value::text) <= 300 THEN d.value
      ELSE to_jsonb(left(d.value #>> '{}', 300)) END) AS cut
    FROM jsonb_each(CASE WHEN jsonb_typeof(_detail) = 'object' THEN _detail ELSE '{}' END) d) c
$$;

-- Refuses changes of the audit log, and removals other than by wed.forget_audit.
CREATE OR REPLACE FUNCTION wed.keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  _stack text;
BEGIN
  GET DIAGNOSTICS _stack = PG_CONTEXT;
  IF TG_OP = 'DELETE' AND _stack ~ 'function wed\.forget_audit\(' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'the audit log is only ever appended to' USING ERRCODE = 'WF022',
    HINT = 'Old entries are removed by wed.forget_audit(interval), which keeps 30 days at the least.';
END $$;

CREATE OR REPLACE TRIGGER append_only AFTER UPDATE OR DELETE OR TRUNCATE ON wed.audit
  FOR EACH STATEMENT EXECUTE FUNCTION wed.keep_audit();

-- Removes what is older than the given time; never what is younger than 30 days. Itself on record.
CREATE OR REPLACE FUNCTION wed.forget_audit(_actor text, _older interval) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _forgotten bigint;
BEGIN
  IF _older IS NULL OR _older < interval '30 days' THEN
    RAISE EXCEPTION 'the audit log is kept for 30 days at the least' USING ERRCODE = 'WF022',
      HINT = 'Give a longer time.';
  END IF;
  DELETE FROM wed.audit WHERE at < clock_timestamp() - _older;
  GET DIAGNOSTICS _forgotten = ROW_COUNT;
  PERFORM wed.note(_actor, NULL, 'audit.forget', _older::text, jsonb_build_object('entries', _forgotten));
  RETURN _forgotten;
END $$;
