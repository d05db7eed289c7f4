-- Numbers a new instance (trigger of a flow's table, made by wed.install_numbering).
CREATE OR REPLACE FUNCTION wed.take_number() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN jsonb_populate_record(NEW,
    jsonb_build_object(TG_ARGV[1], wed.next_number(TG_ARGV[0]::integer, TG_ARGV[1])));
END $$;

-- Refuses a number that somebody gives by hand: a later instance would meet it (trigger of a flow's table).
CREATE OR REPLACE FUNCTION wed.refuse_number() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'attribute "%" is numbered by the server, and cannot be set', TG_ARGV[1] USING ERRCODE = 'WF010',
    HINT = 'Leave it out; each new instance gets the next number.';
END $$;

-- Removes the numbers of new instances from the free ones, after a statement (trigger of a flow's table).
CREATE OR REPLACE FUNCTION wed.use_numbers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('DELETE FROM wed.free_number f USING new_rows n
                  WHERE f.flow_id = $1 AND f.attribute = $2 AND f.number = n.%I', TG_ARGV[1])
    USING TG_ARGV[0]::integer, TG_ARGV[1];
  RETURN NULL;
END $$;

-- The next number of a series. Of one without gaps the smallest that nobody has or is taking: who takes one locks
-- that row only, and it is free again where its transaction is not committed, or did not use it.
CREATE OR REPLACE FUNCTION wed.next_number(_flow_id integer, _attribute text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _number bigint;
BEGIN
  IF NOT (SELECT gapless FROM wed.numbering WHERE flow_id = _flow_id AND attribute = _attribute) THEN
    RETURN (SELECT nextval(format('%I.%I', shape_schema, 'number_' || md5(_attribute))::regclass) FROM wed.flow
        WHERE flow_id = _flow_id);
  END IF;
  FOR _try IN 1 .. 2 LOOP
    UPDATE wed.free_number f SET taken = pg_current_xact_id()
    WHERE f.flow_id = _flow_id AND f.attribute = _attribute AND f.number = (
      SELECT number FROM wed.free_number
      WHERE flow_id = _flow_id AND attribute = _attribute AND taken IS DISTINCT FROM pg_current_xact_id()
      ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING f.number INTO _number;
    EXIT WHEN _number IS NOT NULL;
    -- The hosts' sweep makes more before there are none left, so that this is rare: it is one at a time.
    PERFORM wed.make_numbers(_flow_id, _attribute);
  END LOOP;
  RETURN _number;
END $$;
