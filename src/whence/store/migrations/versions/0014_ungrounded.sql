-- Values that no chunk has. Strict projects have none, so that looking for them costs nothing.
CREATE INDEX object_provenance_ungrounded ON kb.object_provenance (project_id, object_id) WHERE NOT is_grounded;
