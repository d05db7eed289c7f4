-- A key of an instance's own, which no other instance of its flow has while it runs.
ALTER TABLE wed.instance ADD COLUMN key text
  CONSTRAINT instance_key_check CHECK (octet_length(key) BETWEEN 1 AND 255 AND key !~ '[[:cntrl:]]');
COMMENT ON COLUMN wed.instance.key IS 'Its business key, which no other instance of the flow has that is not final.';
CREATE UNIQUE INDEX instance_running_key ON wed.instance (flow_id, key) WHERE key IS NOT NULL AND status <> 'F';
CREATE INDEX instance_key ON wed.instance (flow_id, key, wid) WHERE key IS NOT NULL;
