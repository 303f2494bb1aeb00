-- Finds the documents whose name has a word of a question (search/named_documents.py). With the project in each word, one project's names do
-- not slow down another's.
CREATE FUNCTION kb.name_words(project_id uuid, name text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT array_agg(project_id::text || ' ' || word) FROM regexp_split_to_table(lower(name), '[^[:alnum:]]+') AS word $$;

CREATE INDEX documents_name_words ON kb.documents USING gin (kb.name_words(project_id, name));
