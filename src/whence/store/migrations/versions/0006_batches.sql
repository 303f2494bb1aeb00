-- Vectors that wait for their document are kept as they were made, many to a row: as rows of their own they cost as much
-- as those of the document. What was kept so far is made again.
DROP TABLE kb.job_vectors;
CREATE TABLE kb.job_vectors (
    project_id     uuid      NOT NULL,
    job_id         uuid      NOT NULL,
    id             uuid      NOT NULL,
    space_id       uuid      NOT NULL REFERENCES kb.embedding_spaces (id),
    content_hashes bytea     NOT NULL, -- sha256 of each content, one after the other
    token_counts   integer[] NOT NULL,
    embeddings     bytea     NOT NULL, -- likewise, each in the binary form of a halfvec
    PRIMARY KEY (project_id, job_id, id),
    FOREIGN KEY (project_id, job_id) REFERENCES kb.jobs (project_id, id) ON DELETE CASCADE
);
-- Nothing in them can be made smaller.
ALTER TABLE kb.job_vectors
    ALTER COLUMN content_hashes SET STORAGE EXTERNAL,
    ALTER COLUMN embeddings SET STORAGE EXTERNAL;
