-- Whether the jobs of all these results' instances know which conditions held by the flow's present version.
CREATE OR REPLACE FUNCTION wed.are_of_version(_flow_id integer, _version integer, _results wed.result[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT bool_and(j.version = _version) FROM unnest(_results) r
          CROSS JOIN LATERAL (SELECT version FROM wed.job WHERE flow_id = _flow_id AND wid = r.wid OFFSET 0) j) IS TRUE;
END $$;
