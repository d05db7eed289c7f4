-- The number of the interface between hosts and database: raised when a call, its arguments or their meaning change so
-- that a program that knows another one cannot work with this schema. Programs of wed 0.1.0 know the first.
CREATE OR REPLACE FUNCTION wed.interface_version() RETURNS integer
LANGUAGE sql IMMUTABLE AS 'SELECT 2';
