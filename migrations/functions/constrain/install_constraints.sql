-- What a flow's schema has for constraints: columns of wed_trig, views, functions. Again for a flow that has it:
-- nothing.
CREATE OR REPLACE FUNCTION wed.install_constraints(_flow_id integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _flow wed.flow;
  _statement text;
BEGIN
  SELECT * INTO STRICT _flow FROM wed.flow WHERE flow_id = _flow_id;
  FOREACH _statement IN ARRAY ARRAY[
    $t$ALTER TABLE %1$I.wed_trig ADD COLUMN IF NOT EXISTS reserves text, ADD COLUMN IF NOT EXISTS quantity text,
      ADD COLUMN IF NOT EXISTS resource text, ADD COLUMN IF NOT EXISTS holds text,
      ADD COLUMN IF NOT EXISTS consumes boolean NOT NULL DEFAULT false, ADD COLUMN IF NOT EXISTS after text$t$,
    $t$CREATE OR REPLACE VIEW %1$I.job_pool AS
      SELECT j.wid, j.tgid, j.trname, 'host:' || j.host_id AS lckid, j.timeout,
        coalesce(j.payload, (SELECT r.state FROM wed.trace r WHERE r.flow_id = j.flow_id AND r.wid = j.wid
                             AND r.seq = j.seq AND r.tstmp = j.fired_at))::jsonb AS payload,
        j.attempt, CASE WHEN j.due < '9000-01-01 00:00:00+00' THEN j.due END AS due, j.priority,
        coalesce(CASE WHEN j.due >= '9000-01-01 00:00:00+00' AND j.due < 'infinity'
            THEN 'the end of a pause: ' || coalesce(wed.resume_commands(j.flow_id, j.wid, j.tgid), 'it is ending') END,
          CASE WHEN j.awaits_siblings THEN 'the pending transitions of its instance' END, j.put_off,
          CASE WHEN j.blocked IS NOT NULL THEN wed.waits_on(j.flow_id, j.wid, j.tgid) END,
          wed.waiting_text(wed.waiting_reason(j.flow_id, j.wid, j.tgid), j.tenant_id)) AS waits_for
      FROM wed.job j WHERE j.flow_id = %3$s$t$,
    $t$CREATE OR REPLACE VIEW %1$I.wed_resource AS
      SELECT CASE WHEN s.resource LIKE '#%%' THEN NULL ELSE s.resource END AS resource, s.key, s.capacity, s.minimum,
        (SELECT coalesce(sum(v.amount), 0) FROM wed.reservation v
         WHERE v.tenant_id = s.tenant_id AND v.resource = s.resource AND v.key = s.key AND v.held) AS held
      FROM wed.resource s WHERE s.tenant_id = %4$s AND (s.resource = '#%3$s' OR s.resource IN (
        SELECT c.resource FROM wed.trigger_constraint c WHERE c.flow_id = %3$s))$t$,
    $t$CREATE OR REPLACE TRIGGER resource INSTEAD OF INSERT OR UPDATE OR DELETE ON %1$I.wed_resource
       FOR EACH ROW EXECUTE FUNCTION wed.on_resource(%3$s)$t$,
    $t$CREATE OR REPLACE TRIGGER resources AFTER INSERT ON %1$I.wed_resource
       FOR EACH STATEMENT EXECUTE FUNCTION wed.on_resources(%3$s)$t$,
    $t$CREATE OR REPLACE VIEW %1$I.wed_reservation AS
      SELECT r.wid, r.tgid, t.tgname, t.trname, CASE WHEN v.resource LIKE '#%%' THEN NULL
          ELSE v.resource END AS resource, v.key,
        v.amount, coalesce(v.held, false) AS held, r.holds, r.asked_at, r.granted_at
      FROM wed.request r JOIN wed.reservation v USING (request_id) JOIN wed.trigger t ON t.tgid = r.tgid
      WHERE r.flow_id = %3$s AND r.state NOT IN ('f', 'c')$t$,
    $t$CREATE OR REPLACE VIEW %1$I.wed_order AS
      SELECT p.precedence_id, p.wid, coalesce(t.tgname, t.trname) AS "trigger", p.after, p.actor, p.added_at
      FROM wed.precedence p JOIN wed.trigger t USING (tgid) WHERE p.flow_id = %3$s$t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_after("trigger" text, after text, wid integer DEFAULT NULL) RETURNS integer
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.add_order(%3$s, $1, $2, $3, session_user::text) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_drop_after("trigger" text, after text, wid integer DEFAULT NULL) RETURNS
        boolean
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.drop_order(%3$s, $1, $2, $3, session_user::text) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_order_by(attribute text) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.order_by_attribute(%3$s, $1) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_number(attribute text, gapless boolean DEFAULT false) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.set_numbering(%3$s, $1, $2) $f$ $t$,
    $t$CREATE OR REPLACE FUNCTION %1$I.wed_next_number(attribute text) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $f$ SELECT wed.next_number(%3$s, $1) $f$ $t$,
    'GRANT SELECT, INSERT, UPDATE, DELETE ON %1$I.wed_resource TO %1$I',
    'GRANT SELECT ON %1$I.job_pool, %1$I.wed_reservation, %1$I.wed_order TO %1$I',
    'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %1$I FROM PUBLIC',
    'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %1$I TO %1$I'
  ] LOOP
    EXECUTE format(_statement, _flow.schema_name, _flow.shape_schema, _flow_id, _flow.tenant_id);
  END LOOP;
END $$;
