-- The directory: which cluster each tenant is on. A database of its own; no cluster reads it.
CREATE TABLE placement.cluster (
  name     text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
  url      text NOT NULL,
  mark     text NOT NULL UNIQUE,
  state    text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'draining')),
  added_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE placement.cluster IS 'Clusters: databases of Wedflow, of one or several servers each.';
COMMENT ON COLUMN placement.cluster.url IS 'Address of the database, with its password.';
COMMENT ON COLUMN placement.cluster.mark IS 'The database''s wed.installation_mark(): one database is one cluster.';
COMMENT ON COLUMN placement.cluster.state IS 'open: takes new tenants; draining: takes none.';
CREATE SEQUENCE placement.version;
CREATE TABLE placement.tenant (
  name    text PRIMARY KEY CHECK (length(name) <= 200),
  cluster text NOT NULL REFERENCES placement.cluster,
  version bigint NOT NULL DEFAULT nextval('placement.version'));
COMMENT ON TABLE placement.tenant IS 'The one cluster that each tenant is on.';
COMMENT ON COLUMN placement.tenant.version IS 'Grows with each change of the place.';
CREATE INDEX tenant_cluster ON placement.tenant (cluster);
