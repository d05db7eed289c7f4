-- Nothing of the audit log is changed, and nothing removed but by wed.forget_audit.
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
