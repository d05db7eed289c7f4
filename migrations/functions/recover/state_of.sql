-- Names the state of a job, which its columns say: those are what claims and the gate have indexes for.
CREATE OR REPLACE FUNCTION wed.state_of(_job wed.job) RETURNS wed.job_state
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN _job.host_id IS NOT NULL THEN 'leased'
    WHEN _job.blocked IS NOT NULL THEN 'blocked'
    WHEN _job.awaits_siblings THEN 'awaiting_siblings'
    WHEN wed.is_paused(_job.due) THEN 'paused'
    WHEN _job.due > clock_timestamp() THEN 'delayed'
    ELSE 'ready' END::wed.job_state
$$;
