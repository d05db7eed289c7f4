-- What is written instead of a token, and how much of what stands before it: numbers with underscores or to another
-- base, and AT LOCAL, as versions write them that do not know these.
CREATE OR REPLACE FUNCTION wed.portable_token(_bare text, _token text, _before text, OUT token text, OUT taken integer)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  _version integer := current_setting('server_version_num')::integer;
  _digits text;
BEGIN
  token := _token;
  taken := 0;
  IF lower(_token) = 'local' AND lower(_before) = 'at' AND _version < 170000 THEN
    token := 'TIME ZONE ''UTC''';
  ELSIF _token ~ '^[A-Za-z_]' AND _version < 160000 THEN
    _digits := substring(right(_bare, 100) FROM '[0-9.]+$');
    IF wed.plain_number(_digits, _token) IS NOT NULL THEN
      token := repeat(' ', length(_digits) + length(_token) - length(wed.plain_number(_digits, _token)))
               || wed.plain_number(_digits, _token);
      taken := length(_digits);
    END IF;
  END IF;
END $$;
