-- A flow's two schemas: its tables, and the shape that conditions are checked against.
CREATE SCHEMA {{schema}};
CREATE SCHEMA {{shape}};
GRANT USAGE ON SCHEMA {{schema}} TO {{role}};
GRANT USAGE, CREATE ON SCHEMA {{shape}} TO wed_predicate;
