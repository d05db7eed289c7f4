-- Business keys: an instance's own name, of one instance of its flow while that is not final.

-- Returns the key that new instances of this transaction get (the setting wed.instance_key); null without. Refuses one
-- that cannot be, or that an instance has which is not final; of two starts of the same instant the index refuses one.
CREATE OR REPLACE FUNCTION wed.new_key(_flow_id integer) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _key text := current_setting('wed.instance_key', true);
  _running integer;
BEGIN
  IF _key IS NULL OR _key = '' THEN RETURN NULL; END IF;
  IF octet_length(_key) > 255 OR _key ~ '[[:cntrl:]]' THEN
    RAISE EXCEPTION '%', CASE WHEN octet_length(_key) > 255
      THEN format('the key has %s bytes, and 1 to 255 are allowed', octet_length(_key))
      ELSE 'the key has a control character' END
      USING ERRCODE = '22023', HINT = 'Choose a short name of what the instance is about, such as order-17.';
  END IF;
  _running := wed.find_key(_flow_id, _key, true);
  IF _running IS NOT NULL THEN
    RAISE EXCEPTION 'instance % runs under the key "%"', _running, left(_key, 80) USING ERRCODE = 'WF027',
      HINT = 'Use that instance, or start another one when it is final.';
  END IF;
  RETURN _key;
END $$;

-- Returns the instance with a key: the one that is not final, else the last one unless only a running one is wanted.
CREATE OR REPLACE FUNCTION wed.find_key(_flow_id integer, _key text, _running boolean) RETURNS integer
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT i.wid FROM wed.instance i WHERE i.flow_id = _flow_id AND i.key = _key
            AND (i.status <> 'F' OR NOT _running)
          ORDER BY i.status <> 'F' DESC, i.wid DESC LIMIT 1);
END $$;
