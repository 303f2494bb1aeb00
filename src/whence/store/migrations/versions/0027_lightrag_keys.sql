-- The key of a project's LightRAG server, apart from the project's config, which is shown and exported.
-- It is sent to this URL only: whoever names another server must know its key.
CREATE TABLE kb.lightrag_keys (
    project_id uuid NOT NULL PRIMARY KEY REFERENCES kb.projects (id) ON DELETE CASCADE,
    url        text NOT NULL,
    key        text NOT NULL
);
