-- The column that the seed's SQL reads.
ALTER TABLE kb.chunks RENAME COLUMN content TO text;

-- The order of claims follows the documents: their own date where they have one, else the time of the version. Version 0: no
-- version is published yet.
ALTER TABLE kb.documents
    ADD COLUMN version integer NOT NULL DEFAULT 0,
    ADD COLUMN version_at timestamptz,
    ADD COLUMN valid_from timestamptz;
UPDATE kb.documents d
SET version = 1, version_at = coalesce((
    SELECT max(j.completed_at) FROM kb.jobs j
    WHERE j.project_id = d.project_id AND j.document_id = d.id AND j.type = 'document_processing'
      AND j.status = 'completed'), d.created_at)
WHERE EXISTS (SELECT FROM kb.chunks c WHERE c.project_id = d.project_id AND c.document_id = d.id);

-- A confirmed claim repeats what was known. `is_grounded`: the chunk has the value. `elements`: the place of each element of
-- a list, as {value, quote, start_offset, end_offset}.
ALTER TABLE kb.object_provenance
    DROP CONSTRAINT object_provenance_operation_check,
    ADD CONSTRAINT object_provenance_operation_check CHECK (operation IN ('created', 'updated', 'confirmed')),
    ADD COLUMN is_grounded boolean NOT NULL DEFAULT true,
    ADD COLUMN elements jsonb,
    ALTER COLUMN id SET DEFAULT gen_random_uuid(),
    ALTER COLUMN extracted_at SET DEFAULT now();
ALTER TABLE kb.hidden_claims
    ADD COLUMN is_grounded boolean NOT NULL DEFAULT true,
    ADD COLUMN elements jsonb;

-- The seed's indexes, for queries without a project.
DROP INDEX kb.idx_provenance_object;
DROP INDEX kb.idx_provenance_chunk;
DROP INDEX kb.idx_provenance_schema;
CREATE INDEX idx_provenance_object ON kb.object_provenance (object_id);
CREATE INDEX idx_provenance_chunk ON kb.object_provenance (chunk_id);
CREATE INDEX idx_provenance_schema ON kb.object_provenance (schema_version);
CREATE INDEX object_provenance_chunk ON kb.object_provenance (project_id, chunk_id);
