CREATE OR REPLACE FUNCTION wed.refuse_truncate() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% cannot be truncated', TG_TABLE_NAME USING ERRCODE = 'WF009',
    HINT = 'Instances keep their history; drop the flow to remove all of it.';
END $$;
