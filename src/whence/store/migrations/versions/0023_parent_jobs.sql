-- Extractions that were ordered together have a common parent, which is no row of its own.
CREATE INDEX jobs_parent ON kb.jobs ((config ->> 'parent')) WHERE config ->> 'parent' IS NOT NULL;
