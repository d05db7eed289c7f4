-- Functions that a flow's role calls. The papers' worker protocol, made safe: the lock of (wid, tgid) is granted only
-- while the job is there, is nobody's, is due, and its condition holds (wed.take_job). Unqualified calls find these
-- before Postgres's own.
CREATE OR REPLACE FUNCTION {{schema}}.pg_try_advisory_xact_lock(integer, integer) RETURNS boolean
LANGUAGE sql SECURITY DEFINER AS $f$ SELECT wed.take_job({{flow_id}}, $1, $2) $f$;
DROP FUNCTION IF EXISTS {{schema}}.wed_rematch(boolean);
CREATE OR REPLACE FUNCTION {{schema}}.wed_rematch(preview boolean DEFAULT true, only_wid integer DEFAULT NULL)
RETURNS TABLE (wid integer, fires text[], becomes text)
LANGUAGE sql SECURITY DEFINER AS $f$ SELECT * FROM wed.rematch({{flow_id}}, preview, session_user::text, only_wid) $f$;
