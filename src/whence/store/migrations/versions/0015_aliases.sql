-- What a chunk calls an object instead of its name. `said_of` is the object that the chunk spoke of: after a merge, the aliases
-- belong to the object that has its claims.
CREATE TABLE kb.object_aliases (
    project_id uuid NOT NULL,
    said_of    uuid NOT NULL,
    chunk_id   uuid NOT NULL,
    alias_key  text NOT NULL,
    alias      text NOT NULL,
    PRIMARY KEY (project_id, said_of, chunk_id, alias_key),
    FOREIGN KEY (project_id, chunk_id) REFERENCES kb.chunks (project_id, id) ON DELETE CASCADE
);
CREATE INDEX object_aliases_key ON kb.object_aliases (project_id, alias_key);
CREATE INDEX object_aliases_chunk ON kb.object_aliases (project_id, chunk_id);
