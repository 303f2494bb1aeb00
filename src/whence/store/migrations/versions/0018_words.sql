-- The words of a segment with the number of chunks that have them, to correct misspelt words of a question.
CREATE TABLE kb.lexical_words (
    project_id uuid  NOT NULL,
    segment_id uuid  NOT NULL,
    payload    bytea NOT NULL,
    PRIMARY KEY (project_id, segment_id),
    FOREIGN KEY (project_id, segment_id) REFERENCES kb.lexical_segments (project_id, id) ON DELETE CASCADE
);
ALTER TABLE kb.lexical_words ALTER COLUMN payload SET STORAGE EXTERNAL;

SET LOCAL search_path TO queue, public; -- the queue's functions look for its tables there
SELECT queue.procrastinate_defer_jobs_v1(ARRAY[
    ROW('default', 'whence:reindex', 0, 'index ' || p.id, NULL,
        jsonb_build_object('project_id', p.id), NULL)::queue.procrastinate_job_to_defer_v1])
FROM kb.projects p
WHERE EXISTS (SELECT FROM kb.chunks c WHERE c.project_id = p.id);
