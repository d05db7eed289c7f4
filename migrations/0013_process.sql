-- Names of the instances of processes: Manutencao_001 and so on, by the workflow's name. Emptied by wed.remove_residue.
CREATE TABLE wed.instance_name (
  flow_id  integer NOT NULL,
  wid      integer NOT NULL,
  type     text NOT NULL CHECK (octet_length(type) BETWEEN 1 AND 200),
  number   integer NOT NULL CHECK (number > 0),
  name     text NOT NULL GENERATED ALWAYS AS (type || '_' || lpad(number::text, greatest(3, length(number::text)), '0')) STORED,
  released boolean NOT NULL DEFAULT false,
  PRIMARY KEY (flow_id, wid)
);
-- A workflow is one flow of its tenant, so a number that is unique among its running instances makes the name unique.
CREATE UNIQUE INDEX instance_name_number ON wed.instance_name (flow_id, number) WHERE NOT released;
COMMENT ON COLUMN wed.instance_name.released IS 'Whether the instance is final and another has its number; set when that is looked for.';
REVOKE ALL ON wed.instance_name FROM PUBLIC;
