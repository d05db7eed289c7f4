-- Jobs are put off for as long as the host says.
DROP FUNCTION IF EXISTS wed.put_off(integer, bigint[]);
