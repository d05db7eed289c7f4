-- Refuses hosts whose program knows another interface than this schema has.
CREATE OR REPLACE FUNCTION wed.refuse_other_interface(_interface integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF _interface <> wed.interface_version() THEN
    RAISE EXCEPTION 'the database has been migrated by another version of wed (interface %, this program knows %)',
        wed.interface_version(), _interface USING ERRCODE = 'WF019',
      HINT = CASE WHEN _interface < wed.interface_version() THEN 'Stop this program and start the newer one.'
                  ELSE 'Run `wed migrate` of this version.' END;
  END IF;
END $$;
