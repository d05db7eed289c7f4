-- Raises the refusal of an update: why, about what, and how to mend it.
CREATE OR REPLACE FUNCTION wed.refuse_update(_code text, _wid integer) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  CASE _code
    WHEN 'WF002' THEN
      RAISE EXCEPTION 'instance % is final and cannot be modified', _wid USING ERRCODE = 'WF002',
        HINT = 'Start a new instance.';
    WHEN 'WF003' THEN
      RAISE EXCEPTION 'this session holds no lock on a pending job of instance %', _wid USING ERRCODE = 'WF003',
        HINT =
          'Take the job''s lock first, SELECT pg_try_advisory_xact_lock(wid, tgid) with a row of job_pool, or '
          'declare the attribute open (UPDATE wed_attr SET open = true).';
    WHEN 'WF004' THEN
      RAISE EXCEPTION 'the job of instance % that this session has locked is in the hands of a host', _wid
        USING ERRCODE = 'WF004', HINT = 'Abort, and look for another job.';
    WHEN 'WF005' THEN
      RAISE EXCEPTION 'this session holds the locks of several pending jobs of instance %', _wid
        USING ERRCODE = 'WF005', HINT = 'One transaction finishes one job of an instance: lock only that one.';
    WHEN 'WF006' THEN
      RAISE EXCEPTION 'instance % was already updated in this transaction', _wid USING ERRCODE = 'WF006',
        HINT = 'One transaction finishes one job of an instance, with one UPDATE: commit, then go on.';
    WHEN 'WF007' THEN
      RAISE EXCEPTION 'the final condition of instance % would hold while other transitions of it are pending', _wid
        USING ERRCODE = 'WF007', HINT = 'Let the pending transitions in job_pool finish first, then try again.';
    WHEN 'WF081' THEN
      RAISE EXCEPTION 'the job of instance % that this session has locked is held by a person', _wid
        USING ERRCODE = 'WF081',
          HINT = 'Abort, and look for another job; its holder reports it with `wed work report`.';
    WHEN 'WF021' THEN
      RAISE EXCEPTION 'the tenant is suspended' USING ERRCODE = 'WF021', HINT = 'The operator resumes it.';
    WHEN 'WF045' THEN
      RAISE EXCEPTION
        'the job of instance % that this session has locked waits: for its reservation, or for tasks before it', _wid
        USING ERRCODE = 'WF045', HINT = 'waits_for in job_pool says for what; take the lock when it is due.';
    ELSE
      -- Its claim was lost, or the flow was changed just now: to be tried again with what is still held.
      RAISE EXCEPTION 'instance % moved on meanwhile', _wid USING ERRCODE = '40001';
  END CASE;
END $$;
