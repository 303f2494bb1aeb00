-- Two files with the same bytes are two documents, unless they have the same origin or, without one, the same name.
ALTER TABLE kb.documents DROP CONSTRAINT documents_project_id_sha256_key;
CREATE UNIQUE INDEX documents_same ON kb.documents (project_id, sha256, hashtextextended(coalesce(origin, name), 0));

-- Documents with the same bytes share an original: who else refers to it is asked before it is removed.
CREATE INDEX documents_original ON kb.documents (project_id, original_key) WHERE original_key IS NOT NULL;
CREATE INDEX jobs_original ON kb.jobs (project_id, (config -> 'original' ->> 'key')) WHERE type = 'document_processing';
