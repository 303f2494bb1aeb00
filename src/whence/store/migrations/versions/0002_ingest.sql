ALTER TABLE kb.documents
    ADD COLUMN original_key text,
    ADD COLUMN fetched jsonb;
CREATE INDEX documents_origin ON kb.documents (project_id, origin) WHERE origin IS NOT NULL;

-- `run_id` says which run of the job may write: one that was taken for dead and lives on finds another's id here.
-- `tries` counts the runs since the job last got further.
ALTER TABLE kb.jobs
    ADD COLUMN run_id uuid,
    ADD COLUMN tries integer NOT NULL DEFAULT 0;
CREATE INDEX jobs_open ON kb.jobs (project_id, id) WHERE status IN ('pending', 'processing');

-- An update in place moves chunks to other positions: they need to be unique when the statement ends, not on its way.
ALTER TABLE kb.chunks
    DROP CONSTRAINT chunks_project_id_document_id_chunk_index_key,
    ADD CONSTRAINT chunks_position UNIQUE (project_id, document_id, chunk_index) DEFERRABLE INITIALLY IMMEDIATE;

-- What the model of the space counts, for the chunk's metadata once its project reads that space.
ALTER TABLE kb.chunk_vectors ADD COLUMN token_count integer;

-- The space that a project is moving to, while its chunks are embedded anew.
ALTER TABLE kb.projects ADD COLUMN next_space_id uuid REFERENCES kb.embedding_spaces (id);

-- What a job has finished so far: it goes on from here when it was killed, and readers see none of it until it is whole.
CREATE TABLE kb.job_texts (
    project_id uuid  NOT NULL,
    job_id     uuid  NOT NULL,
    mime       text  NOT NULL,
    text       text  NOT NULL,
    page_map   jsonb,
    PRIMARY KEY (project_id, job_id),
    FOREIGN KEY (project_id, job_id) REFERENCES kb.jobs (project_id, id) ON DELETE CASCADE
);
CREATE TABLE kb.job_vectors (
    project_id   uuid    NOT NULL,
    job_id       uuid    NOT NULL,
    space_id     uuid    NOT NULL REFERENCES kb.embedding_spaces (id),
    content_hash bytea   NOT NULL,
    token_count  integer,
    embedding    halfvec NOT NULL,
    PRIMARY KEY (project_id, job_id, space_id, content_hash),
    FOREIGN KEY (project_id, job_id) REFERENCES kb.jobs (project_id, id) ON DELETE CASCADE
);
