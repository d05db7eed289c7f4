-- Whether a person holds the work item of a job.
CREATE OR REPLACE FUNCTION wed.is_held(_flow_id integer, _wid integer, _tgid integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM wed.work_item i WHERE i.flow_id = _flow_id AND i.wid = _wid AND i.tgid = _tgid
                 AND i.ended_at IS NULL AND i.holder IS NOT NULL)
$$;
