-- What a chunk gave stays when the job is deleted that read it, and so does the schema that it was read under. `job_id` may be
-- that of a job that there is not any more; the row goes with its chunk.
ALTER TABLE kb.chunk_extractions DROP CONSTRAINT chunk_extractions_project_id_job_id_fkey;
