-- Adds a comment to an item, with a file when one is given: at most 1 MiB each, 200 of an instance, 16 MiB together.
CREATE OR REPLACE FUNCTION wed.add_work_note(
  _tenant text, _name text, _item_id bigint, _text text, _file text DEFAULT NULL,
    _bytes bytea DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _person wed.person := wed.person_of(_tenant, _name);
  _item wed.work_item := wed.see_work(_person, _item_id, clock_timestamp());
  _id bigint;
BEGIN
  IF octet_length(_text) > 16384 OR octet_length(_bytes) > 1048576
     OR (SELECT count(*) >= 200 OR sum(octet_length(text) + coalesce(octet_length(bytes), 0)) > 16777216
         FROM wed.work_note WHERE flow_id = _item.flow_id AND wid = _item.wid) THEN
    RAISE EXCEPTION 'the note is too long, or the instance has 200 notes or 16 MiB of them' USING ERRCODE = 'WF085',
      HINT = 'A comment has at most 16 KiB, an attachment 1 MiB.';
  END IF;
  INSERT INTO wed.work_note (item_id, flow_id, wid, person, text, file_name, bytes)
  VALUES (_item_id, _item.flow_id, _item.wid, _person.name, _text, _file, _bytes) RETURNING note_id INTO _id;
  PERFORM wed.tell_people(_item.tenant_id);
  RETURN _id;
END $$;
