-- What a start may set of a flow's attributes.
ALTER TABLE wed.flow ADD COLUMN start_attributes text[];
COMMENT ON COLUMN wed.flow.start_attributes IS 'The attributes that a start may set; null: all.';
