-- Vectors of the reference texts in each space, and how near unrelated texts are to a project's chunks (search/background.py).
ALTER TABLE kb.embedding_spaces
    ADD COLUMN reference_digest  bytea,
    ADD COLUMN reference_vectors bytea;

CREATE TABLE kb.backgrounds (
    project_id uuid    NOT NULL REFERENCES kb.projects (id) ON DELETE CASCADE,
    space_id   uuid    NOT NULL REFERENCES kb.embedding_spaces (id),
    chunks     integer NOT NULL,
    mean       float8  NOT NULL,
    deviation  float8  NOT NULL,
    reach      float8  NOT NULL,
    best_reach float8  NOT NULL,
    PRIMARY KEY (project_id, space_id)
);

SET LOCAL search_path TO queue, public; -- the queue's functions look for its tables there
SELECT queue.procrastinate_defer_jobs_v1(ARRAY[
    ROW('default', 'whence:calibrate', 0, 'index ' || p.id, NULL,
        jsonb_build_object('project_id', p.id), NULL)::queue.procrastinate_job_to_defer_v1])
FROM kb.projects p
WHERE EXISTS (SELECT FROM kb.chunks c WHERE c.project_id = p.id);
