-- Two objects that a person said are not one. By type and names, not by ids: they last when the objects go and come back.
CREATE TABLE kb.dismissed_merges (
    project_id   uuid        NOT NULL REFERENCES kb.projects (id) ON DELETE CASCADE,
    type         text        NOT NULL,
    name_key     text        NOT NULL,
    other_key    text        NOT NULL,
    dismissed_at timestamptz NOT NULL,
    PRIMARY KEY (project_id, type, name_key, other_key),
    CHECK (name_key COLLATE "C" < other_key COLLATE "C")
);
