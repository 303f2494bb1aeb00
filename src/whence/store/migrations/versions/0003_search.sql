-- Never written: the text index has tables of its own (docs/decisions/0008-text-index.md).
ALTER TABLE kb.chunks DROP COLUMN lexemes;

-- Some chunks of a project, numbered from 0 in the order of their ids. What was written stays; which of them are no more
-- is added to `dead`, and `live` and `length` (how many terms the live ones have) are kept right with it.
CREATE TABLE kb.lexical_segments (
    project_id     uuid        NOT NULL REFERENCES kb.projects (id) ON DELETE CASCADE,
    id             uuid        NOT NULL,
    size           integer     NOT NULL CHECK (size BETWEEN 1 AND 65536),
    live           integer     NOT NULL CHECK (live BETWEEN 0 AND size),
    length         bigint      NOT NULL CHECK (length >= 0),
    first_chunk_id uuid        NOT NULL,
    last_chunk_id  uuid        NOT NULL,
    chunk_ids      bytea       NOT NULL CHECK (octet_length(chunk_ids) = 16 * size),
    lengths        bytea       NOT NULL CHECK (octet_length(lengths) = 2 * size),
    dead           bytea       NOT NULL DEFAULT '',
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- The postings of a segment in the order of their terms, so many in a row that it stays in its page. Uncompressed: pieces
-- are read out of the middle, and numbers of two bytes compress little.
CREATE TABLE kb.lexical_blocks (
    project_id uuid   NOT NULL,
    segment_id uuid   NOT NULL,
    first_term bigint NOT NULL,
    payload    bytea  NOT NULL,
    PRIMARY KEY (project_id, segment_id, first_term),
    FOREIGN KEY (project_id, segment_id) REFERENCES kb.lexical_segments (project_id, id) ON DELETE CASCADE
) WITH (toast_tuple_target = 8160);

ALTER TABLE kb.lexical_segments
    ALTER COLUMN chunk_ids SET STORAGE EXTERNAL,
    ALTER COLUMN lengths SET STORAGE EXTERNAL,
    ALTER COLUMN dead SET STORAGE EXTERNAL;
ALTER TABLE kb.lexical_blocks ALTER COLUMN payload SET STORAGE EXTERNAL;

SET LOCAL search_path TO queue, public; -- the queue's functions look for its tables there
SELECT queue.procrastinate_defer_jobs_v1(ARRAY[
    ROW('default', 'whence:reindex', 0, 'index ' || p.id, NULL,
        jsonb_build_object('project_id', p.id), NULL)::queue.procrastinate_job_to_defer_v1])
FROM kb.projects p
WHERE EXISTS (SELECT FROM kb.chunks c WHERE c.project_id = p.id);
